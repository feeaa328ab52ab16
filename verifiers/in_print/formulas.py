r"""Right sides as their authors wrote them.

sympy expands and sorts what it is given: (4/3)(p − 1)(2p − 1) becomes (4p/3 − 4/3)(2p − 1), and the
terms of a bound change places. For a page a right side is called once more with sympy's evaluation
switched off, so that its terms stand in the order, and with the factors, of the claim's file.
"""

import re
from typing import Any

import sympy

from driftproof.toolkit.constants import Expression, Letters, expressed, latex
from driftproof.verifiers.claim_types.claim import Claim, Form

GROUPED = re.compile(r"\\frac\{\\left\(([^()]*)\\right\)\}")
"""A numerator in brackets that it does not need."""


def right_sides_of(claim: Claim[Any]) -> list[tuple[Form, Expression]]:
    """Return the forms whose right side is a formula that something is bounded by, with it.

    Those of a bound, or of a comparison that is one. What an identity, a proof or a rate compares
    with is none.

    Raises:
        DriftproofError: a right side returns no formula.
    """
    if not claim.bounds or not claim.judged_on:
        return []
    letters = Letters(claim.notation(claim.judged_on[0]))
    forms = (form for form in claim.forms if form.form != "sibling" and callable(form.right))
    return [(form, expressed(form.right, letters)) for form in forms]


def as_written(claim: Claim[Any]) -> dict[str, str]:
    """Return the LaTeX of each right side of a bound, by its form's key."""
    measured = getattr(claim, "measured", {})
    with sympy.evaluate(False):
        shown = {x: latex(right, measured, order="none") for x, right in unevaluated(claim).items()}
    return {key: GROUPED.sub(r"\\frac{\1}", right) for key, right in shown.items()}


def unevaluated(claim: Claim[Any]) -> dict[str, Any]:
    """Return each right side of a bound as sympy's expression, as it was written, by form."""
    with sympy.evaluate(False):
        return {form.key: _flat(right) for form, right in right_sides_of(claim)}


def _flat(expression: Any) -> Any:
    """Return the same sums and products without brackets that they do not need, zeros and ones."""
    args = [_flat(arg) for arg in expression.args]
    if expression.is_Add or expression.is_Mul:
        neutral = sympy.S.Zero if expression.is_Add else sympy.S.One
        parts = [arg.args if isinstance(arg, expression.func) else (arg,) for arg in args]
        args = [part for members in parts for part in members if part != neutral]
        if expression.is_Mul and -1 in args:  # a sign stands before its term
            signs = args.count(-1)
            args = [sympy.S.NegativeOne] * (signs % 2) + [arg for arg in args if arg != -1]
        if len(args) < 2:
            return args[0] if args else neutral
    return expression.func(*args) if args else expression
