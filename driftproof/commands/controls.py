"""``driftproof controls``: are false relatives of the claims refused?"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from driftproof.commands import _shared as shared

if TYPE_CHECKING:
    from driftproof.verifiers.generated import Outcome


@click.command()
@click.argument("select", nargs=-1, shell_complete=shared.names_of("claim"))
@click.option(
    "--generated", is_flag=True,
    help="Make the siblings instead of taking those that are written by hand.",
)  # fmt: skip
@shared.seed
@shared.workers
@shared.cluster
@shared.as_json
@click.pass_context
def command(
    ctx: click.Context, select: tuple[str, ...], generated: bool, seed: int, workers: int,
    cluster: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Judge false siblings: each must be refused, and no true claim.

    A sibling that is generated may be true, where the claim has room to spare: those that survive
    are listed.
    """
    with (
        shared.working_on(cluster, workers) as workers,
        shared.progress("controls", quiet=ctx.obj["quiet"]) as (started, ended, told),
    ):
        if generated:
            from driftproof.verifiers.generated import check as check_generated
            from driftproof.verifiers.verify import select as chosen_by

            outcome = check_generated(
                chosen_by(select), seed=seed, workers=workers, started=started, ended=ended,
                told=told,
            )  # fmt: skip
        else:
            from driftproof.verifiers.controls import check

            checks = check(select, seed=seed, workers=workers, started=started, ended=ended)
    if generated:
        if as_json:
            shared.print_json(asdict(outcome))
        else:
            _summary(outcome)
        return 0 if outcome.good else 1
    if as_json:
        shared.print_json([vars(checked) for checked in checks])
    else:
        shared.table(
            ["claim", "control", "verdict", "as it must be"],
            [(c.claim, c.control, c.verdict, c.answer) for c in checks],
        )
        for checked in checks:
            if not checked.recorded:
                shared.tell(f"{checked.claim}, {checked.control}: {_unrecorded(checked.claim)}")
    return 0 if all(checked.good for checked in checks) else 1


def _summary(outcome: Outcome) -> None:
    siblings = outcome.siblings
    kinds = list(dict.fromkeys((s.claim, s.kind) for s in siblings))
    differ = Counter((s.claim, s.kind) for s in siblings if s.cases)
    refused = Counter((s.claim, s.kind) for s in siblings if s.cases and s.refused)
    if kinds:
        shared.table(
            ["claim", "change", "differ on a case", "of them refused"],
            [(*key, str(differ[key]), str(refused[key])) for key in kinds if differ[key]],
        )
    for s in siblings:
        if not s.refused:
            shared.tell(f"survived: {s.claim}, {s.form}: {s.kind}, {s.change}")
            shared.tell(f"    {s.reason}")
    _shares(outcome)


def _shares(outcome: Outcome) -> None:
    differ = [s for s in outcome.siblings if s.cases]
    alike = [s for s in outcome.siblings if not s.cases]
    refused = sum(s.refused for s in differ)
    if differ:
        shared.tell(
            f"Siblings that differ on a case: {refused} of {len(differ)} refused "
            f"({refused / len(differ):.0%})."
        )
    if alike:
        shared.tell(f"Siblings that differ on no case: {len(alike)}.")
    shared.tell(
        f"True forms wrongly refused: {len(outcome.wrong)} of {outcome.forms}; promised: one or "
        f"more with probability {outcome.promised:.1g} at most."
    )
    for claim, form in outcome.wrong:
        shared.tell(f"    {claim}, {form}")
    for claim, form in outcome.unrecorded:
        shared.tell(f"{claim}, {form}: {_unrecorded(claim)}")
    if outcome.by_hand:
        shared.tell(
            f"Of {len(outcome.by_hand)} claims no sibling can be made: their right sides are no "
            "formulas that something is bounded by. They have siblings by hand."
        )


def _unrecorded(claim: str) -> str:
    """Say what to do about a form that is refuted and has no verdict on record."""
    from driftproof.toolkit.discover import leaves

    if claim in leaves("claim"):
        next_step = f"driftproof verify {claim} --record puts that on record"
    else:
        next_step = "say what is wrong with it (erratum=…) and what holds instead (corrected=…)"
    return (
        "it is refuted, and no verdict on it is on record. If you think that it is true, look at "
        f"the case that refutes it (driftproof verify). If it is false, {next_step}."
    )
