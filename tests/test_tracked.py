"""Runs that are kept on their way: broken off anywhere, they give the same numbers to the bit."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from driftproof.synthetic.network_problems.adapted import AdaptedLosses
from driftproof.synthetic.network_problems.plain import NetworkLosses
from driftproof.synthetic.network_problems.robust import RobustSamples
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms import (
    DRFL,
    GCIVR,
    ComFedL,
    FedAvg,
    FedDRO,
    LocalMOML,
    LocalSCGDM,
)
from driftproof.toolkit.dataset import digest
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.networks import Perceptron
from driftproof.verifiers.experiment import TrackedRun, averaged, results_of
from driftproof.verifiers.experiment.codec import checkpoint, unpacked
from driftproof.verifiers.running.scheduler import Cache, run_jobs
from tests.commands import DRIFTPROOF, driftproof

PROBLEMS = {"losses": NetworkLosses, "robust": RobustSamples, "adapted": AdaptedLosses}
RUNS = [
    ("losses", FedAvg(local_steps=2, participation=0.5)),
    ("losses", DRFL(local_steps=2)),
    ("robust", FedDRO(local_steps=2)),
    ("robust", GCIVR()),
    ("adapted", ComFedL(local_steps=2)),
    ("adapted", LocalSCGDM()),
    ("adapted", LocalMOML(local_steps=3)),
]


@dataclass(frozen=True, kw_only=True)
class SmallRun(TrackedRun):
    """A few rounds on a network of 17 parameters."""

    stretch = -1.0  # broken off after each round

    kind: str = "losses"
    algorithm: Algorithm = FedAvg()  # noqa: RUF009 - it is frozen

    @property
    def problem(self):
        random = np.random.default_rng(self.data_seed)
        inputs = [random.normal(size=(5, 2)) for _ in range(3)]
        data = ClientData(inputs, [random.integers(0, 2, 5) for _ in range(3)])
        return PROBLEMS[self.kind](model=Perceptron(hidden=3).model((2,), 2), data=data)

    @property
    def keys(self):
        return str(self.seed), "test"

    def recorded(self, problem: Any, ctx: Any, state: Any) -> dict[str, Any]:
        point = averaged(getattr(state, self.algorithm.iterate))
        return {"loss": float(problem.objective(point[:, None].double())), "first": float(point[0])}

    def concluded(self, problem: Any, ctx: Any, state: Any) -> dict[str, Any]:
        return {"last": averaged(getattr(state, self.algorithm.iterate)).tolist()}


def job(runs):
    return (yield from results_of({"": runs}))[""]


@pytest.mark.parametrize(("kind", "algorithm"), RUNS)
def test_a_run_in_pieces_is_the_run(kind, algorithm):
    run = SmallRun(rounds=6, points=4, kind=kind, algorithm=algorithm)
    assert run.moments == [0, 2, 4, 6]
    whole = run.measured()
    assert len(whole["loss"]) == 4
    blobs = [run.work()]
    while checkpoint(blobs[-1]) is not None:
        blobs.append(run.going_on(blobs[-1]).work())
    assert len(blobs) == 6
    (in_pieces,) = unpacked([(blobs[-1], 0.0)])
    assert in_pieces == whole
    shares = [part.told["done"] for blob in blobs if (part := checkpoint(blob))]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1


@dataclass(frozen=True, kw_only=True)
class SlowingRun(SmallRun):
    """Two rounds at one step size, the others at another."""

    later: float = 1e-3

    @property
    def phases(self):
        slower = replace(self.algorithm, step_size=self.later)
        return [(2, self.algorithm), (self.rounds, slower)]


def test_phases_go_on_from_each_other_whole_or_in_pieces():
    given = {"rounds": 5, "points": 6, "kind": "robust", "algorithm": FedDRO(local_steps=2)}
    whole, plain = SlowingRun(**given).measured(), SmallRun(**given).measured()
    assert whole["first"][:3] == plain["first"][:3]
    assert whole["first"][3] != plain["first"][3]
    assert whole["reals"] == plain["reals"]
    same = SlowingRun(**given, later=FedDRO().step_size).measured()
    assert same == plain
    blobs = [SlowingRun(**given).work()]
    while checkpoint(blobs[-1]) is not None:
        blobs.append(SlowingRun(**given).going_on(blobs[-1]).work())
    assert unpacked([(blobs[-1], 0.0)]) == [whole]
    lost = SlowingRun(**given | {"kind": "losses", "algorithm": FedAvg()}, later=1e30).measured()
    assert lost["bad_step"] >= 2
    assert "last" not in lost


def test_the_ledger_goes_on_from_a_checkpoint(tmp_path):
    runs = SmallRun(rounds=5, points=6).over(2)
    whole = [run.measured() for run in runs]

    class BrokenOffError(Exception):
        pass

    def killed(unit, result):
        part = checkpoint(result[0])
        if unit.name == runs[1].name and part and part.told["done"] > 0.5:
            raise BrokenOffError

    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        with pytest.raises(BrokenOffError):
            run_jobs([job(runs)], Cache(ledger, resume=True), workers=1, each=killed)
        worked = []
        (again,) = run_jobs(
            [job(runs)],
            Cache(ledger, resume=True),
            workers=1,
            each=lambda unit, result: worked.append((unit.name, checkpoint(result[0]))),
        )
    assert again == whole
    # what the ledger had was not done again: the first piece that came is one of later rounds
    assert worked[0][1].told["done"] > 0.5


LATE = """
from driftproof.toolkit.algorithms import fedavg


class State(fedavg.State):
    pass


class Late(fedavg.FedAvg):
    def init(self, ctx, oracles, start):
        return State(*super().init(ctx, oracles, start))

    def step(self, ctx, oracles, state):
        return State(*super().step(ctx, oracles, state))
"""


@dataclass(frozen=True, kw_only=True)
class LateRun(SmallRun):
    """A run whose algorithm is imported when it is asked for, not before."""

    @property
    def phases(self):
        return [(self.rounds, import_module("late_descent").Late())]


def test_a_run_goes_on_where_its_algorithm_was_not_imported_yet(tmp_path, monkeypatch):
    (tmp_path / "late_descent.py").write_text(LATE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    run = LateRun(rounds=2, points=3)
    whole, first = run.measured(), run.work()
    assert checkpoint(first).told["state"] == ["late_descent", "State"]
    del sys.modules["late_descent"]  # as in another process
    (in_pieces,) = unpacked([(run.going_on(first).work(), 0.0)])
    monkeypatch.delitem(sys.modules, "late_descent")
    assert in_pieces == whole


def test_a_run_that_diverges_is_told_with_its_step():
    whole = SmallRun(rounds=50, algorithm=FedAvg(step_size=1e30)).measured()
    assert whole["bad_step"] is not None
    assert len(whole["loss"]) < 51
    assert "last" not in whole


def test_only_the_batched_engine_is_measured_on_its_way():
    with pytest.raises(DriftproofError, match="batched engine"):
        SmallRun(rounds=1, engine="wire")


OWN = """
from dataclasses import dataclass

import numpy as np

from driftproof.algorithms import FedAvg
from driftproof.experiments import Conclusion, TrackedRun, averaged, experiment, results_of
from driftproof.synthetic.network_problems.plain import NetworkLosses
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.networks import SoftmaxRegression


@dataclass(frozen=True, kw_only=True)
class OwnRun(TrackedRun):
    stretch = 0.05

    @property
    def problem(self):
        random = np.random.default_rng(self.data_seed)
        inputs = [random.normal(size=(9, 2)) for _ in range(3)]
        labels = [random.integers(0, 2, 9) for _ in range(3)]
        return NetworkLosses(
            model=SoftmaxRegression().model((2,), 2), data=ClientData(inputs, labels)
        )

    @property
    def algorithm(self):
        return FedAvg(local_steps=2)

    @property
    def keys(self):
        return str(self.seed), str(self.partition)

    def recorded(self, problem, ctx, state):
        return {"weight": averaged(state.w).tolist()}


@experiment(name="mine/tracked", source="a test", statement="it goes on")
def tracked(plan):
    runs = yield from results_of({"": OwnRun(rounds=600, points=50).over(2)})
    return Conclusion(
        setting=[], sentences=[], findings=[], panels=[], numbers={"runs": runs[""]}
    )
"""


def test_a_killed_command_goes_on_with_the_same_numbers(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN, encoding="utf-8")

    def words(out, *more):
        return ["run", str(file), "--workers", "1", "--out", str(out), *more]

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert driftproof(*words(whole)).returncode == 0
    process = subprocess.Popen(
        [*DRIFTPROOF, *words(killed)], stderr=subprocess.DEVNULL, start_new_session=True
    )
    ledger = killed / "ledger.sqlite"
    while process.poll() is None and not kept_in(ledger):
        time.sleep(0.02)
    assert process.poll() is None, "it ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert kept_in(ledger)
    assert driftproof(*words(killed, "--resume")).returncode == 0
    first, again = (
        json.loads((out / "experiment.json").read_text(encoding="utf-8"))["numbers"]
        for out in (whole, killed)
    )
    assert len(first["runs"][0]["weight"]) == 50
    assert again == first


def kept_in(ledger):
    """Return whether a ledger has a checkpoint."""
    if not ledger.exists():
        return False
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as database:
        try:
            blobs = [blob for (blob,) in database.execute("SELECT blob FROM tasks")]
        except sqlite3.OperationalError:
            return False
    return any(checkpoint(blob) for blob in blobs)


def test_a_run_is_named_by_what_is_in_its_data(tmp_path):
    """The same folder with other files is another run: a ledger gives no stale result."""

    @dataclass(frozen=True, kw_only=True)
    class OnData(SmallRun):
        data: Any = None

    (tmp_path / "a").write_text("1")
    run = OnData(rounds=1, data=tmp_path)
    before = run.name
    assert before == OnData(rounds=1, data=tmp_path).name
    (tmp_path / "a").write_text("2")
    digest.cache_clear()  # a command reads the files once
    assert run.name != before
