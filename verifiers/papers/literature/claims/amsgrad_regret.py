r"""AMSGrad's average regret falls like √(log T/T), in expectation over independent losses.

The instance is the one on which Adam fails. What is measured is as in ``adam_regret``.

Text: not at hand; https://arxiv.org/abs/1904.09237

Truth: true for β₁ = 0; Tran & Phong (2019) mend the proof where β₁ varies
"""

import sympy

from driftproof.toolkit.algorithms.adam import Adam
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, States, average
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._instances import (
    IN_THE_BOX,
    ONE_COORDINATE,
    REDDI,
)


def regret(c: Letters) -> Expression:
    D, root = 2 * c.r, sympy.sqrt(1 - c.beta_2)
    logarithm = sympy.sqrt(1 + sympy.log(c.T))
    return (D**2 * c.G / c.alpha + c.alpha * logarithm * c.G / root) / sympy.sqrt(c.T)


@bound(
    name="literature/amsgrad-regret",
    source="Reddi, Kale & Kumar 2018, Theorem 4, β₁ = 0, one coordinate",
    statement=r"\frac{R_T}T \le \frac{D^2\sqrt{T\hat v_T}}{\alpha T}"
    r" + \frac{\alpha\sqrt{1+\log T}\,\|g_{1:T}\|_2}{\sqrt{1-\beta_2}\,T}",
    assumes=[
        ONE_COORDINATE,
        IN_THE_BOX,
        Assumption("momentum", r"\beta_1=0", relation=lambda c: sympy.Eq(c.beta_1, 0)),
    ],
    cases=grid(
        REDDI,
        Adam(step_size=0.8, momentum=0.0, memory=0.1, radius=1.0, long_memory=True),
        rounds=400,
    ),
    right=regret,
    range=lambda c: 2 * c.r * c.G,
)
def amsgrad_regret(view: States) -> Reduction:
    return average("round", view.gap(view.mean("w")))
