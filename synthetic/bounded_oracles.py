"""The oracles of ``synthetic.problems.bounded_composition``, where the formulas stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from synthetic.huber import huber_gradient, huber_value
from toolkit.composition import NoPlainPart
from toolkit.draws import Law, SignMean
from toolkit.oracles import ClientVectors, InnerVectors, Pullback

if TYPE_CHECKING:
    from synthetic.problems.bounded_composition import BoundedComposition


class BoundedOracles(NoPlainPart):
    """The oracles in one dtype; tensors are [clients, …, replicates]."""

    def __init__(
        self, of: BoundedComposition, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        def column(values: np.ndarray) -> Tensor:
            return torch.tensor(values[list(clients)], dtype=dtype, device=device)[:, None, None]

        self._of = of
        self.clients = len(clients)
        self.client_weights = column(np.full(of.clients, 1.0 / of.clients))
        self._scale, self._sign = column(of.scales), column(of.signs)
        self._rank = min(of.dim, of.inner_dim)
        self._share = 0.5 if of.inner_curvature else 0.0  # c
        self._rate = 2.0 * of.inner_curvature / of.inner_slope  # k
        self._first = torch.zeros((1, of.inner_dim, 1), dtype=dtype, device=device)
        self._first[0, 0, 0] = 1.0
        self._target = self._sign * of.heterogeneity * self._first
        self._centre = of.opposition_centre * self._first

    def inner_law(self, batch: int) -> Law | None:
        """One sign for each noise that there is: of the value, of the gradient."""
        noises = (self._of.inner_value_noise > 0) + (self._of.inner_gradient_noise > 0)
        return SignMean(batch, (noises,)) if noises else None

    def outer_law(self, batch: int) -> Law | None:
        """One sign."""
        return SignMean(batch, (1,)) if self._of.outer_gradient_noise else None

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return f^i_B(x) and v ↦ ∇f^i_B(x)ᵀv."""
        u = x[:, : self._rank]
        value, slope = (1 - self._share) * u, torch.full_like(u, 1 - self._share)
        if self._share:
            value = value + self._share / self._rate * torch.sin(self._rate * u)
            slope = slope + self._share * torch.cos(self._rate * u)
        value, slope = self._scale * value, self._scale * slope
        if xi is not None:
            of, at = self._of, x[:, :1]
            bent = of.inner_gradient_noise * xi[:, -1:]
            moved = of.inner_value_noise * xi[:, :1] + bent * torch.sin(at)
            value = torch.cat([value[:, :1] + moved, value[:, 1:]], 1)
            slope = torch.cat([slope[:, :1] + bent * torch.cos(at), slope[:, 1:]], 1)

        def pullback(v: Tensor) -> Tensor:
            return _padded(v[:, : self._rank] * slope, self._of.dim)

        return _padded(value, self._of.inner_dim), pullback

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return ∇g^i_B̃(y)."""
        of = self._of
        grad = huber_gradient(y - self._target, of.outer_slope, of.outer_curvature)
        if of.opposition_slope:
            opposed = huber_gradient(y - self._centre, of.opposition_slope, of.opposition_curvature)
            grad = grad + self._sign * opposed
        if zeta is not None:
            grad = grad + of.outer_gradient_noise * zeta * self._first
        return grad

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return g^i(y), [clients, replicates]."""
        of = self._of
        value = huber_value(y - self._target, of.outer_slope, of.outer_curvature)
        if of.opposition_slope:
            opposed = huber_value(y - self._centre, of.opposition_slope, of.opposition_curvature)
            value = value + self._sign[..., 0] * opposed
        return value


def _padded(x: Tensor, rows: int) -> Tensor:
    """Append zero rows: the embedding of the first coordinates."""
    if x.shape[1] == rows:
        return x
    return torch.nn.functional.pad(x, (0, 0, 0, rows - x.shape[1]))
