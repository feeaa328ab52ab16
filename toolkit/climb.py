"""One climb: CMA-ES from one start, in one structure, for a fixed number of evaluations."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PATIENCE = 12
"""Generations without gain after which a climb ends."""
OUTSIDE_FOR = 3
"""Generations after which a climb ends that has not met one candidate inside the assumptions."""


@dataclass(frozen=True)
class Climbed:
    """The result of a climb.

    Attributes:
        ratio: the largest left / right.
        at: where, [size].
        evaluations: candidates that were looked at.
        inside: how many of them met every assumption.
    """

    ratio: float
    at: np.ndarray
    evaluations: int
    inside: int


def climb(
    ratios: Callable[[np.ndarray], np.ndarray],
    size: int,
    *,
    population: int,
    first: int,
    generations: int,
    seed: int,
    start: np.ndarray | None = None,
    enough: float = np.inf,
    late: Callable[[], bool] = lambda: False,
) -> Climbed:
    """Maximise ``ratios`` ([size, candidates] → [candidates]) and return the best that was met.

    Args:
        population: candidates of a generation.
        first: random candidates that are looked at before. With those of a generation there are so
            many again, as many beside each other cost little more than a few. From one that is
            better than all before, the climb goes on.
        start: where to start, narrowly (None: anywhere around 0, after a look at random points).
        enough: stop at the first ratio that is as large.
        late: whether to stop; candidates whose ratio is NaN were not looked at.
    """
    import cma

    random = np.random.default_rng(seed)
    # the optimiser wants two variables; of one, the second is ignored
    evaluations, inside, best, at = 0, 0, -np.inf, np.zeros(max(size, 2))

    def looked_at(points: np.ndarray) -> np.ndarray:
        nonlocal evaluations, inside, best, at
        values = ratios(points[:size])
        evaluations += int((~np.isnan(values)).sum())
        inside += int((values >= 0).sum())
        first = int(np.nanargmax(values))
        if values[first] > best:
            best, at = float(values[first]), points[:, first].copy()
        return values

    def anywhere(count: int) -> np.ndarray:
        widths = random.choice([0.5, 1.0, 2.0], count)
        points: np.ndarray = random.standard_normal((max(size, 2), count)) * widths
        return points

    begin = at if start is None else np.concatenate([start, at[len(start) :]])
    if start is None:
        looked_at(np.concatenate([begin[:, None], anywhere(first - 1)], 1))
        begin = at
    if size == 0 or best >= enough or late():
        return Climbed(best, at[:size], evaluations, inside)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"popsize": population, "seed": seed + 1, "verbose": -9, "verb_log": 0}
        evolution = cma.CMAEvolutionStrategy(begin, 0.1 if start is not None else 0.5, options)
        waited = 0
        for generation in range(generations):
            points = np.array(evolution.ask()).T
            before = best
            others = anywhere(max(0, first - population) if start is None else 0)
            values = looked_at(np.concatenate([points, others], 1))
            if best >= enough or evolution.stop() or (best < 0 and generation >= OUTSIDE_FOR):
                break
            if late():
                break
            if best > before and int(np.argmax(values)) >= population:
                evolution = cma.CMAEvolutionStrategy(at, 0.5, options)
            else:
                told = -_compressed(values[:population])
                evolution.tell(list(points.T), told.tolist())
            waited = 0 if best > before + 1e-4 * abs(before) else waited + 1
            if waited >= PATIENCE:
                break
    return Climbed(best, at[:size], evaluations, inside)


def _compressed(values: np.ndarray) -> np.ndarray:
    """Return the logarithms of ratios, and what is below 0 as it is: far below all of those."""
    safe = np.log10(np.maximum(values, 1e-30))
    compressed: np.ndarray = np.where(values > 0, safe, -40.0 + np.maximum(values, -1e6))
    return compressed
