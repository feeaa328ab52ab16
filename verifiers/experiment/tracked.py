"""A run that is measured on its way, and kept every half minute: for states too large to keep all.

What is finished so far lies in the ledger as a checkpoint, under the run's own name: after a kill,
``--resume`` goes on from it, and gives the same numbers to the bit.
"""

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.user_traceback import telling_the_file
from driftproof.verifiers.experiment.codec import Checkpoint, checkpoint, packed
from driftproof.verifiers.experiment.run import Run

WHERE = ("done", "ctx", "state")
"""What a checkpoint tells to be gone on from."""
STRETCH = 25.0
"""Seconds after which a run is kept; a round that takes longer is not cut."""


@dataclass(frozen=True, kw_only=True)
class TrackedRun(Run):
    """One method on one problem, measured at some rounds.

    A subclass names the ``problem``, the ``algorithm`` and what is ``recorded``.

    Attributes:
        points: how many times it is measured: at the start, at the end, evenly in between.
        precision: of all numbers.
        device: cpu or cuda.
        broken_off: the checkpoint to go on from; no part of the run's name.
    """

    stretch: ClassVar[float] = STRETCH

    points: int = 21
    precision: Literal["single", "double"] = "single"
    device: str = "cpu"
    broken_off: bytes = field(default=b"", repr=False, compare=False)

    @abstractmethod
    def recorded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return what is measured of a state at a round's start: numbers, or lists of them."""

    def concluded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return what is told of the last state alone: a fitted curve, say."""
        return {}

    def __post_init__(self) -> None:
        if self.engine != "batched":
            raise DriftproofError(
                f"engine {self.engine} for {type(self).__name__}, which is measured on its way",
                "the batched engine",
                "leave out --engine",
            )

    @property
    def goes_on(self) -> bool:
        """Whether it is the rest of a run."""
        return bool(self.broken_off)

    @property
    def phases(self) -> Sequence[tuple[int, Algorithm]]:
        """What runs until which round, in order: a smaller step size after some rounds, say.

        Each goes on from the state of the one before, so their states have the same fields.
        """
        return [(self.rounds, self.algorithm)]

    def going_on(self, blob: bytes) -> Self:
        """Return what is left after a checkpoint."""
        return self.but(broken_off=blob)

    @property
    def moments(self) -> list[int]:
        """The rounds at which it is measured; in a search the first and the last."""
        points = 2 if self.choosing else self.points
        return sorted(set(np.linspace(0, self.rounds, points).round().astype(int).tolist()))

    def context(self, problem: Problem) -> BatchedContext:
        """Return what it runs in."""
        dtype = torch.float32 if self.precision == "single" else torch.float64
        return sampled_context(problem, self.keys, replicates=1, dtype=dtype, device=self.device)

    def measured(self) -> dict[str, Any]:
        """Run to the end and return what was measured, a list for each name."""
        return self._whole(self._run(lambda: False))

    def work(self) -> bytes:
        """Run for half a minute; return what was measured, or a checkpoint."""
        ends = time.monotonic() + self.stretch
        with telling_the_file(self.path):
            got = self._run(lambda: time.monotonic() > ends)
        return got.packed() if isinstance(got, Checkpoint) else packed(self._whole(got))

    def _run(self, late: Callable[[], bool]) -> Checkpoint | dict[str, Any]:
        problem = self.problem
        ctx = self.context(problem)
        told: dict[str, Any] = {"records": [], "bad_step": None}
        begun = None
        if self.broken_off:
            before = checkpoint(self.broken_off, self.device)
            assert before is not None
            told, begun = before.told, _restored(before, ctx)
        first = 0 if begun is None else begun[0]
        moments, paused = set(self.moments), None

        def watch(s: int, state: Any) -> bool:
            nonlocal paused
            records = told["records"]
            if s in moments and (not records or records[-1]["round"] < s):
                sent = {"round": s, "sent": ctx.rounds, "reals": ctx.reals}
                records.append(sent | self.recorded(problem, ctx, state))
            if first < s < self.rounds and late():
                paused = s, state
            return paused is None

        for until, algorithm in self.phases:
            if begun is not None and begun[0] >= until:
                continue
            outcome = run(problem, algorithm, ctx, rounds=until, watch=watch, begun=begun)
            if paused is not None:
                return _kept(told, *paused, self.rounds, ctx)
            if outcome.bad_step is not None:
                return told | {"bad_step": outcome.bad_step}
            begun = until, outcome.state
        assert begun is not None
        return told | self.concluded(problem, ctx, begun[1])

    def _whole(self, told: Any) -> dict[str, Any]:
        """Return records as a list for each name, beside the rest."""
        records = told.pop("records")
        columns = {name: [record[name] for record in records] for name in records[0]}
        return columns | {name: told[name] for name in told if name not in WHERE}


def _kept(
    told: dict[str, Any], at: int, state: Any, rounds: int, ctx: BatchedContext
) -> Checkpoint:
    """Return a run as it is at a round's start."""
    where = {
        "done": at / rounds,
        "ctx": [at, ctx.rounds, ctx.reals],
        "state": [type(state).__module__, type(state).__qualname__],
    }
    return Checkpoint(told | where, state._asdict())


def _restored(before: Checkpoint, ctx: BatchedContext) -> tuple[int, Any]:
    """Set what a context has counted, and return the round and the state."""
    at, ctx.rounds, ctx.reals = before.told["ctx"]
    module, name = before.told["state"]
    return at, getattr(import_module(module), name)(**before.state)


def drift(marked: Tensor | None) -> float:
    """Return (1/K) Σ_k ‖x_k − x̄‖ of what the clients marked in a step before it was averaged.

    0 before the first step, where nothing is marked.
    """
    if marked is None:
        return 0.0
    x = marked[..., 0]
    return float((x - x.mean(0)).norm(dim=1).mean())


def averaged(x: Tensor) -> Tensor:
    """Return the mean of the clients' vectors, [dim], of a state [clients, dim, 1]."""
    return x[..., 0].mean(0)
