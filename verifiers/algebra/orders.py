r"""Orders of growth: an expression in the horizon, its exponent and its power of log T."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError


@dataclass(frozen=True, order=True)
class Order:
    """T^exponent (log T)^logs: orders compare as the functions do for large T."""

    exponent: float
    logs: float = 0.0

    def __call__(self, horizons: np.ndarray) -> np.ndarray:
        """Return T^exponent (log T)^logs."""
        values: np.ndarray = horizons**self.exponent * np.log(horizons) ** self.logs
        return values

    def __str__(self) -> str:
        logs = f" (log T)^{self.logs:g}" if self.logs else ""
        return f"T^{self.exponent:g}{logs}"


def leading(expression: Any, horizon: Any) -> Order:
    """Return the largest term of a sum of powers of T and log T.

    >>> from sympy import log, sqrt, symbols
    >>> T = symbols("T", positive=True)
    >>> leading(1 / T + 3 * sqrt(log(T) / T), T)
    Order(exponent=-0.5, logs=0.5)
    """
    import sympy

    return max(_term(x, horizon) for x in sympy.Add.make_args(sympy.expand(expression)))


def _term(term: Any, horizon: Any) -> Order:
    import sympy

    log, powers = sympy.log(horizon), {"exponent": 0.0, "logs": 0.0}
    spread = sympy.powsimp(sympy.expand_power_base(sympy.powdenest(term, force=True), force=True))
    for factor in sympy.Mul.make_args(spread):
        base, power = factor.as_base_exp()
        which = {horizon: "exponent", log: "logs"}.get(base)
        if which is not None and power.is_number:
            powers[which] += float(power)
        elif factor.has(horizon):
            raise DriftproofError(
                f"the order's term {plain(term)}",
                f"powers of {horizon} and of log {horizon}",
                "write a sum of terms such as T**Rational(-1, 2) * log(T)",
            )
    return Order(**powers)


def exponents(expression: Any, horizon: Any) -> dict[Any, Any]:
    """Return exponent of T → coefficient, for a sum of powers of T."""
    import sympy

    by_power: dict[Any, Any] = {}
    for term in sympy.Add.make_args(sympy.expand(expression)):
        rest, grown = term.as_independent(horizon, as_Add=False)
        base, power = grown.as_base_exp()
        if base != horizon and grown != 1:  # roots of products, say
            log = sympy.expand_log(sympy.log(term), force=True)
            power = sympy.diff(log, horizon) * horizon
            rest = term / horizon ** sympy.simplify(power)
        power = sympy.simplify(power) if grown != 1 else sympy.Integer(0)
        if power.has(horizon):
            raise ValueError(f"{term} is not a power of {horizon}")
        rest = sympy.simplify(sympy.powsimp(rest, force=True))
        by_power[power] = by_power.get(power, 0) + rest
    return by_power


def in_letters(letters: Mapping[str, Any], expression: Any) -> Any:
    """Put a schedule's letters into an expression."""
    import sympy

    parsed = sympy.sympify(expression)
    named = {sympy.Symbol(name, positive=True): value for name, value in letters.items()}
    return parsed.subs({s: value for s, value in named.items() if s in parsed.free_symbols})


def plain(expression: Any) -> str:
    """Return an expression for a sentence."""
    return str(expression).replace("**", "^").replace("*", "·")
