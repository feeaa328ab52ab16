"""``driftproof bench``: how fast, how near to what the machine can do, beside its peers."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import click

from driftproof.commands import _shared as shared
from driftproof.toolkit.errors import DriftproofError


@click.command()
@click.argument("kernel", nargs=-1)
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
@click.option(
    "--peers",
    is_flag=True,
    help="The identical work in other libraries too; what is missing is named.",
)
@click.option(
    "--profile",
    type=click.Choice(["quick", "full"]),
    default="full",
    show_default=True,
    help="quick: the size that stands for a case, in double precision, timed a fifth as long.",
)
@shared.as_json
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("report-bench"),
    show_default=True,
    help="Folder of benchmark.json.",
)
@click.pass_context
def command(
    ctx: click.Context,
    kernel: tuple[str, ...],
    device: str,
    peers: bool,
    profile: str,
    as_json: bool,
    out: Path,
) -> int:
    """Time kernels: KERNEL is a kernel's or a case's name (driftproof list kernels, cases).

    Every variant is checked against the plain steps in double precision before it is timed. Without
    a KERNEL, every case is run, which takes minutes.

    Exit status 0; 1 if a variant or a peer does not agree with the plain steps; 2 bad input, or
    --out cannot be written to; 3 no such device; 130 interrupted.
    """
    from driftproof.gpu_bench import run as running

    plan = running.planned(kernel, device=device, peers=peers, quick=profile == "quick")
    with writing(out):  # told before anything is measured
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=out) as probe:
            probe.write(b"benchmark")
    head: dict[str, Any] = {}
    try:
        with shared.progress("bench", quiet=ctx.obj["quiet"]) as (started, ended, _):
            running.run_benchmark(plan, head, started=started, ended=ended)
    except KeyboardInterrupt:
        head["interrupted"] = True
        rows = len(head.get("rows", ()))
        click.echo(f"driftproof: interrupted; {rows} rows were finished", err=True)
        if not rows:
            return 130
    text = json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False)
    try:
        with writing(out):
            (out / "benchmark.json").write_text(text, encoding="utf-8")
    finally:  # what was measured is shown even where it cannot be kept
        if as_json:
            click.echo(text)
        else:
            summary(head)
    return 130 if "interrupted" in head else running.status(head)


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Say what to do where a folder cannot be written to."""
    try:
        yield
    except OSError as error:
        raise DriftproofError(
            f"--out {out}: {error.strerror}",
            "a folder that can be written to, with room",
            "name another --out, or free some space",
        ) from error


def summary(head: dict[str, Any]) -> None:
    """Print the rows, then what their marks mean."""
    from driftproof.gpu_bench import table

    shared.table(table.COLUMNS, [table.cells(row) for row in head["rows"]])
    for line in table.ceiling_lines(head):
        click.echo(line)
