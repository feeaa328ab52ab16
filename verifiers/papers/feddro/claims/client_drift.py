r"""[C2]: client drift "lead[s] to divergence of federated CO algorithms", unlike FedAvg's.

**Instance.** "slopes" of ``bias-amplification`` in Case I, in closed form (``_bias``).
"""

from enum import Enum

import sympy

from driftproof.toolkit.readings import Erratum, intended, literal, narrower
from driftproof.verifiers.algebra.symbolic import Step, computed, nonnegative, vanishes
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.papers.feddro.claims import _bias as bias
from driftproof.verifiers.papers.feddro.claims import heterogeneity_threshold as standard


class Says(Enum):
    """What is claimed of local updates."""

    DIVERGES = "the iterates leave every bounded set"
    WRONG_POINT = "a point that is not stationary, however small the steps; FedAvg's is, as η → 0"
    DRIFT = "with one local step, I = 1, there is no such bias"


@proof(
    name="feddro/client-drift",
    source="FedDRO (2023), [C2]",
    statement=r"\text{client drift leads to divergence of federated CO algorithms, in contrast to "
    r"FedAvg for non-CO objectives}",
    readings={
        "the iterates diverge": literal(Says.DIVERGES),
        "they do not come to a stationary point": intended(
            Says.WRONG_POINT,
            quote="Theorem 4.1, which shows it: the iterates “do not converge to the stationary "
            "point of Φ(·)”",
        ),
        "drift is the cause: none with one local step": narrower(
            Says.DRIFT, why="[C2] does not say that the bias is gone where there is no drift"
        ),
    },
    erratum=Erratum(
        "overstated",
        changes="The iterates converge, but to a wrong point, whose bias does not vanish with the "
        "step size. In Case I client drift is not the cause: the bias is there with one local "
        "step, without drift.",
        depends="nothing",
    ),
    false_siblings=[
        ("FedAvg's bias over η vanishes", 1 / bias.eta),
        ("twice FedAvg's bias over η vanishes", 2 / bias.eta),
    ],
    explain=(
        "On “slopes” Case I converges to a point in [0, 1] while Φ is least at −1. FedAvg on two "
        "quadratics has a bias as well, but of the order η(I − 1): smaller steps cure it."
    ),
)
def client_drift(says: Says) -> list[Step]:
    one, two = sympy.symbols("s_1 s_2", positive=True)
    limit = bias.SMALL_STEP_BIAS["slopes", "case-1"]
    single = bias.limit_point("slopes", "case-1").subs(bias.period, 1)
    if says is Says.DIVERGES:
        inside = nonnegative(1 - two / (one + two), r"\hat x = s_2/(s_1+s_2) \in [0,1]")
        told = "a round takes x̄ − x̂ to a multiple of it in (0, 1): x̄ converges"
        return [inside, computed(r"\|\bar x^t\| \to \infty", False, told)]
    if says is Says.DRIFT:
        still = sympy.simplify(single - bias.STATIONARY["slopes"])
        told = f"at I = 1 the bias is {still}"
        return [computed(r"I=1:\; \hat x = x_\Phi", still == 0, told)]
    scale = 1 if says is Says.WRONG_POINT else says
    return [
        nonnegative(limit - 1, r"\text{Case I: the bias tends to } \tfrac65 \text{ as } \eta\to0"),
        vanishes(
            standard.at_zero(scale * standard.bias(standard.count).subs(standard.eta, bias.eta)),
            r"\text{FedAvg on } h_k = \tfrac{a_k}2(x-c_k)^2:\; \nabla\Phi(\hat x) \to 0",
        ),
    ]
