"""What the claims on FedNest over whole classes of functions share."""

from driftproof.synthetic.classes import for_all, smooth_strongly_convex
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.verifiers.papers.fednest.claims._drift import Variable, drift

STRONG = smooth_strongly_convex(L=for_all("0 < ell_g1"), mu=for_all("0 < mu_g < ell_g1"))
"""The class for all of its numbers."""
ALL_CLIENTS = Assumption(
    "no noise, all clients",
    r"\nabla_y g_i(\cdot;\zeta) = \nabla_y g_i,\; |\mathcal S| = m",
    applies=lambda case: case.algorithm.participation == 1,
)
SHORT = Assumption(
    "short calls", r"\tau\beta\ell_{g,1}\le1", relation=lambda c: c.tau * c.beta * c.ell_g1 <= 1
)


def last_drift(view: Steps, of: Variable) -> Reduction | None:
    """Compare every client's drift after the last local step, before the mean is taken."""
    if view.local_step < view.local_steps:
        return None
    return each("round", "local_step", "client", drift(view, of))
