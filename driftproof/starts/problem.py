"""Bowls: quadratics with a minimum of its own for each client, and noise of known size.

F(x) = (1/n) Σ ½a(x − b_i)², b_i = ±h in turn: ∇F(x) = a(x − b̄), so F is a-smooth, exactly.
A sample of a client's gradient is a(x − b_i) ± σ, each sign with probability ½.
"""

from functools import cached_property

import numpy as np
import torch

from driftproof import NonNegative, One, Positive, PositiveInt, Problem, SignMean, Solution, problem


@problem(name="bowls", source="my draft", statement=r"F(x) = \frac1n\sum_i\tfrac a2(x-b_i)^2")
class Bowls(Problem):
    clients: PositiveInt = 2
    dim: One = 1
    curvature: Positive = 1.0
    spread: NonNegative = 1.0
    noise: NonNegative = 0.0
    distance: Positive = 2.0

    @property
    def targets(self):
        return self.spread * (-1.0) ** np.arange(self.clients)

    @property
    def constants(self):
        return {"objective_smoothness": self.curvature, "field_gradient_noise": self.noise}

    @cached_property
    def solution(self):
        best = self.targets.mean()
        value = 0.5 * self.curvature * float(np.mean((best - self.targets) ** 2))
        return Solution(value, value, np.array([best]), {"method": "closed form", "gap": 0.0})

    def start(self):
        return np.array([self.targets.mean() + self.distance])

    def objective(self, x):
        apart = x[0] - torch.as_tensor(self.targets, dtype=x.dtype)[:, None]
        return 0.5 * self.curvature * (apart**2).mean(0)

    def gradient(self, x):
        return self.curvature * (x - self.targets.mean())

    def oracles(self, dtype, device="cpu", clients=None):
        return Oracles(self, dtype, device, clients or range(self.clients))


class Oracles:
    """What the clients can ask, as tensors [clients, 1, replicates]."""

    def __init__(self, bowls, dtype, device, clients):
        self.bowls, self.clients = bowls, len(clients)
        targets = torch.tensor(bowls.targets[list(clients)], dtype=dtype, device=device)
        self.targets = targets[:, None, None]
        self.client_weights = torch.full_like(self.targets, 1 / bowls.clients)

    def field_law(self, batch):
        return SignMean(batch, (1,)) if self.bowls.noise else None

    def field_grad(self, x, xi):
        exact = self.bowls.curvature * (x - self.targets)
        return exact if xi is None else exact + self.bowls.noise * xi
