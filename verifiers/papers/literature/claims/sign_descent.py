"""signSGD."""

from math import sqrt

import sympy
import torch

from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.algorithms.sign_descent import SignDescent
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, States, average
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._shared import ONE_COORDINATE, false

ASSUMED = [
    ONE_COORDINATE,
    Assumption(
        "step size",
        r"\delta=1/\sqrt{\|L\|_1K}",
        relation=lambda c: sympy.Eq(c.delta**2 * c.L * c.K, 1),
    ),
]


def rate(c: Letters) -> Expression:
    """Return the bound on the mean of E‖∇f(x_k)‖₁."""
    return (sympy.sqrt(c.L) * (c.F_gap + sympy.Rational(1, 2)) + 2 * c.sigma) / sympy.sqrt(c.K)


KARIMIREDDY = PiecewiseLosses(
    clients=1, gradients=((((-1.1, 0.0), (-1.0, 0.25)),),), noise=15 / (4 * sqrt(3)), rare=0.25
)
"""Karimireddy et al. 2019, Counterexample 1: gradients are 4 in one step of four, else −1, of mean
1/4; the minimum is where the line ends, from −1.1."""


@bound(
    name="literature/signsgd-large-batch",
    source="Bernstein et al. 2018, Theorem 1, one coordinate, N = K²",
    statement=r"\frac1K\sum_k\mathbb{E}\|\nabla f(x_k)\|_1 \le \frac1{\sqrt K}"
    r"\Big(\sqrt{\|L\|_1}\big(f_0-f^*+\tfrac12\big)+2\|\sigma\|_1\Big),\quad n_k=K",
    assumes=[*ASSUMED, Assumption("samples", "n_k=K", relation=lambda c: sympy.Eq(c.n_k, c.K))],
    cases=grid(
        PiecewiseLosses(clients=1, noise=sweep(0.0, 0.5)),
        SignDescent(step_size=0.1, batch=100),
        rounds=100,
    ),
    right=rate,
    range=lambda c: c.G,
)
def signsgd_large_batch(view: States) -> Reduction:
    """signSGD with K samples in each of K steps.

    Text: not at hand; https://arxiv.org/abs/1802.04434
    Truth: true: Bernstein et al. (2018)
    """  # noqa: D403
    return average("round", torch.abs(view.gradient(view.mean("w"))).sum(0))


NATURAL = grid(
    PiecewiseLosses(clients=1, noise=sweep(0.0, 0.5)), SignDescent(step_size=0.05), rounds=400
)
KNOWN = grid(KARIMIREDDY, SignDescent(step_size=1 / sqrt(2500)), rounds=1000)
"""F is 5/2-smooth, so that δ = 1/√(LK)."""


@bound(
    name="literature/signsgd-one-sample",
    source="a belief, of Bernstein et al. 2018, Theorem 1; Karimireddy et al. 2019 refute it",
    statement=r"\frac1K\sum_k\mathbb{E}\|\nabla f(x_k)\|_1 \le \frac1{\sqrt K}"
    r"\Big(\sqrt{\|L\|_1}\big(f_0-f^*+\tfrac12\big)+2\|\sigma\|_1\Big),\quad n_k=1",
    assumes=[*ASSUMED, Assumption("samples", "n_k=1", relation=lambda c: sympy.Eq(c.n_k, 1))],
    cases=[*NATURAL, *KNOWN],
    right=rate,
    range=lambda c: c.G,
    erratum=false(
        "Karimireddy et al. (2019): the sign of a sample may point the wrong way on the "
        "mean. Their remedy is to feed the error back."
    ),
)
def signsgd_one_sample(view: States) -> Reduction:
    """signSGD has its rate with one sample a step.

    Theorem 1 of Bernstein et al. (2018) takes K samples in each of K steps, N = K² in all. The
    belief is that one will do.

    Text: https://arxiv.org/abs/1901.09847
    Truth: false: Karimireddy et al. (2019), Counterexample 1
    """  # noqa: D403
    return average("round", torch.abs(view.gradient(view.mean("w"))).sum(0))
