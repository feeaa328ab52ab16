"""Kinds of runs on every seed, the search for settings, and what a run that diverged counts as."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from driftproof.verifiers.experiment.codec import packed
from driftproof.verifiers.experiment.panel import over_seeds
from driftproof.verifiers.experiment.run import CHOOSING, Key, Run, results_of
from driftproof.verifiers.running.scheduler import Result, Task

R = TypeVar("R", bound=Run)
Asked: TypeAlias = Generator[Sequence[Task], list[Result], Any]
"""What asks for units, for ``yield from``."""
WORST = float(np.finfo(np.float32).max)
"""The loss that a run counts as which diverged: no other is worse."""


def better(scale: str, values: Any) -> np.ndarray:
    """Return numbers of which the larger one is better; the worst for one that is not finite.

    An accuracy is taken as it is, 0 at worst; a loss as −log loss; a gap, up to 1, and a cost with
    its sign turned.

    >>> better("accuracy", [0.5, np.nan]), better("loss", [1.0, np.inf]).round(1)
    (array([0.5, 0. ]), array([ -0. , -88.7]))
    """
    numbers = np.asarray(values, float)
    if scale == "loss":
        known = np.where(np.isfinite(numbers), numbers, WORST)
        return np.asarray(-np.log(np.clip(known, np.finfo(float).tiny, WORST)))
    worst = {"accuracy": 0.0, "gap": -1.0, "cost": -WORST}[scale]
    return np.where(np.isfinite(numbers), numbers if scale == "accuracy" else -numbers, worst)


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """One kind of run on every seed.

    Attributes:
        run: on the first partition.
        results: what each seed measured.
        repeats: how many further seeds repeat one of them, and are left out.
    """

    run: R
    results: Sequence[Mapping[str, Any]]
    repeats: int = 0

    def over(self, name: str) -> np.ndarray:
        """Return what was measured, [seeds, moments]; nan where a run had diverged."""
        rows = [{name: np.atleast_1d(r.get(name, np.nan))} for r in self.results]
        several = any(isinstance(r.get(name), list) for r in self.results)
        return over_seeds(rows, name, len(self.run.moments) if several else 1)

    def good(self, name: str) -> np.ndarray:
        """Return what was measured, larger is better: one rule for all runs that diverged.

        From where it diverged, a run counts as the worst that there is (``better``).
        """
        return better(self.run.scale(name), self.over(name))

    def last(self, name: str) -> np.ndarray:
        """Return each seed's value at the end, [seeds], larger is better."""
        return np.asarray(self.good(name)[:, -1])

    def throughout(self, name: str) -> np.ndarray:
        """Return each seed's mean over all moments, [seeds], larger is better."""
        return np.asarray(self.good(name).mean(1))

    @property
    def bad_steps(self) -> list[int]:
        """The local step, from 1, whose value is not finite, of each seed with one."""
        return [r["bad_step"] + 1 for r in self.results if r.get("bad_step") is not None]

    @property
    def fate(self) -> str:
        """On how many seeds it diverged and when, in words; empty if on none."""
        if not (bad := self.bad_steps):
            return ""
        steps = f"{min(bad)}" + (f" to {max(bad)}" if max(bad) > min(bad) else "")
        return f"diverged on {len(bad)} of {len(self.results)} seeds, in local step {steps}"


Outcomes: TypeAlias = Mapping[Any, Outcome[Any]]


def outcomes(runs: Mapping[Key, R], seeds: int) -> Asked:
    """Run each on the first ``seeds`` partitions; return a dictionary of their outcomes.

    A run under several keys is run once. Seeds that repeat others in all runs are left out.
    """
    results = yield from results_of({run: run.over(seeds) for run in runs.values()})
    own = distinct(list(results.values()))
    return {
        key: Outcome(run, [results[run][seed] for seed in own], seeds - len(own))
        for key, run in runs.items()
    }


def distinct(results: Sequence[Sequence[Mapping[str, Any]]]) -> list[int]:
    """Return the seeds on which some kind of run is not, to the last digit, as on an earlier one.

    Runs that the seed does not change are one piece of evidence, however many seeds there are.

    Args:
        results: of each kind, what each seed measured.

    >>> distinct([[{"loss": 1.0}, {"loss": 1.0}, {"loss": 1.0}], [{}, {}, {"loss": 2.0}]])
    [0, 2]
    """
    met = [tuple(map(packed, of_seed)) for of_seed in zip(*results, strict=True)]
    return [seed for seed, one in enumerate(met) if one not in met[:seed]]


def repeated(seeds: int) -> str:
    """Say that seeds count once with others; empty if none does."""
    return f"; {seeds} seeds only repeat others and are not counted" if seeds else ""


class Tuned(NamedTuple):
    """What a search has tried.

    Attributes:
        chosen: the best run under each key.
        grids: what was searched under each key, by parameter.
        scores: under each key, those of the runs tried.
    """

    chosen: dict[Any, Any]
    grids: Mapping[Any, Mapping[str, Sequence[Any]]]
    scores: dict[Any, dict[Any, float]]

    def lines(self) -> list[str]:
        """Say of each key what was chosen, from which grid, and which values are its ends."""
        return [
            f"{called(key)}: {len(scores)} of {grid_size(self.grids[key])} settings tried, chosen "
            + ", ".join(self._value(key, name) for name in self.grids[key])
            for key, scores in self.scores.items()
        ]

    def _value(self, key: Any, name: str) -> str:
        own, grid = getattr(self.chosen[key], name), sorted(set(self.grids[key][name]))
        edge = len(grid) > 1 and own in (grid[0], grid[-1])
        values = ", ".join(f"{value:g}" for value in grid)
        return f"{name} {own:g}{' (AN END of the grid)' if edge else ''} of {values}"


def grid_size(grid: Mapping[str, Sequence[Any]]) -> int:
    """Return how many settings a grid has."""
    return int(np.prod([len(values) for values in grid.values()]))


def candidates(run: R, grid: Mapping[str, Sequence[Any]], budget: int) -> list[R]:
    """Return the settings that are tried: the whole grid, or ``budget`` of it.

    Of a larger grid the run itself, whose settings are those in print, and others at random.
    """
    every = [run.but(**dict(zip(grid, values, strict=True))) for values in product(*grid.values())]
    if len(every) <= budget:
        return every
    others = [one for one in every if one != run]
    order = np.random.Generator(np.random.Philox(key=0)).permutation(len(others))
    return [run, *(others[k] for k in order[: budget - 1])]


def tuned(
    methods: Mapping[Key, R], grids: Mapping[Any, Mapping[str, Sequence[Any]]], budget: int, by: str
) -> Asked:
    """Choose each method's settings on partitions that judge nothing, each by as many runs.

    A method has up to ``budget`` runs: one with fewer settings tries each on more partitions.

    Args:
        methods: with the settings in print.
        grids: by method, of some attributes of its run.
        by: what is measured: the mean over partitions of its value at the end decides, the first
            of equal ones.
    """
    tried = {key: candidates(run, grids[key], budget) for key, run in methods.items()}
    every = {
        (key, run): [run.but(partition=CHOOSING + k) for k in range(max(1, budget // len(of_key)))]
        for key, of_key in tried.items()
        for run in of_key
    }
    results = yield from results_of(every)
    scores: dict[Any, dict[Any, float]] = {key: {} for key in methods}
    for (key, run), of_run in results.items():
        scores[key][run] = float(Outcome(every[key, run][0], of_run).last(by).mean())
    chosen = {key: max(of_key, key=of_key.__getitem__) for key, of_key in scores.items()}
    return Tuned(chosen, grids, scores)


def called(key: Any) -> str:
    """Return a key in words."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
