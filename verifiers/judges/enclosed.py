"""Judges a case in ball arithmetic, where rounding left it open or would alone refute it.

The same algorithm, oracles and measure run once more with every number a ball that contains its
true value (``toolkit.engines.balls``), and the right side is evaluated so too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

import numpy as np
from flint import arb

from driftproof.toolkit.balls.expressions import Sized, expression_in_balls
from driftproof.toolkit.balls.operations import hull
from driftproof.toolkit.balls.solutions import UNKNOWN, enclosing
from driftproof.toolkit.balls.tensor import BITS, Balls, RefusedError, fraction, lift, precision
from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.engines.balls import run_in_balls
from driftproof.toolkit.engines.enumerated import EnumeratedContext
from driftproof.toolkit.federation import run
from driftproof.toolkit.rounded import OF_SINGLE
from driftproof.toolkit.tolerances import BALLS, DOUBT, STORED, STORED_IN_BALLS
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.judges import bounds
from driftproof.verifiers.judges.decide import (
    Comparisons,
    Decision,
    Interval,
    decide,
    undecided,
    withdrawn,
)
from driftproof.verifiers.judges.evidence import Measured
from driftproof.verifiers.judges.places import place
from driftproof.verifiers.judges.rows import case_entry, row_of

PRECISIONS = (BITS, 4 * BITS, 16 * BITS, 64 * BITS)
"""Bits that are tried one after another while the balls are too wide: they widen with each step."""
OPERATIONS = 1_500_000
"""What a try may cost that rounding asks for, in operations on single balls (about a second)."""
MOST = 10 * OPERATIONS
"""What it may cost where somebody asks for it, to verify a counterexample, say."""

OWN_ROUNDING = (
    "left exceeds 0 by no more than the rounding of the problem's and the method's own numbers "
    "may make"
)
"""Why what balls refute is left open."""
LOST = "doubles refute it, but only because they lose digits, perhaps inside an oracle"
"""What is said of a row that balls support and doubles refute."""


@dataclass(frozen=True)
class Enclosed:
    """Enclosures of both sides of one comparison.

    Attributes:
        left, right: balls; the right one allows for ``STORED`` in every constant.
        size: the size of what was added up on both sides.
        where: at which moment of the run it was made, in words.
    """

    left: arb
    right: arb
    size: arb
    where: str = ""

    @property
    def ends(self) -> tuple[Fraction | float, ...]:
        """The ends (left_low, left_high, right_low, right_high), exactly; ±∞: there is none."""
        left, right = (_ends(side) for side in (self.left, self.right))
        return (*left, *right)


def _ends(ball: arb) -> tuple[Fraction | float, Fraction | float]:
    if not ball.is_finite():
        return -inf, inf
    middle, radius = fraction(ball.mid()), fraction(ball.rad())  # upper() would round
    return middle - radius, middle + radius


def decided(made: Sequence[Enclosed], stored: Fraction | int = 0) -> Decision:
    """Return what enclosures in balls say: no bound of 0 is attained, as far as rounding tells.

    Args:
        stored: by what share of the sides stored numbers may part them.
    """
    low, high, right_low, right_high = np.array([one.ends for one in made], object).T
    size = np.array([_ends(one.size)[1] for one in made], object)
    size = np.where(size < inf, size, 0)
    zero = np.array([bool(one.left.contains(0)) for one in made])
    sides = Interval(low, high), Interval(right_low, right_high)
    room = [
        stored * max(abs(x), abs(y)) / of if of and max(abs(x), abs(y)) < inf else 0
        for x, y, of in zip(high, right_high, size, strict=True)
    ]
    tolerance = replace(BALLS, apart=np.array(room, object)) if stored else BALLS
    return decide(Comparisons(*sides, size, zero=zero), tolerance)


def enclose(
    claim: BoundClaim,
    case: Case,
    form: Form,
    *,
    bits: int = BITS,
    operations: float = MOST,
    upto: tuple[int, int] | None = None,
) -> list[Enclosed]:
    """Return enclosures of left and right, one for each that the statement makes.

    A counterexample is verified when ``left`` of one of them lies above ``right``.

    Args:
        bits: precision of the balls.
        operations: the most operations on single balls.
        upto: the comparison with which the run ends, as ``Row.at`` (None: all are made).

    Raises:
        RefusedError: an operation has no version for balls, a choice was left open, the noise has
            too many outcomes, or the run costs too much.

    >>> from driftproof.verifiers.verify import select
    >>> claim = select(["comfedl/lemma-2"])[0].load()
    >>> made = enclose(claim, claim.cases[0], claim.forms[0])
    >>> left_low, left_high, right_low, right_high = made[0].ends
    >>> left_low <= left_high, decided(made).verdict.value
    (True, 'SUPPORTED')
    """
    left, algorithm, rounds = form.left or claim.left, case.algorithm, case.rounds
    if left is None or algorithm is None:
        raise RefusedError("a claim without a run of an algorithm")
    how, at = _moments(case, left)
    with precision(bits, operations):
        enclosed = run_in_balls(
            case.problem,
            algorithm,
            rounds=rounds,
            left=left,
            axes=how[1:],
            upto=None if upto is None else upto[0],
        )
        constant, factors = _right(claim, case, form)
        order = [factors.get(name) for name in enclosed.names]
        made = enclosed.values.shape[1]
        total = made if upto is None else upto[1]
        return [
            _comparison(enclosed.values[:, k], constant, order, place(case, how, at, k, total))
            for k in range(made)
        ]


def _comparison(
    column: np.ndarray, constant: Sized, factors: Sequence[Sized | None], where: str
) -> Enclosed:
    left, parts = column[0], column[1:]
    right, size = constant.value, abs(left) + constant.size
    for part, factor in zip(parts, factors, strict=True):
        if factor is not None:
            right = right + factor.value * part
            size = size + factor.size * abs(part)
    return Enclosed(left, right, size, where)


def _moments(case: Case, left: Any) -> tuple[tuple[str, ...], Sequence[int]]:
    """Return how a measure compares moments, and those of its trace, as one round in doubles."""
    assert case.algorithm is not None
    ctx = EnumeratedContext(case.problem.clients, limit=2**62)
    try:
        outcome = run(case.problem, case.algorithm, ctx, rounds=1, left=left)
        return outcome.how, outcome.at.tolist()
    except TooManyAtoms as error:
        raise RefusedError("one step of the noise has too many outcomes") from error


def _right(claim: BoundClaim, case: Case, form: Form) -> tuple[Sized, dict[str, Sized]]:
    """Return a right side's constant part and the factors of its measured means."""
    notation = claim.notation(case)
    expression, factors = bounds.split_right(form.right, notation)
    roles, proven = roles_of(case), case.problem.proven
    values: dict[str, Sized] = {}
    for part in (expression, *factors.values()):
        for symbol in part.free_symbols:
            role = notation[symbol.name]
            if symbol.name in values:
                continue
            if role == "initial_gap":
                values[symbol.name] = _gap(case)
            else:
                exact = arb(roles[role])
                error = arb(STORED) * abs(exact) if role in proven else arb(0)
                values[symbol.name] = Sized.of(hull(exact - error, exact + error))
    return (
        expression_in_balls(expression, values),
        {name: expression_in_balls(factor, values) for name, factor in factors.items()},
    )


def _gap(case: Case) -> Sized:
    """Return F(x_0) − inf F, both as far as they are known."""
    problem = enclosing(case.problem)
    value = problem.objective(Balls.of(problem.start())[:, None])
    first, known = (lift(x).item() for x in (value, problem.solution.high))
    return Sized(first - known, abs(first) + abs(known))


def left_open(row: Row, measured: Measured) -> bool:
    """Say whether doubles left a row open, decided it as an equality in doubt, or refuted it.

    What an oracle loses in double and in single precision alike, as 1 + x − 1 does with a tiny x,
    is in no margin; so no refutation rests on doubles alone where balls can be had. A false
    sibling's may: nothing is said of it but that the cases refuse it.
    """
    if measured.kind != "exact" or measured.bad_step >= 0 or not row.lhs or row.rhs is None:
        return False
    if row.verdict is Verdict.REFUTED:
        return row.form != "sibling"
    if row.verdict is Verdict.INCONCLUSIVE:
        return True
    mean, margin = row.lhs["mean"], row.margin
    if row.verdict is not Verdict.SUPPORTED or mean is None or margin is None:
        return False
    scale = max(abs(mean), abs(row.rhs))
    return mean + margin >= row.rhs and margin > DOUBT * scale


def judge(
    claim: BoundClaim,
    case: Case,
    form: Form,
    *,
    operations: float = OPERATIONS,
    upto: tuple[int, int] | None = None,
) -> Row:
    """Return the row of a case that was run in balls, at growing precision.

    Args:
        operations: what one try may cost; a counterexample may be worth more than a row's second.
        upto: how far balls run if they refuse the whole run, as ``Row.at``: what holds up to there
            is left open.
    """
    why, comparisons, end, decision = "", list[Enclosed](), None, undecided()
    _, factors = bounds.split_right(form.right, claim.notation(case))
    stored = 0 if factors else STORED_IN_BALLS
    for end in dict.fromkeys((None, upto)):
        for bits in PRECISIONS:
            try:
                comparisons = enclose(claim, case, form, bits=bits, operations=operations, upto=end)
            except RefusedError as error:
                why = why or str(error)
                if not error.open:
                    break
                continue
            decision = decided(comparisons, stored) if comparisons else decision
            if decision.verdict is not Verdict.INCONCLUSIVE:
                break
        if comparisons:
            break
    row = partial(row_of, claim, form, case_entry(case))
    if decision.worst is None:
        return row(undecided(), Evidence.ENCLOSED, why or "nothing was compared")
    worst = comparisons[decision.worst]
    facts = _facts(worst)
    if decision.verdict is Verdict.REFUTED:
        high = float(worst.right.upper())
        # what rounding leaves of 0 is 0, and left over it is no tightness
        nothing = worst.right.contains(0) and high < DOUBT * facts["lhs"]["low"]
        facts["rhs"] = 0.0 if nothing else high
        why = (
            f"with every assumption met, left ≥ {facts['lhs']['low']:.6g} exceeds right = "
            f"{facts['rhs']:.6g}, in ball arithmetic"
        )
        where = worst.where or place(case, (), (), decision.worst, len(comparisons))
        why += f"; {where}" if where else ""
    elif decision.verdict is Verdict.INCONCLUSIVE:
        why = "the enclosures of left and right overlap, and are too wide to be called equal"
    elif end is not None:
        why = f"it holds up to the point where doubles refute it: they lose digits; later on, {why}"
        decision = undecided()
    else:
        why = ""
    return row(decision, Evidence.ENCLOSED, why, **facts)


def _facts(worst: Enclosed) -> dict[str, Any]:
    ends = {"low": worst.left.lower(), "high": worst.left.upper(), "mean": worst.left.mid()}
    lhs = {name: float(end) for name, end in ends.items()}
    margin = float((worst.left.rad() + worst.right.rad()).upper())
    rhs = float(worst.right.mid())
    if worst.left.contains(0) and worst.right.contains(0):
        lhs["mean"] = rhs = 0.0  # what rounding leaves of 0 is 0, and no tightness
    return {"lhs": lhs, "rhs": rhs, "margin": margin}


def merge_enclosure(row: Row, enclosed: Row) -> Row:
    """Return the row in doubles with what balls found, or with why they found nothing.

    Nothing refutes a right side of 0 that the rounding of a problem's or a method's own numbers may
    make, of which a run in single precision tells: to balls they are what their doubles are.

    A row that holds only if its left side is 0 stays open unless balls confirm it. So does one
    that doubles refute, if balls ran and cannot tell left from right, or if it rests on a minimiser
    that nobody knows; if they refuse to run, it stays refuted.
    """
    refuted = row.verdict is Verdict.REFUTED
    lost, lhs = (row.margin or 0.0) * OF_SINGLE, enclosed.lhs
    low = inf if lhs is None or lhs["low"] is None else lhs["low"]
    if enclosed.verdict is Verdict.REFUTED and not enclosed.rhs and low <= lost:
        return withdrawn(replace(row, lhs=lhs, rhs=enclosed.rhs), OWN_ROUNDING)
    if enclosed.verdict is Verdict.INCONCLUSIVE:
        ran = enclosed.lhs is not None or enclosed.reason == UNKNOWN
        remark = f"{'not checked ' * (refuted and not ran)}in ball arithmetic: {enclosed.reason}"
        if row.reason == bounds.BOTH_ZERO or (refuted and ran):
            row = withdrawn(row, row.reason)
        if ran and enclosed.lhs is not None:
            row = replace(row, lhs=enclosed.lhs, rhs=enclosed.rhs, margin=enclosed.margin)
        return replace(row, reason=f"{row.reason}; {remark}" if row.reason else remark)
    taken: Mapping[str, Any] = {
        name: getattr(enclosed, name)
        for name in ("verdict", "evidence", "reason", "attained", "lhs", "rhs", "margin")
    }
    if refuted and enclosed.verdict is Verdict.SUPPORTED:
        taken = {**taken, "reason": LOST}
    return replace(row, vacuous=row.vacuous and not enclosed.attained, **taken)
