"""Recorder: takes one measure along a run, and keeps no more of it than a verdict needs.

An average keeps its running sum; a measure of comparisons keeps each of them, once. Both keep a
thinned trace for the plots. So what is kept grows with the comparisons, not with the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from toolkit.errors import DriftproofError
from toolkit.measure import INSIDE, SUMMED, Reduction, View

TRACE_POINTS = 96
FIELDS = "fields looked at"
TOGETHER = 64
"""Moments that are added at once."""
ASKING = (
    "problem", "gradient", "client_gradients", "own_gradients", "inner_values", "objective",
)  # fmt: skip
"""What a measure asks of every client at each moment."""


class UnsteppedError(Exception):
    """A measure looked at what only a step leaves behind."""


class NoMarks(Mapping[str, Tensor]):
    """Stands for the marks of a step that was not made, and notes whether they were missed."""

    missed = False
    """A measure may catch what is raised here."""

    def __getitem__(self, name: str) -> Tensor:
        self.missed = True
        raise UnsteppedError

    def __iter__(self) -> Iterator[str]:
        self.missed = True
        raise UnsteppedError

    def __len__(self) -> int:
        self.missed = True
        raise UnsteppedError


class _Trial(View):
    """A view that notes whether a measure looks at more than the states at its moments."""

    def mean(self, name: str) -> Tensor:
        """Note which field it is of."""
        self.memory.setdefault(FIELDS, set()).add(name)
        return super().mean(name)

    def round_start(self, name: str) -> Tensor:
        """Note which field it is of."""
        self.memory.setdefault(FIELDS, set()).add(name)
        return super().round_start(name)

    def __getattribute__(self, name: str) -> Any:
        if name in (
            "round", "local_step", "t", "start", "before", "previous", "round_start", "client",
            "state", "local_steps", "ctx", *ASKING,
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
    memory: dict[str, Any] = field(default_factory=dict)
    trace: list[tuple[int, np.ndarray]] = field(default_factory=list)
    looked_at_clients: bool = True
    """Whether the measure asked for more than means over clients."""
    fields: frozenset[str] | None = None
    """The fields whose means it asked for, if it asked for nothing else (None: all)."""
    asked_clients: bool = True
    """Whether it made something of every client, a gradient of F for instance."""
    looked_inside: bool = False
    """Whether the measure asked for what only a step by step run has."""
    looked_back: bool = False
    """Whether it asked for what the last step of a round leaves to the start of the next."""
    _replicates: int = 0
    _lost: bool = False
    _pending: list[tuple[Tensor, ...]] = field(default_factory=list)
    _sum: np.ndarray | None = None
    _each: list[np.ndarray] = field(default_factory=list)
    _keep: tuple[int, ...] = ()
    _kept: int = 0

    def open(self, view: View, step: Callable[[], View]) -> None:
        """Call the measure on a trial moment: a round's first or else its last, at t = 1 or 2.

        Args:
            view: the moment as if a step had been made: for most measures that will do.
            step: makes it, which takes as long as a round by a kernel.
        """
        marks, missing = view.ctx.marks, NoMarks()
        view.ctx.marks = missing  # type: ignore[assignment]
        try:
            self._try(view)
            stepped = not missing.missed
        except Exception:  # noqa: BLE001 - it is raised again below, if the step does not mend it
            stepped = False
        finally:
            view.ctx.marks = marks
        if not stepped:
            self._try(step())

    def _try(self, view: View) -> None:
        trial = _Trial(**view.__dict__ | {"memory": {}})
        reduction, ctx = None, view.ctx
        for local_step, t in product((1, ctx.local_steps), (1, 2)):
            trial.local_step, ctx.t = local_step, t
            reduction = self.left(trial)  # it may have nothing to say of some steps
            if reduction is not None:
                break
        ctx.t = 1
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
        fields = trial.memory.pop(FIELDS, set())
        self.looked_inside = bool(set(trial.memory) - harmless - {"client", "state", *ASKING})
        self.looked_back = bool({"before", "previous", "ctx"} & set(trial.memory))
        self.asked_clients = bool({"client", "state", *ASKING} & set(trial.memory))
        self.looked_at_clients = bool({"client", "state"} & set(trial.memory))
        self.fields = None if self.looked_at_clients else frozenset(fields)
        self.reduction, self._replicates = reduction, view.ctx.replicates
        self._keep = tuple(_thinned(self.moments[reduction.axes], reduction.how))

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

    @property
    def lost(self) -> bool:
        """Whether the measure was not finite at some moment; nothing after it is taken."""
        self._settle()
        return self._lost

    def lost_after(self, local_steps: int) -> int | None:
        """Return the step after which a run whose measure was lost ends: the last of its round."""
        if not self.lost:
            return None
        if self.axes == ("round",):
            return max(0, self.count * local_steps - 1)
        return (self.count // local_steps + 1) * local_steps - 1

    def take(self, view: View) -> None:
        """Take the measure at this moment."""
        view.memory = self.memory
        taken = self.left(view)
        if taken is not None:
            self._pending.append(tuple(map(_own, (taken.value, *taken.parts.values()))))
            if len(self._pending) >= TOGETHER:
                self._settle()
        elif self.how[0] == "average":
            raise DriftproofError(
                "left(view) returned None at some moment of an average",
                "a value at each moment",
                "take each(…), or a value of 0",
            )

    def take_many(self, view: View, moments: int) -> None:
        """Take the measure at many moments, which lie beside each other as replicates."""
        taken = self.left(view)
        stacked = _array([taken.value, *taken.parts.values()])
        self._add(np.moveaxis(stacked.reshape(*stacked.shape[:-1], moments, -1), -2, 1))

    def add(self, value: np.ndarray) -> None:
        """Add the measure of one moment, [1 + parts, (comparisons,) replicates]."""
        self._add(value[:, None])

    def _settle(self) -> None:
        """Add what was taken since the last time: many small operations as a few."""
        if self._pending:
            held = _array([x for values in self._pending for x in values])
            apart = held.reshape(len(self._pending), -1, *held.shape[1:])
            self._pending.clear()
            self._add(apart.swapaxes(0, 1))

    def _add(self, values: np.ndarray) -> None:
        """Add moments in a row, [1 + parts, moments, (comparisons,) replicates]."""
        if self._lost:
            return
        fine = np.isfinite(values)
        if not fine.all():
            self._lost = True
            values = values[:, : int(fine.all(axis=(0, *range(2, values.ndim))).argmin())]
        moments, several = values.shape[1], values.ndim == 4
        if self.how[0] != "average" and moments:
            made = values.reshape(len(values), -1, values.shape[-1])
            self._each.append(made.copy() if made.base is not None else made)
        done = 0
        while self._kept < len(self._keep) and self._keep[self._kept] <= self.count + moments:
            at = self._keep[self._kept]
            self._kept += 1
            done = self._add_up(values, done, at - self.count)
            if self._sum is not None:
                self.trace.append((at, self._sum / at))
                continue
            shown = values[:, at - self.count - 1].copy()
            each = shown.swapaxes(0, 1) if several else [shown]  # one a client, if there is one
            self.trace += [(at, one) for one in each]
        self._add_up(values, done, moments)
        self.count += moments

    def _add_up(self, values: np.ndarray, done: int, until: int) -> int:
        """Add to an average what lies between two moments; return the second."""
        if self.how[0] == "average" and until > done:
            added = values[:, done] if until == done + 1 else values[:, done:until].sum(1)
            self._sum = added.copy() if self._sum is None else np.add(self._sum, added, self._sum)
        return until

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
        self._settle()
        if self._sum is not None:
            return self._sum[:, None] / self.total
        if not self._each:
            return np.empty((1 + len(self.names), 0, self._replicates))
        return np.concatenate(self._each, 1)


def _own(x: Tensor) -> Tensor:
    """Return a value that no later step can change: what is a part of a state is copied."""
    return x if x._base is None else x.clone()


def _array(values: list[Tensor]) -> np.ndarray:
    """Return values beside each other, in double."""
    stacked: np.ndarray = torch.stack(values).double().cpu().numpy()
    return stacked


def _thinned(moments: int, how: str) -> list[int]:
    if moments <= TRACE_POINTS:
        return list(range(1, moments + 1))
    spread = np.geomspace if how == "average" else np.linspace
    return sorted(set(np.rint(spread(1, moments, TRACE_POINTS)).astype(int).tolist()))
