"""The benchmarks: ``pytest --benchmark``. What they gave is in docs/performance.md."""

import subprocess
import sys
from itertools import count

import numba
import numpy as np
import pytest
import torch

from driftproof.gpu_bench.peer import peers_for
from driftproof.gpu_bench.prepared import PLAIN_STEPS, Prepared
from driftproof.gpu_bench.run import BASELINES
from driftproof.gpu_bench.table import size_text
from driftproof.synthetic.problems import BoundedComposition, RandomMinimax
from driftproof.toolkit.algorithms import ComFedL, FedNest
from driftproof.toolkit.discover import find, leaves
from driftproof.toolkit.federation import run, sampled_context
from driftproof.verifiers.verify import Settings, judge
from tests.commands import DRIFTPROOF

PROBLEM = BoundedComposition(
    clients=10,
    dim=10,
    inner_dim=10,
    inner_curvature=0.5,
    heterogeneity=1.0,
    inner_value_noise=0.1,
    inner_gradient_noise=0.1,
    outer_gradient_noise=0.1,
)


@pytest.fixture(autouse=True)
def every_core():
    """The workloads are compared on all cores, for both sides."""
    before = torch.get_num_threads()
    torch.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    yield
    torch.set_num_threads(before)


def test_one_local_step(benchmark):
    algorithm = ComFedL()
    ctx = sampled_context(PROBLEM, ("bench",))
    oracles = PROBLEM.oracles(torch.float64)
    state = algorithm.init(ctx, oracles, torch.from_numpy(PROBLEM.start()))
    benchmark(algorithm.step, ctx, oracles, state)


def test_one_round(benchmark):
    algorithm = ComFedL(local_steps=5)
    benchmark(lambda: run(PROBLEM, algorithm, sampled_context(PROBLEM, ("bench",)), rounds=1))


def test_one_verification(benchmark):
    claim = find("claim", "comfedl/lemma-2").load()
    benchmark.pedantic(lambda: judge([claim], Settings()), rounds=3)


DEVICES = ["cpu", "cuda"][: 1 + torch.cuda.is_available()]
POINTS = [
    pytest.param(leaf.load(), size, id=f"{name} {size_text(size)}")
    for name, leaf in leaves("case").items()
    for size in leaf.metadata["points"]
]


@pytest.mark.parametrize("way", ["driftproof", PLAIN_STEPS])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("case", "size"), POINTS)
def test_a_round(benchmark, case, size, device, way):
    """One round of every case: the variant that the federation takes, and the plain steps."""
    prepared = Prepared(case.at(**size), seed=0, dtype="float64", device=device)
    variants = prepared.variants()
    call, number = variants.get(way, next(iter(variants.values()))), count()

    def one_round():
        call(next(number))
        if device == "cuda":
            torch.cuda.synchronize()

    benchmark.group = f"{case.name} {size_text(size)} {device}"
    if way != PLAIN_STEPS:
        rounds, warmup = 30, 2
    else:  # seconds a round from 10⁶ steps on
        rounds, warmup = (5, 1) if prepared.workload.client_steps < 10**6 else (1, 0)
    benchmark.pedantic(one_round, rounds=rounds, warmup_rounds=warmup)


@pytest.mark.parametrize(("case", "size"), [p for p in POINTS if p.values[0].peers])
def test_a_round_of_the_baseline(benchmark, case, size):
    """The identical round as a loop over clients: a peer that needs nothing but numpy."""
    baseline = [peer for peer in peers_for(case.peers) if peer.name in BASELINES]
    prepared = Prepared(case.at(**size), seed=0, dtype="float64", rotate=False)
    data = prepared.workload.data(prepared.starts(), prepared.draws)
    call = baseline[0].load({**data, "dtype": np.dtype("float64")})
    benchmark.group = f"{case.name} {size_text(size)} cpu"
    benchmark.pedantic(call, rounds=3, warmup_rounds=1)


def test_fednest_minimax_as_in_the_notebook(benchmark):
    """50 of 1,000 clients, 200 rounds of T·50 + 500 local steps, d = 10."""
    problem = RandomMinimax(clients=1000, dim=10, form="halved")
    algorithm = FedNest(
        inner_calls=10,
        inner_steps=50,
        outer_steps=500,
        terms=0,
        inner_step_size=1e-3,
        outer_step_size=1e-3,
        participation=0.05,
    )
    benchmark.group = "FedNest minimax, 50 of 1,000 clients, 200 rounds"
    benchmark.pedantic(
        lambda: run(problem, algorithm, sampled_context(problem, ("b",), replicates=1), rounds=200),
        rounds=3,
        warmup_rounds=1,
    )


@pytest.mark.parametrize(
    "words",
    [[sys.executable, "-c", "import driftproof.toolkit"], [*DRIFTPROOF, "list"]],
    ids=["import driftproof.toolkit", "driftproof list"],
)
def test_start(benchmark, words):
    benchmark.group = "start"
    benchmark.pedantic(
        lambda: subprocess.run(words, check=True, capture_output=True), rounds=7, warmup_rounds=1
    )


def test_verify_quick(benchmark, tmp_path):
    """A whole process: ``driftproof verify --profile quick``, page and plots included."""
    words = [*DRIFTPROOF, "verify", "--profile", "quick", "--out", str(tmp_path)]
    benchmark.pedantic(lambda: subprocess.run(words, check=True, capture_output=True), rounds=1)
