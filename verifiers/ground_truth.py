r"""Judges identities and bounds by certified optima: weak duality, in our own arithmetic.

For the inner maximum of (4) at losses f, any r in the simplex gives a lower bound, and any λ gives,
by maximising each coordinate of the Lagrangian over r_i ≥ 0 on its own,

    max over Δ of Σ r_i f_i − γ Σ r_i log(n r_i)  ≤  λ + (γ/n) Σ exp((f_i − λ)/γ − 1).

cvxpy finds r and λ; the two bounds are computed from them, so a wrong answer of the solver widens
the enclosure and cannot pass for the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, isinf, isnan
from typing import Any

import numpy as np

from synthetic.certificates.cone import solve
from toolkit.claims import Case, Claim, Form
from toolkit.errors import DriftproofError
from toolkit.verdict import Evidence, Row, Verdict
from verifiers.empirical import roles_of, unmet
from verifiers.evidence import instance
from verifiers.rows import described, row_of

MARGIN = 1e-6
"""Width, relative to the size of the sides, within which two sides count as equal."""
ROUNDING = 2.0**-50
"""The same for counts, which are compared exactly: four units in the last place."""


@dataclass(frozen=True)
class Comparison:
    """A certified enclosure [low, high] of the left side, and the value of the right.

    Attributes:
        what: what is compared.
        x: where it is drawn on the plot.
        at: where it is drawn on a map, beside ``drawn``, the number that the map shows there.
        axes: what the map's columns, rows and numbers are.
        scale: the size of what the sides were computed from, if they may be far smaller (0: their
            own size). A component of a vector has the vector's; of two sides that should both be
            0, it says which numbers are so small that they count as 0.
        count: both sides are whole numbers that were counted (every side of a complexity is).
    """

    what: str
    low: float
    high: float
    value: float
    x: float = 0.0
    at: tuple[float, float] | None = None
    drawn: float = 0.0
    axes: tuple[str, str, str] = ("", "", "")
    scale: float = 0.0
    count: bool = False

    @property
    def size(self) -> float:
        """What a distance between the sides is measured by."""
        near = min(abs(self.low), abs(self.high))  # the other end may be infinite
        return max(abs(self.value), self.scale, near)

    @property
    def slack(self) -> float:
        """The distance up to which the sides count as equal."""
        return (ROUNDING if self.count else MARGIN) * self.size

    @property
    def apart(self) -> float:
        """The certified distance of the right side from the left."""
        return max(self.low - self.value, self.value - self.high, 0.0)

    @property
    def unmeasured(self) -> str:
        """Why no distance between the sides can be measured ("": it can)."""
        numbers = f"[{self.low:.10g}, {self.high:.10g}] and {self.value:.10g}"
        if any(map(isnan, (self.low, self.high, self.value))):
            return f"{self.what}: the sides, {numbers}, are not all numbers"
        if not isfinite(self.scale):
            return f"{self.what}: the scale that the sides are compared at is {self.scale}"
        return ""

    @property
    def one_infinite(self) -> bool:
        """Whether one side is infinite for certain, and the other finite."""
        left = isinf(self.low) and self.low == self.high
        return left != isinf(self.value) and (left or isfinite(self.high - self.low))

    @property
    def relative(self) -> float:
        """The largest distance that the sides may have, over their size."""
        if self.unmeasured or not all(map(isfinite, (self.low, self.high, self.value))):
            return np.inf
        gap = max(self.apart, self.high - self.low)
        return gap / self.size if self.size else 0.0


def components(
    what: str,
    left: Sequence[float] | np.ndarray,
    right: Sequence[float] | np.ndarray,
    *,
    first: int = 0,
) -> list[Comparison]:
    """Compare two vectors component by component, at the size of the larger one.

    Args:
        what: what is compared, with a place for the component's number: "component {} of ∇F".
        first: where the first is drawn on the plot.
    """
    lefts, rights = (np.asarray(side, dtype=float) for side in (left, right))
    if lefts.shape != rights.shape:
        raise DriftproofError(
            f"{what.format('k')} of {list(lefts.shape)} and {list(rights.shape)} numbers",
            "two vectors of one length",
            "compare a vector with another of its own length",
        )
    scale = float(max(np.linalg.norm(lefts), np.linalg.norm(rights)))
    return [
        Comparison(what.format(k + 1), float(a), float(a), float(b), float(first + k), scale=scale)
        for k, (a, b) in enumerate(zip(lefts, rights, strict=True))
    ]


def maximum_over_simplex(
    losses: np.ndarray, temperature: float, mass: float = 1.0
) -> tuple[float, float]:
    """Return an enclosure of max over r ≥ 0 with Σ r_i = mass, by cvxpy's exponential cone.

    The maximand is Σ r_i f_i − γ Σ r_i log(n r_i); a mass of 0 leaves r = 0 alone.
    """
    import cvxpy as cp

    if mass == 0:
        return 0.0, 0.0

    n = len(losses)
    r = cp.Variable(n)
    total = cp.sum(r) == mass
    entropy = cp.sum(cp.entr(r)) - np.log(n) * cp.sum(r)
    solve(cp.Maximize(losses @ r + temperature * entropy), [total])
    found = np.clip(np.asarray(r.value), 0.0, None)
    found = mass * found / found.sum()
    used = found[found > 0]
    low = found @ losses - temperature * np.sum(used * np.log(n * used))
    bounds = [
        mass * shift + temperature / n * np.sum(np.exp((losses - shift) / temperature - 1.0))
        for shift in (float(total.dual_value), -float(total.dual_value))  # whichever sign it has
    ]
    return float(low), float(min(bounds))


def judge(claim: Claim, case: Case, form: Form, comparisons: Sequence[Comparison]) -> Row:
    """Return the row of an identity or a bound on one case; the worst comparison is shown."""
    broken = unmet(claim, case, form)
    if broken is not None:
        return row_of(claim, form, described(case), Verdict.INAPPLICABLE, None, broken)
    if not comparisons:
        reason = "compare(case, right) returned no comparison: nothing was compared"
        return row_of(claim, form, described(case), Verdict.INCONCLUSIVE, None, reason)
    if claim.kind == "complexity":
        comparisons = [replace(c, count=True) for c in comparisons]
    if claim.kind == "bound":
        return _bound(claim, case, form, comparisons)
    shown = max(comparisons, key=lambda c: c.relative)
    measured = [c for c in comparisons if not c.unmeasured]
    unmeasured = [c for c in comparisons if c.unmeasured]
    outside = [c for c in measured if c.apart > c.slack or c.one_infinite]
    infinite = [c for c in measured if isinf(c.value)]
    if outside:
        verdict = Verdict.REFUTED
        c = shown = outside[0]
        reason = (
            f"{c.what}: the right side, {c.value:.10g}, lies outside the certified left side "
            f"[{c.low:.10g}, {c.high:.10g}]"
        )
    elif unmeasured:
        verdict, shown = Verdict.INCONCLUSIVE, unmeasured[0]
        reason = shown.unmeasured
    elif infinite:
        verdict, shown = Verdict.INCONCLUSIVE, infinite[0]
        reason = f"{shown.what}: the right side is infinite, and so may the left be"
    elif any(not c.high - c.low <= c.slack for c in comparisons):
        verdict = Verdict.INCONCLUSIVE
        reason = f"{shown.what}: the certificate is too wide, {shown.high - shown.low:.3g}"
    else:
        verdict, reason = Verdict.SUPPORTED, ""
    facts = _facts(claim, case, comparisons, shown, (shown.low + shown.high) / 2)
    facts["attained"] = verdict is Verdict.SUPPORTED
    return row_of(claim, form, described(case), verdict, Evidence.EXACT, reason, **facts)


def _bound(claim: Claim, case: Case, form: Form, comparisons: Sequence[Comparison]) -> Row:
    """Return the row of left ≤ right, where the left side is known by enclosures.

    Its ``mean`` is the lower end: what some point has been shown to reach. A right side of 0 that
    is met is not called attained.
    """

    def closeness(c: Comparison) -> float:
        size = max(abs(c.value), c.scale)
        return (c.low - c.value) / size if size else np.inf if c.low > c.value else 0.0

    measured = [c for c in comparisons if not c.unmeasured]
    over = [c for c in measured if c.low - c.value > c.slack]
    held = [c for c in measured if c.low - c.slack <= c.high <= c.value + c.slack]
    undecided = [c for c in comparisons if c not in over and c not in held]
    shown = max(over or undecided or held, key=closeness)
    attained = False
    if over:
        verdict = Verdict.REFUTED
        reason = f"{shown.what}: left ≥ {shown.low:.10g} exceeds right = {shown.value:.10g}"
    elif undecided:
        verdict = Verdict.INCONCLUSIVE
        reason = shown.unmeasured or (
            f"{shown.what}: the right side, {shown.value:.10g}, lies within the certified left "
            f"side [{shown.low:.10g}, {shown.high:.10g}]"
        )
    else:
        verdict, reason = Verdict.SUPPORTED, ""
        attained = any(c.value != 0 and c.low >= c.value - c.slack for c in comparisons)
    facts = _facts(claim, case, comparisons, shown, shown.low) | {"attained": attained}
    return row_of(claim, form, described(case), verdict, Evidence.ENCLOSED, reason, **facts)


def _map(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return the comparisons that have a place on a map: columns, rows and numbers."""
    placed = [c for c in comparisons if c.at is not None and isfinite(c.drawn)]
    if not placed:
        return {}
    cells = [[*c.at, c.drawn] for c in placed if c.at is not None]
    return {"map": {"axes": list(placed[0].axes), "cells": cells}}


def _facts(
    claim: Claim, case: Case, comparisons: Sequence[Comparison], shown: Comparison, mean: float
) -> dict[str, Any]:
    """Return what a row holds of its comparisons, one of which it shows."""
    order = sorted(comparisons, key=lambda c: c.x)
    return {
        "lhs": {"mean": mean, "low": shown.low, "high": shown.high},
        "rhs": shown.value,
        "margin": ROUNDING if shown.count else MARGIN,
        "comparisons": len(comparisons),
        "replicates": 1,
        "instance": instance(roles_of(case), claim.notation(case)),
        "series": {
            "x": [c.x for c in order],
            "low": [c.low for c in order],
            "high": [c.high for c in order],
            "bound": [c.value for c in order],
            "what": [c.what for c in order],
            "size": [c.size for c in order],
        }
        | _map(order),
    }
