"""What a theorem speaks of, measured on problems where it is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import MAML, BoundedComposition, PenalisedDRO
from driftproof.toolkit.algorithms import ComFedL
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import find
from driftproof.verifiers.claims.comfedl._theorem_bounds import plus, sharpened
from driftproof.verifiers.experiment.theory import (
    drift,
    estimated_constants,
    plug_in_bias,
    right_side,
    squared_gradient,
)
from driftproof.verifiers.judges.bounds import right_side as judged_right_side

KNOWN = [
    MAML(clients=3, dim=3, gradient_noise=0.2),
    BoundedComposition(clients=2, dim=3, inner_curvature=0.5, inner_value_noise=0.3),
    PenalisedDRO(clients=2, samples=4),
]
ROLES = (
    "inner_gradient_bound", "outer_gradient_bound", "inner_value_noise", "inner_gradient_noise",
    "outer_gradient_noise", "objective_smoothness", "inner_smoothness", "outer_smoothness",
)  # fmt: skip


def visited(problem, count=4):
    random = np.random.default_rng(0)
    return torch.from_numpy(0.4 * random.normal(size=(problem.dim, count)))


@pytest.mark.parametrize("problem", KNOWN, ids=str)
def test_what_is_seen_is_at_most_what_is_proven(problem):
    seen = estimated_constants(problem, visited(problem), ("test",))
    for role in ROLES:
        assert seen[role] <= problem.constants[role] * (1 + 1e-9) + 1e-9, role


def test_the_norm_of_a_symmetric_jacobian_is_found():
    problem = MAML(dim=12, clients=2, largest=2.0)
    seen = estimated_constants(problem, visited(problem), ("test",))
    exact = np.abs(1 - problem.adaptation * problem.spectrum).max()
    assert 0.9 * exact <= seen["inner_gradient_bound"] <= exact * (1 + 1e-9)


def test_a_right_side_is_that_of_the_judge():
    claim = find("claim", "comfedl/theorem-1").load()
    problem, algorithm = BoundedComposition(), ComFedL(local_steps=2, step_size=0.05)
    for right in (plus, sharpened):
        case = Case(problem, algorithm, rounds=20)
        constants = dict(problem.constants) | {"initial_gap": problem.initial_gap[1]}
        ours = right_side(right, problem, algorithm, 20, constants)
        assert ours == judged_right_side(claim, case, right)[1]


def test_the_gradient_and_the_drift_are_what_they_say():
    problem = MAML(dim=2)
    point = torch.tensor([0.3, -0.2], dtype=torch.float64)
    at = point.clone().requires_grad_()
    problem.objective(at[:, None]).sum().backward()
    assert squared_gradient(problem, point) == pytest.approx(float(at.grad.square().sum()))
    marked = torch.tensor([[[1.0], [0.0]], [[-1.0], [0.0]], [[0.0], [3.0]]])
    centre = np.array([0.0, 1.0])
    expected = np.mean([np.linalg.norm(x - centre) for x in ([1, 0], [-1, 0], [0, 3])])
    assert drift(marked) == pytest.approx(expected)


def test_the_bias_of_a_plug_in_gradient_is_seen_where_there_is_one():
    """One sample of g inside f' = λ/y is biased; all samples are not."""
    problem = PenalisedDRO(clients=1, dim=2, samples=8, penalty=0.3)
    point = torch.tensor([0.5, -0.5], dtype=torch.float64)
    seen = plug_in_bias(problem, point, ("test",), batch=1, draws=64)
    oracles = problem.oracles(torch.float64)
    every = point[None, :, None].expand(1, 2, 8)
    y, pullback = oracles.inner(every, torch.arange(8)[None, None])  # each sample once
    exact = (
        pullback(oracles.outer_grad(y, None)).mean(2)[0] - problem.gradient(point[:, None])[:, 0]
    )
    assert seen == pytest.approx(float(exact.norm()), rel=0.5)
    quiet = plug_in_bias(problem, point, ("test",), batch=4096, draws=16)
    assert quiet < 0.1 * seen


def test_noise_without_a_bias_is_not_taken_for_one():
    """Only the outer gradient is noisy. The halves' products have mean 0: half of them are below.

    The norm of the mean deviation, a bias by another name, is above 0 in every estimate.
    """
    problem = BoundedComposition(clients=1, dim=3, inner_dim=3, outer_gradient_noise=0.5)
    point = torch.full((3,), 0.2, dtype=torch.float64)
    seen = [plug_in_bias(problem, point, ("test", str(k)), draws=64) for k in range(40)]
    assert 10 <= sum(value == 0 for value in seen) <= 35
    assert max(seen) < 0.5


def test_a_known_noise_is_found():
    known = {"inner_value_noise": 0.3, "outer_gradient_noise": 0.2}
    problem = BoundedComposition(clients=2, **known)
    seen = estimated_constants(problem, visited(problem), ("test",))
    assert {role: seen[role] for role in known} == pytest.approx(known)  # signs: no spread


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_the_noise_of_a_single_slope_is_found(shift):
    problem = BoundedComposition(clients=1, inner_gradient_noise=0.2)
    points = visited(problem) + shift
    seen = estimated_constants(problem, points, ("test",))["inner_gradient_noise"]
    assert seen == pytest.approx(0.2 * float(points.cos().abs().max()))
