r"""The mean squared gradient of gradient descent, f not convex.

Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter09-nonconvex.md

Truth: true, tight up to inf f: a line, then a parabola
"""

from driftproof.synthetic.classes import over, smooth, start_gap
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps, average, sq
from driftproof.verifiers.claim_types.bound import bound


@bound(
    name="literature/nonconvex-average",
    source="ETH notes ODS 2022, Theorem 9.2",
    statement=r"\frac1T\sum_{t<T}\|\nabla f(x_t)\|^2 \le \frac{2L}T\big(f(x_0)-f^*\big),\quad "
    r"\gamma=\tfrac1L",
    classes=over(
        [smooth(L=1), start_gap(delta=1)],
        FedAvg(step_size=1.0),
        rounds=[1, 3],
        clients=1,
    ),
    right=lambda c: 2 * c.L / c.S * c.F_gap,
)
def nonconvex_average(view: Steps) -> Reduction | None:
    return average("step", sq(view.gradient(view.mean("w"))))
