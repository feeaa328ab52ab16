"""Federation: runs any algorithm on any problem in any context, and takes a measure on the way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.draws import BLOCK, Words
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.engines.branched import expected_transition
from driftproof.toolkit.engines.enumerated import Drew, EnumeratedContext, NoiselessContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.kernels.registry import Variant, fused_for
from driftproof.toolkit.measure import MOMENTS, Moment
from driftproof.toolkit.memory import keep_freed_memory
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.recorder import Recorder
from driftproof.toolkit.rounded import stochastic_rounding
from driftproof.toolkit.stretches import finite, run_stretches
from driftproof.toolkit.untouched import contents, in_place, written


class Taken:
    """What reads the measure and its parts off ``taken``."""

    taken: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """The measure, [comparisons, replicates]."""
        values: np.ndarray = self.taken[0]
        return values

    @property
    def parts(self) -> np.ndarray:
        """What else a right side names, [parts, comparisons, replicates]."""
        return self.taken[1:]


@dataclass(frozen=True)
class Outcome(Taken):
    """What one run of one block gave.

    Attributes:
        how: "each" or "average", and at which moments (empty: nothing was measured).
        names: the parts, what else a right side names.
        taken: the measure and the parts, [1 + parts, comparisons, replicates].
        weights: the replicates' weights, [replicates].
        at, trace: moments [points] and measure and parts there, [1 + parts, points, replicates].
        bad_step: the first step after which an iterate was not finite (None: none).
        reach: the largest norm of any client's iterate (0 where nobody asked).
        rounds: counted rounds of communication.
        reals: reals that one client sent.
        state: the final state.
    """

    how: tuple[str, ...]
    names: tuple[str, ...]
    taken: np.ndarray
    weights: np.ndarray
    at: np.ndarray
    trace: np.ndarray
    bad_step: int | None
    reach: float
    rounds: int
    reals: int
    state: Any


def sampled_context(
    problem: Problem,
    names: tuple[str, ...],
    *,
    block: int = 0,
    replicates: int = BLOCK,
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
) -> BatchedContext:
    """Return the batched context of one block of a case; ``names`` key its draws."""
    return BatchedContext(
        Words(*names),
        problem.clients,
        replicates=replicates,
        block=block,
        dtype=dtype,
        device=device,
    )


def run(
    problem: Problem,
    algorithm: Algorithm,
    ctx: BatchedContext,
    *,
    rounds: int,
    left: Callable[[Any], Any] | None = None,
    watch: Callable[[int, Any], bool | None] | None = None,
    kernels: bool = True,
    jitter: int | None = None,
    begun: tuple[int, Any] | None = None,
    apart: bool = False,
) -> Outcome:
    """Run ``rounds`` rounds of ``algorithm`` on ``problem`` in the context ``ctx``.

    Args:
        left: a claim's measure (None: none is taken).
        watch: called with the number and the state of each round as it starts, and at the end.
            If it returns False, the run ends there.
        kernels: whether a fused kernel may replace repeated steps where no measure looks inside.
        jitter: seed of random changes of the state, about a unit in the last place after each
            step, and of numbers inside the measure (Monte Carlo arithmetic); None: none.
        begun: the round to go on from and its state at the start, of a run that was broken off
            (None: from the beginning).
        apart: look whether the measure takes replicates together, by states that no run has.
    """
    if algorithm.needs not in OFFERS[problem.offers]:
        own = type(problem).__name__  # other members of the family may fit
        fit = [name + " with other parameters" * (name == own) for name in fitting(algorithm.needs)]
        raise DriftproofError(
            f"{type(algorithm).__name__} on {problem}, which offers {problem.offers} oracles",
            f"a problem with {algorithm.needs} oracles",
            f"take one of {', '.join(fit)}" if fit else "claim it of a class: classes=over(…)",
        )
    keep_freed_memory()
    shake = _Jitter(jitter) if jitter is not None else None
    tau = ctx.local_steps = algorithm.local_steps
    ctx.horizon = rounds
    oracles = problem.oracles(ctx.dtype, ctx.device, ctx.local)
    since, state = begun or (0, algorithm.init(ctx, oracles, torch.from_numpy(problem.start())))
    state = shake(state) if shake is not None else state
    begin = Moment(ctx, problem, state, state)
    recorder = None
    if left is not None:
        left = left if shake is None else stochastic_rounding(left, shake.moved)
        steps = rounds * tau
        moments = dict.fromkeys(MOMENTS, steps) | {("round",): rounds}
        still = begin._replace(before=state, previous=state)
        recorder = Recorder(
            left,
            moments,
            still,
            lambda: _trial(still, algorithm, oracles),
            repeatable=not shake,
            apart=apart,
        )
    reach = 0.0 if problem.radius is None else _largest(getattr(state, algorithm.iterate))
    bad_step = None
    fused = fused_for(algorithm, problem, ctx) if kernels else None
    between = watch is None and (recorder is None or recorder.seen_between)
    if fused is not None and fused.many_rounds and between:
        state, met, bad_step = run_stretches(
            fused, begin, algorithm, oracles, recorder, rounds, jitter
        )
        return _outcome(ctx, recorder, bad_step, max(reach, met), state)
    by_rounds = recorder is None or recorder.how in (("each", "round"), ("average", "round"))
    if fused is not None and (fused.many_rounds or shake is not None or not by_rounds):
        fused = None
    previous = state
    for s in range(since, rounds):
        ctx.t = s * tau
        if watch is not None and watch(s, state) is False:
            break
        begin = Moment(ctx, problem, state, state, s)
        if recorder is not None and recorder.axes == ("round",):
            recorder.take(begin)
        if recorder is not None and recorder.lost:
            bad_step = max(0, s * tau - 1)
            break
        state, previous, reached = _round(
            begin, previous, algorithm, oracles, recorder, fused, shake
        )
        reach = max(reach, reached)
        if not finite(state):
            bad_step = (s + 1) * tau - 1
            if ctx.replayable:
                bad_step = _first_bad_step(begin, algorithm, oracles)
            break
        if recorder is not None and recorder.lost:
            bad_step = (s + 1) * tau - 1
            break
    else:
        if watch is not None:
            watch(rounds, state)
    return _outcome(ctx, recorder, bad_step, reach, state)


def numbers_after(
    problem: Problem, algorithm: Algorithm, *names: str, rounds: int = 1
) -> list[float]:
    """Return what the first client holds after a run of one replicate, to 5 places.

    Args:
        names: fields of the state, whose numbers follow each other.
    """
    ctx = sampled_context(problem, ("doc",), replicates=1)
    state = run(problem, algorithm, ctx, rounds=rounds).state
    return [round(x, 5) for name in names for x in getattr(state, name)[0].ravel().tolist()]


def fitting(needs: str) -> list[str]:
    """Return the classes of problems of which some member has the oracles that are needed."""
    return [
        leaf.symbol
        for leaf in leaves("problem").values()
        if any(needs in OFFERS[member.offers] for member in leaf.load().examples())
    ]


def _outcome(
    ctx: BatchedContext, recorder: Recorder | None, bad_step: int | None, reach: float, state: Any
) -> Outcome:
    trace = recorder.trace if recorder is not None else []
    taken = recorder.result() if recorder is not None else np.empty((1, 0, ctx.replicates))
    shape = (len(trace), len(taken), ctx.replicates)
    return Outcome(
        how=recorder.how if recorder is not None else (),
        names=recorder.names if recorder is not None else (),
        taken=taken,
        weights=ctx.weights.cpu().numpy(),
        at=np.array([at for at, _ in trace], dtype=np.int64),
        trace=np.moveaxis(np.array([value for _, value in trace]).reshape(shape), 0, 1),
        bad_step=bad_step,
        reach=reach,
        rounds=ctx.rounds,
        reals=ctx.reals,
        state=state,
    )


def _trial(still: Moment, algorithm: Algorithm, oracles: Any) -> Moment:
    """Return the moment after one step that does not count: a measure may look at its marks."""
    ctx = still.ctx
    counted, ctx.t = (ctx.rounds, ctx.reals), 0
    state = algorithm.step(ctx, oracles, still.state)
    ctx.rounds, ctx.reals = counted
    return still._replace(state=state)


def _round(
    begin: Moment,
    previous: Any,
    algorithm: Algorithm,
    oracles: Any,
    recorder: Recorder | None,
    fused: Variant | None,
    shake: _Jitter | None,
) -> tuple[Any, Any, float]:
    """Run one round; return the states after it and before its last step, and the largest norm met.

    Args:
        begin: the start of the round.
        previous: the state before the last step of the round before.
    """
    ctx, state, tau, reach = begin.ctx, begin.state, algorithm.local_steps, 0.0
    if fused is not None:
        state, reach = fused(ctx, oracles, algorithm, state, tau)
        return state, None, reach
    first, taken = ctx.t, recorder.axes if recorder is not None else None
    given_past = recorder is not None and recorder.how[0] == "given past"
    for j in range(tau):
        ctx.t = first + j
        before = state
        if recorder is not None:
            if taken == ("step",):
                recorder.take(begin._replace(state=state, local_step=j))
            if given_past:
                then = begin._replace(state=state, local_step=j, previous=previous)
                expected = expected_transition(then, algorithm, oracles, recorder.measure)
                if expected is not None:
                    recorder.add(expected)
        kept = contents(before)
        state = algorithm.step(ctx, oracles, state)
        if written(kept, before):
            raise in_place(algorithm)
        if shake is not None:
            state = shake(state)
        if recorder is not None:
            after = Moment(ctx, begin.problem, state, begin.start, begin.round, j + 1)
            if taken == ("transition",) and not given_past:
                recorder.take(after._replace(before=before, previous=previous))
            elif taken == ("round", "local_step"):
                recorder.take(after)
        previous = before
        if begin.problem.radius is not None:
            reach = max(reach, _reach_of_step(algorithm, ctx, state))
    return state, previous, reach


class _Jitter:
    """Random rounding: each entry of a state moves by about a unit in its last place."""

    def __init__(self, seed: int) -> None:
        self._random = torch.Generator().manual_seed(seed)

    def __call__(self, state: Any) -> Any:
        return type(state)(*(self.moved(x) for x in state))

    def moved(self, x: Tensor) -> Tensor:
        """Move each entry at random."""
        unit = torch.finfo(x.dtype).eps
        wrapped = torch._C._functorch.is_functorch_wrapped_tensor(x)
        with temporarily_clear_interpreter_stack():  # under a user's vmap nothing may be drawn
            up = torch.empty(x.shape, dtype=x.dtype) if wrapped else torch.empty_like(x).cpu()
            up = up.bernoulli_(0.5, generator=self._random).to(x.device)
        return torch.addcmul(x, x, torch.rsub(up, -unit, alpha=-2 * unit))  # ± unit, in one go


def _reach_of_step(algorithm: Algorithm, ctx: BatchedContext, state: Any) -> float:
    """Return the largest norm after a step, of the iterate before it was averaged too."""
    x, marked = getattr(state, algorithm.iterate), ctx.marks.get(algorithm.iterate)
    reach = _largest(x)
    return reach if marked is None or marked is x else max(reach, _largest(marked))


def _largest(x: Tensor) -> float:
    return sqrt((x * x).sum(1).max().item())


def _first_bad_step(begin: Moment, algorithm: Algorithm, oracles: Any) -> int:
    """Repeat a round step by step (its draws are keyed) and return the first step gone wrong."""
    ctx, state, tau = begin.ctx, begin.state, algorithm.local_steps
    counted = ctx.rounds, ctx.reals
    for ctx.t in range(begin.round * tau, (begin.round + 1) * tau):
        state = algorithm.step(ctx, oracles, state)
        if not finite(state):
            break
    ctx.rounds, ctx.reals = counted
    return ctx.t


def run_exactly(
    problem: Problem,
    algorithm: Algorithm,
    *,
    rounds: int,
    left: Callable[[Any], Any],
    limit: int,
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
    jitter: int | None = None,
    copies: int = 1,
    apart: bool = False,
) -> Outcome:
    """Run every atom of the noise at once (one, if the case is deterministic).

    Of ``smallest(…)`` the moment with the smallest expectation is left.

    Args:
        copies: how often each atom is run; copy c of atom j is replicate c·atoms + j.

    Raises:
        TooManyAtoms: the noise has more than ``limit`` atoms.
    """
    common: dict[str, Any] = {"rounds": rounds, "left": left, "jitter": jitter, "apart": apart}
    quiet = NoiselessContext(problem.clients, dtype=dtype, device=device, copies=copies)
    with suppress(Drew):
        return _least(run(problem, algorithm, quiet, **common))
    counting = EnumeratedContext(problem.clients, limit=limit, dtype=dtype, device=device)
    single = run(problem, algorithm, counting, **common)
    if counting.atom_count == 1 and copies == 1:
        return _least(single)
    return _least(run(problem, algorithm, counting.enumerate(dtype, copies), **common))


def _least(made: Outcome) -> Outcome:
    """Return what was measured at the moment with the smallest expectation, if that was asked."""
    if made.how[:1] != ("smallest",) or not made.taken.shape[1]:
        return made
    best = int(np.argmin(made.values @ made.weights))
    return replace(made, taken=made.taken[:, best : best + 1])
