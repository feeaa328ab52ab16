r"""Remark 3.7: samples and communications to reach ε.

**Kind.** Complexity, by algebra: from a bound CT^{−1/2} on the mean squared gradient, p = T^{1/4};
T/p communications of T steps by the count on the wire.

**Reading.** ε is on the norm. On its square, as FedDRO's Table 1 and Definition 3.6 have it, the
same bound gives ε⁻² samples and ε^{−3/2} communications.
"""

from sympy import Rational

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, literal, narrower
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._wire import counted
from driftproof.verifiers.papers.scgdm.claims._orders import (
    PRINTED,
    Complexity,
    Costs,
    for_any_clients,
    given_the_order,
)


@comparison(
    name="scgdm/remark-3.7",
    kind="complexity",
    source="Local-SCGDM (2022), Remark 3.7",
    statement=r"\frac1T\sum_{t=0}^{T-1}\|\nabla F(\bar x_t)\|\le\epsilon:\quad "
    r"T=O(1/\epsilon^4),\quad T/p=O(1/\epsilon^3)",
    cases=grid(BoundedComposition(clients=2), LocalSCGDM(local_steps=sweep(1, 4)), rounds=5),
    readings={
        "any clients": literal(Complexity(for_any_clients, PRINTED)),
        "given the order O(1/√T)": narrower(
            Complexity(given_the_order, PRINTED),
            why="the remark speaks of Corollary 3.5, which has any clients",
        ),
    },
    erratum=Erratum(
        "false",
        changes="The orders hold with two independent samples a step, if the clients share one g "
        "or u stays on its client. Otherwise no number of samples reaches a small ε.",
        same_as="scgdm/theorem-3.4",
    ),
    corrected=Complexity(given_the_order, PRINTED),
    correction=(
        "For clients with one g, or with u kept on its client, the corrected Theorem 3.4 is "
        "O(1/√T) on the schedule (scgdm/remark-3.6); then T = C²/ε⁴ and T/p = T^{3/4}."
    ),
    false_siblings=[
        ("ε on the square", Complexity(given_the_order, Costs(-2, Rational(-3, 2)))),
        ("communications as many as samples", Complexity(given_the_order, Costs(-4, -4))),
    ],
    prove=Complexity.steps,
    explain=(
        "The algebra is right, with ε on the norm, but the order O(1/√T) that it starts from is "
        "false for clients with different g."
    ),
)
def communications(
    case: Case[BoundedComposition, LocalSCGDM], right: Complexity
) -> list[Comparison]:
    """Count the communications of T steps on the wire, one process a client."""
    count, steps = float(counted(case).rounds), case.rounds * case.algorithm.local_steps
    one_a_step = right.costs.samples == right.costs.communications
    stated = steps if one_a_step else case.rounds  # T, or T/p
    return [Comparison("communications of T steps", count, count, float(stated))]
