"""A problem of which every mean is a closed form: gradient steps on L x²/2, with noise of one sign.

After t steps x_t = (1 − ηL)^t x_0 plus noise of mean 0, and E x_t² = (1 − ηL)^{2t} x_0² +
η²σ² Σ_{j<t} (1 − ηL)^{2j}.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch

from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import SignMean
from driftproof.toolkit.parameters import NonNegative, Positive, Real
from driftproof.toolkit.problem import Problem, Solution, problem
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.verify import Settings, judge


@problem(name="line", source="a problem for calibration", statement=r"F(x) = \tfrac L2 x^2")
class Line(Problem):
    """Scalar, one client: L, x_0 of any sign, and the gradient's standard deviation σ."""

    clients: int = 1
    dim: int = 1
    curvature: Positive = 1.0
    at: Real = 1.0
    noise: NonNegative = 0.0

    notation = {"x_0": "at", "sigma": "field_gradient_noise"}

    @cached_property
    def constants(self):
        return {"objective_smoothness": self.curvature, "field_gradient_noise": self.noise}

    @cached_property
    def solution(self):
        return Solution(0.0, 0.0, np.zeros(1), {"method": "closed form", "gap": 0.0})

    def start(self):
        return np.array([self.at])

    def objective(self, x):
        return self.curvature / 2 * (x * x).sum(0)

    def gradient(self, x):
        return self.curvature * x

    def oracles(self, dtype, device="cpu", clients=None):
        return _Oracles(self, dtype, device)


# judged as driftproof's own leaves are: of a user's problem each constant would be attacked first
Line.__module__ = "driftproof.line"


class _Oracles:
    def __init__(self, of, dtype, device):
        self._of, self.clients = of, 1
        self.client_weights = torch.ones((1, 1, 1), dtype=dtype, device=device)

    def field_law(self, batch):
        return SignMean(batch, (1,)) if self._of.noise else None

    def field_grad(self, x, xi):
        exact = self._of.curvature * x
        return exact if xi is None else exact + self._of.noise * xi


def verdict(member, step_size, rounds, left, right, *, profile="smoke", **fields):
    """Judge left ≤ right on a run of one local step a round, as ``driftproof verify`` does."""
    case = Case(member, FedAvg(local_steps=1, step_size=step_size), rounds)
    decorate = bound(
        name="calibration/line", source="–", statement="x", cases=[case], right=right, **fields
    )
    (row,) = judge([decorate(left)], Settings(profile=profile))
    return row.verdict
