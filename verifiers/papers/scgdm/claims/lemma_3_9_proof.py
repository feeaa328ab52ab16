r"""The displays of Lemma 3.9's proof, each in the norm that makes it true.

**Kind.** Symbolic, on diagonal 2 × 2 matrices A = a·I and N = ξ n·diag(1, −1), ξ = ±1, and for the
corrected form in general: E(‖A‖ + ‖N‖)² with E‖N‖ = m ≤ σ = (E‖N‖²)^½.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Erratum, literal
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.proof import proof

a, n, lam, one, two, g, big = sympy.symbols("a n lambda L_1 L_2 g G", positive=True)
mean, rest = sympy.symbols("m r", positive=True)


Square: TypeAlias = Callable[[Expression, Expression], Expression]


class Split(NamedTuple):
    """A norm, as its square of diag(x, y), and what (21) makes of two norms."""

    norm: Square
    together: Square


def spectral(x: Expression, y: Expression) -> Expression:
    """Return ‖diag(x, y)‖² for x ≥ |y|: the entries are given in that order."""
    return x**2


def frobenius(x: Expression, y: Expression) -> Expression:
    return x**2 + y**2


def pythagoras(first: Expression, second: Expression) -> Expression:
    """Return ‖A‖² + E‖N‖², from the two norms."""
    return first**2 + second**2


def minkowski(first: Expression, second: Expression) -> Expression:
    """Return (‖A‖ + (E‖N‖²)^½)², from the two norms."""
    return (first + second) ** 2


@proof(
    name="scgdm/lemma-3.9-proof",
    source="Local-SCGDM (2022), proof of Lemma 3.9, (18)–(24)",
    display=True,
    statement=r"\|I\| + \|\lambda\nabla^2\mathcal{L}_i(x)\| \le 1+\lambda L_1,\quad "
    r"\mathbb{E}\|A+N\|^2 \le \|A\|^2+\mathbb{E}\|N\|^2,\; A = I-\lambda\nabla^2\mathcal{L}_i(x),\;"
    r" N = \lambda\nabla^2\mathcal{L}_i(x)-\lambda\nabla^2\mathcal{L}_i(x;\xi)",
    readings={
        "the spectral norm": literal(
            Split(spectral, pythagoras),
            quote="(21) writes ‖·‖ and names no norm: here an operator norm",
        ),
        "the Frobenius norm": literal(
            Split(frobenius, pythagoras),
            quote="(21) writes ‖·‖ and names no norm: here the Frobenius norm",
        ),
    },
    erratum=Erratum(
        "false",
        changes="Replace (21) by Minkowski's inequality. The I in the middle of (23) is a misprint "
        "for x that changes nothing.",
        same_as="scgdm/lemma-3.9",
    ),
    corrected=Split(spectral, minkowski),
    correction=(
        "In the spectral norm, E‖A + N‖² ≤ E(‖A‖ + ‖N‖)² = ‖A‖² + 2‖A‖E‖N‖ + E‖N‖² ≤ (‖A‖ + "
        "(E‖N‖²)^½)², as E‖N‖ ≤ (E‖N‖²)^½; on A = a·I, N = ±n·diag(1, −1) with equality."
    ),
    false_siblings=[
        ("the larger of the two", Split(spectral, lambda x, y: sympy.Max(x, y) ** 2)),
        ("twice the noise", Split(spectral, lambda x, y: x**2 + 2 * y**2)),
    ],
    explain=(
        "(20) is true in the spectral norm and (21) in the Frobenius norm. No norm makes both "
        "true and bounds ‖Av‖ by ‖A‖‖v‖ in two dimensions: with an inner product, ‖I‖ = 1 and the"
        " sign of X = ±diag(1, −1) for which ⟨I, X⟩ ≤ 0, ‖I + tX‖² ≤ 1 + t²‖X‖², but I + tX makes"
        " a unit vector 1 + t long. The I in the middle of (23) is a misprint for x."
    ),
)
def displays(right: Split) -> list[Step]:
    norm, together = right
    identity = norm(sympy.Integer(1), sympy.Integer(1))
    left = norm(a + n, a - n)  # for ξ = 1, and with the entries swapped for ξ = −1
    stated = together(sympy.sqrt(norm(a, a)), sympy.sqrt(norm(n, n)))
    x, y, p, q = sympy.symbols("x y p q", positive=True)
    steps = [
        vanishes(
            (1 - lam * p) - (1 - lam * q) + lam * (p - q),
            r"(18)\; I-\lambda p-I+\lambda q = -\lambda(p-q)",
        ),
        nonnegative(1 - identity, r"(20)\; \|I\| \le 1"),
        nonnegative(
            sympy.expand(stated - left), r"(21)\; \mathbb{E}\|A+N\|^2 \text{ is at most that}"
        ),
        vanishes(
            ((g + n) ** 2 + (g - n) ** 2) / 2 - (g**2 + n**2),
            r"(22)\; \mathbb{E}\|v+\xi w\|^2 = \|v\|^2+\|w\|^2 \text{ for vectors}",
        ),
        vanishes(
            (x - lam * p) - (x - lam * q) + lam * (p - q),
            r"(23)\; x-\lambda p-x+\lambda q = -\lambda(p-q), \text{ with } x \text{ for } I",
        ),
        vanishes(
            (1 - lam * p) * x
            - (1 - lam * q) * y
            - ((1 - lam * p) * (x - y) + ((1 - lam * p) - (1 - lam * q)) * y),
            r"(24)\; \text{the term that is added and taken away}",
        ),
        vanishes(
            (1 + lam * one) * one * (1 + lam * one)
            + lam * big * two
            - ((1 + lam * one) ** 2 * one + lam * big * two),
            r"(24)\; \text{its last line}",
        ),
    ]
    if together is minkowski:
        general = minkowski(a, mean + rest) - (a**2 + 2 * a * mean + (mean + rest) ** 2)
        says = r"(\|A\|+\sigma)^2 \ge \|A\|^2+2\|A\|m+\sigma^2,\; \sigma = m+r,\; r\ge0"
        steps.insert(3, nonnegative(sympy.expand(general), says))
    return steps
