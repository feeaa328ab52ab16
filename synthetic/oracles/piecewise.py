r"""Oracles of problems whose derivatives are piecewise linear, of one member or of many.

The problem is separable, F(x) = Σ_j F_j(x_j), and in each coordinate, for client k,

    h_k(x) + g_k(f_k(x)),   h_k', f_k' and g_k' piecewise linear, f_k(0) an offset.

Coins ξ of mean 0 and variance 1, which may show one side rarely, add to the first coordinate of

    f_k(x; ξ):  ξ (v + (a/κ) sin κx),   g_k(y; ζ):  σ ζ y,   h_k(x; ξ):  σ_h ξ x.

Many members lie beside each other in the last axis: [..., members]. Where a run has several
replicates of each (outcomes of the noise, say), those of one member are neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from driftproof.synthetic.pieces.parts import Parts
from driftproof.synthetic.pieces.piecewise_linear import PiecewiseLinear
from driftproof.toolkit.draws import CoinMean, Law
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback


@dataclass(frozen=True)
class PiecewiseParts(Parts):
    """The numbers of some members.

    Attributes:
        plain: h_k', [clients, dim, knots, members].
        inner, outer: f_k' and g_k' (None: the problem is h alone).
        offsets: f_k(0), [clients, dim, members].
        value_noise, gradient_noise, wave, outer_noise, plain_noise: v, a, κ, σ and σ_h, [members].
        rare: the probability of the coins' rarer side.
        inside: whether the clients' inner values are averaged before the outer function.
    """

    plain: PiecewiseLinear
    inner: PiecewiseLinear | None
    outer: PiecewiseLinear | None
    offsets: Tensor
    value_noise: Tensor
    gradient_noise: Tensor
    wave: Tensor
    outer_noise: Tensor
    plain_noise: Tensor
    rare: float = 0.5
    inside: bool = False


class PiecewiseOracles:
    """The oracles in one dtype; tensors are [clients, dim, replicates]."""

    def __init__(
        self, parts: PiecewiseParts, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        chosen = list(clients)

        def placed(x: Tensor) -> Tensor:
            return (x[chosen] if x.ndim > 1 else x).to(device, dtype)

        self.clients = len(chosen)
        self._parts = parts.changed(placed)
        self._sized: dict[int, _Sized] = {}
        weights = torch.full((self.clients, 1, 1), 1.0 / parts.clients, dtype=dtype, device=device)
        self.client_weights = weights

    def inner_law(self, batch: int) -> Law | None:
        """One coin, if the inner functions are noisy."""
        noisy = self._parts.value_noise.any() or self._parts.gradient_noise.any()
        return CoinMean(batch, (1,), self._parts.rare) if noisy else None

    def outer_law(self, batch: int) -> Law | None:
        """One coin, if the outer functions are noisy."""
        noisy = self._parts.outer_noise.any()
        return CoinMean(batch, (1,), self._parts.rare) if noisy else None

    def plain_law(self, batch: int) -> Law | None:
        """One coin, if h is noisy."""
        noisy = self._parts.plain_noise.any()
        return CoinMean(batch, (1,), self._parts.rare) if noisy else None

    field_law = plain_law

    def same_sample(self, xi: Tensor) -> Tensor:
        """Return the outer draw of the sample that an inner draw belongs to: the same coin."""
        return xi

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return f_k(x; ξ) and v ↦ f_k'(x; ξ)·v, coordinate by coordinate."""
        at = self._at(x)
        of = at.parts
        if of.inner is None or at.inner_start is None:
            return x, lambda v: v
        slope, risen = of.inner.value_and_integral(x)
        value = risen + at.inner_start
        if xi is not None:
            turned = of.wave * x[:, :1]
            moved = xi * (of.value_noise + of.gradient_noise / of.wave * torch.sin(turned))
            value = value + _first(moved, x)
            slope = slope + _first(of.gradient_noise * xi * torch.cos(turned), x)
        return value, lambda v: slope * v

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return g_k'(y; ζ), coordinate by coordinate."""
        of = self._at(y).parts
        if of.outer is None:
            return y.new_zeros(y.shape)
        grad = of.outer.value(y)
        return grad if zeta is None else grad + _first(of.outer_noise * zeta, y)

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return g_k(y), [clients, replicates]."""
        at = self._at(y)
        if at.parts.outer is None or at.outer_start is None:
            return y.new_zeros((y.shape[0], y.shape[-1]))
        return (at.parts.outer.integral(y) + at.outer_start).sum(1)

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return h_k'(x; ξ)."""
        of = self._at(x).parts
        grad = of.plain.value(x)
        return grad if xi is None else grad + _first(of.plain_noise * xi, x)

    field_grad = plain_grad

    def plain_value(self, x: ClientVectors) -> Tensor:
        """Return h_k(x), [clients, replicates]."""
        at = self._at(x)
        return (at.parts.plain.integral(x) + at.plain_start).sum(1)

    def _at(self, x: Tensor) -> _Sized:
        """Return the parts with as many replicates as a point has."""
        count = x.shape[-1]
        if count not in self._sized:
            times = max(1, count // self._parts.members)
            parts = self._parts if times == 1 else self._parts.repeated(times)
            self._sized[count] = _Sized(parts)
        return self._sized[count]


class _Sized:
    """Parts, and what makes their integrals start at 0."""

    def __init__(self, parts: PiecewiseParts) -> None:
        self.parts = parts
        zero = torch.zeros_like(parts.plain.left)
        self.plain_start = -parts.plain.integral(zero)
        self.inner_start = self.outer_start = None
        if parts.inner is not None and parts.outer is not None:
            self.inner_start = parts.offsets - parts.inner.integral(zero)
            self.outer_start = -parts.outer.integral(zero)


def _first(x: Tensor, like: Tensor) -> Tensor:
    """Return [clients, 1, replicates] as the first of several coordinates, the others 0."""
    rest = like.shape[1] - 1
    return x if rest == 0 else torch.nn.functional.pad(x, (0, 0, 0, rest))
