"""Goes a new user's way: builds the wheel, installs it where nothing is, and uses it.

``python -m tests.fresh_install`` needs Python and pip alone; it takes some minutes and 2 GB. What
the commands work on are the files of README.md.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
NOTEBOOK = ("ipykernel", "nbclient")
"""What runs a notebook without a browser; Jupyter brings both."""
COMMANDS = (
    (0, "driftproof --version"),
    (0, "driftproof list"),
    (0, "driftproof show comfedl/lemma-2"),
    (0, "driftproof verify comfedl/lemma-2"),
    (0, "driftproof errata"),
    (0, "driftproof counterexample comfedl/theorem-1 --run"),
    (0, "driftproof controls comfedl/lemma-2"),
    (1, "driftproof verify mine.py"),
    (1, "driftproof falsify mine.py --climbs 2"),
    (0, "driftproof counterexample report-search-mine --run"),
    (1, "python -m pytest -q test_mine.py"),
    (0, "driftproof verify whole.py"),
    (0, "driftproof check report-whole/certificates/*"),
    (0, "driftproof show whole.py"),
    (0, "driftproof new claim mine/own"),
    (0, "driftproof verify own.py --resume"),
    (0, "driftproof report report-own"),
    (0, "driftproof run worked-example/local-steps --profile smoke"),
    (0, "driftproof report report-mine report-own"),
    (0, "driftproof counterexample mine.py --run"),
    (0, "jupyter-execute a_theorem_of_your_own.ipynb"),
)
"""Each command, and its exit status: README's claim in mine.py is refuted."""


def build(source: Path, folder: Path, *, isolated: bool = True) -> Path:
    """Return the wheel of a copy of the sources, so that nothing is left beside them.

    Args:
        isolated: whether pip fetches what builds it; else that has to be installed here.
    """
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=source, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (source / name).is_file() or (source / name).is_symlink():
            copy = folder / "source" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, copy, follow_symlinks=False)  # the rooms are links
    words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder / "dist")]
    here = () if isolated else ("--no-build-isolation",)
    subprocess.run([*words, *here, str(folder / "source")], check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def blocks(page: str, after: str = "") -> list[str]:
    """Return the Python of a page, from a headline on."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = text[text.index(after) :]
    return re.findall(r"```python\n(.*?)```", text, re.S)


def main() -> int:
    """Install, run every command, and say how long each took; 0 if all ended as they should."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # into a pipe of Windows
    asked = argparse.ArgumentParser(prog="python -m tests.fresh_install", description=__doc__)
    asked.add_argument("--python", default=sys.executable, help="the interpreter to install into")
    chosen = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="fresh install ") as made:  # a path with a space
        folder = Path(made)
        began = time.monotonic()
        wheel = build(ROOT, folder)
        print(f"{time.monotonic() - began:6.1f} s  built {wheel.name}", flush=True)
        began = time.monotonic()
        subprocess.run([chosen.python, "-m", "venv", str(folder / "env")], check=True)
        python = folder / "env" / SCRIPTS / "python"
        subprocess.run(
            [str(python), "-m", "pip", "install", "-q", f"{wheel}[testing,frames]", *NOTEBOOK],
            check=True,
            env=os.environ | {"PIP_CONSTRAINT": (ROOT / "constraints.txt").as_uri()},
        )
        print(f"{time.monotonic() - began:6.1f} s  installed it", flush=True)
        return used(folder / "env" / SCRIPTS, folder / "work")


def used(scripts: Path, folder: Path) -> int:
    """Run the commands in a folder that has a user's files, and nothing of the checkout."""
    folder.mkdir()
    mine, whole = blocks("README.md")
    test = "from mine import theorem\nfrom driftproof import assert_claim\n"
    test += "def test_theorem():\n    assert_claim(theorem)\n"
    for name, text in {"mine.py": mine, "test_mine.py": test, "whole.py": whole}.items():
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "docs/notebooks/a_theorem_of_your_own.ipynb", folder)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    wrong = 0
    for wanted, command in COMMANDS:
        first, *words = command.split()
        words = [
            found
            for word in words
            for found in (sorted(folder.glob(word)) if "*" in word else [word])
        ]
        began = time.monotonic()
        made = subprocess.run(
            [scripts / first, *words], cwd=folder, env=environment, capture_output=True
        )
        took = time.monotonic() - began
        print(f"{took:6.1f} s  exit status {made.returncode}  {command}", flush=True)
        if made.returncode != wanted:
            wrong += 1
            print(f"          but {wanted} was wanted", flush=True)
            print((made.stdout + made.stderr).decode("utf-8", "replace"), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
