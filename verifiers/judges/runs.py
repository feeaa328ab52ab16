"""Judges a bound on cases: exactly if the noise can be enumerated, else on growing samples.

What doubles leave open is run again in ball arithmetic.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters, stated
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.errors import UndecidableError
from driftproof.toolkit.federation import Outcome, run, run_exactly, sampled_context
from driftproof.toolkit.verdict import Row, Verdict
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges import bounds, curves, enclosed, scores
from driftproof.verifiers.judges.decide import undecided
from driftproof.verifiers.judges.evidence import Measured, joined
from driftproof.verifiers.judges.judge import (
    BUDGETS,
    OUTSIDE,
    ClaimTask,
    Group,
    Judge,
    Tasks,
    pack_rows,
    unpack_rows,
)
from driftproof.verifiers.judges.rows import case_entry, row_of

OUTCOMES_ALONE = 1024
"""Outcomes that a score enumerates; beyond them 64 replicates are sampled."""
FEW = 256
"""Replicates that are sampled even if their mean is below a right side that they can only refute:
what is rare and large may not be among fewer."""


def exact(claim: BoundClaim, task: ClaimTask) -> bytes:
    """Do the task of running every atom of a case's noise."""
    case, _ = task.of(claim)
    return bounds.measure_exactly(claim, case, task.device, task.form).pack()


def block(claim: BoundClaim, task: ClaimTask, *, shadowed: bool = False) -> bytes:
    """Do the task of running one block of sampled replicates, whose number is its argument."""
    case, _ = task.of(claim)
    (number,) = task.args
    return bounds.measure_block(
        claim, case, task.seed, int(number), task.device, task.form, shadowed=shadowed
    ).pack()


def shadowed_block(claim: BoundClaim, task: ClaimTask) -> bytes:
    """Do the same in single precision too."""
    return block(claim, task, shadowed=True)


def in_balls(claim: BoundClaim, task: ClaimTask) -> bytes:
    """Do the task of judging a case in ball arithmetic, up to a comparison if there are args."""
    case, form = task.of(claim)
    upto = (int(task.args[0]), int(task.args[1])) if task.args else None
    try:
        row = enclosed.judge(claim, case, form, upto=upto)
    except UndecidableError as error:
        row = row_of(claim, form, case_entry(case), undecided(), None, error.told)
    return pack_rows([row])


class MeasuredOnce(Judge):
    """Judges forms that share a left side together."""

    def groups(self, claim: Any, forms: Sequence[int], profile: str) -> Iterator[Group]:
        """Yield the forms that share a left side, with one case."""
        for together in by_left(claim, forms).values():
            for number in self.numbers(claim, profile) or ():
                yield Group(together, [number])


class Runs(MeasuredOnce):
    """Judges by running the algorithm on a case."""

    elsewhere = False

    def rows(self, claim: BoundClaim, group: Group, ask: ClaimTask, profile: str) -> Tasks:
        """Judge forms on a case."""
        case, forms = claim.every_case[group.cases[0]], [claim.forms[k] for k in group.forms]
        lead = lead_of(claim, group.forms[0])
        effort = float(case.rounds * case.algorithm.local_steps) if case.algorithm else 0.0
        ask = replace(ask, number=group.cases[0], case=case.key, form=lead, effort=effort)
        ((blob, _),) = yield [replace(ask, do=exact)]
        measured = Measured.unpack(blob)
        certain = measured.kind == "exact" and measured.values.shape[1] == 1
        # of what is printed given the past, a mean over pasts says nothing
        if measured.kind == "exact" and (certain or not claim.conditional):
            rows = [bounds.judge(claim, case, form, measured) for form in forms]
            unsure = [k for k, row in enumerate(rows) if enclosed.left_open(row, measured)]
            asked = [
                replace(ask, do=in_balls, form=group.forms[k], args=rows[k].at or ())
                for k in unsure
            ]
            results = (yield asked) if asked else []
            for k, (blob, _) in zip(unsure, results, strict=True):
                rows[k] = enclosed.merge_enclosure(rows[k], unpack_rows(blob)[0])
        else:
            rows, measured = yield from self._sampled(claim, case, forms, ask, BUDGETS[profile])
        return [
            row
            if row.form == "sibling"  # the page does not show it
            else replace(row, series=curves.curves(claim, case, row, measured))
            for row in rows
        ]

    def _sampled(
        self, claim: BoundClaim, case: Case, forms: Sequence[Form], ask: ClaimTask, budget: int
    ) -> Any:
        """Judge by twice as many blocks as before, until every form of its own is decided."""
        blocks: list[Measured] = []
        undecided_, decided = list(forms), dict[int, Row]()
        # a false sibling has to be refuted on some case, not decided on each: it adds no work
        own = [form for form in forms if form.form != "sibling"] or list(forms)
        if all(bounds.untestable(claim, case, form) for form in own):
            nothing = Measured("sampled")
            return [bounds.judge(claim, case, form, nothing) for form in forms], nothing
        while any(form in undecided_ for form in own) and len(blocks) < budget:
            chunk = range(len(blocks), min(budget, max(1, 2 * len(blocks))))
            results = yield [replace(ask, do=block, args=(b,)) for b in chunk]
            blocks += [Measured.unpack(blob) for blob, _ in results]
            measured = joined(blocks)
            for form in list(undecided_):
                row = bounds.judge(claim, case, form, measured)
                ended = len(blocks) >= budget or not _more_would_do(
                    claim, case, form, row, measured
                )
                last = ended and row.verdict is Verdict.INCONCLUSIVE
                if (last or row.reason == bounds.UNMEASURED) and _unshadowed(measured):
                    ((blob, _),) = yield [replace(ask, do=shadowed_block, args=(0,))]
                    blocks[0] = Measured.unpack(blob)
                    measured = joined(blocks)
                    row = bounds.judge(claim, case, form, measured)
                decided[id(form)] = row
                if ended or row.verdict is not Verdict.INCONCLUSIVE:
                    undecided_.remove(form)
        return [decided[id(form)] for form in forms], measured

    def score(self, claim: BoundClaim, form: Form, case: Case, seed: int) -> float:
        """Return the largest left / right of a case, in doubles."""
        right = bounds.right_side(claim, case, form.right)[1]
        outcome = measured_once(claim, form, case, seed)
        radius = case.problem.radius
        if radius is not None and outcome.reach > radius:
            return OUTSIDE
        if not outcome.taken.shape[1]:
            return 0.0
        means = (outcome.taken @ outcome.weights)[..., None]
        factors = bounds.coefficients(claim, case, form.right)
        return float(scores.largest_ratio(means, outcome.names, right, factors)[0])

    def check(self, claim: BoundClaim, form: Form, case: Case) -> None:
        """Raise what is wrong with the right side or the measure."""
        stated(form.right, Letters(claim.notation(case)))
        measured_once(claim, form, case, seed=0)

    def enclosed(self, claim: BoundClaim, case: Case, form: Form) -> Row | None:
        """Return the row of a case in ball arithmetic."""
        return enclosed.judge(claim, case, form)


def by_left(claim: Any, wanted: Sequence[int]) -> dict[int, list[int]]:
    """Return the forms that share a measured side, under the number that names its measurement."""
    numbers: dict[int, list[int]] = {}
    for k in wanted:
        numbers.setdefault(lead_of(claim, k), []).append(k)
    return numbers


def lead_of(claim: Claim[Any], number: int) -> int:
    """Return the first form that measures what a form measures."""
    own = claim.forms[number].left
    return next(j for j, form in enumerate(claim.forms) if own is None or form.left is own)


def measured_once(claim: BoundClaim, form: Form, case: Case, seed: int) -> Outcome:
    """Return what a run gave: with every outcome of its noise where these are few.

    Expectations are over the whole run. Given the past a bound says more, which takes a run from
    each past: that is left to ``rows``.
    """
    left = scores.in_total_expectation(form.left or claim.left)
    try:
        return run_exactly(
            case.problem, case.algorithm, rounds=case.rounds, left=left, limit=OUTCOMES_ALONE
        )
    except TooManyAtoms:
        context = sampled_context(case.problem, (str(seed), "search", case.key))
        return run(case.problem, case.algorithm, context, rounds=case.rounds, left=left)


def _more_would_do(claim: BoundClaim, case: Case, form: Form, row: Row, measured: Measured) -> bool:
    """Say whether further replicates can decide a form.

    Without an upper end they can only refute it: as long as the mean is above the right side.
    """
    if measured.kind != "sampled":
        return False
    if measured.how[:1] == (bounds.GIVEN_PAST,):
        return claim.conditional or bounds.range_of(claim, case, form) is not None
    known = bounds.ends(claim, case, form)
    if known.upper or row.lhs is None or row.rhs is None:
        return known.upper
    few = measured.values.shape[1] < FEW
    return known.lower and (few or (row.lhs["mean"] or 0.0) > row.rhs)


def _unshadowed(measured: Measured) -> bool:
    """Say whether sampled replicates have no bound on their rounding errors yet."""
    return measured.kind == "sampled" and len(measured.values) > 0 and not len(measured.shadow)


JUDGE = Runs()
