r"""What the piecewise families share: constants, optimum and oracles from their parts.

**Constants**, exact where one sample is one number, else upper bounds. With r = √((1 − q)/q) the
largest size of a coin, s, c the suprema of |f_k'|, |f_k''| and G, L those of |g_k'|, |g_k''|, over
clients and coordinates (for gradients, root sums of squares over the coordinates):

* of losses alone, noise σ r at most, and the least F_k'' over pieces and tails as modulus;
* inner gradient s + a r, its Lipschitz constant c + a κ r, mean ones without noise;
* outer gradient G + σ r and L; root mean square (G² + σ²)^½;
* noises: a; v + a/κ, since |v + (a/κ) sin κx| is at most that; σ;
* root mean square of the inner gradient: (s² + a²)^½ in one coordinate, where coin and f' are
  independent; in several, E max(|f_1' + aξ|, s)² ≤ E max(s, |f_1'| + a|ξ|)²;
* of F, by ``synthetic.certificates.piecewise``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.certificates.piecewise import (
    CompositionFunctions,
    Shape,
    heterogeneity,
    shape_of,
    solution_of,
)
from driftproof.synthetic.oracles.piecewise import PiecewiseOracles, PiecewiseParts
from driftproof.synthetic.pieces.curves import ByClientAndCoordinate
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.draws import coin_mean
from driftproof.toolkit.problem import Solution


class PiecewiseProblem(ByClientAndCoordinate, CompositionProblem):
    """Base of the piecewise families; a subclass gives ``parts``, whose start is 0."""

    @property
    @abstractmethod
    def parts(self) -> PiecewiseParts:
        """The numbers, as tensors of one member."""

    @property
    def inside(self) -> bool:
        """Whether the clients' inner values are averaged before the outer function."""
        return self.parts.inside

    @cached_property
    def shape(self) -> Shape:
        """What is known of F."""
        return shape_of(CompositionFunctions(self.parts))

    @cached_property
    def solution(self) -> Solution:
        """Inf F, by bisection on each piece on which F' is monotone."""
        return solution_of(self.shape)

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        numbers = constants_of_oracles(self.parts) | constants_of_objective(self.shape)
        return {role: float(x[0]) for role, x in numbers.items() if np.isfinite(float(x[0]))}

    def start(self) -> np.ndarray:
        """Return 0."""
        return np.zeros(self.dim)

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> PiecewiseOracles:
        """Return the oracles of some clients."""
        return PiecewiseOracles(self.parts, dtype, device, clients or range(self.clients))


def constants_of_objective(shape: Shape) -> dict[str, Tensor]:
    """Return the constants of F, role → [members]; what is not convex has no modulus."""
    return {
        "objective_smoothness": shape.smoothness,
        "strong_convexity": torch.where(shape.modulus < 0, torch.inf, shape.modulus),
    }


def constants_of_oracles(parts: PiecewiseParts) -> dict[str, Tensor]:
    """Return the oracles' constants, role → [members]; infinite where there is none."""
    coin = float(np.abs(coin_mean(1, parts.rare)[0]).max())
    plain, noise = _over_coordinates(parts.plain.largest), parts.plain_noise
    steepest = parts.plain.steepest.amax((0, 1))
    apart, least = heterogeneity(parts.plain), parts.plain.extremes[0].amin((0, 1))
    if parts.inner is None or parts.outer is None:
        return {
            "field_smoothness": steepest,
            "field_gradient_bound": plain + coin * noise,
            "field_gradient_noise": noise,
            "field_noise_bound": coin * noise,
            "client_strong_convexity": torch.where(least < 0, torch.inf, least),
            "field_heterogeneity": apart,
        }
    a, kappa = parts.gradient_noise, parts.wave
    slope, bend = parts.inner.largest.amax((0, 1)), parts.inner.steepest.amax((0, 1))
    outer, curve = _over_coordinates(parts.outer.largest), parts.outer.steepest.amax((0, 1))
    return {
        "inner_gradient_bound": slope + a * coin,
        "inner_smoothness": bend + a * kappa * coin,
        "inner_mean_smoothness": bend,
        "inner_gradient_noise": a,
        "inner_value_noise": parts.value_noise + a / kappa,
        "inner_gradient_moment": _inner_moment(parts, slope),
        "inner_gradient_heterogeneity": heterogeneity(parts.inner),
        "outer_gradient_bound": outer + parts.outer_noise * coin,
        "outer_smoothness": curve,
        "outer_mean_smoothness": curve,
        "outer_gradient_noise": parts.outer_noise,
        "outer_gradient_moment": torch.hypot(outer, parts.outer_noise),
        "plain_smoothness": steepest,
        "plain_gradient_bound": plain + coin * noise,
        "plain_gradient_noise": noise,
        "plain_gradient_heterogeneity": apart,
    }


def _over_coordinates(suprema: Tensor) -> Tensor:
    """Return the largest over clients of the norm over coordinates, [clients, dim, members]."""
    return torch.sqrt((suprema * suprema).sum(1)).amax(0)


def _inner_moment(parts: PiecewiseParts, slope: Tensor) -> Tensor:
    if parts.dim == 1:
        return torch.hypot(slope, parts.gradient_noise)
    assert parts.inner is not None
    first = parts.inner.largest[:, 0].amax(0)
    values, chances = coin_mean(1, parts.rare)
    square = torch.zeros_like(slope)
    for value, chance in zip(values.tolist(), chances.tolist(), strict=True):
        square += chance * torch.maximum(slope, first + parts.gradient_noise * abs(value)) ** 2
    return torch.sqrt(square)
