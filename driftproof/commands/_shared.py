"""What several commands share: options, progress and tables."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from driftproof.toolkit.errors import DriftproofError

if TYPE_CHECKING:
    from collections.abc import Iterator

STYLES: Mapping[str, dict[str, Any]] = {
    "SUPPORTED": {"fg": "green"},
    "REFUTED": {"fg": "red", "bold": True},
    "INCONCLUSIVE": {"fg": "yellow"},
    "INAPPLICABLE": {"fg": "bright_black"},
}

NAME_BYTES = 80
"""Bytes of a name that a folder may have beside ``report-``."""


def names_of(*kinds: str) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    """Return what completes the names of leaves, and paths, in a shell."""

    def complete(ctx: click.Context, param: click.Parameter, text: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        from driftproof.toolkit.discover import leaves

        names = [name for kind in kinds for name in leaves(kind) if name.startswith(text)]
        return [*map(CompletionItem, names), CompletionItem(text, type="file")]

    return complete


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
seed = click.option("--seed", type=click.IntRange(0), default=0, show_default=True)


SILENCE = 20.0
"""Seconds after which a command that is not on a terminal says again how far it has come."""


class Seconds(click.FloatRange):
    """A finite number of seconds, 0 or more."""

    def __init__(self, *, min_open: bool = False) -> None:
        super().__init__(min=0, min_open=min_open)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        seconds: float = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return seconds


def out_of(what: str) -> Callable[[Any], Any]:
    """Return the option ``--out``, a folder of what is named."""
    return click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
        help=f"Folder of {what}",
    )


out = out_of(
    "the ledger, the page and its data  [default: report; report-NAME for an experiment or a "
    "file of your own]"
)
resume = click.option("--resume", is_flag=True, help="Go on with what --out holds.")
workers = click.option(
    "--workers",
    type=click.IntRange(1),
    default=lambda: os.cpu_count() or 1,
    show_default="all cores",
    help="Processes; verdicts are the same for any number.",
)
cluster = click.option(
    "--cluster",
    metavar="dask[=ADDRESS]",
    default=None,
    help="Do the work on a Dask cluster: the one whose scheduler is at ADDRESS, or one of "
    "--workers processes that is started here.",
)


@contextmanager
def working_on(chosen: str | None, workers: int) -> Iterator[int]:
    """Have work done on what ``--cluster`` names, and yield how many workers there are."""
    if chosen is None:
        yield workers
        return
    engine, given, address = chosen.partition("=")
    if engine != "dask" or (given and not address):
        raise DriftproofError(
            f"--cluster {chosen}",
            "dask, or dask=ADDRESS with the address of a scheduler, such as tcp://host:8786",
            "docs/cluster.md shows how one is started",
        )
    from driftproof.verifiers.running.dask_workers import dask_workers

    with dask_workers(address or None, workers) as number:
        yield number


def folder(chosen: Path | None, name: str = "") -> Path:
    """Return --out, or a default that does not overwrite another kind of report."""
    if chosen is not None:
        return chosen
    name = name.replace("/", "-")
    if len(name.encode()) > NAME_BYTES:  # many files: some of it, and a digest of the whole
        digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
        name = f"{name.encode()[: NAME_BYTES - 16].decode(errors='ignore')}-{digest}"
    return Path(f"report-{name}" if name else "report")


def print_json(value: Any) -> None:
    """Print JSON, and nothing else, on standard output."""
    click.echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    spare: Sequence[str] = (),
) -> None:
    """Print a table as wide as the terminal, without a word broken; verdicts are coloured.

    Args:
        spare: columns that may be left out where there is no room.
    """
    from driftproof.toolkit.report.text_table import text_table

    click.echo()
    if title:
        click.echo(f" {title}")
    lines, left_out = text_table(columns, list(rows), terminal_width(), spare, _styled)
    for line in lines:
        click.echo(line)
    click.echo()
    if left_out:
        click.echo(f"Left out for want of width: {', '.join(left_out)}.")


def _styled(text: str, cell: str) -> str:
    style = STYLES.get(cell)
    return click.style(text, **style) if style and text else text


def terminal_width() -> int:
    """Return how many letters a line has: COLUMNS, else the terminal's, else (a file) 160."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 160


def tell(text: str) -> None:
    """Print a sentence, its lines ended at spaces where it goes to a terminal."""
    from driftproof.toolkit.report.text_table import wrapped

    if not sys.stdout.isatty():
        click.echo(text)
        return
    for line in text.split("\n"):
        inset = " " * (len(line) - len(line.lstrip()))
        for part in wrapped(line.strip(), terminal_width() - len(inset)):
            click.echo(inset + part)


@contextmanager
def progress(
    what: str, *, quiet: bool
) -> Iterator[tuple[Callable[[int], None], Callable[[str], None], Callable[[str], None]]]:
    """Show progress on standard error: a bar on a terminal, else a plain line every tenth.

    A tenth may take long: then there is a line as soon as something ends after ``SILENCE``. The
    time that is left is told where it is a minute or more, as if all took alike.

    Yields:
        ``started(total)`` and ``ended(name)``, to be called as the work goes on, and
        ``told(text)``, for what is waited for before it starts.
    """
    if quiet:
        yield (lambda total: None), (lambda name: None), (lambda text: None)
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield (
                lambda total: bar.update(task, total=total),
                lambda name: bar.update(task, advance=1, description=f"{what} {name}"),
                lambda text: bar.update(task, description=f"{what}: {text}"),
            )
    else:
        yield *_plain(what), lambda text: click.echo(f"{what}: {text}", err=True)


def verified(
    chosen: Sequence[Any], settings: Any, out: Path, *, quiet: bool, **others: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Verify claims into a folder with their progress shown (``verifiers.verify.verify``)."""
    from driftproof.verifiers.verify import verify

    try:
        with progress("verify", quiet=quiet) as (started, ended, told):
            others |= {"started": started, "ended": ended, "progress": told}
            return verify(chosen, settings, out, **others)
    except KeyboardInterrupt:  # a verdict may take results that are not there yet
        if (ledger := out / "ledger.sqlite").exists():
            note(f"no verdicts yet; the results so far are in {ledger}")
        raise


def sparing(
    chosen: Sequence[Any],
    judge: Callable[[Sequence[Any], dict[str, DriftproofError]], Any],
    *,
    whole: bool = False,
) -> tuple[Any, dict[str, DriftproofError]]:
    """Judge claims: a mistake of one costs the others nothing. Return the errors by claim, too.

    Args:
        judge: called with claims, and with the errors of those that are left out.
        whole: whether none may be left out.
    """
    failed: dict[str, DriftproofError] = {}
    while True:
        try:
            return judge(chosen, failed), failed
        except DriftproofError as error:
            others = [leaf for leaf in chosen if leaf.name != error.claim]
            if whole or len(others) in (0, len(chosen)):
                raise
            chosen, failed[str(error.claim)] = others, error
            note(f"{error.claim}: {error.got.splitlines()[0]}")  # the others may take minutes


def errors_of(failed: Mapping[str, DriftproofError]) -> ExceptionGroup[DriftproofError]:
    """Name the claims that were not judged, and return why, to be raised."""
    click.echo(f"Not judged: {', '.join(failed)}.", err=True)
    # of a file that cannot be imported each claim has the same error
    return ExceptionGroup("claims", [*{str(error): error for error in failed.values()}.values()])


def note(text: str) -> None:
    """Say something on standard error that changes nothing."""
    click.echo(f"note: {text}", err=True)


def _plain(what: str) -> tuple[Callable[[int], None], Callable[[str], None]]:
    total, done, shown, began = 0, 0, time.monotonic(), time.monotonic()

    def started(number: int) -> None:
        nonlocal total, began
        total, began = number, time.monotonic()

    def ended(name: str) -> None:
        nonlocal done, shown
        done += 1
        waited = time.monotonic() - shown > SILENCE
        if waited or done % max(1, total // 10) == 0 or done == total:
            shown = time.monotonic()
            minutes = round((shown - began) / done * (total - done) / 60)
            left = f", about {minutes} min left" if minutes else ""
            click.echo(f"{what}: {done} of {total}, {name}{left}", err=True)

    return started, ended
