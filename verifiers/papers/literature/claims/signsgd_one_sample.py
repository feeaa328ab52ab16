r"""signSGD has its rate with one sample a step.

Theorem 1 of Bernstein et al. (2018) takes K samples in each of K steps, N = K² in all. The belief
is that one will do.

Text: https://arxiv.org/abs/1901.09847

Truth: false: Karimireddy et al. (2019), Counterexample 1
"""

from math import sqrt

import sympy
import torch

from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.algorithms.sign_descent import SignDescent
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.measure import Reduction, States, average
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._instances import KARIMIREDDY
from driftproof.verifiers.papers.literature.claims._signs import ASSUMED, rate

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
    assumes=[
        *ASSUMED,
        Assumption("samples", "n_k=1", relation=lambda c: sympy.Eq(c.n_k, 1)),
    ],
    cases=[*NATURAL, *KNOWN],
    right=rate,
    range=lambda c: c.G,
    erratum=Erratum(
        "false",
        changes="Karimireddy et al. (2019): the sign of a sample may point the wrong way on the "
        "mean. Their remedy is to feed the error back.",
        depends="theorem",
    ),
)
def signsgd_one_sample(view: States) -> Reduction:
    return average("round", torch.abs(view.gradient(view.mean("w"))).sum(0))
