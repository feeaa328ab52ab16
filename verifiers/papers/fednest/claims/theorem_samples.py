r"""FedNest's sample complexity (slides "Theory: Comparison" and "Conclusion").

**Kind.** Complexity, by algebra, for (1/K) Σ E‖∇f(x^k)‖² ≤ ε, the same as ALSET's: K(ε) iterations
are enough if the left side at K(ε), over ε, stays bounded as ε → 0; they are too few if a floor at
K(ε), over ε, does not.

**Readings.** For bilevel problems the order needs fednest/theorem, which is undecided; so is this.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Stated, Undecided, literal, narrower
from driftproof.verifiers.algebra.symbolic import Step, finite_limit
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.papers.fednest.claims._rates import ROOT, K, floor_of_constant_steps

epsilon, constant = sympy.symbols("epsilon C", positive=True)
LOG = sympy.log(1 / epsilon)
SLOWER = sympy.sqrt(sympy.log(K) / K)


@dataclass(frozen=True)
class Budget:
    """So many iterations for a left side of this order, of which a floor may be known.

    Attributes:
        rounds: K as a function of ε.
        left: what the left side is, as a function of K.
        floor: whether it is at least that; else at most.
    """

    rounds: Expression
    left: Expression
    floor: bool = False


FLOOR = floor_of_constant_steps({"steps": "constant"})


READINGS: Mapping[str, Stated[Budget] | Stated[Undecided]] = {
    "minimax, compositional, single-level": literal(
        Budget((constant / epsilon) ** 2, ROOT), part="minimax, compositional, single-level"
    ),
    "bilevel, steps constant over the run": narrower(
        Budget((constant / epsilon) ** 2, FLOOR, True),
        why="the slides let the step sizes change with k",
    ),
    "bilevel": literal(
        Undecided(
            "constant step sizes need more than (C/ε)² iterations; whether some step sizes "
            "that change with k need no more is open",
            by="step sizes with a proof of O(1/ε²) samples, or a lower bound for all choices",
        ),
        part="bilevel",
    ),
}


@proof(
    name="fednest/theorem-samples",
    kind="complexity",
    source="FedNest (2022), slides, Theory: Comparison with Previous Results; Conclusion",
    statement=r"\text{batch size } \mathcal O(1),\quad \text{samples complexity } "
    r"\mathcal O(\epsilon^{-2})",
    readings=READINGS,
    corrected=Budget(constant * LOG / epsilon**2, SLOWER),
    correction=(
        "With fednest/theorem's corrected rate √(log K/K): ε^{−2} log(1/ε) iterations, and N = "
        "O(log(1/ε)) Neumann samples in each, ε^{−2} log²(1/ε) of them."
    ),
    false_siblings=[
        ("ε^{−3/2}, single-level", Budget(constant * epsilon ** -sympy.Rational(3, 2), ROOT)),
        ("ε^{−2} by the corrected rate", Budget((constant / epsilon) ** 2, SLOWER)),
    ],
    explain=(
        "As stated where no Neumann series has to grow. For bilevel problems it is as undecided as "
        "fednest/theorem: with step sizes that are constant over the run the floor is above ε "
        "after (C/ε)² iterations."
    ),
)
def samples(budget: Budget) -> list[Step]:
    at, side = sympy.latex(budget.rounds), r"\ge" if budget.floor else r"\le"
    says = rf"K = {at}:\; \text{{left}} {side} {sympy.latex(budget.left)} = O(\epsilon)"
    ratio = budget.left.subs(K, budget.rounds) / epsilon
    return [finite_limit(ratio, epsilon, 0, says, "the left side over ε")]
