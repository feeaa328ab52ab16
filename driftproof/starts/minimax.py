"""A minimax problem, a method and a claim: descent in x and ascent in y, both at once.

f_i(x, y) = a⟨x, y⟩ + ½λ‖x‖² − ½‖y‖². So y*(x) = ax, and Φ(x) = max_y f(x, y) = ½(a² + λ)‖x‖².
As a bilevel problem it has g_i = −f_i, as every MinimaxProblem.
"""

from collections import namedtuple

import numpy as np
import torch

import driftproof as dp


def saddle(x, y, sample):  # f of one sample; autograd makes what a client can be asked
    slope, ridge = sample
    return slope * (x * y).sum() + ridge * (x**2).sum() / 2 - (y**2).sum() / 2


@dp.problem(name="saddle", source="my draft", statement=r"\min_x \max_y \tfrac1n\sum_i f_i(x, y)")
class Saddle(dp.MinimaxProblem):
    clients: dp.PositiveInt = 2
    dim: dp.One = 1
    upper_dim: dp.One = 1
    slope: dp.Positive = 1.0
    ridge: dp.Positive = 0.5

    @property
    def constants(self):  # those that are proven
        return {"objective_smoothness": self.slope**2 + self.ridge, "lower_strong_convexity": 1}

    @property
    def solution(self):  # min Φ
        return dp.Solution(0.0, 0.0, np.array([0.0]), {"method": "closed form", "gap": 0.0})

    def lower_solution(self, x):  # y*(x), torch tensors: [upper_dim, points] to [dim, points]
        return self.slope * x

    def start(self):
        return np.array([1.0, 0.0])  # x_0 and y_0

    def oracles(self, dtype, device="cpu", clients=None):
        data = [(torch.tensor([self.slope]), torch.tensor([self.ridge]))] * self.clients
        return dp.AutogradMinimax(
            saddle, data=data, upper_dim=1, clients=clients, dtype=dtype, device=device
        )


State = namedtuple("State", "x y")  # tensors of each client, [clients, 1, replicates]


@dp.algorithm(name="both", source="my draft", statement=r"x^+ = x - \alpha\nabla_x f, \dots")
class Both(dp.Algorithm):
    local_steps: dp.One = 1
    alpha: dp.Positive = 0.1
    beta: dp.Positive = 0.1
    needs, iterate = "minimax", "x"
    notation = {"alpha": "alpha", "K": "rounds", "F_gap": "initial_gap"}
    notation["L"] = "objective_smoothness"

    def init(self, ctx, oracles, start):
        at = oracles.upper_dim
        return State(ctx.everywhere(start[:at]), ctx.everywhere(start[at:]))

    def step(self, ctx, oracles, state):
        x = state.x - self.alpha * oracles.upper_grad_x(state.x, state.y, None)
        y = state.y + self.beta * oracles.upper_grad_y(state.x, state.y, None)
        return State(*ctx.average(x, y))


@dp.bound(
    name="mine/minimax",
    source="my draft, Theorem 1",
    statement=r"\frac1K\sum_k\|\nabla\Phi(x_k)\|^2 \le \frac{2(\Phi(x_0)-\Phi^*)}{\alpha K}",
    assumes=[dp.Assumption("small step", r"\alpha L \le 1", relation=lambda c: c.alpha * c.L <= 1)],
    cases=dp.grid(Saddle(slope=dp.sweep(1.0, 2.0)), Both(beta=dp.sweep(0.1, 1.0)), rounds=10),
    right=lambda c: 2 * c.F_gap / (c.alpha * c.K),
)
def descent(view):
    return dp.average("round", dp.sq(view.gradient(view.round_start("x"))))
