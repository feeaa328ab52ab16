"""Judges identities by algebra: a proof is a list of steps, each decided by sympy on its domain.

The domain of a step is what its symbols assume, and it is written beside the step. Points never
decide that a step holds: they can only refute it. A step that somebody wrote down instead of
computing it is *argued*: it is shown as such, and no verdict rests on such steps alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.rationals import decimal
from driftproof.verifiers.algebra import conditioned, domains
from driftproof.verifiers.algebra.fractions import is_zero_fraction

FINEST = 10**12
"""The largest denominator of a fraction that a double is taken for: 0.1 is 1/10."""


@dataclass(frozen=True)
class Step:
    """One step of a proof; ``vanishes``, ``nonnegative``, ``computed`` or ``argued`` makes it.

    Attributes:
        says: what the step states, in LaTeX.
        holds: True or False where that is decided, None where it is not.
        why: the computation that decided, or a witness, or the argument.
        computed: whether a computation decided. A step that is built without saying so is argued.
    """

    says: str
    holds: bool | None
    why: str = ""
    computed: bool = False


def argued(says: str, why: str, *, holds: bool = True) -> Step:
    """Return a step that rests on an argument in words: nothing computes it."""
    return Step(says, holds, why)


def computed(says: str, holds: bool | None, why: str) -> Step:
    """Return a step that a computation of the claim's own decided.

    Args:
        holds: what the computation gave, never a literal.
        why: the computation, with its numbers.
    """
    return Step(says, None if holds is None else bool(holds), why, computed=True)


def _exact(expression: Any) -> Any:
    """Return what a step is about as an expression of exact numbers.

    Raises:
        DriftproofError: it is no expression, or has numbers that were rounded.
    """
    import sympy

    expression = sympy.sympify(expression)
    if not isinstance(expression, sympy.Expr | sympy.MatrixBase | sympy.MatrixExpr):
        raise DriftproofError(
            f"a step of a proof about {expression}",
            "an expression",
            "of an equation pass left - right to vanishes, of an inequality the difference to "
            "nonnegative",
        )
    numbers = {x: decimal(float(x)) for x in expression.atoms(sympy.Float)}
    rounded = [x for x, of in numbers.items() if of.denominator > FINEST]
    if rounded:
        raise DriftproofError(
            f"a step of a proof with the floating-point number {rounded[0]}",
            "exact numbers: 0.1 + 0.2 - 0.3 is not 0 in doubles",
            "write sympy.Rational(1, 10) for 0.1",
        )
    return expression.xreplace({x: sympy.Rational(of) for x, of in numbers.items()})


def vanishes(expression: Any, says: str, where: Sequence[Any] = ()) -> Step:
    """Decide whether an expression is 0 on the domain of its letters: by algebra, or a witness.

    A fraction whose numerator expands to 0 supports. A point of the domain where it is not 0
    refutes. Simplification to 0 supports, by rules that are valid for the signs of the symbols.

    Args:
        where: comparisons that hold on the domain beside the signs of its letters.
    """
    import sympy

    expression = _exact(expression)
    if not expression.is_commutative:
        return _without_commuting(expression, says, where)
    zero = is_zero_fraction(expression)
    if not zero:  # points cost less than to simplify in vain
        for point, value in _values(expression, where):
            if value != 0:
                detail = f"at {_where(point)} the sides differ by {_shown(value)}"
                return computed(says, False, detail)
    if zero or sympy.simplify(sympy.expand_log(expression)) == 0:
        return computed(says, True, f"simplifies to 0{_for_all(expression, where)}")
    return computed(says, None, "open: neither simplified to 0 nor found different from 0")


def _without_commuting(expression: Any, says: str, where: Sequence[Any]) -> Step:
    """Decide whether a polynomial in letters that do not commute is 0: all products expanded.

    One with a coefficient that is not 0 differs from 0 for some matrices in the letters' place.
    """
    import sympy

    left = sympy.expand(expression)
    coefficients: dict[Any, Any] = {}
    for term in sympy.Add.make_args(left):
        numbers, matrices = term.args_cnc()
        product = sympy.Mul(*matrices)
        coefficients[product] = coefficients.get(product, 0) + sympy.Mul(*numbers)
    decided = {product: vanishes(c, says, where) for product, c in coefficients.items()}
    if all(step.holds for step in decided.values()):
        return computed(says, True, "expands to 0, for matrices")
    letters = [s for s in left.free_symbols if not s.is_commutative]
    if not left.is_polynomial(*letters):
        return computed(says, None, "open: not a polynomial in letters that do not commute")
    if any(step.holds is False for step in decided.values()):
        return computed(says, False, f"for matrices the sides differ by {left}")
    unknown = next(product for product, step in decided.items() if step.holds is None)
    detail = f"open: the coefficient of {unknown} was not decided to be 0 or different from 0"
    return computed(says, None, detail)


def differs(expression: Any, says: str) -> Step:
    """Decide whether an expression is other than 0 somewhere on the domain of its letters."""
    same = vanishes(expression, says)
    return computed(says, None if same.holds is None else not same.holds, same.why)


def nonnegative(expression: Any, says: str, where: Sequence[Any] = ()) -> Step:
    """Decide expression ≥ 0 on the domain of its letters: by signs of its factors, or a witness.

    Args:
        where: comparisons that hold on the domain beside the signs of its letters.
    """
    import sympy

    expression = _exact(expression)
    refuted = _below_zero(expression, says, where)
    if refuted is not None:
        return refuted
    for rewritten in (lambda e: e, sympy.simplify, sympy.factor):
        form = rewritten(expression)
        if form.is_nonnegative:
            detail = f"{form} is a sum or product of non-negative terms"
            return computed(says, True, f"{detail}{_for_all(expression, where)}")
    return computed(says, None, "open: no sign was found, and no point where it is negative")


def _below_zero(expression: Any, says: str, where: Sequence[Any] = ()) -> Step | None:
    for point, value in _values(expression, where):
        if not value.imag and value.real < 0:
            return computed(says, False, f"at {_where(point)} it is {_shown(value)}, below 0")
    return None


def finite_limit(expression: Any, symbol: Any, at: Any, says: str, what: str) -> Step:
    """Decide whether an expression stays bounded as a letter tends to a point: by its limits.

    They are taken from both sides, or from the one side that the letter's sign allows.

    Args:
        what: what the expression is, in words.
    """
    import sympy

    expression, at = _exact(expression), _exact(at)
    sides = domains.sides(symbol, at)
    if not sides:
        detail = f"open: it is not known that {symbol} can tend to {at} within its domain"
        return computed(says, None, detail)
    try:
        limits = [sympy.limit(expression, symbol, at, side) for side in sides]
    except NotImplementedError as error:  # sympy's: it would have to know a sign
        return computed(says, None, f"open: the limit as {symbol} → {at} is not known ({error})")
    signs = ["⁺" if side == "+" else "⁻" for side in sides] if len(sides) > 1 else [""]
    goal = {sympy.oo: "∞", -sympy.oo: "−∞"}.get(at, at)
    detail = " and ".join(
        f"to {limit} as {symbol} → {goal}{sign}" for limit, sign in zip(limits, signs, strict=True)
    )
    finite = [limit.is_finite for limit in limits]
    holds = False if False in finite else True if all(finite) else None
    opened = "open: it is not known whether that is finite; " if holds is None else ""
    return computed(says, holds, f"{opened}{what} tends {detail}")


def convex_with_minimum(expression: Any, symbol: Any, at: Any, least: Any, says: str) -> Step:
    """Decide expression ≥ least on the symbol's domain: convex there, and stationary at ``at``.

    The point ``at`` has to belong to the domain: outside it the expression need not be convex.
    Of an expression in pieces this is left open: a second derivative says nothing of a jump.
    """
    import sympy

    expression, at, least = map(_exact, (expression, at, least))
    refuted = _below_zero(expression - least, says)
    if refuted is not None:
        return refuted
    if domains.has_boundaries(expression):
        return computed(says, None, "open: it is put together of pieces")
    if symbol.is_nonzero and not (symbol.is_positive or symbol.is_negative):
        return computed(
            says, None, f"open: the domain of {symbol} is not connected, as 0 is no part"
        )
    if not domains.belongs(symbol, at):
        detail = f"open: it is not known that {at} belongs to the domain of {symbol}"
        return computed(says, None, detail)
    second = sympy.simplify(sympy.diff(expression, symbol, 2))
    flat = sympy.simplify(sympy.diff(expression, symbol).subs(symbol, at))
    value = sympy.simplify(expression.subs(symbol, at) - least)
    holds = bool(second.is_positive) and flat == 0 and value == 0
    detail = f"second derivative {second}, stationary at {at}{_for_all(expression)}"
    return computed(says, True if holds else None, detail)


def _values(expression: Any, where: Sequence[Any]) -> Iterator[tuple[domains.Point, Any]]:
    """Yield points of the domain and an expression's values there, where it has any."""
    for point in domains.points(expression, where):
        value = conditioned.value(expression, point)
        if value is not None:
            yield point, value


def _for_all(expression: Any, where: Sequence[Any] = ()) -> str:
    domain = domains.domain_in_words(expression, where)
    return f", for all {domain}" if domain else ""


def _shown(value: Any) -> str:
    import mpmath

    return str(mpmath.nstr(value, 8))


def _where(point: domains.Point) -> str:
    return ", ".join(f"{s} = {v}" for s, v in point.items()) or "every point"
