"""Law: a fused kernel equals the plain step, repeated."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import torch

from synthetic.problems import KLDRO, BoundedComposition
from toolkit.algorithms import ComFedL
from toolkit.discover import leaves
from toolkit.federation import run, sampled_context
from toolkit.kernels.registry import fused_for

# for each kernel: pairs that it serves
SERVED = {
    "kl-dro-local-steps": [
        (ComFedL(local_steps=5, step_size=0.1, batch=4), KLDRO()),
        (ComFedL(local_steps=2, batch=1, participation=0.5), KLDRO(clients=6, dim=1, samples=3)),
        (ComFedL(local_steps=1, step_size=0.01, batch=7), KLDRO(temperature=0.5, dim=17, ball=2.0)),
    ],
}


def test_every_kernel_has_pairs_to_be_tested_on():
    assert set(SERVED) == set(leaves("kernel"))


@pytest.mark.parametrize(
    ("name", "algorithm", "problem"),
    [(name, a, p) for name, pairs in SERVED.items() for a, p in pairs],
)
@pytest.mark.parametrize("replicates", [1, 64])
def test_a_kernel_equals_the_plain_step_repeated(name, algorithm, problem, replicates):
    ctx = sampled_context(problem, ("k",), replicates=replicates)
    kernel = fused_for(algorithm, problem, ctx)
    assert kernel is not None
    assert kernel.name == name
    made = [
        run(problem, algorithm, sampled_context(problem, ("k",), replicates=replicates),
            rounds=4, kernels=kernels)
        for kernels in (True, False)
    ]  # fmt: skip
    # sums over samples in another order: a few units in the last place a step
    torch.testing.assert_close(made[0].state.w, made[1].state.w, rtol=1e-12, atol=1e-13)
    assert made[0].reach == pytest.approx(made[1].reach, rel=1e-12)
    assert made[0].rounds == made[1].rounds


def test_a_kernel_gives_the_same_bits_on_one_thread_and_on_two():
    algorithm, problem = SERVED["kl-dro-local-steps"][0]
    ends = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        ends.append(run(problem, algorithm, sampled_context(problem, ("t",)), rounds=3).state.w)
    numba.set_num_threads(2)
    assert torch.equal(ends[0], ends[1])


@pytest.mark.parametrize(
    ("algorithm", "problem"),
    [
        (ComFedL(samples="independent"), KLDRO()),
        (ComFedL(), KLDRO(loss="sigmoid")),
        (ComFedL(), BoundedComposition()),
    ],
)
def test_a_kernel_is_not_used_on_what_it_does_not_serve(algorithm, problem):
    assert fused_for(algorithm, problem, sampled_context(problem, ("n",))) is None


def test_a_kernel_takes_the_printed_step():
    """Two routes: one step of one client by hand."""
    problem = KLDRO(clients=1, dim=2, samples=1, temperature=0.7)
    made = run(problem, ComFedL(step_size=0.3), sampled_context(problem, ("h",)), rounds=1)
    (row,), (label,) = problem.data[0][0], problem.data[1][0]
    value, gradient = np.log(2.0), -0.5 * label * row
    expected = -0.3 * np.exp(value / 0.7) / 0.7 * gradient
    np.testing.assert_allclose(made.state.w[0, :, 0].numpy(), expected, rtol=1e-13)
