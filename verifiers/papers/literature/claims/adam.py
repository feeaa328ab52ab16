"""Adam and AMSGrad."""

from math import sqrt

import sympy

from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.algorithms.adam import Adam
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, States, average
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._shared import ONE_COORDINATE, false

ASSUMED = [
    ONE_COORDINATE,
    Assumption(
        "a minimiser in the box",
        r"|\theta^*|\le D/2",
        applies=lambda case: float(case.problem.minimiser.abs().max()) <= case.algorithm.radius,
    ),
    Assumption("momentum", r"\beta_1=0", relation=lambda c: sympy.Eq(c.beta_1, 0)),
]
REDDI = PiecewiseLosses(
    clients=1, gradients=((((-1.1, -1 / 3), (-0.9, 1 / 3)),),), noise=8 / (3 * sqrt(2)), rare=1 / 3
)
"""Reddi et al. 2018, Theorem 3, with C = 3 and δ = 1/3: gradients are 3 in one step of three, else
−1, of mean 1/3; the minimum is at −1."""
NATURAL = grid(
    PiecewiseLosses(clients=1, noise=sweep(0.0, 0.5)),
    Adam(step_size=1.0, momentum=0.0, memory=sweep(0.99, 0.9), radius=3.0),
    rounds=100,
)
KNOWN = grid(REDDI, Adam(step_size=0.8, momentum=0.0, memory=0.1, radius=1.0), rounds=1000)


def regret(c: Letters) -> Expression:
    D, root = 2 * c.r, sympy.sqrt(1 - c.beta_2)
    return (D**2 * c.G / (2 * c.alpha) + c.alpha * c.G**2 / root) / sympy.sqrt(c.T) + (
        D**2 * c.G * root / (2 * c.alpha * c.T)
    )


@bound(
    name="literature/adam-regret",
    source="Kingma & Ba 2015, Theorem 4.1 and Corollary 4.2, β₁ = 0, one coordinate",
    statement=r"\frac{R(T)}T \le \frac{D^2\sqrt{T\hat v_T}}{2\alpha T}"
    r" + \frac{\alpha G\|g_{1:T}\|_2}{\sqrt{1-\beta_2}\,T}"
    r" + \frac{D^2G\sqrt{1-\beta_2}}{2\alpha T}",
    assumes=ASSUMED,
    cases=[*NATURAL, *KNOWN],
    right=regret,
    range=lambda c: 2 * c.r * c.G,
    erratum=false(
        "Reddi, Kale and Kumar (2018): a large gradient that is rare is forgotten, and the "
        "regret stays. AMSGrad remembers it."
    ),
)
def adam_regret(view: States) -> Reduction:
    """Adam's average regret falls like 1/√T, in expectation over independent losses.

    The expected regret is at least the mean of F(x_t) − F*, which is measured. With
    β_{1,t} = β_1 = 0 the third term of Theorem 4.1 is the same for every λ. √v ≤ G and
    ‖g_{1:T}‖ ≤ G√T as in the print.

    Text: https://github.com/Nischalj10/adam/blob/82fb262c965c71681f4d5c3cc1084f27a07c299c/adam_research_paper.md
    Truth: false: Reddi, Kale & Kumar (2018), Theorems 1 to 3
    """
    return average("round", view.gap(view.mean("w")))


def slower_regret(c: Letters) -> Expression:
    D, root = 2 * c.r, sympy.sqrt(1 - c.beta_2)
    logarithm = sympy.sqrt(1 + sympy.log(c.T))
    return (D**2 * c.G / c.alpha + c.alpha * logarithm * c.G / root) / sympy.sqrt(c.T)


@bound(
    name="literature/amsgrad-regret",
    source="Reddi, Kale & Kumar 2018, Theorem 4, β₁ = 0, one coordinate",
    statement=r"\frac{R_T}T \le \frac{D^2\sqrt{T\hat v_T}}{\alpha T}"
    r" + \frac{\alpha\sqrt{1+\log T}\,\|g_{1:T}\|_2}{\sqrt{1-\beta_2}\,T}",
    assumes=ASSUMED,
    cases=grid(
        REDDI,
        Adam(step_size=0.8, momentum=0.0, memory=0.1, radius=1.0, long_memory=True),
        rounds=400,
    ),
    right=slower_regret,
    range=lambda c: 2 * c.r * c.G,
)
def amsgrad_regret(view: States) -> Reduction:
    """AMSGrad's average regret falls like √(log T/T), in expectation over independent losses.

    The instance is the one on which Adam fails. What is measured is as in ``adam_regret``.

    Text: not at hand; https://arxiv.org/abs/1904.09237
    Truth: true for β₁ = 0; Tran & Phong (2019) mend the proof where β₁ varies
    """
    return average("round", view.gap(view.mean("w")))
