r"""Gradient descent gains less with each step, for every step size below 2/L.

Text: https://arxiv.org/abs/2503.10138

Truth: false: Barzilai, Shamir & Zamani (2025), Theorem 2
"""

from driftproof.synthetic.classes import over, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import unchanged


@bound(
    name="literature/curve-convex-two-over-l",
    source="a belief; Barzilai, Shamir & Zamani 2025 refute it",
    statement=r"2\big(f(x_1)-f^*\big) \le f(x_0)-f^* + f(x_2)-f^*,\quad \eta=\tfrac{1.9}L",
    classes=over(
        [smooth_convex(L=1), start_within(R=1)],
        FedAvg(step_size=1.9),
        rounds=2,
        clients=1,
    ),
    measured={"before": r"f(x_0)-f^* + f(x_2)-f^*"},
    right=unchanged,
    erratum=Erratum(
        "false",
        changes="Barzilai, Shamir and Zamani (2025), Theorem 2: the curve need not be convex for "
        "η in (1.75/L, 2/L).",
        depends="theorem",
    ),
)
def curve_convex_two_over_l(view: Steps) -> Reduction | None:
    if not view.last:
        return None
    ends = view.gap(view.previous.w.mean(0)) + view.gap(view.state.w.mean(0))
    return each("transition", 2 * view.gap(view.before.w.mean(0)), before=ends)
