"""Attacks declared constants: a search for points and samples that exceed them.

The result is the largest value found over the declared one: above 1 the constant is wrong, 1 means
attained. Moduli (strong convexity) are attacked from below, by the same ratio turned over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.attacks.outcomes import Draws, outcomes
from driftproof.synthetic.attacks.scores import SAME_EVERYWHERE, Scores, within
from driftproof.toolkit.constants import MODULI
from driftproof.toolkit.problem import Problem

Score = Callable[[Tensor], Tensor]
TOLERANCE = 1e-6
"""Relative rounding error of difference quotients."""
CANDIDATES, SWEEPS = 96, 24
FEWEST = 16
"""Candidates of a search, however much each of them costs."""


@dataclass(frozen=True)
class Attack:
    """The result of a search.

    Attributes:
        role, declared: the constant.
        found: the largest value that was found (of a modulus, the smallest).
        ratio: how closely it comes: above 1 the constant is exceeded.
        points: where: one point, or the two of a difference quotient.
        exceeded: whether it does by more than rounding, or chance, explains.
        client: whose it is (None: of all, or of one task).
        draws: how many draws a deviation was estimated from (0: none, it is exact).
        tried: how many points were looked at.
    """

    role: str
    declared: float
    found: float
    ratio: float
    points: tuple[tuple[float, ...], ...]
    exceeded: bool = False
    client: int | None = None
    draws: int = 0
    tried: int = 0


def attack(problem: Problem, role: str, *, seed: int = 0) -> float:
    """Return how closely a search comes to one of a problem's constants (1: attained)."""
    return attacked(problem, role, seed=seed).ratio


def attacked(
    problem: Problem,
    role: str,
    *,
    seed: int = 0,
    budget: float = np.inf,
    draws: Draws = outcomes,
    sweeps: int = SWEEPS,
) -> Attack:
    """Return the result of a short search for points that exceed a constant.

    Args:
        budget: points times outcomes of the noise that one sweep may look at.
        draws: which outcomes those are.
        sweeps: how many there are; none of a role that says the same of every point.
    """
    declared = declared_of(problem, role)
    scores = Scores(problem, draws=draws)
    score, pair = getattr(scores, role), scores.is_pair(role)
    size = scores.variables(role)

    def placed(candidate: Tensor) -> Tensor:
        """Turn a point and a step, beside each other, into two points."""
        if not pair:
            return scores.kept(role, candidate)
        point, step = candidate.chunk(2)
        first = scores.kept(role, point)
        return torch.cat([first, scores.kept(role, first + step)])

    candidates = int(np.clip(budget / scores.outcomes(role), FEWEST, CANDIDATES))
    sweeps = 0 if role in SAME_EVERYWHERE else sweeps
    around = [v for v in scores.known() if len(v) == size]
    largest, best = maximise(
        lambda candidate: largest_row(score(placed(candidate))),
        size,
        None,
        seed,
        seeds=[torch.cat([v, 1e-2 * torch.ones_like(v)]) for v in around] if pair else around,
        blocks=2 if pair else 1,
        candidates=candidates,
        sweeps=sweeps,
    )
    at = placed(best[:, None])[:, 0]
    points = tuple(tuple(v.tolist()) for v in (at.chunk(2) if pair else (at,)))
    found = -largest if role in MODULI else largest
    return Attack(
        role,
        declared,
        found,
        ratio_of(role, declared, largest),
        points,
        is_exceeded(role, declared, largest, problem),
        tried=candidates * (1 + sweeps),
    )


def declared_of(problem: Problem, role: str) -> float:
    """Return a constant; of the gap F(x_0) − inf F, what ``solution.low`` makes of it."""
    return float(problem.initial_gap[1] if role == "initial_gap" else problem.proven[role])


def ratio_of(role: str, declared: float, score: float) -> float:
    """Return how closely a score comes to a constant."""
    if role in MODULI:
        return _modulus_ratio(declared, -score)
    nothing = 1.0 if score <= 1e-12 else np.inf
    return score / declared if declared else nothing


def is_exceeded(role: str, declared: float, score: float, problem: Problem) -> bool:
    """Say whether a score exceeds a constant by more than ``TOLERANCE``, relatively."""
    if role == "initial_gap":  # a difference of values of F, which may be large
        return score > declared + 1e-9 * (1 + abs(problem.solution.high))
    return ratio_of(role, declared, score) > 1 + TOLERANCE


def _modulus_ratio(declared: float, least: float) -> float:
    """Return how closely the least value found comes to a modulus that is declared."""
    if declared > 0:
        return declared / least if least > 0 else np.inf
    # a modulus of 0 and below is exceeded by one that is farther below
    return least / declared if declared else (1.0 if least >= -1e-12 else np.inf)


def largest_row(rows: Tensor) -> Tensor:
    """Return the largest of each candidate's rows; -inf where there is no number."""
    largest: Tensor = rows.nan_to_num(-np.inf, -np.inf, -np.inf).amax(0)
    return largest


def maximise(
    score: Score,
    size: int,
    radius: float | None,
    seed: int,
    *,
    seeds: Sequence[Tensor] = (),
    blocks: int = 1,
    candidates: int = CANDIDATES,
    sweeps: int = SWEEPS,
) -> tuple[float, Tensor]:
    """Return the largest score found by random starts at many scales and a shrinking local search.

    Args:
        score: [blocks·size, candidates] → [candidates].
        size: the number of variables of a block.
        radius: points stay within it (None: anywhere).
        seeds: points to start from too.
        blocks: groups of variables, each of which has a scale of its own.
    """
    random = torch.Generator().manual_seed(seed)

    def normal() -> Tensor:
        return torch.randn(blocks, size, candidates, generator=random, dtype=torch.float64)

    def scored(points: Tensor) -> tuple[Tensor, Tensor]:
        kept = within(points.flatten(0, 1), radius)
        return kept.reshape(points.shape), score(kept).nan_to_num(-np.inf)

    lattice = torch.logspace(-4, 3, candidates, dtype=torch.float64)
    scales = [lattice] + [
        lattice[torch.randperm(candidates, generator=random)] for _ in range(blocks - 1)
    ]
    starts = normal() * torch.stack(scales)[:, None]
    starts[:, :, 0] = 0.0
    for place, known in enumerate(seeds, start=1):
        starts[:, :, place] = known.reshape(blocks, size)
    best, value = scored(starts)
    for sweep in range(sweeps):
        order = value.argsort(descending=True)
        leaders = best[..., order[: candidates // 8]].repeat(1, 1, 8)
        spread = leaders.norm(dim=1, keepdim=True).clamp(min=1e-3) * 2.0 ** -(sweep / 2)
        steps = normal()[..., : leaders.shape[-1]]
        moved, of_moved = scored(leaders + steps * spread)
        best = torch.cat([best[..., order], moved], -1)
        value = torch.cat([value[order], of_moved])
        top = value.argsort(descending=True)[:candidates]
        best, value = best[..., top], value[top]
    return float(value[0]), best[..., 0].flatten()
