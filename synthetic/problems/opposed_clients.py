r"""Scalar clients whose curvatures cancel in the average: F is far smoother than any client.

**Objective.** Inner f^±(w) = h(w) ± o(w), the outer function g(y) = y common to all clients and
without noise (the special problem of ComFedL, arXiv v1). h is the Huber function with derivative
clip(curvature·w, ±slope), o the one with derivative clip(opposition_curvature·(w − a), ±
opposition_slope), a = opposition_centre. Clients come in pairs; an odd one out has h alone, so
F = (1/n) Σ f^i = h exactly.

At a point beyond both knees the client of h + o steps back and forth over a while that of h − o
does not: local steps drift apart although F is as smooth as ``curvature``.

**Noise**, a sign ±1: f^i(w; ξ) = f^i(w) + v ξ w (v = gradient_noise), so that value and derivative
are noisy together; its variance is bounded for |w| ≤ B = ball only, where there is noise.

**Constants**: G_f = slope + opposition_slope + v, L_f = curvature + opposition_curvature, G_g = 1,
L_g = 0, L = curvature, σ_1 = v, σ_2 = vB, σ_3 = 0; on all of R without noise.

**Optimum.** inf F = 0 at 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.huber import huber_gradient, huber_value
from driftproof.synthetic.building_blocks.pairs import pair_signs
from driftproof.toolkit.composition import CompositionProblem, NoOuterNoise, NoPlainPart
from driftproof.toolkit.draws import Law, SignMean
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback
from driftproof.toolkit.parameters import NonNegative, One, Positive, PositiveInt
from driftproof.toolkit.problem import Solution, problem


class _Oracles(NoOuterNoise, NoPlainPart):
    """The oracles in one dtype; tensors are [clients, 1, replicates]."""

    def __init__(self, of: OpposedClients, dtype: torch.dtype, device: str, clients: range) -> None:
        self._of = of
        self.clients = len(clients)
        signs = pair_signs(of.clients)[list(clients)]
        self._sign = torch.tensor(signs, dtype=dtype, device=device)[:, None, None]
        self.client_weights = torch.full_like(self._sign, 1.0 / of.clients)

    def inner_law(self, batch: int) -> Law | None:
        """One sign, if there is noise."""
        return SignMean(batch, (1,)) if self._of.gradient_noise else None

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return f^i_B(x) and v ↦ (f^i_B)'(x)·v."""
        of = self._of
        beside = x - of.opposition_centre
        bent = of.opposition_slope, of.opposition_curvature
        opposed = self._sign * huber_value(beside, *bent)[:, None]
        value = huber_value(x, of.slope, of.curvature)[:, None] + opposed
        turned = self._sign * huber_gradient(beside, *bent)
        slope = huber_gradient(x, of.slope, of.curvature) + turned
        if xi is not None:
            value, slope = value + of.gradient_noise * xi * x, slope + of.gradient_noise * xi
        return value, lambda v: slope * v

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return 1."""
        return torch.ones_like(y)

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return y."""
        return y[:, 0]


@problem(
    name="opposed-clients",
    source="ComFedL, problem (1); a construction of driftproof's",
    statement=r"F(w) = \frac1n\sum_{i=1}^n g(f^i(w)),\quad f^\pm = h \pm o,\; g(y) = y",
)
class OpposedClients(CompositionProblem):
    """Inner maps with opposite curvature, and a linear outer function.

    F is the Huber function of slope ½ and curvature 0.04; at 13.25 it is ½·13.25 − ½·½·12.5:

    >>> OpposedClients().initial_gap
    (3.5, 3.5)

    Args:
        clients: n.
        dim: 1.
        slope, curvature: of h.
        opposition_slope, opposition_curvature, opposition_centre: of o, and a.
        gradient_noise: v.
        ball: B, within which the noise's constants hold.
        distance: the start.
    """

    clients: PositiveInt = 2
    dim: One = 1
    slope: Positive = 0.5
    curvature: Positive = 0.04
    opposition_slope: Positive = 1.0
    opposition_curvature: Positive = 3.0
    opposition_centre: NonNegative = 12.875
    gradient_noise: NonNegative = 0.0
    ball: Positive = 20.0
    distance: NonNegative = 13.25

    oracle_type = _Oracles

    @classmethod
    def examples(cls) -> list[OpposedClients]:
        """Return a pair, three clients, and noise."""
        return [
            cls(curvature=0.5, opposition_centre=1.0, distance=1.5),
            cls(clients=3, curvature=1.0, opposition_centre=0.5, distance=2.0),
            cls(curvature=0.5, opposition_centre=1.0, distance=1.5, gradient_noise=0.2, ball=4.0),
        ]

    @property
    def radius(self) -> float | None:
        """The ball, if there is noise."""
        return self.ball if self.gradient_noise else None

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        opposed = self.clients > 1
        return {
            "inner_gradient_bound": self.slope
            + opposed * self.opposition_slope
            + self.gradient_noise,
            "inner_smoothness": self.curvature + opposed * self.opposition_curvature,
            "outer_gradient_bound": 1.0,
            "outer_smoothness": 0.0,
            "objective_smoothness": self.curvature,
            "inner_gradient_noise": self.gradient_noise,
            "inner_value_noise": self.gradient_noise * self.ball,
            "outer_gradient_noise": 0.0,
        }

    @cached_property
    def solution(self) -> Solution:
        """Inf F = 0 at 0, in closed form."""
        return Solution(0.0, 0.0, np.zeros(1), {"method": "closed form", "gap": 0.0}, exact=True)

    def start(self) -> np.ndarray:
        """Return the start."""
        return np.array([self.distance])
