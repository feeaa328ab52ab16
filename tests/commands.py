"""Running the command line, as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

DRIFTPROOF = [sys.executable, "-m", "driftproof"]


def driftproof(*words: str, cwd: Path | None = None, **more: Any) -> subprocess.CompletedProcess:
    more.setdefault("env", os.environ | {"COLUMNS": "200"})  # so that tables do not wrap
    return subprocess.run(
        [*DRIFTPROOF, *words], capture_output=True, text=True, cwd=cwd, timeout=600, **more
    )


def results(folder: Path) -> dict[str, Any]:
    """Return results.json without what is outside any promise of reproducibility."""
    made = json.loads((folder / "results.json").read_text())
    made.pop("environment")
    for row in made["results"]:
        row.pop("seconds")
    return made


def experiment(name: str, folder: Path) -> tuple[Path, str, dict[str, Any]]:
    """Run an experiment's smoke profile; return its folder, what it printed, and its record."""
    made = driftproof("run", name, "--profile", "smoke", "--workers", "2", "--out", str(folder))
    assert made.returncode == 0, made.stderr
    return folder, made.stdout, json.loads((folder / "experiment.json").read_text())
