r"""The inequality of each class as a referee knows it, for two points i, j of one function.

What stands here is read back, and compared with ``statement.CONDITIONS``, before it is printed.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from driftproof.toolkit.ratios import vanishes
from driftproof.verifiers.worst_case.classes import CURVED, curvatures
from driftproof.verifiers.worst_case.on_paper.latex import Printer
from driftproof.verifiers.worst_case.statement import ONE

X, G = "x_j-x_i", "g_j-g_i"
LINEAR = [(ONE, "f_j"), (-ONE, "f_i"), (-ONE, f"\\langle g_j,{X}\\rangle")]
"""What makes f convex: its tangent plane at j lies below it at i."""


class Form(NamedTuple):
    """An inequality; ``text`` ≤ 0, of which ``scale`` times is what the certificate counts."""

    text: str
    scale: Any = ONE


def whole(kind: str, constants: Sequence[Any], printer: Printer, *, weaker: bool = False) -> Form:
    """Return the inequality of a class as the certificate has it, or without its last square."""
    if kind not in CURVED:
        return Form(_OTHERS[kind](printer, *constants))
    mu, L = curvatures(kind, constants)
    apart = printer.sum([(ONE, "g_j"), (-ONE, "g_i"), (-mu, f"({X})")])
    last = (1 / (2 * (L - mu)), f"\\|{apart}\\|^2")
    return Form(printer.sum([*LINEAR, (mu / 2, f"\\|{X}\\|^2"), *[last] * (not weaker)]))


def both_ways(kind: str, constants: Sequence[Any], printer: Printer) -> Form | None:
    """Return the sum of the inequality for (i, j) and (j, i), which has no values."""
    if kind == "convex":
        return Form(f"-\\langle {G},{X}\\rangle")
    if kind == "strongly-convex":
        return Form(_OTHERS["strongly-monotone"](printer, *constants))
    if kind not in CURVED:
        return None
    mu, L = curvatures(kind, constants)
    return Form(_between(printer, L, mu), 1 / (L - mu))


def _between(printer: Printer, L: Any, mu: Any) -> str:
    sides = [printer.sum([(ONE, "g_j"), (-ONE, "g_i"), (-c, f"({X})")]) for c in (mu, L)]
    return f"\\langle {sides[0]},{sides[1]}\\rangle"


_OTHERS: dict[str, Callable[..., str]] = {
    "convex": lambda printer: printer.sum(LINEAR),
    "strongly-convex": lambda printer, mu: printer.sum([*LINEAR, (mu / 2, f"\\|{X}\\|^2")]),
    "normal-cone": lambda printer: "\\langle g_j,x_i-x_j\\rangle",
    "diameter": lambda printer, D: printer.sum([(ONE, f"\\|{X}\\|^2"), (-D * D, "")]),
    "bounded-gradients": lambda printer, C: printer.sum([(ONE, "\\|g_i\\|^2"), (-C * C, "")]),
    "strongly-monotone": lambda printer, mu: printer.sum(
        [(mu, f"\\|{X}\\|^2"), (-ONE, f"\\langle {G},{X}\\rangle")]
    ),
    "lipschitz": lambda printer, L: printer.sum([(ONE, f"\\|{G}\\|^2"), (-L * L, f"\\|{X}\\|^2")]),
    "cocoercive": lambda printer, L, mu: _between(printer, L, mu),
}


def words(
    kind: str, constants: Sequence[Any], number: Callable[[Any], str], *, operator: bool
) -> str:
    """Return what a function of a class is; ``number`` writes its constants."""
    if kind == "smooth-strongly-convex" and vanishes(constants[1]):
        kind, constants = "smooth-convex", constants[:1]
    if kind == "strongly-monotone" and vanishes(constants[0]):
        return "monotone"
    numbers = [f"${number(c)}$" for c in constants]
    if kind == "smooth-strongly-convex":
        return f"{numbers[1]}-strongly convex and {numbers[0]}-smooth"
    if kind == "cocoercive":
        L, mu = constants
        field = "" if vanishes(mu) else f" plus {numbers[1]} times the identity"
        return f"${number(1 / (L - mu))}$-cocoercive{field}"
    what = "value" if operator else "gradient"
    said = {
        "smooth-convex": "convex and {}-smooth",
        "smooth": "{}-smooth",
        "convex": "convex",
        "strongly-convex": "{}-strongly convex",
        "lipschitz": "{}-Lipschitz",
        "strongly-monotone": "{}-strongly monotone",
        "bounded-gradients": f"such that no {what} is longer than {{}}",
        "normal-cone": "the indicator of a convex set",
        "diameter": "of a set of diameter at most {}",
    }
    return said[kind].format(*numbers)
