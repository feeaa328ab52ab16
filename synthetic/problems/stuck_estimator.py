r"""A composition on which ComFedL never moves from a point that is not stationary.

**Objective.** F = g ∘ f on every client, f(w) = w seen as f(w; ξ) = w + σξ with ξ = ±1, and g with
the triangular derivative g'(y) = G max(0, 1 − |y|/σ), g(−∞) = 0.

At w = 0 and with a minibatch of one sample, the plug-in estimator is u = g'(±σ) = 0 in every
outcome, so ComFedL stays at 0 for ever, while ∇F(0) = G. It shows that the bias of the estimator,
which only a growing minibatch removes, must stand in any bound.

**Constants** (proven on R): G_f = 1, L_f = 0, G_g = G, L_g = L = G/σ, σ_2 = σ; all attained.

**Optimum.** inf F = 0, attained for w ≤ −σ; F(0) = Gσ/2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.composition import CompositionProblem, NoOuterNoise, NoPlainPart
from driftproof.toolkit.draws import Law, SignMean
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback
from driftproof.toolkit.parameters import NonNegative, One, Positive, PositiveInt
from driftproof.toolkit.problem import Solution, problem


class _Oracles(NoOuterNoise, NoPlainPart):
    """The oracles in one dtype; tensors are [clients, 1, replicates]."""

    def __init__(self, of: StuckEstimator, dtype: torch.dtype, device: str, clients: range) -> None:
        self._of = of
        self.clients = len(clients)
        share = torch.full((self.clients, 1, 1), 1.0 / of.clients, dtype=dtype, device=device)
        self.client_weights = share

    def inner_law(self, batch: int) -> Law | None:
        """One sign."""
        return SignMean(batch, (1,))

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return x + σξ and the identity."""
        return (x if xi is None else x + self._of.inner_value_noise * xi), lambda v: v

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return the triangle g'(y)."""
        return self._of.outer_slope * (1.0 - y.abs() / self._of.inner_value_noise).clamp(min=0.0)

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return g(y), the integral of the triangle from −∞."""
        sigma = self._of.inner_value_noise
        z = (y[:, 0] / sigma).clamp(-1.0, 1.0)
        return self._of.outer_slope * sigma * (0.5 + z - 0.5 * z * z.abs())


@problem(
    name="stuck-estimator",
    source="ComFedL, problem (1); a construction of driftproof's",
    statement=r"F(w) = g\big(\mathbb{E}_\xi[w + \sigma\xi]\big),\quad "
    r"g'(y) = G\max(0, 1 - |y|/\sigma)",
)
class StuckEstimator(CompositionProblem):
    """Scalar, all clients alike.

    F(0) − inf F = Gσ/2 for G = 1 and σ = 0.1:

    >>> StuckEstimator().initial_gap
    (0.05, 0.05)

    Args:
        clients: n.
        dim: 1.
        outer_slope: G.
        inner_value_noise: σ.
        distance: the start (0: the trap).
    """

    clients: PositiveInt = 1
    dim: One = 1
    outer_slope: Positive = 1.0
    inner_value_noise: Positive = 0.1
    distance: NonNegative = 0.0

    oracle_type = _Oracles

    @classmethod
    def examples(cls) -> list[StuckEstimator]:
        """Return the trap, and a start beside it."""
        return [cls(), cls(clients=2, outer_slope=2.0, inner_value_noise=0.5, distance=0.2)]

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        bend = self.outer_slope / self.inner_value_noise
        return {
            "inner_gradient_bound": 1.0,
            "inner_smoothness": 0.0,
            "outer_gradient_bound": self.outer_slope,
            "outer_smoothness": bend,
            "objective_smoothness": bend,
            "inner_gradient_noise": 0.0,
            "inner_value_noise": self.inner_value_noise,
            "outer_gradient_noise": 0.0,
        }

    @cached_property
    def solution(self) -> Solution:
        """Inf F = 0 at w = −σ, in closed form."""
        at = np.array([-self.inner_value_noise])
        return Solution(0.0, 0.0, at, {"method": "closed form", "gap": 0.0}, exact=True)

    def start(self) -> np.ndarray:
        """Return the start."""
        return np.array([self.distance])
