"""Boundedness of exp on the range of the losses.

**Statement.** "In the above problem (6), g(y), y ∈ 𝒴 is a monotonically increasing function, where
𝒴 is the range of functions {f^i(w)}. Thus, g(y) is generally smooth and ‖∇g(y)‖ is bounded."

**Kind.** Symbolic.

**Finding.** It needs a condition that is not stated: the losses are bounded from above. With it the
sentence holds, and "generally" and "the range of" the losses show that such a range was thought of.
Without it: the logistic loss of the experiments has the range (0, ∞) on R^d, on which no constant
bounds exp(y/γ)/γ: Assumption 2 fails for (6) however the g of (6) is scaled. On a ball ‖w‖ ≤ B with
features ‖a‖ ≤ R the range ends at M = log(1 + e^{RB}), and the constants are exp(M/γ)/γ and
exp(M/γ)/γ². Nothing in Algorithm 1 keeps its iterates in a ball: with one separable client (one
sample a = 1 labelled 1, from w = 0), each step goes outwards by η e^{f/γ}/(γ(1 + e^w)), at least
η/(γ(1 + e^B)) within the ball, so every ball is left after finitely many steps.
"""

from enum import Enum
from typing import NamedTuple

from sympy import Rational, exp, log, symbols

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, computed, convex_with_minimum, nonnegative
from driftproof.verifiers.claim_types.proof import proof

gamma, top, constant = symbols("gamma M G", positive=True)
u = symbols("u", nonnegative=True)  # (M − y)/γ, which is 0 at y = M


class Models(Enum):
    """Where the models w are, and with them the losses."""

    ANYWHERE = "all of R^d"
    IN_A_BALL = "a ball"
    KEPT_IN_A_BALL = "a ball that Algorithm 1 does not leave"


class SlopeBound(NamedTuple):
    """What is claimed to bound ‖∇g‖ on the losses of which models."""

    bound: Expression
    models: Models


def _stays() -> Step:
    """Run Algorithm 1 on one client with one sample, in 50 digits, until it leaves the ball."""
    ball, step_size, temperature = Rational(2), Rational(1, 10), 1
    w, count = Rational(0), 0
    while w <= ball and count < 1000:
        loss = log(1 + exp(-w))
        moved = w + step_size * exp(loss / temperature) / temperature / (1 + exp(w))
        w, count = moved.n(50), count + 1
    says = rf"\|w\| \le {ball} \text{{ at every step}}"
    told = f"one client, one sample, η = {step_size}, γ = {temperature}: w = {w.n(6)}"
    return computed(says, w <= ball, f"{told} after {count} steps, in a ball of radius {ball}")


@proof(
    name="comfedl/equation-6-bounded",
    source="ComFedL, arXiv v1 and v3, the paragraph after Assumption 4",
    statement=r"\sup_{y\in\mathcal{Y}}\|\nabla g(y)\| \le G_g < \infty,\quad g(y)=\exp(y/\gamma),"
    r"\quad \mathcal{Y} \text{ the range of } \{f^i(w)\}",
    readings={
        "losses on all of R^d": literal(SlopeBound(constant, Models.ANYWHERE)),
        "losses bounded above by M": intended(
            SlopeBound(exp(top / gamma) / gamma, Models.IN_A_BALL),
            quote="“where 𝒴 is the range of functions {f^i(w)}. Thus, g(y) is generally smooth and "
            "‖∇g(y)‖ is bounded”: bounded on that range, and “generally”, not always",
        ),
    },
    erratum=Erratum(
        "incomplete",
        changes="The losses must be bounded from above. Logistic regression on R^d, the paper's "
        "own experiment, does not satisfy Assumption 2, and Algorithm 1 does not stay in a ball.",
        depends="theorem",
    ),
    false_siblings=[
        (
            "Algorithm 1 stays in the ball",
            SlopeBound(exp(top / gamma) / gamma, Models.KEPT_IN_A_BALL),
        ),
        ("half the constant", SlopeBound(exp(top / gamma) / (2 * gamma), Models.IN_A_BALL)),
        ("the value at y = 0", SlopeBound(1 / gamma, Models.IN_A_BALL)),
    ],
    explain=(
        "The losses of the experiments are not bounded on R^d, and the derivative of exp grows "
        "with them: Assumption 2 holds on a ball only, and Algorithm 1 has no projection onto one."
    ),
)
def bounded(right: SlopeBound) -> list[Step]:
    bound, models = right
    if models is Models.ANYWHERE:
        # for any G: y = γ log(2Gγ + 2) > 0 is a value of the loss, and g'(y) = 2G + 2/γ
        at = gamma * log(2 * bound * gamma + 2)
        return [
            nonnegative(
                bound - (exp(at / gamma) / gamma).simplify(),
                r"e^{y/\gamma}/\gamma \le G \text{ at } y = \gamma\log(2G\gamma+2)",
            )
        ]
    steps = [
        nonnegative(
            (bound * gamma * exp(-top / gamma)).simplify() - 1,
            r"G_g \ge e^{M/\gamma}/\gamma, \text{ the value at } y = M",
        ),
        convex_with_minimum(
            exp(u) - 1 - u,
            u,
            0,
            0,
            r"e^{(M-y)/\gamma} \ge 1 + (M-y)/\gamma \ge 1 \text{ for } y \le M",
        ),
    ]
    return [*steps, _stays()] if models is Models.KEPT_IN_A_BALL else steps
