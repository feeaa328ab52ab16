"""From a vector of real numbers, many beside each other, to functions and numbers of instances."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.curves import (
    Curve,
    Declared,
    Noise,
    Number,
    Wave,
    doubles,
    piecewise,
)
from driftproof.synthetic.building_blocks.piecewise_linear import PiecewiseLinear
from driftproof.synthetic.certificates.piecewise import spread_out
from driftproof.verifiers.search.numbers import scale
from driftproof.verifiers.search.structure import Structure


class Rows:
    """The rows of a matrix [size, candidates], taken one after another; beyond its end, zeros.

    Attributes:
        used: how many were taken.
        opposed: of which candidates the clients differ in ``of.opposed`` alone, and so that it
            cancels in their mean, [candidates].
        opposing: whether there are such candidates: without noise, about half of them.
        rise: how much an objective rises where it ends, in units of its steepest derivative.
    """

    rise = 1e-6

    def __init__(self, z: np.ndarray, of: Structure) -> None:
        self._z, self.used = z, 0
        self.opposing = bool(of.opposed) and of.clients > 1 and not of.noises
        none = np.zeros(self.columns, bool)
        self.opposed = self.take(1)[0] > 0 if self.opposing else none

    def begin(self, name: str) -> None:
        """Note that the rows of what has this name come next."""

    @property
    def columns(self) -> int:
        """How many candidates there are."""
        return int(self._z.shape[1])

    def take(self, count: int) -> np.ndarray:
        """Return the next rows, [count, candidates]."""
        first, self.used = self.used, self.used + count
        rows = self._z[first : self.used]
        missing = count - len(rows)
        return np.concatenate([rows, np.zeros((missing, self._z.shape[1]))]) if missing else rows

    def scale(self, middle: float = 0.0) -> np.ndarray:
        """Return the size that the next row stands for, [candidates]."""
        return scale(self.take(1)[0], middle)


def decoded(rows: Rows, of: Structure, name: str, one: Declared) -> Any:
    """Return what vectors stand for of one parameter, with a last axis of candidates.

    Args:
        name: of the parameter among the parts.
        one: what it is declared to be.
    """
    flag = getattr(one, "flag", "")
    if flag and not getattr(of, flag):
        return _left_out(rows, of, one)
    if isinstance(one, Curve):
        return (_rising if one.rises or of.convex else _curves)(rows, of, name)
    if isinstance(one, Number):
        return _numbers(rows, of, name, one)
    rows.begin("")
    if isinstance(one, Wave):
        on = any(noise in of.noises for noise in one.of)
        return torch.from_numpy(rows.scale() if on else np.ones(rows.columns))
    assert isinstance(one, Noise)
    return torch.from_numpy(rows.scale(-0.5) if name in of.noises else np.zeros(rows.columns))


def _left_out(rows: Rows, of: Structure, one: Declared) -> Any:
    """Return the default of every candidate."""
    default = one.tensors((), (of.clients, of.dim), False, doubles)

    def every(x: Tensor) -> Tensor:
        return x.repeat_interleave(rows.columns, -1)

    return default.changed(every) if isinstance(default, PiecewiseLinear) else every(default)


def _curves(rows: Rows, of: Structure, name: str) -> PiecewiseLinear:
    """Return curves with free knots and values, constant beyond: [clients, dim, knots, …]."""
    rows.begin(name)
    width, height = rows.scale(), rows.scale()
    raw = _own(rows, of, name, 2 * of.knots).reshape(-1, of.dim, 2, of.knots, rows.columns)
    knots = _ascending(raw[:, :, 0], width)
    values = height * raw[:, :, 1]
    if of.knots == 1:
        knots = np.concatenate([knots, knots + width], 2)
        values = np.concatenate([values, values], 2)
    if name != of.opposed:  # where another curve is opposed, what else bends would hide it
        values[..., rows.opposed] = np.abs(values[:, :, :1, rows.opposed])
    free = _functions(of, knots, values)
    return _opposed(rows, of, free) if name == of.opposed and rows.opposing else free


def _opposed(rows: Rows, of: Structure, free: PiecewiseLinear) -> PiecewiseLinear:
    """Return the functions, and of some candidates a common one plus what cancels in the mean.

    Curves with knots of their own hardly ever cancel, so what does has those of the first client,
    narrower than the two of what is common, which has a minimum in between.
    """
    width, heights = rows.scale(1.0), rows.scale() * np.abs(rows.take(2 * of.dim))
    rising = heights.reshape(1, of.dim, 2, rows.columns) * np.array([[-1.0], [1.0]])
    places = rows.take(2 * of.dim).reshape(1, of.dim, 2, rows.columns)
    common = _functions(of, _ascending(places, width), rising)
    own = replace(free, knots=0.1 * free.knots[:1], values=free.values - free.values.mean(0))
    # as many knots of all candidates: two more of the others, on their first piece
    first, second = free.knots[:, :, :1], free.knots[:, :, 1:2]
    thirds = torch.tensor([[0.0], [1 / 3], [2 / 3]], dtype=first.dtype)
    divided = torch.cat([first + thirds * (second - first), free.knots[:, :, 1:]], 2)
    knots = torch.cat([common.knots[:1], own.knots], 2).sort(2).values
    both = spread_out(common).value(knots) + spread_out(own).value(knots)
    mine = torch.from_numpy(rows.opposed)
    return replace(
        free,
        knots=torch.where(mine, knots.expand_as(both), divided),
        values=torch.where(mine, both, spread_out(free).value(divided)),
    )


def _rising(rows: Rows, of: Structure, name: str) -> PiecewiseLinear:
    """Return curves that rise, with free knots and slopes; the outermost pieces go on."""
    count = max(2, of.knots)
    rows.begin(name)
    width, height = rows.scale(), rows.scale()
    raw = _own(rows, of, name, 2 * count).reshape(-1, of.dim, 2, count, rows.columns)
    knots = _ascending(raw[:, :, 0], width)
    slopes = height * np.exp(np.clip(raw[:, :, 1, 1:], -18.0, 18.0))
    first = height * width * raw[:, :, 1, :1]
    values = np.cumsum(np.concatenate([first, slopes * np.diff(knots, axis=2)], 2), 2)
    return piecewise(_spread(of, knots), _spread(of, values), True)


def _numbers(rows: Rows, of: Structure, name: str, one: Number) -> Tensor:
    """Return numbers above 0, or of either sign around a middle, in units of a size."""
    rows.begin(name)
    size, own = rows.scale(), _own(rows, of, name, 1)
    if one.positive:
        return _spread(of, size * np.exp(np.clip(own, -18.0, 18.0)))
    middle = one.default if one.middle is None else one.middle
    return _spread(of, size * (middle + own))


def _own(rows: Rows, of: Structure, name: str, count: int) -> np.ndarray:
    """Return ``count`` rows for each client and coordinate (one client's, if all are alike)."""
    own = 1 if name in of.alike and name != of.opposed else of.clients
    raw = np.stack([rows.take(of.dim * count) for _ in range(own)])
    alike = name in of.alike and ~rows.opposed if name == of.opposed else rows.opposed
    return np.where(alike, raw[:1], raw)


def _ascending(raw: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return knots from a first one and the logarithms of gaps, [clients, dim, knots, …]."""
    gaps = np.exp(np.clip(raw[:, :, 1:], -12.0, 4.0))
    knots: np.ndarray = width * np.cumsum(np.concatenate([raw[:, :, :1], gaps], 2), 2)
    return knots


def _functions(of: Structure, knots: np.ndarray, values: np.ndarray) -> PiecewiseLinear:
    return piecewise(_spread(of, knots), _spread(of, values), False)


def _spread(of: Structure, numbers: np.ndarray) -> Tensor:
    """Return the numbers of one client for each, or of all."""
    return torch.from_numpy(np.broadcast_to(numbers, (of.clients, *numbers.shape[1:])).copy())
