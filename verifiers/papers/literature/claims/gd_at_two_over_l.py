r"""Gradient descent with h = 2/L converges.

Text: https://github.com/ericphanson/newtons-method/blob/73556f8d228ffcf546a42b6271eb12ed94420e5b/docs/references/renders/gd-smooth-descent-condition-nesterov-2018.md

Truth: false: f = (L/2)x² goes from x to −x; Nesterov (2018), Theorem 2.1.14, has h < 2/L
"""

from driftproof.synthetic.classes import over, smooth_convex
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.limit import limit
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@limit(
    name="literature/gd-at-two-over-l",
    source="Nesterov 2018, section 2.1.5, as quoted there: '0 < h ≤ 2/L … converges to some "
    "optimal point'",
    statement=r"x_k \to x^*,\quad h=\tfrac2L",
    classes=over([smooth_convex(L=1)], FedAvg(step_size=2.0), clients=1),
    erratum=Erratum(
        "false",
        changes="Nesterov (2018), Theorem 2.1.14, asks for h below 2/L: at 2/L a parabola is "
        "mirrored for ever.",
        depends="theorem",
    ),
)
def gd_at_two_over_l(view: Steps) -> Reduction | None:
    return distance_at_end(view)
