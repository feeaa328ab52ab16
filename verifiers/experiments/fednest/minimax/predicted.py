"""What the methods of fednest/minimax come to, exactly: rates, mean curves and floors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from synthetic.problems.random_minimax import RandomMinimax
from toolkit.algorithm import Algorithm
from verifiers.minimax_rounds import moments


@dataclass(frozen=True)
class Predicted:
    """Expected squared distances from the saddle point.

    Attributes:
        x, y: E‖x_k − x*‖² and E‖y_k − y*‖² of each round's start and the end, [rounds + 1].
        floor_x, floor_y: their limits.
        rate: spectral radius of a round's mean map, less the constant.
    """

    x: np.ndarray
    y: np.ndarray
    floor_x: float
    floor_y: float
    rate: float


def predicted(problem: RandomMinimax, algorithm: Algorithm, rounds: int) -> Predicted:
    """Return what ``rounds`` rounds from the problem's start come to on average."""
    d, of_round = problem.dim, moments(problem, algorithm)
    squares, limit = of_round.squares(rounds), of_round.limit()
    return Predicted(
        x=squares[:, :d].sum(1), y=squares[:, d:].sum(1),
        floor_x=float(limit[:d].sum()), floor_y=float(limit[d:].sum()), rate=of_round.rate,
    )  # fmt: skip
