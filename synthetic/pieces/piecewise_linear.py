r"""Continuous functions that are linear between knots: values, slopes and integrals, many at once.

p is given by knots k_1 < … < k_m and the values there. Before k_1 and after k_m it goes on with
the tails' slopes (0: it stays constant). With h_j = k_{j+1} − k_j and s_j the slope between,

    p(x) = p(k_1) + Σ_j s_j clip(x − k_j, 0, h_j) + tails,

which cancels nothing: each summand is what one piece adds on the way from k_1 to x.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor


class PiecewiseLinear(NamedTuple):
    """Functions of one real variable, [..., replicates] of them.

    Attributes:
        knots, values: [..., knots, replicates]; the knots ascend.
        left, right: the slopes of the tails, [..., replicates].
    """

    knots: Tensor
    values: Tensor
    left: Tensor
    right: Tensor

    def repeated(self, times: int) -> Self:
        """Return every function ``times`` times, next to each other in the last axis."""
        return type(self)(*(x.repeat_interleave(times, -1) for x in self))

    @property
    def widths(self) -> Tensor:
        """h_j, [..., knots − 1, replicates]."""
        return self.knots[..., 1:, :] - self.knots[..., :-1, :]

    @property
    def slopes(self) -> Tensor:
        """s_j, [..., knots − 1, replicates]; 0 where two knots are one."""
        widths = self.widths
        rises = self.values[..., 1:, :] - self.values[..., :-1, :]
        return torch.where(widths > 0, rises / torch.where(widths > 0, widths, 1.0), 0.0)

    def value(self, x: Tensor) -> Tensor:
        """Return p(x), for x of [..., replicates]."""
        beyond = x.unsqueeze(-2) - self.knots
        inside = torch.minimum(torch.clamp(beyond[..., :-1, :], min=0.0), self.widths)
        value = self.values[..., 0, :] + (self.slopes * inside).sum(-2)
        value = value + self.left * torch.clamp(beyond[..., 0, :], max=0.0)
        return value + self.right * torch.clamp(beyond[..., -1, :], min=0.0)

    def slope(self, x: Tensor) -> Tensor:
        """Return p'(x); at a knot, the slope after it."""
        beyond = x.unsqueeze(-2) >= self.knots
        inside = (beyond[..., :-1, :] & ~beyond[..., 1:, :]).to(x.dtype)
        slope = (self.slopes * inside).sum(-2)
        slope = slope + torch.where(beyond[..., 0, :], 0.0, self.left)
        return slope + torch.where(beyond[..., -1, :], self.right, 0.0)

    def integral(self, x: Tensor) -> Tensor:
        """Return ∫ p from k_1 to x."""
        beyond = x.unsqueeze(-2) - self.knots
        inside = torch.minimum(torch.clamp(beyond[..., :-1, :], min=0.0), self.widths)
        after = torch.clamp(beyond[..., 1:, :], min=0.0)
        risen = self.slopes * (0.5 * inside * inside + self.widths * after)
        before = torch.clamp(beyond[..., 0, :], max=0.0)
        tails = self.left * before * before + self.right * after[..., -1, :] * after[..., -1, :]
        return self.values[..., 0, :] * beyond[..., 0, :] + risen.sum(-2) + 0.5 * tails

    @property
    def steepest(self) -> Tensor:
        """sup |p'|, [..., replicates]."""
        return torch.maximum(
            self.slopes.abs().amax(-2), torch.maximum(self.left.abs(), self.right.abs())
        )

    @property
    def largest(self) -> Tensor:
        """sup |p|, [..., replicates]; infinite where a tail is not flat."""
        flat = (self.left == 0) & (self.right == 0)
        return torch.where(flat, self.values.abs().amax(-2), torch.inf)
