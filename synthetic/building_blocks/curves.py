"""The kinds of parameters of a piecewise family, each declared once, by a field's annotation.

``lower: Annotated[Curves, Curve(FROM_TWO, rises=True)] = ()`` says what the parameter may be, which
tensors it stands for, and how a search makes it of numbers (``verifiers.search.families``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.piecewise_linear import PiecewiseLinear
from driftproof.toolkit.parameters import NonNegative
from driftproof.toolkit.problem import Problem

Points = tuple[tuple[float, float], ...]
"""Points (x, p(x)) of a piecewise linear p, x ascending."""
Curves = tuple[tuple[Points, ...], ...]
"""A curve for each client and coordinate."""
Vectors = tuple[tuple[float, ...], ...]
"""A number for each client and coordinate."""
Tensors = Callable[[Any], Tensor]
"""Makes a tensor of nested numbers."""


def doubles(numbers: Any) -> Tensor:
    """Return the doubles that are nearest to numbers."""
    return torch.from_numpy(np.array(numbers, object).astype(np.float64))


@dataclass(frozen=True)
class Declared:
    """What a parameter is.

    Attributes:
        part: what it is called among the numbers of members ("": as the parameter).
    """

    part: str = ""

    def check(self, of: Problem, name: str) -> None:
        """Raise DriftproofError unless a member has such a parameter."""

    def tensors(self, value: Any, shape: tuple[int, int], linear: bool, number: Tensors) -> Any:
        """Return what one member's parameter stands for, with a last axis of one member.

        Args:
            shape: clients and dim.
            linear: whether curves go on as their outermost pieces do.
            number: makes a tensor of numbers.
        """
        return number([value])

    def value(self, tensors: Any) -> Any:
        """Return the parameter of the first of several members."""
        return float(tensors[0])


@dataclass(frozen=True)
class _OfEach(Declared):
    """A parameter with an entry for each client and coordinate, or ``default`` if it is empty.

    Attributes:
        flag: the flag of a search's structure without which it is empty ("": it never is).
    """

    default: Any = None
    flag: str = ""

    def check(self, of: Problem, name: str) -> None:
        """Refuse another shape."""
        rows = getattr(of, name)
        fits = not rows or [len(row) for row in rows] == [of.dim] * of.clients
        shape = f"of {of.clients} clients with {of.dim} coordinates each, or empty"
        of.require(name, f"{type(self).__name__.lower()}s {shape}", fits)
        for entry in (entry for row in rows for entry in row):
            self.check_entry(of, name, entry)

    def check_entry(self, of: Problem, name: str, entry: Any) -> None:
        """Refuse what is no entry of one client and coordinate."""

    def filled(self, rows: Any, shape: tuple[int, int]) -> Any:
        """Return an entry for each client and coordinate."""
        clients, dim = shape
        return rows or ((self.default,) * dim,) * clients


@dataclass(frozen=True)
class Curve(_OfEach):
    """A piecewise linear function, [clients, dim, knots, members], constant beyond its points.

    Attributes:
        letter: the function whose derivative it is, as the family's statement calls it.
        rises: whether it rises, and goes on beyond its points as its outermost pieces do.
        opposed: whether clients may differ in it alone so that it cancels in their mean.
    """

    letter: str = ""
    rises: bool = False
    opposed: bool = False

    def check_entry(self, of: Problem, name: str, entry: Points) -> None:
        """Refuse knots that do not ascend, and a curve that does not rise where it has to."""
        ascends = all(a[0] < b[0] for a, b in pairwise(entry))
        of.require(name, "points (x, value) whose x ascend", len(entry) > 0 and ascends)
        rises = len(entry) > 1 and all(a[1] < b[1] for a, b in pairwise(entry))
        of.require(name, "two points or more, whose values ascend", rises or not self.rises)

    def tensors(
        self, value: Curves, shape: tuple[int, int], linear: bool, number: Tensors
    ) -> PiecewiseLinear:
        """Return the functions, all with as many knots."""
        curves, linear = self.filled(value, shape), linear or self.rises
        count = max(2, *(len(points) for row in curves for points in row))
        padded = [[_padded(points, count, linear) for points in row] for row in curves]
        points = number(padded)[..., None]  # [clients, dim, knots, 2, 1]
        return piecewise(points[..., 0, :], points[..., 1, :], linear)

    def value(self, tensors: PiecewiseLinear) -> Curves:
        """Return the points of the first member's curves, one of several at one x."""
        knots, values = tensors.knots[..., 0].tolist(), tensors.values[..., 0].tolist()
        return tuple(
            tuple(_points(xs, ys) for xs, ys in zip(of_x, of_y, strict=True))
            for of_x, of_y in zip(knots, values, strict=True)
        )


@dataclass(frozen=True)
class Number(_OfEach):
    """A number, [clients, dim, members].

    Attributes:
        middle: around which a search draws it, in units of its size (None: around the default).
        positive: whether it is above 0.
        letter: what the family's statement calls it, without its index.
    """

    letter: str = ""
    middle: float | None = None
    positive: bool = False

    def check_entry(self, of: Problem, name: str, entry: float) -> None:
        """Refuse a number that is not above 0, where it has to be."""
        of.require(name, "numbers above 0", entry > 0 or not self.positive)

    def tensors(
        self, value: Vectors, shape: tuple[int, int], linear: bool, number: Tensors
    ) -> Tensor:
        """Return the numbers."""
        return number(self.filled(value, shape))[..., None]

    def value(self, tensors: Tensor) -> Vectors:
        """Return the first member's numbers."""
        return tuple(tuple(row) for row in tensors[..., 0].tolist())


@dataclass(frozen=True)
class Noise(Declared):
    """The size of a noise, [members]."""


@dataclass(frozen=True)
class Wave(Declared):
    """The wave number of some noises, [members].

    Attributes:
        of: their names.
    """

    of: tuple[str, ...] = ()


NoiseSize = Annotated[NonNegative, Noise()]


def piecewise(knots: Tensor, values: Tensor, linear: bool) -> PiecewiseLinear:
    """Return functions, constant beyond their knots or with the slopes of their outermost pieces.

    Args:
        knots, values: [clients, dim, knots, members].
    """
    none = torch.zeros_like(knots[..., 0, :])
    function = PiecewiseLinear(knots, values, none, none.clone())
    if not linear:
        return function
    slopes = function.slopes
    return PiecewiseLinear(knots, values, slopes[..., 0, :], slopes[..., -1, :])


def _padded(curve: Points, count: int, linear: bool) -> list[tuple[float, float]]:
    """Return a curve with more knots, on its right tail, in fractions: all else is rounded once."""
    points: list[Any] = list(curve)
    while len(points) < count:
        x, value = map(Fraction, points[-1])
        rise = Fraction(0)
        if linear and len(points) > 1:
            before, low = map(Fraction, points[-2])
            rise = (value - low) / (x - before)
        points.append((x + 1, value + rise))
    return points


def _points(xs: Sequence[float], ys: Sequence[float]) -> Points:
    return tuple(dict(zip(xs, ys, strict=True)).items())


def straight(slope: float) -> Points:
    """Return a constant derivative."""
    return ((0.0, slope),)


AROUND_TWO: Points = ((1.0, -1.0), (3.0, 1.0))
"""The derivative of a Huber function around 2."""
