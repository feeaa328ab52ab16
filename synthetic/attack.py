"""Attacks declared constants: a search for points and samples that exceed them.

The result is the largest value found over the declared one: above 1 the constant is wrong, 1 means
attained. Moduli (strong convexity) are attacked from below, by the same ratio turned over.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from synthetic.attack_scores import Scores
from toolkit.problem import Problem

Score = Callable[[Tensor], Tensor]
CANDIDATES, SWEEPS = 96, 24


def attack(problem: Problem, role: str, *, seed: int = 0) -> float:
    """Return how closely a search comes to one of a problem's constants (1: attained)."""
    declared = problem.constants[role]
    scores = Scores(problem)
    found = maximise(getattr(scores, role), scores.variables(role), problem.radius, seed)
    if role.endswith(("_convexity", "_concavity")):
        if declared > 0:
            return declared / -found if found < 0 else np.inf
        # a modulus of 0 and below is exceeded by one that is farther below
        return -found / declared if declared else (1.0 if found <= 1e-12 else np.inf)
    return found / declared if declared else (1.0 if found <= 1e-12 else np.inf)


def maximise(score: Score, size: int, radius: float | None, seed: int) -> float:
    """Return the largest score found by random starts at many scales and a shrinking local search.

    Args:
        score: [size, candidates] → [candidates].
        size: the number of variables.
        radius: pairs of points of a constant with a radius stay within it.
    """
    random = torch.Generator().manual_seed(seed)

    def normal() -> Tensor:
        return torch.randn(size, CANDIDATES, generator=random, dtype=torch.float64)

    def kept(points: Tensor) -> Tensor:
        if radius is None:
            return points
        shrunk: Tensor = points * (radius / points.norm(dim=0).clamp(min=radius))
        return shrunk

    scales = torch.logspace(-4, 3, CANDIDATES, dtype=torch.float64)
    starts = kept(normal() * scales)
    starts[:, 0] = 0.0
    best, value = starts, score(starts).nan_to_num(-np.inf)
    for sweep in range(SWEEPS):
        order = value.argsort(descending=True)
        leaders = best[:, order[: CANDIDATES // 8]].repeat(1, 8)
        spread = leaders.norm(dim=0).clamp(min=1e-3) * 2.0 ** -(sweep / 2)
        moved = kept(leaders + normal() * spread)
        best = torch.cat([best[:, order], moved], 1)
        value = torch.cat([value[order], score(moved).nan_to_num(-np.inf)])
        top = value.argsort(descending=True)[:CANDIDATES]
        best, value = best[:, top], value[top]
    return float(value.max())
