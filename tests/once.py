"""What costs much is made once for a run of pytest, however many workers ask for it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from tests.commands import driftproof


def once(folders: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that the first worker fills while others wait; they only read it.

    Args:
        folders: pytest's fixture ``tmp_path_factory``.
        name: of the folder, one for each thing that is made.
        make: called with the empty folder; if it raises, the next worker tries again.
    """
    base = folders.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # each worker's own lies in that of the run
    folder, ready = base / name, base / f"{name}.ready"
    with FileLock(base / f"{name}.lock"):
        if not ready.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            ready.touch()
    return folder


def every_claim(folders: pytest.TempPathFactory) -> Path:
    """Return the folder of ``driftproof verify --profile smoke``, over every claim."""

    def make(folder: Path) -> None:
        words = ("--profile", "smoke", "--workers", "1", "--out", str(folder))
        made = driftproof("verify", *words)
        assert made.returncode == 0, made.stderr

    return once(folders, "every-claim", make)


def experiment(folders: pytest.TempPathFactory, name: str) -> tuple[Path, str]:
    """Return the folder of ``driftproof run NAME --profile smoke``, and what was printed."""

    def make(folder: Path) -> None:
        words = ("--profile", "smoke", "--workers", "2", "--out", str(folder))
        made = driftproof("run", name, *words)
        assert made.returncode == 0, made.stderr
        (folder / "printed").write_text(made.stdout, encoding="utf-8")

    folder = once(folders, name.replace("/", "-"), make)
    return folder, (folder / "printed").read_text(encoding="utf-8")
