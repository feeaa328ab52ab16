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
    if sympy.simplify(sympy.expand_log(expression, force=True)) == 0:
        return Step(says, True, "simplifies to 0")
    symbols = sorted(expression.free_symbols, key=str)
    point = {s: sympy.Rational(2 * k + 3, k + 2) for k, s in enumerate(symbols)}
    value = sympy.N(expression.subs(point), 50)
    if abs(value) > sympy.Float("1e-30"):
        where = ", ".join(f"{s} = {v}" for s, v in point.items())
        return Step(says, False, f"at {where} it is {sympy.N(value, 8)}, not 0")
    return Step(says, None, "neither simplified to 0 nor found different from 0")


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
        verdict, reason = Verdict.REFUTED, f"{failed[0].says}: {failed[0].why}"
    elif open_:
        verdict, reason = Verdict.INCONCLUSIVE, f"not decided: {open_[0].says}"
    else:
        verdict, reason = Verdict.SUPPORTED, ""
    return row_of(
        claim, form, {"key": "proof", "label": "proof, for all values"}, verdict,
        Evidence.SYMBOLIC, reason, comparisons=len(steps),
        series={"proof": [[step.says, step.holds, step.why] for step in steps]},
    )  # fmt: skip
