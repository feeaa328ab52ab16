"""The domain of a step's letters: what it is, in words, and points of it that a step is tried at.

A letter's domain is what its symbol assumes: ``Symbol("x", positive=True)`` stands for every x > 0,
``Symbol("x")`` for every real number. The points go to the ends of it (tiny, huge, negative and 0
where they belong to it), and to both sides of each boundary that |·|, max, min, sign or a case
distinction has.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from driftproof.toolkit.errors import DriftproofError

Point = dict[Any, Any]
NEAR = 10**6
"""A point beside a boundary lies one part in so many from it."""


def domain_in_words(expression: Any, where: Sequence[Any] = ()) -> str:
    """Return the domain of an expression's letters, in words.

    >>> import sympy
    >>> x, n = sympy.Symbol("x"), sympy.Symbol("n", integer=True, positive=True)
    >>> domain_in_words(x + n), domain_in_words(x, [x < 1])
    ('n = 1, 2, …; x real', 'x real; x < 1')
    """
    sets: dict[str, list[str]] = {}
    for symbol in _letters(expression):
        sets.setdefault(_set_of(symbol), []).append(str(symbol))
    parts = [f"{', '.join(names)} {which}" for which, names in sorted(sets.items())]
    return "; ".join([*parts, *map(str, where)])


def _set_of(symbol: Any) -> str:
    """Return a symbol's domain: a range, or else all that the symbol assumes."""
    import sympy

    which, means = _range_of(symbol)
    implied = sympy.Dummy(**means).assumptions0
    assumed = symbol._assumptions_orig  # as they were written: assumptions0 has what follows, too
    if all(implied.get(name) is holds for name, holds in assumed.items()):
        return which
    words = (("" if holds else "not ") + name for name, holds in sorted(assumed.items()))
    return " and ".join(words).replace("_", " ")


def _range_of(symbol: Any) -> tuple[str, dict[str, bool]]:
    """Return a range that a symbol is in, in words, and what these words mean."""
    if symbol.is_integer:
        if symbol.is_positive:
            return "= 1, 2, …", {"integer": True, "positive": True}
        if symbol.is_nonnegative:
            return "= 0, 1, …", {"integer": True, "nonnegative": True}
        return "whole", {"integer": True}
    signs = {"positive": "> 0", "negative": "< 0", "nonnegative": "≥ 0", "nonpositive": "≤ 0"}
    for name, which in signs.items():
        if getattr(symbol, f"is_{name}"):
            return which, {name: True}
    return "real", {"real": True}


def _letters(expression: Any) -> list[Any]:
    symbols = sorted(expression.free_symbols, key=str)
    for symbol in symbols:
        if symbol.is_extended_real is False:
            raise DriftproofError(
                f"a step about {symbol}, which is not real",
                "letters that stand for real numbers",
                "write real and imaginary parts apart",
            )
    return symbols


def points(expression: Any, where: Sequence[Any] = ()) -> Iterator[Point]:
    """Yield points of the domain to try, the plainest first.

    Args:
        where: comparisons that hold on the domain beside the signs of its letters.
    """
    import sympy

    letters = _letters(expression)
    seen = set()
    for point in _candidates(expression, letters, where):
        key = tuple(point[s] for s in letters)
        inside = all(belongs(s, v) for s, v in point.items())
        if key in seen or not inside:
            continue
        seen.add(key)
        if all(condition.subs(point) == sympy.true for condition in where):
            yield point


def belongs(symbol: Any, value: Any) -> bool:
    """Say whether a number may stand for a symbol: it meets all that this assumes.

    Of a value with letters, only what sympy derives from what the letters assume counts.
    """
    assumed = {"real": True} | symbol.assumptions0  # Symbol("x") stands for a real number
    return all(getattr(value, f"is_{name}", None) is holds for name, holds in assumed.items())


def sides(symbol: Any, at: Any) -> tuple[str, ...]:
    """Return the sides, "+" and "-", from which a symbol can tend to a point; none: not known."""
    above, below = symbol.is_extended_nonnegative, symbol.is_extended_nonpositive
    if at.is_infinite:
        outside = (at.is_extended_negative and above) or (at.is_extended_positive and below)
        return () if outside else ("-",) if at.is_extended_positive else ("+",)
    if symbol.is_integer or not at.is_real:
        return ()
    if at.is_zero:
        return ("+",) if above else ("-",) if below else ("+", "-")
    inside = (not above or at.is_positive) and (not below or at.is_negative)
    return ("+", "-") if inside else ()


def _candidates(expression: Any, letters: Sequence[Any], where: Sequence[Any]) -> Iterator[Point]:
    from sympy import Integer, Rational

    bases = [
        {
            s: _whole(s, k + 2) if s.is_integer else scale * Rational(2 * k + 3, k + 2)
            for k, s in enumerate(letters)
        }
        for scale in (Integer(1), Rational(1, 10), Integer(7))
    ]
    yield from bases
    plain = bases[0]
    ends = (Rational(1, 10**9), Integer(10) ** 4, Rational(1, 2000), Integer(1), Integer(0))
    for end in ends:
        yield dict.fromkeys(letters, end)
        for s in letters:
            yield plain | {s: end}
    for size in (1, Rational(1, 10**9), 10**4):  # the same with other signs
        yield {s: -size * v for s, v in plain.items()}
        for s in letters:
            yield plain | {s: -size * plain[s]}
    for boundary in _boundaries([expression, *where]):
        for point in list(bases):
            yield from _beside(boundary, point)


def _whole(symbol: Any, least: int) -> Any:
    """Return a whole number that may stand for a symbol, if one is close to hand."""
    from sympy import Integer

    near = (Integer(v) for v in range(least, least + 10))
    return next((v for v in near if belongs(symbol, v)), Integer(least))


def _boundaries(expressions: Iterable[Any]) -> list[Any]:
    """Return expressions whose zeros part the domain: of |·|, max, min, sign and cases."""
    import sympy
    from sympy.core.relational import Relational

    boundaries: set[Any] = set()
    for expression in expressions:
        for part in sympy.preorder_traversal(expression):
            if isinstance(part, sympy.Abs | sympy.sign | sympy.Heaviside):
                boundaries.add(part.args[0])
            elif isinstance(part, sympy.Max | sympy.Min):
                boundaries |= {a - b for a, b in combinations(part.args, 2)}
            elif isinstance(part, Relational):
                boundaries.add(part.lhs - part.rhs)
    return sorted((b for b in boundaries if b.free_symbols), key=str)


def has_boundaries(expression: Any) -> bool:
    """Say whether an expression is put together of pieces."""
    return bool(_boundaries([expression]))


def _beside(boundary: Any, point: Point) -> Iterator[Point]:
    """Yield points on a boundary and to both sides of it, near and far, one letter moved."""
    from sympy import Poly, PolynomialError, Rational, nsimplify

    for s in sorted(boundary.free_symbols, key=str):
        along = boundary.subs({k: v for k, v in point.items() if k != s})
        try:
            roots = Poly(along, s).real_roots() if s in along.free_symbols else []
        except (PolynomialError, NotImplementedError, ValueError):
            continue  # not a polynomial: the other points have to do
        for root in roots:
            at = root if root.is_rational else nsimplify(root.n(30), rational=True)
            apart = max(abs(at), Rational(1, NEAR)) / NEAR
            for value in (at, at - apart, at + apart, at / 2, 2 * at, at - 1, at + 1):
                yield point | {s: value}
