r"""Two piecewise levels in one dimension each: y*(x), and F, F' and F'' cell by cell.

Problems are separable, and bars are means over clients. y* = ρ(s) solves what is below:

* minimax: k̄'(y) = b̄x, so ρ = (k̄')^{-1} at s = b̄x, which is piecewise linear as k̄' is, and rises.
  F' = h̄'(x) + b̄y*, as the derivative along y is 0 at y*; F'' = h̄'' + b̄²/k̄''(y*).
* bilevel: āy = c̄x + ē. With r = c̄/ā, F' = h̄'(x) + w̄y* + (ū'(y*) + w̄x)r and
  F'' = h̄'' + 2w̄r + ū''(y*)r².

Both F' are continuous, and linear between breakpoints: the knots of h_i', and the x at which y*
meets a knot of some k_i' or u_i'.
"""

from functools import cached_property

import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.synthetic.building_blocks.piecewise_linear import PiecewiseLinear
from driftproof.synthetic.certificates.piecewise import by_coordinate, mean_of, reach_of, spread_out


class LevelFunctions:
    """y*, F, F' and F'' of some members, by coordinate.

    Args:
        parts: the members; of one, points may have any number of replicates.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts, self.members = parts, parts.members
        self._plain, self._of_y = spread_out(parts.plain), spread_out(parts.of_y)
        zero = torch.zeros_like(parts.plain.left).unsqueeze(-2)
        self._start = self._plain.integral(zero), self._of_y.integral(zero)
        self._coupling: Tensor = parts.coupling.mean(0)
        self._below: PiecewiseLinear | None = None
        if parts.curvature is None:
            self._below = mean_of(parts.of_y)

    @cached_property
    def _affine(self) -> tuple[Tensor, Tensor]:
        """The r and ē/ā of y* = rx + ē/ā, [dim, members] each."""
        parts = self._parts
        bend = parts.curvature.mean(0)
        return parts.cross.mean(0) / bend, parts.offsets.mean(0) / bend

    @cached_property
    def _inverse(self) -> PiecewiseLinear:
        """The map ρ, [dim, knots, members]."""
        below = self._below
        assert below is not None
        return PiecewiseLinear(below.values, below.knots, 1 / below.left, 1 / below.right)

    def lower_solution(self, x: Tensor) -> Tensor:
        """Return y*(x), [dim, replicates] → the same."""
        if self._below is not None:
            return self._inverse.value(self._coupling * x)
        r, shift = self._affine
        return r * x + shift

    def _solved(self, x: Tensor) -> Tensor:
        """Return y* at [dim, points, members]."""
        if self._below is not None:
            return spread_out(self._inverse).value(self._coupling.unsqueeze(-2) * x)
        r, shift = self._affine
        return r.unsqueeze(-2) * x + shift.unsqueeze(-2)

    @cached_property
    def breakpoints(self) -> Tensor:
        """Between which F' is linear, [dim, breakpoints, members]."""
        if self._below is not None:
            levels, by = self._below.values, self._coupling
        else:
            r, shift = self._affine
            levels, by = by_coordinate(self._parts.of_y.knots) - shift.unsqueeze(-2), r
        met = levels / by.unsqueeze(-2)
        met = torch.where(torch.isfinite(met), met, 0.0)  # y* is the same everywhere
        return torch.cat([by_coordinate(self._parts.plain.knots), met], 1)

    def value(self, x: Tensor) -> Tensor:
        """Return F."""
        y = self._solved(x)
        plain = (self._plain.integral(x) - self._start[0]).mean(0)
        of_y = (self._of_y.integral(y) - self._start[1]).mean(0)
        both = self._coupling.unsqueeze(-2) * x * y
        return plain + both + (of_y if self._below is None else -of_y)

    def derivative(self, x: Tensor) -> Tensor:
        """Return F'."""
        y, w = self._solved(x), self._coupling.unsqueeze(-2)
        direct = self._plain.value(x).mean(0) + w * y
        if self._below is not None:
            return direct
        r = self._affine[0].unsqueeze(-2)
        return direct + (self._of_y.value(y).mean(0) + w * x) * r

    def curvature(self, x: Tensor) -> Tensor:
        """Return F'' (at a breakpoint, that of one side)."""
        direct, w = self._plain.slope(x).mean(0), self._coupling.unsqueeze(-2)
        if self._below is not None:
            return direct + w * w / self._of_y.slope(self._solved(x)).mean(0)
        r = self._affine[0].unsqueeze(-2)
        return direct + 2 * w * r + self._of_y.slope(self._solved(x)).mean(0) * r * r

    def sizes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what bounds the numbers that are added up in F(x), and in F''(x)."""
        y, w = self._solved(x), self._coupling.unsqueeze(-2)
        size = self._plain.size(x).mean(0) + self._of_y.size(y).mean(0) + (w * x * y).abs()
        curved, below = self._plain.slope(x).abs().mean(0), self._of_y.slope(y)
        if self._below is not None:
            return size, curved + w * w / below.mean(0)
        r = self._affine[0].unsqueeze(-2)
        return size, curved + 2 * (w * r).abs() + below.abs().mean(0) * r * r

    def reach(self, first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
        """Return how far beyond the outermost breakpoints F' may still change its sign."""
        plain, w = self._parts.plain, self._coupling
        if self._below is not None:
            falls, left, right = w < 0, self._inverse.left, self._inverse.right
            direct, square = torch.zeros_like(w), w * w
        else:
            r, of_y = self._affine[0], self._parts.of_y
            falls, left, right = r < 0, of_y.left.mean(0), of_y.right.mean(0)
            direct, square = 2 * w * r, r * r
        before = direct + square * torch.where(falls, right, left) + plain.left.mean(0)
        after = direct + square * torch.where(falls, left, right) + plain.right.mean(0)
        return reach_of(self, (first, last), (before, after))
