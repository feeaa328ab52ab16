r"""What a rate's schedule asks for: which exponents give the rate, and its price in samples."""

from collections.abc import Mapping
from typing import Any

from driftproof.verifiers.algebra.orders import exponents


def demands(order: Any, horizon: Any, target: Any) -> Mapping[Any, Any]:
    """Return symbol → condition under which every term of an order is O(T^target).

    Each term's exponent may depend on one symbol.

    >>> from sympy import Rational, symbols
    >>> T, a, b = symbols("T a b", positive=True)
    >>> demands(T ** (a - 1) + T**-a + T ** (-b / 2), T, -Rational(1, 2))
    {a: Eq(a, 1/2), b: b >= 1}
    """
    import sympy

    conditions: dict[Any, list[Any]] = {}
    for power in exponents(order, horizon):
        free = sorted(power.free_symbols, key=str)
        if len(free) == 1:
            conditions.setdefault(free[0], []).append(sympy.Le(power, target))
    demanded = {}
    for symbol, bounds in sorted(conditions.items(), key=str):
        plain = sympy.Symbol(symbol.name, real=True)
        solved = [sympy.solveset(b.subs(symbol, plain), plain, sympy.S.Reals) for b in bounds]
        interval = sympy.Intersection(*solved).as_relational(plain)
        demanded[symbol] = _without_infinity(sympy.simplify(interval)).subs(plain, symbol)
    return demanded


def _without_infinity(condition: Any) -> Any:
    import sympy

    parts = [p for p in sympy.And.make_args(condition) if not p.has(sympy.oo)]
    return sympy.And(*parts)


def rate_in_samples(
    letters: Mapping[str, Any], counts: Any, horizon: Any, special: Any, exponent: Any
) -> tuple[Any, Any]:
    """Return the exponent of T in a client's samples, and that of the rate in samples.

    A client draws the sum of its minibatches at each of T steps; the largest one counts.

    >>> from sympy import symbols
    >>> T, a = symbols("T a", positive=True)
    >>> rate_in_samples({"b": T**a}, ("b",), T, {a: 1}, -0.5)
    (2, -1/4)
    """
    import sympy

    largest = sympy.Integer(0)
    for name in counts:
        (power,) = exponents(letters[name], horizon)
        largest = sympy.Max(largest, sympy.sympify(power).subs(special))
    samples = 1 + largest
    return samples, sympy.nsimplify(exponent) / samples
