"""Piecewise linear functions as parameters of a problem: points of one, checked, and as tensors."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import torch
from torch import Tensor

from driftproof.synthetic.pieces.piecewise_linear import PiecewiseLinear
from driftproof.toolkit.problem import Problem

Curve = tuple[tuple[float, float], ...]
"""Points (x, p(x)) of a piecewise linear p, x ascending."""
Curves = tuple[tuple[Curve, ...], ...]
"""A curve for each client and coordinate."""
Vectors = tuple[tuple[float, ...], ...]
"""A number for each client and coordinate."""


class ByClientAndCoordinate(Problem):
    """A problem whose tuples have an entry for each client, of entries for each coordinate."""

    def without_client(self, client: int) -> Self | None:
        """Return the member without one of its clients (None: there is one only)."""
        if self.clients == 1:
            return None
        fewer = {name: v[:client] + v[client + 1 :] for name, v in self._nested().items()}
        return replace(self, clients=self.clients - 1, **fewer)  # type: ignore[type-var]

    def without_coordinate(self, coordinate: int) -> Self | None:
        """Return the member without one of its coordinates (None: there is one only)."""
        if self.dim == 1:
            return None
        fewer = {
            name: tuple(row[:coordinate] + row[coordinate + 1 :] for row in v)
            for name, v in self._nested().items()
        }
        return replace(self, dim=self.dim - 1, **fewer)  # type: ignore[type-var]

    def _nested(self) -> dict[str, tuple[tuple[Any, ...], ...]]:
        """Return the parameters that have an entry for each client and coordinate."""
        return {name: v for name, v in self.values().items() if isinstance(v, tuple) and v}

    def check_curves(self, *names: str) -> None:
        """Raise DriftproofError unless curves have one for each client and coordinate, and ascend.

        Args:
            names: of the parameters that are Curves, each of which may be empty.
        """
        for name in names:
            curves = getattr(self, name)
            self._check_shape(name, curves, "curves")
            for curve in (curve for row in curves for curve in row):
                ascends = all(a[0] < b[0] for a, b in pairwise(curve))
                self.require(name, "points (x, value) whose x ascend", len(curve) > 0 and ascends)

    def check_vectors(self, *names: str) -> None:
        """Raise DriftproofError unless there is a number for each client and coordinate.

        Args:
            names: of the parameters that are Vectors, each of which may be empty.
        """
        for name in names:
            self._check_shape(name, getattr(self, name), "numbers")

    def _check_shape(self, name: str, rows: tuple[tuple[Any, ...], ...], what: str) -> None:
        fits = not rows or [len(row) for row in rows] == [self.dim] * self.clients
        wanted = f"{what} of {self.clients} clients with {self.dim} coordinates each, or empty"
        self.require(name, wanted, fits)


def curves_of(curves: Curves, linear_tails: bool = False) -> PiecewiseLinear:
    """Return a member's curves as tensors [clients, dim, knots, 1], all with as many knots.

    Args:
        linear_tails: whether a curve goes on as its first and last pieces do, instead of flat.
    """
    count = max(2, *(len(curve) for of_client in curves for curve in of_client))
    padded = [[_padded(curve, count, linear_tails) for curve in row] for row in curves]
    points = torch.tensor(padded, dtype=torch.float64)[..., None]  # [clients, dim, knots, 2, 1]
    knots, values = points[..., 0, :], points[..., 1, :]
    none = torch.zeros_like(knots[..., 0, :])
    function = PiecewiseLinear(knots, values, none, none)
    if not linear_tails:
        return function
    slopes = function.slopes
    return PiecewiseLinear(knots, values, slopes[..., 0, :], slopes[..., -1, :])


def _padded(curve: Curve, count: int, linear_tails: bool) -> list[tuple[float, float]]:
    """Return a curve with more knots, on its right tail."""
    points = list(curve)
    while len(points) < count:
        x, value = points[-1]
        rise = 0.0
        if linear_tails and len(points) > 1:
            before, low = points[-2]
            rise = (value - low) / (x - before)
        points.append((x + 1.0, value + rise))
    return points


def straight(slope: float) -> Curve:
    """Return a constant derivative."""
    return ((0.0, slope),)


def each_client(curve: Curve, clients: int, dim: int) -> Curves:
    """Return the same curve for every client and coordinate."""
    return tuple(tuple(curve for _ in range(dim)) for _ in range(clients))


def vectors_of(vectors: Vectors, default: float, clients: int, dim: int) -> Tensor:
    """Return a member's numbers as a tensor [clients, dim, 1] (empty: the default for each)."""
    rows = vectors or ((default,) * dim,) * clients
    return torch.tensor(rows, dtype=torch.float64)[..., None]


def number_of(number: float) -> Tensor:
    """Return a member's number as a tensor [1]."""
    return torch.tensor([number], dtype=torch.float64)
