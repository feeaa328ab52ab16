r"""Local steps of FedAvg count like as many steps of gradient descent.

Text: not at hand; https://arxiv.org/abs/2002.07839

Truth: false: Woodworth et al. (2020), a lower bound
"""

from driftproof.synthetic.classes import over, similar, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/local-steps-are-steps",
    source="a belief; Woodworth et al. 2020, Is local SGD better than minibatch SGD?",
    statement=r"F(\bar x_S)-F^* \le \frac{LR^2}{4S\tau\eta L+2}",
    classes=over(
        [smooth_convex(L=1), similar(zeta=1), start_within(R=1)],
        FedAvg(step_size=0.5, local_steps=4),
        rounds=1,
    ),
    right=lambda c: c.L * c.R**2 / (4 * c.S * c.tau * c.eta * c.L + 2),
    erratum=Erratum(
        "false",
        changes="Woodworth et al. (2020): where clients differ, local steps may be no better "
        "than one.",
        depends="theorem",
    ),
)
def local_steps_are_steps(view: Steps) -> Reduction | None:
    return gap_at_end(view)
