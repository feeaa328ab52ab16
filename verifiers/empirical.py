"""Judges bounds by running the algorithm: exactly where the noise can be enumerated, else sampled.

The work (``measure_exactly``, ``measure_block``) knows nothing of right sides; the verdict
(``judge``) is a pure function of what was measured. Hence every form and sibling of a claim is
judged on the same run, and a verdict does not depend on how the work was spread or interrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from toolkit.claims import Case, Claim, Form
from toolkit.constants import Letters, evaluate
from toolkit.draws import BLOCK
from toolkit.engines.enumerated import TooManyAtoms
from toolkit.federation import Outcome, run, run_exactly, sampled_context
from toolkit.statistics import exceeds, interval, replicates_needed
from toolkit.verdict import Evidence, Row, Verdict
from verifiers.evidence import Measured, instance, rounding, shadows
from verifiers.rows import described, row_of

ALPHA = 1e-5
ATOMS = 4096
SHADOWS = 4
"""Single-precision runs that measure the rounding error of an exact one."""
BLUR = 1e-6
"""Relative rounding error up to which sides that agree within it count as equal."""
SLACK = 1e-9
"""How far above its proven range a replicate may lie before the range is called violated."""


def measure_exactly(claim: Claim, case: Case, device: str = "cpu") -> Measured:
    """Run every atom of a case's noise, and again in single precision with random rounding."""
    algorithm, rounds, left = case.algorithm, case.rounds, claim.left
    assert algorithm is not None
    assert rounds is not None
    assert left is not None

    def once(dtype: torch.dtype, jitter: int | None) -> Outcome:
        return run_exactly(
            case.problem, algorithm, rounds=rounds, left=left, limit=ATOMS, dtype=dtype,
            device=device, jitter=jitter,
        )  # fmt: skip

    try:
        double = once(torch.float64, None)
    except TooManyAtoms:
        return Measured("too many atoms")
    singles = [once(torch.float32, seed) for seed in range(SHADOWS)]
    return Measured.of("exact", double, shadows(double, singles))


def measure_block(claim: Claim, case: Case, seed: int, block: int, device: str = "cpu") -> Measured:
    """Run one block of 64 sampled replicates; its draws are keyed by seed, claim and case."""
    assert case.algorithm is not None
    assert case.rounds is not None
    names = (str(seed), claim.name, case.key)
    ctx = sampled_context(case.problem, names, block=block, replicates=BLOCK, device=device)
    return Measured.of(
        "sampled", run(case.problem, case.algorithm, ctx, rounds=case.rounds, left=claim.left)
    )


def roles_of(
    case: Case, *, rounds: int | None = None, gap: float | None = None
) -> dict[str, float]:
    """Return every role's number on a case (with another horizon, to draw a bound's curve)."""
    made: dict[str, Any] = {**case.problem.values(), **case.problem.constants}
    if case.algorithm is not None:
        made |= case.algorithm.values()
        made["cohort_size"] = case.algorithm.cohort_size(case.problem.clients)
        horizon = case.rounds if rounds is None else rounds
        if horizon is not None:
            made["rounds"] = horizon
            made["steps"] = horizon * case.algorithm.local_steps
    made["initial_gap"] = case.problem.initial_gap[1] if gap is None else gap
    return {key: value for key, value in made.items() if isinstance(value, int | float)}


def right_side(claim: Claim, case: Case, right: Any) -> tuple[float, float]:
    """Return an enclosure of a right side (wide only where inf F is known by an enclosure)."""
    notation = claim.notation(case)
    expression = right(Letters(notation))
    ends = [
        evaluate(expression, notation, roles_of(case, gap=gap)) for gap in case.problem.initial_gap
    ]
    return min(ends), max(ends)


def unmet(claim: Claim, case: Case) -> str | None:
    """Return the first assumption that a case does not meet, quoted with its numbers."""
    import sympy

    notation = claim.notation(case)
    for assumption in claim.assumes:
        known = {*case.problem.constants, "initial_gap"}
        lacking = [role for role in assumption.roles if role not in known]
        if lacking:
            return f"{assumption.name} needs {', '.join(lacking)}; {case.problem} proves none"
        if assumption.relation is None:
            continue
        relation = assumption.relation(Letters(notation))
        roles = roles_of(case)
        left, right = (evaluate(side, notation, roles) for side in (relation.lhs, relation.rhs))
        if not bool(relation.func(sympy.Float(left), sympy.Float(right))):
            stated = f"{relation.lhs} {relation.rel_op} {relation.rhs}"
            return f"{assumption.name} states {stated}, but here {left:g} and {right:g}"
    return None


@dataclass(frozen=True)
class Sides:
    """Left and right of one form on one case, ready to be compared."""

    measured: Measured
    low: float
    high: float
    range: float | None

    @property
    def vacuous(self) -> bool:
        """Whether the right side exceeds what the left can be without any dynamics."""
        return self.range is not None and self.low > self.range * (1 + 1e-12)


def judge(claim: Claim, case: Case, form: Form, measured: Measured) -> Row:
    """Return the row of one form on one case from what was measured."""
    broken = unmet(claim, case)
    if broken is not None:
        return _row(claim, case, form, Verdict.INAPPLICABLE, None, broken)
    radius = case.problem.radius
    if radius is not None and measured.reach > radius:
        reason = f"an iterate reached norm {measured.reach:.3g}; proven for norms up to {radius:g}"
        return _row(claim, case, form, Verdict.INAPPLICABLE, None, reason)
    low, high = right_side(claim, case, form.right)
    top = None if claim.range is None else right_side(claim, case, claim.range)[1]
    sides = Sides(measured, low, high, top)
    if measured.kind == "exact":
        return _exact(claim, case, form, sides)
    return _sampled(claim, case, form, sides)


def _exact(claim: Claim, case: Case, form: Form, sides: Sides) -> Row:
    means = sides.measured.values @ sides.measured.weights
    error = rounding(means, sides.measured.shadow, sides.high)
    known = np.isfinite(means) & np.isfinite(error)
    least = np.where(known, means - np.where(known, error, 0.0), -np.inf)
    worst = int(np.argmax(least)) if len(means) else 0
    refuted = np.flatnonzero(least > sides.high)
    complete = sides.measured.bad_step < 0 and bool(np.all(np.isfinite(error)))
    facts: dict[str, Any] = {
        "comparisons": len(means),
        "replicates": sides.measured.values.shape[1],
    }
    if len(means):
        mean, slack = float(means[worst]), float(error[worst])
        facts |= {"lhs": {"mean": mean, "low": mean - slack, "high": mean + slack}}
        facts |= {"rhs": sides.high, "margin": slack, "vacuous": sides.vacuous}
    if len(refuted):
        reason = _exceeds(float(means[worst]), sides.high, _gone(sides))
        return _row(claim, case, form, Verdict.REFUTED, Evidence.EXACT, reason, **facts)
    if not complete:
        reason = (
            _gone(sides) or "rounding errors could not be bounded (see the single-precision run)"
        )
        return _row(claim, case, form, Verdict.INCONCLUSIVE, None, reason, **facts)
    equal = means + error >= sides.low
    if np.any(error[equal] > BLUR * np.maximum(np.abs(means[equal]), abs(sides.high))):
        reason = (
            f"the sides lie within rounding errors of ±{error[equal].max():.3g}: too much to tell"
        )
        return _row(claim, case, form, Verdict.INCONCLUSIVE, None, reason, **facts)
    facts["attained"] = bool(np.any(equal))
    return _row(claim, case, form, Verdict.SUPPORTED, Evidence.EXACT, "", **facts)


def _sampled(claim: Claim, case: Case, form: Form, sides: Sides) -> Row:
    values = sides.measured.values
    facts: dict[str, Any] = {"comparisons": len(values), "replicates": values.shape[1]}
    facts |= {"alpha": ALPHA, "vacuous": sides.vacuous, "rhs": sides.high}
    if sides.range is None:
        reason = "the noise has to be sampled, and the claim gives no range(c) for its left side"
        return _row(claim, case, form, Verdict.INCONCLUSIVE, None, reason, **facts)
    finite = np.isfinite(values).all(1)
    scaled = np.clip(values[finite] / sides.range, 0.0, None)
    if scaled.size and scaled.max() > 1 + SLACK:
        reason = (
            f"a replicate measured {scaled.max() * sides.range:.6g}, but the assumptions allow "
            f"{sides.range:.6g} at most: a constant or the algorithm is wrong"
        )
        return _row(claim, case, form, Verdict.INCONCLUSIVE, None, reason, **facts)
    scaled = np.minimum(scaled, 1.0)
    means = scaled.mean(1)
    worst = int(np.argmax(means)) if len(means) else 0
    if len(means):
        ends = interval(scaled[worst] * sides.range, sides.range, ALPHA)
        mean = float(means[worst] * sides.range)
        facts["lhs"] = {"mean": mean, "low": ends[0], "high": ends[1]}
    share_low, share_high = sides.low / sides.range, sides.high / sides.range
    # one false comparison among many true ones refutes, so that side pays for all of them;
    # support needs every comparison, so each may be tested at the full level
    refuting = ALPHA / max(1, len(means))
    if any(exceeds(x, share_high, refuting) for x in scaled if share_high < 1):
        reason = _exceeds(facts["lhs"]["low"], sides.high, _gone(sides))
        return _row(claim, case, form, Verdict.REFUTED, Evidence.SEQUENTIAL, reason, **facts)
    if sides.measured.bad_step >= 0 or not finite.all():
        return _row(claim, case, form, Verdict.INCONCLUSIVE, None, _gone(sides), **facts)
    below = [_below(x, share_low) for x in scaled]
    if all(below):
        return _row(claim, case, form, Verdict.SUPPORTED, Evidence.SEQUENTIAL, "", **facts)
    undecided = scaled[below.index(False)]
    reason = _how_many(undecided, share_low, share_high)
    return _row(claim, case, form, Verdict.INCONCLUSIVE, None, reason, **facts)


def _below(x: np.ndarray, mean: float) -> bool:
    """Say whether μ < mean is established for x in [0, 1] (trivially, if mean > 1)."""
    room = np.where(1.0 - x > SLACK, 1.0 - x, 0.0)
    return mean > 1 or exceeds(room, 1.0 - mean, ALPHA)


def _how_many(x: np.ndarray, low: float, high: float) -> str:
    n = len(x)
    wanted = [replicates_needed(1 - x, 1 - low, ALPHA), replicates_needed(x, high, ALPHA)]
    sizes = [size for size in wanted if size is not None]
    if sizes:
        return f"{n} replicates did not decide; about {min(sizes)} would"
    return (
        f"{n} replicates did not decide, and show no margin yet (mean/right {x.mean() / high:.3g})"
    )


def _exceeds(left: float, right: float, also: str) -> str:
    told = f"with every assumption met, left ≥ {left:.6g} exceeds right = {right:.6g}"
    return f"{told}; {also}" if also else told


def _gone(sides: Sides) -> str:
    step = sides.measured.bad_step
    return "" if step < 0 else f"an iterate is no longer finite after step t = {step}"


def _row(
    claim: Claim,
    case: Case,
    form: Form,
    verdict: Verdict,
    evidence: Evidence | None,
    reason: str,
    **facts: Any,
) -> Row:
    roles = roles_of(case) if verdict is not Verdict.INAPPLICABLE else {}
    letters = instance(roles, claim.notation(case))
    return row_of(
        claim, form, described(case), verdict, evidence, reason, instance=letters, **facts
    )
