"""Normal forms of fractions of polynomials, by FLINT: a hundred times faster than to simplify."""

from typing import Any

from flint import Ordering, fmpq_mpoly_ctx


def is_zero_fraction(expression: Any) -> bool:
    """Say whether an expression is 0 as a fraction of polynomials in its parts, seen as letters.

    What is no sum, product or power is a letter of its own, and so is x^a for a letter a, or √x.
    So a fraction that is 0 is 0 wherever it has a value; of another one nothing is said.

    >>> from sympy import Symbol, sqrt, symbols
    >>> x, a = symbols("x a")
    >>> is_zero_fraction(x ** (2 * a + 1) - x * (x**a) ** 2), is_zero_fraction(sqrt(x**2) - x)
    (True, False)
    """
    letters: dict[Any, int] = {}
    try:
        _parts(expression, letters)
        ctx = fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(letters))], Ordering.lex)
        numerator, _ = _fraction(expression, {x: ctx.gen(k) for x, k in letters.items()}, ctx)
    except (ValueError, ZeroDivisionError):
        return False  # numbers that are not exact, or no value at all
    return bool(numerator == 0)


def _factors(power: Any) -> list[tuple[Any, int]]:
    """Return letters, and the integers that they are raised to, whose product is a power.

    x^(a + b) = x^a x^b and x^(pa/q) = (x^(a/q))^p wherever these have values.
    """
    base, exponent = power.as_base_exp()
    found = []
    for term in exponent.expand().as_ordered_terms():
        number, rest = term.as_coeff_Mul(rational=True)
        letter = base if rest == 1 and number.q == 1 else (base, rest / number.q)
        found.append((letter, int(number.p)))
    return found


def _parts(expression: Any, letters: dict[Any, int]) -> None:
    """Number the letters of an expression."""
    if expression.is_Add or expression.is_Mul:
        for part in expression.args:
            _parts(part, letters)
    elif expression.is_Pow or (expression.is_Function and expression.func.__name__ == "exp"):
        for letter, _ in _factors(expression):
            if isinstance(letter, tuple):
                letters.setdefault(letter, len(letters))
            else:
                _parts(letter, letters)
    elif not expression.is_Rational:
        if expression.is_Float or not expression.is_commutative or expression.is_finite is False:
            raise ValueError(expression)
        letters.setdefault(expression, len(letters))


def _fraction(expression: Any, letters: dict[Any, Any], ctx: Any) -> tuple[Any, Any]:
    """Return an expression's numerator and denominator, without common factors."""
    numerator, denominator = ctx.constant(1), ctx.constant(1)
    if expression.is_Rational:
        return ctx.constant(int(expression.p)), ctx.constant(int(expression.q))
    if expression in letters:
        return letters[expression], denominator
    if expression.is_Add:
        numerator = ctx.constant(0)
        for part in expression.args:
            above, below = _fraction(part, letters, ctx)
            shared = denominator.gcd(below)
            numerator = numerator * (below / shared) + above * (denominator / shared)
            denominator *= below / shared
        return numerator, denominator
    factors = [(part, 1) for part in expression.args] if expression.is_Mul else _factors(expression)
    for part, power in factors:
        known = part in letters
        above, below = (letters[part], ctx.constant(1)) if known else _fraction(part, letters, ctx)
        if power < 0:
            above, below = below, above
        if below == 0:
            raise ZeroDivisionError(expression)
        numerator, denominator = numerator * above ** abs(power), denominator * below ** abs(power)
    shared = numerator.gcd(denominator)
    return numerator / shared, denominator / shared
