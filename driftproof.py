"""The entry point of the command ``driftproof``; ``python -m driftproof`` is the same.

Before it imports anything by name it looks whether the names still mean driftproof's packages.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Run the command, or say what hides driftproof's packages."""
    told = _looked().hidden()
    if told is not None:
        got, wanted, remedy = told
        message = f"driftproof: {got}\n    wanted: {wanted}\n    remedy: {remedy}\n"
        sys.stderr.write(message)
        sys.exit(2)
    from toolkit.cli import main as command

    command()


def _looked() -> Any:
    """Load ``toolkit/shadowing.py`` by its path: the name ``toolkit`` may be somebody else's."""
    path = Path(__file__).resolve().parent / "toolkit" / "shadowing.py"
    spec = importlib.util.spec_from_file_location("driftproof_shadowing", path)
    if spec is None or spec.loader is None or not path.is_file():
        sys.stderr.write(
            f"driftproof: {path} is not there\n    wanted: a whole installation\n"
            "    remedy: install driftproof again\n"
        )
        sys.exit(2)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
