r"""The ends between which one replicate's left side lies, known before the first replicate.

A test of a mean needs a lower end of what is averaged to call the mean above a right side, and an
upper end to call it below (``toolkit.statistics``). The ends are, from first to last:

1. what the claim states: ``range``, or ``least`` alone;
2. what follows from the measure and from how far the algorithm can go: the measure is called at
   every moment of the run with Extents for the states (``toolkit.extent``), whose radii the
   algorithm gives (``Algorithm.radii``). Squares, norms and gaps have the lower end 0 by
   themselves, of any algorithm.

What the second gives holds for every outcome of the noise, so a replicate beyond it shows that a
constant, ``radii`` or the algorithm is wrong, as one beyond a stated range does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from math import inf
from typing import Any, NamedTuple

import numpy as np
import torch

from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.extent import Extent, OpaqueError, extent_of
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import MOMENTS, Measure, Moment, Reduction
from driftproof.toolkit.reach import Enclosed

ROUNDED = 1e-9
"""By how much ends are moved outwards, relatively: for rounding in what makes them."""


class Ends(NamedTuple):
    """Bounds of a replicate's left side, one for each comparison, or one for all, [1]."""

    low: np.ndarray
    high: np.ndarray
    derived: bool = False

    @classmethod
    def stated(cls, low: float, high: float) -> Ends:
        """Return the same ends for each comparison."""
        return cls(np.array([low]), np.array([high]))

    @property
    def lower(self) -> bool:
        """Whether each comparison has a lower end, so that it can be refuted."""
        return bool(np.all(np.isfinite(self.low)))

    @property
    def both(self) -> bool:
        """Whether each has both ends, so that it can be supported too."""
        return self.lower and bool(np.all(np.isfinite(self.high)))

    def of(self, comparisons: int) -> Ends:
        """Return them for so many comparisons: their extremes, if they are for another number."""
        if len(self.low) == comparisons:
            return self
        low, high = (np.full(comparisons, v) for v in (self.low.min(), self.high.max()))
        return Ends(low, high, self.derived)


UNKNOWN = Ends(np.array([-inf]), np.array([inf]), derived=True)


class Enclosure(NamedTuple):
    """What a measure and its parts lie between.

    Attributes:
        how, names: how moments are reduced, and what the parts are called.
        ends: [moments, 1 + parts, 2].
        repeated: how many comparisons a moment makes.
    """

    how: str
    names: tuple[str, ...]
    ends: np.ndarray
    repeated: int = 1

    def less(self, factors: Mapping[str, float]) -> Ends:
        """Return the ends of the measure less the parts times their factors, by comparison."""
        weights = np.array([1.0, *(-factors.get(name, 0.0) for name in self.names)])[:, None]
        with np.errstate(invalid="ignore"):
            scaled = np.where(weights == 0, 0.0, weights * self.ends)
        low, high = scaled.min(2).sum(1), scaled.max(2).sum(1)
        if self.how == "average":
            low, high = low.mean(keepdims=True), high.mean(keepdims=True)
        low = low - ROUNDED * np.abs(low)
        high = high + ROUNDED * np.abs(high[np.isfinite(high)]).max(initial=0.0)
        return Ends(np.repeat(low, self.repeated), np.repeat(high, self.repeated), derived=True)


def follow(left: Any, case: Case) -> Enclosure | None:
    """Return what follows from a measure and from how far the algorithm can go (None: nothing)."""
    try:
        return _followed(left, case)
    except (OpaqueError, DriftproofError, AttributeError, TypeError, ValueError, RuntimeError):
        return None  # what is wrong with a measure, the run says


@lru_cache(maxsize=64)
def _followed(left: Any, case: Case) -> Enclosure | None:
    moments, first = Moments(case), None
    for axes in (MOMENTS[1], MOMENTS[3]):  # these show all that the others do
        measure = Measure(left)
        tried = map(measure, moments.along(axes))
        first = next((one for one in tried if isinstance(one, Reduction)), None)
        if first is not None:
            break
    else:
        return None
    measure = Measure(left)
    taken = [one for one in map(measure, moments.along(first.axes)) if one is not None]
    values = [(one.value, *one.parts.values()) for one in taken]
    ends = np.array([[(x.low, x.high) for x in map(extent_of, value)] for value in values])
    repeated = case.problem.clients if first.by_client else 1
    return Enclosure(first.how, tuple(first.parts), ends, repeated)


class Moments:
    """The moments of a run of a case, with Extents for its states and marks."""

    def __init__(self, case: Case) -> None:
        self.algorithm, self.rounds, problem = case.algorithm, case.rounds, case.problem
        self.problem: Any = Enclosed(problem)
        self.ctx: Any = sampled_context(problem, ("ends",))
        self.ctx.local_steps, self.ctx.horizon = self.algorithm.local_steps, case.rounds
        oracles = problem.oracles(self.ctx.dtype)
        start = torch.from_numpy(problem.start())
        self.like = self.algorithm.init(self.ctx, oracles, start)
        self.algorithm.step(self.ctx, oracles, self.like)  # which marks there are
        self.marks = dict(self.ctx.marks)
        vars(self.ctx)["means"] = _means
        radii = self.algorithm.proven_radii(self.problem.around)
        self.radii = list(islice(radii, self.algorithm.local_steps * case.rounds + 1))

        self._at = lru_cache(maxsize=8)(self._extents)

    def _extents(self, t: int) -> tuple[Any, dict[str, Any]]:
        """Return the state after t steps, and the marks of the step before."""
        radii = self.radii[t] if self.radii else {}

        def ball(name: str, like: torch.Tensor) -> Any:
            own = name == self.algorithm.iterate and like.shape[1] == len(self.problem.z)
            centre = torch.zeros_like(like) + (self.problem.z if own else 0.0)
            return Extent.ball(centre, radii.get(name, inf))

        fields = map(ball, self.like._fields, self.like)
        return type(self.like)(*fields), {name: ball(name, x) for name, x in self.marks.items()}

    def _state(self, t: int) -> Any:
        return self._at(max(0, t) if self.radii else 0)[0]

    def along(self, axes: tuple[str, ...]) -> Iterator[Moment]:
        """Yield the moments that a measure along some axes is taken at, in their order."""
        tau, after = self.algorithm.local_steps, axes in (MOMENTS[1], MOMENTS[3])
        for t in range(0, self.rounds * tau, tau if axes == MOMENTS[0] else 1):
            self.ctx.t, shown = t, t + after
            self.ctx.marks = self._at(shown if self.radii else 0)[1]
            yield Moment(
                self.ctx, self.problem, self._state(shown), self._state(t - t % tau), t // tau,
                t % tau + after, self._state(t), self._state(t - 1),
            )  # fmt: skip


def _means(mask: Any, values: tuple[Any, ...], weights: Any) -> Any:
    """Enclose the mean of any cohort, with any weights: as far from all clients' as one may be."""
    made = []
    for x in values:
        centre = x.centre.mean(0)
        apart = float((x.centre - centre).norm(dim=-2).max())
        made.append((Extent.ball(centre, x.radius + apart, x.low, x.high),))
    return made


@lru_cache(maxsize=64)
def how_of(left: Any, case: Case) -> tuple[str, ...]:
    """Return how a measure reduces which moments, of a run that ends before its first step."""
    ctx = sampled_context(case.problem, ("how",), replicates=1)
    stop = {"left": left, "watch": lambda *_: False}
    return run(case.problem, case.algorithm, ctx, rounds=case.rounds, **stop).how


def derived_ends(left: Any, case: Case, factors: Mapping[str, float], least: float = -inf) -> Ends:
    """Return the ends of a replicate's left side less the measured part of the right side.

    Args:
        factors: what each measured mean in the right side is multiplied by.
        least: a lower end that the claim states.
    """
    known = follow(left, case)
    made = UNKNOWN if known is None else known.less(factors)
    return made._replace(low=np.maximum(made.low, least))
