"""Writes a report's files, all or nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
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
    texts = {
        "results.json": json.dumps(results, indent=1, allow_nan=False),
        "index.html": render(head, rows),
    }

    def plots(folder: Path) -> None:
        for made in figures(rows).values():
            for figure in made:
                draw(figure, folder)

    write_all(out, texts, plots)


def write_all(out: Path, texts: Mapping[str, str], plots: Callable[[Path], None]) -> None:
    """Write text files and plots so that, short of room, the old ones stay as they were.

    Args:
        texts: file name → content.
        plots: writes plots into the folder it is given.
    """
    part = out / ".part"
    try:
        shutil.rmtree(part, ignore_errors=True)
        (part / "plots").mkdir(parents=True)
        for name, text in texts.items():
            (part / name).write_text(text, encoding="utf-8")
        plots(part / "plots")
        (out / "plots").mkdir(exist_ok=True)
        for path in sorted(part.rglob("*.*")):
            os.replace(path, out / path.relative_to(part))
    except OSError as error:
        raise cannot_write(error, out) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write one file, or say why not."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise cannot_write(error, path.parent) from error


def cannot_write(error: OSError, out: Path) -> DriftproofError:
    """Return what to do where a folder cannot be written to."""
    return DriftproofError(
        f"{error.filename or out}: {error.strerror}",
        "a folder that can be written to, with room",
        "name another --out, or free some space; driftproof report rebuilds from the ledger",
    )
