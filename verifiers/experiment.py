"""Experiments: one figure or table of a paper, run again, with its sentences judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from toolkit.environment import environment
from toolkit.errors import DriftproofError
from toolkit.ledger import Ledger
from toolkit.report.experiment import write_experiment
from verifiers.scheduler import Result, Unit, Units, run_jobs

PROFILES = ("smoke", "quick", "paper")
LEVEL = 0.05


@dataclass(frozen=True)
class Plan:
    """How to run an experiment.

    Attributes:
        profile: smoke, quick or paper.
        seed: of the partitions and the minibatches.
        data: folder of the data set, or None for the one inside scikit-learn.
        engine: batched, or wire (one process a client).
        workers: processes for independent runs.
        resume: whether finished runs are taken from the ledger.
    """

    profile: str = "quick"
    seed: int = 0
    data: Path | None = None
    engine: str = "batched"
    workers: int = 1
    resume: bool = False


@dataclass(frozen=True)
class Sentence:
    """One sentence of the paper and what became of it: reproduced, not reproduced, undecided."""

    text: str
    setting: str
    verdict: str
    why: str


@dataclass(frozen=True)
class Panel:
    """One plot: curves over x by method, each with mean, low and high."""

    name: str
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Mapping[str, Any]]
    log: str = ""


@dataclass(frozen=True)
class Conclusion:
    """What an experiment's runs come to."""

    setting: Sequence[str]
    sentences: Sequence[Sentence]
    findings: Sequence[str]
    panels: Sequence[Panel]
    numbers: Mapping[str, Any] = field(default_factory=dict)


Steps = Generator[Sequence[Unit], list[Result], Conclusion]


@dataclass(frozen=True)
class Experiment:
    """A leaf under ``@experiment``: ``run(plan)`` yields units and returns a Conclusion."""

    name: str
    source: str
    statement: str
    run: Callable[[Plan], Steps]


def experiment(
    *, name: str, source: str, statement: str
) -> Callable[[Callable[[Plan], Steps]], Experiment]:
    """Make a function an experiment.

    Args:
        name: ``paper/figure``.
        source: documents and figures.
        statement: the paper's sentences, in words.
    """

    def decorate(run: Callable[[Plan], Steps]) -> Experiment:
        return Experiment(name, source, statement, run)

    return decorate


def conduct(
    chosen: Experiment,
    plan: Plan,
    out: Path,
    *,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Run an experiment and write its page, its data and its plots to a folder."""
    with Ledger(out / "ledger.sqlite") as ledger:
        head = {
            "schema": 1,
            "what": "experiment",
            "experiment": chosen.name,
            "source": chosen.source,
            "statement": chosen.statement,
            "profile": plan.profile,
            "seed": plan.seed,
            "data": "scikit-learn digits" if plan.data is None else plan.data.name,
            "engine": plan.engine,
            "environment": environment("cpu", plan.workers),
        }
        number = ledger.begin(head)
        job = _counted(chosen.run(plan), started)
        units = Units(ledger, resume=plan.resume)
        (conclusion,) = run_jobs(
            [job], units, workers=plan.workers, each=lambda unit: ended(chosen.name)
        )
        head |= asdict(conclusion)
        ledger.finish(number, [], head)
        write_experiment(out, head)
    return head


def _counted(job: Steps, started: Callable[[int], None]) -> Steps:
    """Tell how many units an experiment has asked for so far, phase by phase."""
    results: list[Result] | None = None
    total = 0
    while True:
        try:
            wanted = next(job) if results is None else job.send(results)
        except StopIteration as stop:
            conclusion: Conclusion = stop.value
            return conclusion
        total += len(wanted)
        started(total)
        results = yield wanted


def judged_by_seeds(
    text: str, setting: str, better: np.ndarray, worse: np.ndarray, *, comparisons: int
) -> Sentence:
    """Judge "the first is better than the second" by a paired test over seeds.

    One-sided Wilcoxon signed-rank tests at level 0.05/comparisons: reproduced if the first is
    larger, not reproduced if the second is, else undecided.

    Args:
        text: the sentence.
        setting: what is compared with what.
        better, worse: one number a seed each, in the same order; larger is better.
        comparisons: how many sentences share the level.
    """
    from scipy.stats import wilcoxon

    difference = np.asarray(better) - np.asarray(worse)
    shown = f"mean difference {difference.mean():+.4f} over {len(difference)} seeds"
    if not np.any(difference):
        return Sentence(text, setting, "undecided", "no difference on any seed")
    level = LEVEL / comparisons
    if 2.0 ** -len(difference) > level:
        least = (
            f"{len(difference)} seeds cannot decide: their least p is {2.0 ** -len(difference):.2g}"
        )
        return Sentence(text, setting, "undecided", f"{shown}; {least} > {level:.2g}")
    up = float(wilcoxon(difference, alternative="greater").pvalue)
    down = float(wilcoxon(difference, alternative="less").pvalue)
    if up <= level:
        return Sentence(text, setting, "reproduced", f"{shown}, p = {up:.2g}")
    if down <= level:
        return Sentence(text, setting, "not reproduced", f"{shown}, p = {down:.2g} against it")
    return Sentence(text, setting, "undecided", f"{shown}, p = {min(up, down):.2g} > {level:.2g}")


def curve(label: str, x: Sequence[float], values: np.ndarray) -> dict[str, Any]:
    """Return a curve's mean over seeds with the range of the seeds, values [seeds, points]."""
    return {
        "label": label,
        "x": list(x),
        "mean": values.mean(0).tolist(),
        "low": values.min(0).tolist(),
        "high": values.max(0).tolist(),
    }


def check_plan(plan: Plan) -> None:
    """Raise if a plan names what there is not."""
    if plan.profile not in PROFILES:
        raise DriftproofError(
            f"profile {plan.profile!r}", f"one of {', '.join(PROFILES)}", "choose one of them"
        )


def packed(value: Mapping[str, Any]) -> bytes:
    """Return a unit's result as bytes."""
    return json.dumps(value).encode()
