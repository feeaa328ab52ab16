r"""Gradient descent on smooth functions that need not be convex: the mean squared gradient.

**Kind.** Bound over a class. A step decreases F by η(1 − ηL/2)‖∇F‖² at least (descent lemma).
"""

from driftproof.synthetic.classes import for_all, over, smooth, start_gap
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, average, sq
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims._steps import SHORT_STEP


def by_descent(c: Letters) -> Expression:
    return c.F_gap / (c.eta * c.S * (1 - c.eta * c.L / 2))


@bound(
    name="localsgd/stationarity",
    source="Nesterov (2018), section 1.2.3, known in the literature, in our words",
    assumes=[SHORT_STEP],
    statement=r"\frac1N\sum_{s<N}\|\nabla F(x_s)\|^2 \le "
    r"\frac{F(x_0)-F^*}{\eta N(1-\eta L/2)}",
    classes=over(
        [smooth(L=for_all("0 < L")), start_gap(delta=for_all("0 < F_gap"))],
        FedAvg(step_size=for_all("0 < eta <= 1/L")),
        rounds=[1, 2, 5],
        clients=1,
    ),
    corrected=by_descent,
    correction="The descent lemma: a step decreases F by η(1 − ηL/2)‖∇F‖² at least.",
    false_siblings=[
        ("half of it", lambda c: by_descent(c) / 2),
        ("without the mean", lambda c: by_descent(c) / c.S / 2),
    ],
    explain="With η = 1/L nothing smaller holds; for shorter steps it is loose.",
)
def mean_squared_gradient(view: Steps) -> Reduction:
    return average("round", sq(view.gradient(view.mean("w"))))
