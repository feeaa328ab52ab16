"""``driftproof verify``: judge claims."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from driftproof.commands import _shared as shared
from driftproof.toolkit.verdict import Verdict

if TYPE_CHECKING:
    from driftproof.toolkit.groups import Group

FORMS_SHOWN = 16
"""So many forms are shown one by one, whatever is new of them: they fit on a screen."""


@click.command()
@click.argument("select", nargs=-1, shell_complete=shared.names_of("claim"))
@click.option(
    "--profile", type=click.Choice(["smoke", "quick", "full"]), default="quick", show_default=True
)
@shared.seed
@shared.workers
@shared.cluster
@click.option("--device", default="cpu", show_default=True, help="cpu, or a CUDA device.")
@shared.out
@shared.as_json
@shared.resume
@click.option(
    "--prove",
    is_flag=True,
    help="Have Coq check the certificates of classes too, and print their proofs.",
)
@click.option("--record", is_flag=True, help="Put these verdicts on record.")
@click.option("--verbose", is_flag=True, help="Show every form, not only what is new.")
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
    prove: bool,
    record: bool,
    verbose: bool,
) -> int:
    """Verify claims: SELECT is a name, a glob (comfedl/*) or a Python file of your own.

    FILE::NAME is one claim of such a file.

    Exit status 0 if every verdict is the one on record (SUPPORTED, where none is), 1 otherwise; 2
    bad usage or input, 3 something needed is missing, 130 interrupted.
    """
    from driftproof.toolkit.report.files import results_of
    from driftproof.verifiers import baseline as records
    from driftproof.verifiers import verify as judging

    chosen = judging.select(select, shared.note)
    own = [leaf.path.stem for leaf in chosen if leaf.module is None]
    out = shared.folder(out, "-".join(dict.fromkeys(own)))
    if prove:
        from driftproof.verifiers.worst_case import coqc

        coqc.version()
    if record:
        records.check_own(own)
        records.check_writable()

    def judge(claims: Any, failed: Any) -> tuple[dict[str, Any], list[Any]]:
        again = replace(settings, resume=settings.resume or bool(failed))
        return shared.verified(claims, again, out, quiet=ctx.obj["quiet"], failed=failed)

    with shared.working_on(cluster, workers) as workers:
        settings = judging.Settings(
            profile=profile, seed=seed, workers=workers, device=device, resume=resume, prove=prove
        )
        (head, rows), failed = shared.sparing(chosen, judge, whole=record)
    if record:
        records.write(rows, profile)
        rows = records.expected(rows)
    if as_json:
        shared.print_json(results_of(head, rows))
    else:
        summary(head, rows, out, verbose=verbose)
    if failed:
        raise shared.errors_of(failed)
    return 0 if records.as_expected(rows) else 1


def summary(head: dict[str, Any], rows: list[Any], out: Path, *, verbose: bool = False) -> None:
    """Print what is new against the record, then what became of each paper.

    Args:
        verbose: print every form, with the reason of its verdict; so it is done of few forms.
    """
    from driftproof.toolkit.groups import grouped
    from driftproof.toolkit.report.forms_table import (
        COLUMNS,
        SPARE,
        cells,
        chance,
        meaning,
        reasons,
    )
    from driftproof.verifiers.baseline import is_news

    forms = [group for groups in grouped(rows).values() for group in groups]
    news = [group for group in forms if is_news(group)]
    shown = forms if verbose or len(forms) <= FORMS_SHOWN else news
    if shown:
        shared.table(COLUMNS, [cells(form) for form in shown], spare=SPARE)
    for line in reasons(shown):
        shared.tell(line)
    own = {row.claim for row in rows if row.expected is None}
    for name, about in head["claims"].items():
        for form, said in about["unlike"].items():
            judged = about["forms"][form]
            shared.tell(f"{name}: the statement says ≤ {said}, but ≤ {judged} was judged.")
        if about.get("over_draws"):
            shared.tell(f"{name}: {about['over_draws']}")
        if about.get("unread") and name in own:
            shared.tell(
                f"{name}: the statement was not compared with what was judged: {about['unread']}"
            )
    _exceeded(rows, {group.reason for group in shown})
    _totals(head, rows, news)
    _errata_at_odds(head, rows)
    if head["profile"] == "smoke":
        shared.tell(
            "profile smoke runs only the first case of each claim, so these verdicts say little."
        )
    for line in (*meaning(rows, str(out)), chance(head["union_bound"])):
        shared.tell(line)
    shared.tell(on_record(rows))
    if len(shown) < len(forms):
        left_out = len(forms) - len(shown)
        shared.tell(f"{left_out} forms are as on record: --verbose shows them, and the page does.")
    click.echo(f"page: {out / 'index.html'}", err=not sys.stdout.isatty())


def _errata_at_odds(head: dict[str, Any], rows: list[Any]) -> None:
    """Say where an erratum of somebody's own claim is not what the verdicts say."""
    from driftproof.toolkit.groups import statements
    from driftproof.toolkit.statements import at_odds

    own = {row.claim for row in rows if row.expected is None}
    for one in statements(head, rows) if head["profile"] != "smoke" else ():
        wrong = at_odds(one) if one.claim in own else ""
        if wrong and (one.severity or one.verdict is not Verdict.REFUTED):
            shared.tell(f"{one.claim}: {wrong}")


def _exceeded(rows: list[Any], shown: set[str]) -> None:
    """Say which constants of a user's problem are exceeded, so that cases were left out."""
    from driftproof.verifiers.judges.audit_gate import DECLARED, GAP, exceeded_in

    for reason, count in exceeded_in(rows).items():
        if reason not in shown:
            rows_of = "1 row is" if count == 1 else f"{count} rows are"
            what = "solution" if f"{GAP}{DECLARED}" in reason else "constants"
            shared.tell(f"{reason}: {rows_of} INAPPLICABLE. Mend {what}.")


def _totals(head: dict[str, Any], rows: list[Any], news: Sequence[Group]) -> None:
    """Print how many printed statements of each paper have which verdict, and what is new."""
    from driftproof.toolkit.discover import leaves
    from driftproof.toolkit.groups import statements
    from driftproof.toolkit.statements import findings_among, sentences

    printed = sentences(statements(head, rows))
    if len(printed) < 2:
        return
    papers: dict[str, list[Verdict]] = {}
    counted = findings_among(printed)
    for one in counted:
        papers.setdefault(_paper(one.claim), []).append(one.verdict)
    # a claim of one's own has no record to be unlike
    new = Counter(_paper(group.claim) for group in news if any(row.expected for row in group.rows))
    if len(papers) > 1:
        papers["all"] = [one.verdict for one in counted]
        new["all"] = sum(new[name] for name in papers)
    for one in (one for one in printed if one not in counted):  # they test the verdicts
        papers.setdefault(f"{_paper(one.claim)}, not counted", []).append(one.verdict)
        new[f"{_paper(one.claim)}, not counted"] = new[_paper(one.claim)]
    recorded = any(row.expected is not None for row in rows)
    lines = [
        [
            paper,
            str(len(verdicts)),
            *(str(verdicts.count(verdict)) for verdict in Verdict),
            *([str(new[paper])] if recorded else []),
        ]
        for paper, verdicts in papers.items()
    ]
    refuted = [one.claim for one in counted if one.verdict is Verdict.REFUTED]
    columns = [
        "paper",
        "printed statements",
        *(v.lower() for v in Verdict),
        *(["forms not as on record"] if recorded else []),
    ]
    shared.table(columns, lines)
    if refuted:
        more = "; driftproof errata says what is wrong" if {*leaves("claim")} & {*refuted} else ""
        shared.tell(f"Refuted as printed: {', '.join(refuted)}{more}.")


def _paper(claim: str) -> str:
    return claim.partition("/")[0]


def on_record(rows: list[Any]) -> str:
    """Say whether the verdicts are the ones on record."""
    from driftproof.toolkit.discover import leaves

    known = [row for row in rows if row.expected is not None]
    differ = sum(row.verdict != row.expected for row in known)
    new = len(rows) - len(known)
    if not known:
        claims = {row.claim for row in rows}
        if any(name in leaves("claim", name) for name in claims):
            return "None of these verdicts is on record."
        own = "These are your own claims" if len(claims) > 1 else "This is your own claim"
        tried = max(row.attacked for row in rows)
        attacked = f" Declared constants were attacked at {tried:,} points." if tried else ""
        return f"{own}: there is no record to compare with.{attacked}"
    sentence = (
        f"{differ} of {len(known)} verdicts on cases differ from the record."
        if differ
        else f"All {len(known)} verdicts on cases are as on record."
        if len(known) > 1
        else "The verdict on one case is as on record."
    )
    return sentence + (f" {new} more have no record." if new else "")
