r"""Continuous functions that are linear between knots: values, slopes and integrals, many at once.

p is given by knots k_1 < … < k_m and the values there. Before k_1 and after k_m it goes on with
the tails' slopes (0: it stays constant). With h_j = k_{j+1} − k_j and s_j the slope between,

    p(x) = p(k_1) + Σ_j s_j clip(x − k_j, 0, h_j) + tails,

which cancels nothing: each summand is what one piece adds on the way from k_1 to x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

ROUNDING = 2.0**-46
"""What a hundred roundings of doubles come to, in units of what was added up."""


@dataclass(frozen=True)
class PiecewiseLinear:
    """Functions of one real variable, [..., replicates] of them.

    Attributes:
        knots, values: [..., knots, replicates]; the knots ascend.
        left, right: the slopes of the tails, [..., replicates].
    """

    knots: Tensor
    values: Tensor
    left: Tensor
    right: Tensor

    def changed(self, change: Callable[[Tensor], Tensor]) -> PiecewiseLinear:
        """Return the functions with ``change`` applied to each tensor."""
        return PiecewiseLinear(*map(change, (self.knots, self.values, self.left, self.right)))

    @cached_property
    def widths(self) -> Tensor:
        """h_j, [..., knots − 1, replicates]."""
        return self.knots[..., 1:, :] - self.knots[..., :-1, :]

    @cached_property
    def slopes(self) -> Tensor:
        """s_j, [..., knots − 1, replicates]; 0 where two knots are one."""
        rises = self.values[..., 1:, :] - self.values[..., :-1, :]
        return torch.where(self.widths > 0, rises / torch.where(self.widths > 0, self.widths, 1), 0)

    @cached_property
    def flat(self) -> bool:
        """Whether no function has a tail that rises or falls."""
        return not bool((self.left != 0).any() or (self.right != 0).any())

    def value(self, x: Tensor) -> Tensor:
        """Return p(x), for x of [..., replicates]."""
        return self._value(*self._beside(x))

    def value_and_integral(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return p(x) and ∫ p from k_1 to x."""
        beyond, inside = self._beside(x)
        after = torch.clamp(beyond[..., 1:, :], min=0.0)
        risen = self.slopes * (0.5 * inside * inside + self.widths * after)
        integral = self.values[..., 0, :] * beyond[..., 0, :] + risen.sum(-2)
        if not self.flat:
            before, last = torch.clamp(beyond[..., 0, :], max=0.0), after[..., -1, :]
            integral = integral + 0.5 * (self.left * before * before + self.right * last * last)
        return self._value(beyond, inside), integral

    def integral(self, x: Tensor) -> Tensor:
        """Return ∫ p from k_1 to x."""
        return self.value_and_integral(x)[1]

    def resolvent(self, x: Tensor, t: Any) -> Tensor:
        """Return y with y + t·p(y) = x, of p that nowhere falls, t > 0."""
        y, at = self.knots[..., 0, :], self.knots[..., 0, :] + t * self.values[..., 0, :]
        y = y + torch.clamp(x - at, max=0.0) / (1 + t * self.left)
        for piece in range(self.widths.shape[-2]):
            stretch = 1 + t * self.slopes[..., piece, :]
            length = stretch * self.widths[..., piece, :]
            y = y + torch.minimum(torch.clamp(x - at, min=0.0), length) / stretch
            at = at + length
        reached: Tensor = y + torch.clamp(x - at, min=0.0) / (1 + t * self.right)
        return reached

    def slope(self, x: Tensor) -> Tensor:
        """Return p'(x); at a knot, the slope after it."""
        beyond = x.unsqueeze(-2) >= self.knots
        inside = (beyond[..., :-1, :] & ~beyond[..., 1:, :]).to(x.dtype)
        slope = (self.slopes * inside).sum(-2)
        if self.flat:
            return slope
        slope = slope + torch.where(beyond[..., 0, :], 0.0, self.left)
        return slope + torch.where(beyond[..., -1, :], self.right, 0.0)

    def _beside(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return x − k_j, [..., knots, replicates], and how far x is inside each piece."""
        beyond = x.unsqueeze(-2) - self.knots
        return beyond, torch.minimum(torch.clamp(beyond[..., :-1, :], min=0.0), self.widths)

    def _value(self, beyond: Tensor, inside: Tensor) -> Tensor:
        value = self.values[..., 0, :] + (self.slopes * inside).sum(-2)
        if self.flat:
            return value
        value = value + self.left * torch.clamp(beyond[..., 0, :], max=0.0)
        return value + self.right * torch.clamp(beyond[..., -1, :], min=0.0)

    @property
    def steepest(self) -> Tensor:
        """Sup |p'|, [..., replicates]."""
        tails = torch.maximum(self.left.abs(), self.right.abs())
        return torch.maximum(self.slopes.abs().amax(-2), tails)

    @property
    def extremes(self) -> tuple[Tensor, Tensor]:
        """The least and the largest slope of pieces and tails, [..., replicates]."""
        empty = self.widths <= 0
        low = torch.where(empty, torch.inf, self.slopes).amin(-2)
        high = torch.where(empty, -torch.inf, self.slopes).amax(-2)
        ends = self.left, self.right
        return torch.minimum(low, torch.minimum(*ends)), torch.maximum(high, torch.maximum(*ends))

    @property
    def largest(self) -> Tensor:
        """Sup |p|, [..., replicates]; infinite where a tail is not flat.

        Rounded up: at a knot, p is computed as the sum of the rises up to it.
        """
        flat = (self.left == 0) & (self.right == 0)
        rises = (self.slopes * self.widths).abs().sum(-2)
        return torch.where(flat, self.values.abs().amax(-2) + ROUNDING * rises, torch.inf)

    def size(self, x: Tensor) -> Tensor:
        """Return what bounds each number that is added up in p's integral to x, [..., replicates].

        The largest |p| on the way from the first knot, times its length.
        """
        away = x.abs() + self.knots.abs().amax(-2)
        steepest = torch.maximum(self.left.abs(), self.right.abs())
        return (self.values.abs().amax(-2) + steepest * away) * away
