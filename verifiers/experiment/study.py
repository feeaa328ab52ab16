"""A study: data and split, methods, grids, budget, sentences, and how it all is judged and drawn.

The methods are runs, which name their data and split. A study says what is searched, what is run
besides, and of each printed sentence which runs it compares. ``concluded`` does the rest, by one
rule each for runs that diverge (``Outcome.good``), for size, and for trivial baselines (``judge``).
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from driftproof.verifiers.experiment.outcome import (
    Asked,
    Outcome,
    Outcomes,
    Tuned,
    better,
    called,
    distinct,
    outcomes,
    repeated,
    tuned,
)
from driftproof.verifiers.experiment.panel import Panel, curve
from driftproof.verifiers.experiment.run import Run
from driftproof.verifiers.experiment.sentence import Sentence, judged_by_seeds, undecided_if
from driftproof.verifiers.running.scheduler import Result, Task


@dataclass(frozen=True)
class Conclusion:
    """What an experiment's runs come to."""

    setting: Sequence[str] = ()
    sentences: Sequence[Sentence] = ()
    findings: Sequence[str] = ()
    panels: Sequence[Panel] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)


Steps = Generator[Sequence[Task], list[Result], Conclusion]


LATE = 0.75
"""The share of a run after which what a curve still gains says whether it is early."""
Pair: TypeAlias = tuple[Any, Any]
"""What is said to be better, and than what: keys of runs, or a number in place of the second."""


@dataclass(frozen=True, kw_only=True)
class Says:
    """A printed sentence, and the comparisons by which it is judged.

    Attributes:
        text: the sentence.
        pairs: whose runs are compared; none: it is not judged, and ``reason`` says why.
        of: what is measured.
        by: takes an outcome and a name and returns a number a seed, larger is better.
        how: what ``by`` is called.
        test: of ``sentence``.
        margin: of the test.
        studies: how many such groups of comparisons share the sentence's level.
        guarded: whether a comparison needs a winner that beats the trivial model.
        reason: why it is undecided whatever the runs give.
    """

    text: str
    pairs: Sequence[Pair] = ()
    of: Sequence[str] = ("accuracy",)
    by: Callable[[Outcome[Any], str], np.ndarray] = Outcome.last
    how: str = "at the end"
    test: Callable[..., Sentence] = judged_by_seeds
    margin: float = 0.0
    studies: int = 1
    guarded: bool = True
    reason: str = ""


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
MEGABYTES = Axis("megabytes that a client sent", "reals", lambda run, at: BYTES / 1e6 * at)


class Figure(NamedTuple):
    """A plot of a measure.

    Attributes:
        of: the measure.
        labels: whose curves it has; None: those of the methods.
        log: "y", "x" or "xy".
    """

    name: str
    title: str
    of: str
    labels: Sequence[Any] | None = None
    axis: Axis = ROUNDS
    log: str = ""


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is compared, and what is said of it.

    Attributes:
        methods: by what plots call them, with the settings in print. Their runs name the data, how
            they are dealt, and the sizes.
        seeds: partitions that the sentences are judged on.
        grids: what is searched of a method, by parameter; of one that is not named, nothing.
        budget: runs of each search.
        by: the measure that chooses.
        ask: runs all of them.
        besides: takes the chosen runs and returns others: a parameter varied, say.
        says: the sentences.
        size: what is smaller than printed (``smaller``): no sentence is decided then.
        figures: the plots.
        setting: what was chosen, for the head of the page.
        shown: what ``ends`` tells of every run.
        more: takes all outcomes and returns what else is concluded.
    """

    methods: Mapping[Any, Run]
    seeds: int
    grids: Mapping[Any, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    budget: int = 0
    by: str = "accuracy"
    ask: Callable[[Mapping[Any, Any], int], Asked] = outcomes
    besides: Callable[[Mapping[Any, Any]], Mapping[Any, Run]] = lambda chosen: {}
    says: Sequence[Says] = ()
    size: str = ""
    figures: Sequence[Figure] = ()
    setting: Sequence[str] = ()
    shown: Sequence[str] = ("accuracy",)
    more: Callable[[Outcomes], Conclusion] = lambda runs: Conclusion()


def concluded(study: Study) -> Steps:
    """Search, run and judge (``yield from``)."""
    searched = {key: run for key, run in study.methods.items() if key in study.grids}
    found = Tuned({}, study.grids, {})
    if searched:
        found = yield from tuned(searched, study.grids, study.budget, study.by)
    chosen = {**study.methods, **found.chosen}
    runs = yield from study.ask({**chosen, **study.besides(chosen)}, study.seeds)
    more = study.more(runs)
    says = [s for each in study.says for s in judge(each, runs, study.size)]
    budget = (
        [
            f"search: up to {study.budget} runs of each method on partitions that judge nothing, "
            f"by {study.by} at the end; one with fewer settings tries each on more partitions",
            *found.lines(),
        ]
        if searched
        else []
    )
    first = next(iter(chosen.values()))
    return Conclusion(
        setting=[
            *setting(first, study.seeds, *study.setting),
            *budget,
            *filter(None, [study.size]),
        ],
        sentences=[*says, *more.sentences],
        findings=[ends(runs, *study.shown), *more.findings],
        panels=[
            *(drawn(figure, runs, list(study.methods)) for figure in study.figures),
            *more.panels,
        ],
        numbers={
            "chosen": {
                called(key): {name: getattr(run, name) for name in study.grids[key]}
                for key, run in found.chosen.items()
            },
            **more.numbers,
        },
    )


def judge(says: Says, runs: Outcomes, size: str = "") -> list[Sentence]:
    """Judge a sentence on each of its comparisons, which share its level.

    A comparison is undecided, whatever its test says,

    * where what is run is smaller than printed (``size``),
    * where it is early: in the last quarter of the run the one behind gained what it lacks,
    * where the better of the two has not beaten a trivial model (``Run.trivial``).
    """
    if not says.pairs:
        return [Sentence(says.text, "not judged", "undecided", says.reason)]
    share = says.studies * len(says.pairs) * len(says.of)
    made = []
    for one, other in says.pairs:
        for of in says.of:
            first = says.by(runs[one], of)
            constant = isinstance(other, float)
            second = _constant(says, runs[one], of, other) if constant else says.by(runs[other], of)
            second = np.broadcast_to(second, first.shape)
            own = distinct([runs[key].results for key in ((one,) if constant else (one, other))])
            limit = f"{other:g}" if constant else named(runs, other)
            where = f"{named(runs, one)} against {limit}; {of}, {says.how}"
            where += repeated(runs[one].repeats + len(first) - len(own))
            sentence = says.test(
                says.text, where, first[own], second[own], comparisons=share, margin=says.margin
            )
            reasons = [size, says.reason]
            alike = sentence.verdict == "reproduced" and says.margin > 0
            if not constant and not alike and says.by is Outcome.last:
                reasons.append(early(runs[one].good(of), runs[other].good(of)))
            if says.guarded:
                pair = [runs[one]] if constant else [runs[one], runs[other]]
                reasons.append(trivial(pair, of))
            made.append(undecided_if(sentence, *reasons))
    return made


def _constant(says: Says, of: Outcome[Any], name: str, value: float) -> np.ndarray:
    """Return a number as ``by`` would: as a loss if it is compared with losses."""
    plain = says.by not in (Outcome.last, Outcome.throughout)
    return np.array(value) if plain else better(of.run.scale(name), value)


def named(runs: Outcomes, key: Any) -> str:
    """Return a run's name, with its fate if it diverged."""
    fate = runs[key].fate
    return called(key) + (f" ({fate})" if fate else "")


def early(first: np.ndarray, second: np.ndarray) -> str:
    """Say that the one behind may yet catch up; empty if not.

    Args:
        first, second: [seeds, moments], larger is better.
    """
    lead = float((first[:, -1] - second[:, -1]).mean())
    behind = second if lead > 0 else first
    moments = behind.shape[1]
    gain = float((behind[:, -1] - behind[:, int(LATE * (moments - 1))]).mean())
    if moments < 3 or gain < abs(lead):
        return ""
    return f"early: the one behind gained {gain:.4f} in the last quarter of the run, and lacks less"


def trivial(pair: Sequence[Outcome[Any]], of: str) -> str:
    """Say that the better of some runs has not beaten the trivial model; empty if it has."""
    winner = max(pair, key=lambda one: float(one.last(of).mean()))
    for name, value in winner.run.trivial.items():
        scale = winner.run.scale(name)
        if float(winner.last(name).mean()) <= float(better(scale, value)):
            return (
                f"trivial: neither has a better {name} than {value:.4g}, that of a model that "
                "ignores its inputs"
            )
    return ""


def judged(
    text: str,
    pairs: Mapping[str, tuple[np.ndarray, np.ndarray]],
    *,
    test: Callable[..., Sentence] = judged_by_seeds,
    size: str = "",
    **margin: float,
) -> list[Sentence]:
    """Judge one sentence on pairs of numbers a seed, by what is compared; they share its level."""
    return [
        undecided_if(test(text, where, *pair, comparisons=len(pairs), **margin), size)
        for where, pair in pairs.items()
    ]


def plot(
    name: str, title: str, runs: Outcomes, of: str, y_label: str, axis: Axis = ROUNDS, log: str = ""
) -> Panel:
    """Return a plot with a curve for each kind of run: mean over seeds, and its interval.

    Args:
        of: the name under which it was measured.
    """
    curves = []
    for label, outcome in runs.items():
        values = outcome.over(of)
        along = max((result[axis.along] for result in outcome.results), key=len)
        x = [axis.place(outcome.run, at) for at in along]
        curves.append(curve(called(label), x, values[:, : len(x)], log))
    sizes = next((o.run.sizes for o in runs.values()), "")
    seeds = max((len(o.results) for o in runs.values()), default=0)
    return Panel(name, title, axis.label, y_label, curves, log, note=note(sizes, seeds, log))


def note(sizes: str, seeds: int, log: str = "") -> str:
    """Return what stands below a plot."""
    mean = "geometric mean" if "y" in log else "mean"
    band = f"{mean} of {seeds} seeds; band: 95 % confidence interval of the mean"
    return "; ".join(filter(None, [sizes, band if seeds > 1 else "one seed"]))


def drawn(figure: Figure, runs: Outcomes, methods: Sequence[Any]) -> Panel:
    """Return a study's plot."""
    shown = {key: runs[key] for key in (figure.labels or methods)}
    run = next(iter(shown.values())).run
    share = "share" if run.scale(figure.of) in ("accuracy", "gap") else ""
    unit = run.units.get(figure.of, share)
    label = f"{figure.of} ({unit})" if unit else figure.of
    return plot(figure.name, figure.title, shown, figure.of, label, figure.axis, figure.log)


def setting(run: Run, seeds: int, *chosen: str) -> list[str]:
    """Return the head of a page: data, model, rounds and seeds of a run, then what was chosen."""
    problem, lines = run.problem, list[str]()
    if run.titled:
        lines.append(f"data: {run.titled}")
    if model := getattr(problem, "model", None):
        inputs = " × ".join(map(str, model.example))
        lines.append(f"model: {model.title}, {model.dim:,} parameters; inputs {inputs}")
    sizes = f"{run.rounds:,} rounds, {seeds} seeds (data and draws; the start, if random)"
    return [*lines, f"{problem.clients} clients, {sizes}", *chosen]


def methods(runs: Mapping[Any, Run]) -> str:
    """Return every run's algorithm with the parameters that are not its defaults."""
    return "; ".join(f"{called(key)}: {run.algorithm}" for key, run in runs.items())


def ends(runs: Outcomes, *names: str) -> str:
    """Say where runs end, the mean over the seeds that did, and on how many a run diverged."""
    said, seen = [], set[Any]()
    for key, of in runs.items():
        if of.run in seen:  # under another name
            continue
        seen.add(of.run)
        last = {name: of.over(name)[:, -1] for name in names}
        means = [
            f"{name} {values[np.isfinite(values)].mean():.4g}"
            for name, values in last.items()
            if np.isfinite(values).any()
        ]
        said.append(f"{called(key)}: {', '.join([*means, *filter(None, [of.fate])])}")
    repeats = repeated(next((of.repeats for of in runs.values()), 0))
    return f"At the end, mean over seeds: {'; '.join(said)}{repeats}."
