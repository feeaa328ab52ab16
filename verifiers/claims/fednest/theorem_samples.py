r"""FedNest's sample complexity (slides "Theory: Comparison" and "Conclusion").

**Statement.** O(ε^{−2}) samples and O(1) batches for (1/K) Σ E‖∇f(x^k)‖² ≤ ε, the same as ALSET's,
for bilevel, minimax, compositional and single-level problems.

**Kind.** Complexity, by algebra: K(ε) iterations are enough if the left side at K(ε), over ε, stays
bounded as ε → 0; they are too few if a floor at K(ε), over ε, does not.

**Readings.** For bilevel problems the order needs fednest/theorem, which is undecided; so is this.

**Finding.** From 1/√K, which fednest/theorem-minimax and its like support, ε^{−2} follows: an
iteration costs O(1) samples. For bilevel problems and step sizes that are constant over the run
fednest/theorem's floor √(log K/K)/100 exceeds ε after (C/ε)² iterations, for every C; and an
iteration costs N Neumann samples, of order log(1/ε).
"""

from dataclasses import dataclass
from typing import Any

import sympy

from toolkit.readings import Undecided, literal, narrower
from verifiers.claim_types.proof import proof
from verifiers.claims.fednest._rates import FLOORS, K
from verifiers.symbolic import Step, finite_limit

epsilon, constant = sympy.symbols("epsilon C", positive=True)
LOG = sympy.log(1 / epsilon)
ROOT = K ** -sympy.Rational(1, 2)
SLOWER = sympy.sqrt(sympy.log(K) / K)


@dataclass(frozen=True)
class Budget:
    """So many iterations for a left side of this order, of which a floor may be known.

    Attributes:
        rounds: K as a function of ε.
        left: what the left side is, as a function of K.
        floor: whether it is at least that; else at most.
    """

    rounds: Any
    left: Any
    floor: bool = False


FLOOR = FLOORS[2].value({"steps": "constant"})


@proof(
    name="fednest/theorem-samples",
    kind="complexity",
    source="002, Theory: Comparison with Previous Results; Conclusion",
    statement=r"\text{batch size } \mathcal O(1),\quad \text{samples complexity } "
    r"\mathcal O(\epsilon^{-2})",
    readings={
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
                "that change with k need no more is open"
            ),
            part="bilevel",
        ),
    },
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
def samples(right: Any) -> list[Step]:
    at, side = sympy.latex(right.rounds), r"\ge" if right.floor else r"\le"
    says = rf"K = {at}:\; \text{{left}} {side} {sympy.latex(right.left)} = O(\epsilon)"
    ratio = right.left.subs(K, right.rounds) / epsilon
    return [finite_limit(ratio, epsilon, 0, says, "the left side over ε")]
