"""Rebuilds a report's files from what its ledger holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driftproof.toolkit.report.experiment import write_experiment
from driftproof.toolkit.report.files import write_report
from driftproof.toolkit.verdict import row_from


def rebuild(folder: Path, head: Mapping[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    """Write the page, the results and the plots of a verification or an experiment again."""
    if head.get("what") == "experiment":
        write_experiment(folder, head)
        return
    write_report(folder, head, [row_from(row) for row in rows], plots=True)
