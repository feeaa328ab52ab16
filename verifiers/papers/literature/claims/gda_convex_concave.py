r"""Simultaneous gradient descent-ascent comes nearer to a saddle point, where f is convex-concave.

Text: https://www.emergentmind.com/topics/simultaneous-gradient-descent-ascent-algorithm

Truth: false: on f = xy every step leads away (Mescheder, Geiger & Nowozin 2018; the ETH notes, chapter 13)
"""  # noqa: E501

from driftproof.synthetic.classes import monotone_lipschitz, over, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@bound(
    name="literature/gda-convex-concave",
    source="EmergentMind, Simultaneous gradient descent-ascent: 'global linear convergence in "
    "convex-concave settings'",
    statement=r"\|z_1-z^*\|^2 \le \|z_0-z^*\|^2,\quad z_1 = z_0-\eta A(z_0)",
    classes=over(
        [monotone_lipschitz(L=1, mu=0), start_within(R=1)],
        FedAvg(step_size=0.1),
        rounds=1,
        clients=1,
    ),
    right=lambda c: c.R**2,
    erratum=Erratum(
        "false",
        changes="On f(x, y) = xy each step multiplies the distance by √(1 + η²) (Mescheder et "
        "al. 2018).",
        depends="theorem",
    ),
)
def gda_convex_concave(view: Steps) -> Reduction | None:
    return distance_at_end(view)
