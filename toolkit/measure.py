"""Measures: what a claim needs from a run, accumulated step by step.

A claim's ``left(view)`` is called while the algorithm runs and returns a Reduction: a value for
each replicate now, and how the values of many moments become one number a replicate. Its axes say
at which moments it is called:

==========================  ======================================================
``"round"``                 at the start of each round, s = 0 … S − 1
``"round", "local_step"``   after each local step, j = 1 … τ of every round
``"step"``                  before each step, t = 0 … T − 1; marks are those of step t − 1
==========================  ======================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from toolkit.errors import DriftproofError, unknown_name

if TYPE_CHECKING:
    from torch import Tensor

    from toolkit.engines.batched import BatchedContext
    from toolkit.problem import Problem

MOMENTS = (("round",), ("round", "local_step"), ("step",))
TRACE_POINTS = 96


@dataclass(frozen=True)
class Reduction:
    """A value now, [replicates], and how moments are reduced: "each" or "average"."""

    how: str
    axes: tuple[str, ...]
    value: Tensor


def each(*axes_and_value: Any) -> Reduction:
    """One comparison for every moment: ``each("round", "local_step", value)``."""
    return _reduction("each", axes_and_value)


def average(*axes_and_value: Any) -> Reduction:
    """The mean over all moments: ``average("round", value)``."""
    return _reduction("average", axes_and_value)


def sq(x: Tensor) -> Tensor:
    """Return ‖x‖² over the dimension: [dim, replicates] → [replicates]."""
    return (x * x).sum(-2)


def _reduction(how: str, axes_and_value: tuple[Any, ...]) -> Reduction:
    *axes, value = axes_and_value
    if tuple(axes) not in MOMENTS:
        raise DriftproofError(
            f"{how}({', '.join(map(repr, axes))}, …)",
            "axes " + " or ".join(repr(a) for a in MOMENTS),
            f'write {how}("round", value), say',
        )
    return Reduction(how, tuple(axes), value)


@dataclass
class View:
    """A moment of a run, as a claim sees it.

    Attributes:
        problem: the problem, for ``objective`` and ``gradient``.
        state: the algorithm's state (a NamedTuple of [clients, dim, replicates]).
        round: s, the number of the round.
        local_step: how many local steps of the round are done (0 at its start).
    """

    ctx: BatchedContext
    problem: Problem
    state: Any
    start: Any
    round: int = 0
    local_step: int = 0

    def client(self, name: str) -> Tensor:
        """Return a quantity of each client, [clients, dim, replicates].

        Within a round this is what the algorithm marked under that name (before any average), at
        its start the field of the state.
        """
        if self.local_step and name in self.ctx.marks:
            return self.ctx.marks[name]
        if name in self.state._fields:
            value: Tensor = getattr(self.state, name)
            return value
        raise unknown_name("quantity", name, {*self.state._fields, *self.ctx.marks})

    def mean(self, name: str) -> Tensor:
        """Return the mean over the round's cohort, [dim, replicates].

        A field of the state is taken from the state, after any average, so that a server that
        averages wrongly is seen; anything else is what the algorithm marked.
        """
        held = getattr(self.state, name) if name in self.state._fields else self.client(name)
        return self.cohort_mean(held)

    def cohort_mean(self, values: Tensor) -> Tensor:
        """Return the mean of [clients, dim, replicates] over the round's cohort."""
        mask = self.ctx.mask if self.local_step else None
        return self.ctx.means(mask, (values,), None)[0][0]

    def round_start(self, name: str) -> Tensor:
        """Return the mean over clients at the start of this round, [dim, replicates]."""
        value: Tensor = getattr(self.start, name)
        return value.mean(0)

    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇F(x), exactly, for x of shape [dim, replicates]."""
        return self.problem.gradient(x)

    def client_gradients(self, x: Tensor) -> Tensor:
        """Return each ∇F^i(x), exactly, [clients, dim, replicates]; their mean is ∇F(x)."""
        return self.problem.client_gradients(x)

    def objective(self, x: Tensor) -> Tensor:
        """Return F(x), exactly, for x of shape [dim, replicates]: [replicates]."""
        return self.problem.objective(x)


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
    trace: list[tuple[int, np.ndarray]] = field(default_factory=list)
    lost: bool = False
    """Whether the measure was not finite at some moment; nothing after it is taken."""
    _keep: frozenset[int] = frozenset()

    def open(self, view: View) -> None:
        """Call the measure once, on a trial step, to learn its axes."""
        reduction = self.left(view)
        if not isinstance(reduction, Reduction):
            raise DriftproofError(
                f"left(view) returned {type(reduction).__name__}",
                "each(…) or average(…) of a value for each replicate",
                'return average("round", sq(view.gradient(view.round_start("w")))), say',
            )
        if reduction.value.shape != (view.ctx.replicates,):
            raise DriftproofError(
                f"left(view) returned a value of shape {tuple(reduction.value.shape)}",
                f"one number for each of {view.ctx.replicates} replicates",
                "reduce the dimension with sq(…), and clients with view.mean(…)",
            )
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
        value = self.left(view).value.double().cpu().numpy()
        if self.lost or not np.all(np.isfinite(value)):
            self.lost = True
            return
        self.count += 1
        assert self.reduction is not None
        if self.reduction.how == "each":
            self.values.append(value)
        elif self.values:
            self.values[0] = self.values[0] + value
        else:
            self.values.append(value)
        if self.count in self._keep:
            shown = value if self.reduction.how == "each" else self.values[0] / self.count
            self.trace.append((self.count, shown))

    def result(self) -> np.ndarray:
        """Return the measure, [comparisons, replicates].

        After a run that ended early, an average counts the moments that were not reached as zero
        (a lower bound for a measure that is never negative), and ``each`` has those reached.
        """
        if not self.values:
            return np.empty((0, 0))
        assert self.reduction is not None
        stacked = np.stack(self.values)
        return stacked / self.total if self.reduction.how == "average" else stacked


def _thinned(moments: int, how: str) -> list[int]:
    if moments <= TRACE_POINTS:
        return list(range(1, moments + 1))
    spread = np.geomspace if how == "average" else np.linspace
    return sorted(set(np.rint(spread(1, moments, TRACE_POINTS)).astype(int).tolist()))
