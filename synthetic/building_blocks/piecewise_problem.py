r"""What the piecewise families share: constants, optimum and oracles from their parts.

**Constants**, exact where one sample is one number, else upper bounds. With r = √((1 − q)/q) the
largest size of a coin, s, c the suprema of |f_k'|, |f_k''| and G, L those of |g_k'|, |g_k''|, over
clients and coordinates (for gradients, root sums of squares over the coordinates):

* of losses alone, noise σ r at most, and the least f_i'' over pieces and tails as modulus;
* inner gradient s + a r, its Lipschitz constant c + a κ r, mean ones without noise;
* outer gradient G + σ r and L; root mean square (G² + σ²)^½;
* noises: a; v + a/κ, since |v + (a/κ) sin κx| is at most that; σ;
* root mean square of the inner gradient: (s² + a²)^½ in one coordinate, where coin and f' are
  independent; in several, E max(|f_1' + aξ|, s)² ≤ E max(s, |f_1'| + a|ξ|)²;
* of F, by ``synthetic.certificates.piecewise``.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.synthetic.building_blocks.piecewise_family import Many, PiecewiseFamily
from driftproof.synthetic.certificates.piecewise import (
    CompositionFunctions,
    heterogeneity,
    shape_of,
)
from driftproof.synthetic.oracles.piecewise import PiecewiseOracles
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.draws import coin_mean


class PiecewiseProblem(PiecewiseFamily, CompositionProblem):
    """Base of the piecewise losses and compositions."""

    oracle_type = PiecewiseOracles

    @property
    def inside(self) -> bool:
        """Whether the clients' inner values are averaged before the outer function."""
        return bool(self.parts.averaged_inside)

    def functions_of(self, parts: Parts) -> CompositionFunctions:
        """Return F and its derivatives, of these members."""
        return CompositionFunctions(parts)

    def numbers_of(self, parts: Parts) -> dict[str, Tensor]:
        """Return the oracles' constants, role → [members]."""
        return constants_of_oracles(parts)

    def start(self) -> np.ndarray:
        """Return 0."""
        return np.zeros(self.dim)

    @property
    def minima_gap(self) -> Tensor | None:
        """Γ, each client's infimum found as that of F is: as a member of one client."""
        if self.inside:
            return None
        of = self._members if isinstance(self, Many) else self.parts
        alone = of.changed(
            lambda x: x.movedim(0, -2).flatten(-2)[None] if x.ndim > 1 else x.repeat(of.clients)
        )
        least = shape_of(self.functions_of(alone))
        infima = (least.infimum - least.error).reshape(of.clients, -1)
        gap = (self.shape.infimum + self.shape.error - infima.mean(0)).clamp(min=0.0)
        return gap.repeat_interleave(self._copies) if isinstance(self, Many) else gap


class PiecewiseMembers(Many, PiecewiseProblem):
    """Many losses or compositions as one problem."""

    leaf_name = "piecewise-members"

    @property
    def offers(self) -> str:
        """A composition's oracles, or a gradient field."""
        return "field" if self.parts.inner is None else "composition"


def constants_of_oracles(parts: Parts) -> dict[str, Tensor]:
    """Return the oracles' constants, role → [members]; infinite where there is none."""
    coin = float(np.abs(coin_mean(1, parts.rare)[0]).max())
    plain, noise = _over_coordinates(parts.plain.largest), parts.plain_noise
    steepest = parts.plain.steepest.amax((0, 1))
    apart, least = heterogeneity(parts.plain), parts.plain.extremes[0].amin((0, 1))
    if parts.inner is None:
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


def _inner_moment(parts: Parts, slope: Tensor) -> Tensor:
    if parts.dim == 1:
        return torch.hypot(slope, parts.gradient_noise)
    first = parts.inner.largest[:, 0].amax(0)
    values, chances = coin_mean(1, parts.rare)
    square = torch.zeros_like(slope)
    for value, chance in zip(values.tolist(), chances.tolist(), strict=True):
        square += chance * torch.maximum(slope, first + parts.gradient_noise * abs(value)) ** 2
    return torch.sqrt(square)
