r"""GCIVR: nested recursive estimates of g, its Jacobian and ∇h, shared every step."""

from __future__ import annotations

from itertools import count
from typing import Annotated, NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Composition
from driftproof.toolkit.parameters import Constraint, NonNegativeInt, Positive, PositiveInt


class State(NamedTuple):
    """Model, previous model, and each client's estimates, [clients, …, replicates] each.

    y of g_k, z of its Jacobian (its rows one after another, inner_dim·dim), v of ∇h_k.
    """

    x: Tensor
    x_previous: Tensor
    y: Tensor
    z: Tensor
    v: Tensor


@algorithm(
    name="gcivr",
    source="Haddadpour et al. 2022, as compared with in FedDRO (2023), Table 1 and section 6, "
    "after Zhang & Xiao 2019",
    statement=r"y_k^t = y_k^{t-1} + g_k(x^t;b) - g_k(x^{t-1};b), \quad z_k^t = z_k^{t-1} +"
    r"\nabla g_k(x^t;b) - \nabla g_k(x^{t-1};b), \quad v_k^t = v_k^{t-1} + \nabla h_k(x^t;b) -"
    r"\nabla h_k(x^{t-1};b), \quad x^{t+1} = x^t - \eta\big(\bar v^t + (\bar z^t)^{\top}"
    r"\nabla f(\bar y^t)\big)",
)
class GCIVR(Algorithm):
    r"""Composite incremental variance reduction for Φ = (1/K) Σ h_k + f((1/K) Σ g_k).

    Every ``epoch_steps`` steps the estimates restart from large minibatches; in between they
    move by SARAH differences, a small minibatch taken at x^t and again, the *same* samples, at
    x^{t−1}. One minibatch serves g_k and its Jacobian, f has no noise, and nothing is projected.
    FedDRO's paper gives no pseudocode: Table 1 has the sizes, √m inner and m outer, of m samples in
    all; the recursion is that of Zhang & Xiao's CIVR. A step shares y (d_g reals), then v + zᵀ∇f(ȳ)
    (d reals): two rounds of communication, and one round of the index.

    One step of size 0.1 at x = ¼ for g_1 = 2x, g_2 = 1 − x, f'(y) = y: Φ' = (x + 1)/4 = 0.3125:

    >>> from driftproof.synthetic.problems import BiasAmplification
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(BiasAmplification(), GCIVR(step_size=0.1), "x")
    [0.21875]

    Args:
        local_steps: 1, as a round is one step.
        step_size: η.
        epoch_steps: τ, steps from one large minibatch to the next.
        batch: samples a step and client of the differences.
        outer_batch: samples a client at the start of an epoch; 0 is all of them, exactly.
    """

    local_steps: Annotated[int, Constraint(1, 1, integer=True, why="clients share every step")] = 1
    step_size: Positive = 0.1
    epoch_steps: PositiveInt = 10
    batch: PositiveInt = 1
    outer_batch: NonNegativeInt = 0

    needs = "composition"
    iterate = "x"
    notation = {
        "eta": "step_size",
        "tau": "epoch_steps",
        "b": "batch",
        "K": "clients",
        "T": "steps",
        "B_g": "inner_gradient_bound",
        "B_f": "outer_gradient_bound",
        "L_g": "inner_smoothness",
        "L_f": "outer_smoothness",
        "L_Phi": "objective_smoothness",
        "Phi_gap": "initial_gap",
    }

    @classmethod
    def examples(cls) -> list[GCIVR]:
        """Return members with exact and with sampled epochs."""
        return [
            cls(step_size=0.05, epoch_steps=3),
            cls(step_size=0.05, epoch_steps=2, batch=2, outer_batch=6),
        ]

    def init(self, ctx: Context, oracles: Composition, start: Tensor) -> State:
        """x^{−1} = x⁰, and the estimates with which the first epoch starts."""
        x = ctx.everywhere(start)
        return State(x, x, *self._sampled(ctx, oracles, (x,), self.outer_batch, "epoch")[0])

    def radii(self, around: Around) -> Radii:
        r"""Each step of an epoch adds two samples: in step j ‖z‖ ≤ (1 + 2j)G_g, ‖v‖ ≤ (1 + 2j)G_h.

        So v + zᵀ∇f(y) is at most (1 + 2j)(G_gG_f + G_h), at whichever y.
        """
        x, u = around.start, around.largest
        for t in count():
            yield {"x": x, "u": u}
            u = (1 + 2 * (t % self.epoch_steps)) * around.largest
            x += self.step_size * u

    def step(self, ctx: Context, oracles: Composition, state: State) -> State:
        """Estimate, share, step."""
        if ctx.t % self.epoch_steps == 0:
            (estimates,) = self._sampled(ctx, oracles, (state.x,), self.outer_batch, "epoch")
        else:
            points = state.x, state.x_previous
            new, old = self._sampled(ctx, oracles, points, self.batch, "difference")
            before = state.y, state.z, state.v
            estimates = tuple(e + n - o for e, n, o in zip(before, new, old, strict=True))
        y, z, v = estimates
        (shared_y,) = ctx.average(y)
        (u,) = ctx.average(_direction(oracles, shared_y, z, v))
        x = state.x - self.step_size * u
        for name, value in (("y", y), ("z", z), ("v", v), ("u", u), ("x", x)):
            ctx.mark(name, value)
        return State(x, state.x, y, z, v)

    def _sampled(
        self, ctx: Context, oracles: Composition, points: tuple[Tensor, ...], batch: int, name: str
    ) -> list[tuple[Tensor, ...]]:
        """Return (g_k, its Jacobian, ∇h_k) at each point, on one minibatch (0: exactly)."""
        zeta = ctx.draw(oracles.inner_law(batch) if batch else None, f"zeta-{name}")
        xi = ctx.draw(oracles.plain_law(batch) if batch else None, f"xi-{name}")
        return [(*_with_jacobian(oracles, x, zeta), oracles.plain_grad(x, xi)) for x in points]


def _with_jacobian(oracles: Composition, x: Tensor, zeta: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return g_k(x; ζ) and its Jacobian, each row the pullback of a unit vector."""
    value, pullback = oracles.inner(x, zeta)
    rows = []
    for row in range(value.shape[1]):
        unit = value.new_zeros(value.shape)
        unit[:, row] = 1.0
        rows.append(pullback(unit))
    return value, torch.cat(rows, 1)


def _direction(oracles: Composition, y: Tensor, z: Tensor, v: Tensor) -> Tensor:
    """Return v + zᵀ∇f(y)."""
    weight = oracles.outer_grad(y, None)
    rows = z.reshape(z.shape[0], weight.shape[1], -1, z.shape[2])
    direction: Tensor = v + (rows * weight[:, :, None]).sum(1)
    return direction
