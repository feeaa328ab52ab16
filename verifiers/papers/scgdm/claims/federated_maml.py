r"""Section 3.3: samples and communications of Local-SCGDM for Federated MAML.

**Statement.** "All assumptions in Theorem 3.4 are satisfied for Federated MAML in Eq. (8). Thus,
the sample complexity and communication complexity of our Local-SCGDM for Federated MAML are
O(1/ε⁴) and O(1/ε³), respectively."

**Kind.** Complexity, by algebra and by a run that is bounded away from every stationary point.

**Source.** Local-SCGDM (2022), section 3.3; Corollary 3.5 for the schedule, Remark 3.7 for ε.

**Finding.** False. Devices with different tasks have different inner maps g^(k)(x) = x − λ∇L_k(x),
and Algorithm 1 averages their estimates. With three devices, one cosine task each and no noise, λ =
½, the squared gradient is 0.0417 at T = 65,536 and 0.0425 at T = 160,000, by Corollary 3.5's
schedule and the largest β that it admits. If u stays on its device it is 2·10⁻¹¹ and 6·10⁻¹² there.
A start and a β for which ‖∇F(x̄_t)‖² ≥ 0.02 at every t of every long horizon are in ``_floors``.
"""

import sympy
from sympy import Rational, sqrt

from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.constants import Letters, substituted
from driftproof.toolkit.readings import Erratum, literal, narrower
from driftproof.verifiers.algebra.symbolic import Step, finite_limit
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.papers.scgdm.claims._floors import meta_learning, refuted_by
from driftproof.verifiers.papers.scgdm.claims._orders import (
    PRINTED,
    Complexity,
    Costs,
    T,
    given_the_order,
)
from driftproof.verifiers.papers.scgdm.claims._theorem import corrected


def order_of_the_corrected_theorem() -> Step:
    """Return the step that the corrected Theorem 3.4 is O(1/√T) on the schedule."""
    c = Letters(LocalSCGDM.notation)
    schedule = {"eta": 1 / sqrt(T), "p": T ** Rational(1, 4), "T": T}
    bound = substituted(corrected(c), schedule)
    says = r"\sqrt T \text{ times the corrected (6) has a limit at } \eta=T^{-1/2},\, p=T^{1/4}"
    return finite_limit(sympy.expand(bound * sqrt(T)), T, sympy.oo, says, "√T times the bound")


def with_u_averaged(costs: Costs) -> list[Step]:
    """Return the steps that refute any costs of Algorithm 1, which averages u."""
    floor = meta_learning()
    says = r"\text{some } T \text{ makes } \tfrac1T\sum\|\nabla F(\bar x_t)\| \le \tfrac1{10}"
    why = "the norm is above 0.14 at every t, by the three steps before; see _floors.py"
    return [*floor, refuted_by(floor, says, why)]


def with_u_kept(costs: Costs) -> list[Step]:
    """Return the steps to the costs where u stays on its device."""
    return [order_of_the_corrected_theorem(), *given_the_order(costs)]


@proof(
    name="scgdm/federated-maml",
    kind="complexity",
    source="Local-SCGDM (2022), section 3.3",
    statement=r"\text{Federated MAML (8), Algorithm 1:}\quad \frac1T\sum_{t=0}^{T-1}\|\nabla F("
    r"\bar x_t)\|\le\epsilon \text{ with } T=O(1/\epsilon^4),\quad T/p=O(1/\epsilon^3)",
    readings={
        "Algorithm 1, which averages u": literal(Complexity(with_u_averaged, PRINTED)),
        "u is kept on its device": narrower(
            Complexity(with_u_kept, PRINTED),
            why="section 5.1 keeps one u_i a task; Algorithm 1 averages u over devices",
        ),
    },
    erratum=Erratum(
        "false",
        changes="Keep u on its device, and draw two samples a step. If u is averaged, the method "
        "stops where ∇F is not 0, and no number of samples reaches a small ε.",
        same_as="scgdm/theorem-3.4",
    ),
    corrected=Complexity(with_u_kept, PRINTED),
    correction=(
        "If u stays on its device, Theorem 3.4 in its corrected form applies to any g^(k), with "
        "the constants of Lemma 3.9 (C_g as corrected there), and is O(1/√T) on the schedule."
    ),
    false_siblings=[
        ("u is kept, samples ε⁻²", Complexity(with_u_kept, Costs(-2, -3))),
        ("u is kept, communications ε⁻²", Complexity(with_u_kept, Costs(-4, -2))),
    ],
    explain=(
        "Every device of Federated MAML has an inner map of its own, so averaging u changes the "
        "problem. The assumptions of Theorem 3.4 are satisfied, and the theorem is false."
    ),
)
def complexity(right: Complexity) -> list[Step]:
    return right.steps()
