"""Local-SCGDM a second time, from Algorithm 1 of its paper (2022), device by device."""

import dataclasses

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import MAML, BoundedComposition
from driftproof.toolkit.algorithms import LocalSCGDM
from driftproof.toolkit.draws import Subset
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.kernels.registry import kernel_of

WRITTEN = {"local-scgdm"}
ROUNDS, NAMES = 3, ("scgdm",)
NOISY = BoundedComposition(
    clients=3, dim=2, inner_dim=2, inner_curvature=0.4, heterogeneity=1.0, inner_offset=0.3,
    inner_value_noise=0.2, inner_gradient_noise=0.3, outer_gradient_noise=0.2, distance=0.7,
)  # fmt: skip


def numpy_of(x):
    return x[0, :, 0].numpy()


def written_again(problem, given, rounds=ROUNDS):
    """Run the pseudo-code; the numbers are its lines."""
    draws = sampled_context(problem, NAMES, replicates=1)
    devices = [
        problem.oracles(torch.float64, clients=range(k, k + 1)) for k in range(problem.clients)
    ]
    eta, alpha, beta, gamma = (
        given.step_size, given.momentum, given.step_factor, given.inner_momentum
    )  # fmt: skip
    x = [problem.start() for _ in devices]
    u, m = [None] * len(devices), [None] * len(devices)
    for t in range(rounds * given.local_steps):  # 1
        draws.t = t
        inner_law, outer_law = devices[0].inner_law(1), devices[0].outer_law(1)
        xi = draws.draw(inner_law, "xi")
        zeta = draws.draw(outer_law, "zeta")
        for k, device in enumerate(devices):
            own = None if xi is None else xi[k : k + 1]
            other = None if zeta is None else zeta[k : k + 1]
            if given.samples == "one":
                other = own[:, -1:]  # the sign of the gradient's noise
            value, transposed = device.inner(torch.from_numpy(x[k])[None, :, None], own)
            g = numpy_of(value)
            factor = np.ones(len(g))  # section 5.1: some of the tasks, each with its own u_i
            if given.sampled_tasks:
                draw = draws.draw(Subset(given.task_blocks, given.sampled_tasks), "tasks")
                share = given.task_blocks / given.sampled_tasks
                factor = share * np.repeat(draw[k, :, 0].numpy(), len(g) // given.task_blocks)
            moved = g if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * g  # 3, 7
            u[k] = moved if t == 0 else np.where(factor > 0, moved, u[k])
            outer = device.outer_grad(torch.from_numpy(u[k])[None, :, None], other)
            outer = outer * torch.from_numpy(factor)[None, :, None]
            z = numpy_of(transposed(outer))  # 4, 8
            m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # 5, 9
            x[k] = x[k] - beta * eta * m[k]  # 11
        if (t + 1) % given.local_steps == 0:  # 12
            for name, held in (("u", u), ("m", m), ("x", x)):  # 13, 14, 15
                if name in given.averaged:
                    held[:] = [np.mean(held, 0)] * len(held)
    return x, u, m


@pytest.mark.parametrize("averaged", ["umx", "mx", "x", "ux", ""])
@pytest.mark.parametrize("samples", ["one", "two"])
@pytest.mark.parametrize("kernels", [False, True])
def test_local_scgdm_is_the_printed_pseudo_code(averaged, samples, kernels):
    given = LocalSCGDM(
        local_steps=3, step_size=0.2, momentum=2.0, inner_momentum=3.0, step_factor=0.7,
        samples=samples, averaged=averaged,
    )  # fmt: skip
    ctx = sampled_context(NOISY, NAMES, replicates=1)
    made = run(NOISY, given, ctx, rounds=ROUNDS, kernels=kernels).state
    for tensor, written in zip(made, written_again(NOISY, given), strict=True):
        np.testing.assert_allclose(tensor[..., 0].numpy(), written, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize(("tasks", "sampled"), [(2, 1), (4, 3), (4, 4), (2, 0)])
def test_sampled_tasks_are_the_pseudo_code_with_an_inner_state_each(tasks, sampled, kernels):
    problem = dataclasses.replace(NOISY, dim=4, inner_dim=4)
    given = LocalSCGDM(
        local_steps=3, momentum=2.0, inner_momentum=3.0, averaged="ux", task_blocks=tasks,
        sampled_tasks=sampled,
    )  # fmt: skip
    ctx = sampled_context(problem, NAMES, replicates=1)
    made = run(problem, given, ctx, rounds=ROUNDS, kernels=kernels).state
    for tensor, written in zip(made, written_again(problem, given), strict=True):
        np.testing.assert_allclose(tensor[..., 0].numpy(), written, rtol=1e-12, atol=1e-14)
    served = kernel_of(given, problem) is not None
    assert served == (sampled in (0, tasks))  # all tasks are what it always did
    if not served:
        others = written_again(problem, dataclasses.replace(given, task_blocks=1, sampled_tasks=0))
        assert np.abs(made.x[..., 0].numpy() - others[0]).max() > 1e-4


def test_what_is_sent_is_counted():
    problem = BoundedComposition(clients=2, dim=3, inner_dim=2)
    for averaged, reals in (("umx", 8), ("x", 3), ("mx", 6)):
        given = LocalSCGDM(local_steps=4, averaged=averaged)
        made = run(problem, given, sampled_context(problem, ("r",)), rounds=5)
        assert (made.rounds, made.reals) == (5, 5 * reals)
    assert (
        run(problem, LocalSCGDM(averaged=""), sampled_context(problem, ("r",)), rounds=5).rounds
        == 0
    )


def test_one_sample_needs_a_problem_that_has_one():
    problem = MAML(gradient_noise=0.2)
    with pytest.raises(DriftproofError, match="sampled apart"):
        run(problem, LocalSCGDM(samples="one"), sampled_context(problem, ("o",)), rounds=1)
    with pytest.raises(DriftproofError, match="αη < 1"):
        LocalSCGDM(step_size=0.5, momentum=2.0)
