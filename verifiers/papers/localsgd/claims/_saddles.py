"""What the claims on saddle points share: step sizes, the shrinking of a step, and a measure."""

import sympy
import torch

from driftproof.synthetic.classes import for_all, strongly_convex_concave
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq

NONEXPANSIVE = Assumption(
    "step size", r"\eta\le2\mu/L^2", relation=lambda c: c.eta * c.L**2 <= 2 * c.mu
)
SADDLE = strongly_convex_concave(L=for_all("0 < L"), mu=for_all("0 < mu < L"))
"""The class for all of its numbers."""
CONTRACTING = for_all("0 < eta <= 2*mu/L**2")
ONE_STEP_SIZE = Assumption(
    "step sizes", r"\alpha=\beta=\eta", relation=lambda c: sympy.Eq(c.alpha, c.beta)
)
SIMULTANEOUS = Assumption(
    "order",
    r"\text{both gradients are taken at one point}",
    applies=lambda case: case.algorithm.order == "simultaneous",
)


def shrinking(c: Letters) -> Expression:
    """Return what one step multiplies a squared distance by, γ² = 1 − 2ημ + η²L²."""
    return 1 - 2 * c.eta * c.mu + (c.eta * c.L) ** 2


def moved(c: Letters) -> Expression:
    """Return how far one round of FedAvg-S moves away from the saddle point, at most."""
    return c.tau * (c.tau - 1) / 2 * c.eta**2 * sympy.sqrt(c.L**2 - c.mu**2) * c.zeta


def distance_at_end(view: Steps) -> Reduction | None:
    """Measure ‖(x̄, ȳ) − (x*, y*)‖² after the last round."""
    if not view.last:
        return None
    z = torch.cat((view.mean("x"), view.mean("y")))
    return each("round", "local_step", sq(z - view.minimiser))
