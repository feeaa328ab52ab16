"""``driftproof falsify``: search for a counterexample."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftproof.commands import _shared as shared

if TYPE_CHECKING:
    from driftproof.verifiers.search.finding import Finding
    from driftproof.verifiers.standalone.files import Written


@click.command()
@click.argument("select", nargs=-1, required=True, shell_complete=shared.names_of("claim"))
@click.option(
    "--budget",
    type=shared.Seconds(min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds of work for each right side, on one core.",
)
@click.option(
    "--climbs",
    type=click.IntRange(1),
    default=None,
    help="Instead of a budget: the number of climbs. The result then depends on the seed alone.",
)
@click.option(
    "--controls/--no-controls",
    default=True,
    show_default=True,
    help="Search the false siblings too: how many are found is the power of the search.",
)
@click.option(
    "--nicest/--strongest",
    "nicest",
    default=True,
    show_default=True,
    help="Show the simplest case, with left / right of 2 if there is one, or the largest.",
)
@click.option(
    "--same-problem",
    is_flag=True,
    help="Search the problem families of the claim's own cases alone.",
)
@shared.seed
@shared.workers
@shared.cluster
@shared.out_of(
    "the ledger and search.json  [default: report-search; report-search-NAME for a file of your "
    "own]"
)
@shared.as_json
@shared.resume
@click.pass_context
def command(
    ctx: click.Context,
    select: tuple[str, ...],
    budget: float,
    climbs: int | None,
    controls: bool,
    nicest: bool,
    same_problem: bool,
    seed: int,
    workers: int,
    cluster: str | None,
    out: Path | None,
    as_json: bool,
    resume: bool,
) -> int:
    """Search for instances and hyperparameters that break a bound or an identity.

    SELECT is a name, a glob (comfedl/*), a Python file of your own, or one claim of it, FILE::NAME.
    What is found is confirmed by the judge of ``verify`` and made as simple as possible. Beside
    search.json each violation has a script that recomputes it with numpy alone (``driftproof
    counterexample``).

    Exit status 0 if nothing was found that is not on record as refuted, 1 otherwise; 2 bad usage or
    input, or a search that failed; 3 something needed is missing, 130 interrupted.
    """
    from driftproof.toolkit.environment import environment
    from driftproof.toolkit.ledger import Ledger
    from driftproof.toolkit.report.files import write_text
    from driftproof.verifiers.baseline import refuted_on_record
    from driftproof.verifiers.search.finding import FAILED
    from driftproof.verifiers.search.search import Effort, falsify
    from driftproof.verifiers.standalone.files import demoted, write
    from driftproof.verifiers.verify import select as select_claims

    chosen = select_claims(select, shared.note)
    own = [leaf.path.stem for leaf in chosen if leaf.module is None]
    out = shared.folder(out, "-".join(["search", *dict.fromkeys(own)]))
    path = out / "search.json"
    if path.exists() and not (resume or ctx.obj["quiet"]):
        click.echo(
            f"{path} is of a search before. This one will replace it and its scripts; --out names "
            "another folder.",
            err=True,
        )
    effort = Effort(budget, climbs, seed, controls, strongest=not nicest, same_problem=same_problem)
    with shared.working_on(cluster, workers) as workers, Ledger(out / "ledger.sqlite") as ledger:
        head = {
            "schema": 1,
            "command": "falsify",
            "select": list(select),
            "seed": seed,
            "budget": budget,
            "climbs": climbs,
            "environment": environment("cpu", workers),
        }
        made: list[Finding] = []
        try:
            with shared.progress("falsify", quiet=ctx.obj["quiet"]) as (started, ended, told):

                def begun(total: int) -> None:
                    started(total)
                    if climbs is None:
                        told(_time(total, budget, workers))

                findings = falsify(
                    chosen,
                    effort,
                    workers=workers,
                    ledger=ledger,
                    resume=resume,
                    started=begun,
                    ended=ended,
                    made=made.append,
                    told=told,
                )
        except KeyboardInterrupt:
            if made and not as_json:
                _table(made, refuted_on_record())
                shared.tell("As far as the searches came before the interruption.")
            raise
    scripts = write(chosen, findings, out)
    findings = demoted(findings, scripts)
    written = [
        asdict(finding)
        | {"script": script.path.name if script.path else None}
        | {"tex": script.tex.name if script.tex else None, "no_tex": script.no_tex}
        for finding, script in zip(findings, scripts, strict=True)
    ]
    data = head | {"findings": written}
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    known = refuted_on_record()
    if as_json:
        shared.print_json(data)
    else:
        _summary(findings, scripts, known)
        shared.tell(f"{path}: every finding, with its case")
    if any(f.status == FAILED for f in findings):
        return 2
    new = [f for f in findings if f.found and not f.is_control and (f.claim, f.form) not in known]
    return 1 if new else 0


def _time(searches: int, budget: float, workers: int) -> str:
    """Say how long searches may take; each has two climbs at a time."""
    seconds = budget * max(searches / workers, 0.5)
    of = "1 form" if searches == 1 else f"each of {searches} forms"
    return (
        f"up to {budget:g} s of work for {of}, in all about {seconds:.0f} s with --workers "
        f"{workers}. More take: the run that is under way then, what is found, to judge and "
        f"simplify it (up to {budget / 2:g} s), and its script"
    )


def _tightness(ratio: float | None) -> str:
    """Return left / right in words; None is a right side of 0."""
    from driftproof.toolkit.groups import number

    if ratio is None:
        return "∞"
    return "1, met" if -1e-6 < ratio - 1 < 1e-7 else number(ratio)


def _table(findings: list[Finding], known: Container[tuple[str, str]]) -> None:
    from driftproof.toolkit.groups import number
    from driftproof.verifiers.search.finding import NOTHING, power

    lines = []
    for f in findings:
        sides = f"{number(f.lhs['mean'])} > {number(f.rhs)}" if f.lhs and f.found else ""
        looked = f"{f.evaluations:,}" if f.evaluations else ""
        note = ""
        if not f.is_control and f.status == NOTHING:
            found, controls = power(findings, f.claim)
            note = f"power {found} of {controls}" if controls else "no control: power unknown"
        ratio = _tightness(f.ratio) if f.found or f.ratio is not None else ""
        note = ", ".join(
            [
                *filter(None, [note]),
                *(f"without {family}" for family in f.left_out),
                *(["refuted on record"] if (f.claim, f.form) in known else []),
            ]
        )
        lines.append((f.claim, f.form, f.status, ratio, sides, looked, note))
    shared.table(
        ["claim", "form", "search", "left / right", "sides", "tried", ""],
        lines,
        spare=("tried", "sides"),
    )


def _summary(
    findings: list[Finding], scripts: list[Written], known: Container[tuple[str, str]]
) -> None:
    from driftproof.verifiers.search.finding import CANDIDATE, FAILED, NOT_SEARCHED, NOTHING

    _table(findings, known)
    left_out = {(f.claim, *item) for f in findings for item in f.left_out.items()}
    for claim, family, why in sorted(left_out):
        shared.tell(f"{claim} was searched without {family}: {why}")
    for f, script in zip(findings, scripts, strict=True):
        if f.status == FAILED or (
            (f.found or f.status in (NOT_SEARCHED, CANDIDATE) or (f.status == NOTHING and f.reason))
            and not f.is_control
        ):
            shared.tell(f"{f.claim}, {f.form}: {f.reason}")
            if f.elsewhere:
                shared.tell(f"    {f.elsewhere}")
            if f.found:
                shared.tell(f"    script: {script.path or f'none: {script.reason}'}")
                if script.tex or script.no_tex:
                    said = script.tex or f"none: {script.no_tex}"
                    shared.tell(f"    text for a review: {said}")
                shared.tell("    verify and paper judge the cases of the file; add this one:")
            if f.python:
                click.echo(f"{f.python}\n")  # as it is, to be pasted
            if f.strongest:
                shared.tell(f"    left / right reaches {_tightness(f.strongest['ratio'])} on")
                click.echo(f"{f.strongest['python']}\n")
    if any(f.status == NOTHING and not f.is_control for f in findings):
        shared.tell(
            '"Nothing found" is no proof. Power: how many false siblings of the claim the same '
            "search refuted; false_siblings=[…] in the claim gives some."
        )
