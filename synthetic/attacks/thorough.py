"""A thorough search for points at which a constant is exceeded.

Lines through the points that the problem names are cut into thousands of cells, from 1e-8 to 1e6
long. The slope between the ends of a cell sees a peak of curvature that is much narrower than the
cell, and one half of a cell is at least as steep as the whole: cells are split again and again, of
each client those with the largest score and those that stand out from their neighbours, which may
be a peak below another client's constant. From there points and directions move freely.
"""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.attacks.outcomes import fresh, some
from driftproof.synthetic.attacks.scores import SAME_EVERYWHERE, Scores
from driftproof.synthetic.attacks.search import SWEEPS as SHORT
from driftproof.synthetic.attacks.search import (
    Attack,
    attacked,
    declared_of,
    is_exceeded,
    largest_row,
    ratio_of,
)
from driftproof.toolkit.balls.tensor import BITS, Balls, RefusedError, lift, precision
from driftproof.toolkit.climb import climb
from driftproof.toolkit.constants import MODULI
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.statistics import exceeds

MOST_OUTCOMES, DRAWS, CONFIRMING = 512, 32, 4096
"""Outcomes of the noise that are enumerated; draws of a law that has more, and fresh ones."""
LEVEL = 1e-5
"""Probability, at most, that chance alone makes a sampled deviation exceed its constant."""
SWEEP = 4096.0
"""Points times outcomes of a sweep of the short search, which comes first."""
WORK = 4e5
"""Points times outcomes (times clients and entries, if many) of the first cells."""
WHOLE, SHALLOW = 0.25, 4
"""The effort from which on all but the first cells is whole; how often cells are split at least."""
LINES, SMALLEST, LARGEST = 12, 1e-8, 1e6
PARTS, DEPTH, KEPT = 8, 12, 128
"""Parts that a cell is split into, how often, and how many cells are."""
SWEEPS, PROPOSALS = 40, 4
CLIMBS, MOST_VARIABLES, POPULATION, GENERATIONS = 2, 64, 32, 60
OPERATIONS = 1_500_000
"""What an enclosure of a score may cost, in operations on single balls (about a second)."""
SINGLE = 2.0**-23
"""Rounding error in double over that in single precision, with a factor of 64 to spare."""


def searched(problem: Problem, role: str, *, seed: int = 0, effort: float = 1.0) -> Attack:
    """Return how closely the search comes to a constant, and where.

    Args:
        role: a constant's, or "initial_gap" (F at the start less ``solution.low``).
        effort: how many times the usual number of points is looked at first. Below ``WHOLE`` all
            that follows is shortened in proportion.
    """
    search = _Search(problem, role, seed, effort)
    return replace(search.run(), tried=search.tried)


class _Search:
    """One role's search. Places are [ends, entries, candidates]: one point each, or two."""

    def __init__(self, problem: Problem, role: str, seed: int, effort: float) -> None:
        self.problem, self.role, self.seed = problem, role, seed
        self.scores = Scores(problem, draws=some(DRAWS, MOST_OUTCOMES, seed))
        self.sampled = self.scores.outcomes(role) > MOST_OUTCOMES
        self.ends = 2 if self.scores.is_pair(role) else 1
        self.size = self.scores.variables(role)
        self.radius = problem.radius if self.scores.inside(role) else None
        outcomes = DRAWS if self.sampled else self.scores.outcomes(role)
        cost = outcomes * max(1.0, problem.clients * self.size / 8)
        self.share = min(1.0, effort / WHOLE)
        least, most = self.some(2048, 512), 48_000
        # many points at once cost little: a short search makes fewer calls before it looks at fewer
        self.cells = int(np.clip(effort * self.share**-0.5 * WORK / cost / self.ends, least, most))
        self.width = int(np.clip(WORK / cost, 64, 48_000))
        self.random = torch.Generator().manual_seed(seed)
        self.differentiable = True
        self.rows = 0
        self.tried = 0

    def some(self, count: int, least: int = 1) -> int:
        """Return the share of a count that a short search takes."""
        return max(least, round(count * self.share))

    def run(self) -> Attack:
        first = attacked(
            self.problem,
            self.role,
            seed=self.seed,
            budget=SWEEP,
            draws=self.scores.draws,
            sweeps=self.some(SHORT),
        )
        begin = torch.tensor(first.points, dtype=torch.float64)[..., None]
        self.score(begin)
        self.tried += first.tried
        if self.role in SAME_EVERYWHERE:
            return self.attack(begin[..., 0])
        places, rows = self.along_lines(begin)
        places = torch.cat([places, begin.expand(-1, -1, self.rows)], 2)
        rows = torch.cat([rows, torch.arange(self.rows)])
        places, values = self.ascend(places, rows)
        best = values.argsort(descending=True)
        top, place = float(values[best[0]]), places[..., best[0]]
        for k in best[: self.some(CLIMBS, 0)].tolist():
            if self.ends * self.size <= MOST_VARIABLES and np.isfinite(float(values[k])):
                value, at = self.climbed(places[..., k])
                if value > top:
                    top, place = value, at
        return self.attack(place)

    def score(self, places: Tensor) -> Tensor:
        """Return the scores of places, [rows, candidates]; -inf where there is no number."""
        points = torch.cat([self.scores.kept(self.role, end) for end in places])
        parts = [self.score_of(part) for part in torch.split(points, self.width, 1)]
        return torch.cat(parts, 1).nan_to_num(-np.inf, -np.inf, -np.inf)

    def score_of(self, points: Tensor) -> Tensor:
        self.tried += points.shape[1]
        try:
            scores: Tensor = getattr(self.scores, self.role)(points)
        except (RuntimeError, ArithmeticError, ValueError):
            if self.rows == 0 or points.requires_grad:
                raise
            # far away an oracle may not be made for: nothing is known there
            return torch.full((self.rows, points.shape[1]), -np.inf, dtype=torch.float64)
        self.rows = len(scores)
        return scores

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.random, dtype=torch.float64)

    def along_lines(self, begin: Tensor) -> tuple[Tensor, Tensor]:
        """Return places that stand out on lines, and the row in which they do."""
        bases, along = self.lines(begin)
        t = self.grid(max(self.cells // len(bases), 64))
        line = torch.arange(len(bases)).repeat_interleave(len(t) - 1)
        low, high = t[:-1].repeat(len(bases)), t[1:].repeat(len(bases))
        group, places, rows = len(t) - 1, list[Tensor](), list[Tensor]()
        for _ in range(self.some(DEPTH, SHALLOW)):
            at = (low, high) if self.ends == 2 else ((low + high) / 2,)
            cells = torch.stack([bases[line].T + t * along[line].T for t in at])
            values = self.score(cells)
            above = (values - _typical(values, group)).nan_to_num(-np.inf, -np.inf, -np.inf)
            each = min(max(1, self.some(KEPT) // (2 * len(values))), values.shape[1])
            leaders = torch.cat([values.topk(each, 1).indices, above.topk(each, 1).indices], 1)
            for k in (0, each):
                places.append(cells[..., leaders[:, k]])
                rows.append(torch.arange(len(values)))
            if not bool(torch.isfinite(values).any()):
                break
            split = torch.unique(leaders)
            share = torch.linspace(0, 1, PARTS + 1, dtype=torch.float64)
            cuts = low[split, None] + (high - low)[split, None] * share
            low, high = cuts[:, :-1].flatten(), cuts[:, 1:].flatten()
            line, group = line[split].repeat_interleave(PARTS), PARTS
        return torch.cat(places, 2), torch.cat(rows)

    def lines(self, begin: Tensor) -> tuple[Tensor, Tensor]:
        """Return points on lines and their directions, [lines, entries] each."""
        named = [v for v in self.scores.known() if len(v) == self.size]
        points = [torch.zeros(self.size, dtype=torch.float64), begin[0, :, 0], *named]
        if self.size == 1:
            bases = torch.unique(torch.stack(points), dim=0)
            return bases, torch.ones_like(bases)
        axes = torch.eye(self.size, dtype=torch.float64)
        axes = axes[torch.randperm(self.size, generator=self.random)[: LINES // 2]]
        free = self.normal(LINES - len(axes), self.size)
        along = torch.cat([axes, free / free.norm(dim=1, keepdim=True)])
        bases = torch.stack([points[k % len(points)] for k in range(LINES)])
        return bases, along

    def grid(self, count: int) -> Tensor:
        """Return where cells end on a line, from 1e-8 to 1e6 on both sides and evenly near 0."""
        shift = float(torch.rand(1, generator=self.random, dtype=torch.float64))
        far = LARGEST if self.radius is None else 2 * self.radius
        wide = np.geomspace(SMALLEST, far * (1 + shift), count * 3 // 8)
        even = np.linspace(-1, 1, count // 4) * min(far, 30 + 30 * shift)
        return torch.from_numpy(np.unique(np.concatenate([-wide, [0.0], even, wide])))

    def ascend(self, places: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Move each place uphill in its own row; return the places and all their best scores."""
        number = torch.arange(len(rows))
        values, rate = self.score(places)[rows, number], torch.full((len(rows),), 0.3).double()
        for _ in range(self.some(SWEEPS)):
            tried = torch.stack([*self.uphill(places, rows, rate), *self.around(places, rate)], 3)
            scored = self.score(tried.flatten(2)).reshape(-1, len(rows), tried.shape[3])
            best, which = scored[rows, number].max(1)
            better = best > values
            moved = tried[..., number, which]
            places = torch.where(better, moved, places)
            values = torch.where(better, best, values)
            rate = (rate * torch.where(better, 1.5, 0.6)).clamp(1e-9, 2.0)
        return places, largest_row(self.score(places))

    def scales(self, places: Tensor) -> Tensor:
        """Return the step of each place's coordinates: the pair's length, or the point's size."""
        apart = places[1] - places[0] if self.ends == 2 else places[0]
        sizes: Tensor = apart.norm(dim=0).clamp(min=SMALLEST)
        return sizes

    def around(self, places: Tensor, rate: Tensor) -> list[Tensor]:
        """Return places near those that are given: moved, turned and stretched at random."""
        step, tried = rate * self.scales(places), []
        for k in range(PROPOSALS):
            moved = places + step * self.normal(*places.shape) / self.size**0.5
            if self.ends == 2:
                far = step if k % 2 else rate * places[0].norm(dim=0)
                shift = far * self.normal(*places.shape[1:]) / self.size**0.5
                stretch = torch.exp(rate * self.normal(places.shape[2]))
                moved = torch.stack([moved[0], moved[0] + (moved[1] - moved[0]) * stretch]) + shift
            tried.append(moved)
        return tried

    def uphill(self, places: Tensor, rows: Tensor, rate: Tensor) -> list[Tensor]:
        """Return places a step along the score's gradient, if torch can differentiate it."""
        if not self.differentiable:
            return []
        leaf = places.clone().requires_grad_()
        try:
            with torch.enable_grad():
                score = self.score(leaf)[rows, torch.arange(len(rows))]
                (slope,) = torch.autograd.grad(score[torch.isfinite(score)].sum(), leaf)
        except (RuntimeError, TypeError):  # an oracle that leaves torch, or works in place
            self.differentiable = False
            return []
        slope = slope.nan_to_num(0.0, 0.0, 0.0)
        unit = slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-300)
        return [places + rate * self.scales(places) * unit]

    def climbed(self, place: Tensor) -> tuple[float, Tensor]:
        """Return what CMA-ES makes of a place."""
        scale = float(self.scales(place[..., None])[0])
        unit = abs(declared_of(self.problem, self.role)) or 1.0

        def moved(z: np.ndarray) -> Tensor:
            steps = torch.from_numpy(z).reshape(self.ends, self.size, -1)
            return place[..., None] + scale * steps

        def ratios(z: np.ndarray) -> np.ndarray:
            rows = largest_row(self.score(moved(z))) / unit
            if self.role in MODULI:  # scores below 0, and the climb wants ratios
                rows = torch.exp(rows.clamp(-500, 500))
            return rows.clamp(min=-1e6).numpy()

        found = climb(
            ratios,
            self.ends * self.size,
            population=POPULATION,
            first=POPULATION,
            generations=self.some(GENERATIONS),
            seed=self.seed,
            start=np.zeros(self.ends * self.size),
        )
        at = moved(found.at[:, None])
        return float(largest_row(self.score(at))), at[..., 0]

    def attack(self, place: Tensor) -> Attack:
        """Return what a place shows, with what rounding and sampling leave of it."""
        row = int(self.score(place[..., None])[:, 0].argmax())
        one = self.shown(place, row)
        if self.sampled and self.role.endswith(("_noise", "_moment")):
            return self.sampled_again(one, row)
        if not one.exceeded or not self.certain(one, row):
            return replace(one, exceeded=False)
        excess = abs(one.found - one.declared)
        for digits in range(1, 16):  # the roundest place that shows most of it
            simple = self.shown(_rounded(place, digits), row)
            most = self.sign * (one.found - simple.found) <= 0.1 * excess
            if most and simple.exceeded and self.certain(simple, row):
                return simple
        return one

    @property
    def sign(self) -> float:
        """−1 for a modulus, whose score is the negative of what is measured."""
        return -1.0 if self.role in MODULI else 1.0

    def shown(self, place: Tensor, row: int) -> Attack:
        """Return what a place shows, in doubles."""
        ends = [self.scores.kept(self.role, end[:, None])[:, 0] for end in place]
        rows = self.score(torch.stack(ends)[..., None])[:, 0]
        value, declared = float(rows[row]), declared_of(self.problem, self.role)
        return Attack(
            self.role,
            declared,
            self.sign * value,
            ratio_of(self.role, declared, value),
            tuple(tuple(end.tolist()) for end in ends),
            is_exceeded(self.role, declared, value, self.problem),
            row if len(rows) == self.problem.clients > 1 else None,
        )

    def certain(self, one: Attack, row: int) -> bool:
        """Say whether a constant is exceeded by more than rounding explains."""
        least = self.least(one.points, row, self.sign * one.found)
        return is_exceeded(self.role, one.declared, least, self.problem)

    def least(self, points: tuple[tuple[float, ...], ...], row: int, value: float) -> float:
        """Return a lower bound on a score: in ball arithmetic, so that no digit is lost.

        Where that has no version of what an oracle does, rounding is bounded by the score's
        distance from that in single precision.
        """
        at = torch.tensor(points, dtype=torch.float64).flatten()[:, None]
        with suppress(RefusedError), precision(BITS, OPERATIONS):
            ball = lift(getattr(self.scores, self.role)(Balls.of(at)))[row, 0]
            return float(ball.lower())
        single = Scores(self.problem, torch.float32, some(DRAWS, MOST_OUTCOMES, self.seed))
        of = float(getattr(single, self.role)(at.float())[row, 0])
        return value - (abs(of - value) * SINGLE if np.isfinite(of) else 0.0)

    def sampled_again(self, one: Attack, row: int) -> Attack:
        """Judge a mean square by fresh draws, with the betting test at ``LEVEL``.

        Other arguments of an outer function than the expected ones are left out: the largest of
        several sampled squares has no expectation that a constant would bound.
        """
        again = Scores(self.problem, draws=fresh(self.seed))
        if self.role.startswith("outer_") and not self.problem.outer_everywhere:  # type: ignore[attr-defined]
            return replace(one, exceeded=False)
        points = torch.tensor(one.points, dtype=torch.float64).flatten()[:, None]
        sizes = getattr(again, self.role)(points.expand(-1, CONFIRMING))[row].numpy()
        found = float(np.sqrt(np.mean(sizes**2)))
        above = one.declared**2 * (1 + 2e-6)
        return replace(
            one,
            found=found,
            ratio=ratio_of(self.role, one.declared, found),
            exceeded=exceeds(sizes**2, above, LEVEL),
            draws=CONFIRMING,
        )


def _rounded(values: Tensor, digits: int) -> Tensor:
    numbers = [float(f"{v:.{digits}g}") for v in values.flatten().tolist()]
    return torch.tensor(numbers, dtype=torch.float64).reshape(values.shape)


def _typical(values: Tensor, group: int) -> Tensor:
    """Return the median of each cell's neighbourhood, [rows, cells]."""
    apart = values.reshape(len(values), -1, group)
    if group <= PARTS:
        return apart.median(2, keepdim=True).values.expand_as(apart).flatten(1)
    padded = torch.nn.functional.pad(apart, (2, 2), mode="replicate")
    return padded.unfold(2, 5, 1).median(3).values.flatten(1)
