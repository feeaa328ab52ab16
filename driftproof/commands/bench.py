"""``driftproof bench``: how fast, how near to what the machine can do, beside its peers."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from driftproof.commands import _shared as shared
from toolkit.errors import DriftproofError


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
    a KERNEL, every row of the target table is measured, which runs driftproof verify as well and
    takes minutes.

    Exit status 0; 1 if a variant or a peer does not agree with the plain steps; 2 bad input, or
    the page cannot be written; 3 no such device; 130 interrupted.
    """
    head: dict[str, Any] = {"named": list(kernel), "targets": []}
    try:
        measure(head, device, peers, out, quiet=ctx.obj["quiet"])
    except KeyboardInterrupt:
        return interrupted(head, as_json=as_json)
    from gpu_bench.exported import exported
    from toolkit.report.benchmark import write_benchmark

    document = exported(head)
    try:
        if as_json:
            shared.print_json(document)
        else:
            summary(head)
    finally:  # a reader who takes the first lines alone (| head) has the page too
        write_benchmark(out, head, document)
    if not as_json:
        click.echo(f"page: {out / 'index.html'}", err=not sys.stdout.isatty())
    return 1 if any(str(row.get("note", "")).startswith("WRONG") for row in head["rows"]) else 0


def measure(head: dict[str, Any], device: str, peers: bool, out: Path, *, quiet: bool) -> None:
    """Measure what was asked for into ``head``; what is at fault with it is told before."""
    if device.split(":")[0] not in ("cpu", "cuda"):
        raise DriftproofError(f"--device {device}", "cpu or cuda", "driftproof bench --device cpu")
    from gpu_bench import run as running
    from gpu_bench import targets
    from gpu_bench.workload import chosen
    from toolkit.report.benchmark import prepare

    plan = running.Plan(
        cases=chosen(head["named"]), device=device, peers=peers, seed=time.time_ns() % 2**32
    )
    running.check_device(device)
    prepare(out)
    whole = not head["named"]
    more = sum(target.whole for target in targets.TARGETS) if whole else 0
    with shared.progress("bench", quiet=quiet) as (started, ended):
        running.conduct(plan, head, started=lambda total: started(total + more), ended=ended)
        for row in targets.judged(head, whole=whole, ended=ended):
            head["targets"].append(row)


def interrupted(head: dict[str, Any], *, as_json: bool) -> int:
    """Print what was finished, say what became of it, and return the exit status."""
    if not head.get("rows"):
        click.echo("driftproof: interrupted before a row was finished; no page written", err=True)
        return 130
    head["interrupted"] = True
    if as_json:
        from gpu_bench.exported import exported

        shared.print_json(exported(head))
    else:
        summary(head)
    told = f"{len(head['rows'])} rows were finished and are shown; no page was written"
    click.echo(f"driftproof: interrupted; {told}, and the same command begins anew", err=True)
    return 130


def summary(head: dict[str, Any]) -> None:
    """Print the rows, then the target table."""
    from toolkit.report import benchmark_table as shown

    shared.table(shown.COLUMNS, [shown.cells(row) for row in head["rows"]])
    for line in shown.ceiling_lines(head):
        click.echo(line)
    told = [
        (row["target"], row["wanted"], row["aim"], row["measured"], row["outcome"])
        for row in head["targets"]
    ]
    if told:
        shared.table(["target", "at least", "aim", "measured", ""], told)
