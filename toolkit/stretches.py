"""Runs a fused kernel over stretches of rounds, and takes a measure of the states it passed."""

from math import isfinite
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.kernels.registry import Variant
from driftproof.toolkit.measure import Moment
from driftproof.toolkit.recorder import Recorder

ROOM = 2**19
"""Reals of one field of the state that are measured at a time: 4 MiB in double precision."""
CHEAP = 4
"""How many times longer a stretch is whose measure asks for means of fields alone."""


def run_stretches(
    kernel: Variant,
    begin: Moment,
    algorithm: Algorithm,
    oracles: Any,
    recorder: Recorder | None,
    rounds: int,
    jitter: int | None,
) -> tuple[Any, float, int | None]:
    """Run ``rounds`` rounds; return the last state, the largest norm and the first bad step.

    The kernel returns the state before every step of a stretch. What a measure looks at lies there
    beside each other, as if the moments were replicates, so it is evaluated once a stretch.
    """
    ctx, state, tau, reach = begin.ctx, begin.state, algorithm.local_steps, 0.0
    asked = None if recorder is None else recorder.measure.asked
    record = "" if asked is None else "all" if asked.clients else "mean"
    among = None if asked is None or asked.clients else frozenset(asked.means)
    largest = max(x.numel() for x in state)  # a gradient of F asks every client, at every moment
    room = CHEAP * ROOM if asked is not None and not (asked.clients or asked.problem) else ROOM
    stretch = max(1, room // (largest * tau))
    every = tau if recorder is not None and recorder.axes == ("round",) else 1

    def take(state: Any, first: int, steps: int, record: str, among: Any) -> Any:
        ctx.t = first * tau
        seed = _seed(jitter, first)
        return kernel(
            ctx, oracles, algorithm, state, steps, record=record, jitter=seed, among=among
        )

    for first in range(0, rounds, stretch):
        steps = min(stretch, rounds - first) * tau
        before, counted = state, (ctx.rounds, ctx.reals)
        state, met, path = take(state, first, steps, record, among)
        reach = max(reach, met)
        if recorder is not None:
            moments = path if every == 1 else type(state)(*(x[::every] for x in path))
            if recorder.axes[-1] in ("transition", "local_step"):
                moments = _after(path, state)
            recorder.take_many(_beside(begin, moments), steps // every)
        lost = None if recorder is None else recorder.lost_after(tau)
        ends = [] if lost is None else [lost]
        if not finite(state):
            ctx.rounds, ctx.reals = counted
            path = take(before, first, steps, "all", None)[2]  # draws are keyed: the same again
            ends.append(_first_bad(path, first * tau))
        if ends:
            return state, reach, min(ends)
    return state, reach, None


def _seed(jitter: int | None, first: int) -> int:
    """Return a seed of random rounding, far from those of other runs and stretches (0: none)."""
    if jitter is None:
        return 0
    return ((jitter + 1) * 0x9E3779B97F4A7C15 ^ (first + 1) * 0xBF58476D1CE4E5B9) % 2**64 | 1


def _after(path: Any, state: Any) -> Any:
    """Return the states after each step, given those before it and the last one."""

    def shifted(x: Tensor, last: Tensor) -> Tensor:
        if not len(x):
            return x
        return torch.cat(
            [x[1:], last.mean(0, keepdim=True)[None] if x.shape[1] == 1 else last[None]]
        )

    return type(state)(*(shifted(x, last) for x, last in zip(path, state, strict=True)))


def finite(state: Any) -> bool:
    """Say whether a state is finite, in one operation a field: a sum with what is not, is not."""
    return all(isfinite(x.sum().item()) for x in state)


def _first_bad(path: Any, first: int) -> int:
    """Return the first step after which the state is not finite."""
    fine = torch.stack([torch.isfinite(x.flatten(1).sum(1)) for x in path]).all(0)
    return first + max(0, int(fine.long().cumprod(0).sum()) - 1)


def _beside(begin: Moment, path: Any) -> Moment:
    """Return a moment in which those of a path are replicates beside each other."""
    wide = type(path)(*(_wide(x) if len(x) else x for x in path))
    ctx: Any = SimpleNamespace(
        replicates=max(x.shape[-1] for x in wide),
        clients=begin.ctx.clients,
        horizon=begin.ctx.horizon,
    )
    return Moment(ctx, begin.problem, wide, wide)


def _wide(x: Tensor) -> Tensor:
    """[moments, clients, dim, replicates] → [clients, dim, moments · replicates]."""
    return x.permute(1, 2, 0, 3).flatten(2)
