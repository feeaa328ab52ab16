"""``driftproof falsify``: search for a counterexample."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftproof.commands import _shared as shared
from toolkit.errors import DriftproofError

if TYPE_CHECKING:
    from verifiers.search.finding import Finding
    from verifiers.standalone.files import Written


@click.command()
@click.argument("select", nargs=-1, required=True)
@click.option(
    "--budget", type=click.FloatRange(min=0, min_open=True), default=30.0, show_default=True,
    help="Seconds of work for each right side, on one core.",
)  # fmt: skip
@click.option(
    "--climbs", type=click.IntRange(1), default=None,
    help="Instead: how many climbs; what is found then depends on the seed alone.",
)  # fmt: skip
@click.option("--warm", is_flag=True, help="Start from the claims' own cases.")
@click.option(
    "--controls/--no-controls", default=True, show_default=True,
    help="Search the false siblings too: how many are found is the power of the search.",
)  # fmt: skip
@shared.seed
@shared.workers
@shared.out
@shared.as_json
@shared.resume
@click.pass_context
def command(
    ctx: click.Context, select: tuple[str, ...], budget: float, climbs: int | None, warm: bool,
    controls: bool, seed: int, workers: int, out: Path | None, as_json: bool, resume: bool,
) -> int:  # fmt: skip
    """Search for instances and hyperparameters that break a bound or an identity.

    SELECT is a name, a glob (comfedl/*) or a Python file of your own. What is found is confirmed
    by the judge of ``verify`` and made as simple as possible. Beside search.json each violation
    has a script that recomputes it with numpy alone (``driftproof counterexample``).

    Exit status 0 if nothing was found that is not on record as refuted, 1 otherwise; 2 bad usage
    or input, 3 something needed is missing, 130 interrupted.
    """
    from toolkit.environment import environment
    from toolkit.ledger import Ledger
    from verifiers.record import refuted_on_record
    from verifiers.search.search import Effort, falsify
    from verifiers.standalone.files import write
    from verifiers.verify import select as chosen_by

    chosen = chosen_by(select)
    own = [leaf.path.stem for leaf in chosen if leaf.module is None]
    out = shared.folder(out, "-".join(["search", *dict.fromkeys(own)]))
    effort = Effort(budget, climbs, seed, warm, controls)
    with Ledger(out / "ledger.sqlite") as ledger:
        head = {
            "schema": 1, "command": "falsify", "seed": seed, "budget": budget, "climbs": climbs,
            "warm": warm, "environment": environment("cpu", workers),
        }  # fmt: skip
        with shared.progress("falsify", quiet=ctx.obj["quiet"]) as (started, ended):
            findings = falsify(
                chosen, effort, workers=workers, ledger=ledger, resume=resume, started=started,
                ended=ended,
            )  # fmt: skip
    scripts = write(chosen, findings, out)
    told = [
        asdict(finding) | {"script": script.path.name if script.path else None}
        for finding, script in zip(findings, scripts, strict=True)
    ]
    data = head | {"findings": told}
    path = out / "search.json"
    try:
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise DriftproofError(
            f"{path}: {error}", "a file to write", "choose another --out"
        ) from None
    if as_json:
        shared.print_json(data)
    else:
        _summary(findings, scripts, path)
    known = refuted_on_record()
    new = [f for f in findings if f.found and not f.is_control and (f.claim, f.form) not in known]
    return 1 if new else 0


def _summary(findings: list[Finding], scripts: list[Written], path: Path) -> None:
    from toolkit.report.page import number
    from verifiers.search.finding import CANDIDATE, NOT_SEARCHED, NOTHING, power

    lines = []
    for f in findings:
        sides = f"{number(f.lhs['mean'])} > {number(f.rhs)}" if f.lhs and f.found else ""
        looked = f"{f.evaluations:,}" if f.evaluations else ""
        note = ""
        if not f.is_control and f.status == NOTHING:
            found, controls = power(findings, f.claim)
            note = f"power {found} of {controls}" if controls else "no control: power unknown"
        met = f.ratio is not None and not f.found and abs(f.ratio - 1) < 1e-6
        ratio = (
            "1, met" if met else number(f.ratio) if f.ratio is not None else "∞" if f.found else ""
        )
        lines.append((f.claim, f.form, f.status, ratio, sides, looked, note))
    shared.table(
        ["claim", "form", "search", "left / right", "sides", "candidates", ""], lines,
        spare=("candidates", "sides"),
    )  # fmt: skip
    for f, script in zip(findings, scripts, strict=True):
        if f.found and not f.is_control:
            shared.tell(f"{f.claim}, {f.form}: {f.reason}")
            shared.tell(f"    case: {f.label}")
            shared.tell(f"    script: {script.path or f'none: {script.reason}'}")
        elif f.status in (NOT_SEARCHED, CANDIDATE) and not f.is_control:
            shared.tell(f"{f.claim}, {f.form}: {f.reason}")
    if any(f.status == NOTHING and not f.is_control for f in findings):
        shared.tell(
            '"Nothing found" is no proof. Power: how many false siblings of the claim the same '
            "search refuted; false_siblings=[…] in the claim gives some."
        )
    shared.tell(f"{path}: every finding, with its case")
