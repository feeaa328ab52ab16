"""Oracles of compositions made of lines, sines and Huber functions.

The formulas stand in the problems that fill in the parts: ``bounded_composition``,
``averaged_composition`` and ``bias_amplification`` in ``synthetic.problems``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.huber import huber_gradient, huber_value
from driftproof.toolkit.draws import Law, SignMean
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback


@dataclass(frozen=True)
class Parts:
    """The numbers of one member; e is the first unit vector, arrays are [clients].

    Attributes:
        scales, inner_curvature, inner_slope: ψ_k(u) = s_k[(1 − c)u + (c/k) sin(ku)], c = ½ and
            k = 2·inner_curvature/inner_slope (c = 0 if the curvature is 0).
        offsets: g_k(x) = Pψ_k(Qᵀx) + offset·e.
        targets, outer_slope, outer_curvature: H(y − target·e).
        opposition, opposition_slope, opposition_curvature, opposition_centre: ± O(y − centre·e).
        value_noise, gradient_noise, outer_noise: v, a and σ_3.
        plain_slope, plain_curvature, tilts, plain_noise: h_k(x) = H_h(x) + tilt·x_1 (no h at
            slope 0 and tilts 0), and the noise σ_h ξ x_1.
    """

    clients: int
    dim: int
    inner_dim: int
    scales: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray
    opposition: np.ndarray
    tilts: np.ndarray
    inner_slope: float = 1.0
    inner_curvature: float = 0.0
    outer_slope: float = 1.0
    outer_curvature: float = 1.0
    opposition_slope: float = 0.0
    opposition_curvature: float = 1.0
    opposition_centre: float = 0.0
    value_noise: float = 0.0
    gradient_noise: float = 0.0
    outer_noise: float = 0.0
    plain_slope: float = 0.0
    plain_curvature: float = 1.0
    plain_noise: float = 0.0

    @property
    def share(self) -> float:
        """The sine's share, c."""
        return 0.5 if self.inner_curvature else 0.0

    @property
    def rate(self) -> float:
        """The sine's rate, k."""
        return 2.0 * self.inner_curvature / self.inner_slope

    @property
    def has_plain(self) -> bool:
        """Whether there is a function h."""
        return bool(self.plain_slope or self.plain_noise or np.any(self.tilts))


class BoundedOracles:
    """The oracles in one dtype; tensors are [clients, …, replicates].

    What is added to a first row is added in place, to a tensor that was made just before.
    The problem has ``parts``.
    """

    def __init__(self, problem: Any, dtype: torch.dtype, device: str, clients: range) -> None:
        of: Parts = problem.parts

        def column(values: np.ndarray) -> Tensor:
            return torch.tensor(values[list(clients)], dtype=dtype, device=device)[:, None, None]

        def unit(rows: int) -> Tensor:
            vector = torch.zeros((1, rows, 1), dtype=dtype, device=device)
            vector[0, 0, 0] = 1.0
            return vector

        self.parts = of
        self.clients = len(clients)
        self.local = clients
        self.client_weights = column(np.full(of.clients, 1.0 / of.clients))
        scale, self._opposed = column(of.scales), column(of.opposition)
        self._line, self._turn = (1 - of.share) * scale, of.share * scale
        self._rate, self._sine = of.rate, of.share / of.rate * scale if of.share else None
        self._rank = min(of.dim, of.inner_dim)
        first = unit(of.inner_dim)
        self._target = column(of.targets) * first if np.any(of.targets) else None
        self._offset = column(of.offsets) * first if np.any(of.offsets) else None
        self._centre = of.opposition_centre * first
        self._has_plain = of.has_plain
        self._tilt = column(of.tilts) * unit(of.dim)
        self._along = unit(of.dim)

    def inner_law(self, batch: int) -> Law | None:
        """One sign for each noise that there is: of the value, of the gradient."""
        noises = (self.parts.value_noise > 0) + (self.parts.gradient_noise > 0)
        return SignMean(batch, (noises,)) if noises else None

    def outer_law(self, batch: int) -> Law | None:
        """One sign."""
        return SignMean(batch, (1,)) if self.parts.outer_noise else None

    def plain_law(self, batch: int) -> Law | None:
        """One sign."""
        return SignMean(batch, (1,)) if self.parts.plain_noise else None

    def same_sample(self, xi: Tensor) -> Tensor:
        """Return the outer draw of the sample that an inner draw belongs to: its last sign."""
        return xi[:, -1:]

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return g_k(x; ξ) and v ↦ ∇g_k(x; ξ)ᵀv."""
        of, u = self.parts, x if self._rank == x.shape[1] else x[:, : self._rank]
        value, slope = self._line * u, self._line
        if self._sine is not None:
            turned = self._rate * u
            value = torch.addcmul(value, self._sine, torch.sin(turned))
            slope = torch.addcmul(slope, self._turn, torch.cos(turned))
        if xi is not None:
            at, moved = x[:, :1], of.value_noise * xi[:, :1] if of.value_noise else None
            if of.gradient_noise:
                bent = of.gradient_noise * xi[:, -1:]
                slope = slope if self._sine is not None else slope.expand_as(u).clone()
                slope[:, :1] += bent * torch.cos(at)
                bent = bent * torch.sin(at)
                moved = bent if moved is None else bent.add_(moved)
            if moved is not None:
                value[:, :1] += moved

        def pullback(v: Tensor) -> Tensor:
            return _padded((v if self._rank == v.shape[1] else v[:, : self._rank]) * slope, of.dim)

        value = _padded(value, of.inner_dim)
        return value if self._offset is None else value + self._offset, pullback

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return ∇f_k(y; ζ)."""
        of = self.parts
        away = y if self._target is None else y - self._target
        grad = huber_gradient(away, of.outer_slope, of.outer_curvature)
        if of.opposition_slope:
            opposed = huber_gradient(y - self._centre, of.opposition_slope, of.opposition_curvature)
            grad = torch.addcmul(grad, self._opposed, opposed)
        if zeta is not None:
            grad[:, :1] += of.outer_noise * zeta
        return grad

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return f_k(y), [clients, replicates]."""
        of = self.parts
        away = y if self._target is None else y - self._target
        value = huber_value(away, of.outer_slope, of.outer_curvature)
        if of.opposition_slope:
            opposed = huber_value(y - self._centre, of.opposition_slope, of.opposition_curvature)
            value = value + self._opposed[..., 0] * opposed
        return value

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return ∇h_k(x; ξ)."""
        of = self.parts
        if not self._has_plain:
            return x.new_zeros(x.shape)
        grad = self._tilt.expand_as(x)
        if of.plain_slope:
            grad = grad + huber_gradient(x, of.plain_slope, of.plain_curvature)
        return grad if xi is None else grad + of.plain_noise * xi * self._along

    def plain_value(self, x: ClientVectors) -> Tensor:
        """Return h_k(x), [clients, replicates]."""
        of = self.parts
        value = (self._tilt * x).sum(1)
        return (
            value + huber_value(x, of.plain_slope, of.plain_curvature) if of.plain_slope else value
        )


def parts_of(clients: int, dim: int, inner_dim: int, **given: Any) -> Parts:
    """Return parts whose arrays default to zero (the scales to one)."""
    arrays = dict.fromkeys(("offsets", "targets", "opposition", "tilts"), np.zeros(clients))
    return Parts(clients, dim, inner_dim, **{"scales": np.ones(clients)} | arrays | given)


def _padded(x: Tensor, rows: int) -> Tensor:
    """Append zero rows: the embedding of the first coordinates."""
    if x.shape[1] == rows:
        return x
    return torch.nn.functional.pad(x, (0, 0, 0, rows - x.shape[1]))
