"""A context whose draws stay where they are, so that steps which use them can be recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from toolkit.draws import Law
from toolkit.engines.any_round import StepOfAnyRound, Unrepeatable
from toolkit.engines.batched import BatchedContext

aten = torch.ops.aten
READS = {aten._local_scalar_dense, aten.equal, aten.nonzero, aten.masked_select, aten._unique2}
"""Operations whose result, or its shape, Python waits for."""


@dataclass
class Draws:
    """One named draw of a round.

    Attributes:
        server: whether the server makes it, for all clients.
        offsets: at which steps of the round.
        values: [offsets, …], what was drawn there.
    """

    name: str
    law: Law
    server: bool
    offsets: list[int]
    values: Tensor

    def fill(self, ctx: Any, first: int) -> None:
        """Draw what the round that starts at step ``first`` draws."""
        if self.server:
            for value, offset in zip(self.values, self.offsets, strict=True):
                value.copy_(ctx.server_draw(self.law, self.name, since=first + offset))
            return
        start, stop = min(self.offsets), max(self.offsets) + 1
        drawn = ctx.draws(self.law, self.name, first + start, stop - start)
        if len(drawn) > len(self.offsets):
            drawn = drawn[[offset - start for offset in self.offsets]]
        self.values.copy_(drawn)


class Staged(BatchedContext):
    """Gives an algorithm the draws of a round that stands for all: tensors that are filled later.

    Until ``settle`` it notes what is asked for, and gives what another context draws.
    """

    def __init__(self, ctx: Any, steps: int) -> None:
        super().__init__(
            ctx._words, ctx.clients, replicates=ctx.replicates, block=ctx.block, dtype=ctx.dtype,
            device=ctx.device, local=ctx.local,
        )  # fmt: skip
        self.local_steps, self.horizon = ctx.local_steps, ctx.horizon
        self._other, self._first, self._steps = ctx, ctx.t, steps
        self._clock: Tensor | None = None
        self._met: dict[tuple[str, bool], dict[int, Law]] = {}
        self._values: dict[tuple[str, bool, int], Tensor] = {}

    def rewind(self) -> None:
        """Begin the round again."""
        self.t = StepOfAnyRound(0, steps=self._steps)  # type: ignore[assignment]
        self.rounds = self.reals = 0
        self.marks, self._cohorts = {}, {}

    @property
    def clock(self) -> Tensor:
        """The number of the round's first step, for kernels that make their draws: int64 [1]."""
        if self._clock is None:
            self._clock = torch.full((1,), self._first, device=self.device)
        return self._clock

    def settle(self) -> tuple[list[Draws], Tensor | None]:
        """Return what was asked for; from now on that is what is given, and nothing else is."""
        draws = []
        for (name, server), laws in self._met.items():
            offsets = sorted(laws)
            values = torch.stack([self._values[name, server, offset] for offset in offsets])
            draws.append(Draws(name, laws[offsets[0]], server, offsets, values))
            for offset, value in zip(offsets, values, strict=True):
                self._values[name, server, offset] = value
        self._other = None
        return draws, self._clock

    def draw(self, law: Law | None, name: str) -> Tensor | None:
        """Return the tensor that holds this draw."""
        if law is None:
            return None
        return self._held(law, name, self.t, server=False)

    def server_draw(self, law: Law, name: str, since: Any) -> Tensor:
        """Return the tensor that holds this draw of the server."""
        return self._held(law, name, since, server=True)

    def _held(self, law: Law, name: str, at: Any, *, server: bool) -> Tensor:
        if not isinstance(at, StepOfAnyRound):
            raise Unrepeatable(f"draw {name!r} of step {at}, which is of no round")
        key = name, server, at.offset
        if key not in self._values:
            if self._other is None:
                raise Unrepeatable(f"draw {name!r} was not met before")
            self._met.setdefault((name, server), {})[at.offset] = law
            self._values[key] = self._drawn(law, name, self._first + at.offset, server)
        return self._values[key]

    def _drawn(self, law: Law, name: str, t: int, server: bool) -> Tensor:
        if server:
            values: Tensor = self._other.server_draw(law, name, since=t)
            return values
        self._other.t = t
        drawn: Tensor = self._other.draw(law, name)
        return drawn


class OnDevice(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Raises ``Unrepeatable`` where Python waits for values of tensors, or moves them."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func.overloadpacket in READS:
            raise Unrepeatable(f"{func} waits for values")
        result = func(*args, **(kwargs or {}))
        given = [x.device.type for x in args if isinstance(x, Tensor)]
        if isinstance(result, Tensor) and any(kind != result.device.type for kind in given):
            raise Unrepeatable(f"{func} moves values between devices")
        return result
