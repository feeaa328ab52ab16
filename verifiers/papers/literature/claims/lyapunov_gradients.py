r"""A potential of gradient descent, with gradients.

Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/potential_functions/gradient_descent_lyapunov_2.py

Truth: true, tight: Taylor & Bach (2019)
"""

from torch import Tensor

from driftproof.synthetic.classes import over, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import unchanged


@bound(
    name="literature/lyapunov-gradients",
    source="PEPit 0.5, gradient_descent_lyapunov_2, after Taylor & Bach 2019",
    statement=r"V_{n+1} \le V_n,\quad V_n=(2n+1)L(f(x_n)-f^*)+n(n+2)\|\nabla "
    r"f(x_n)\|^2+L^2\|x_n-x^*\|^2,\ n=10",
    classes=over(
        [smooth_convex(L=1), start_within(R=1)],
        FedAvg(step_size=1.0),
        rounds=1,
        clients=1,
    ),
    measured={"before": r"V_n"},
    right=unchanged,
)
def lyapunov_gradients(view: Steps) -> Reduction | None:
    def value(n: int, x: Tensor) -> Tensor:
        gradient, off = sq(view.gradient(x)), sq(x - view.minimiser)
        return (2 * n + 1) * view.gap(x) + n * (n + 2) * gradient + off

    after, before = value(11, view.state.w.mean(0)), value(10, view.before.w.mean(0))
    return each("transition", after, before=before)
