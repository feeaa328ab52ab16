"""From a vector of real numbers, many beside each other, to functions and numbers of instances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.certificates.piecewise import spread_out
from driftproof.synthetic.pieces.curves import Curves, Vectors
from driftproof.synthetic.pieces.piecewise_linear import PiecewiseLinear
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


def curves(rows: Rows, of: Structure, name: str) -> PiecewiseLinear:
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


def rising_curves(rows: Rows, of: Structure, name: str) -> PiecewiseLinear:
    """Return curves that rise, with free knots and slopes; the outermost pieces go on."""
    count = max(2, of.knots)
    rows.begin(name)
    width, height = rows.scale(), rows.scale()
    raw = _own(rows, of, name, 2 * count).reshape(-1, of.dim, 2, count, rows.columns)
    knots = _ascending(raw[:, :, 0], width)
    slopes = height * np.exp(np.clip(raw[:, :, 1, 1:], -18.0, 18.0))
    first = height * width * raw[:, :, 1, :1]
    values = np.cumsum(np.concatenate([first, slopes * np.diff(knots, axis=2)], 2), 2)
    function = _functions(of, knots, values)
    slopes = function.slopes
    return PiecewiseLinear(function.knots, function.values, slopes[..., 0, :], slopes[..., -1, :])


def no_curves(rows: Rows, of: Structure) -> PiecewiseLinear:
    """Return functions that are 0."""
    knots = np.zeros((of.clients, of.dim, 2, rows.columns))
    knots[:, :, 1] = 1.0
    return _functions(of, knots, np.zeros_like(knots))


def vectors(rows: Rows, of: Structure, name: str, middle: float = 0.0) -> Tensor:
    """Return numbers of either sign around ``middle`` times their size, [clients, dim, …]."""
    rows.begin(name)
    size = rows.scale()
    return _spread(of, size * (middle + _own(rows, of, name, 1)))


def positive_vectors(rows: Rows, of: Structure, name: str) -> Tensor:
    """Return numbers above 0, [clients, dim, candidates]."""
    rows.begin(name)
    size = rows.scale()
    return _spread(of, size * np.exp(np.clip(_own(rows, of, name, 1), -18.0, 18.0)))


def noises(rows: Rows, of: Structure, names: tuple[str, ...]) -> dict[str, Tensor]:
    """Return the sizes of all noises, name → [candidates]; of those that are off, 0."""
    rows.begin("")
    sizes = {name: torch.zeros(rows.columns, dtype=torch.float64) for name in names}
    return sizes | {name: torch.from_numpy(rows.scale(-0.5)) for name in of.noises}


def wave(rows: Rows, of: Structure, *names: str) -> Tensor:
    """Return the wave number of noises that have one, if some is on, [candidates]."""
    on = any(name in of.noises for name in names)
    return torch.from_numpy(rows.scale() if on else np.ones(rows.columns))


def as_curves(function: PiecewiseLinear) -> Curves:
    """Return the first candidate's curves as a problem has them."""
    knots, values = function.knots[..., 0].tolist(), function.values[..., 0].tolist()
    return tuple(
        tuple(
            tuple(dict(zip(xs, ys, strict=True)).items()) for xs, ys in zip(of_x, of_y, strict=True)
        )
        for of_x, of_y in zip(knots, values, strict=True)
    )


def as_vectors(numbers: Tensor) -> Vectors:
    """Return the first candidate's numbers as a problem has them."""
    return tuple(tuple(row) for row in numbers[..., 0].tolist())


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
    none = torch.zeros((of.clients, of.dim, knots.shape[-1]), dtype=torch.float64)
    return PiecewiseLinear(_spread(of, knots), _spread(of, values), none, none.clone())


def _spread(of: Structure, numbers: np.ndarray) -> Tensor:
    """Return the numbers of one client for each, or of all."""
    return torch.from_numpy(np.broadcast_to(numbers, (of.clients, *numbers.shape[1:])).copy())
