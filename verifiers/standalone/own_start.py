"""Runs in doubles from a method's own start, which need not come to a cycle: they prove nothing."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.engines.enumerated import Drew
from driftproof.toolkit.oracles import OFFERS
from driftproof.verifiers.worst_case.on_quadratics import squares_in_doubles

Points = Sequence[tuple[Fraction, Fraction]]  # of a piecewise linear f'
STARTS, ROUNDS, SAME = (1, -1, 2, -2), 1000, 1e-9
"""Where runs begin, when they are looked at, and how near ‖x‖² is then to itself a cycle later."""


def stays_away(method: Any, slopes: Iterable[Points], length: int) -> tuple[int, float] | None:
    """Return a start from which a run comes to a cycle away from x* = 0, and ‖x‖ there, if any."""
    for start in STARTS if method is not None and method.needs in OFFERS["field"] else ():
        curves = [(tuple((float(x - start), float(g)) for x, g in of),) for of in slopes]
        problem = PiecewiseLosses(clients=len(curves), gradients=tuple(curves), tails="linear")
        try:
            squares = squares_in_doubles(problem, method, ROUNDS + 9 * length, -start)[ROUNDS:]
        except Drew:  # a run is one of many
            return None
        again = np.allclose(squares[:-length], squares[length:], SAME, 0.0)
        if again and SAME < squares.min() <= squares.max() < np.inf:
            return start, float(np.sqrt(squares[0]))
    return None


def steep(points: Points, mu: Fraction, L: Fraction) -> Points:
    """Return an f' through points that rises by L near each, so that runs near them stay there."""
    (first, low), (last, high) = points[0], points[-1]
    made = [(first - 1, low - L), points[0]]
    for (x, g), (y, h) in pairwise(points):
        near = ((h - g) - mu * (y - x)) / (2 * (L - mu))
        made += [(x + near, g + L * near), (y - near, h - L * near), (y, h)]
    return list(dict.fromkeys([*made, (last + 1, high + L)]))
