"""Cases that several bounds are judged on."""

from typing import Literal

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep

NOISY = BoundedComposition(
    clients=4,
    dim=3,
    inner_dim=2,
    inner_curvature=0.5,
    inner_value_noise=0.02,
    inner_gradient_noise=0.02,
)
"""The theorems' case with noise; what else differs is said where it is used."""


def wide(
    rounds: int,
    branch: Literal["general", "special"] = "general",
    heterogeneity: float = 0.0,
    inner_heterogeneity: float = 0.0,
) -> list[Case[BoundedComposition, ComFedL]]:
    """Return noiseless cases with constants over six orders of magnitude, for the full profile.

    They are 108 for each value of the heterogeneity that is swept.
    """
    problem = BoundedComposition(
        clients=sweep(1, 2, 5),
        dim=2,
        inner_dim=2,
        outer_curvature=sweep(1e-3, 1.0, 1e3),
        inner_curvature=sweep(0.0, 2.0),
        heterogeneity=heterogeneity,
        inner_heterogeneity=inner_heterogeneity,
    )
    algorithm = ComFedL(branch=branch, local_steps=sweep(1, 10), step_size=sweep(1e-4, 1e-2, 1.0))
    return grid(problem, algorithm, rounds=rounds)
