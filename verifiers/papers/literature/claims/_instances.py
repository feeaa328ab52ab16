"""Published counterexamples as members of driftproof's families, and what is assumed of both."""

from math import sqrt

from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.cases import Assumption

ONE_COORDINATE = Assumption("one coordinate", "", applies=lambda case: case.problem.dim == 1)
IN_THE_BOX = Assumption(
    "a minimiser in the box",
    r"|\theta^*|\le D/2",
    applies=lambda case: float(case.problem.minimiser.abs().max()) <= case.algorithm.radius,
)

REDDI = PiecewiseLosses(
    clients=1, gradients=((((-1.1, -1 / 3), (-0.9, 1 / 3)),),), noise=8 / (3 * sqrt(2)), rare=1 / 3
)
"""Reddi et al. 2018, Theorem 3, with C = 3 and δ = 1/3: gradients are 3 in one step of three, else
−1, of mean 1/3; the minimum is at −1."""
KARIMIREDDY = PiecewiseLosses(
    clients=1, gradients=((((-1.1, 0.0), (-1.0, 0.25)),),), noise=15 / (4 * sqrt(3)), rare=0.25
)
"""Karimireddy et al. 2019, Counterexample 1: gradients are 4 in one step of four, else −1, of mean
1/4; the minimum is where the line ends, from −1.1."""
