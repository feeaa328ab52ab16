r"""Oracles of problems whose derivatives are piecewise linear, of one member or of many.

The problem is separable, F(x) = Σ_j F_j(x_j), and in each coordinate, for client k,

    h_k(x) + g_k(f_k(x)),   h_k', f_k' and g_k' piecewise linear, f_k(0) an offset.

Coins ξ of mean 0 and variance 1, which may show one side rarely, add to the first coordinate of

    f_k(x; ξ):  ξ (v + (a/κ) sin κx),   g_k(y; ζ):  σ ζ y,   h_k(x; ξ):  σ_h ξ x.

Many members lie beside each other in the last axis, [..., members]: then a run has a replicate
for each of them. One member may have any number of replicates.
"""

from typing import Any

import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.toolkit.draws import CoinMean, Law
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback


class PiecewiseOracles:
    """The oracles in one dtype; tensors are [clients, dim, replicates]."""

    def __init__(self, of: Any, dtype: torch.dtype, device: str, clients: range) -> None:
        self.clients = len(clients)
        parts: Parts = of.parts.of_clients(clients, dtype, device)
        self._parts = parts
        weights = torch.full((self.clients, 1, 1), 1.0 / of.clients, dtype=dtype, device=device)
        self.client_weights = weights
        zero = torch.zeros_like(parts.plain.left)
        self._plain_start = -parts.plain.integral(zero)
        if parts.inner is not None:
            self._inner_start = parts.offsets - parts.inner.integral(zero)
            self._outer_start = -parts.outer.integral(zero)

    def _law(self, batch: int, *noises: str) -> Law | None:
        """One coin, if there is some noise."""
        noisy = any(self._parts.noisy(name) for name in noises)
        return CoinMean(batch, (1,), self._parts.rare) if noisy else None

    def inner_law(self, batch: int) -> Law | None:
        """One coin, if the inner functions are noisy."""
        return self._law(batch, "value_noise", "gradient_noise")

    def outer_law(self, batch: int) -> Law | None:
        """One coin, if the outer functions are noisy."""
        return self._law(batch, "outer_noise")

    def plain_law(self, batch: int) -> Law | None:
        """One coin, if h is noisy."""
        return self._law(batch, "plain_noise")

    field_law = plain_law

    def same_sample(self, xi: Tensor) -> Tensor:
        """Return the outer draw of the sample that an inner draw belongs to: the same coin."""
        return xi

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return f_k(x; ξ) and v ↦ f_k'(x; ξ)·v, coordinate by coordinate."""
        of = self._parts
        if of.inner is None:
            return x, lambda v: v
        slope, risen = of.inner.value_and_integral(x)
        value = risen + self._inner_start
        if xi is not None:
            turned = of.wave * x[:, :1]
            moved = xi * (of.value_noise + of.gradient_noise / of.wave * torch.sin(turned))
            value = value + _first(moved, x)
            slope = slope + _first(of.gradient_noise * xi * torch.cos(turned), x)
        return value, lambda v: slope * v

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return g_k'(y; ζ), coordinate by coordinate."""
        of = self._parts
        if of.outer is None:
            return y.new_zeros(y.shape)
        grad: Tensor = of.outer.value(y)
        return grad if zeta is None else grad + _first(of.outer_noise * zeta, y)

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return g_k(y), [clients, replicates]."""
        outer = self._parts.outer
        if outer is None:
            return y.new_zeros((y.shape[0], y.shape[-1]))
        value: Tensor = (outer.integral(y) + self._outer_start).sum(1)
        return value

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return h_k'(x; ξ)."""
        of = self._parts
        grad = of.plain.value(x)
        return grad if xi is None else grad + _first(of.plain_noise * xi, x)

    field_grad = plain_grad

    def plain_value(self, x: ClientVectors) -> Tensor:
        """Return h_k(x), [clients, replicates]."""
        return (self._parts.plain.integral(x) + self._plain_start).sum(1)


def _first(x: Tensor, like: Tensor) -> Tensor:
    """Return [clients, 1, replicates] as the first of several coordinates, the others 0."""
    rest = like.shape[1] - 1
    return x if rest == 0 else torch.nn.functional.pad(x, (0, 0, 0, rest))
