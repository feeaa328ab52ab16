"""Which commit a benchmark is of."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any


def commit(folder: Path) -> dict[str, Any]:
    """Return the commit of a folder that is a checkout's top, and whether files differ from it.

    "unknown" elsewhere: a package installed below some other project's checkout is none of it.
    """
    top = _git(folder, "rev-parse", "--show-toplevel")
    known = _git(folder, "rev-parse", "HEAD")
    if top is None or known is None or Path(top).resolve() != folder.resolve():
        return {"id": "unknown", "dirty": None}
    return {"id": known, "dirty": bool(_git(folder, "status", "--porcelain"))}


def _git(folder: Path, *words: str) -> str | None:
    """Return what git says about a folder (None: it has none, or there is no git)."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        ended = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True,
            env=outer,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return None
    return ended.stdout.strip()
