"""``driftproof bench``: how fast, how near to what the machine can do, beside its peers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from driftproof.commands import _shared as shared


@click.command()
@click.argument("kernel", nargs=-1)
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
@click.option(
    "--peers", is_flag=True, help="The identical work in other libraries too; pip names what lacks."
)
@shared.as_json
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("report-bench"),
    show_default=True, help="Folder of benchmark.json, the page and the plots.",
)  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context, kernel: tuple[str, ...], device: str, peers: bool, as_json: bool, out: Path
) -> int:
    """Time kernels: KERNEL is a kernel's or a case's name (driftproof list kernels, cases).

    Every variant is checked against the plain steps in double precision before it is timed. Without
    a KERNEL, every case is run, which takes minutes.

    Exit status 0; 1 if a variant or a peer does not agree with the plain steps; 2 bad input, or
    the page cannot be written; 3 no such device; 130 interrupted.
    """
    from gpu_bench import run as running
    from toolkit.report.benchmark import prepare, write_benchmark

    plan = running.planned(kernel, device=device, peers=peers)
    prepare(out)
    head: dict[str, Any] = {}
    try:
        with shared.progress("bench", quiet=ctx.obj["quiet"]) as (started, ended, _):
            running.run_benchmark(plan, head, started=started, ended=ended)
    except KeyboardInterrupt:
        return interrupted(head, as_json=as_json)
    try:
        if as_json:
            shared.print_json(head)
        else:
            summary(head)
    finally:  # a reader who takes the first lines alone (| head) has the page too
        write_benchmark(out, head)
    if not as_json:
        click.echo(f"page: {out / 'index.html'}", err=not sys.stdout.isatty())
    return int(running.status(head))


def interrupted(head: dict[str, Any], *, as_json: bool) -> int:
    """Print what was finished, say what became of it, and return the exit status."""
    if not head.get("rows"):
        click.echo("driftproof: interrupted before a row was finished; no page written", err=True)
        return 130
    head["interrupted"] = True
    if as_json:
        shared.print_json(head)
    else:
        summary(head)
    note = f"{len(head['rows'])} rows were finished and are shown; no page was written"
    click.echo(f"driftproof: interrupted; {note}, and the same command begins anew", err=True)
    return 130


def summary(head: dict[str, Any]) -> None:
    """Print the rows, then what their marks mean."""
    from toolkit.report import benchmark_table as shown

    shared.table(shown.COLUMNS, [shown.cells(row) for row in head["rows"]])
    for line in shown.ceiling_lines(head):
        click.echo(line)
