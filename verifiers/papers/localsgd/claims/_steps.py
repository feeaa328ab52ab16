"""What the claims on local gradient descent share: step sizes, and measures at the end of a run."""

from collections.abc import Sequence
from typing import Any

from driftproof.synthetic.classes import for_all, over, smooth_strongly_convex
from driftproof.synthetic.classes.conditions import FunctionClass
from driftproof.synthetic.classes.function_class import FunctionClassProblem
from driftproof.synthetic.classes.relations import Relation
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.cases import Assumption, Case
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq

STRONG = smooth_strongly_convex(L=for_all("0 < L"), mu=for_all("0 < mu < L"))
"""The class for all of its numbers."""
SHORT_STEP = Assumption("step size", r"\eta \le 1/L", relation=lambda c: c.eta * c.L <= 1)
LONG_STEP = Assumption("step size", r"\eta \le 2/L", relation=lambda c: c.eta * c.L <= 2)
CONTRACTING = Assumption(
    "step size", r"\eta \le 2/(L+\mu)", relation=lambda c: c.eta * (c.L + c.mu) <= 2
)
SHORT_ROUND = Assumption(
    "step size", r"\eta L \tau \le 1/4", relation=lambda c: c.eta * c.L * c.tau <= 0.25
)


def short_rounds(
    conditions: Sequence[FunctionClass | Relation], *, steps: Sequence[int], rounds: int
) -> list[Case[FunctionClassProblem, Any]]:
    """Return a case of FedAvg for each number of local steps; ητ = 0.24 in all, a short round."""
    return [
        case
        for tau in steps
        for case in over(conditions, FedAvg(local_steps=tau, step_size=0.24 / tau), rounds=rounds)
    ]


def distance_at_end(view: Steps) -> Reduction | None:
    """Measure ‖x̄ − x*‖² after the last round."""
    if not view.last:
        return None
    return each("round", "local_step", sq(view.mean("w") - view.minimiser))


def factor(c: Letters) -> Expression:
    """Return what one round multiplies a distance by, if all clients have one minimiser."""
    return (1 - c.eta * c.mu) ** c.tau


def bias(c: Letters) -> Expression:
    """Return how far one round moves away from x*, at most."""
    return c.eta**2 * (c.L - c.mu) * c.zeta * c.tau * (c.tau - 1) / 4


def neighbourhood(c: Letters) -> Expression:
    """Return the squared distance after S rounds that contract and have a bias."""
    shrunk = factor(c) ** c.S
    return (shrunk * c.R + bias(c) * (1 - shrunk) / (1 - factor(c))) ** 2
