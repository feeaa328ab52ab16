"""``driftproof verify``: judge claims."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from driftproof.commands import _shared as shared
from toolkit.readings import ReadingKind
from toolkit.verdict import Evidence, Verdict

if TYPE_CHECKING:
    from toolkit.report.page import Group


@click.command()
@click.argument("select", nargs=-1)
@click.option(
    "--profile", type=shared.Choice(["smoke", "quick", "full"]), default="quick", show_default=True
)
@shared.seed
@shared.workers
@shared.cluster
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
    cluster: str | None,
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
    from verifiers import record as records
    from verifiers import verify as judging

    chosen = judging.select(select)
    own = [leaf.path.stem for leaf in chosen if leaf.module is None]
    out = shared.folder(out, "-".join(dict.fromkeys(own)))
    if record:
        records.check_own(own)
    with (
        shared.working_on(cluster, workers) as workers,
        shared.progress("verify", quiet=ctx.obj["quiet"]) as (started, ended),
    ):
        settings = judging.Settings(
            profile=profile, seed=seed, workers=workers, device=device, resume=resume
        )
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

    claims = grouped(rows)
    lines = []
    for claim, groups in claims.items():
        for group in groups:
            cells = [claim, group.title, str(group.verdict), group.evidence or "–"]
            cells += [group.cases, group.tightness, _notes(group)]
            lines.append(cells)
    shared.table(
        ["claim", "form", "verdict", "evidence", "cases", "tightness", ""],
        lines,
        spare=("evidence", "cases"),
    )
    for claim, groups in claims.items():
        for group in groups:
            if group.reason:
                shared.tell(f"{claim}, {group.title}: {group.reason}")
                if group.verdict is Verdict.REFUTED and "problem" in group.deciding.case:
                    shared.tell(f"    case: {group.deciding.case['label']}")
    _exceeded(rows, {group.reason for groups in claims.values() for group in groups})
    _totals(head, rows)
    _errata_at_odds(head, rows)
    if head["profile"] == "smoke":
        shared.tell(
            "profile smoke: the first case of each claim alone, which tells little of it; "
            "its plots are on the page, not in files."
        )
    chance = f"at most {head['union_bound']:.2g}" if head["union_bound"] else "none was sampled"
    for line in _meaning(rows, out):
        shared.tell(line)
    shared.tell(f"Chance that sampling made any verdict wrong: {chance}.")
    shared.tell(on_record(rows))
    click.echo(f"page: {out / 'index.html'}", err=not sys.stdout.isatty())


def _meaning(rows: list[Any], out: Path) -> list[str]:
    """Say what SUPPORTED means of these rows: on cases, or proved of a class."""
    supported = [row for row in rows if row.verdict is Verdict.SUPPORTED]
    proved = [row for row in supported if row.evidence is Evidence.CLASS]
    lines = []
    if len(proved) < len(supported):
        lines.append("SUPPORTED means: on these cases.")
    if proved:
        lines.append(
            "SUPPORTED by class evidence is proved: for every function of the class, in every "
            "dimension, at these hyper-parameters and numbers of clients. A check without a "
            f"solver: driftproof check {out / 'certificates'}/*"
        )
    return lines


def _notes(group: Group) -> str:
    """Return what a reader of a row should know beside its verdict."""
    kind = group.reading_kind
    notes = {
        "intended": kind == ReadingKind.INTENDED,
        f"study: {kind}": kind in (ReadingKind.NARROWER, ReadingKind.WIDER),
        "attained": group.attained,
        "weakly tested": group.weakly_tested,
        "no instance can meet it": group.empty,
        "not as on record": group.changed,
    }
    return ", ".join(note for note, holds in notes.items() if holds)


def _errata_at_odds(head: dict[str, Any], rows: list[Any]) -> None:
    """Say where an erratum of somebody's own claim is not what the verdicts say."""
    from toolkit.report.page import statements
    from toolkit.statements import at_odds

    own = {row.claim for row in rows if row.expected is None}
    for one in statements(head, rows) if head["profile"] != "smoke" else ():
        wrong = at_odds(one) if one.claim in own else ""
        if wrong and (one.severity or one.verdict is not Verdict.REFUTED):
            shared.tell(f"{one.claim}: {wrong}")


def _exceeded(rows: list[Any], told: set[str]) -> None:
    """Say which constants of a user's problem are exceeded, so that cases were left out."""
    from verifiers.judges.declared import DECLARED, GAP, exceeded_in

    for reason, count in exceeded_in(rows).items():
        if reason not in told:
            rows_of = "1 row is" if count == 1 else f"{count} rows are"
            what = "solution" if f"{GAP}{DECLARED}" in reason else "constants"
            shared.tell(f"{reason}: {rows_of} INAPPLICABLE. Mend {what}.")


def _totals(head: dict[str, Any], rows: list[Any]) -> None:
    """Print how many printed statements of each paper came to which verdict."""
    from toolkit.report.page import statements

    printed = statements(head, rows)
    if len(printed) < 2:
        return
    papers: dict[str, list[Verdict]] = {}
    for one in printed:
        papers.setdefault(one.claim.partition("/")[0], []).append(one.verdict)
    if len(papers) > 1:
        papers["all"] = [one.verdict for one in printed]
    lines = [
        [paper, str(len(verdicts)), *(str(verdicts.count(verdict)) for verdict in Verdict)]
        for paper, verdicts in papers.items()
    ]
    shared.table(["paper", "printed statements", *(v.lower() for v in Verdict)], lines)


def on_record(rows: list[Any]) -> str:
    """Say whether the verdicts are the ones on record."""
    known = [row for row in rows if row.expected is not None]
    differ = sum(row.verdict != row.expected for row in known)
    new = len(rows) - len(known)
    if not known:
        return (
            "None of these verdicts is on record: the claims, or the cases, are not driftproof's."
        )
    sentence = (
        f"{differ} of {len(known)} verdicts on cases differ from the record."
        if differ
        else f"All {len(known)} verdicts on cases are as on record."
        if len(known) > 1
        else "The verdict on one case is as on record."
    )
    return sentence + (f" {new} more have no record." if new else "")
