"""A study: kinds of runs on every seed, settings chosen by a search, sentences and plots of them.

An experiment names its runs and says of each sentence and each plot which of them it is about. It
asks for the work with ``yield from outcomes(…)`` and ``yield from tuned(…)``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from driftproof.toolkit.dataset import read
from driftproof.verifiers.experiment.panel import Panel, curve, over_seeds
from driftproof.verifiers.experiment.run import Key, Run, results_of
from driftproof.verifiers.experiment.sentence import Sentence, judged_by_seeds
from driftproof.verifiers.running.scheduler import Result, Task

R = TypeVar("R", bound=Run)
Asked: TypeAlias = Generator[Sequence[Task], list[Result], Any]
"""What asks for units, for ``yield from``."""


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """One kind of run on every seed.

    Attributes:
        run: on the first partition.
        results: what each seed measured.
    """

    run: R
    results: Sequence[Mapping[str, Any]]

    def last(self, name: str) -> np.ndarray:
        """Return each seed's last value, [seeds], whatever became of the run."""
        return np.array([result[name][-1] for result in self.results])

    def over(self, name: str, points: int) -> np.ndarray:
        """Return what was measured, [seeds, points]; nan after a run that ended early."""
        return over_seeds(self.results, name, points)

    @property
    def bad_steps(self) -> list[int]:
        """The local step that gave a value that is not finite, of each seed with one."""
        return [r["bad_step"] for r in self.results if r["bad_step"] is not None]


Outcomes: TypeAlias = Mapping[Any, Outcome[Any]]


def outcomes(runs: Mapping[Key, R], seeds: int) -> Asked:
    """Run each on the first ``seeds`` partitions; return a dictionary of their outcomes."""
    results = yield from results_of({key: run.over(seeds) for key, run in runs.items()})
    return {key: Outcome(run, results[key]) for key, run in runs.items()}


class Tuned(NamedTuple):
    """What a search has tried.

    Attributes:
        chosen: the best run under each key.
        tried: under each key, what each candidate gave on the partitions searched on.
        scores: their scores.
    """

    chosen: dict[Any, Any]
    tried: dict[Any, dict[Any, Outcome[Any]]]
    scores: dict[Any, dict[Any, float]]

    def told(self, *names: str, called: Callable[[Any], str] | None = None) -> str:
        """Say what was chosen, and what was tried of some attributes, with the scores.

        The first or the last of several values tried may be an end of a grid that is too short.

        Args:
            called: what a key is called.
        """
        lines = []
        for key, scores in self.scores.items():
            given = {run: [getattr(run, name) for name in names] for run in scores}
            shown = {run: "/".join(f"{value:g}" for value in of) for run, of in given.items()}
            tried = ", ".join(
                f"{shown[run]}: {'not finite' if np.isneginf(score) else f'{score:.4g}'}"
                for run, score in scores.items()
            )
            best, edges = self.chosen[key], []
            for name, own, *grid in zip(names, given[best], *given.values(), strict=True):
                if len(set(grid)) > 1 and own in (min(grid), max(grid)):
                    edges.append(name)
            edge = f", an end of the grid of {' and '.join(edges)}" if edges else ""
            lines.append(f"{(called or _called)(key)} {shown[best]}{edge} (tried {tried})")
        return f"{'/'.join(names)}, chosen by the score on other partitions: {'; '.join(lines)}"


def tuned(
    candidates: Mapping[Key, Sequence[R]],
    partitions: Iterable[int],
    score: Callable[[Outcome[R]], float],
    **search: Any,
) -> Asked:
    """Choose of each key's candidates the one with the highest score, the first of equal ones.

    Args:
        partitions: on which they are run, others than those that sentences are judged on.
        score: of what a candidate gave there; −∞ for a run that diverged, say.
        search: attributes of the runs that are other ones in the search alone.
    """
    deals = list(partitions)
    every = {
        (key, run): [run.but(partition=k, **search) for k in deals]
        for key, runs in candidates.items()
        for run in runs
    }
    results = yield from results_of(every)
    tried: dict[Any, dict[Any, Outcome[R]]] = {key: {} for key in candidates}
    for (key, run), of_run in results.items():
        tried[key][run] = Outcome(run, of_run)
    scores = {key: {run: score(of) for run, of in got.items()} for key, got in tried.items()}
    chosen = {key: max(of_key, key=of_key.__getitem__) for key, of_key in scores.items()}
    return Tuned(chosen, tried, scores)


class Axis(NamedTuple):
    """What a plot has below it.

    Attributes:
        label: with its unit.
        along: the name under which runs measure it.
        place: where on the axis a run is that has measured so much.
    """

    label: str = "round"
    along: str = "round"
    place: Callable[[Any, float], float] = lambda run, at: at


BYTES = 4
"""Of a number that is sent, in single precision."""
ROUNDS = Axis()
STEPS = Axis("local step", place=lambda run, at: run.algorithm.local_steps * at)
SENT = Axis("bytes that a client sent", "reals", lambda run, at: BYTES * at)


def plot(
    name: str, title: str, runs: Outcomes, of: str, y_label: str, axis: Axis = ROUNDS, log: str = ""
) -> Panel:
    """Return a plot with a curve for each kind of run: mean and range over seeds.

    Args:
        of: the name under which it was measured.
    """
    curves = []
    for label, outcome in runs.items():
        along = max((result[axis.along] for result in outcome.results), key=len)
        x = [axis.place(outcome.run, at) for at in along]
        curves.append(curve(str(label), x, outcome.over(of, len(x))))
    return Panel(name, title, axis.label, y_label, curves, log)


def of_first_seed(
    measured: Mapping[str, tuple[Mapping[str, Any], str]], worth: float = 1.0
) -> list[dict[str, Any]]:
    """Return curves of single runs over their rounds, each a result and the name measured under."""
    return [
        curve(label, [worth * at for at in result["round"]], np.array([result[name]], float))
        for label, (result, name) in measured.items()
    ]


def judged(
    text: str,
    pairs: Mapping[str, tuple[np.ndarray, np.ndarray]],
    *,
    comparisons: int | None = None,
    test: Callable[..., Sentence] = judged_by_seeds,
    **margin: float,
) -> list[Sentence]:
    """Judge one sentence on several pairs of numbers a seed.

    Args:
        pairs: by what is compared with what, or where.
        comparisons: how many tests share the sentence's level (None: these).
        test: of ``sentence``.
        margin: of the test, if it has one.
    """
    share = comparisons or len(pairs)
    return [test(text, where, *pair, comparisons=share, **margin) for where, pair in pairs.items()]


def undecided_if(sentence: Sentence, reason: str) -> Sentence:
    """Return a sentence, undecided where there is a reason other than the runs."""
    if not reason or sentence.verdict == "undecided":
        return sentence
    why = f"{reason} (it would be {sentence.verdict}: {sentence.why})"
    return replace(sentence, verdict="undecided", why=why)


def setting(run: Run, seeds: int, *chosen: str) -> list[str]:
    """Return the head of a page: data, model, rounds and seeds of a run, then what was chosen."""
    problem, lines = run.problem, list[str]()
    if hasattr(run, "data"):
        lines.append(f"data: {read(run.data).title}")
    if model := getattr(problem, "model", None):
        inputs = " × ".join(map(str, model.example))
        lines.append(f"model: {model.title}, {model.dim:,} parameters; inputs {inputs}")
    sizes = (
        f"{run.rounds:,} rounds, {seeds} seeds (data, start and draws); band: smallest and largest"
    )
    return [*lines, f"{problem.clients} clients, {sizes} seed", *chosen]


def methods(runs: Mapping[Any, Run]) -> str:
    """Return every run's algorithm with the parameters that are not its defaults."""
    return "; ".join(f"{_called(key)}: {run.algorithm}" for key, run in runs.items())


def ends(runs: Outcomes, *names: str) -> str:
    """Say where runs end, the mean over the seeds that did, and on how many a run diverged."""
    told = []
    for key, of in runs.items():
        ran = [result for result in of.results if result.get("bad_step") is None]
        means = [f"{name} {np.mean([_end(result[name]) for result in ran]):.4g}" for name in names]
        lost = len(of.results) - len(ran)
        means = means if ran else []
        means += [f"diverged on {lost} of {len(of.results)} seeds"] if lost else []
        told.append(f"{_called(key)}: {', '.join(means)}")
    return f"At the end, mean over seeds: {'; '.join(told)}."


def _end(value: Any) -> float:
    return float(value[-1] if isinstance(value, list) else value)


def _called(key: Any) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
