r"""How far local steps take the bias from that of the embeddings: from above and from below.

**Kind.** Bound, a result of ours; ``_local_bias`` proves it. β_j is the bias if all clients were at
x̄ with the embeddings that they hold, a number in closed form, 0 where they are shared. With the
right side ε, ‖β_j‖ − ε ≤ ‖b_j‖ ≤ ‖β_j‖ + ε.
"""

from sympy import Rational

from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.feddro.claims import _local_bias as local
from driftproof.verifiers.papers.feddro.claims import assumptions as given


def stated(c: Letters, value: Expression = 1, slope: Expression = 1) -> Expression:
    apart = slope * c.B_f * c.Delta_g + value * c.B_g * c.L_f * c.measured("delta")
    return apart * (local.growth(c) - 1)


@bound(
    name="feddro/bias-drift",
    source="driftproof, for Algorithms 1 and 2 of FedDRO (2023)",
    assumes=[*given.ASSUMED, given.AVERAGED, local.EXACT],
    statement=r"\|b_j-\beta_j\| \le (B_f\Delta_g+B_gL_f\,\delta)\big((1+\eta L)^j-1\big),\quad "
    r"\beta_j = \tfrac1K\textstyle\sum_k\nabla g_k(\bar x)(\nabla f(y_k)-\nabla f(\bar y))",
    cases=local.CASES,
    measured={"delta": r"\delta"},
    corrected=stated,
    correction="b_j − β_j is at most L times the clients' distance from x̄, which is summed up.",
    false_siblings=[
        ("a tenth of it", lambda c: stated(c, Rational(1, 10), Rational(1, 10))),
        ("no term of the embeddings", lambda c: stated(c, value=0)),
        ("no term of the gradients", lambda c: stated(c, slope=0)),
    ],
    prove=lambda right: [local.recursion()],
    explain="It says from below, too, how much of the bias local steps can take away.",
)
def distance(view: Steps) -> Reduction | None:
    delta = local.spread(view)
    if view.local_step < view.local_steps:
        return None
    apart = local.norm(local.bias(view) - local.held_bias(view))
    return each("transition", apart, delta=delta)
