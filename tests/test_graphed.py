"""Law: a round that is recorded once and replayed with new draws equals its plain steps.

Here the recording is made by torch.fx: the operations alone, with every number that Python worked
out frozen as it was, which is what a CUDA graph is.
"""

from __future__ import annotations

import gc

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from synthetic.problems import KLDRO, BiasAmplification, QuadraticBilevel, QuadraticMinimax
from tests.leaves import fits, members, problems
from toolkit.algorithms import (
    DRFL,
    GCIVR,
    ComFedL,
    CompositionalFedAvg,
    FedAvg,
    FedInn,
    FedNest,
)
from toolkit.engines import graphed
from toolkit.engines.any_round import StepOfAnyRound, Unrepeatable
from toolkit.federation import sampled_context

ROUNDS = 4
PLAIN = graphed.plain(bounded=True)


def by_fx(function):
    """Record the operations of a function, and nothing of its Python."""
    module = make_fx(function)()
    made = tuple(x.clone() for x in function())

    def replay():
        for held, new in zip(made, module(), strict=True):
            held.copy_(new)

    return replay, made


def rounds(algorithm, problem, *, recorded, replicates=3, meddle=None, **more):
    """Run some rounds; return the states, the context and the largest norm of the last."""
    ctx = sampled_context(problem, ("graph",), replicates=replicates)
    ctx.local_steps, ctx.horizon = algorithm.local_steps, ROUNDS
    oracles = problem.oracles(ctx.dtype, ctx.device, ctx.local)
    state, made, reach = algorithm.init(ctx, oracles, torch.from_numpy(problem.start())), [], 0.0
    for s in range(ROUNDS):
        ctx.t, steps = s * algorithm.local_steps, algorithm.local_steps
        if recorded:
            state, reach = graphed.advance(
                ctx, oracles, algorithm, state, steps, capture=by_fx, **more
            )
        else:
            state, reach = graphed.directly(
                ctx, oracles, algorithm, state, steps, body=PLAIN, bounded=True
            )
        made.append(state)
        for recording in graphed._RECORDED.get(oracles, {}).values():
            if recording is not None and meddle is not None:
                meddle(recording)
    return made, ctx, reach, graphed._RECORDED.get(oracles, {})


def poison(recording):
    for x in (*recording.state, *(draws.values for draws in recording.draws), *recording.outputs):
        x.fill_(-(2**40)) if x.dtype == torch.int64 else x.fill_(torch.nan)


def agree(made, expected):
    for a, b in zip(made, expected, strict=True):
        for x, y in zip(a, b, strict=True):
            torch.testing.assert_close(x, y, rtol=1e-12, atol=1e-13)


def first_problem(algorithm):
    return next(p.values[0] for p in problems() if fits(algorithm, p.values[0]))


def differs_between_rounds(algorithm) -> bool:
    """A decaying step; epochs that are no part of a round; a look at what the server drew."""
    looks = getattr(algorithm, "series", "summed") == "sampled" and algorithm.terms > 0
    looks = looks and not isinstance(algorithm, FedInn)
    return bool(getattr(algorithm, "decay", 0)) or looks or isinstance(algorithm, GCIVR | DRFL)


@pytest.mark.parametrize("algorithm", members("algorithm"))
def test_a_recorded_round_equals_its_plain_steps(algorithm):
    """And nothing is refused but what differs between rounds."""
    problem = first_problem(algorithm)
    expected, plain, _, _ = rounds(algorithm, problem, recorded=False)
    made, ctx, _, held = rounds(algorithm, problem, recorded=True, meddle=poison)
    agree(made, expected)
    assert (ctx.rounds, ctx.reals, ctx.t) == (plain.rounds, plain.reals, plain.t)
    assert [recording is None for recording in held.values()] == [differs_between_rounds(algorithm)]


REFUSED = [
    # a decaying step size; the length of a Neumann series that the server draws
    (CompositionalFedAvg(local_steps=3, decay=1.0), BiasAmplification()),
    (FedNest(terms=3), QuadraticBilevel()),
]


@pytest.mark.parametrize(("algorithm", "problem"), REFUSED)
def test_what_differs_between_rounds_is_taken_step_by_step(algorithm, problem):
    expected, _, _, _ = rounds(algorithm, problem, recorded=False)
    made, _, _, held = rounds(algorithm, problem, recorded=True)
    assert list(held.values()) == [None]
    agree(made, expected)


def test_without_the_tick_a_decaying_step_size_would_be_frozen(monkeypatch):
    algorithm, problem = REFUSED[0]
    expected, _, _, _ = rounds(algorithm, problem, recorded=False)
    monkeypatch.setattr(
        "toolkit.engines.staged.StepOfAnyRound", lambda offset, steps: steps + offset
    )
    made, _, _, _ = rounds(algorithm, problem, recorded=True)
    with pytest.raises(AssertionError):
        agree(made, expected)


@pytest.mark.parametrize("spoilt", ["state", "draws"])
def test_a_round_that_is_not_given_its_inputs_is_seen(spoilt, monkeypatch):
    algorithm = FedAvg(local_steps=3, participation=0.5)
    problem = QuadraticMinimax(clients=4, gradient_noise=0.3)
    expected, _, _, _ = rounds(algorithm, problem, recorded=False)
    if spoilt == "draws":
        monkeypatch.setattr("toolkit.engines.staged.Draws.fill", lambda self, ctx, first: None)
    else:
        monkeypatch.setattr(torch.Tensor, "copy_", lambda self, other: self)
    made, _, _, _ = rounds(algorithm, problem, recorded=True)
    with pytest.raises(AssertionError):
        agree(made, expected)


@pytest.mark.parametrize("participation", [1.0, 0.5])
def test_the_largest_norm_is_that_of_the_plain_steps(participation):
    algorithm = ComFedL(local_steps=3, step_size=0.8, batch=2, participation=participation)
    problem = KLDRO(clients=4)
    _, _, expected, _ = rounds(algorithm, problem, recorded=False)
    _, _, reach, _ = rounds(algorithm, problem, recorded=True, meddle=poison, bounded=True)
    assert reach == pytest.approx(expected, rel=1e-12)
    assert expected > 0
    assert rounds(algorithm, problem, recorded=True)[2] == 0.0


def test_a_context_of_one_run_is_not_kept_for_another():
    algorithm, problem = FedAvg(local_steps=2), QuadraticMinimax(gradient_noise=0.3)
    ends = [
        rounds(algorithm, problem, recorded=recorded, replicates=replicates)[0][-1].w
        for replicates in (2, 5)
        for recorded in (True, False)
    ]
    torch.testing.assert_close(ends[0], ends[1])
    torch.testing.assert_close(ends[2], ends[3])


def test_a_recording_ends_with_its_oracles():
    algorithm, problem = FedAvg(local_steps=2), QuadraticMinimax()
    gc.collect()
    before = len(graphed._RECORDED)
    held = rounds(algorithm, problem, recorded=True)[3]
    gc.collect()
    assert len(graphed._RECORDED) == before
    assert len(held) == 1


def test_a_tick_answers_what_all_rounds_but_the_first_agree_on():
    for steps in (1, 4, 6):
        for offset in range(steps):
            step, times = (
                StepOfAnyRound(offset, steps=steps),
                [s * steps + offset for s in range(1, 5)],
            )
            for divisor in (d for d in range(1, steps + 1) if steps % d == 0):
                assert {step % divisor} == {t % divisor for t in times}
                assert {(step + 1) % divisor} == {(t + 1) % divisor for t in times}
            assert step > 0
            assert step != 0
            assert bool(step)
            assert step - (step - offset) == offset
            assert step >= steps + offset - 1


@pytest.mark.parametrize(
    "asked",
    [
        lambda t: (1 + t) ** 0.5,
        lambda t: 1 / (1 + t),
        lambda t: t % 4,
        lambda t: t < 5,
        lambda t: float(t),
        lambda t: range(t),
        lambda t: f"{t}",
        lambda t: t // 3,
        lambda t: t + 0.5,
        lambda t: [0] * t,
    ],
)
def test_a_tick_refuses_what_differs_between_rounds(asked):
    asked(7)
    with pytest.raises(Unrepeatable):
        asked(StepOfAnyRound(1, steps=3))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU, for a real CUDA graph")
@pytest.mark.parametrize("algorithm", members("algorithm"))
def test_a_cuda_graph_equals_the_plain_steps(algorithm):
    problem, ends = first_problem(algorithm), []
    for recorded in (True, False):
        ctx = sampled_context(problem, ("graph",), replicates=3, device="cuda")
        ctx.local_steps, ctx.horizon = algorithm.local_steps, ROUNDS
        oracles = problem.oracles(ctx.dtype, ctx.device, ctx.local)
        state = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
        for s in range(ROUNDS):
            ctx.t = s * algorithm.local_steps
            of = ctx, oracles, algorithm, state, algorithm.local_steps
            state, _ = graphed.advance(*of) if recorded else graphed.directly(*of, body=PLAIN)
        ends.append((state,))
    agree(*ends)
