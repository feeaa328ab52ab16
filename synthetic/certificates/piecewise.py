r"""Smoothness, modulus, infimum and minimiser of piecewise problems, cell by cell.

In one coordinate F' = h' + g'(f)·f' is, between two neighbouring breakpoints, a polynomial of
degree 3: f' is linear, f quadratic, and g' linear there. Breakpoints are the knots of h_k' and of
f_k', and the points at which some f_k meets a knot of g_k'. Hence F'' is a quadratic on each
*cell*, and three values give it: its extreme values lie at the cell's ends or at its vertex. Its
zeros split a cell into pieces on which F' is monotone, so that each local minimum of F is bracketed
by a change of sign of F' and found by bisection. Beyond the outermost breakpoints F' is linear.

Everything is done for many members beside each other.
"""

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.synthetic.building_blocks.piecewise_linear import ROUNDING, PiecewiseLinear
from driftproof.toolkit.problem import Solution

BISECTIONS = 60
BRACKETS = 6
"""Local minima of a coordinate that are looked at, of many members at once."""


class Shape(NamedTuple):
    """What is known of F, by member.

    Attributes:
        smoothness: sup |F''|, over coordinates too, [members].
        modulus: inf F'', [members]: below 0 where F is not convex.
        infimum: inf F, [members] (−∞: F is unbounded below).
        error: how far rounding may put inf F, or F(0) less inf F, off, [members].
        minimiser: where it is attained, [dim, members].
    """

    smoothness: Tensor
    modulus: Tensor
    infimum: Tensor
    error: Tensor
    minimiser: Tensor


def solution_of(shape: Shape) -> Solution:
    """Return the certified optimum of one member, whose error is rounding alone."""
    value, error = float(shape.infimum[0]), float(shape.error[0])
    minimiser = shape.minimiser[:, 0].numpy() if np.isfinite(value) else None
    how = {"method": "piecewise polynomials", "gap": 2 * error}
    return Solution(value - error, value + error, minimiser, how)


class Functions(Protocol):
    """F, F' and F'' of some members by coordinate, F'' a quadratic between breakpoints.

    Attributes:
        members: how many there are.
    """

    members: int

    @property
    def breakpoints(self) -> Tensor:
        """Return [dim, breakpoints, members], in any order."""

    def value(self, x: Tensor) -> Tensor:
        """Return F at points [dim, points, members]: the same shape."""

    def derivative(self, x: Tensor) -> Tensor:
        """Return F'."""

    def curvature(self, x: Tensor) -> Tensor:
        """Return F'' (at a breakpoint, that of one side)."""

    def reach(self, first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
        """Return how far beyond the outermost breakpoints F' may still change its sign."""

    def sizes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what bounds the numbers that are added up in F(x), and in F''(x)."""


def reach_of(
    functions: Functions, ends: tuple[Tensor, Tensor], bends: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Return how far before and after ``ends`` F' may still change its sign.

    Args:
        bends: F'' before the first and after the last, [dim, members] each.
    """
    far = []
    for x, bend, sign in zip(ends, bends, (1.0, -1.0), strict=True):
        rises, slope = (bend > 0).unsqueeze(-2), functions.derivative(x)
        steps = torch.where(rises, slope / torch.where(rises, bend.unsqueeze(-2), 1.0), 0.0)
        far.append(torch.clamp(sign * steps, min=0.0))
    return far[0], far[1]


def shape_of(functions: Functions) -> Shape:
    """Return the shape of every member's F."""
    low, high, curvature, size = cells(functions)
    before, middle, after = curvature
    # in u ∈ [−2, 2] over a cell, from its values at u = −1, 0, 1
    bend, tilt = 0.5 * (before + after) - middle, 0.5 * (after - before)
    vertex = torch.where(bend != 0, -0.5 * tilt / torch.where(bend != 0, bend, 1.0), 0.0)
    vertex = torch.clamp(vertex, -2.0, 2.0)
    at = torch.stack([torch.full_like(vertex, -2.0), vertex, torch.full_like(vertex, 2.0)])
    values = (bend * at + tilt) * at + middle
    # clients that curve against each other cancel, and leave their rounding errors
    rounding = ROUNDING * size.amax(0).amax((0, 1))
    smoothness = values.abs().amax(0).amax((0, 1)) + rounding
    modulus = values.amin(0).amin((0, 1))
    modulus = torch.where(modulus.abs() > rounding, modulus - rounding, modulus)
    root = torch.sqrt(torch.clamp(tilt * tilt - 4 * bend * middle, min=0.0))
    halves = torch.stack([-tilt - root, -tilt + root]) / torch.where(bend != 0, 2 * bend, 1.0)
    line = torch.where(tilt != 0, -middle / torch.where(tilt != 0, tilt, 1.0), 0.0)
    zeros = torch.where(bend != 0, halves, line.expand_as(halves)).clamp(-2.0, 2.0).sort(0).values
    centre, quarter = 0.5 * (low + high), 0.25 * (high - low)
    points = torch.stack([low, centre + quarter * zeros[0], centre + quarter * zeros[1]], 2)
    points = torch.cat([points.flatten(1, 2), high[:, -1:]], 1)
    infimum, minimiser = _lowest(functions, points)
    around = torch.stack([minimiser, torch.zeros_like(minimiser)], 1)
    error = ROUNDING * functions.sizes(around)[0].sum((0, 1))
    return Shape(smoothness, modulus, infimum, error, minimiser)


def _lowest(functions: Functions, points: Tensor) -> tuple[Tensor, Tensor]:
    """Return inf F and a minimiser, given points between which F' is monotone, [dim, …]."""
    slope = functions.derivative(points)
    valleys = (slope[:, :-1] < 0) & (slope[:, 1:] > 0)
    deepest = int(valleys.sum(1).max()) if functions.members == 1 else BRACKETS
    found = [points]
    if deepest:
        order = torch.topk(valleys.to(torch.int8), min(deepest, valleys.shape[1]), dim=1).indices
        left, right = points[:, :-1].gather(1, order), points[:, 1:].gather(1, order)
        for _ in range(BISECTIONS):
            middle = 0.5 * (left + right)
            falls = functions.derivative(middle) < 0
            left, right = torch.where(falls, middle, left), torch.where(falls, right, middle)
        found.append(0.5 * (left + right))
    tried = torch.cat(found, 1)
    values, place = functions.value(tried).min(1)
    minimiser = tried.gather(1, place[:, None])[:, 0]
    unbounded = ((slope[:, 0] > 0) | (slope[:, -1] < 0)).any(0)
    return torch.where(unbounded, -torch.inf, values.sum(0)), minimiser


def cells(functions: Functions) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the cells' ends, [dim, cells, members], and at three points within each F'' and size.

    The size bounds the numbers that are added up in F''.
    """
    ends = functions.breakpoints.sort(1).values
    first, last = ends[:, :1], ends[:, -1:]
    beyond = last - first + 1.0
    left, right = functions.reach(first, last)
    ends = torch.cat([first - beyond - left, ends, last + beyond + right], 1)
    low, high = ends[:, :-1], ends[:, 1:]
    inside = [low + share * (high - low) for share in (0.25, 0.5, 0.75)]
    curvature = torch.stack([functions.curvature(x) for x in inside])
    size = torch.stack([functions.sizes(x)[1] for x in inside])
    return low, high, curvature, size


def by_coordinate(knots: Tensor) -> Tensor:
    """Return [clients, dim, points, members] as [dim, points of all clients, members]."""
    return knots.movedim(0, 1).flatten(1, 2)


def _seen_by_outer(parts: Parts) -> tuple[PiecewiseLinear, Tensor] | None:
    """Return the derivative of the inner values that outer functions are given, and f(0)."""
    if parts.inner is None:
        return None
    if not parts.averaged_inside:
        return parts.inner, parts.offsets
    mean = mean_of(parts.inner).changed(lambda x: x[None])
    return mean, parts.offsets.mean(0, keepdim=True)


def mean_of(functions: PiecewiseLinear) -> PiecewiseLinear:
    """Return the mean of [clients, dim, knots, members], [dim, knots of all clients, members]."""
    knots = by_coordinate(functions.knots).sort(1).values
    return PiecewiseLinear(
        knots,
        spread_out(functions).value(knots[None]).mean(0),
        functions.left.mean(0),
        functions.right.mean(0),
    )


def spread_out(function: PiecewiseLinear) -> PiecewiseLinear:
    """Return functions [..., knots, members] as [..., 1, knots, members]: of many points each."""
    return PiecewiseLinear(
        function.knots.unsqueeze(-3),
        function.values.unsqueeze(-3),
        function.left.unsqueeze(-2),
        function.right.unsqueeze(-2),
    )


def _preimages(derivative: PiecewiseLinear, offset: Tensor, levels: Tensor) -> Tensor:
    """Return every x at which f, whose tails are straight, meets a level (or some knot instead).

    Args:
        derivative: f', [clients, dim, knots, members].
        offset: f(0), [clients, dim, members].
        levels: [clients, dim, levels, members].

    Returns:
        [clients, dim, points, members].
    """
    # a root that rounding puts outside its piece lies at a knot, which is a breakpoint as well
    at_zero = derivative.integral(torch.zeros_like(derivative.left))
    start = spread_out(derivative).integral(derivative.knots) + (offset - at_zero).unsqueeze(-2)
    flat = torch.zeros_like(derivative.left).unsqueeze(-2)
    bends = torch.cat([flat, derivative.slopes, flat], -2)
    first = derivative.knots[..., :1, :]
    # piece 0 runs back from the first knot, the others forward from theirs
    origins = torch.cat([first, derivative.knots], -2).unsqueeze(-2)
    slopes = torch.cat([derivative.values[..., :1, :], derivative.values], -2).unsqueeze(-2)
    starts = torch.cat([start[..., :1, :], start], -2).unsqueeze(-2)
    bends = bends.unsqueeze(-2)
    wanted = levels.unsqueeze(-3) - starts  # [clients, dim, pieces, levels, members]
    root = torch.sqrt(torch.clamp(slopes * slopes + 2 * bends * wanted, min=0.0))
    found = []
    for sign in (1.0, -1.0):
        # the form of the quadratic's roots that cancels nothing where both signs agree
        below = slopes + sign * root
        steps = torch.where(below != 0, 2 * wanted / torch.where(below != 0, below, 1.0), 0.0)
        found.append(origins + steps)
    points = torch.cat(found, -2)
    knots = derivative.knots
    endless = torch.full_like(first, torch.inf)
    begins = torch.cat([-endless, knots], -2).unsqueeze(-2)
    ends = torch.cat([knots, endless], -2).unsqueeze(-2)
    within = (points >= begins) & (points <= ends) & torch.isfinite(points)
    return torch.where(within, points, origins).flatten(2, 3)


class CompositionFunctions:
    """Those of (1/K) Σ [h_k + g_k(f_k)], or with the inner values averaged inside."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self.members = parts, parts.members
        self._plain = spread_out(parts.plain)
        self._inner = spread_out(parts.inner) if parts.inner is not None else None
        self._outer = spread_out(parts.outer) if parts.outer is not None else None
        zero = torch.zeros_like(parts.plain.left).unsqueeze(-2)
        self._plain_start = self._plain.integral(zero)
        if self._inner is not None and self._outer is not None:
            self._inner_start = self._inner.integral(zero) - parts.offsets.unsqueeze(-2)
            self._outer_start = self._outer.integral(zero)
            self._steep = self._outer.values.abs().amax(-2)

    @cached_property
    def breakpoints(self) -> Tensor:
        """The knots of h_k' and f_k', and the points at which some f_k meets a knot of g_k'."""
        parts = self._parts
        points = [by_coordinate(parts.plain.knots)]
        inner = _seen_by_outer(parts)
        if inner is not None:
            points.append(by_coordinate(parts.inner.knots))
            points.append(by_coordinate(_preimages(*inner, parts.outer.knots)))
        return torch.cat(points, 1)

    def _inside(self, x: Tensor) -> Tensor:
        return x.mean(0, keepdim=True) if self._parts.averaged_inside else x

    def value(self, x: Tensor) -> Tensor:
        """Return F."""
        value = (self._plain.integral(x) - self._plain_start).mean(0)
        if self._inner is None or self._outer is None:
            return value
        y = self._inside(self._inner.integral(x) - self._inner_start)
        return value + (self._outer.integral(y) - self._outer_start).mean(0)

    def derivative(self, x: Tensor) -> Tensor:
        """Return F'."""
        value = self._plain.value(x).mean(0)
        if self._inner is None or self._outer is None:
            return value
        y = self._inside(self._inner.integral(x) - self._inner_start)
        return value + (self._outer.value(y) * self._inside(self._inner.value(x))).mean(0)

    def curvature(self, x: Tensor) -> Tensor:
        """Return F'' (at a breakpoint, that of one side)."""
        plain, turned, pulled = self._curved(x)
        return plain.mean(0) + (turned + pulled).mean(0)

    def sizes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what bounds the numbers that are added up in F(x), and in F''(x)."""
        plain, turned, pulled = self._curved(x)
        curved = (plain.abs() + turned.abs() + pulled.abs()).mean(0)
        size = self._plain.size(x).mean(0)
        if self._inner is None or self._outer is None:
            return size, curved
        reached = self._inner.size(x) + self._parts.offsets.abs().unsqueeze(-2)
        # what an inner value is off by moves the outer one by its slope
        return size + (self._outer.size(reached) + self._steep * reached).mean(0), curved

    def _curved(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return h'', g''f'² and g'f'', client by client."""
        plain = self._plain.slope(x)
        if self._inner is None or self._outer is None:
            return plain, torch.zeros_like(plain), torch.zeros_like(plain)
        y = self._inside(self._inner.integral(x) - self._inner_start)
        slope, bend = self._inside(self._inner.value(x)), self._inside(self._inner.slope(x))
        return plain, self._outer.slope(y) * slope * slope, self._outer.value(y) * bend

    def reach(self, first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
        """Return how far beyond the outermost breakpoints F' may still change its sign."""
        plain = self._parts.plain
        return reach_of(self, (first, last), (plain.left.mean(0), plain.right.mean(0)))


def heterogeneity(functions: PiecewiseLinear) -> Tensor:
    """Return sup_x of the largest distance of a client's function from the mean, [members].

    Of functions [clients, dim, knots, members] with straight tails: the distance is piecewise
    linear, hence largest at a knot; over the coordinates, the root of the sum of squares bounds
    it. Infinite where the tails differ.
    """
    spread = spread_out(functions)
    knots = by_coordinate(functions.knots)
    away = spread.value(knots[None])
    away = (away - away.mean(0)).abs().amax(2)
    parting = [
        (tail - tail.mean(0)).abs().amax((0, 1)) for tail in (functions.left, functions.right)
    ]
    bound = torch.sqrt((away * away).sum(1)).amax(0)
    rounding = ROUNDING * functions.values.abs().amax((0, 1, 2))
    bound = torch.where(bound > 0, bound + rounding, 0.0)  # equal functions differ by nothing
    return torch.where(parting[0] + parting[1] > 0, torch.inf, bound)
