"""What several commands share: options, progress and tables."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

STYLES = {
    "SUPPORTED": "green",
    "REFUTED": "bold red",
    "INCONCLUSIVE": "yellow",
    "INAPPLICABLE": "bright_black",
}

LONGEST = 80
"""Bytes of a name that a folder may have beside ``report-``."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
seed = click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
out = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder of the ledger, the page and the plots  [default: report; report-NAME for an "
    "experiment or a file of your own]",
)
resume = click.option("--resume", is_flag=True, help="Go on with what --out holds.")
workers = click.option(
    "--workers",
    type=click.IntRange(1),
    default=lambda: os.cpu_count() or 1,
    show_default="all cores",
    help="Processes; verdicts are the same for any number.",
)


def folder(chosen: Path | None, name: str = "") -> Path:
    """Return --out, or a default that does not overwrite another kind of report."""
    if chosen is not None:
        return chosen
    name = name.replace("/", "-")
    if len(name.encode()) > LONGEST:  # many files: some of it, and a digest of the whole
        digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
        name = f"{name.encode()[: LONGEST - 16].decode(errors='ignore')}-{digest}"
    return Path(f"report-{name}" if name else "report")


def verifiers(module: str) -> Any:
    """Import a module that judges, by name: toolkit imports none of its siblings."""
    return importlib.import_module(f"verifiers.{module}" if module else "verifiers")


def toolkit(module: str) -> Any:
    """Import a module of this package when a command needs it."""
    return importlib.import_module(f"toolkit.{module}")


def print_json(value: Any) -> None:
    """Print JSON, and nothing else, on standard output."""
    click.echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None
) -> None:
    """Print a table as wide as the terminal; verdicts are coloured."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    made = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    Console(width=None if sys.stdout.isatty() else 160).print(made)


@contextmanager
def progress(
    what: str, *, quiet: bool
) -> Iterator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """Show progress on standard error: a bar on a terminal, else a plain line every tenth.

    Yields:
        ``started(total)`` and ``ended(name)``, to be called as the work goes on.
    """
    if quiet:
        yield (lambda total: None), (lambda name: None)
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield (
                lambda total: bar.update(task, total=total),
                lambda name: bar.update(task, advance=1, description=f"{what} {name}"),
            )
    else:
        yield _plain(what)


def _plain(what: str) -> tuple[Callable[[int], None], Callable[[str], None]]:
    state = {"total": 0, "done": 0}

    def started(total: int) -> None:
        state["total"] = total

    def ended(name: str) -> None:
        state["done"] += 1
        tenth = max(1, state["total"] // 10)
        if state["done"] % tenth == 0 or state["done"] == state["total"]:
            click.echo(f"{what}: {state['done']} of {state['total']}, {name}", err=True)

    return started, ended
