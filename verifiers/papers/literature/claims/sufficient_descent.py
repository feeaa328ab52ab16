r"""A step of 1/L gains ‖∇f‖²/(2L), also where f is not convex.

Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter03-gradient_descent.md

Truth: true, tight: a parabola
"""

from driftproof.synthetic.classes import over, smooth, start_gap
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import unchanged


@bound(
    name="literature/sufficient-descent",
    source="ETH notes ODS 2022, sufficient descent, used in Lemma 3.8",
    statement=r"f(x_1)-f^*+\frac1{2L}\|\nabla f(x_0)\|^2 \le f(x_0)-f^*,\quad \eta=\tfrac1L",
    classes=over(
        [smooth(L=1), start_gap(delta=1)],
        FedAvg(step_size=1.0),
        rounds=1,
        clients=1,
    ),
    measured={"before": r"f(x_0)-f^*"},
    right=unchanged,
    explain="L = 1 stands in the measure.",
)
def sufficient_descent(view: Steps) -> Reduction | None:
    after = view.gap(view.state.w.mean(0)) + sq(view.gradient(view.before.w.mean(0))) / 2
    return each("transition", after, before=view.gap(view.before.w.mean(0)))
