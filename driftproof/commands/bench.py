"""``driftproof bench``: how fast, how near to what the machine can do, beside its peers."""

from __future__ import annotations

import json
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
    show_default=True, help="Folder of benchmark.json.",
)  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context, kernel: tuple[str, ...], device: str, peers: bool, as_json: bool, out: Path
) -> int:
    """Time kernels: KERNEL is a kernel's or a case's name (driftproof list kernels, cases).

    Every variant is checked against the plain steps in double precision before it is timed. Without
    a KERNEL, every case is run, which takes minutes.

    Exit status 0; 1 if a variant or a peer does not agree with the plain steps; 2 bad input, or
    --out cannot be written to; 3 no such device; 130 interrupted.
    """
    from driftproof.gpu_bench import run as running
    from driftproof.toolkit.report.files import write_text

    plan = running.planned(kernel, device=device, peers=peers)
    out.mkdir(parents=True, exist_ok=True)
    with shared.progress("bench", quiet=ctx.obj["quiet"]) as (started, ended, _):
        head = running.run_benchmark(plan, started=started, ended=ended)
    text = json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False)
    if as_json:
        click.echo(text)
    else:
        summary(head)
    write_text(out / "benchmark.json", text)
    return running.status(head)


def summary(head: dict[str, Any]) -> None:
    """Print the rows, then what their marks mean."""
    from driftproof.gpu_bench import table

    shared.table(table.COLUMNS, [table.cells(row) for row in head["rows"]])
    for line in table.ceiling_lines(head):
        click.echo(line)
