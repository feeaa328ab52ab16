"""The benchmarks: ``pytest --benchmark``. What they gave is in docs/performance.md."""

from __future__ import annotations

import subprocess
import sys

import numba
import pytest
import torch

from gpu_bench.cases.fednest_minimax import fednest_minimax
from gpu_bench.cases.w1 import w1
from gpu_bench.cases.w2 import w2
from synthetic.problems import BoundedComposition, RandomMinimax
from tests.commands import DRIFTPROOF
from toolkit.algorithms import ComFedL, FedNest
from toolkit.discover import find
from toolkit.federation import run, sampled_context
from verifiers.verify import Settings, judge

PROBLEM = BoundedComposition(
    clients=10, dim=10, inner_dim=10, inner_curvature=0.5, heterogeneity=1.0,
    inner_value_noise=0.1, inner_gradient_noise=0.1, outer_gradient_noise=0.1,
)  # fmt: skip


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


def repeats(variant):
    """What takes milliseconds is repeated more often: it is as long as a hiccup of the machine."""
    return 5 if variant == "numpy loop" else 40


@pytest.mark.parametrize("variant", ["numpy loop", "driftproof"])
@pytest.mark.parametrize("dim", [10, 100])
def test_w1(benchmark, dim, variant):
    benchmark.group = f"W1 d={dim} R=64"
    benchmark.pedantic(w1(dim, 64).variants[variant], rounds=repeats(variant), warmup_rounds=2)


@pytest.mark.parametrize("variant", ["numpy loop", "plain steps", "driftproof"])
def test_w2(benchmark, variant):
    benchmark.group = "W2 R=64"
    benchmark.pedantic(w2(64).variants[variant], rounds=repeats(variant), warmup_rounds=2)


@pytest.mark.parametrize("variant", ["numpy loop", "driftproof"])
def test_fednest_minimax(benchmark, variant):
    """10⁶ client-steps: a round of the public notebook's setting with all 1,000 clients."""
    benchmark.group = "FedNest minimax, m = 1,000, all clients, one round"
    rounds = 3 if variant == "numpy loop" else 40
    benchmark.pedantic(fednest_minimax().variants[variant], rounds=rounds, warmup_rounds=1)


def test_fednest_minimax_as_in_the_notebook(benchmark):
    """50 of 1,000 clients, 200 rounds of T·50 + 500 local steps, d = 10."""
    problem = RandomMinimax(clients=1000, dim=10, form="halved")
    algorithm = FedNest(
        inner_calls=10, inner_steps=50, outer_steps=500, terms=0, inner_step_size=1e-3,
        outer_step_size=1e-3, participation=0.05,
    )  # fmt: skip
    benchmark.group = "FedNest minimax, 50 of 1,000 clients, 200 rounds"
    benchmark.pedantic(
        lambda: run(problem, algorithm, sampled_context(problem, ("b",), replicates=1), rounds=200),
        rounds=3, warmup_rounds=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [[sys.executable, "-c", "import toolkit"], [*DRIFTPROOF, "list"]],
    ids=["import toolkit", "driftproof list"],
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
