"""Runs a round, plain steps or a kernel, as a CUDA graph: recorded once, replayed with new draws.

What a round launches is the same in all rounds but the first, apart from the numbers that it draws.
So one is recorded with its state and its draws in tensors that stay where they are; in each later
one they are filled anew and the recording is replayed: one launch from Python. An algorithm whose
Python looks at the number of the round, or at a tensor's values, is not recorded; its steps are
taken singly.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from toolkit.engines.any_round import Unrepeatable
from toolkit.engines.staged import OnDevice, Staged

Outputs = tuple[Tensor, ...]
Capture = Callable[[Callable[[], Outputs]], tuple[Callable[[], None], Outputs]]
"""Records a function; returns what replays it, and the tensors that a replay fills."""
Body = Callable[[Any, Any, Any, Any, int], tuple[Any, Tensor]]
"""(ctx, oracles, algorithm, state, steps) → state and largest ‖iterate‖² after a round's steps."""
WORTH = 4
"""Rounds of a run from which on a recording, which costs a few rounds, is worth it."""

_RECORDED: WeakKeyDictionary[Any, dict[Any, Recording | None]] = WeakKeyDictionary()


def fits(algorithm: Any, problem: Any, ctx: Any) -> bool:
    """Say whether a run is long enough to be worth a recording."""
    return bool(ctx.horizon >= WORTH)


def advance(
    ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int, *, bounded: bool = False,
    body: Body | None = None, capture: Capture | None = None,
) -> tuple[Any, float]:  # fmt: skip
    """Equal to ``steps`` repetitions of ``algorithm.step`` from the start of a round.

    Args:
        bounded: whether the largest norm of an iterate is asked for (else it is returned as 0).
        body: what a round does (None: its plain steps).
        capture: what records (None: a CUDA graph).
    """
    does = body or plain(bounded=bounded)
    recordings, first = _RECORDED.setdefault(oracles, {}), ctx.t
    shapes = tuple((x.shape, x.dtype) for x in state)
    key = (algorithm, steps, bounded, body, shapes, ctx.local, ctx.horizon, ctx.device)
    if first >= steps and key not in recordings:  # the first round may differ
        try:
            recordings[key] = Recording(ctx, oracles, algorithm, state, steps, does, capture)
        except Unrepeatable:
            recordings[key] = None
        ctx.t = first
    recording = recordings[key] if first >= steps else None
    if recording is None:
        return directly(ctx, oracles, algorithm, state, steps, body=does, bounded=bounded)
    ended, largest = recording.replay(ctx, state)
    return ended, float(largest) ** 0.5 if bounded else 0.0


def directly(
    ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int, *, body: Body,
    bounded: bool = False,
) -> tuple[Any, float]:  # fmt: skip
    """Run a round without a recording."""
    ended, largest = body(ctx, oracles, algorithm, state, steps)
    return ended, float(largest) ** 0.5 if bounded else 0.0


def plain(*, bounded: bool) -> Body:
    """Return what a round of plain steps does."""
    return partial(_steps, bounded=bounded)


def cuda_graph(function: Callable[[], Outputs]) -> tuple[Callable[[], None], Outputs]:
    """Record a function as a CUDA graph on the current device."""
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    here = torch.cuda.current_stream()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        function()  # loads kernels and makes workspaces, which a recording may not do
    here.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        outputs = function()
    return graph.replay, outputs


class Recording:
    """One round, recorded.

    Attributes:
        state: what a replay starts from; filled before each one.
        draws: what it draws; filled before each one.
        clock: the number of its first step, on the device, if a kernel asks (else None).
        outputs: what it ends with: the state and, last, the largest ‖iterate‖².
    """

    def __init__(
        self, ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int, body: Body,
        capture: Capture | None,
    ) -> None:  # fmt: skip
        self.steps = steps
        self.state = type(state)(*(x.clone(memory_format=torch.contiguous_format) for x in state))
        staged = Staged(ctx, steps)

        def function() -> Outputs:
            staged.rewind()
            after, largest = body(staged, oracles, algorithm, self.state, steps)
            return (*after, largest)

        function()
        self.draws, self.clock = staged.settle()
        with OnDevice():  # type: ignore[no-untyped-call]
            function()
        with torch.cuda.device(ctx.device) if ctx.device.startswith("cuda") else nullcontext():
            self._play, self.outputs = (capture or cuda_graph)(function)
        self.rounds, self.reals = staged.rounds, staged.reals

    def replay(self, ctx: Any, state: Any) -> tuple[Any, Tensor]:
        """Run the round that starts at ``ctx.t`` from a state, with that round's draws."""
        first = ctx.t
        for recorded, given in zip(self.state, state, strict=True):
            recorded.copy_(given)
        for draws in self.draws:
            draws.fill(ctx, first)
        if self.clock is not None:
            self.clock.fill_(first)
        self._play()
        ctx.rounds += self.rounds
        ctx.reals += self.reals
        ctx.t = first + self.steps - 1
        *fields, largest = self.outputs
        return type(state)(*(_copied(x) for x in fields)), largest


def _steps(
    ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int, *, bounded: bool
) -> tuple[Any, Tensor]:
    """Take plain steps; return the state and the largest ‖iterate‖² (0 unless asked for)."""
    first, largest, name = ctx.t, [state[0].new_zeros(())], algorithm.iterate
    for step in range(steps):
        ctx.t = first + step
        state = algorithm.step(ctx, oracles, state)
        if bounded:
            met = [getattr(state, name), *([ctx.marks[name]] if name in ctx.marks else [])]
            largest += [(x * x).sum(1).max() for x in met]
    return state, torch.stack(largest).max()


def _copied(x: Tensor) -> Tensor:
    """Return a copy; of what all clients hold alike, one for all of them."""
    return x[:1].clone().expand_as(x) if x.stride(0) == 0 else x.clone()
