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

import numpy as np
import torch
from torch import Tensor

from toolkit.errors import DriftproofError, unknown_name

if TYPE_CHECKING:
    from toolkit.engines.batched import BatchedContext
    from toolkit.problem import Problem

MOMENTS = (("round",), ("round", "local_step"), ("step",), ("transition",))
TRACE_POINTS = 96
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
        return self.ctx.t

    @property
    def local_steps(self) -> int:
        """How many local steps a round has."""
        return self.ctx.local_steps

    @property
    def horizon(self) -> int:
        """How many rounds the run has."""
        return self.ctx.horizon

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
        return self.problem.gradient(x)

    def client_gradients(self, x: Tensor) -> Tensor:
        """Return each ∇F^i(x), exactly, [clients, dim, replicates]; their mean is ∇F(x)."""
        return self.problem.client_gradients(x)

    def own_gradients(self, x: Tensor) -> Tensor:
        """Return each ∇F^i at its own x, exactly: [clients, dim, replicates] → the same."""
        made: Tensor = self.problem.own_gradients(x)
        return made

    def inner_values(self, x: Tensor) -> Tensor:
        """Return each client's expected inner value at its own x: [clients, inner_dim, …]."""
        made: Tensor = self.problem.inner_values(x)
        return made

    def objective(self, x: Tensor) -> Tensor:
        """Return F(x), exactly, for x of shape [dim, replicates]: [replicates]."""
        return self.problem.objective(x)


def _within(view: View) -> bool:
    """Say whether steps of the round are done."""
    return bool(view.__dict__["local_step"])


class _Trial(View):
    """A view that notes whether a measure looks at more than the states at its moments."""

    def __getattribute__(self, name: str) -> Any:
        if name in (
            "round", "local_step", "t", "start", "before", "previous", "round_start", "client",
            "state", "local_steps", "ctx",
        ):  # fmt: skip
            self.memory[name] = True
        return super().__getattribute__(name)


@dataclass
class Recorder:
    """Accumulates one measure over a run: O(replicates) for averages, plus a thinned trace.

    Args:
        left: the claim's measure.
        moments: how many moments the run has, by axes.
    """

    left: Any
    moments: dict[tuple[str, ...], int]
    reduction: Reduction | None = None
    count: int = 0
    values: list[np.ndarray] = field(default_factory=list)
    memory: dict[str, Any] = field(default_factory=dict)
    trace: list[tuple[int, np.ndarray]] = field(default_factory=list)
    looked_at_clients: bool = True
    """Whether the measure asked for more than means over clients."""
    looked_inside: bool = False
    """Whether the measure asked for what only a step by step run has."""
    lost: bool = False
    """Whether the measure was not finite at some moment; nothing after it is taken."""
    _keep: frozenset[int] = frozenset()

    def open(self, view: View) -> None:
        """Call the measure on a trial step, as a round's first or else its last, for its axes."""
        trial = _Trial(**view.__dict__ | {"memory": {}})
        reduction = self.left(trial)
        if reduction is None:
            trial.local_step = trial.local_steps
            reduction = self.left(trial)
        if not isinstance(reduction, Reduction):
            raise DriftproofError(
                f"left(view) returned {type(reduction).__name__}",
                "each(…) or average(…) of a value for each replicate",
                'return average("round", sq(view.gradient(view.round_start("w")))), say',
            )
        wanted: tuple[int, ...] = (view.ctx.replicates,)
        wanted = (view.ctx.clients, *wanted) if reduction.by_client else wanted
        for called, held in {"": reduction.value, **reduction.parts}.items():
            if tuple(held.shape) != wanted:
                raise DriftproofError(
                    f"left(view) returned a value of shape {tuple(held.shape)}"
                    + (f" as {called}" if called else ""),
                    f"one number for each of {view.ctx.replicates} replicates (and client, if the "
                    f'last axis is "client"): the shape {wanted}',
                    "reduce the dimension with sq(…), and clients with view.mean(…)",
                )
        if reduction.how == "given past" and SUMMED in trial.memory:
            raise DriftproofError(
                "since_round(…) in given_past(…)",
                "a measure of one step: a sum over steps has no expectation given one past",
                'take each("transition", …) on a case whose noise can be enumerated',
            )
        # at the start of a round the state is that of the start, and there is nothing inside
        harmless = {"start", "round_start", INSIDE} if reduction.axes == ("round",) else set()
        self.looked_inside = bool(set(trial.memory) - harmless - {"client", "state"})
        self.looked_at_clients = bool({"client", "state"} & set(trial.memory))
        self.reduction = reduction
        self._keep = frozenset(_thinned(self.moments[reduction.axes], reduction.how))

    @property
    def axes(self) -> tuple[str, ...]:
        """The moments at which the measure is taken."""
        assert self.reduction is not None
        return self.reduction.axes

    @property
    def how(self) -> tuple[str, ...]:
        """How moments are reduced, and which they are."""
        assert self.reduction is not None
        return (self.reduction.how, *self.reduction.axes)

    @property
    def total(self) -> int:
        """How many moments the whole run has."""
        return self.moments[self.axes]

    def take(self, view: View) -> None:
        """Take the measure at this moment."""
        view.memory = self.memory
        taken = self.left(view)
        if taken is not None:
            self.add(taken.stacked.double().cpu().numpy())
        elif self.how[0] == "average":
            raise DriftproofError(
                "left(view) returned None at some moment of an average",
                "a value at each moment",
                "take each(…), or a value of 0",
            )

    def take_many(self, view: View, moments: int) -> None:
        """Take the measure at many moments, which lie beside each other as replicates."""
        stacked = self.left(view).stacked.double().cpu().numpy()
        apart = stacked.reshape(*stacked.shape[:-1], moments, -1)
        for value in np.moveaxis(apart, -2, 0):
            self.add(value)

    def add(self, value: np.ndarray) -> None:
        """Add the measure of one moment, [1 + parts, (comparisons,) replicates]."""
        if self.lost or not np.all(np.isfinite(value)):
            self.lost = True
            return
        self.count += 1
        assert self.reduction is not None
        running = self.reduction.how == "average"
        several = value if value.ndim == 3 else value[:, None]
        if running and self.values:
            self.values[0] = self.values[0] + several[:, 0]
        else:
            self.values += list(np.moveaxis(several, 1, 0))
        if self.count in self._keep:
            for shown in np.moveaxis(several, 1, 0):  # one a client, if there is one for each
                self.trace.append((self.count, self.values[0] / self.count if running else shown))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts."""
        assert self.reduction is not None
        return tuple(self.reduction.parts)

    def result(self) -> np.ndarray:
        """Return the measure and its parts, [1 + parts, comparisons, replicates].

        After a run that ended early, an average counts the moments that were not reached as zero
        (a lower bound for a measure that is never negative), and ``each`` has those reached.
        """
        if not self.values:
            return np.empty((1 + len(self.names), 0, 0))
        assert self.reduction is not None
        stacked = np.stack(self.values, 1)
        return stacked / self.total if self.reduction.how == "average" else stacked


def _thinned(moments: int, how: str) -> list[int]:
    if moments <= TRACE_POINTS:
        return list(range(1, moments + 1))
    spread = np.geomspace if how == "average" else np.linspace
    return sorted(set(np.rint(spread(1, moments, TRACE_POINTS)).astype(int).tolist()))
