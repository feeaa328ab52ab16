"""An experiment: a function that asks for units and concludes; and how it is run and written."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from toolkit.environment import environment
from toolkit.errors import unknown_name
from toolkit.ledger import Ledger
from toolkit.report.experiment import write_experiment
from verifiers.experiment.panel import Panel
from verifiers.experiment.sentence import Sentence
from verifiers.running.scheduler import Result, Unit, Units, run_jobs

PROFILES = ("smoke", "quick", "paper")
ENGINES = ("batched", "wire")


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

    def __post_init__(self) -> None:
        for what, value, known in (
            ("profile", self.profile, PROFILES),
            ("engine", self.engine, ENGINES),
        ):
            if value not in known:
                raise unknown_name(what, value, known)


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


def run_experiment(
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
