"""A bilevel problem, a method and a claim: x is chosen for how well y does, which is fitted to x.

g_i(x, y) = ½(y − ax)², f_i(x, y) = ½(y − 1)² + ¼x². So y*(x) = ax, and F'' = a² + ½."""

from collections import namedtuple

import numpy as np
import torch

import driftproof as dp


def lower(x, y, sample):  # g of one sample: autograd makes what a client can be asked
    return ((y - sample[0] * x) ** 2).sum() / 2


def upper(x, y, sample):  # f of one sample
    return ((y - 1) ** 2).sum() / 2 + (x**2).sum() / 4


@dp.problem(name="fitted", source="my draft", statement=r"\min_x \tfrac1n\sum_i f_i(x, y^*(x))")
class Fitted(dp.BilevelProblem):
    clients: dp.PositiveInt = 2
    dim: dp.One = 1
    upper_dim: dp.One = 1
    slope: dp.Positive = 1.0

    @property
    def constants(self):
        return {"objective_smoothness": self.slope**2 + 0.5, "lower_strong_convexity": 1}

    @property
    def solution(self):
        best = self.slope / (self.slope**2 + 0.5)
        value = ((self.slope * best - 1) ** 2 + best**2 / 2) / 2
        return dp.Solution(value, value, np.array([best]), {"method": "closed form", "gap": 0.0})

    def lower_solution(self, x):
        return self.slope * x

    def start(self):
        return np.array([2.0, 0.0])  # x_0 and y_0

    def oracles(self, dtype, device="cpu", clients=None):
        data = [(torch.tensor([self.slope]),)] * self.clients
        more = {"clients": clients, "dtype": dtype, "device": device, "upper_dim": 1}
        more["lower_smoothness"] = 1 + self.slope**2
        return dp.AutogradBilevel(upper, lower, upper_data=data, lower_data=data, **more)


State = namedtuple("State", "x y")  # tensors of each client, [clients, 1, replicates]


@dp.algorithm(name="alternate", source="my draft", statement=r"y^+ = y - \beta\nabla_y g")
class Alternate(dp.Algorithm):
    local_steps: dp.One = 1
    alpha: dp.Positive = 0.1
    beta: dp.Positive = 1.0
    needs, iterate = "bilevel", "x"
    notation = {"a": "alpha", "K": "rounds", "L": "objective_smoothness", "F_gap": "initial_gap"}

    def init(self, ctx, oracles, start):
        at = oracles.upper_dim
        return State(ctx.everywhere(start[:at]), ctx.everywhere(start[at:]))

    def step(self, ctx, oracles, state):
        y = state.y - self.beta * oracles.lower_grad(state.x, state.y, None)
        slope = oracles.upper_grad_y(state.x, y, None)
        indirect = oracles.lower_cross_product(state.x, y, slope, None)  # as if ∇²_yy g were 1
        x = state.x - self.alpha * (oracles.upper_grad_x(state.x, y, None) - indirect)
        return State(*ctx.average(x, y))


@dp.bound(
    name="mine/bilevel",
    source="my draft, Theorem 1",
    statement=r"\frac1K\sum_k\|\nabla F(x_k)\|^2 \le \frac{2(F(x_0)-F^*)}{\alpha K}",
    assumes=[dp.Assumption("small steps", r"\alpha L \le 1", relation=lambda c: c.a * c.L <= 1)],
    cases=dp.grid(Fitted(slope=dp.sweep(0.5, 2.0)), Alternate(), rounds=dp.sweep(2, 5)),
    right=lambda c: 2 * c.F_gap / (c.a * c.K),
)
def descent(view):
    return dp.average("round", dp.sq(view.gradient(view.round_start("x"))))
