"""Laws of the fused round of FedAvg on the quadratic minimax families."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from driftproof.synthetic.kernels import _nested_minimax
from driftproof.synthetic.kernels.minimax_local_steps import advance
from driftproof.synthetic.problems import QuadraticMinimax, RandomMinimax
from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.algorithms.fedavg import State
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.kernels.registry import Fused, fused_for
from driftproof.toolkit.problem import Problem

KERNEL: Fused = advance
NUMBA = KERNEL.variants["numba"]


@dataclass(frozen=True)
class Case:
    problem: Problem
    algorithm: FedAvg
    replicates: int
    dtype: torch.dtype
    layout: str
    round: int

    def context(self, replicates=None):
        size = self.replicates if replicates is None else replicates
        made = sampled_context(self.problem, ("k",), replicates=size, dtype=self.dtype)
        made.t = self.round * self.algorithm.local_steps
        return made

    def state(self):
        """Where a round starts: clients agree, or each is elsewhere; in any layout."""
        random = torch.Generator().manual_seed(3)
        shape = self.problem.clients, 2 * self.problem.dim, self.replicates
        w = torch.randn(shape, generator=random, dtype=torch.float64).to(self.dtype)
        if self.layout == "agree":
            return State(w[:1].expand(shape))
        if self.layout == "replicates agree too":
            return State(w[:1, :, :1].expand(shape))
        if self.layout == "permuted":
            return State(w.permute(2, 0, 1).contiguous().permute(1, 2, 0))
        return State(torch.cat([w, w], 1)[:, 1::2] if self.layout == "strided" else w)


def quadratic(clients, dim, noise):
    return QuadraticMinimax(clients=clients, dim=dim, heterogeneity=0.3, gradient_noise=noise)


def general(clients, dim, noise):
    return RandomMinimax(clients=clients, dim=dim, matrices_drawn="general", coupling=1 / dim)


def diagonal(clients, dim, noise):
    return RandomMinimax(clients=clients, dim=dim, coupling=1.0, entry=1.0)


@st.composite
def cases(draw):
    family = draw(st.sampled_from([quadratic, quadratic, general, diagonal]))
    noise = draw(st.sampled_from([0.0, 0.4]))
    problem = family(draw(st.integers(1, 40)), draw(st.integers(1, 40)), noise)
    algorithm = FedAvg(
        local_steps=draw(st.integers(1, 5)), step_size=draw(st.sampled_from([0.02, 0.3])),
        batch=draw(st.integers(1, 3)), participation=draw(st.sampled_from([1.0, 0.6, 0.1])),
        weighting=draw(st.sampled_from(["uniform", "samples"])),
    )  # fmt: skip
    layouts = ["agree", "replicates agree too", "permuted", "strided", "contiguous"]
    return Case(
        problem, algorithm, draw(st.integers(1, 3) | st.integers(1, 64)),
        draw(st.sampled_from([torch.float64, torch.float32])), draw(st.sampled_from(layouts)),
        draw(st.integers(0, 2)),
    )  # fmt: skip


def fused(case: Case, state: State, oracles, ctx) -> Tensor:
    made, reach = NUMBA(ctx, oracles, case.algorithm, state, case.algorithm.local_steps)
    assert reach == 0.0
    return made.w


def plain(case: Case, state: State, oracles, ctx) -> Tensor:
    first = ctx.t
    for ctx.t in range(first, first + case.algorithm.local_steps):
        state = case.algorithm.step(ctx, oracles, state)
    return state.w


def units(made: Tensor, reference: Tensor) -> float:
    """The largest difference in units in the last place of the largest entry."""
    off = (made - reference).abs().max() / reference.abs().max()
    return float(off) / torch.finfo(made.dtype).eps


@settings(max_examples=300)
@given(cases())
def test_the_fused_round_is_that_of_plain_steps(case):
    oracles = case.problem.oracles(case.dtype)
    ends, contexts = [], []
    for way in (fused, plain):
        ctx, state = case.context(), case.state()
        before = state.w.clone()
        ends.append(way(case, state, oracles, ctx))
        contexts.append(ctx)
        assert torch.equal(state.w, before)
    assert ends[0].shape == ends[1].shape
    assert ends[0].dtype == case.dtype
    assert units(*ends) < KERNEL.tolerance / 8  # which is for rounds of more steps and rows
    for name in ("t", "rounds", "reals"):
        assert getattr(contexts[0], name) == getattr(contexts[1], name)
    assert (contexts[0].mask is None) == (contexts[1].mask is None)
    if contexts[0].mask is not None:
        assert torch.equal(contexts[0].mask, contexts[1].mask)


CASES = [
    Case(quadratic(21, 13, 0.4), FedAvg(local_steps=3), 64, torch.float64, "agree", 0),
    Case(quadratic(21, 13, 0.4), FedAvg(local_steps=3), 64, torch.float32, "agree", 0),
    Case(quadratic(5, 6, 0.4), FedAvg(local_steps=4, participation=0.5), 40, torch.float64,
         "contiguous", 1),
    Case(general(20, 7, 0.0), FedAvg(local_steps=3), 1, torch.float64, "agree", 0),
    Case(quadratic(37, 10, 0.5), FedAvg(local_steps=5, batch=3), 2, torch.float32, "contiguous", 3),
    Case(diagonal(33, 9, 0.0), FedAvg(local_steps=2, participation=0.3), 9, torch.float64,
         "agree", 2),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_same_bits_on_one_thread_and_on_two(case, monkeypatch):
    monkeypatch.setattr(
        "driftproof.synthetic.kernels._minimax_lanes.LEAST", 0
    )  # a second one is woken
    oracles, ends = case.problem.oracles(case.dtype), []
    before = numba.get_num_threads()
    for threads in (1, 2):
        numba.set_num_threads(threads)
        ends.append(fused(case, case.state(), oracles, case.context()))
    numba.set_num_threads(before)
    assert torch.equal(*ends)


@pytest.mark.parametrize("case", CASES)
def test_the_same_bits_however_many_steps_are_drawn_at_a_time(case, monkeypatch):
    oracles, ends = case.problem.oracles(case.dtype), []
    for draws in (1 << 23, 1, 4 * case.problem.clients * case.replicates):
        monkeypatch.setattr("driftproof.synthetic.kernels.minimax_local_steps.DRAWS", draws)
        ends.append(fused(case, case.state(), oracles, case.context()))
    assert torch.equal(ends[0], ends[1])
    assert torch.equal(ends[0], ends[2])


@pytest.mark.parametrize("case", [c for c in CASES if c.replicates > 32])
def test_a_replicate_in_tiles_does_not_depend_on_its_neighbours(case):
    oracles, state = case.problem.oracles(case.dtype), case.state()
    whole = fused(case, state, oracles, case.context())
    some = State(state.w[..., :37])
    assert torch.equal(fused(case, some, oracles, case.context(37)), whole[..., :37])


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
    case = Case(quadratic(4, 6, 0.0), FedAvg(local_steps=3), replicates, torch.float64, "agree", 0)
    oracles, right = case.problem.oracles(case.dtype), _nested_minimax.data_of
    reference = plain(case, case.state(), oracles, case.context())
    assert units(fused(case, case.state(), oracles, case.context()), reference) < 10
    monkeypatch.setattr(_nested_minimax, "data_of", lambda *seen: spoil(right(*seen)))
    oracles = case.problem.oracles(case.dtype)  # what a kernel keeps for the others is right
    assert units(fused(case, case.state(), oracles, case.context()), reference) > KERNEL.tolerance


def test_clients_beyond_the_cohort_are_left_alone():
    """What overflows in one of them shows only in replicates whose cohort has it."""
    case = Case(quadratic(4, 3, 0.0), FedAvg(participation=0.5), 64, torch.float64, "contiguous", 0)
    oracles, state, ctx = case.problem.oracles(case.dtype), case.state(), case.context()
    state.w[0] = torch.inf
    made = fused(case, state, oracles, ctx)
    assert ctx.mask is not None
    assert torch.equal(made.isfinite().all(1)[0], ctx.mask[0, 0] == 0)


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


@pytest.mark.parametrize("batch", [1, 5])
def test_the_cost_counts_what_a_round_asks_for(batch):
    problem, algorithm = quadratic(10, 20, 0.3), FedAvg(local_steps=4, batch=batch)
    cost = KERNEL.cost
    assert cost is not None
    whole, half = (
        cost(member, problem, 64, 8)
        for member in (algorithm, FedAvg(local_steps=4, batch=batch, participation=0.5))
    )
    assert 1 <= whole.flops / (4 * 20**2 * 10 * 64 * 4) < 1.2
    assert half.flops == whole.flops / 2
    ctx, law = sampled_context(problem, ("c",)), problem.oracles(torch.float64).field_law(batch)
    asked = sum(
        ctx._words.draw(law, "xi", block=0, step=t, clients=ctx.local).size for t in range(4)
    )
    assert whole.words == asked
    assert cost(algorithm, diagonal(10, 20, 0.0), 64, 8).flops < whole.flops / 4
    assert cost(algorithm, diagonal(10, 20, 0.0), 64, 8).words == 0
