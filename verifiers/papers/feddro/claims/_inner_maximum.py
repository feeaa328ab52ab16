"""Problem (3) of FedDRO (2023) against a right side that is a formula of the losses.

``Values`` compares the inner maximum at a few x, and its minimum over x, with the formula;
``Minimisers`` compares the minimum with the inner maximum where the formula is smallest.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import sympy
import torch
from torch import Tensor

from driftproof.synthetic.certificates.smooth import Function, minimise_smooth_on_ball
from driftproof.synthetic.problems.penalised_dro import PenalisedDRO
from driftproof.toolkit.constants import Expression
from driftproof.verifiers.claim_types.compared import Comparison

Losses: TypeAlias = Sequence[Expression] | Tensor
"""The losses of all samples, as sympy expressions or as numbers, [samples]."""
Formula = Callable[[Losses, Expression], Expression]
"""From the losses and λ to an objective."""


@dataclass(frozen=True)
class Reformulation(ABC):
    """What is claimed of problem (3) and a formula of the losses and λ."""

    formula: Formula

    @abstractmethod
    def compare(self, problem: PenalisedDRO) -> list[Comparison]:
        """Return the inner maximum, or its minimum over x, against the formula."""


@dataclass(frozen=True)
class Values(Reformulation):
    """The inner maximum equals the formula, at every x."""

    def compare(self, problem: PenalisedDRO) -> list[Comparison]:
        """Return the inner maximum and its minimum over x against the formula."""
        best, unit = problem.robust_optimum, np.eye(problem.dim)[0] * problem.ball
        points = {"x = 0": 0 * unit, "x = Be": unit, "x = −Be/2": -unit / 2}
        points["x = x*"] = np.asarray(best.minimiser)
        compared = []
        for what, x in points.items():
            low, high = problem.robust(x)
            spread = float(np.ptp(problem.losses(x)))
            compared.append(Comparison(what, low, high, self._at(problem, x), spread))
        value = self._at(problem, points["x = x*"])
        compared.append(Comparison("min over x", best.low, best.high, value, compared[-1].x))
        return compared

    def _at(self, problem: PenalisedDRO, x: np.ndarray) -> float:
        losses = [sympy.Float(float(loss), 30) for loss in problem.losses(x)]
        return float(self.formula(losses, sympy.Rational(problem.penalty)))


@dataclass(frozen=True)
class Minimisers(Reformulation):
    """Minimising the formula over x minimises the inner maximum."""

    def compare(self, problem: PenalisedDRO) -> list[Comparison]:
        """Return the minimum of the inner maximum against its value where the formula is least."""
        best = problem.robust_optimum
        if problem.dim == 1:
            grid = np.linspace(-problem.ball, problem.ball, 4_001)[:, None]
            values = [self._value(problem, x)[0] for x in grid]
            point = grid[int(np.argmin(values))]
        else:
            point = _lowest(lambda x: self._value(problem, x), problem)
        value = problem.robust(point)[0]
        return [Comparison(f"at x = {np.round(point, 3)}", best.low, best.high, value)]

    def _value(self, problem: PenalisedDRO, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the formula and its gradient at x."""
        losses = torch.from_numpy(problem.losses(x)).requires_grad_()
        value = self.formula(losses, problem.penalty)
        (slope,) = torch.autograd.grad(value, losses)
        rows = problem.every_row
        each = -rows / (1 + np.exp(rows @ x))[:, None]  # ∇ℓ_i
        return value.item(), each.T @ slope.numpy()


def _lowest(function: Function, problem: PenalisedDRO) -> np.ndarray:
    """Return the lowest of several local minima on the ball: from the centre, and around it."""
    turns = np.linspace(0.0, 2 * np.pi, 8, endpoint=False)
    starts = [np.zeros(problem.dim)]
    for turn in turns:
        start = np.zeros(problem.dim)
        start[:2] = 0.9 * problem.ball * np.array([np.cos(turn), np.sin(turn)])
        starts.append(start)
    ends = [minimise_smooth_on_ball(function, start, problem.ball) for start in starts]
    return min(ends, key=lambda x: function(x)[0])
