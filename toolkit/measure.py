"""Measures: what a claim needs from a run, accumulated step by step.

A claim's ``left(view)`` is called while the algorithm runs and returns a Reduction: a value for
each replicate now, and how the values of many moments become one number a replicate. Its axes say
at which moments it is called:

==========================  ======================================================
``"round"``                 at the start of each round, s = 0 … S − 1
``"round", "local_step"``   after each local step, j = 1 … τ of every round
``"step"``                  before each step, t = 0 … T − 1; marks are those of step t − 1
``"transition"``            after each step: ``view.before`` is the state that it started from,
                            ``view.previous`` the one before that, marks are those of this step
==========================  ======================================================

A further axis ``"client"`` makes a comparison for each client of a value [clients, replicates]. A
left side may return None at a moment that the statement does not speak of. A measure treats each
replicate alone: it must not mix them.
A right side may name means of further quantities (``c.measured("error")``); the left side measures
them too: ``each("transition", value, error=…)``. ``given_past`` takes such a comparison in
conditional expectation given all that was drawn before the step, by enumerating the step's noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from toolkit.errors import DriftproofError, unknown_name

if TYPE_CHECKING:
    from toolkit.engines.batched import BatchedContext
    from toolkit.problem import Problem

MOMENTS = (("round",), ("round", "local_step"), ("step",), ("transition",))
INSIDE, SUMMED = "inside", "summed"
"""Noted in a view's memory by what only a step by step run can give."""


@dataclass(frozen=True)
class Reduction:
    """A value now, [replicates], and how moments are reduced: "each", "average" or "given past".

    Attributes:
        parts: further quantities that a right side names, [replicates] each.
    """

    how: str
    axes: tuple[str, ...]
    value: Tensor
    parts: Mapping[str, Tensor] = field(default_factory=dict)
    by_client: bool = False
    """Whether the values are [clients, replicates], a comparison for each client."""

    @property
    def stacked(self) -> Tensor:
        """The value and the parts, [1 + parts, (comparisons,) replicates]."""
        return torch.stack([self.value, *self.parts.values()])


def each(*axes_and_value: Any, **parts: Tensor) -> Reduction:
    """One comparison for every moment: ``each("round", "local_step", value)``."""
    return _reduction("each", axes_and_value, parts)


def average(*axes_and_value: Any, **parts: Tensor) -> Reduction:
    """The mean over all moments: ``average("round", value)``."""
    return _reduction("average", axes_and_value, parts)


def given_past(*axes_and_value: Any, **parts: Tensor) -> Reduction:
    """One comparison for every step, in conditional expectation given what came before it.

    ``given_past(value)``, or ``given_past("client", value)`` for one of every client.

    Stronger than the total expectation that a paper prints. Where the noise of the whole run can
    be enumerated, the total expectation is judged, exactly; elsewhere pasts are sampled, the noise
    of the step is enumerated for each, and the statement is supported if it holds for all of them.
    """
    return _reduction("given past", ("transition", *axes_and_value), parts)


def sq(x: Tensor) -> Tensor:
    """Return ‖x‖² over the dimension: [dim, replicates] → [replicates]."""
    return (x * x).sum(-2)


def _reduction(how: str, axes_and_value: tuple[Any, ...], parts: Mapping[str, Tensor]) -> Reduction:
    *axes, value = axes_and_value
    by_client = how != "average" and axes[-1:] == ["client"]
    axes = axes[:-1] if by_client else axes
    for called, held in {"": value, **parts}.items():
        if not isinstance(held, Tensor):
            raise DriftproofError(
                f"{how}(…) of {held!r}" + (f" as {called}" if called else ""),
                "a number for each replicate: a tensor [replicates]",
                'reduce something that view gives: sq(view.mean("w")), say',
            )
    if tuple(axes) not in MOMENTS:
        raise DriftproofError(
            f"{how}({', '.join(map(repr, axes))}, …)",
            "axes " + " or ".join(repr(a) for a in MOMENTS),
            f'write {how}("round", value), say',
        )
    return Reduction(how, tuple(axes), value, parts, by_client)


@dataclass
class View:
    """A moment of a run, as a claim sees it.

    Attributes:
        problem: the problem, for ``objective`` and ``gradient``.
        state: the algorithm's state (a NamedTuple of [clients, dim, replicates]).
        start: the state at the start of the round.
        round: s, the number of the round.
        local_step: how many local steps of the round are done (0 at its start).
        before, previous: of a transition, the state that the step started from, and the one that
            the step before it started from (at t = 0 the first state, twice).
        memory: what ``since_round`` keeps between moments.
    """

    ctx: BatchedContext
    problem: Problem
    state: Any
    start: Any
    round: int = 0
    local_step: int = 0
    before: Any = None
    previous: Any = None
    memory: dict[str, Any] = field(default_factory=dict)

    @property
    def t(self) -> int:
        """The number of the step: the one just made, of a transition, else the next one."""
        ctx: BatchedContext = self.__dict__["ctx"]
        return ctx.t

    @property
    def local_steps(self) -> int:
        """How many local steps a round has."""
        ctx: BatchedContext = self.__dict__["ctx"]
        return ctx.local_steps

    @property
    def horizon(self) -> int:
        """How many rounds the run has."""
        ctx: BatchedContext = self.__dict__["ctx"]
        return ctx.horizon

    def since_round(self, name: str, value: Tensor, *, largest: bool = False) -> Tensor:
        """Return the sum (or the largest) of a value over the moments of this round up to now."""
        self.memory[INSIDE] = self.memory[SUMMED] = True
        held = self.memory.get(name)
        total = value
        if held is not None and held[0] == self.round:
            total = torch.maximum(held[1], value) if largest else held[1] + value
        self.memory[name] = self.round, total
        return total

    def client(self, name: str) -> Tensor:
        """Return a quantity of each client, [clients, dim, replicates].

        Within a round this is what the algorithm marked under that name (before any average), at
        its start the field of the state.
        """
        ctx = self.__dict__["ctx"]
        if _within(self) and name in ctx.marks:
            self.memory[INSIDE] = True
            marked: Tensor = ctx.marks[name]
            return marked
        if name in self.state._fields:
            value: Tensor = getattr(self.state, name)
            return value
        raise unknown_name("quantity", name, {*self.state._fields, *ctx.marks})

    def mean(self, name: str) -> Tensor:
        """Return the mean over the round's cohort, [dim, replicates].

        A field of the state is taken from the state, after any average, so that a server that
        averages wrongly is seen; anything else is what the algorithm marked.
        """
        state = self.__dict__["state"]
        held = getattr(state, name) if name in state._fields else self.client(name)
        return self.cohort_mean(held)

    def cohort_mean(self, values: Tensor) -> Tensor:
        """Return the mean of [clients, dim, replicates] over the round's cohort."""
        ctx = self.__dict__["ctx"]
        mask = ctx.mask if _within(self) else None
        made: Tensor = ctx.means(mask, (values,), None)[0][0]
        return made

    def round_start(self, name: str) -> Tensor:
        """Return the mean over clients at the start of this round, [dim, replicates]."""
        value: Tensor = getattr(self.__dict__["start"], name).mean(0)
        return value

    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇F(x), exactly, for x of shape [dim, replicates]."""
        return self.problem.gradient(self._point("gradient", x))

    def client_gradients(self, x: Tensor) -> Tensor:
        """Return each ∇F^i(x), exactly, [clients, dim, replicates]; their mean is ∇F(x)."""
        return self.problem.client_gradients(self._point("client_gradients", x))

    def own_gradients(self, x: Tensor) -> Tensor:
        """Return each ∇F^i at its own x, exactly: [clients, dim, replicates] → the same."""
        made: Tensor = self.problem.own_gradients(self._point("own_gradients", x, own=True))
        return made

    def inner_values(self, x: Tensor) -> Tensor:
        """Return each client's expected inner value at its own x: [clients, inner_dim, …]."""
        made: Tensor = self.problem.inner_values(self._point("inner_values", x, own=True))
        return made

    def objective(self, x: Tensor) -> Tensor:
        """Return F(x), exactly, for x of shape [dim, replicates]: [replicates]."""
        return self.problem.objective(self._point("objective", x))

    def _point(self, what: str, x: Any, *, own: bool = False) -> Tensor:
        """Return x, or raise: a shape that torch would broadcast gives the values of no point."""
        problem, ctx = self.__dict__["problem"], self.__dict__["ctx"]
        lead = (ctx.clients,) if own else ()
        shape = tuple(x.shape) if isinstance(x, Tensor) else ()
        made: Tensor = x
        if shape == (*lead, problem.dim, ctx.replicates):
            return made
        if shape == (*lead, len(problem.start()), ctx.replicates):
            return made  # a state (x, y): problems take its x
        wanted = ", ".join(map(str, (*lead, problem.dim, ctx.replicates)))
        got = f"of shape {list(x.shape)}" if isinstance(x, Tensor) else repr(x)
        raise DriftproofError(
            f"view.{what}(x) of an x {got}",
            f"[{wanted}]: {'clients, ' if own else ''}dimension, replicates",
            f'view.{what}(view.{"client" if own else "mean"}("w")), say',
        )


def _within(view: View) -> bool:
    """Say whether steps of the round are done."""
    return bool(view.__dict__["local_step"])
