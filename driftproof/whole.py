"""Looks whether the names of driftproof's packages still mean them, before one is imported.

Every way in comes by here: the command, and a name that is asked of ``driftproof``.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

Complaint = tuple[str, str, str]
"""What was got, what was wanted, and the remedy."""


def hidden() -> Complaint | None:
    """Say what Python would take in the place of one of driftproof's packages, or None.

    ``toolkit/shadowing.py`` is loaded by its path: the name ``toolkit`` may be somebody else's.
    """
    path = Path(__file__).resolve().parents[1] / "toolkit" / "shadowing.py"
    spec = importlib.util.spec_from_file_location("driftproof_shadowing", path)
    if spec is None or spec.loader is None or not path.is_file():
        return f"{path} is not there", "a whole installation", "install driftproof again"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shadowed: Complaint | None = module.hidden()
    return shadowed


@cache
def refuse_hidden() -> None:
    """Say it where driftproof is imported.

    Raises:
        ImportError: a file, a folder or another distribution has the name of one of its packages.
    """
    shadowed = hidden()
    if shadowed is not None:
        got, wanted, remedy = shadowed
        raise ImportError(f"driftproof: {got}\n    wanted: {wanted}\n    remedy: {remedy}")
