"""Writes a report's files, each all or nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolkit.errors import DriftproofError
from toolkit.report.figures import draw
from toolkit.report.page import figures, render
from toolkit.verdict import Row

PUBLIC = ("schema", "profile", "seed", "union_bound", "environment")


def write_report(out: Path, head: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Write ``results.json``, ``index.html`` and ``plots/`` to a folder."""
    results = {name: head[name] for name in PUBLIC} | {"results": [row.public() for row in rows]}
    try:
        replace_file(out / "results.json", json.dumps(results, indent=1, allow_nan=False))
        replace_file(out / "index.html", render(head, rows))
        folder = out / "plots"
        folder.mkdir(exist_ok=True)
        for made in figures(rows).values():
            for figure in made:
                draw(figure, folder)
    except OSError as error:
        raise cannot_write(error, out) from error


def replace_file(path: Path, text: str) -> None:
    """Write a text file so that either the old or the whole new one is there."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def cannot_write(error: OSError, out: Path) -> DriftproofError:
    """Return what to do where a folder cannot be written to."""
    return DriftproofError(
        f"{error.filename or out}: {error.strerror}",
        "a folder that can be written to, with room",
        "name another --out, or free some space; driftproof report rebuilds from the ledger",
    )
