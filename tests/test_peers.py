"""Law: every peer computes the identical round; what does not is caught, what lacks is named."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.gpu_bench.peer import REFERENCE, Peer, peer, peers_for
from driftproof.gpu_bench.peers.numpy_loop import w1 as reference_w1
from driftproof.gpu_bench.ways import distance
from driftproof.synthetic.problems import QuadraticMinimax
from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.federation import run, sampled_context

WORKLOADS = ("w1", "w2")
FURTHER = [p for name in WORKLOADS for p in peers_for(name) if p.name != REFERENCE]
sizes = st.integers(1, 4)


def quadratic(clients, d, replicates, steps, seed, dtype="float64"):
    random = np.random.default_rng(seed)
    return {
        "matrices": random.standard_normal((clients, d, d)),
        "offsets": random.standard_normal((clients, d)),
        "starts": random.standard_normal((2 * d, replicates)),
        "regulariser": 0.3,
        "step_size": 0.1,
        "local_steps": steps,
        "dtype": dtype,
    }


def robust(clients, d, replicates, steps, seed, dtype="float64", samples=7, batch=3):
    random = np.random.default_rng(seed)
    return {
        "features": random.uniform(-1, 1, (clients, samples, d)),
        "labels": random.choice([-1.0, 1.0], (clients, samples)),
        "starts": random.standard_normal((d, replicates)),
        "chosen": random.integers(0, samples, (steps, clients, batch, replicates)),
        "temperature": 3.0,
        "step_size": 0.2,
        "local_steps": steps,
        "dtype": dtype,
    }


MADE = {"w1": quadratic, "w2": robust}


def loaded(p, data):
    if not p.installed:
        pytest.skip(f"{p.extra} is not installed; pip install -e '.[peers]'")
    return p.load(data)


@pytest.mark.parametrize("p", FURTHER, ids=lambda p: f"{p.workload} {p.name}")
@settings(max_examples=20)  # jax compiles each
@given(clients=sizes, d=sizes, replicates=sizes, steps=sizes, seed=st.integers(0, 2**32))
def test_a_peer_computes_the_identical_round(p, clients, d, replicates, steps, seed):
    data = MADE[p.workload](clients, d, replicates, steps, seed)
    expected = peers_for(p.workload)[0].load(data)()
    call = loaded(p, data)
    assert distance(call(), expected) <= 1e-9
    assert distance(call(), expected) <= 1e-9  # the first left the inputs as they were


@pytest.mark.parametrize("p", FURTHER, ids=lambda p: f"{p.workload} {p.name}")
def test_a_peer_computes_in_the_precision_that_is_asked_for(p):
    data = MADE[p.workload](3, 5, 4, 6, 0)
    double, single = loaded(p, data)(), loaded(p, data | {"dtype": "float32"})()
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
    assert 0 < distance(single, double) <= 1e-5


@pytest.mark.parametrize("p", [p for p in FURTHER if p.name == "numpy batched"])
def test_groups_of_clients_add_up(p, monkeypatch):
    data = MADE[p.workload](5, 4, 3, 2, 1)
    expected = p.load(data)()
    monkeypatch.setattr("driftproof.gpu_bench.peers.numpy_batched.CACHE", 1500)
    assert distance(p.load(data)(), expected) <= 1e-14


@pytest.mark.parametrize("name", WORKLOADS)
def test_each_form_that_jax_chooses_from_is_right(name, monkeypatch):
    pytest.importorskip("jax", reason="jax is not installed; pip install -e '.[peers]'")
    data = MADE[name](3, 4, 2, 5, 0)
    reference, (jax_peer,) = peers_for(name)[0], (p for p in peers_for(name) if p.extra == "jax")
    forms = []
    monkeypatch.setattr(
        "driftproof.gpu_bench.peers.jax_scan.fastest", lambda made: forms.extend(made)
    )
    jax_peer.load(data)
    assert len(forms) == 2
    for call in forms:
        assert distance(call(), reference.load(data)()) <= 1e-12


def test_jax_is_left_in_single_precision():
    jax = pytest.importorskip("jax", reason="jax is not installed; pip install -e '.[peers]'")
    (jax_peer,) = (p for p in peers_for("w1") if p.extra == "jax")
    loaded(jax_peer, quadratic(1, 1, 1, 1, 0))()
    assert jax.numpy.zeros(1).dtype == np.float32


def test_the_reference_is_a_round_of_the_federation():
    problem = QuadraticMinimax(clients=3, dim=4, heterogeneity=0.2)
    algorithm = FedAvg(local_steps=5, step_size=0.1)
    end = run(problem, algorithm, sampled_context(problem, ("peers",), replicates=2), rounds=1)
    data = quadratic(3, 4, 2, 5, 0) | {
        "matrices": problem.matrices,
        "offsets": problem.offsets,
        "regulariser": problem.regulariser,
        "starts": np.repeat(problem.start()[:, None], 2, axis=1),
    }
    assert distance(reference_w1.load(data)(), end.state.w[0].numpy()) <= 1e-13


@given(clients=sizes, d=sizes, replicates=sizes, steps=st.integers(1, 6), calls=sizes)
def test_the_public_update_is_its_closed_form(clients, d, replicates, steps, calls):
    random = np.random.default_rng([clients, d, replicates, steps, calls])
    data = {
        "couplings": random.uniform(0, 0.1, clients),
        "regulariser": 0.1,
        "rate": 0.4,
        "starts": random.standard_normal((2 * d, replicates)),
        "calls": calls,
        "inner_steps": steps,
        "outer_steps": 2 * steps,
    }
    x, y = data["starts"][:d], data["starts"][d:]
    t, eta = data["couplings"].mean(), 0.4 / d
    y_end = -t * x / 2 + (1 - eta) ** (steps * calls) * (y + t * x / 2)
    target = t * y_end / (2 * 0.1)
    x_end = target + (1 - 0.1 * eta) ** (2 * steps) * (x - target)
    (public,) = peers_for("fednest-minimax")
    assert distance(public.load(data)(), np.concatenate([x_end, y_end])) <= 1e-12


@peer(name="wrong sign", workload="w1", extra=None, source="negative control")
def wrong(data):
    return reference_w1.build(data | {"regulariser": -data["regulariser"]})


@given(clients=sizes, d=sizes, replicates=sizes, steps=sizes, seed=st.integers(0, 2**32))
def test_a_wrong_sign_is_caught(clients, d, replicates, steps, seed):
    data = quadratic(clients, d, replicates, steps, seed)
    assert distance(wrong.load(data)(), reference_w1.load(data)()) > 1e-9


def test_a_peer_that_is_not_installed_is_told_with_a_remedy():
    absent = Peer("another", "w1", "no_such_library", "", reference_w1.build)
    assert not absent.installed
    with pytest.raises(MissingError) as told:
        absent.load(quadratic(1, 1, 1, 1, 0))
    assert "no_such_library" in told.value.got
    assert "pip install" in told.value.remedy


def test_a_library_that_is_broken_is_told_too():
    def build(data):
        raise ImportError("its shared object is of another version")

    with pytest.raises(MissingError, match="of another version"):
        Peer("broken", "w1", "torch", "", build).load({})


def test_an_unknown_workload_is_refused():
    with pytest.raises(DriftproofError, match="w1"):
        peers_for("w3")


def test_every_workload_has_its_peers_the_reference_first():
    names = [[p.name for p in peers_for(w)] for w in WORKLOADS]
    assert names[0] == names[1]
    assert names[0][0] == REFERENCE
    assert {"jax", "numpy batched", "torch.func"} == set(names[0][1:])
    assert [p.name for p in peers_for("fednest-minimax")] == ["FedNest's public update"]


def test_listing_peers_imports_no_library():
    code = (
        "import sys; from driftproof.gpu_bench.peer import peers_for; peers_for('w1');"
        "sys.exit(bool({'torch', 'jax', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
