r"""Gradient descent's gradients do not grow for η ≤ 2/L.

Text: https://arxiv.org/abs/2509.08954

Truth: true, tight at 2/L: Barzilai, Shamir & Zamani (2025)
"""

from driftproof.synthetic.classes import over, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps, sq
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import change_of, unchanged


@bound(
    name="literature/gradient-norm-falls",
    source="Hieu 2025, abstract, quoting Barzilai, Shamir & Zamani 2025",
    statement=r"\|\nabla f(x_1)\|^2 \le \|\nabla f(x_0)\|^2,\quad \eta=\tfrac2L",
    classes=over(
        [smooth_convex(L=1), start_within(R=1)],
        FedAvg(step_size=2.0),
        rounds=1,
        clients=1,
    ),
    measured={"before": r"\|\nabla f(x_0)\|^2"},
    right=unchanged,
)
def gradient_norm_falls(view: Steps) -> Reduction | None:
    return change_of(lambda x: sq(view.gradient(x)), view)
