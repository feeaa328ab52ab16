r"""Stochastic gradients with a constant step contract to the minimiser.

Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter12-stochastic_optimization.md

Truth: false: Bottou, Curtis & Nocedal (2018), Theorem 4.6 has a floor; so has Theorem 12.5 of the text
"""  # noqa: E501

from driftproof.synthetic.classes import over, similar, smooth_strongly_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@bound(
    name="literature/sgd-constant-step",
    source="a belief; Bottou, Curtis & Nocedal 2018, section 4.2",
    statement=r"\mathbb{E}\|x_1-x^*\|^2 \le (1-\eta\mu)^2\|x_0-x^*\|^2,\quad "
    r"\tfrac1n\sum_i\|\nabla f_i(x^*)\|^2\le\zeta^2",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.1), similar(zeta=1), start_within(R=1)],
        FedAvg(step_size=0.5, participation=0.5),
        rounds=1,
    ),
    right=lambda c: (1 - c.eta * c.mu) ** 2 * c.R**2,
    erratum=Erratum(
        "false",
        changes="Bottou, Curtis and Nocedal (2018): a constant step leads to a neighbourhood only.",
        depends="theorem",
    ),
)
def sgd_constant_step(view: Steps) -> Reduction | None:
    return distance_at_end(view)
