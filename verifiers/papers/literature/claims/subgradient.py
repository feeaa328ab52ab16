"""The subgradient method: the best, the last and the next iterate."""

from sympy import sqrt

from driftproof.synthetic.classes import bounded_gradients, convex, over, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps, smallest
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._methods import Decaying
from driftproof.verifiers.papers.literature.claims._shared import (
    change_of,
    false,
    gap_at_end,
    unchanged,
)

LIPSCHITZ = bounded_gradients(convex(), G=1), start_within(R=1)


@bound(
    name="literature/subgradient-best",
    source="PEPit 0.5, subgradient_method, after Drori & Teboulle 2016",
    statement=r"\min_{t\le n} f(x_t)-f^* \le \frac{GR}{\sqrt{n+1}},\quad \eta=\frac "
    r"R{G\sqrt{n+1}},\ T=n+1",
    classes=over(LIPSCHITZ, FedAvg(step_size=0.5), rounds=4, clients=1),
    right=lambda c: c.G * c.R / sqrt(c.T),
)
def subgradient_best(view: Steps) -> Reduction | None:
    """The best iterate of the subgradient method.

    Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/unconstrained_convex_minimization/subgradient_method.py
    Truth: true, tight: Drori & Teboulle (2016)
    """
    return smallest("transition", view.gap(view.before.w.mean(0)))


@bound(
    name="literature/subgradient-decaying",
    source="Zamani & Glineur 2023, abstract, the optimal method",
    statement=r"f(x_{N+1})-f^* \le \frac{BR}{\sqrt{N+1}},\quad "
    r"h_k=\frac{R(N+1-k)}{B\sqrt{(N+1)^3}},\ N=3",
    classes=over(LIPSCHITZ, Decaying(step_size=0.125), rounds=3, clients=1),
    right=lambda c: c.G * c.R / sqrt(c.T + 1),
    explain="With N = 3 and R = B = 1 the steps are 3/8, 2/8 and 1/8.",
)
def subgradient_decaying(view: Steps) -> Reduction | None:
    """The last iterate of the subgradient method, its steps falling along a line to 0.

    Text: https://arxiv.org/abs/2307.11134
    Truth: true, tight: Zamani & Glineur (2023)
    """
    return gap_at_end(view)


@bound(
    name="literature/subgradient-descent",
    source="a belief; Boyd et al. 2003, Subgradient methods, refute it",
    statement=r"f(x_1)-f^* \le f(x_0)-f^*",
    classes=over(LIPSCHITZ, FedAvg(step_size=0.01), rounds=1, clients=1),
    measured={"before": r"f(x_0)-f^*"},
    right=unchanged,
    erratum=false("Boyd et al. (2003): a negative subgradient need not be a direction of descent."),
)
def subgradient_descent(view: Steps) -> Reduction | None:
    """A subgradient step lowers the objective, if it is short.

    Text: https://github.com/shailesh1729/tisp/blob/49e59c57a29e9609e620baf1d57d2ef6822a23f6/book/subgradient_methods/basic_subgradient.md
    Truth: false: Boyd, Xiao & Mutapcic (2003); the text's first observation
    """
    return change_of(view.gap, view)


@bound(
    name="literature/last-iterate",
    source="a belief, of the bound GR/√T; Harvey et al. 2019 refute it",
    statement=r"f(x_T)-f^* \le \frac{GR}{\sqrt T},\quad \eta=\frac R{G\sqrt T}",
    classes=over(LIPSCHITZ, FedAvg(step_size=0.25), rounds=16, clients=1),
    right=lambda c: c.G * c.R / sqrt(c.T),
    erratum=false(
        "Harvey et al. (2019): the last iterate is worse by a factor log T, for this step size too."
    ),
)
def last_iterate(view: Steps) -> Reduction | None:
    """The last iterate of the subgradient method has the rate of the average.

    Text: https://arxiv.org/abs/2604.13870
    Truth: false: Harvey et al. (2019): it has a factor log T
    """
    return gap_at_end(view)
