r"""Right sides as their authors wrote them, and formulas that fit a column.

sympy expands and sorts what it is given: (4/3)(p − 1)(2p − 1) becomes (4p/3 − 4/3)(2p − 1), and the
terms of a bound change places. For a page a right side is called once more with sympy's evaluation
switched off, so that its terms stand in the order, and with the factors, of the claim's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import sympy

from driftproof.toolkit.constants import Expression, Letters, expressed, latex
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form

COLUMN = 72
"""The letters that a line of the site has room for, operators and their room included."""
BREAK = re.compile(r"\+|\\quad|(?<=;)\\;|\\equiv(?![A-Za-z])")
"""Where a formula may be broken: before a sum's next term, and between statements."""
GROUPED = re.compile(r"\\frac\{\\left\(([^()]*)\\right\)\}")
"""A numerator in brackets that it does not need."""
UNSEEN = re.compile(
    r"\\(?:left|right|big|Big|bigg|Bigg|mathbb|mathcal|mathrm|text|bar|tilde|hat|begin|end|[,;:!])"
    r"(?![A-Za-z])|[{}_^&\s]"
)


def right_sides_of(claim: Claim[Any]) -> list[tuple[Form, Expression]]:
    """Return the forms whose right side is a formula that something is bounded by, with it.

    Those of a bound, or of a comparison that is one. What an identity, a proof or a rate compares
    with is none.

    Raises:
        DriftproofError: a right side returns no formula.
    """
    if not (isinstance(claim, BoundClaim) or claim.kind == "bound") or not claim.judged_on:
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


def fitting(formula: str, column: int = COLUMN) -> str:
    r"""Return a formula on as many lines as it needs.

    >>> fitting(r"x \le a + b", 3)
    '\\begin{split}&x \\le a \\\\\n&\\quad + b\\end{split}'
    >>> fitting(r"x \le a + b")
    'x \\le a + b'
    """
    if width(formula) <= column:
        return formula
    lines = [""]
    for piece in _pieces(formula):
        if lines[-1] and width(lines[-1] + piece) > column:
            piece = re.sub(r"^\\(?:quad|;)\s*", "", piece)
            lines.append("")
        lines[-1] += piece
    if len(lines) == 1:
        return formula
    return r"\begin{split}&" + "\\\\\n&\\quad ".join(lines) + r"\end{split}"


def width(formula: str) -> int:
    r"""Return about how many letters wide a formula is: of a fraction its wider part.

    >>> width(r"\frac{a+b}{c}"), width(r"\alpha_1 \le \left(x\right)")
    (3, 6)
    """
    wider = re.compile(r"\\[dt]?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))")
    inner = re.compile(r"(?<!frac)(?<!\})\{([^{}]*)\}")
    before = ""
    while before != formula:
        before = formula
        formula = wider.sub(
            lambda m: max(m[1] or m[2] or "", m[3] or m[4] or "", key=lambda x: len(_seen(x))),
            formula,
        )
        if formula == before:
            formula = inner.sub(r"\1", formula, count=1)
    return len(_seen(formula))


def _seen(formula: str) -> str:
    return re.sub(r"\\[A-Za-z]+|\\.", "x", UNSEEN.sub("", formula))


def _pieces(formula: str) -> Iterator[str]:
    """Yield a formula in parts, each of which may begin a line."""
    start = depth = 0
    breaks = {match.start() for match in BREAK.finditer(formula)}
    for place, letter in enumerate(formula):
        depth += (letter in "{(") - (letter in "})")
        if place in breaks and depth == 0 and formula[start:place].strip():
            yield formula[start:place]
            start = place
    yield formula[start:]
