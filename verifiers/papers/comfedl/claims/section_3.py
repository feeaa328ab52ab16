"""The minibatch estimators, as section 3 writes them in words.

**Kind.** Symbolic: each is an average whose mean is what it estimates, on f(w; ξ) = w² + sξw and
g(y; ζ) = y³ + tζy with signs ξ and ζ, over every minibatch of two.

**Source.** ComFedL, arXiv v3, has the second one right, and the other two alike.

**Finding.** Three misprints: a ∇ too many, a ∇ too few, and f for g. Problem (1) and Algorithm 1,
lines 9 and 12, have all three right. That the preprint has ∇f^i in the second rests on one
character of a converted text; the other two stand in both editions.
"""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.proof import proof

w, y, s, t = sympy.symbols("w y s t", positive=True)
VALUE, GRADIENT, OUTER = "inner value", "outer gradient", "outer function"


class Mean(NamedTuple):
    """What is averaged over a minibatch, to estimate one of ``ESTIMATED``."""

    estimated: str
    sample: Callable[[Expression], Expression]
    """From the sign ξ or ζ to one sample's part."""


def inner(xi: Expression) -> Expression:
    return w**2 + s * xi * w


def outer(zeta: Expression) -> Expression:
    return y**3 + t * zeta * y


def other(zeta: Expression) -> Expression:
    """Return f(y; ζ), which is no outer function."""
    return inner(zeta).subs(w, y)


ESTIMATED = {
    VALUE: (inner(0), r"\mathbb{E}f_{\mathcal{B}}(w) = f(w)"),
    GRADIENT: (
        sympy.diff(outer(0), y),
        r"\mathbb{E}\nabla g_{\tilde{\mathcal{B}}}(y) = \nabla g(y)",
    ),
    OUTER: (outer(0), r"\mathbb{E}_\zeta \text{ of it is } g(y)"),
}


@proof(
    name="comfedl/section-3",
    source="ComFedL, arXiv v1 and v3, section 3, after (11)",
    statement=r"f^i_{\mathcal{B}}(w) = \frac1b\sum_j\nabla f^i(w;\xi_j),\quad "
    r"\nabla g^i_{\tilde{\mathcal{B}}}(y) = \frac1{b_1}\sum_j g^i(y;\zeta_j),\quad "
    r"g^i(y) = \mathbb{E}_\zeta f^i(y;\zeta)",
    edition="ComFedL, arXiv v1 (all three); v3 (the second and third)",
    readings={
        "the value is a mean of gradients": literal(
            Mean(VALUE, lambda xi: sympy.diff(inner(xi), w)), part=VALUE
        ),
        "the value is a mean of values": intended(
            Mean(VALUE, inner),
            part=VALUE,
            quote="Algorithm 1, line 9: “f_B(w) = (1/b) Σ f^i(w; ξ_j)”",
        ),
        "the gradient is a mean of values": literal(Mean(GRADIENT, outer), part=GRADIENT),
        "the gradient is a mean of gradients": intended(
            Mean(GRADIENT, lambda zeta: sympy.diff(outer(zeta), y)),
            part=GRADIENT,
            quote="Algorithm 1, line 12: “∇g_B̃(f_B(w)) = (1/b_1) Σ ∇g^i(f_B(w); ζ_j)”",
        ),
        "the outer function is a mean of f": literal(Mean(OUTER, other), part=OUTER),
        "the outer function is a mean of g": intended(
            Mean(OUTER, outer), part=OUTER, quote="below (1): “g^i(y^i) = E_ζ g^i(y^i; ζ)”"
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="Use the formulas of Algorithm 1. Those of section 3 do not even have the right "
        "dimensions.",
        depends="nothing",
    ),
    false_siblings=[
        ("the sum, undivided, of values", Mean(VALUE, lambda xi: 2 * inner(xi))),
        ("the gradient of the inner map", Mean(GRADIENT, lambda zeta: sympy.diff(other(zeta), y))),
    ],
    explain="Three slips of the pen in a paragraph; the pseudo-code has all three right.",
)
def estimators(right: Mean) -> list[Step]:
    sample = right.sample
    wanted, says = ESTIMATED[right.estimated]
    batches = list(product((-1, 1), repeat=2))
    mean = sum((sample(a) + sample(b)) / 2 for a, b in batches) / len(batches)
    return [vanishes(sympy.expand(mean - wanted), says)]
