r"""Judges rates: derived from a supported bound, refuted by a floor, shown on a grid of T.

A rate statement is a schedule (step size, minibatch … as functions of T) and an order. It is

* INAPPLICABLE with an empty hypothesis if the schedule asks for something that does not exist;
* REFUTED only by a floor: a lower bound in closed form on some instance that outgrows the order;
* SUPPORTED, symbolically, if the schedule turns every term of a supported bound into one of the
  order's terms; and, asymptotically, if the measured slope on a geometric grid of T agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from toolkit.claims import Case, Claim, Form
from toolkit.constants import Letters, substituted
from toolkit.statistics import exceeds
from toolkit.verdict import Evidence, Row, Verdict
from verifiers.empirical import ALPHA, right_side
from verifiers.evidence import Measured
from verifiers.plotted import band
from verifiers.price import demands, price
from verifiers.rows import row_of

MARGIN = 0.1
"""How far the fitted slope may lie from the order's exponent."""


@dataclass(frozen=True)
class Schedule:
    """A rate statement: letters as functions of T, and the order claimed.

    Attributes:
        letters: letter → sympy expression in T.
        order: sympy expression in T, a sum of powers.
        counts: letters that count samples, hence must be 1 or more for every T.
    """

    letters: Mapping[str, Any]
    order: Any
    counts: Sequence[str] = ()


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
        bound: the supported right side that the rate is derived from (None: there is none, and the
            measured slope alone decides).
        source: which claim supports it.
        special: exponents' values on the measured instance.
        exponent: the order's exponent there.
        floors: lower bounds that can refute.
        size: what the horizon is on a case, if it is not the number of local steps.
        size_name: what a plot calls it.
    """

    horizon: Any
    bound: Callable[[Any], Any] | None
    source: str
    special: Mapping[Any, Any]
    exponent: float
    floors: Sequence[Floor] = field(default_factory=tuple)
    size: Callable[[Case], float] | None = None
    size_name: str = "T, local steps"


def exponents(expression: Any, horizon: Any) -> dict[Any, Any]:
    """Return exponent of T → coefficient, for a sum of powers of T."""
    import sympy

    made: dict[Any, Any] = {}
    for term in sympy.Add.make_args(sympy.expand(expression)):
        log = sympy.expand_log(sympy.log(term), force=True)
        power = sympy.simplify(sympy.diff(log, horizon) * horizon)
        if power.has(horizon):
            raise ValueError(f"{term} is not a power of {horizon}")
        rest = sympy.simplify(sympy.powsimp(term / horizon**power, force=True))
        made[power] = made.get(power, 0) + rest
    return made


def judge_schedule(
    claim: Claim, form: Form, schedule: Schedule, notation: Mapping[str, str]
) -> Row:
    """Return the symbolic row of one schedule."""
    import sympy

    rate: Rate = claim.rate
    t = rate.horizon
    refuted = _below_floor(claim, form, schedule)
    if rate.bound is None:
        reason = "no bound to derive it from, and no floor that it falls below"
        return refuted or _row(claim, form, Verdict.INCONCLUSIVE, None, reason)
    bound = substituted(rate.bound(Letters(notation)), {"T": t} | dict(schedule.letters))
    growth = exponents(bound, t)
    empty = [name for name in schedule.counts if _below_one(schedule.letters[name], t)]
    if empty:
        name = empty[0]
        reason = (
            f"{name} = {plain(schedule.letters[name])} is below 1 for every T > 1, and a minibatch "
            f"has at least one sample; the bound of {rate.source} would grow like "
            f"T^({_worst(growth, rate)})"
        )
        return _row(claim, form, Verdict.INAPPLICABLE, None, reason, empty_hypothesis=True)
    if refuted is not None:
        return refuted
    allowed = exponents(schedule.order, t)
    missing = [
        term for term in growth.items()
        if not any(_of_order(term, other) for other in allowed.items())
    ]  # fmt: skip
    if missing:
        power, factor = missing[0]
        term = f"({plain(factor)})·T^({plain(power)})"
        reason = f"the bound of {rate.source} has a term {term}, which is not of the order"
        return _row(claim, form, Verdict.INCONCLUSIVE, None, reason)
    proof = [
        [
            f"T^{{{sympy.latex(e)}}}\\cdot\\left({sympy.latex(c)}\\right)",
            True,
            "a term of the bound",
        ]
        for e, c in growth.items()
    ]
    if rate.size is None:  # else the horizon is not a number of steps that cost samples
        proof += _terms(schedule, rate)
    return _row(
        claim, form, Verdict.SUPPORTED, Evidence.SYMBOLIC, "", comparisons=len(growth),
        series={"proof": proof},
    )  # fmt: skip


def _below_floor(claim: Claim, form: Form, schedule: Schedule) -> Row | None:
    """Return the row of a schedule whose order some floor outgrows, if one does."""
    import sympy

    rate: Rate = claim.rate
    for floor in rate.floors:
        value = floor.value(schedule.letters)
        if value is None:
            continue
        ratio = (value / schedule.order).subs(rate.special)
        if sympy.limit(ratio, rate.horizon, sympy.oo) == sympy.oo:
            least = plain(sympy.simplify(value.subs(rate.special)))
            reason = f"{floor.instance}: left ≥ {least} for large T"
            return _row(claim, form, Verdict.REFUTED, Evidence.SYMBOLIC, reason)
    return None


def _terms(schedule: Schedule, rate: Rate) -> list[list[Any]]:
    """Say which exponents give the special rate, and what it costs in samples."""
    import sympy

    target = sympy.nsimplify(rate.exponent)
    wanted = demands(schedule.order, rate.horizon, target)
    said = r",\; ".join(sympy.latex(condition) for condition in wanted.values())
    samples, in_samples = price(
        schedule.letters, schedule.counts, rate.horizon, rate.special, target
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


def judge_slope(
    claim: Claim, form: Form, cases: Sequence[Case], measured: Sequence[Measured]
) -> Row:
    """Return the empirical row: the slope of the left side over a geometric grid of T."""
    rate: Rate = claim.rate
    size = rate.size or _steps
    # listed by what a shorter profile takes first, drawn and fitted in order
    order = sorted(range(len(cases)), key=lambda k: size(cases[k]))
    cases, measured = [cases[k] for k in order], [measured[k] for k in order]
    horizons = np.array([size(case) for case in cases], dtype=float)
    means, bands, bounds, over = [], [], [], []
    for case, block in zip(cases, measured, strict=True):
        values = block.values[-1]  # of ``each``, the last moment
        means.append(float(values @ block.weights))
        bands.append([float(end) for end in band(values)])
        if rate.bound is None:
            continue
        assert claim.range is not None
        top = right_side(claim, case, claim.range)[1]
        bounds.append(right_side(claim, case, rate.bound)[1])
        if exceeds(np.clip(values / top, 0.0, 1.0), bounds[-1] / top, ALPHA / len(cases)):
            over.append(f"T = {_steps(case)}")
    x, y = np.log(horizons), np.log(means)
    slope, half, fitted = line(x, y)
    local = (np.diff(y) / np.diff(x)).tolist()
    agrees = slope + half <= rate.exponent + MARGIN and local[-1] <= rate.exponent + MARGIN
    if over:
        verdict, reason = Verdict.REFUTED, f"above the bound of {rate.source} at {over[0]}"
    elif agrees:
        verdict, reason = Verdict.SUPPORTED, ""
    else:
        verdict = Verdict.INCONCLUSIVE
        reason = (
            f"slope {slope:.3f} ± {half:.3f}, last local slope {local[-1]:.3f}: longer horizons"
        )
    return _row(
        claim, form, verdict, Evidence.ASYMPTOTIC, reason,
        case={"key": "slope", "label": f"slope over T = {horizons[0]:g} … {horizons[-1]:g}, "
              f"{cases[0].problem}, {type(cases[0].algorithm).__name__}", "local_slopes": local},
        lhs={"mean": slope, "low": slope - half, "high": slope + half}, rhs=rate.exponent,
        margin=MARGIN, attained=bool(abs(slope - rate.exponent) <= MARGIN),
        comparisons=len(cases), alpha=ALPHA,
        replicates=int(measured[0].values.shape[1]),
        series={
            "x": horizons.tolist(), "x_label": rate.size_name, "mean": means,
            **({"bound": bounds} if bounds else {}),
            "low": [low for low, _ in bands], "high": [high for _, high in bands],
            "fit": np.exp(fitted).tolist(),
            "reference": (means[-1] * (horizons / horizons[-1]) ** rate.exponent).tolist(),
        },
    )  # fmt: skip


def line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Fit a line by least squares.

    Returns:
        Its slope, half the width of the slope's 95 % confidence interval (Student's t with n − 2
        degrees of freedom; 0 for two points, which leave none), and its values at ``x``.
    """
    from scipy.special import stdtrit  # scipy.stats takes a second to import

    slope, offset = np.polyfit(x, y, 1)
    fitted = slope * x + offset
    freedom = len(x) - 2
    if not freedom:
        return float(slope), 0.0, fitted
    variance = ((y - fitted) ** 2).sum() / freedom / ((x - x.mean()) ** 2).sum()
    return float(slope), float(stdtrit(freedom, 0.975) * np.sqrt(variance)), fitted


def plain(expression: Any) -> str:
    """Return an expression for a sentence."""
    return str(expression).replace("**", "^").replace("*", "·")


def _steps(case: Case) -> int:
    assert case.rounds is not None
    assert case.algorithm is not None
    return case.rounds * case.algorithm.local_steps


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


def _worst(growth: Mapping[Any, Any], rate: Rate) -> Any:
    return max((power.subs(rate.special) for power in growth), key=float)


def _row(
    claim: Claim, form: Form, verdict: Verdict, evidence: Evidence | None, reason: str, **facts: Any
) -> Row:
    case = facts.pop("case", {"key": "schedule", "label": "schedule, for all T"})
    return row_of(claim, form, case, verdict, evidence, reason, **facts)
