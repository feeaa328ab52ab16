r"""Gradient descent gains less with each step, for η ≤ 1.75/L.

Text: https://arxiv.org/abs/2509.08954

Truth: true, tight: Barzilai, Shamir & Zamani (2025)
"""

from driftproof.synthetic.classes import over, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import unchanged


@bound(
    name="literature/curve-convex",
    source="Hieu 2025, abstract, quoting Barzilai, Shamir & Zamani 2025",
    statement=r"2\big(f(x_1)-f^*\big) \le f(x_0)-f^* + f(x_2)-f^*,\quad \eta=\tfrac{1.75}L",
    classes=over(
        [smooth_convex(L=1), start_within(R=1)],
        FedAvg(step_size=1.75),
        rounds=2,
        clients=1,
    ),
    measured={"before": r"f(x_0)-f^* + f(x_2)-f^*"},
    right=unchanged,
)
def curve_convex(view: Steps) -> Reduction | None:
    if not view.last:
        return None
    ends = view.gap(view.previous.w.mean(0)) + view.gap(view.state.w.mean(0))
    return each("transition", 2 * view.gap(view.before.w.mean(0)), before=ends)
