r"""Rates: a schedule, an order, and what decides them.

A rate statement is a schedule (step size, minibatch … as functions of T) and an order. The order is
one expression; the exponent that is tested, the power of log T and the text on the page come from
it. A rate is

* INAPPLICABLE with an empty hypothesis if the schedule asks for something that does not exist;
* REFUTED only by a floor: a lower bound in closed form on some instance that outgrows the order;
* SUPPORTED, symbolically, if the schedule turns every term of a bound into one of the order's
  terms, and the bound is a claim's form that is itself SUPPORTED (``verifiers.derived``); and,
  asymptotically, if the left sides on a grid of T exclude every slower order
  (``verifiers.slope``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

from toolkit.claims import Case, Claim, Form
from toolkit.constants import LATEX, Letters, substituted
from toolkit.errors import DriftproofError
from toolkit.verdict import Evidence, Row, Verdict
from verifiers.derived import Derived
from verifiers.empirical import roles_of
from verifiers.orders import exponents, in_letters, leading, plain
from verifiers.price import demands, price
from verifiers.rows import row_of

__all__ = ["Derived", "Floor", "Rate", "Schedule", "judge_schedule"]

Exact = Callable[[int], "float | tuple[float, float]"]
"""A left side as a function of the horizon: its value, or an enclosure (low, high) of it."""


@dataclass(frozen=True)
class Schedule:
    r"""A rate statement: letters as functions of T, and the order claimed.

    Attributes:
        letters: letter → sympy expression in T.
        order: sympy expression in T and in the letters: what the statement's ``\order`` stands for.
        counts: letters that count samples, hence must be 1 or more for every T.
    """

    letters: Mapping[str, Any]
    order: Any
    counts: Sequence[str] = ()

    @property
    def in_horizon(self) -> Any:
        """The order with the schedule's letters put in: an expression in T."""
        return in_letters(self.letters, self.order)

    def latex(self) -> str:
        """Return the order as the page shows it."""
        import sympy

        order = sympy.sympify(self.order)
        names = {s: LATEX[s.name] for s in order.free_symbols if s.name in LATEX}
        return str(sympy.latex(order, symbol_names=names))


@dataclass(frozen=True)
class Floor:
    """A lower bound on the left side of one instance, in closed form.

    Attributes:
        instance: which instance, in words.
        value: from a schedule's letters (by name) to a sympy expression in T, or None if the
            instance says nothing about that schedule.
    """

    instance: str
    value: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Rate:
    """What a rate claim adds to its schedules.

    Attributes:
        horizon: the symbol T.
        derived: the claim and form whose right side the rate is derived from (None: there is none,
            and the measured slope alone decides).
        floors: lower bounds that can refute.
        size: what the horizon is on a case, if it is not the number of local steps.
        size_name: what a plot calls it.
        replicates: how many of each case are sampled, in blocks of 64.
        resolution: a slower order is one that is slower by more than T^resolution.
        exact: the left side of the cases' instance as a function of the horizon (``size``), where
            it is known exactly, or an enclosure of it.
        horizons: where ``exact`` is evaluated, beyond the cases.
    """

    horizon: Any
    derived: Derived | None = None
    floors: Sequence[Floor] = field(default_factory=tuple)
    size: Callable[[Case], float] | None = None
    size_name: str = "T, local steps"
    replicates: int = 64
    resolution: float = 0.05
    exact: Exact | None = None
    horizons: Sequence[int] = ()


def judge_schedule(
    claim: Claim, form: Form, schedule: Schedule, notation: Mapping[str, str]
) -> Row:
    """Return the symbolic row of one schedule."""
    import sympy

    from verifiers.followed import broken_assumption

    rate: Rate = claim.rate
    t = rate.horizon
    refuted = _below_floor(claim, form, schedule)
    if rate.derived is None:
        reason = "no bound to derive it from, and no floor that it falls below"
        return refuted or _row(claim, form, Verdict.INCONCLUSIVE, None, reason)
    notation = {**notation, **rate.derived.letters}
    right = rate.derived.right(Letters(notation))
    bound = substituted(right, {"T": t} | dict(schedule.letters))
    growth = exponents(bound, t)
    empty = [name for name in schedule.counts if _below_one(schedule.letters[name], t)]
    if empty:
        name = empty[0]
        reason = (
            f"{name} = {plain(schedule.letters[name])} is below 1 for every T > 1, and a minibatch "
            f"has at least one sample; the bound of {rate.derived} would grow like "
            f"T^({_worst(claim, growth)})"
        )
        return _row(claim, form, Verdict.INAPPLICABLE, None, reason, empty_hypothesis=True)
    if refuted is not None:
        return refuted
    allowed = exponents(schedule.in_horizon, t)
    missing = [
        term for term in growth.items()
        if not any(_of_order(term, other) for other in allowed.items())
    ]  # fmt: skip
    if missing:
        power, factor = missing[0]
        term = f"({plain(factor)})·T^({plain(power)})"
        reason = f"the bound of {rate.derived} has a term {term}, which is not of the order"
        return _row(claim, form, Verdict.INCONCLUSIVE, None, reason)
    broken = broken_assumption(claim, schedule, notation)
    if broken:
        return _row(claim, form, Verdict.INCONCLUSIVE, None, broken)
    proof = [
        [
            f"T^{{{sympy.latex(e)}}}\\cdot\\left({sympy.latex(c)}\\right)",
            True,
            "a term of the bound",
        ]
        for e, c in growth.items()
    ]
    if rate.size is None:  # else the horizon is not a number of steps that cost samples
        proof += _terms(claim, schedule)
    return _row(
        claim, form, Verdict.SUPPORTED, Evidence.SYMBOLIC, "", comparisons=len(growth),
        series={"proof": proof},
        case={"key": "schedule", "label": "schedule, for all T", "derived": rate.derived.public()},
    )  # fmt: skip


def measured_order(claim: Claim, schedule: Schedule) -> Any:
    """Return the order on the measured instance, in T alone: other letters are constants."""
    order = schedule.in_horizon.subs(measured_exponents(claim))
    others = order.free_symbols - {claim.rate.horizon}
    return order.subs(dict.fromkeys(others, 1))


def measured_form(claim: Claim) -> Form:
    """Return the form whose schedule the cases follow: the last that has one."""
    held = [f for f in claim.forms if f.form != "sibling" and isinstance(f.right, Schedule)]
    return held[-1]


def measured_exponents(claim: Claim) -> dict[Any, Any]:
    """Return the values of a schedule's free exponents (η = T^{−a}) on the claim's cases.

    They are solved from the cases themselves: a letter's values at the shortest and the longest
    horizon give its exponent.
    """
    import sympy

    rate: Rate = claim.rate
    size = rate.size or steps
    cases = sorted(claim.cases, key=size)
    schedule = measured_form(claim).right
    first, last = cases[0], cases[-1]
    notation, found = claim.notation(first), {}
    for letter, value in schedule.letters.items():
        if letter not in notation:
            continue
        free = sympy.sympify(value).free_symbols - {rate.horizon}
        if len(free) != 1:
            continue
        (symbol,) = free
        powers = exponents(value, rate.horizon)
        if len(powers) != 1 or not (power := next(iter(powers))).has(symbol):
            continue  # a letter of its own, not an exponent
        grown = log(roles_of(last)[notation[letter]] / roles_of(first)[notation[letter]])
        seen = sympy.nsimplify(round(grown / log(size(last) / size(first)), 3), rational=True)
        found[symbol] = sympy.solve(power - seen, symbol)[0] if power.is_polynomial() else seen
    return found


def known_horizons(rate: Rate, cases: Sequence[Case]) -> list[int]:
    """Return where the exact left side is evaluated: at the cases' horizons, and beyond."""
    if rate.exact is None:
        return []
    return sorted({*(round((rate.size or steps)(case)) for case in cases), *rate.horizons})


def known(rate: Rate, horizon: int) -> tuple[float, float]:
    """Return the exact left side at a horizon as an enclosure."""
    assert rate.exact is not None
    made = rate.exact(horizon)
    low, high = made if isinstance(made, tuple) else (made, made)
    if not 0 <= low <= high < float("inf"):
        raise DriftproofError(
            f"exact({horizon}) of a rate is {made!r}",
            "a number that is not negative, or an enclosure (low, high)",
            "return what the left side is at that horizon",
        )
    return float(low), float(high)


def steps(case: Case) -> int:
    """Return the number of local steps of a case: its horizon, unless a rate says otherwise."""
    assert case.rounds is not None
    assert case.algorithm is not None
    return case.rounds * case.algorithm.local_steps


def _below_floor(claim: Claim, form: Form, schedule: Schedule) -> Row | None:
    """Return the row of a schedule whose order some floor outgrows, if one does."""
    import sympy

    rate: Rate = claim.rate
    special = measured_exponents(claim)
    for floor in rate.floors:
        value = floor.value(schedule.letters)
        if value is None:
            continue
        ratio = (value / schedule.in_horizon).subs(special)
        if sympy.limit(ratio, rate.horizon, sympy.oo) == sympy.oo:
            least = plain(sympy.simplify(value.subs(special)))
            reason = f"{floor.instance}: left ≥ {least} for large T"
            return _row(claim, form, Verdict.REFUTED, Evidence.SYMBOLIC, reason)
    return None


def _terms(claim: Claim, schedule: Schedule) -> list[list[Any]]:
    """Say which exponents give the measured rate, and what it costs in samples."""
    import sympy

    rate: Rate = claim.rate
    special = measured_exponents(claim)
    target = sympy.nsimplify(leading(measured_order(claim, schedule), rate.horizon).exponent)
    wanted = demands(schedule.in_horizon, rate.horizon, target)
    said = r",\; ".join(sympy.latex(condition) for condition in wanted.values())
    samples, in_samples = price(schedule.letters, schedule.counts, rate.horizon, special, target)
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


def _worst(claim: Claim, growth: Mapping[Any, Any]) -> Any:
    held = measured_exponents(claim)
    return max((power.subs(held) for power in growth), key=float)


def _row(
    claim: Claim, form: Form, verdict: Verdict, evidence: Evidence | None, reason: str, **facts: Any
) -> Row:
    case = facts.pop("case", {"key": "schedule", "label": "schedule, for all T"})
    return row_of(claim, form, case, verdict, evidence, reason, **facts)
