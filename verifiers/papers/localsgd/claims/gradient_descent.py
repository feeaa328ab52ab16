r"""Gradient descent on smooth convex functions, exactly: τ = 1 and one client, as a check.

**Kind.** Bound over a class. It is attained: no smaller right side holds for all functions.
"""

from driftproof.synthetic.classes import for_all, over, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims._steps import SHORT_STEP


def exact(c: Letters) -> Expression:
    return c.L * c.R**2 / (4 * c.S * c.eta * c.L + 2)


@bound(
    name="localsgd/gradient-descent",
    source="Drori and Teboulle (2014), Theorem 3.1, known in the literature, in our words",
    assumes=[SHORT_STEP],
    statement=r"F(x_N) - F^* \le \frac{L R^2}{4N\eta L + 2},\quad \|x_0-x^*\|\le R",
    classes=[
        *over(
            [smooth_convex(L=1), start_within(R=1)],
            FedAvg(step_size=sweep(1.0, 0.5)),
            rounds=[1, 2, 5],
            clients=1,
        ),
        *over(
            [smooth_convex(L=for_all("0 < L")), start_within(R=for_all("0 < R"))],
            FedAvg(step_size=for_all("0 < eta <= 1/L")),
            rounds=[1, 2, 5],
            clients=1,
        ),
    ],
    right=exact,
    false_siblings=[
        ("3 for 2", lambda c: c.L * c.R**2 / (4 * c.S * c.eta * c.L + 3)),
        ("5N for 4N", lambda c: c.L * c.R**2 / (5 * c.S * c.eta * c.L + 2)),
    ],
    explain="It is attained, by a Huber function: the usual R²/(2Nη) is more than twice it.",
)
def gap(view: Steps) -> Reduction | None:
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None
