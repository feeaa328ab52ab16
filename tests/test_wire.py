"""Law: on the wire an algorithm does what it does batched, every message counts, and no failure
goes unnamed or leaves a process behind.
"""

import json
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import (
    KLDRO,
    BoundedComposition,
    QuadraticBilevel,
    QuadraticMinimax,
)
from driftproof.toolkit.algorithms import DRFL, GCIVR, ComFedL, FedAvg, FedDRO, FedNest
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.wire import WireFailure, run_on_wire
from tests.commands import driftproof
from tests.leaves import pairs
from tests.wire_clients import Failing, Twice, Unequal

ROOT = Path(__file__).parents[1]
D, P, K, REAL = 3, 2, 4, 8
QUARTET = BoundedComposition(
    clients=K,
    dim=D,
    inner_dim=P,
    inner_curvature=0.4,
    inner_heterogeneity=0.5,
    inner_value_noise=0.1,
    inner_gradient_noise=0.2,
    outer_gradient_noise=0.3,
)
SADDLE = QuadraticMinimax(clients=K, dim=D, gradient_noise=0.1)
AVERAGED = KLDRO(form="average", clients=K)


def batched(problem, algorithm, names, *, rounds, replicates=1):
    """Return client 0's iterates and the outcome of the batched context."""
    kept = []
    ctx = sampled_context(problem, names, replicates=replicates)
    made = run(
        problem,
        algorithm,
        ctx,
        rounds=rounds,
        kernels=False,
        watch=lambda s, state: kept.append(getattr(state, algorithm.iterate)[0].clone()),
    )
    return torch.stack(kept).numpy(), made


def every_algorithm():
    """Return each member with the one of its problems with the most clients, up to K."""
    found = {}
    for pair in pairs():
        algorithm, problem = pair.values
        fewer = found.get(algorithm, (None, 1))[1]
        if fewer < problem.clients <= K:
            found[algorithm] = pair, problem.clients
    return [pair for pair, _ in found.values()]


@pytest.mark.parametrize(("algorithm", "problem"), every_algorithm())
def test_every_algorithm_on_the_wire_equals_the_batched_engine(algorithm, problem):
    """Cohorts, weights and noise; one process a client."""
    made = run_on_wire(problem, algorithm, ("wire",), rounds=3, replicates=5)
    iterates, expected = batched(problem, algorithm, ("wire",), rounds=3, replicates=5)
    assert made.iterates.shape == iterates.shape
    # the two sum over clients in different orders: a few units in the last place a step
    np.testing.assert_allclose(made.iterates, iterates, rtol=1e-13, atol=1e-14)
    assert (made.rounds, made.reals) == (expected.rounds, expected.reals)
    for name, value in made.state.items():
        ours = getattr(expected.state, name)[0].numpy()
        np.testing.assert_allclose(value, ours, rtol=1e-12, atol=1e-13)


def counts(problem, algorithm, rounds=5):
    made = run_on_wire(problem, algorithm, ("count",), rounds=rounds)
    up, down = (made.messages_up, made.bytes_up), (made.messages_down, made.bytes_down)
    return made.rounds, up, down


def test_fedavg_sends_a_model_each_way_a_round():
    """K up and K down of d reals a round; of a cohort of 2, two up."""
    every = counts(SADDLE, FedAvg(local_steps=3))
    dim = len(SADDLE.start())
    assert every == (5, (5 * K, 5 * K * dim * REAL), (5 * K, 5 * K * dim * REAL))
    some = counts(SADDLE, FedAvg(local_steps=3, participation=0.5))
    assert some == (5, (5 * 2, 5 * 2 * dim * REAL), (5 * K, 5 * K * dim * REAL))


def test_feddro_sends_its_embedding_every_step_and_its_model_every_i():
    """5 rounds of I = 4: 20 averages of d_g reals and 5 of d."""
    sent = 25 * K, K * (20 * P + 5 * D) * REAL
    assert counts(QUARTET, FedDRO(local_steps=4)) == (25, sent, sent)


def test_comfedl_sends_a_model_a_round_from_its_cohort():
    assert counts(QUARTET, ComFedL(local_steps=4, participation=0.25)) == (
        5,
        (5, 5 * D * REAL),
        (5 * K, 5 * K * D * REAL),
    )


def test_gcivr_sends_two_messages_a_step():
    """(y), then the direction."""
    sent = 10 * K, 5 * K * (P + D) * REAL
    assert counts(QUARTET, GCIVR()) == (10, sent, sent)


def test_clients_without_weight_do_not_send():
    """DRFL: of m = 1 client drawn each round one sends both its models; K report losses."""
    made = counts(AVERAGED, DRFL(local_steps=2, cohort=1))
    dim = len(AVERAGED.start())
    assert made == (
        10,
        (5 * (1 + K), 5 * (2 * dim + K * K) * REAL),
        (10 * K, 5 * K * (2 * dim + K) * REAL),
    )


def test_an_average_too_many_is_counted():
    """The iterates do not show it; the count does."""
    honest = run_on_wire(SADDLE, FedAvg(local_steps=2), ("t",), rounds=4)
    twice = run_on_wire(SADDLE, Twice(local_steps=2), ("t",), rounds=4)
    np.testing.assert_allclose(twice.iterates, honest.iterates, rtol=1e-13)
    assert (honest.rounds, honest.messages_up) == (4, 4 * K)
    assert (twice.rounds, twice.messages_up) == (8, 8 * K)
    assert twice.bytes_down == 2 * honest.bytes_down


# failures ---------------------------------------------------------------------------------------

FAULTS = {
    "exit": ("ended", r"exit status 0"),
    "killed": ("ended", r"killed by SIGKILL"),
    "stalls": ("stalled", r"did not answer in time .* waited 2 s"),
    "raises": ("raised", r"IndexError: no such sample"),
    "nan": ("not finite", r"not finite"),
    "inf": ("not finite", r"not finite"),
}


def armed(folder):
    (folder / "armed").touch()
    return str(folder)


def patience(fault, seconds):
    """Only a stalled client takes patience: all other failures show by themselves."""
    return seconds if fault == "stalls" else 60


def left_alone(folder):
    """Say whether all processes that ran here are gone (they are reaped a little later)."""
    pids = [int(path.name.split("-")[1]) for path in folder.glob("pid-*")]
    assert len(pids) >= 2
    for _ in range(100):
        if not any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("fault", FAULTS)
def test_a_client_that_fails_is_named_and_ends_the_run(fault, tmp_path):
    what, said = FAULTS[fault]
    algorithm = Failing(local_steps=1, fault=fault, client=2, at=3, folder=armed(tmp_path))
    with pytest.raises(WireFailure, match=r"got: +client 2 .*round of communication 4") as caught:
        run_on_wire(SADDLE, algorithm, ("f",), rounds=50, patience=patience(fault, 2))
    failure = caught.value
    assert (failure.what, failure.clients, failure.number) == (what, (2,), 4)
    assert re.search(said, failure.got)
    assert failure.wanted
    assert failure.remedy
    # what was done: three rounds, and the iterates of the batched context until there
    iterates, _ = batched(SADDLE, FedAvg(local_steps=1), ("f",), rounds=3)
    assert failure.done.rounds == 3
    np.testing.assert_allclose(failure.done.iterates[:4], iterates, rtol=1e-13)
    assert len(failure.done.iterates) == 4
    assert left_alone(tmp_path)


def test_clients_whose_messages_differ_are_named():
    with pytest.raises(
        WireFailure, match=r"client 1 came with another .* of communication 2: .* of 1 real"
    ):
        run_on_wire(SADDLE, Unequal(), ("u",), rounds=2)


def test_a_mistake_of_the_case_is_told_with_its_remedy():
    with pytest.raises(DriftproofError, match=r"client 0 raised .*log") as caught:
        run_on_wire(KLDRO(form="log", clients=2), FedDRO(batch=2), ("wire",), rounds=1)
    assert "one process" not in caught.value.remedy


# the ledger -------------------------------------------------------------------------------------

PARTS = """
import os, sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(os.environ["TESTS"])
from driftproof.synthetic.problems import QuadraticMinimax
from driftproof.toolkit.wire import run_on_wire
from driftproof.verifiers.experiment import Conclusion, experiment
from driftproof.verifiers.experiment.codec import packed, unpacked
from tests.wire_clients import Failing

FOLDER = Path(__file__).parent

@dataclass(frozen=True)
class Part:
    number: int
    engine: str
    path = None

    @property
    def name(self):
        return f"part {self.number}"

    def work(self):
        with (FOLDER / "worked").open("a") as worked:
            worked.write(f"{self.number}")
        fault = "killed" if self.number == 1 else "none"
        algorithm = Failing(fault=fault, client=1, at=2 if self.number == 1 else -1,
                            folder=str(FOLDER))
        made = run_on_wire(QuadraticMinimax(clients=2), algorithm, ("l",), rounds=4)
        return packed({"rounds": made.rounds})

@experiment(name="own/parts", source="a test", statement="x")
def parts(plan):
    results = yield [Part(number, plan.engine) for number in range(3)]
    return Conclusion([], [], [str(part["rounds"]) for part in unpacked(results)], [])
"""


def test_finished_runs_stay_in_the_ledger_and_a_resumed_experiment_goes_on(tmp_path):
    """Part 1 of three loses a client; then it does not."""
    (tmp_path / "parts.py").write_text(PARTS)
    armed(tmp_path)
    words = ("run", "parts.py", "--engine", "wire", "--workers", "1", "--out", "out", "--quiet")
    where = {"cwd": tmp_path, "env": os.environ | {"TESTS": str(ROOT)}}
    failed = driftproof(*words, **where)
    assert failed.returncode == 2
    assert "in work: client 1 ended before the run did in round of" in failed.stderr
    assert "killed by SIGKILL" in failed.stderr
    assert "Traceback" not in failed.stderr + failed.stdout
    assert (tmp_path / "worked").read_text() == "01"
    (tmp_path / "armed").unlink()
    again = driftproof(*words, "--resume", **where)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "worked").read_text() == "01" + "12"  # part 0 was not run again
    head = json.loads((tmp_path / "out" / "experiment.json").read_text())
    assert head["findings"] == ["4", "4", "4"]
    assert left_alone(tmp_path)


def test_fields_that_are_asked_for_are_kept_beside_the_iterate():
    made = run_on_wire(QuadraticBilevel(), FedNest(), ("wire",), rounds=2, fields=("y",))
    assert list(made.followed) == ["x", "y"]
    assert np.array_equal(made.followed["x"], made.iterates)
    assert made.followed["y"].shape == (3, 2, 1)
    assert np.array_equal(made.followed["y"][-1], made.state["y"])
    assert not np.array_equal(made.followed["y"][0], made.followed["y"][-1])
