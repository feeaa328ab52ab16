r"""End of section 2.1: (4) and (5) "can be equivalently restated" as (2), with samples on clients.

**Kind.** Existence, by algebra. With n_k of the m samples on client k, (1/m) Σ_i = (1/K) Σ_k w_k
times client k's mean, w_k = Kn_k/m. So g_k = w_k times the local mean does it; the local mean
itself only where all clients have equally many samples.
"""

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.proof import proof

first, second, a, b = sympy.symbols("n_1 n_2 a b", positive=True)  # counts and local means, K = 2


@proof(
    name="feddro/restated",
    kind="existence",
    source="FedDRO (2023), end of section 2.1",
    statement=r"\tfrac1m\textstyle\sum_i\phi(\ell_i) = \tfrac1K\sum_kg_k,\quad "
    r"g_k = \mathbb{E}_{\zeta_k\sim\mathcal D_{g_k}}[\phi(\ell(x;\zeta_k))]",
    readings={
        "g_k is the mean over the client's samples": literal((sympy.Integer(1), sympy.Integer(1))),
        "each client weighs its mean by its share": intended(
            (2 * first / (first + second), 2 * second / (first + second)),
            quote="“can be equivalently restated”: some g_k do, which (2) leaves open",
        ),
    },
    erratum=Erratum(
        "incomplete",
        changes="If clients have unequal numbers of samples, multiply each local mean by Kn_k/m, "
        "in g and in h. Otherwise (2) gives every client the same weight, not every sample.",
        depends="nothing",
    ),
    false_siblings=[
        ("weights n_k/m", (first / (first + second), second / (first + second))),
        ("weights n_k", (first, second)),
    ],
    explain="With local means (2) is (4) and (5) only where all clients have equally many samples.",
)
def restated(weights: tuple[Expression, Expression]) -> list[Step]:
    whole = (first * a + second * b) / (first + second)
    return [
        vanishes(
            whole - (weights[0] * a + weights[1] * b) / 2,
            r"K=2:\; (n_1a+n_2b)/(n_1+n_2) = \tfrac12(w_1a+w_2b)",
        )
    ]
