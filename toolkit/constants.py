"""The roles that constants play, and how a statement's letters find their values.

Papers reuse letters (η, γ, L_f …), so a problem declares its constants by *role*, and each
algorithm (or problem) carries its paper's *notation*, letter → role. A claim writes ``c.G_f``; what
it gets is a sympy symbol with the sign of its role (``SIGNS``). The numbers are put in afterwards,
at 30 digits, so that a right side is typeset, compared and evaluated from one expression.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from numbers import Real
from typing import Any, Self, TypeAlias

from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.user_traceback import place_of

Expression: TypeAlias = Any
"""A sympy expression; sympy has no types that mypy could read."""

ROLES: Mapping[str, str] = {
    "inner_gradient_bound": "sup over x and samples of the inner Jacobian's spectral norm",
    "outer_gradient_bound": "sup over y and samples of the outer gradient's norm",
    "inner_gradient_moment": "sup over x of the root mean square of the inner Jacobian's norm",
    "outer_gradient_moment": "sup over y of the root mean square of the outer gradient's norm",
    "inner_smoothness": "Lipschitz constant of the inner Jacobian (spectral norm), per sample",
    "outer_smoothness": "Lipschitz constant of the outer gradient, per sample",
    "inner_mean_smoothness": "Lipschitz constant of each client's expected inner Jacobian",
    "outer_mean_smoothness": "Lipschitz constant of each client's expected outer gradient",
    "inner_gradient_heterogeneity": "sup over x of a client's distance from the mean Jacobian",
    "plain_gradient_heterogeneity": "sup over x of a client's distance from the mean ∇h",
    "objective_smoothness": "Lipschitz constant of the objective's gradient",
    "inner_gradient_noise": "sup over x of the inner Jacobian's standard deviation (Frobenius)",
    "inner_value_noise": "sup over x of the inner value's standard deviation",
    "outer_gradient_noise": "sup over y of the outer gradient's standard deviation",
    "field_smoothness": "Lipschitz constant of each client's (descent-ascent) gradient field",
    "field_gradient_bound": "sup over x and samples of the gradient field's norm",
    "field_gradient_noise": "sup over x of the gradient field's standard deviation",
    "field_noise_bound": "sup over x and samples of a sample's distance from its client's field",
    "field_monotonicity": "modulus of strong monotonicity of each client's gradient field",
    "field_heterogeneity": "sup over x of a client's distance from the mean gradient field",
    "gradient_dissimilarity": "root mean square over clients of a client's gradient at x*",
    "field_dissimilarity": "root mean square over clients of a client's field at (x*, y*)",
    "minima_gap": "inf F less the mean of the clients' own infima",
    "initial_distance": "distance of the start from x*",
    "initial_distance_of_x": "‖x_0 − x*‖, of x alone on two levels",
    "initial_distance_of_both": "‖(x_0, y_0) − (x*, y*)‖, of both levels",
    "diameter": "largest distance between two points of the feasible set",
    "control_weight": "weight of the control variates in what bounds the start",
    "initial_gradient": "norm of the objective's gradient at the start",
    "plain_smoothness": "Lipschitz constant of each client's ∇h (beside the composition)",
    "plain_gradient_bound": "sup over x and samples of the norm of ∇h",
    "plain_gradient_noise": "sup over x of the standard deviation of ∇h",
    "task_smoothness": "Lipschitz constant of each task loss's expected gradient",
    "task_hessian_smoothness": "Lipschitz constant of its expected Hessian (spectral norm)",
    "task_gradient_bound": "sup over x of its expected gradient's norm",
    "task_gradient_noise": "sup over x of its gradient's standard deviation",
    "task_hessian_noise": "sup over x of its Hessian's deviation, root mean square spectral norm",
    "task_hessian_frobenius_noise": "sup over x of its Hessian's standard deviation (Frobenius)",
    "loss_depth": "sup over x of the mean sample loss less the smallest",
    "lower_strong_convexity": "modulus of strong convexity of each expected g_i(x, ·)",
    "lower_smoothness": "Lipschitz constant of each expected ∇g_i, in (x, y)",
    "lower_hessian_smoothness": "Lipschitz constant of expected ∇²_yy g_i, ∇²_xy g_i (Frobenius)",
    "lower_sample_convexity": "least eigenvalue of ∇²_yy g_i over samples, or 0 and below",
    "lower_sample_smoothness": "sup over samples of the spectral norm of ∇²_yy g_i",
    "upper_gradient_bound": "sup over (x, y) of each expected ∇f_i's norm",
    "upper_smoothness": "Lipschitz constant of each expected ∇f_i, in (x, y)",
    "upper_sample_smoothness": "Lipschitz constant in x of ∇_x f_i(·, y; ξ), per sample",
    "upper_gradient_noise": "sup over (x, y) of the standard deviation of ∇f_i",
    "lower_gradient_noise": "sup over (x, y) of the standard deviation of ∇_y g_i",
    "lower_hessian_noise": "sup over (x, y) of the standard deviation of ∇²_yy g_i (Frobenius)",
    "lower_cross_noise": "sup over (x, y) of the standard deviation of ∇²_xy g_i (Frobenius)",
    "upper_noise_bound": "sup over (x, y) and samples of a sample's distance from ∇f_i",
    "lower_noise_bound": "sup over (x, y) and samples of a sample's distance from ∇_y g_i",
    "lower_cross_noise_bound": "sup over (x, y) and samples of the same of ∇²_xy g_i (spectral)",
    "strong_convexity": "modulus of strong convexity of the objective",
    "client_strong_convexity": "modulus of strong convexity of each client's function",
    "strong_concavity": "modulus of strong concavity of the objective in y",
}
"""What each constant of a problem is an upper bound on (a lower bound for the moduli)."""

MODULI = frozenset(
    {
        "strong_convexity",
        "strong_concavity",
        "lower_strong_convexity",
        "lower_sample_convexity",
        "client_strong_convexity",
        "field_monotonicity",
    }
)
"""The roles that are lower bounds: a modulus is wrong if it is too large."""

SIGNED = frozenset({"lower_sample_convexity"})
"""The roles whose numbers may be below 0; all others are sizes, 0 or more."""

RUN_ROLES: Mapping[str, str] = {
    "clients": "number of clients",
    "dim": "dimension",
    "rounds": "number of rounds",
    "steps": "number of local steps in all, rounds × local steps",
    "cohort_size": "number of clients sampled each round",
    "initial_gap": "F at the start minus inf F",
}
"""What a run itself adds."""

SIGNS: Mapping[str, str] = {
    **dict.fromkeys(ROLES, "nonnegative"),
    "lower_sample_convexity": "real",
    **dict.fromkeys(RUN_ROLES, "positive integer"),
    "initial_gap": "nonnegative",
}
"""What the number of each role is known to be. Bounds, smoothness constants and moduli may be 0.

A letter that names a parameter of a problem or an algorithm is what its class requires of it
(``Parameters.required_signs``), and real if it requires nothing: a start may be negative.
"""

Key = tuple[tuple[str, str, str], ...]
"""Letter, role and sign of each letter of a notation."""


class Notation(dict[str, str]):
    """The letters of a case, letter → role, and the signs of its leaves' own parameters."""

    def __init__(self, letters: Mapping[str, str], signs: Mapping[str, str] | None = None) -> None:
        super().__init__(letters)
        self.signs: Mapping[str, str] = dict(signs or {})

    def sign(self, letter: str) -> str:
        """Return what is known of a letter's number."""
        role = self[letter]
        return SIGNS.get(role) or self.signs.get(role, "real")

    @cached_property
    def key(self) -> Key:
        """What two notations have in common that give the same expressions."""
        return tuple(sorted((letter, role, self.sign(letter)) for letter, role in self.items()))

    @classmethod
    def of(cls, key: Key) -> Self:
        """Return a notation with this key."""
        return cls({x: role for x, role, _ in key}, {role: sign for _, role, sign in key})


LATEX: Mapping[str, str] = {
    "F_gap": r"\left(F_0-F^*\right)",
    "Phi_gap": r"\left(\Phi(\bar x^0)-\Phi^*\right)",
    "b1": "b_1",
    "L_Phi": r"L_\Phi",
    "sigma_g0": r"\sigma_g",
    "sigma_g1": r"\sigma_{\nabla g}",
    "lambda_": r"\lambda",
    "sigma_2F": r"\sigma_{2,F}",
    "D_ell": r"D_\ell",
    "ell_g1": r"\ell_{g,1}",
    "ell_g2": r"\ell_{g,2}",
    "ell_f0": r"\ell_{f,0}",
    "ell_f1": r"\ell_{f,1}",
    "sigma_g2": r"\sigma_{g,2}",
    "tau_x": r"\tau_x",
    "ell_fx": r"\ell_{f,1}(\xi)",
    "mu": r"\mu",
    "mu_g": r"\mu_g",
    "sigma_gy": r"\sigma_{g,1}",
}
"""Letters that sympy would not typeset as the papers do."""


EITHER = " or "
"""Stands between the two roles of a letter that the algorithm and the problem both have."""
MEASURED = "measured_"
"""What the names of measured quantities start with, among the symbols of a right side."""


@dataclass
class Letters:
    """The namespace ``c`` of a right side: ``c.eta`` is the symbol η, with the sign of its role.

    >>> c = Letters({"eta": "step_size", "L": "objective_smoothness"})
    >>> c.eta * c.L / 2
    L*eta/2
    >>> c.L.is_nonnegative, c.eta.is_nonnegative
    (True, None)

    Attributes:
        notation: letter → role.
        bare: give symbols of which nothing is known, so that no comparison is decided unseen.
    """

    notation: Mapping[str, str]
    used: dict[str, Any] = field(default_factory=dict)
    bare: bool = False

    def measured(self, name: str) -> Any:
        """Return the symbol of the mean of a quantity that the claim's left side measures too.

        A right side may be affine in such means (a one-step recursion is).
        """
        import sympy

        return sympy.Symbol(MEASURED + name, real=True)

    def __getattr__(self, letter: str) -> Any:
        if letter.startswith("_"):
            raise AttributeError(letter)
        if letter not in self.notation:
            if self.notation:
                nearest = unknown_name("letter", letter, self.notation)
                meant = ", ".join(f"{x} ({role})" for x, role in sorted(self.notation.items()))
                raise DriftproofError(
                    nearest.got,
                    meant,
                    f"{nearest.remedy.rstrip('?')}, or write "
                    f'letters={{"{letter}": "ROLE"}} in the claim (driftproof show roles has all)',
                )
            raise DriftproofError(
                f"unknown letter {letter!r}",
                "a letter of a notation, which neither the problem nor the algorithm has",
                f'write notation = {{"{letter}": "step_size"}} in the algorithm, say, or '
                f'letters={{"{letter}": "step_size"}} in the claim (driftproof show roles)',
            )
        if EITHER in (role := self.notation.get(letter, "")):
            first, second = role.split(EITHER)
            raise DriftproofError(
                f"letter {letter!r}, which is {first} of the algorithm and {second} of the problem",
                "a letter for each",
                f'write letters={{"{letter}": "{second}", "{letter}_0": "{first}"}} in the claim',
            )
        if letter not in self.used:
            import sympy

            notation = (
                self.notation if isinstance(self.notation, Notation) else Notation(self.notation)
            )
            known = {} if self.bare else dict.fromkeys(notation.sign(letter).split(), True)
            self.used[letter] = sympy.Symbol(letter, **known)
        return self.used[letter]


def substituted(expression: Any, values: Mapping[str, Any]) -> Any:
    """Substitute expressions for letters, by name; the letters that stay become positive.

    For statements about all positive values of their letters, as a rate's is about all T.
    """
    import sympy

    expression = _expression(expression)
    given = {
        s: sympy.sympify(values.get(s.name, sympy.Symbol(s.name, positive=True)))
        for s in expression.free_symbols
    }
    return expression.xreplace(given)  # at once, and without the rules of subs, which cost seconds


class LackingConstantError(KeyError):
    """A role that an expression asks for and a case has no number for."""


def evaluate(expression: Any, notation: Mapping[str, str], roles: Mapping[str, float]) -> float:
    """Return the value of a right side, computed at 30 digits and rounded once."""
    import mpmath

    expression = _expression(expression)
    symbols, compiled = _compiled(expression)
    for symbol in symbols:
        if notation[symbol.name] not in roles:
            raise LackingConstantError(notation[symbol.name])
    values = [roles[notation[symbol.name]] for symbol in symbols]
    for symbol, value in zip(symbols, values, strict=True):
        _check_sign(symbol, value, notation[symbol.name])
    with mpmath.workdps(30):
        try:
            number = compiled(*(mpmath.mpf(float(value)) for value in values))
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            number, shown = mpmath.nan, str(error) or "no number (a division by zero)"
        else:
            shown = str(number)
        if isinstance(number, mpmath.mpc) and number.imag == 0:
            number = number.real
        if isinstance(number, mpmath.mpc) or mpmath.isnan(number) or mpmath.isinf(number):
            pairs = zip(symbols, values, strict=True)
            given = ", ".join(f"{symbol} = {value:g}" for symbol, value in pairs)
            raise DriftproofError(
                f"{expression} is {shown} at {given or 'every case'}",
                "a real number on each case",
                "leave out the cases where it is none, or mend the formula",
            )
        return float(number)


def _check_sign(symbol: Any, value: float, role: str) -> None:
    """Raise if a number is not what its letter was taken to be in the algebra."""
    for holds, wanted in (
        (not symbol.is_positive or value > 0, "above 0"),
        (not symbol.is_nonnegative or value >= 0, "0 or more"),
        (not symbol.is_integer or float(value).is_integer(), "whole"),
    ):
        if not holds:
            raise DriftproofError(
                f"{symbol} = {value:g}, the {role}",
                f"a number that is {wanted}",
                f"mend {role} where the problem or the algorithm states it",
            )


@cache
def _compiled(expression: Any) -> tuple[list[Any], Callable[..., Any]]:
    """Return an expression's symbols, and it as a function of mpmath's numbers."""
    import sympy

    symbols = sorted(expression.free_symbols, key=str)
    return symbols, sympy.lambdify(symbols, expression, "mpmath")


def split(expression: Any) -> tuple[Any, dict[str, Any]]:
    """Return the part of a right side without measured means, and each mean's coefficient.

    Raises:
        DriftproofError: it is not affine in them.

    >>> c = Letters({"eta": "step_size"})
    >>> split(c.eta**2 + (1 - c.eta) * c.measured("error"))
    (eta**2, {'error': 1 - eta})
    """
    import sympy

    expression = _expression(expression)
    means = sorted((s for s in expression.free_symbols if s.name.startswith(MEASURED)), key=str)
    if not means:
        return expression, {}
    coefficients = {s.name.removeprefix(MEASURED): sympy.diff(expression, s) for s in means}
    several = any(of.has(*means) for of in coefficients.values())  # unless they cancel: see Poly
    affine = expression.is_polynomial(*means)
    if not affine or (several and sympy.Poly(expression, *means).total_degree() > 1):
        raise DriftproofError(
            f"a right side {expression}",
            "one that is affine in the measured means",
            "multiply c.measured(…) by letters and numbers only",
        )
    return expression.subs(dict.fromkeys(means, 0)), coefficients


def latex(
    expression: Any, measured: Mapping[str, str] | None = None, *, order: str | None = None
) -> str:
    """Return an expression as the papers would print it.

    Args:
        expression: of sympy, in the papers' letters.
        measured: LaTeX of the measured quantities, by name.
        order: of a sum's terms; "none" leaves them where they are.
    """
    import sympy

    expression = _expression(expression)
    names = {s: LATEX[s.name] for s in expression.free_symbols if s.name in LATEX}
    for s in expression.free_symbols:
        if s.name.startswith(MEASURED):
            name = s.name.removeprefix(MEASURED)
            names[s] = (measured or {}).get(name, rf"\mathbb{{E}}[\text{{{name}}}]")
    return str(sympy.latex(expression, symbol_names=names, order=order))


def expressed(right: Callable[[Any], Any], letters: Letters) -> Any:
    """Return a right side as an expression in some letters.

    Raises:
        DriftproofError: it is none; the function is named with its file and line.
    """
    return _expression(stated(right, letters), right)


@lru_cache(maxsize=4096)
def formula_of(right: Callable[[Any], Any], key: Key) -> Any:
    """Return a right side as an expression in the letters of a notation, made once."""
    return expressed(right, Letters(Notation.of(key)))


def stated(text: Callable[[Any], Any], letters: Letters) -> Any:
    """Return what a text says in letters, which is the same whatever numbers they stand for.

    Raises:
        DriftproofError: it asks whether two expressions are equal, which letters never are, or
            says something else when it is called again.
    """
    with _no_equalities():
        first, again = text(letters), text(letters)
    if first != again:
        raise DriftproofError(
            f"{place_of(text)} returned {first}, and {again} when it was called again",
            "the same formula each time",
            "leave out what it counts or draws",
        )
    return first


@contextmanager
def _no_equalities() -> Iterator[None]:
    """Refuse ``==`` of expressions with letters, but for sympy's own.

    sympy answers whether two expressions are written alike: c.eta == 1 is False, and stays False on
    the case whose η is 1.
    """
    import sympy

    kinds = (sympy.Basic, sympy.Expr, sympy.Rational, sympy.Integer, sympy.Float)
    kept = [
        (kind, name, vars(kind)[name])
        for kind in kinds
        for name in ("__eq__", "__ne__")
        if name in vars(kind)
    ]

    def guarded(name: str, compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def compared(self: Any, other: Any) -> Any:
            answer = compare(self, other)
            asks = sys._getframe(1).f_globals.get("__name__", "")
            letters = [x for x in (self, other) if getattr(x, "free_symbols", None)]
            alike = answer is (name == "__eq__")  # so they are equal; a cache asks that
            if letters and not alike and asks.partition(".")[0] != "sympy" and asks != __name__:
                sign = "==" if name == "__eq__" else "!="
                raise DriftproofError(
                    f"{self} {sign} {other}, which is decided before {letters[0]} has a number",
                    "a formula that holds on every case",
                    "in a relation write sympy.Eq(a, b) or sympy.Ne(a, b); in a right side "
                    "sympy.Piecewise, or one form for each case",
                )
            return answer

        return compared

    for kind, name, compare in kept:
        setattr(kind, name, guarded(name, compare))
    try:
        yield
    finally:
        for kind, name, compare in kept:
            setattr(kind, name, compare)


def _expression(value: Any, right: Callable[[Any], Any] | None = None) -> Any:
    """Return what a right side returned as an expression of sympy."""
    import sympy

    if isinstance(value, sympy.Expr | Real) and not isinstance(value, bool):
        return sympy.sympify(value)
    raise DriftproofError(
        f"{'right(c)' if right is None else place_of(right)} returned {value!r}",
        "a number, or an expression in the letters of c",
        "write return before the expression" if value is None else "return 2 * c.L_F, say",
    )
