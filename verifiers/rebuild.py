"""Rebuilds a report's files from what its ledger holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.experiment import write_experiment
from driftproof.toolkit.report.files import write_report
from driftproof.toolkit.report.results_table import table_of, write_parquet
from driftproof.verifiers.running.jobs import row_from


def rebuild(
    folder: Path, head: Mapping[str, Any], rows: Sequence[dict[str, Any]], *, parquet: bool = False
) -> None:
    """Write the page, the results and the plots of a verification or an experiment again.

    Args:
        parquet: write the results as a Parquet file too.
    """
    if head.get("what") == "experiment":
        if parquet:
            raise DriftproofError(
                f"--parquet of {folder}, which holds the experiment {head['experiment']}",
                "a folder that driftproof verify has written",
                f"leave it out: {folder}/plots/*.csv hold the points of its curves",
            )
        write_experiment(folder, head)
        return
    judged = [row_from(row) for row in rows]
    if parquet:  # first: where pyarrow is missing nothing is written
        write_parquet(folder / "results.parquet", table_of([row.public() for row in judged]))
    write_report(folder, head, judged)
