"""Laws of the fused round of FedAvg on the quadratic minimax families."""

from dataclasses import replace

import numba
import pytest
import torch
from torch import Tensor

from driftproof.synthetic.kernels import _nested_minimax
from driftproof.synthetic.kernels.minimax_local_steps import advance
from driftproof.synthetic.problems import QuadraticMinimax, RandomMinimax
from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.algorithms.fedavg import State
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.kernels.registry import Fused, fused_for
from tests.kernel_cases import Case

KERNEL: Fused = advance


def quadratic(clients, dim, noise):
    return QuadraticMinimax(clients=clients, dim=dim, heterogeneity=0.3, gradient_noise=noise)


def general(clients, dim, noise):
    return RandomMinimax(clients=clients, dim=dim, matrices_drawn="general", coupling=1 / dim)


def diagonal(clients, dim, noise):
    return RandomMinimax(clients=clients, dim=dim, coupling=1.0, entry=1.0)


def case_of(problem, algorithm, replicates, dtype=torch.float64, first=0):
    steps = algorithm.local_steps
    return Case(KERNEL, algorithm, problem, replicates, dtype, first=first * steps, steps=steps)


def fused(case: Case, state: State) -> Tensor:
    (made, reach), _ = case.fused(state, "numba")
    assert reach == 0.0
    return made.w


CASES = [
    case_of(quadratic(21, 13, 0.4), FedAvg(local_steps=3), 64),
    case_of(quadratic(21, 13, 0.4), FedAvg(local_steps=3), 64, torch.float32),
    case_of(quadratic(5, 6, 0.4), FedAvg(local_steps=4, participation=0.5), 40, first=1),
    case_of(general(20, 7, 0.0), FedAvg(local_steps=3), 1),
    case_of(quadratic(37, 10, 0.5), FedAvg(local_steps=5, batch=3), 2, torch.float32, first=3),
    case_of(diagonal(33, 9, 0.0), FedAvg(local_steps=2, participation=0.3), 9, first=2),
]


@pytest.mark.parametrize("case", CASES)
def test_the_same_bits_on_one_thread_and_on_two(case, monkeypatch):
    monkeypatch.setattr(
        "driftproof.synthetic.kernels._minimax_lanes.LEAST", 0
    )  # a second one is woken
    ends, before = [], numba.get_num_threads()
    for threads in (1, 2):
        numba.set_num_threads(threads)
        ends.append(fused(case, case.state()))
    numba.set_num_threads(before)
    assert torch.equal(*ends)


@pytest.mark.parametrize("case", CASES)
def test_the_same_bits_however_many_steps_are_drawn_at_a_time(case, monkeypatch):
    ends = []
    for draws in (1 << 23, 1, 4 * case.problem.clients * case.replicates):
        monkeypatch.setattr("driftproof.synthetic.kernels.minimax_local_steps.DRAWS", draws)
        ends.append(fused(case, case.state()))
    assert torch.equal(ends[0], ends[1])
    assert torch.equal(ends[0], ends[2])


@pytest.mark.parametrize("case", [c for c in CASES if c.replicates > 32])
def test_a_replicate_in_tiles_does_not_depend_on_its_neighbours(case):
    state = case.state()
    some = fused(replace(case, replicates=37), State(state.w[..., :37]))
    assert torch.equal(some, fused(case, state)[..., :37])


@pytest.mark.parametrize("replicates", [1, 64])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda of: of._replace(matrices=of.matrices.transpose(0, 2, 1).copy()),
        lambda of: of._replace(offsets=of.offsets * (1 + 1e-9)),
        lambda of: of._replace(regulariser=of.regulariser * (1 + 1e-9)),
        lambda of: of._replace(diagonal=True),
    ],
    ids=["transposed", "other offsets", "other regulariser", "taken for diagonal"],
)
def test_a_round_of_other_data_would_be_seen(spoil, replicates, monkeypatch):
    """Negative control of the comparison."""
    case = case_of(quadratic(4, 6, 0.0), FedAvg(local_steps=3), replicates)
    start, right = case.state(), _nested_minimax.data_of
    reference = case.plain(start)[0][-1].w

    def off():
        return case.units(fused(case, start), reference, start.w)

    assert off() < 10
    monkeypatch.setattr(_nested_minimax, "data_of", lambda *seen: spoil(right(*seen)))
    assert off() > KERNEL.tolerance


def test_clients_beyond_the_cohort_are_left_alone():
    """What overflows in one of them shows only in replicates whose cohort has it."""
    case = case_of(quadratic(4, 3, 0.0), FedAvg(participation=0.5), 64)
    state = case.state()
    state.w[0] = torch.inf
    (made, _), ctx = case.fused(state, "numba")
    assert ctx.mask is not None
    assert torch.equal(made.w.isfinite().all(1)[0], ctx.mask[0, 0] == 0)


def test_what_overflows_is_told_by_the_federation():
    """And at the step at which plain steps do: after it, not at the end of its round."""
    problem, algorithm = quadratic(3, 4, 0.0), FedAvg(local_steps=3, step_size=40.0)
    ends = [
        run(problem, algorithm, sampled_context(problem, ("o",)), rounds=400, kernels=kernels)
        for kernels in (True, False)
    ]
    assert ends[0].bad_step is not None
    assert ends[0].bad_step // 3 == ends[1].bad_step // 3


class Ball(QuadraticMinimax):
    """A family whose constants hold on a ball only."""

    @property
    def radius(self):
        return 0.5


def test_where_the_largest_norm_is_asked_for_steps_run_singly():
    problem, algorithm = Ball(clients=2, dim=2, distance=1.0), FedAvg(local_steps=2)
    ctx = sampled_context(problem, ("b",))
    assert fused_for(algorithm, problem, ctx) is None
    assert run(problem, algorithm, ctx, rounds=2).reach > 0.5
    served = QuadraticMinimax(clients=2, dim=2)
    assert fused_for(algorithm, served, sampled_context(served, ("b",))) is not None
