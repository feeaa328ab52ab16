"""What the claims on local gradient descent share: step sizes, and measures at the end of a run."""

from toolkit.cases import Assumption
from toolkit.constants import Expression, Letters
from toolkit.measure import Reduction, Steps, each, sq

SHORT_STEP = Assumption("step size", r"\eta \le 1/L", relation=lambda c: c.eta * c.L <= 1)
LONG_STEP = Assumption("step size", r"\eta \le 2/L", relation=lambda c: c.eta * c.L <= 2)
CONTRACTING = Assumption(
    "step size", r"\eta \le 2/(L+\mu)", relation=lambda c: c.eta * (c.L + c.mu) <= 2
)


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
