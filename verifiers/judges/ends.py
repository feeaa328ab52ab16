r"""The ends between which one replicate's left side lies, known before the first replicate.

A test of a mean needs a lower end of what is averaged to call the mean above a right side, and an
upper end to call it below (``toolkit.statistics``). The ends are, from first to last:

1. what the claim states: ``range``, or ``least`` alone;
2. what follows from the measure and from how far the algorithm can go: the measure is called at
   every moment of the run with Extents for the states (``toolkit.extent``), whose radii the
   algorithm gives (``Algorithm.radii``). Squares, norms and gaps have the lower end 0 by
   themselves, of any algorithm.
3. of the mean square, which will do for an upper end, the same with fourth moments for distances
   (``Around.in_mean``): noise adds up more slowly in the mean than at its worst.

What the second gives holds for every outcome of the noise, so a replicate beyond it shows that a
constant, ``radii`` or the algorithm is wrong, as one beyond a stated range does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from functools import lru_cache
from itertools import islice
from math import inf
from traceback import extract_tb
from typing import Any, NamedTuple

import numpy as np
import torch

from driftproof.toolkit.around import HUGE, Around
from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.extent import Extent, OpaqueError, extent_of
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import MOMENTS, Measure, Moment, Reduction
from driftproof.toolkit.reach import Enclosed
from driftproof.toolkit.user_traceback import is_driftproofs, is_users, place_of

ROUNDED = 1e-9
"""By how much ends are moved outwards, relatively: for rounding in what makes them."""


class Ends(NamedTuple):
    """Bounds of a replicate's left side, one for each comparison, or one for all, [1].

    Attributes:
        low, high: ends.
        root: what (E X²)^{1/2} is at most.
        derived: whether they follow from constants and radii.
    """

    low: np.ndarray
    high: np.ndarray
    root: np.ndarray
    derived: bool = False

    @classmethod
    def stated(cls, low: float, high: float) -> Ends:
        """Return the same ends for each comparison."""
        return cls(np.array([low]), np.array([high]), np.array([inf]))

    @property
    def lower(self) -> bool:
        """Whether each comparison has a lower end, so that it can be refuted."""
        return bool(np.all(np.isfinite(self.low)))

    @property
    def upper(self) -> bool:
        """Whether each has something proven of its upper tail, so that it can be supported."""
        return self.lower and bool(np.all(np.isfinite(np.minimum(self.high, self.root))))

    def of(self, comparisons: int) -> Ends:
        """Return them for so many comparisons: their extremes, if they are for another number."""
        if len(self.low) == comparisons:
            return self
        worst = self.low.min(), self.high.max(), self.root.max()
        low, high, root = (np.full(comparisons, end) for end in worst)
        return Ends(low, high, root, self.derived)


UNKNOWN = Ends(np.array([-inf]), np.array([inf]), np.array([inf]), derived=True)


class Enclosure(NamedTuple):
    """What a measure and its parts lie between.

    Attributes:
        how, names: how moments are reduced, and what the parts are called.
        ends: low, high and root of each, [moments, 1 + parts, 3].
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
        low, high = scaled[..., :2].min(2).sum(1), scaled[..., :2].max(2).sum(1)
        made = [low, high, np.abs(scaled[..., 2]).sum(1)]
        if self.how == "average":
            made = [x.mean(keepdims=True) for x in made]
        outwards = [np.where(np.isfinite(x), ROUNDED * np.abs(x), 0.0) for x in made]
        low, high, root = made[0] - outwards[0], made[1] + outwards[1].max(), made[2] + outwards[2]
        ends = [np.where(np.abs(x) < HUGE, x, np.copysign(inf, x)) for x in (low, high, root)]
        low, high, root = (np.repeat(x, self.repeated) for x in ends)
        return Ends(low, high, root, derived=True)


def follow(left: Any, case: Case) -> Enclosure | None:
    """Return what follows from a measure and from how far the algorithm can go (None: nothing).

    Raises:
        DriftproofError: there is a fault in what should tell.
    """
    try:
        return _followed(left, case)
    except (OpaqueError, DriftproofError):
        return None
    except Exception as error:
        files = [frame.filename for frame in extract_tb(error.__traceback__)]
        if is_users(next(of for of in reversed(files) if is_users(of) or is_driftproofs(of))):
            return None  # what is wrong with a measure, the run says
        raise DriftproofError(
            f"{type(error).__name__} ({error}) while the ends of {place_of(left)} were derived",
            "ends, or that there are none: the fault is driftproof's",
            "please report it, with the traceback that --debug shows; range=… derives nothing",
        ) from error


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
    made = _values(left, moments, first.axes)
    if not made:  # view.last along "round", say, which is before each round
        return None
    ends = np.array([[(x.low, x.high, x.root) for x in row] for row in made])
    in_mean = moments.in_mean()
    if in_mean.radii:
        roots = np.array([[x.root for x in row] for row in _values(left, in_mean, first.axes)])
        ends[..., 2] = np.minimum(ends[..., 2], roots)
    repeated = case.problem.clients if first.by_client else 1
    return Enclosure(first.how, tuple(first.parts), ends, repeated)


def _values(left: Any, moments: Moments, axes: tuple[str, ...]) -> list[list[Any]]:
    measure = Measure(left)
    taken = [one for one in map(measure, moments.along(axes)) if one is not None]
    return [[extent_of(value) for value in (one.value, *one.parts.values())] for one in taken]


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
        self._reach(self.problem.around)

    def _reach(self, around: Around) -> None:
        """Take the radii of what is known around z."""
        self.power = 4.0 if around.mean else inf
        count = self.algorithm.local_steps * self.rounds + 1
        self.radii = list(islice(self.algorithm.proven_radii(around), count))
        self._at = lru_cache(maxsize=8)(self._extents)

    def in_mean(self) -> Moments:
        """Return the same moments with radii that are (E‖·‖⁴)^{1/4}, if there are any."""
        made = copy(self)
        made._reach(self.problem.around.in_mean)
        return made

    def _extents(self, t: int) -> tuple[Any, dict[str, Any]]:
        """Return the state after t steps, and the marks of the step before."""
        radii = self.radii[t] if self.radii else {}

        def ball(name: str, like: torch.Tensor) -> Any:
            around = self.problem.centre(self.algorithm, name, like.shape[1])
            centre = torch.zeros_like(like) + around
            return Extent.ball(centre, radii.get(name, inf), p=self.power)

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
                self.ctx,
                self.problem,
                self._state(shown),
                self._state(t - t % tau),
                t // tau,
                t % tau + after,
                self._state(t),
                self._state(t - 1),
            )


def _means(mask: Any, values: tuple[Any, ...], weights: Any) -> Any:
    """Enclose the mean of any cohort, with any weights: as far from all clients' as one may be.

    In the mean a cohort, or weights, that depend on what is averaged may favour the farthest of n
    clients: E max_i ‖v_i‖^p ≤ Σ_i E‖v_i‖^p.
    """
    chosen = mask is not None or isinstance(weights, Extent)
    made = []
    for x in values:
        centre = x.centre.mean(0)
        apart = float((x.centre - centre).norm(dim=-2).max())
        favoured = len(x.centre) ** (1 / x.p) if chosen else 1.0
        made.append((Extent.ball(centre, (x.radius + apart) * favoured, x.low, x.high, x.p),))
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
