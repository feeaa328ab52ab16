"""Cases of the full profile: constants over six orders of magnitude, without noise."""

from synthetic.problems.bounded_composition import BoundedComposition
from toolkit.algorithms.comfedl import ComFedL
from toolkit.cases import grid


def wide(rounds, branch="general", **heterogeneity):
    """Return 216 cases; ``heterogeneity`` sweeps a field in which the clients differ."""
    problem = BoundedComposition(
        clients=[1, 2, 5], dim=2, inner_dim=2, outer_curvature=[1e-3, 1.0, 1e3],
        inner_curvature=[0.0, 2.0], **heterogeneity,
    )  # fmt: skip
    algorithm = ComFedL(branch=branch, local_steps=[1, 10], step_size=[1e-4, 1e-2, 1.0])
    return grid(problem, algorithm, rounds=rounds)
