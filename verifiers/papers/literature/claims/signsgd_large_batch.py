r"""signSGD with K samples in each of K steps.

Text: not at hand; https://arxiv.org/abs/1802.04434

Truth: true: Bernstein et al. (2018)
"""

import sympy
import torch

from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.algorithms.sign_descent import SignDescent
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.measure import Reduction, States, average
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._signs import ASSUMED, rate


@bound(
    name="literature/signsgd-large-batch",
    source="Bernstein et al. 2018, Theorem 1, one coordinate, N = K²",
    statement=r"\frac1K\sum_k\mathbb{E}\|\nabla f(x_k)\|_1 \le \frac1{\sqrt K}"
    r"\Big(\sqrt{\|L\|_1}\big(f_0-f^*+\tfrac12\big)+2\|\sigma\|_1\Big),\quad n_k=K",
    assumes=[
        *ASSUMED,
        Assumption("samples", "n_k=K", relation=lambda c: sympy.Eq(c.n_k, c.K)),
    ],
    cases=grid(
        PiecewiseLosses(clients=1, noise=sweep(0.0, 0.5)),
        SignDescent(step_size=0.1, batch=100),
        rounds=100,
    ),
    right=rate,
    range=lambda c: c.G,
)
def signsgd_large_batch(view: States) -> Reduction:
    return average("round", torch.abs(view.gradient(view.mean("w"))).sum(0))
