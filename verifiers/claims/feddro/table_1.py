r"""Table 1: batch sizes and convergence of other methods.

**Statement.** ComFedL: batch O(ε⁻²), convergence O(ε⁻⁴). Local-SCGDM: O(1), O(ε⁻²). FedNest: O(1),
O(ε⁻²). GCIVR: √m (inner), m (outer), O(min{√m ε⁻¹, ε^{−1.5}}). FedDRO: O(1), O(K⁻¹ε⁻²).

**Kind.** Complexity, by algebra: the table's ε is on the square (Definition 3.6); what the cited
texts state is converted to it.

**Sources.** ComFedL: Remark 1 of 000/001 in its corrected form, T steps with minibatch T for
O(T^{−1/2}). Local-SCGDM: Remark 3.7 of 003, ε on the norm. FedNest: 002, samples ε⁻² with ε on the
square. FedDRO: Corollary 5.3, samples a client. GCIVR's paper is not among the five, so its row is
undecided; the table itself says that its guarantee is for finite sums only.
"""

from typing import Any

from sympy import Rational, solve, symbols

from toolkit.readings import literal
from verifiers.claim_types.proof import proof
from verifiers.symbolic import Step, computed, vanishes

T, epsilon, K = symbols("T epsilon K", positive=True)


def exponent(expression):
    """Return the power of ε in an expression."""
    return (epsilon * expression.diff(epsilon) / expression).simplify()


def comfedl(batch, samples):
    (steps,) = solve(T ** Rational(-1, 2) - epsilon, T)
    return [
        vanishes(exponent(steps) - batch, r"b = T = \epsilon^{-2}"),
        vanishes(exponent(steps * steps) - samples, r"bT = \epsilon^{-4} \text{ samples}"),
    ]


def local_scgdm(batch, samples):
    on_the_norm = epsilon**-4  # Remark 3.7 of 003
    on_the_square = on_the_norm.subs(epsilon, epsilon ** Rational(1, 2))
    return [
        vanishes(batch, r"b = O(1)"),
        vanishes(
            exponent(on_the_square) - samples,
            r"T = O(\epsilon^{-4}) \text{ on the norm is } \epsilon^{-2} \text{ on its square}",
        ),
    ]


def fednest(batch, samples):
    (steps,) = solve(T ** Rational(-1, 2) - epsilon, T)
    return [
        vanishes(batch, r"b = O(1)"),
        vanishes(exponent(steps) - samples, r"(1/K)\Sigma\,E\|\nabla f\|^2 = O(K^{-1/2})"),
    ]


def feddro(batch, samples):
    (steps,) = solve((K * T) ** Rational(-1, 2) - epsilon, T)
    return [
        vanishes(batch, r"b = O(1)"),
        vanishes(exponent(steps) - samples, r"T = K^{-1}\epsilon^{-2} \text{ samples a client}"),
        vanishes(steps * K - epsilon**-2, r"KT = \epsilon^{-2} \text{ in all}"),
    ]


def gcivr(batch, samples):
    return [
        computed(r"\min\{\sqrt m\,\epsilon^{-1},\epsilon^{-3/2}\}", None, "open: no text to check")
    ]


@proof(
    name="feddro/table-1",
    kind="complexity",
    source="004, Table 1",
    statement=r"\text{ComFedL: } \mathcal O(\epsilon^{-2}), \mathcal O(\epsilon^{-4});\; "
    r"\text{Local-SCGDM, FedNest: } \mathcal O(1), \mathcal O(\epsilon^{-2});\; "
    r"\text{GCIVR: } \sqrt m, m, \mathcal O(\min\{\sqrt m\,\epsilon^{-1},\epsilon^{-1.5}\});\; "
    r"\text{FedDRO: } \mathcal O(1), \mathcal O(K^{-1}\epsilon^{-2})",
    readings={
        "ComFedL, as its text states it": literal((comfedl, -2, -4), part="ComFedL"),
        "Local-SCGDM, as its text states it": literal((local_scgdm, 0, -2), part="Local-SCGDM"),
        "FedNest, as its text states it": literal((fednest, 0, -2), part="FedNest"),
        "FedDRO, as its text states it": literal((feddro, 0, -2), part="FedDRO"),
        "GCIVR, as its text states it": literal((gcivr, 0, 0), part="GCIVR"),
    },
    false_siblings=[
        ("Local-SCGDM, ε on the norm", (local_scgdm, 0, -4)),
        ("ComFedL with one sample a step", (comfedl, 0, -2)),
    ],
    explain=(
        "This checks citations: that the table repeats what the cited texts state, once ε is on "
        "the square of the norm (of ComFedL, its remark with b = T). It does not say that what "
        "they state is true; their own claims do. GCIVR's text is not among the five papers."
    ),
)
def table(right: Any) -> list[Step]:
    row, batch, samples = right
    return row(batch, samples)
