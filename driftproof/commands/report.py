"""``driftproof report``: rebuild the page from the ledger, or compare two ledgers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from driftproof.commands import _shared as shared


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("other", metavar="[OTHER]", type=click.Path(path_type=Path), required=False)
@shared.as_json
def command(folder: Path, other: Path | None, as_json: bool) -> None:
    """Rebuild results.json, index.html and the tables of DIR, and write its plots as files.

    With OTHER, list what changed from DIR to OTHER instead, and write OTHER/difference.html.
    """
    head, rows = _latest(folder)
    if other is None:
        with _shown_of(folder):
            _rebuild(folder, head, rows)
        click.echo(f"page: {folder / 'index.html'}\nplots: {folder / 'plots'}")
        return
    _compare(folder, other, head, rows, as_json)


def _rebuild(folder: Path, head: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    if head.get("what") == "experiment":
        from driftproof.toolkit.report.experiment import write_experiment

        write_experiment(folder, head)
        return
    from driftproof.toolkit.report.files import write_report
    from driftproof.toolkit.verdict import row_from

    write_report(folder, head, [row_from(row) for row in rows], plots=True)


def _compare(
    folder: Path, other: Path, head: dict[str, Any], rows: list[dict[str, Any]], as_json: bool
) -> None:
    from driftproof.toolkit.errors import DriftproofError
    from driftproof.toolkit.report.difference import difference, render_difference
    from driftproof.toolkit.report.files import write_text

    later, others = _latest(other)
    for where, document in ((folder, head), (other, later)):
        if document.get("what") == "experiment":
            raise DriftproofError(
                f"{where} holds the experiment {document['experiment']}",
                "two folders that driftproof verify has written",
                "driftproof report DIR rebuilds an experiment's page",
            )
    with _shown_of(folder, other):
        changes = difference(rows, others)
        page = render_difference((folder.name, other.name), (head, later), changes)
        columns = ["claim", "form", "what", "before", "after", "case"]
        lines = [
            tuple(map(str, (c.claim, c.form, c.what, c.before, c.after, c.case))) for c in changes
        ]
    write_text(other / "difference.html", page)
    if as_json:
        shared.print_json([asdict(change) for change in changes])
        return
    if changes:
        shared.table(columns, lines)
    click.echo(f"{len(changes)} changes from {folder} to {other}")
    click.echo(f"page: {other / 'difference.html'}")


def _latest(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    from driftproof.toolkit.errors import DriftproofError
    from driftproof.toolkit.ledger import Ledger

    if folder.is_file():
        written = f"report-{folder.stem}" if folder.suffix == ".py" else "report"
        raise DriftproofError(
            f"{folder}, a file",
            "a folder that driftproof verify or run has written",
            f"driftproof verify {folder} writes {written}, and driftproof report {written} makes "
            "its page again",
        )
    with Ledger(folder / "ledger.sqlite", create=False) as ledger, _shown_of(folder):
        return ledger.latest()


@contextmanager
def _shown_of(*folders: Path) -> Iterator[None]:
    """Tell what cannot be shown of a ledger's run: anything may have been written there."""
    from driftproof.toolkit.errors import DriftproofError

    try:
        yield
    except (DriftproofError, OSError):
        raise
    except Exception as error:  # of any kind, wherever a value is not what it was
        ledgers = " or ".join(str(folder / "ledger.sqlite") for folder in folders)
        raise DriftproofError(
            f"{ledgers} holds a run that cannot be shown ({type(error).__name__}: {error})",
            "the run as this version of driftproof wrote it",
            "verify or run it again with another --out; if nobody changed the ledger, please "
            "report it, with the traceback that --debug shows",
        ) from error
