"""What the estimator of Algorithm 1 estimates for (6).

**Kind.** Symbolic: exact expectations over every minibatch.
"""

from collections.abc import Callable

from sympy import Integer, Symbol, binomial, cosh, diff, exp, series, symbols, tanh

from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step, differs, vanishes
from driftproof.verifiers.claim_types.proof import proof

w, gamma, s, c, b = symbols("w gamma s c b", positive=True)


Objective = Callable[[Expression], Expression]
"""From the size of the minibatch to the function of w whose gradient u estimates without bias."""


def objective(value: Expression) -> Expression:
    return exp(value / gamma)


def loss(noise: Expression = 0) -> Expression:
    """Return f(w; ξ) for the mean ξ of a minibatch."""
    return w**2 / 2 - (c + s * noise) * w


def estimated(power: int = 1) -> Objective:
    """Return F_b (power 1), or a false relative of it."""
    return lambda size: objective(loss()) * cosh(s * w / (gamma * size)) ** (size**power)


@proof(
    name="comfedl/equation-6-estimator",
    source="ComFedL, arXiv v1 and v3, section 3, after (11)",
    statement=r"\mathbb{E}[u] \ne \nabla F(w),\quad u = \tfrac1\gamma\exp\big("
    r"f_{\mathcal{B}}(w)/\gamma\big)\nabla f_{\mathcal{B}}(w),\quad F(w) = \exp(f(w)/\gamma)",
    right=estimated(),
    false_siblings=[
        ("u is unbiased", lambda size: objective(loss())),
        ("the bias of one sample at every b", lambda size: estimated()(Integer(1))),
        ("without the power b", estimated(power=0)),
    ],
    explain=(
        "Biased, as both papers say. The step follows the gradient of another function, "
        "E exp(f_B/γ), whose minimiser is off by c·s²/(γb) to first order: the smaller γ, the "
        "larger the minibatch has to be."
    ),
)
def plug_in(right: Objective) -> list[Step]:
    steps = [_expectation(right(Integer(size)), size) for size in (1, 2, 3, 4)]
    steps.append(_biased(right(Integer(1))))
    stationary = w - c + s * tanh(s * w / (gamma * b))
    steps.append(
        vanishes(
            gamma * diff(estimated()(b), w) / estimated()(b) - stationary,
            r"\gamma (\log F_b)' = w - c + s\tanh(sw/(\gamma b))",
        )
    )
    e = Symbol("e", positive=True)  # 1/b
    near = (c - c * s**2 * e / gamma - c) + s * tanh(s * e * (c - c * s**2 * e / gamma) / gamma)
    first = series(near, e, 0, 2).removeO()
    says = r"w_b = c - \frac{c s^2}{\gamma b} + O(b^{-2})"
    return [*steps, vanishes(first, says)]


def _biased(function: Expression) -> Step:
    """Say whether the gradient of a function differs from that of F, by a witness."""
    return differs(diff(function, w) - diff(objective(loss()), w), r"\nabla R_1 \ne \nabla F")


def _expectation(function: Expression, size: int) -> Step:
    """Compare E u, summed over every minibatch of ``size`` signs, with a function's gradient."""
    mean = Integer(0)
    for ups in range(size + 1):
        value = loss(Integer(2 * ups - size) / size)
        chance = Integer(binomial(size, ups)) / 2**size
        mean += chance * objective(value) * diff(value, w) / gamma
    expanded = (mean - diff(function, w)).rewrite(exp) / objective(loss())
    return vanishes(
        expanded.expand(),
        rf"\mathbb{{E}}u = \nabla R_b,\; R_b \text{{ the stated function, }} b = {size}",
    )
