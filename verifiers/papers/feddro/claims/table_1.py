"""Table 1: batch sizes and convergence of other methods.

**Kind.** Complexity, by algebra: the table's ε is on the square (Definition 3.6); what the cited
texts state is converted to it.

**Sources.** ComFedL: Remark 1 in its corrected form, T steps with minibatch T for O(T^{−1/2}).
Local-SCGDM: Remark 3.7, ε on the norm. FedNest: the slides, samples ε⁻² with ε on the square.
FedDRO: Corollary 5.3, samples a client. GCIVR's paper is not among the five, so its row is
undecided; the table itself says that its guarantee is for finite sums only.
"""

from collections.abc import Callable
from typing import NamedTuple

from sympy import Rational, solve, symbols

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import literal
from driftproof.verifiers.algebra.symbolic import Step, computed, vanishes
from driftproof.verifiers.claim_types.proof import proof

T, epsilon, K = symbols("T epsilon K", positive=True)


class Row(NamedTuple):
    """A row of the table: powers of ε, and the steps that find them in a method's own text."""

    steps: Callable[[int, int], list[Step]]
    """Of the powers of ε of the minibatch and of the samples."""
    batch: int
    samples: int


def exponent(expression: Expression) -> Expression:
    """Return the power of ε in an expression."""
    return (epsilon * expression.diff(epsilon) / expression).simplify()


def comfedl(batch: int, samples: int) -> list[Step]:
    (steps,) = solve(T ** Rational(-1, 2) - epsilon, T)
    return [
        vanishes(exponent(steps) - batch, r"b = T = \epsilon^{-2}"),
        vanishes(exponent(steps * steps) - samples, r"bT = \epsilon^{-4} \text{ samples}"),
    ]


def local_scgdm(batch: int, samples: int) -> list[Step]:
    on_the_norm = epsilon**-4  # Remark 3.7 of Local-SCGDM (2022)
    on_the_square = on_the_norm.subs(epsilon, epsilon ** Rational(1, 2))
    return [
        vanishes(batch, r"b = O(1)"),
        vanishes(
            exponent(on_the_square) - samples,
            r"T = O(\epsilon^{-4}) \text{ on the norm is } \epsilon^{-2} \text{ on its square}",
        ),
    ]


def fednest(batch: int, samples: int) -> list[Step]:
    (steps,) = solve(T ** Rational(-1, 2) - epsilon, T)
    return [
        vanishes(batch, r"b = O(1)"),
        vanishes(exponent(steps) - samples, r"(1/K)\Sigma\,E\|\nabla f\|^2 = O(K^{-1/2})"),
    ]


def feddro(batch: int, samples: int) -> list[Step]:
    (steps,) = solve((K * T) ** Rational(-1, 2) - epsilon, T)
    return [
        vanishes(batch, r"b = O(1)"),
        vanishes(exponent(steps) - samples, r"T = K^{-1}\epsilon^{-2} \text{ samples a client}"),
        vanishes(steps * K - epsilon**-2, r"KT = \epsilon^{-2} \text{ in all}"),
    ]


def gcivr(batch: int, samples: int) -> list[Step]:
    return [
        computed(
            r"\min\{\sqrt m\,\epsilon^{-1},\epsilon^{-3/2}\}",
            None,
            "open. To decide it: the complexity that its paper states (arXiv 2203.09607)",
        )
    ]


@proof(
    name="feddro/table-1",
    kind="complexity",
    source="FedDRO (2023), Table 1",
    statement=r"\text{ComFedL: } \mathcal O(\epsilon^{-2}), \mathcal O(\epsilon^{-4});\; "
    r"\text{Local-SCGDM, FedNest: } \mathcal O(1), \mathcal O(\epsilon^{-2});\; "
    r"\text{GCIVR: } \sqrt m, m, \mathcal O(\min\{\sqrt m\,\epsilon^{-1},\epsilon^{-1.5}\});\; "
    r"\text{FedDRO: } \mathcal O(1), \mathcal O(K^{-1}\epsilon^{-2})",
    readings={
        "ComFedL, as its text states it": literal(Row(comfedl, -2, -4), part="ComFedL"),
        "Local-SCGDM, as its text states it": literal(Row(local_scgdm, 0, -2), part="Local-SCGDM"),
        "FedNest, as its text states it": literal(Row(fednest, 0, -2), part="FedNest"),
        "FedDRO, as its text states it": literal(Row(feddro, 0, -2), part="FedDRO"),
        "GCIVR, as its text states it": literal(Row(gcivr, 0, 0), part="GCIVR"),
    },
    false_siblings=[
        ("Local-SCGDM, ε on the norm", Row(local_scgdm, 0, -4)),
        ("ComFedL with one sample a step", Row(comfedl, 0, -2)),
    ],
    explain=(
        "This checks citations: that the table repeats what the cited texts state, once ε is on "
        "the square of the norm (of ComFedL, its remark with b = T). It does not say that what "
        "they state is true; their own claims do. GCIVR's text is not among the five papers."
    ),
)
def table(row: Row) -> list[Step]:
    return row.steps(row.batch, row.samples)
