"""``driftproof verify``: judge claims."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from toolkit.commands import _shared as shared
from toolkit.errors import DriftproofError


@click.command()
@click.argument("select", nargs=-1)
@click.option(
    "--profile", type=click.Choice(["smoke", "quick", "full"]), default="quick", show_default=True
)
@shared.seed
@shared.workers
@click.option("--device", default="cpu", show_default=True, help="cpu, or a CUDA device.")
@shared.out
@shared.as_json
@shared.resume
@click.option("--record", is_flag=True, help="Put these verdicts on record.")
@click.pass_context
def command(
    ctx: click.Context,
    select: tuple[str, ...],
    profile: str,
    seed: int,
    workers: int,
    device: str,
    out: Path | None,
    as_json: bool,
    resume: bool,
    record: bool,
) -> int:
    """Verify claims: SELECT is a name, a glob (comfedl/*) or a Python file of your own.

    Exit status 0 if every verdict is the one on record (SUPPORTED, where none is), 1 otherwise; 2
    bad usage or input, 3 something needed is missing, 130 interrupted.
    """
    judging, records = shared.verifiers("verify"), shared.verifiers("record")
    chosen = judging.select(select)
    own = [leaf.path.stem for leaf in chosen if leaf.module is None]
    out = shared.folder(out, "-".join(dict.fromkeys(own)))
    if record and own:
        raise DriftproofError(
            f"--record with {', '.join(own)}, of your own",
            "claims of driftproof",
            "keep your verdicts with your file: assert_claim in a test of yours",
        )
    settings = judging.Settings(
        profile=profile, seed=seed, workers=workers, device=device, resume=resume
    )
    with shared.progress("verify", quiet=ctx.obj["quiet"]) as (started, ended):
        head, rows = judging.verify(chosen, settings, out, started=started, ended=ended)
    if record:
        records.write(rows, profile)
        rows = records.expected(rows)
    if as_json:
        shared.print_json(judging.public(head, rows))
    else:
        summary(head, rows, out)
    return 0 if records.as_expected(rows) else 1


def summary(head: dict[str, Any], rows: list[Any], out: Path) -> None:
    """Print what a reader wants first."""
    from toolkit.report.page import grouped

    lines = []
    for claim, groups in grouped(rows).items():
        for group in groups:
            flags = [
                "attained" if group.attained else "",
                "weakly tested" if group.weakly_tested else "",
                "no instance can meet it" if group.empty else "",
                "not as on record" if group.changed else "",
            ]
            cells = [claim, group.title, str(group.verdict), group.evidence or "–"]
            cells += [group.cases, group.tightness, ", ".join(filter(None, flags))]
            lines.append(cells)
    shared.table(["claim", "form", "verdict", "evidence", "cases", "tightness", ""], lines)
    for claim, groups in grouped(rows).items():
        for group in groups:
            if group.reason:
                click.echo(f"{claim}, {group.title}: {group.reason}")
    if head["profile"] == "smoke":
        click.echo(
            "profile smoke: the first case of each claim alone, which tells little of it; "
            "its plots are on the page, not in files."
        )
    click.echo(
        "SUPPORTED means: on these cases. Chance that sampling made any verdict wrong: "
        f"at most {head['union_bound']:.2g}."
    )
    click.echo(f"page: {out / 'index.html'}", err=not sys.stdout.isatty())
