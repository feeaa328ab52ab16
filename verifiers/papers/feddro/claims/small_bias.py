r"""Before (8): the momentum-based estimate of g "leads to a small bias asymptotically".

**Kind.** Symbolic. (8) subtracts g_k(x^{t−1}; b) and adds g_k(x^t; b), of one minibatch that is
drawn after both points are known. So the error of ȳ^t, given the past, has the mean (1 − β) times
the error before, whatever x does.
"""

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import literal
from driftproof.verifiers.algebra.symbolic import Step, argued, nonnegative, vanishes
from driftproof.verifiers.claim_types.proof import proof

beta = sympy.Symbol("beta", positive=True)


@proof(
    name="feddro/small-bias",
    source="FedDRO (2023), before (8)",
    statement=r"\mathbb{E}[\bar y^t - \tfrac1K\textstyle\sum_kg_k(x_k^t)] = (1-\beta)^t\,"
    r"(\bar y^0 - g(\bar x^0)) \to 0",
    readings={"the mean error of the embedding": literal(1 - beta)},
    false_siblings=[("the bias halves with β", 1 - beta / 2), ("the bias stays", sympy.Integer(1))],
    explain=(
        "Its error is forgotten at the rate β and has no other bias: the minibatch of (8) is "
        "drawn after both points. What stays is noise. At β ~ B_g⁴L_f²η this takes 1/β steps, "
        "which feddro/theorem-5.1 charges too little for."
    ),
)
def small_bias(factor: Expression) -> list[Step]:
    before, here, there, drawn = sympy.symbols("y g_t g_s zeta", real=True)  # g at x^t and x^{t−1}
    after = (1 - beta) * (before - (there + drawn)) + here + drawn - here
    mean = after.subs(drawn, 0)  # E ζ = 0; by both points the same, or not: only means count
    return [
        argued(
            r"\mathbb{E}[g_k(x;b)] = g_k(x) \text{ at } x = x_k^{t-1}, x_k^t",
            "Assumption 3.3: b is drawn after both points",
        ),
        vanishes(
            mean - factor * (before - there),
            r"\mathbb{E}[\text{error}^t \mid \text{past}]"
            r" = (1-\beta)\,\text{error}^{t-1}",
        ),
        nonnegative((1 - beta / (1 + beta)), r"\text{so it tends to } 0 \text{ for } 0<\beta\le1"),
    ]
