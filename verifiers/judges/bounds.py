"""Judges bounds by running the algorithm: exactly where the noise can be enumerated, else sampled.

The work (``measure_exactly``, ``measure_block``) knows nothing of right sides; the verdict
(``judge``) is a pure function of what was measured. Hence every form and sibling of a claim is
judged on the same run, and a verdict does not depend on how the work was spread or interrupted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
import torch
from flint import arb

from driftproof.synthetic.audit.terms import audited
from driftproof.toolkit.balls.expressions import Sized, expression_in_balls
from driftproof.toolkit.balls.tensor import RefusedError, precision
from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.constants import Key, Letters, Notation, evaluate, formula_of, split, stated
from driftproof.toolkit.draws import BLOCK, TooManyAtoms
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import Outcome, run, run_exactly, sampled_context
from driftproof.toolkit.problem import Problem, with_overrides
from driftproof.toolkit.rounded import rounding
from driftproof.toolkit.statistics import (
    Tail,
    exceeds,
    falls_below,
    lower_bound,
    replicates_needed,
    upper_bound,
)
from driftproof.toolkit.tolerances import DOUBT, DUST, LEVEL, LOCATED, RUN, SLACK, UNIT
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.rate import RateClaim
from driftproof.verifiers.judges.decide import (
    Comparisons,
    Decision,
    Interval,
    decide,
    inapplicable,
    undecided,
    withdrawn,
)
from driftproof.verifiers.judges.ends import UNKNOWN, Ends, derived_ends, how_of
from driftproof.verifiers.judges.evidence import Measured, copies_of, instance, shadows
from driftproof.verifiers.judges.places import place
from driftproof.verifiers.judges.rows import case_entry, row_of

RunClaim = BoundClaim | RateClaim
"""A claim whose left side is measured of a run."""
ATOMS = 4096
SHADOWS = 4
"""Single-precision runs that measure the rounding error of an exact one."""
BESIDE = 8
"""Of how many comparisons before and after it a refutation exceeds the error: four runs beside each
other may hit one value by luck, and a run has many comparisons."""
MOST = 16_384
"""Replicates that the largest profile takes (``verifiers.running.jobs.BUDGETS``)."""
WIDE = 1e-2
"""Right side over range below which the range, not the margin, is what costs replicates."""
BOTH_ZERO = "both sides are 0, as far as rounding errors tell"
"""Why a row is supported that rests on ``tolerances.DUST``: balls are asked whether it is so."""
APART = 0.1
"""How far below the right side a mean is that the margin does not keep undecided."""
GIVEN_PAST = "given past"
UNBOUNDED = "rounding errors could not be bounded (see the single-precision run)"
UNPLACED = (
    "it is measured from x*, and nothing places x* as near to the solution's minimiser as rounding "
    "does: give a minimiser where ∇F is a rounding error, and a strong_convexity of F; or one in "
    "closed form (low = high)"
)
UNMEASURED = "refuted as far as sampling goes; its rounding errors have not been measured yet"
NO_UPPER_END = (
    "without an upper end of a replicate's left side nothing but a refutation can be established: "
    "write range=lambda c: …, the most that the assumptions allow it, or let the method have radii "
    "and the problem the constants that these use; or take so few rounds and clients that the "
    "noise is enumerated. docs/claims.md#a-range"
)
SMALLEST = (
    "the smallest of several expectations cannot be tested by sampling: take cases whose noise can "
    "be enumerated, or average(…), which is at least as large"
)
RARE = 0.02
"""The probability of a past that breaks a statement given the past, up to which it is supported."""


def measure_exactly(claim: RunClaim, case: Case, device: str = "cpu", form: int = 0) -> Measured:
    """Run every atom of a case's noise, and again in single precision with random rounding."""
    algorithm, rounds, left = case.algorithm, case.rounds, claim.forms[form].left or claim.left
    assert left is not None
    own = audited(case.problem)

    def once(dtype: torch.dtype, problem: Problem = own, **more: Any) -> Outcome:
        return run_exactly(
            problem,
            algorithm,
            rounds=rounds,
            left=left,
            limit=ATOMS,
            dtype=dtype,
            device=device,
            **more,
        )

    try:
        double = once(torch.float64, apart=True)
    except TooManyAtoms:
        return Measured("too many atoms")
    singles = copies_of(once(torch.float32, jitter=0, copies=SHADOWS), SHADOWS)
    known = _other_end(own, double, once)
    return Measured.of("exact", double, shadow=shadows(double, singles), known=known)


def measure_block(
    claim: RunClaim,
    case: Case,
    seed: int,
    block: int,
    device: str = "cpu",
    form: int = 0,
    *,
    shadowed: bool = False,
) -> Measured:
    """Run one block of 64 sampled replicates; its draws are keyed by seed, claim and case.

    Args:
        shadowed: run it in single precision too, to bound the rounding error of its replicates
            (of pasts that is always done).
    """
    algorithm, rounds, left = case.algorithm, case.rounds, claim.forms[form].left or claim.left
    assert left is not None
    own = audited(case.problem)

    def once(dtype: torch.dtype, problem: Problem = own, **more: Any) -> Outcome:
        names = (str(seed), claim.name, case.key)
        ctx = sampled_context(
            problem, names, block=block, replicates=BLOCK, dtype=dtype, device=device
        )
        return run(problem, algorithm, ctx, rounds=rounds, left=left, **more)

    try:
        double = once(torch.float64, apart=True)
    except TooManyAtoms:
        return Measured("too many atoms")
    known = _other_end(own, double, once)
    if double.how[0] != GIVEN_PAST and not shadowed:
        return Measured.of("sampled", double, known=known)
    singles = [once(torch.float32, jitter=seed) for seed in range(SHADOWS)]
    shadow = shadows(double, singles, every_past=True)
    return Measured.of("sampled", double, shadow=shadow, known=known)


def _other_end(problem: Problem, double: Outcome, once: Callable[..., Outcome]) -> np.ndarray:
    """Return how far a measure moves if inf F is the other end of what is known of it.

    ∞ where it depends on x*, and that is farther from the point that the solution names than
    rounding leaves it: only balls know how far a measure moves with it.
    """
    kept = isinstance(getattr(type(problem), "solution", None), cached_property)
    asked = not kept or "solution" in vars(problem)  # else no measure can have asked for it
    if not asked or not (known := problem.solution).low < known.high:
        return np.zeros(double.taken.shape[:2])
    best, ends = known.minimiser, {"low": known.high, "high": known.low}
    size = 0.0 if best is None else float(np.linalg.norm(best) + np.linalg.norm(problem.start()))
    placed = {}
    if best is not None and problem.minimiser_error > LOCATED * size:
        placed = {"minimiser": best + (size or 1.0) / (2.0 + np.arange(len(best)))}

    def moved(**other: Any) -> np.ndarray:
        supposed = with_overrides(problem, solution=replace(known, **other))
        taken = once(torch.float64, supposed).taken
        if taken.shape != double.taken.shape:  # it ended earlier: an end is infinite
            return np.full(double.taken.shape[:2], np.inf)
        gone = np.isnan(taken) & np.isnan(double.taken)
        far: np.ndarray = np.where(gone, 0.0, np.abs(taken - double.taken)).max(2)
        return far

    apart = moved(**ends, **placed)
    return np.where(moved(**placed) == 0, apart, np.inf) if placed and apart.any() else apart


def range_of(claim: BoundClaim, case: Case, form: Form | None = None) -> tuple[float, float] | None:
    """Return what one replicate's left side can be: (0, range(c)), or both ends if it gives two."""
    given = (form.range if form is not None else None) or claim.range
    if given is None:
        return None
    both = stated(given, Letters(claim.notation(case)))
    if isinstance(both, tuple):
        low, high = (right_side(claim, case, lambda c, end=end: end) for end in both)
        return low[0], high[1]
    return 0.0, right_side(claim, case, given)[1]


def least_of(claim: BoundClaim, case: Case, form: Form) -> float:
    """Return least(c), the lower end that a claim states of its own left side (−∞: none)."""
    if claim.least is None or form.left is not None:
        return -np.inf
    return right_side(claim, case, claim.least)[0]


def ends(claim: BoundClaim, case: Case, form: Form) -> Ends:
    """Return the ends of a replicate's left side less the measured part of the right side."""
    stated = range_of(claim, case, form)
    if stated is not None:
        return Ends.stated(*stated)
    left, least = form.left or claim.left, least_of(claim, case, form)
    return derived_ends(left, case, coefficients(claim, case, form.right), least)


def untestable(claim: BoundClaim, case: Case, form: Form) -> str | None:
    """Return why no number of replicates can decide a form on a case, known before the first."""
    if claim.conditional:
        return None
    how = how_of(form.left or claim.left, case)[0]
    if how == "smallest":
        return SMALLEST
    known = how == GIVEN_PAST or ends(claim, case, form).lower
    return None if known else neither_end(coefficients(claim, case, form.right))


def neither_end(measured: Iterable[str]) -> str:
    """Say that a replicate has no known lower end: of the left side, or less what is measured."""
    parts = " and ".join(f"c.measured({name!r})" for name in measured)
    less = f" less its part of {parts}" if parts else ""
    return (
        f"the noise has to be sampled, and no lower end is known of one replicate's left side{less}"
        f": write range=lambda c: …, both ends{' of that' if less else ''}, or least=lambda c: …, "
        "the lower one, which can refute; squares, norms and gaps "
        f"have the lower end 0 by themselves{', but not' + less if less else ''}. "
        "docs/claims.md#a-range"
    )


def right_side(claim: Claim[Any], case: Case, right: Any) -> tuple[float, float]:
    """Return an enclosure of a right side without the measured means that may stand in it.

    It is wide only where inf F is known by an enclosure.
    """
    notation = claim.notation(case)
    expression, _ = split_right(right, notation)
    low, high = case.problem.initial_gap
    # a gap is never below 0, though the lower end of what is known of it may be
    ends = [
        evaluate(expression, notation, roles_of(case, gap=gap)) for gap in (max(0.0, low), high)
    ]
    return min(ends), max(ends)


def split_right(right: Any, notation: Notation) -> tuple[Any, dict[str, Any]]:
    """Return a right side's constant part and its coefficients, made once."""
    return _split_once(right, notation.key)


@lru_cache(maxsize=4096)
def _split_once(right: Any, key: Key) -> tuple[Any, dict[str, Any]]:
    return split(formula_of(right, key))


def coefficients(claim: Claim[Any], case: Case, right: Any) -> dict[str, float]:
    """Return what each measured mean in a right side is multiplied by."""
    notation = claim.notation(case)
    _, factors = split_right(right, notation)
    return {name: evaluate(x, notation, roles_of(case)) for name, x in factors.items()}


class Inexact(NamedTuple):
    """How far a number may be off because letters are rounded, and its size before cancelling."""

    off: float
    size: float


def _exact_letters() -> tuple[Inexact, dict[str, Inexact]]:
    return Inexact(0.0, 0.0), {}


@dataclass(frozen=True)
class Sides:
    """Left and right of one form on one case, ready to be compared."""

    measured: Measured
    low: float
    high: float
    range: tuple[float, float] | None
    factors: dict[str, float]
    inexact: Callable[[], tuple[Inexact, dict[str, Inexact]]] = _exact_letters
    """What rounding the letters does to the right side and to each coefficient, if asked."""
    known: Callable[[], Ends] = lambda: UNKNOWN
    """The ends of a replicate where the claim states no range, if asked."""

    @property
    def ends(self) -> Ends:
        """The ends of a replicate's left side less the measured part, [comparisons] each."""
        made = self.known() if self.range is None else Ends.stated(*self.range)
        return made.of(len(self.measured.values))

    @property
    def right(self) -> Interval:
        """The right side, but for its measured part."""
        return Interval(self.low, self.high)

    def measured_part(self, parts: np.ndarray, absolute: bool = False) -> np.ndarray:
        """Return the measured part of the right side from parts, [..., parts, …] → [..., …].

        Args:
            absolute: add sizes instead (the scale of what was added up).
        """
        order = self.measured.names
        unknown = set(self.factors) - set(order)
        if unknown:
            raise DriftproofError(
                f"a right side with c.measured({sorted(unknown)[0]!r})",
                f"what left(view) measures: {', '.join(order) or 'nothing but its value'}",
                "pass it to each(…), average(…) or given_past(…) by that name",
            )
        weights = np.array([self.factors.get(name, 0.0) for name in order])
        if absolute:
            weights, parts = np.abs(weights), np.abs(parts)
        weighted: np.ndarray = np.tensordot(weights, parts, (0, 0))
        return weighted

    def letters_rounded(self, parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how far the right side may be off for its letters, and its size before cancelling.

        Args:
            parts: the means that stand in it, [parts, …].
        """
        own, factors = self.inexact()
        order = self.measured.names
        none = Inexact(0.0, 0.0)
        moved, size = (
            own[k]
            + np.tensordot([factors.get(name, none)[k] for name in order], np.abs(parts), (0, 0))
            for k in (0, 1)
        )
        return np.asarray(moved), np.asarray(size)

    def replicate_error(self) -> np.ndarray | None:
        """Bound the rounding error of a replicate's difference, [comparisons]; None: not measured.

        By the replicates that were run in single precision too: all pasts, or the first block.
        """
        measured = self.measured
        count, runs = len(measured.values), len(measured.shadow)
        if not runs or not count:
            return None
        width = measured.shadow.shape[2] // count
        values, parts = measured.values[:, :width], measured.parts[:, :, :width]
        exact = values - self.measured_part(parts)
        single = measured.shadow[:, 0] - self.measured_part(
            np.moveaxis(measured.shadow[:, 1:], 1, 0)
        )
        scale = np.abs(values) + self.measured_part(parts, absolute=True)
        scale = np.maximum(scale, abs(self.high))
        error = rounding(exact.ravel(), single, scale.ravel()).reshape(count, width)
        moved, _ = self.letters_rounded(parts)
        errors: np.ndarray = np.max(error + moved, 1)
        return errors

    @property
    def unknown(self) -> np.ndarray | float:
        """How far the sides' difference may be off for what is known of inf F, [comparisons]."""
        known = self.measured.known
        return known[0] + self.measured_part(known[1:], absolute=True) if known.size else 0.0

    @property
    def partial_is_lower_bound(self) -> bool:
        """Whether an average that counts missing moments as zero is a lower bound: no negatives.

        The smallest of some moments is no lower bound on the smallest of all.
        """
        values = self.measured.values
        if self.factors or self.measured.how[:1] == ("smallest",):
            return False
        return not (self.range is not None and self.range[0] < 0) and not np.any(values < 0)


def judge(claim: BoundClaim, case: Case, form: Form, measured: Measured) -> Row:
    """Return the row of one form on one case from what was measured."""
    radius = case.problem.radius
    if radius is not None and measured.reach > radius:
        reason = f"an iterate reached norm {measured.reach:.3g}; proven for norms up to {radius:g}"
        return _row(claim, case, form, inapplicable(), reason)
    if measured.kind == "too many atoms":
        reason = "one step of the noise has too many outcomes to be enumerated"
        return _row(claim, case, form, undecided(), reason)
    missing = untestable(claim, case, form) if measured.kind == "sampled" else None
    if missing is not None:
        return _row(claim, case, form, undecided(), missing)
    if not len(measured.values) and measured.bad_step < 0:
        reason = "left(view) gave no value at any moment: nothing was compared"
        return _row(claim, case, form, undecided(), reason)
    low, high = right_side(claim, case, form.right)
    factors = coefficients(claim, case, form.right)
    inexact = partial(_inexact, claim, case, form.right)
    known = partial(ends, claim, case, form)
    sides = Sides(measured, low, high, range_of(claim, case, form), factors, inexact, known)
    if measured.kind == "exact":
        return _exact(claim, case, form, sides)
    if measured.how[:1] == (GIVEN_PAST,):
        return _every_past(claim, case, form, sides)
    return _sampled(claim, case, form, sides)


def _inexact(claim: Claim[Any], case: Case, right: Any) -> tuple[Inexact, dict[str, Inexact]]:
    """Return what rounding the letters does to a right side and to each of its coefficients."""
    notation, roles = claim.notation(case), roles_of(case)
    own, factors = split_right(right, notation)
    return inexact(own, notation, roles), {
        n: inexact(x, notation, roles) for n, x in factors.items()
    }


def inexact(expression: Any, notation: Notation, roles: Mapping[str, float]) -> Inexact:
    """Return how far an expression moves if its letters do; whole numbers are exact.

    At η = 1/10 and L = 10 the number 1 − ηL is 0, but η is stored as a number a little above 1/10.
    """
    letters = {}
    for symbol in expression.free_symbols:
        whole = notation.sign(symbol.name).endswith("integer")
        stored = arb(roles[notation[symbol.name]])
        letters[symbol.name] = Sized.of(stored if whole else stored * arb(1, UNIT))
    try:
        with precision():
            made = expression_in_balls(expression, letters)
            return Inexact(float(made.value.rad()), float(made.size.mid()))
    except RefusedError:
        return Inexact(np.inf, np.inf)


def _every_past(claim: BoundClaim, case: Case, form: Form, sides: Sides) -> Row:
    """Judge conditional expectations, given sampled pasts.

    What is printed in total expectation is a mean over pasts: each past is a replicate, and the
    betting test judges it. What is printed given the past has to hold for each.
    """
    measured = sides.measured
    taken = measured.taken.reshape(len(measured.taken), -1, 1)
    known = np.repeat(measured.known, measured.values.shape[1], 1)
    apart = replace(measured, taken=taken, weights=np.ones(1), known=known)
    row = _exact(claim, case, form, replace(sides, measured=apart))
    pasts = measured.values.shape[1]
    row = replace(row, replicates=pasts)
    if claim.conditional:
        return _for_every_past(row, pasts)
    if sides.range is not None:
        return _sampled(claim, case, form, sides)
    if row.verdict is Verdict.SUPPORTED:
        reason = f"it holds in conditional expectation given each of {pasts} sampled pasts"
    elif row.verdict is Verdict.REFUTED:
        reason = f"given one past, {row.reason}"
    else:
        return row
    reason += (
        "; the expectation over all pasts was not decided: give range(c), both ends of what the "
        "left side less the measured part of the right can be given a past"
    )
    return withdrawn(row, reason)


def _for_every_past(row: Row, pasts: int) -> Row:
    """Judge a statement that is printed given the past: one past refutes it, samples do not prove.

    If a past broke it with probability q or more, all of n would satisfy it with probability at
    most (1 − q)^n, which is α for q = 1 − α^(1/n).
    """
    if row.verdict is not Verdict.SUPPORTED:
        reason = f"given one past, {row.reason}" if row.verdict is Verdict.REFUTED else row.reason
        return replace(row, reason=reason)
    share = 1 - LEVEL ** (1 / pasts)
    reason = (
        f"given each of {pasts} sampled pasts; a past that breaks it has probability "
        f"{share:.2g} at most, at level {LEVEL:g}"
    )
    if share > RARE:
        needed = int(np.ceil(np.log(LEVEL) / np.log1p(-RARE)))
        reason += f"; {needed} pasts would bring that to {RARE:g}"
        return withdrawn(row, reason)
    return replace(row, evidence=Evidence.SEQUENTIAL, alpha=LEVEL, reason=reason)


def _exact(claim: BoundClaim, case: Case, form: Form, sides: Sides) -> Row:
    measured = sides.measured
    lefts, parts = measured.values @ measured.weights, measured.parts @ measured.weights
    rights = sides.measured_part(parts)  # what stands on the right beside low … high
    means = lefts - rights
    size = np.abs(lefts) + sides.measured_part(parts, absolute=True)
    size = np.maximum(size, abs(sides.high))
    single = measured.shadow[:, 0] - sides.measured_part(np.moveaxis(measured.shadow[:, 1:], 1, 0))
    error = rounding(means, single, size) + sides.unknown
    decision = decide(_enclosed(sides, lefts, rights, error, size), RUN)
    if decision.verdict is Verdict.REFUTED:  # by more than letters' rounding, and than luck?
        moved, before = sides.letters_rounded(parts)
        error, size = _error_beside(error, size) + moved, np.maximum(size, before)
        decision = decide(_enclosed(sides, lefts, rights, error, size), RUN)
    facts: dict[str, Any] = {"comparisons": len(means), "replicates": measured.values.shape[1]}
    worst, open_ = decision.worst, decision.verdict is Verdict.INCONCLUSIVE
    # of equalities the one in most doubt is shown, so that balls are asked about it
    in_doubt = (means + error >= sides.low) & (error > DOUBT * size) & (size > 0)
    doubt = np.divide(error, size, out=np.zeros_like(error), where=in_doubt)
    if decision.verdict is Verdict.SUPPORTED and doubt.any():
        worst = int(np.argmax(doubt))
    if worst is not None:
        mean, slack, right = float(lefts[worst]), float(error[worst]), float(rights[worst])
        facts |= {"lhs": {"mean": mean, "low": mean - slack, "high": mean + slack}}
        facts |= {"rhs": sides.high + right, "margin": slack}
        if decision.verdict is Verdict.REFUTED and measured.how[0] != "average":
            facts["at"] = (worst, len(means))
    if decision.verdict is Verdict.REFUTED:
        where = place(case, measured.how, measured.at.tolist(), worst or 0, len(means))
        also = "; ".join(filter(None, (where, _gone(sides))))
        reason = _exceeds(facts["lhs"]["mean"], facts["rhs"], also)
    elif open_ and _gone(sides):
        reason = _gone(sides)
    elif open_ and not np.all(np.isfinite(error)):
        reason = UNBOUNDED if np.all(np.isfinite(measured.known)) else UNPLACED
    elif open_:
        wide = float(error[worst]) + sides.high - sides.low
        reason = f"the sides lie within rounding errors of ±{wide:.3g}: too much to tell"
    else:
        both = _nothing(sides, lefts, rights, error)
        reason = BOTH_ZERO if np.any(both & (2 * error > RUN.equal * size)) else ""
    return _row(claim, case, form, decision, reason, Evidence.EXACT, **facts)


def _enclosed(
    sides: Sides, lefts: np.ndarray, rights: np.ndarray, error: np.ndarray, size: np.ndarray
) -> Comparisons:
    """Return enclosures of left − measured part of the right, beside the rest of the right side."""
    means = lefts - rights
    known = np.isfinite(means) & np.isfinite(error)
    low, high = np.where(known, means - error, -np.inf), np.where(known, means + error, np.inf)
    if sides.measured.bad_step >= 0:  # what is missing may be anything
        high = np.full_like(high, np.inf)
        if not sides.partial_is_lower_bound:
            low = -high
    if sides.range is not None:  # beside a right side of 0 the error is compared with the range
        dust = 2 * DUST * sides.range[1] / RUN.equal
        nothing = _nothing(sides, lefts, rights, error)
        size = np.where(nothing, np.maximum(size, dust), size)
    most = None if sides.range is None else sides.range[1]
    zero = np.abs(lefts) <= error
    return Comparisons(Interval(low, high), sides.right, size, zero=zero, most=most)


def _nothing(sides: Sides, lefts: np.ndarray, rights: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Say which comparisons have two sides that are both 0, as far as their errors tell."""
    nothing: np.ndarray = (np.abs(lefts) <= error) & (rights == 0)
    return nothing & (sides.low == sides.high == 0.0)


def _error_beside(error: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the largest error of the comparisons beside each, ``BESIDE`` on either side.

    Of a larger neighbour it counts in proportion: its rounding errors are larger, too.
    """
    errors, sizes = (
        np.lib.stride_tricks.sliding_window_view(np.pad(x, BESIDE, "edge"), 2 * BESIDE + 1)
        for x in (error, size)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        around = errors * np.fmin(size[:, None] / sizes, 1.0)
    largest: np.ndarray = np.where(np.isnan(around), np.inf, around).max(1)
    return largest


@dataclass(frozen=True)
class Replicates:
    """Sampled replicates of each comparison, and the betting test of their means.

    Attributes:
        scaled: 0 or more, [comparisons, replicates].
        blur: how far a mean may be off for rounding, [comparisons], in the same units.
        bottom, width: a replicate is bottom + width · scaled.
        tails: what is proven of the upper tails, in the same units; empty: nothing.
        above: whether a mean may be called so: of a run that ended early much is missing.
    """

    scaled: np.ndarray
    blur: np.ndarray | float = 0.0
    bottom: np.ndarray | float = 0.0
    width: np.ndarray | float = 1.0
    tails: Sequence[Tail] = ()
    above: bool = True

    def tested(self, right: Interval, level: float) -> Interval:
        """Return where the means lie, by tests at the right side (``decide.Samples``)."""
        count = len(self.scaled)
        low, high = np.full(count, -np.inf), np.full(count, np.inf)
        shares = np.broadcast_to((right.high - self.bottom) / self.width, count)
        tests = zip(self.scaled, shares + self.blur, strict=True)
        for k, (x, end) in enumerate(tests if self.above else ()):
            if x.max() > end and exceeds(x, end, level / count):
                low[k] = np.broadcast_to(right.high, count)[k]
                return Interval(low, high, open=True)  # one refutes
        below = count if (first := self.first_not_below(right, level)) is None else first
        high[:below] = np.broadcast_to(right.low, count)[:below]
        return Interval(low, high, open=True)

    def first_not_below(self, right: Interval, level: float) -> int | None:
        """Return the first mean that is not below the right side: it keeps all from support."""
        if not self.tails:
            return 0
        ends = np.broadcast_to((right.low - self.bottom) / self.width, len(self.scaled)) - self.blur
        tests = enumerate(zip(self.scaled, ends, self.tails, strict=True))
        return next((k for k, (x, end, t) in tests if not falls_below(x, end, level, t)), None)


def _sampled(claim: BoundClaim, case: Case, form: Form, sides: Sides) -> Row:
    values = sides.measured.values - sides.measured_part(sides.measured.parts)
    facts: dict[str, Any] = {"comparisons": len(values), "replicates": values.shape[1]}
    row = partial(_row, claim, case, form)
    facts |= {"alpha": LEVEL, "rhs": sides.high}
    known = sides.ends
    if not known.lower:
        return row(undecided(), neither_end(sides.factors), **facts)
    finite = np.isfinite(values).all(1)
    bottom, top = known.low[:, None], known.high[:, None]
    # without an upper end the right side is the unit: the tests depend on x / m alone
    width = np.where(np.isfinite(top), top, sides.high) - bottom
    if sides.range is not None and not np.all(width > 0):
        reason = f"range(c) is from {bottom.min():.6g} to {top.max():.6g}: nothing can be sampled"
        return row(undecided(), reason, **facts)
    width = np.where(width > 0, width, 1.0)
    measured_error = sides.replicate_error()
    error = np.zeros(len(values)) if measured_error is None else measured_error
    error = error + sides.unknown
    scaled = ((values - bottom) / width)[finite]
    blur = (error / width[:, 0])[finite]
    room = SLACK + np.where(np.isfinite(blur), blur, 0.0)[:, None]
    most = np.where(np.isfinite(top[finite]), 1.0, np.inf)
    beyond = (scaled < -room) | (scaled > most + room)
    if beyond.any():
        return row(undecided(), _beyond(known, values[finite], beyond), **facts)
    scaled = np.clip(scaled, 0.0, most)
    bottom, width = bottom[finite, 0], width[finite, 0]
    roots = (known.root[finite] + np.abs(bottom)) / width
    for k, (x, root) in enumerate(zip(scaled, roots, strict=True)):
        if x.max() > root and exceeds((x / root) ** 2, 1.0, LEVEL / len(scaled)):
            return row(undecided(), _too_wide(known.root[finite][k]), **facts)
    tails = list(starmap(Tail, zip(most[:, 0], roots, strict=True)))
    means = bottom + width * scaled.mean(1)
    worst = int(np.argmax(means)) if len(means) else 0
    if len(means):
        x = scaled[worst]
        unit = max(float(x.max()), 1.0)  # the test is of x / m: any unit will do
        shares = unit * lower_bound(x / unit, LEVEL), upper_bound(x, LEVEL, tails[worst])
        shown = [means[worst], *(bottom[worst] + width[worst] * np.array(shares))]
        facts["lhs"] = dict(zip(("mean", "low", "high"), map(float, shown), strict=True))
        if not np.isfinite(shown[2]):
            facts["lhs"]["high"] = None
        if measured_error is not None and np.isfinite(error[worst]):
            facts["margin"] = float(error[worst])
    ended = sides.measured.bad_step >= 0
    whole = known.upper and not ended and bool(finite.all())
    left = Replicates(
        scaled,
        blur,
        bottom,
        width,
        tails if whole else (),
        above=not ended or (sides.partial_is_lower_bound and not np.any(bottom < 0)),
    )
    largest = None if sides.range is None else sides.range[1]
    decision = decide(Comparisons(left, sides.right, most=largest), level=LEVEL)
    if decision.verdict is Verdict.REFUTED:
        if measured_error is None:
            return row(undecided(), UNMEASURED, **facts)
        reason = _exceeds(facts["lhs"]["low"], sides.high, _gone(sides))
    elif ended or not finite.all():
        reason = _gone(sides)
    elif not known.upper:
        reason = f"{means[worst]:.6g} was measured, and {NO_UPPER_END}"
    elif decision.verdict is Verdict.SUPPORTED:
        reason = "" if not known.derived else _within(known)
    else:
        k = left.first_not_below(sides.right, LEVEL) or 0
        if not np.isfinite(error[k]):
            reason = UNBOUNDED if np.all(np.isfinite(sides.measured.known)) else UNPLACED
        elif np.all(np.abs(values[k] - sides.high) <= 2 * error[k]):
            reason = (
                f"the sides agree on each of {values.shape[1]} replicates, within rounding errors "
                f"of ±{error[k]:.3g}: sampling cannot establish an equality; choose a case whose "
                "noise can be enumerated (fewer clients or rounds, smaller minibatches)"
            )
        else:
            low, high = ((end - bottom[k]) / width[k] for end in (sides.low, sides.high))
            found = f"measured mean is {means[k]:.6g}, right side {sides.high:.6g}"
            reason = what_to_change(scaled[k], low, high, tails[k], known.derived, found)
    return row(decision, reason, Evidence.SEQUENTIAL, **facts)


def _beyond(known: Ends, values: np.ndarray, beyond: np.ndarray) -> str:
    """Say that a replicate lies outside of its ends."""
    k, n = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
    low, high = known.low[k], known.high[k]
    source = (
        "it lies by the constants and the algorithm's radii" if known.derived else "range(c) is"
    )
    upto = f"to {high:.6g}" if np.isfinite(high) else "up"
    return (
        f"a replicate measured {values[k, n]:.6g}, but {source} from {low:.6g} {upto}: "
        "a constant, the range or the algorithm is wrong"
    )


def _too_wide(root: float) -> str:
    return (
        f"the replicates' mean square exceeds {root**2:.6g}, what it is at most by the constants "
        "and the algorithm's radii: a constant, the radii or the algorithm is wrong"
    )


def _within(known: Ends) -> str:
    ends = {"each replicate": known.high.max(), "its mean square": known.root.max() ** 2}
    told = (f"{what} is at most {end:.6g}" for what, end in ends.items() if np.isfinite(end))
    return f"{', and '.join(told)}, by the problem's constants and the algorithm's radii"


def what_to_change(
    x: np.ndarray, low: float, high: float, tail: Tail, derived: bool, found: str
) -> str:
    """Say which of replicates, upper end or margin keeps a case from being decided.

    Args:
        x, low, high, tail: replicates, the right side's ends and what no replicate exceeds, from
            the lower end on and in units of the range.
        derived: whether the upper end follows from constants and radii; else the claim states it.
        found: the mean and the right side, in the claim's units.
    """
    n, margin = len(x), x.mean() / high - 1
    wanted = [replicates_needed(x, low, LEVEL, tail), replicates_needed(x, high, LEVEL)]
    sizes = [size for size in wanted if size is not None]
    finding = f"{n} replicates did not decide; {found}"
    if sizes and min(sizes) <= MOST:
        return f"{finding}; about {min(sizes)} replicates would (--profile full takes {MOST})"
    if margin < -APART or high < WIDE * min(tail):
        finding += f", and one replicate may be {min(tail) / high:.3g} times as large as that"
        if derived:
            return (
                f"{finding}, by the constants and radii: state a smaller range(c) if you know one"
            )
        return f"{finding}: sharpen the range, the largest value that the assumptions allow it"
    return (
        f"{finding}: too close to be told by sampling; choose a case whose two sides are farther "
        "apart"
    )


def _exceeds(left: float, right: float, also: str) -> str:
    finding = f"with every assumption met, left ≥ {left:.6g} exceeds right = {right:.6g}"
    return f"{finding}; {also}" if also else finding


def _gone(sides: Sides) -> str:
    step = sides.measured.bad_step
    return "" if step < 0 else f"an iterate or the measure is not finite after step {step + 1}"


def _row(
    claim: BoundClaim,
    case: Case,
    form: Form,
    decision: Decision,
    reason: str,
    evidence: Evidence | None = None,
    **facts: Any,
) -> Row:
    roles = roles_of(case) if decision.verdict is not Verdict.INAPPLICABLE else {}
    letters = instance(roles, claim.notation(case))
    return row_of(
        claim, form, case_entry(case), decision, evidence, reason, instance=letters, **facts
    )
