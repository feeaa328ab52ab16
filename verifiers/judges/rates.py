r"""Rates: a schedule, an order, and what decides them.

A rate statement is a schedule (step size, minibatch … as functions of T) and an order. The order is
one expression; the exponent that is tested, the power of log T and the text on the page come from
it. A rate is

* INAPPLICABLE with an empty hypothesis if the schedule asks for something that does not exist;
* REFUTED only by a floor: a lower bound in closed form on some instance that outgrows the order;
* SUPPORTED, symbolically, if the schedule turns every term of a bound into one of the order's
  terms, and the bound is a claim's form that is itself SUPPORTED (``claim_types.derived``); and,
  asymptotically, if the left sides on a grid of T exclude every slower order
  (``slope``).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters, stated, substituted
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.series import ProofSteps
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.algebra.orders import exponents, leading, plain
from driftproof.verifiers.algebra.sample_cost import demands, rate_in_samples
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.rate import RateClaim, Schedule
from driftproof.verifiers.judges import slope
from driftproof.verifiers.judges.decide import Decision, inapplicable, settled, undecided
from driftproof.verifiers.judges.evidence import Measured, joined
from driftproof.verifiers.judges.judge import ClaimTask, Group, Judge, Tasks, pack_rows, unpack_rows
from driftproof.verifiers.judges.rows import row_of
from driftproof.verifiers.judges.runs import block
from driftproof.verifiers.judges.schedule_check import (
    broken_assumption,
    measured_exponents,
    measured_form,
    measured_order,
    steps,
)


def judge_schedule(
    claim: RateClaim, form: Form, schedule: Schedule, notation: Mapping[str, str]
) -> Row:
    """Return the symbolic row of one schedule."""
    import sympy

    t = claim.horizon
    refuted = _below_floor(claim, form, schedule)
    if claim.derived is None:
        reason = "no bound is named that implies the rate, and no floor refutes it"
        return refuted or _row(claim, form, undecided(), reason)
    notation = {**notation, **claim.derived.letters}
    right = stated(claim.derived.right, Letters(notation))
    bound = substituted(right, {"T": t} | dict(schedule.letters))
    growth = exponents(bound, t)
    empty = [name for name in schedule.counts if _below_one(schedule.letters[name], t)]
    if empty:
        name = empty[0]
        reason = (
            f"{name} = {plain(schedule.letters[name])} is below 1 for every T > 1, and a minibatch "
            f"has at least one sample; the bound of {claim.derived} would grow like "
            f"T^({_worst(claim, growth)})"
        )
        return _row(claim, form, inapplicable(), reason, empty_hypothesis=True)
    if refuted is not None:
        return refuted
    allowed = exponents(schedule.in_horizon, t)
    missing = [
        term
        for term in growth.items()
        if not any(_of_order(term, other) for other in allowed.items())
    ]
    if missing:
        power, factor = missing[0]
        term = f"({plain(factor)})·T^({plain(power)})"
        reason = f"the bound of {claim.derived} has a term {term}, which is not of the order"
        return _row(claim, form, undecided(), reason)
    broken = broken_assumption(claim, schedule, notation)
    if broken:
        return _row(claim, form, undecided(), broken)
    proof = [
        [
            f"T^{{{sympy.latex(e)}}}\\cdot\\left({sympy.latex(c)}\\right)",
            True,
            "a term of the bound",
        ]
        for e, c in growth.items()
    ]
    if claim.size is None:  # else the horizon is not a number of steps that cost samples
        proof += _terms(claim, schedule)
    return _row(
        claim,
        form,
        settled(True),
        comparisons=len(growth),
        series=ProofSteps(proof),
        case={"key": "schedule", "label": "schedule, for all T", "derived": claim.derived.public()},
    )


def known_horizons(claim: RateClaim, cases: Sequence[Case]) -> list[int]:
    """Return where the exact left side is evaluated: at the cases' horizons, and beyond."""
    if claim.exact is None:
        return []
    return sorted({*(round((claim.size or steps)(case)) for case in cases), *claim.horizons})


def known(claim: RateClaim, horizon: int) -> tuple[float, float]:
    """Return the exact left side at a horizon as an enclosure."""
    assert claim.exact is not None
    enclosure = claim.exact(horizon)
    low, high = enclosure if isinstance(enclosure, tuple) else (enclosure, enclosure)
    if not 0 <= low <= high < float("inf"):
        raise DriftproofError(
            f"exact({horizon}) of a rate is {enclosure!r}",
            "a number that is not negative, or an enclosure (low, high)",
            "return what the left side is at that horizon",
        )
    return float(low), float(high)


def _below_floor(claim: RateClaim, form: Form, schedule: Schedule) -> Row | None:
    """Return the row of a schedule whose order some floor outgrows, if one does."""
    import sympy

    special = measured_exponents(claim)
    for floor in claim.floors:
        value = floor.value(schedule.letters)
        if value is None:
            continue
        ratio = (value / schedule.in_horizon).subs(special)
        if sympy.limit(ratio, claim.horizon, sympy.oo) == sympy.oo:
            least = plain(sympy.simplify(value.subs(special)))
            reason = f"{floor.instance}: left ≥ {least} for large T"
            return _row(claim, form, settled(False), reason)
    return None


def _terms(claim: RateClaim, schedule: Schedule) -> list[list[Any]]:
    """Say which exponents give the measured rate, and what it costs in samples."""
    import sympy

    special = measured_exponents(claim)
    target = sympy.nsimplify(leading(measured_order(claim, schedule), claim.horizon).exponent)
    wanted = demands(schedule.in_horizon, claim.horizon, target)
    said = r",\; ".join(sympy.latex(condition) for condition in wanted.values())
    samples, in_samples = rate_in_samples(
        schedule.letters, schedule.counts, claim.horizon, special, target
    )
    return [
        [
            rf"O(T^{{{sympy.latex(target)}}}) \iff {said}",
            True,
            "every exponent of the order, solved for; τ is a constant",
        ],
        [
            rf"N = O(T^{{{samples}}}) \text{{ samples a client: }} O(N^{{{in_samples}}})",
            True,
            "T steps of the largest minibatch; rounds are T/τ",
        ],
    ]


def _below_one(expression: Any, horizon: Any) -> bool:
    """Say whether a power of T is below 1 for every T > 1."""
    (power,) = exponents(expression, horizon)
    return bool(power.is_negative)


def _of_order(term: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Say whether factor·T^power is O(other), in T and in the letters that the order names (τ)."""
    import sympy

    (power, factor), (allowed, scale) = term, other
    difference = sympy.simplify(allowed - power)
    if not (difference == 0 or difference.is_nonnegative):
        return False
    letters = sympy.sympify(scale).free_symbols | sympy.sympify(factor).free_symbols
    named = [letter for letter in letters if letter.name == "tau"]
    return all(sympy.degree(factor, x) <= sympy.degree(scale, x) for x in named)


def _worst(claim: RateClaim, growth: Mapping[Any, Any]) -> Any:
    on_cases = measured_exponents(claim)
    return max((power.subs(on_cases) for power in growth), key=float)


def _row(claim: RateClaim, form: Form, decision: Decision, reason: str = "", **facts: Any) -> Row:
    case = facts.pop("case", {"key": "schedule", "label": "schedule, for all T"})
    return row_of(claim, form, case, decision, Evidence.SYMBOLIC, reason, **facts)


def schedule(claim: RateClaim, task: ClaimTask) -> bytes:
    """Do the task of judging a schedule by algebra."""
    case, form = task.of(claim)
    return pack_rows([judge_schedule(claim, form, form.right, claim.notation(case))])


def exact_left(claim: RateClaim, task: ClaimTask) -> bytes:
    """Do the task of evaluating the exact left side at a horizon, which is its argument."""
    return json.dumps(known(claim, int(task.args[0]))).encode()


class Rates(Judge):
    """Judges a rate: its schedules by algebra, and the slope on the grid of horizons."""

    edges = False
    on_numbers = False  # a schedule speaks of all T: ``followed`` says what it breaks

    def groups(self, claim: RateClaim, forms: Sequence[int], profile: str) -> Iterator[Group]:
        """Yield all forms with the grid of horizons, of which smoke has the first five."""
        numbers = range(len(claim.cases_for("quick" if profile == "smoke" else profile)))
        yield Group(forms, numbers[:5] if profile == "smoke" else numbers)

    def rows(self, claim: RateClaim, group: Group, ask: ClaimTask, profile: str) -> Tasks:
        """Judge all forms."""
        form, cases = measured_form(claim), [claim.every_case[n] for n in group.cases]
        schedules = [replace(ask, do=schedule, form=k) for k in group.forms]
        known = [
            replace(ask, do=exact_left, case=f"T = {at}", args=(at,))
            for at in known_horizons(claim, cases)
        ]
        each = -(-claim.replicates // BLOCK)
        runs = [
            replace(ask, do=block, number=number, case=case.key, args=(k,), effort=steps(case))
            for number, case in zip(group.cases, cases, strict=True)
            for k in range(each)
        ]
        # at smoke's size runs are asked for only where algebra says nothing: they take longer
        later = profile == "smoke"
        results = yield (schedules if later else [*schedules, *known, *runs])
        judged = [row for blob, _ in results[: len(schedules)] for row in unpack_rows(blob)]
        rows = [
            row
            for row in judged
            # without a bound and a floor the measured slope alone decides
            if row.verdict is not Verdict.INCONCLUSIVE
            or claim.derived
            or (row.form, row.reading) != (form.form, form.reading)
        ]
        if later and any(row.form != "sibling" for row in rows):
            return rows
        results = (yield [*known, *runs]) if later else results[len(schedules) :]
        exact = {
            int(task.args[0]): json.loads(blob)
            for task, (blob, _) in zip(known, results, strict=False)
        }
        blocks = [Measured.unpack(blob) for blob, _ in results[len(known) :]]
        measured = [joined(blocks[k : k + each]) for k in range(0, len(blocks), each)]
        decided = slope.judge_slope(claim, form, cases, measured, exact)
        return [*rows, replace(decided, seconds=sum(seconds for _, seconds in results))]


JUDGE = Rates()
