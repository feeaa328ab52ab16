"""An experiment: a function that asks for units and concludes; and how it is run and written."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from driftproof.toolkit.environment import environment
from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.memory import largest_worker, own_peak
from driftproof.toolkit.report.experiment import write_experiment
from driftproof.verifiers.experiment.codec import checkpoint
from driftproof.verifiers.experiment.study import Conclusion, Steps, Study, concluded
from driftproof.verifiers.running.scheduler import Cache, Result, Task, run_jobs


@dataclass(frozen=True)
class Plan:
    """How to run an experiment.

    Attributes:
        profile: smoke, quick or paper.
        seed: of the partitions and the minibatches.
        data: folder of the data set, or None for the one inside scikit-learn.
        engine: batched, or wire (one process a client).
        workers: processes for independent runs.
        device: cpu, or cuda, on which networks are trained; the data go there once a run.
        resume: whether finished runs are taken from the ledger.
    """

    profile: str = "quick"
    seed: int = 0
    data: Path | None = None
    engine: str = "batched"
    workers: int = 1
    device: str = "cpu"
    resume: bool = False


@dataclass(frozen=True)
class Experiment:
    """A leaf under ``@experiment``: ``run(plan)`` yields units and returns a Conclusion."""

    name: str
    source: str
    statement: str
    run: Callable[[Plan], Steps]


def experiment(
    *, name: str, source: str, statement: str
) -> Callable[[Callable[[Plan], Steps | Study]], Experiment]:
    """Make a function an experiment: it returns a Study, or yields units and returns a Conclusion.

    Args:
        name: ``paper/figure``.
        source: documents and figures.
        statement: the paper's sentences, in words.
    """

    def decorate(function: Callable[[Plan], Steps | Study]) -> Experiment:
        def run(plan: Plan) -> Steps:
            made = function(plan)
            return concluded(made) if isinstance(made, Study) else made

        return Experiment(name, source, statement, wraps(function)(run))

    return decorate


def run_experiment(
    chosen: Experiment,
    plan: Plan,
    out: Path,
    *,
    typed: str,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Run an experiment and write its page, its data and its plots to a folder.

    Args:
        typed: what ``driftproof run`` calls the experiment: its name, or its file.
        started: called with the number of runs, again when there are more.
        ended: called with the experiment's name when one of its runs ends.
    """
    began = time.monotonic()
    with Ledger(out / "ledger.sqlite") as ledger:
        head = {
            "schema": 1,
            "what": "experiment",
            "experiment": chosen.name,
            "command": f"driftproof run {typed}",
            "source": chosen.source,
            "statement": chosen.statement,
            "profile": plan.profile,
            "seed": plan.seed,
            "data": "" if plan.data is None else plan.data.name,
            "engine": plan.engine,
            "environment": environment(plan.device, plan.workers),
        }
        runs = Runs(started, lambda: ended(chosen.name))
        cache, job = Cache(ledger, resume=plan.resume), _counted(chosen.run(plan), runs)
        (conclusion,) = run_jobs([job], cache, workers=plan.workers, each=runs.came)
        head |= asdict(conclusion)
        head |= {
            "memory": peak_memory(runs.worker, plan.workers),
            "seconds": time.monotonic() - began,
        }
        ledger.finish(head, [])
        write_experiment(out, head)
    return head


class Runs:
    """Which runs are asked for, and which have ended.

    Attributes:
        worker: the peak memory of the largest worker, looked at whenever a run came.
    """

    def __init__(self, started: Callable[[int], None], ended: Callable[[], None]) -> None:
        self._started, self._ended, self.worker = started, ended, 0
        self._whole: dict[str, bool] = {}

    def asked(self, units: Sequence[Task]) -> None:
        """Count runs that were not asked for before."""
        self._whole = dict.fromkeys((unit.name for unit in units), False) | self._whole
        self._started(len(self._whole))

    def came(self, unit: Task, result: Result) -> None:
        """Note what a run gave: of one that is kept on its way, a part."""
        self.worker = max(self.worker, largest_worker())
        if not self._whole[unit.name] and checkpoint(result[0]) is None:
            self._whole[unit.name] = True
            self._ended()


def _counted(job: Steps, runs: Runs) -> Steps:
    """Count the runs that an experiment asks for, and those that the ledger had."""
    wanted = next(job)
    while True:
        runs.asked(wanted)
        results = yield wanted
        for unit, result in zip(wanted, results, strict=True):
            runs.came(unit, result)
        try:
            wanted = job.send(results)
        except StopIteration as stop:
            conclusion: Conclusion = stop.value
            return conclusion


def peak_memory(worker: int, workers: int) -> str:
    """Say how much memory the command and its workers took at most.

    Args:
        worker: bytes of the largest one; 0: there was none, or it is not known.
    """
    own = own_peak()
    if workers == 1 or not worker:
        return f"peak memory {own / 2**30:.2f} GiB" + (" in the command" if workers > 1 else "")
    return (
        f"peak memory at most {(own + workers * worker) / 2**30:.2f} GiB: {own / 2**30:.2f} in the "
        f"command, {worker / 2**30:.2f} in the largest of {workers} workers, beside the libraries "
        "that all share"
    )
