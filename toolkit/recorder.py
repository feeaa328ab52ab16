"""Recorder: takes one measure along a run, and keeps no more of it than a verdict needs.

An average keeps its running sum; a measure of comparisons keeps each of them, once. Both keep a
thinned trace for the plots. So what is kept grows with the comparisons, not with the run.
"""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import Measure, Moment, Reduction
from driftproof.toolkit.user_traceback import place_of

TRACE_POINTS = 96
MOMENTS_AT_ONCE = 64
"""Moments that are added at once."""


class Recorder:
    """Accumulates one measure over a run: O(replicates) for averages, plus a thinned trace.

    Args:
        left: the claim's measure.
        moments: how many moments the run has, by axes.
        still: a moment to learn from what a measure of states returns.
        stepped: makes one that a step led to, for a measure of steps.
        repeatable: whether the measure has to give the same when it is called again.
        apart: look whether it takes replicates together (``Measure``).
    """

    def __init__(
        self,
        left: Callable[[Any], Any],
        moments: Mapping[tuple[str, ...], int],
        still: Moment,
        stepped: Callable[[], Moment],
        *,
        repeatable: bool = True,
        apart: bool = False,
    ) -> None:
        self.measure = Measure(left, apart=apart)
        self._left, self._repeatable = left, repeatable
        reduction = self._opened(still if self.measure.of_states else stepped())
        self.how = self.measure.how = (reduction.how, *reduction.axes)
        """How moments are reduced, and which they are."""
        self.names = tuple(reduction.parts)
        """The names of the parts."""
        self.trace: list[tuple[int, np.ndarray]] = []
        self.count = 0
        self.total = moments[reduction.axes]
        """How many moments the whole run has."""
        self._replicates = still.ctx.replicates
        self._lost = False
        self._pending: list[tuple[Tensor, ...]] = []
        self._sum: np.ndarray | None = None
        self._each: list[np.ndarray] = []
        self._keep = tuple(_thinned(self.total, reduction.how))
        self._kept = 0

    def _opened(self, moment: Moment) -> Reduction:
        """Call the measure on trial moments, until it has something to say.

        They are the first and the last step of a round, as if they were steps 1 and 2: it may have
        nothing to say of step 0, of a round's last step or its others, or of every second one; or
        of any round but one.
        """
        ctx, reduction = moment.ctx, None
        rounds = [moment.round, ctx.horizon - 1]
        rounds += range(ctx.horizon) if type(ctx.horizon) is int else []  # of all rounds: a letter
        for s, local_step, t in product(rounds, (1, ctx.local_steps), (1, 2)):
            ctx.t = t
            tried, kept = moment._replace(round=s, local_step=local_step), dict(self.measure.memory)
            reduction = self.measure(tried)
            if reduction is not None:
                self._check_repeated(reduction, tried, kept)
                if getattr(reduction, "axes", ()) == ("round",) and type(ctx.horizon) is int:
                    self._check_begun(moment, kept)
                break
        ctx.t = 0
        if not isinstance(reduction, Reduction):
            got, remedy = type(reduction).__name__, 'return each("round", …) of it, or average'
            if reduction is None:
                got, remedy = "None at every moment", "write return before each(…) or average(…)"
            raise DriftproofError(
                f"{place_of(self._left)} returned {got}",
                'each(…) or average(…) of a value: average("round", sq(view.mean("w"))), say',
                remedy,
            )
        wanted: tuple[int, ...] = (ctx.replicates,)
        wanted = (ctx.clients, *wanted) if reduction.by_client else wanted
        for called, part in {"": reduction.value, **reduction.parts}.items():
            if tuple(part.shape) != wanted:
                raise DriftproofError(
                    f"{place_of(self._left)} returned a value of shape {tuple(part.shape)}"
                    + (f" as {called}" if called else ""),
                    f"the shape {wanted}: one number for each "
                    + ("client and replicate" if reduction.by_client else "replicate"),
                    _reducing(tuple(part.shape), ctx.clients, ctx.replicates),
                )
        if reduction.how == "given past" and self.measure.memory:
            raise DriftproofError(
                "since_round(…) in given_past(…)",
                "a measure of one step: a sum over steps has no expectation given one past",
                'take each("transition", …) on a case whose noise can be enumerated',
            )
        self.measure.memory.clear()
        self.measure.asked.closed = True
        return reduction

    def _check_begun(self, moment: Moment, kept: dict[str, Any]) -> None:
        """Raise if a measure of each("round", …) says nothing where a round begins, ever."""
        for s in range(moment.ctx.horizon):
            moment.ctx.t, self.measure.memory = s * moment.ctx.local_steps, dict(kept)
            if self.measure(moment._replace(round=s, local_step=0)) is not None:
                return
        raise DriftproofError(
            f"{place_of(self._left)} gave no value at any moment: nothing would be compared. A "
            'moment of each("round", …) is before a round, and view.last is after the last step',
            "a value at one moment at least",
            'return each("round", "local_step", …) where view.last',
        )

    def _check_repeated(self, once: Any, tried: Moment, kept: dict[str, Any]) -> None:
        """Raise unless the measure says the same of a moment when it is called again."""
        if not self._repeatable or not isinstance(once, Reduction):
            return
        self.measure.memory.clear()
        self.measure.memory.update(kept)
        again = self.measure(tried)
        parts = {"": once.value, **once.parts}
        others = {"": again.value, **again.parts} if isinstance(again, Reduction) else {}
        if parts.keys() != others.keys() or not all(same(of, others[x]) for x, of in parts.items()):
            raise DriftproofError(
                f"{place_of(self._left)}, which returned another value when it was called again",
                "a function of view alone: a run has to be repeatable",
                "keep nothing between calls, and draw nothing",
            )

    @property
    def axes(self) -> tuple[str, ...]:
        """The moments at which the measure is taken."""
        return self.how[1:]

    @property
    def seen_between(self) -> bool:
        """Whether it needs nothing but the states between steps, of which many may be made."""
        return self.measure.of_states and self.how[0] != "given past"

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

    def take(self, moment: Moment) -> None:
        """Take the measure at this moment."""
        taken = self.measure(moment)
        if taken is not None:
            self._pending.append(tuple(map(_own, (taken.value, *taken.parts.values()))))
            if len(self._pending) >= MOMENTS_AT_ONCE:
                self._settle()

    def take_many(self, beside: Moment, moments: int) -> None:
        """Take the measure at many moments, which lie beside each other as replicates."""
        taken = self.measure(beside)
        stacked = _array([taken.value, *taken.parts.values()])
        self._add(np.moveaxis(stacked.reshape(*stacked.shape[:-1], moments, -1), -2, 1))

    def add(self, value: np.ndarray) -> None:
        """Add the measure of one moment, [1 + parts, (comparisons,) replicates]."""
        self._add(value[:, None])

    def _settle(self) -> None:
        """Add what was taken since the last time: many small operations as a few."""
        if self._pending:
            stacked = _array([x for values in self._pending for x in values])
            apart = stacked.reshape(len(self._pending), -1, *stacked.shape[1:])
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
            rows = values.reshape(len(values), -1, values.shape[-1])
            self._each.append(rows.copy() if rows.base is not None else rows)
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


def _reducing(shape: tuple[int, ...], clients: int, replicates: int) -> str:
    """Return what makes a measured value of a shape one number for each replicate."""
    if shape == (clients, replicates):
        return 'take the mean over clients, or each(…, "client", value) for one of each'
    if len(shape) == 3:
        return 'take sq(view.mean(…)), or each(…, "client", sq(view.client(…))) for one of each'
    if len(shape) == 2:
        return "take its squared norm, sq(…)"
    return "keep the last axis, the replicates: sq(…) sums over the dimension alone"


def same(one: Tensor, other: Tensor) -> bool:
    """Tell whether two values are the same, of doubles or of exact quantities."""
    exact = getattr(one, "entries", None)
    if exact is not None:
        return bool((exact == getattr(other, "entries", None)).all())
    return one.is_meta or torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))


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
