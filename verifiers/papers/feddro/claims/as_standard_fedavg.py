r"""After Corollary 5.3: its complexities "match that of the standard FedAvg", Yu et al. (2019b).

**Kind.** Complexity, by exponents. Yu, Yang and Zhu have O(1/√(NT)) with one average every I =
O(T^{1/4}/N^{3/4}) steps, by that paper's abstract and its reviews. (Counted are rounds that share
models; by Definition 3.7 FedDRO has one round a step: ``feddro/corollary-5.3``.)
"""

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import literal
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.proof import proof

epsilon, clients = sympy.symbols("epsilon K", positive=True)


@proof(
    name="feddro/as-standard-fedavg",
    kind="complexity",
    source="FedDRO (2023), text after Corollary 5.3",
    statement=r"\text{samples } \mathcal O(\epsilon^{-2}),\; \text{rounds that share models } "
    r"\mathcal O(\epsilon^{-3/2}): \text{ those of FedAvg (Yu et al., 2019b)}",
    readings={"rounds that share models": literal(epsilon ** -sympy.Rational(3, 2))},
    false_siblings=[("rounds of order ε^{-1}", 1 / epsilon), ("of order ε^{-2}", epsilon**-2)],
    explain="Both take T = ε⁻²/K steps and T/I rounds. FedDRO's embeddings cost a round a step.",
)
def as_standard_fedavg(rounds: Expression) -> list[Step]:
    steps = epsilon**-2 / clients  # 1/√(KT) = ε
    period = steps ** sympy.Rational(1, 4) / clients ** sympy.Rational(3, 4)
    return [
        vanishes(1 / sympy.sqrt(clients * steps) - epsilon, r"1/\sqrt{KT} = \epsilon"),
        vanishes(clients * steps - epsilon**-2, r"KT = \epsilon^{-2} \text{ samples}"),
        vanishes(
            sympy.powsimp(sympy.expand_power_base(steps / period, force=True)) - rounds,
            r"T/I = T^{3/4}K^{3/4} = \epsilon^{-3/2}",
        ),
    ]
