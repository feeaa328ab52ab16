r"""One round of FedAvg from any state, clients that differ: for all L, μ, η and ζ.

**Kind.** Bound over a class, for all values of the letters. It was found by a search. With
ρ = (1 − ημ)⁴ below 1 all rounds follow: ‖x̄_S − x*‖² ≤ ρ^S‖x̄_0 − x*‖² + cζ²(1 − ρ^S)/(1 − ρ).
"""

from driftproof.synthetic.classes import for_all, over, similar
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims._steps import CONTRACTING, STRONG, factor


def floor(c: Letters) -> Expression:
    """Return c: a round adds cζ² where the clients differ by ζ."""
    return (
        2
        * c.eta**3
        * (c.L - c.mu)
        * (1 - c.eta * c.mu) ** 3
        / ((2 - c.eta * c.L - c.eta * c.mu) * (2 + c.eta * c.L - 3 * c.eta * c.mu))
    )


def recursion(c: Letters) -> Expression:
    return factor(c) ** 2 * c.measured("before") + floor(c) * c.zeta**2


@bound(
    name="localsgd/any-state",
    source="docs/theorems.md, in our words",
    assumes=[CONTRACTING],
    statement=r"\|\bar x_{s+1}-x^*\|^2 \le (1-\eta\mu)^4\|\bar x_s-x^*\|^2 + c\,\zeta^2,\quad c = "
    r"\frac{2\eta^3(L-\mu)(1-\eta\mu)^3}{(2-\eta L-\eta\mu)(2+\eta L-3\eta\mu)},\quad \tau = 2",
    classes=over(
        [STRONG, similar(zeta=for_all("0 < zeta"))],
        FedAvg(local_steps=2, step_size=for_all("0 < eta < 2/(L + mu)")),
        rounds=1,
    ),
    measured={"before": r"\|\bar x_s-x^*\|^2"},
    corrected=recursion,
    correction="Found by a search; its certificate is the proof.",
    false_siblings=[
        ("two thirds of c", lambda c: recursion(c) - floor(c) * c.zeta**2 / 3),
        (
            "twice μ",
            lambda c: (1 - 2 * c.eta * c.mu) ** 4 * c.measured("before") + floor(c) * c.zeta**2,
        ),
    ],
    explain="c is the optimum of the program at the points that were solved (docs/theorems.md).",
)
def after_a_round(view: Steps) -> Reduction | None:
    if not view.last:
        return None
    before = sq(view.round_start("w") - view.minimiser)
    return each("round", "local_step", sq(view.mean("w") - view.minimiser), before=before)
