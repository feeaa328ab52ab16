"""Judges identities by algebra: a proof is a list of steps, each decided by sympy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.claims import Claim, Form
from toolkit.verdict import Evidence, Row, Verdict
from verifiers.rows import row_of


@dataclass(frozen=True)
class Step:
    """One step of a proof.

    Attributes:
        says: what the step states, in LaTeX.
        holds: True or False where that is decided, None where it is not.
        why: the computation that decided, or a witness.
    """

    says: str
    holds: bool | None
    why: str = ""


def vanishes(expression: Any, says: str) -> Step:
    """Decide whether an expression in positive symbols is 0: by simplification, or a witness.

    A point where it is not zero to 30 digits (of 50 computed) refutes.
    """
    import sympy

    expression = sympy.sympify(expression)
    point = _points(expression)[0]  # looked at first: it costs less than to simplify in vain
    value = sympy.N(expression.subs(point), 50)
    if abs(value) > sympy.Float("1e-30"):
        return Step(says, False, f"at {_where(point)} the sides differ by {sympy.N(value, 8)}")
    if sympy.simplify(sympy.expand_log(expression, force=True)) == 0:
        return Step(says, True, "simplifies to 0")
    return Step(says, None, "open: neither simplified to 0 nor found different from 0")


def nonnegative(expression: Any, says: str) -> Step:
    """Decide expression ≥ 0 for positive symbols: by the signs of its factors, or a witness."""
    import sympy

    expression = sympy.sympify(expression)
    for form in (expression, sympy.simplify(expression), sympy.factor(expression)):
        if form.is_nonnegative:
            return Step(says, True, f"{form} is a sum or product of non-negative terms")
    for point in _points(expression):
        value = sympy.N(expression.subs(point), 50)
        if value < -sympy.Float("1e-30"):
            return Step(says, False, f"at {_where(point)} it is {sympy.N(value, 8)}, below 0")
    return Step(says, None, "open: no sign was found, and no point where it is negative")


def _step(steps: Sequence[Step], step: Step) -> str:
    """Name a step in a sentence; the page typesets it."""
    return f"step {steps.index(step) + 1} of {len(steps)} of the check"


def _points(expression: Any) -> list[dict[Any, Any]]:
    """Return points of positive rationals (integers, for symbols that are) to try."""
    import sympy

    symbols = sorted(expression.free_symbols, key=str)
    made = []
    for scale in (sympy.Integer(1), sympy.Rational(1, 10), sympy.Integer(7)):
        made.append(
            {
                s: sympy.Integer(k + 2)
                if s.is_integer
                else scale * sympy.Rational(2 * k + 3, k + 2)
                for k, s in enumerate(symbols)
            }
        )
    return made


def _where(point: dict[Any, Any]) -> str:
    return ", ".join(f"{s} = {v}" for s, v in point.items()) or "every point"


def convex_with_minimum(expression: Any, symbol: Any, at: Any, least: Any, says: str) -> Step:
    """Decide expression ≥ least on (0, ∞): second derivative positive, stationary at ``at``."""
    import sympy

    second = sympy.simplify(sympy.diff(expression, symbol, 2))
    flat = sympy.simplify(sympy.diff(expression, symbol).subs(symbol, at))
    value = sympy.simplify(expression.subs(symbol, at) - least)
    holds = bool(second.is_positive) and flat == 0 and value == 0
    return Step(says, True if holds else None, f"second derivative {second}, stationary at {at}")


def judge(claim: Claim, form: Form, steps: Sequence[Step]) -> Row:
    """Return the row of a proof: SUPPORTED if every step holds, REFUTED if one fails."""
    failed = [step for step in steps if step.holds is False]
    open_ = [step for step in steps if step.holds is None]
    if failed:
        verdict, reason = Verdict.REFUTED, f"{_step(steps, failed[0])} fails: {failed[0].why}"
    elif open_:
        verdict, reason = Verdict.INCONCLUSIVE, f"{_step(steps, open_[0])} is {open_[0].why}"
    else:
        verdict, reason = Verdict.SUPPORTED, ""
    return row_of(
        claim, form, {"key": "proof", "label": "algebra, step by step"}, verdict,
        Evidence.SYMBOLIC, reason, comparisons=len(steps),
        series={"proof": [[step.says, step.holds, step.why] for step in steps]},
    )  # fmt: skip
