"""Writes a report's files, all or nothing."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

from driftproof.toolkit.errors import DriftproofError, after_system_error
from driftproof.toolkit.groups import statements
from driftproof.toolkit.report.figures import draw
from driftproof.toolkit.report.page import figures, render
from driftproof.toolkit.report.results_table import csv_of, table_of
from driftproof.toolkit.verdict import Row

LONELY = "backslashreplace"
"""How half a pair of UTF-16 is written, which JSON of somebody else's may hold."""
CERTIFICATES = "certificates"
"""The folder of the proofs over classes, which ``driftproof check`` checks."""
THEOREMS = "theorems"
"""The folder of the same as theorems, which Coq checks."""
ON_PAPER = "on_paper"
"""The folder of the same as proofs in LaTeX, which a person checks."""
PLOTS = "plots"
PUBLIC = ("schema", "profile", "seed", "union_bound", "environment", "failed")


def write_report(out: Path, head: Mapping[str, Any], rows: Sequence[Row], *, plots: bool) -> None:
    """Write ``results.json``, ``index.html`` and tables to a folder, and ``plots/`` if asked.

    The page draws its plots itself: as files they can take longer than the verdicts.
    """
    texts = {
        "results.json": json.dumps(results_of(head, rows), indent=1, allow_nan=False),
        "results.csv": csv_of(table_of([row.public() for row in rows])),
        "index.html": render(head, rows),
        **{f"{CERTIFICATES}/{name}": text for row in rows for name, text in row.proofs.items()},
        **{f"{THEOREMS}/{name}": text for row in rows for name, text in row.theorems.items()},
        **{f"{ON_PAPER}/{name}": text for row in rows for name, text in row.on_paper.items()},
    }

    def draw_all(folder: Path) -> None:
        for figure in chain.from_iterable(figures(rows).values()):
            if figure.is_line:
                draw(figure, folder)

    write_all(out, texts, draw_all if plots else lambda folder: None)


def results_of(head: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """Return what ``results.json`` holds: the run, the printed statements, and every row."""
    return {
        **{name: head[name] for name in PUBLIC if name in head},
        "statements": [one.public() for one in statements(head, rows)],
        "results": [row.public() for row in rows],
    }


def write_all(out: Path, texts: Mapping[str, str], plots: Callable[[Path], None]) -> None:
    """Write text files and plots so that, short of room, the old ones stay as they were.

    Args:
        texts: file name → content.
        plots: writes plots into the folder it is given.
    """
    part = out / ".part"
    try:
        shutil.rmtree(part, ignore_errors=True)
        (part / PLOTS).mkdir(parents=True)
        for name, text in texts.items():
            _check_inside(name)
            (part / name).parent.mkdir(exist_ok=True)
            (part / name).write_text(text, encoding="utf-8", errors=LONELY)
        plots(part / PLOTS)
        for folder in (CERTIFICATES, THEOREMS, ON_PAPER, PLOTS):  # those of an earlier run
            shutil.rmtree(out / folder, ignore_errors=True)
        for path in sorted(part.rglob("*.*")):
            kept = out / path.relative_to(part)
            kept.parent.mkdir(exist_ok=True)
            os.replace(path, kept)
    except OSError as error:
        raise cannot_write(error, out) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _check_inside(name: str) -> None:
    """Raise if a file would be written elsewhere than in the folder of a report.

    The names of certificates are in the ledger, which may come from somebody else.
    """
    path = PurePath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "//" in name:
        raise DriftproofError(
            f"a file called {name!r} in the ledger",
            "names of files inside the folder of the report",
            "ask who wrote this ledger; nothing was written",
        )


def write_text(path: Path, text: str) -> None:
    """Write one file so that, short of room, the old one stays as it was; or say why not."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8", errors=LONELY)
        os.replace(part, path)
    except OSError as error:
        raise cannot_write(error, path.parent) from error
    finally:
        with suppress(OSError):
            part.unlink()


def cannot_write(error: OSError, out: Path) -> DriftproofError:
    """Return what to do where a folder cannot be written to."""
    return DriftproofError(
        f"{error.filename or out}: {error.strerror}",
        "a folder that can be written to, with room",
        f"{after_system_error(error)}; --resume goes on from the ledger, which has all results",
    )
