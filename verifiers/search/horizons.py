"""The horizons of a rate: one instance at several T, with the hyperparameters that a schedule sets.

A rate hides its constants, so that one run breaks none. What a search looks for is an instance on
which left / order *grows* with T. It grows on the way to any limit as well; that is why no finite
run refutes a rate, and what is found stays a candidate until somebody proves a floor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import numpy as np

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Case
from driftproof.toolkit.parameters import constraints
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.rate import RateClaim, Schedule
from driftproof.verifiers.judges.followed import (
    measured_exponents,
    measured_form,
    measured_order,
    steps,
)

EXCESS = 0.2
"""By which power of T left / order has to grow: over each of the last two pairs of neighbouring
horizons, and over all of them together."""
STEADY = 0.8
"""What of the growth before has to be left between the last two horizons."""
LARGE = 3.0
"""What left / order has to be at the longest horizon, on an instance with scales of about 1.

Where it is small still, a flat region say, it grows because the run is on its way.
"""
SPAN = 8
"""The longest horizon that a climb runs, in units of the shortest."""
SHOWN = 3
"""Horizons that a climb runs."""
SHARPEST = 4.0
"""How curved F may be (``tells_nothing``)."""
FACTORS = (4, 16, 64)
"""Horizons beyond the claim's own, in units of its longest."""
EXTENSION = (4, 64)
"""How many times as long a run is given to settle, at least and at most."""
MOST_STEPS = 10_000
"""Steps of the longest run that a candidate is looked at with, once it is one."""


class UnscheduledError(Exception):
    """A schedule that gives no numbers."""


class Horizons:
    """A rate's form at the horizons of its cases.

    Args:
        claim, form: what is to be broken; its cases share one problem family and one algorithm.
        longer: take every horizon up to ``MOST_STEPS`` steps, not the ``SHOWN`` of a climb.

    Attributes:
        cases: the claim's cases, by horizon.
        sizes: their horizons, [horizons].
        orders: the order that the form claims there, [horizons].
        free: the whole numbers of the algorithm that the schedule leaves constant, by name.

    Raises:
        UnscheduledError: cases with different problems, one horizon, or a schedule in words.
    """

    def __init__(self, claim: RateClaim, form: Form, *, longer: bool = False) -> None:
        size = claim.size or steps
        cases = sorted((*claim.cases, *claim.full), key=size)
        first = cases[0]
        if any(
            case.problem != first.problem or type(case.algorithm) is not type(first.algorithm)
            for case in cases
        ):
            raise UnscheduledError("its cases have different problems")
        schedule = form.right
        if not isinstance(schedule, Schedule):
            raise UnscheduledError("nothing says how its hyperparameters follow the horizon")
        if any(isinstance(value, str) for value in schedule.letters.values()):
            raise UnscheduledError("its schedule is given in words")
        near = [case for case in cases if size(case) <= SPAN * size(first)]
        self._climbed = len(near) - 1
        if longer:
            near += [case for case in cases if case not in near and steps(case) <= MOST_STEPS]
            near += beyond(claim, near)
        elif len(near) > SHOWN:
            near = [near[0], near[len(near) // 2], near[-1]]
            self._climbed = SHOWN - 1
        if len(near) < 2:
            raise UnscheduledError("its cases have one horizon")
        self.claim, self.form, self.cases = claim, form, near
        self.sizes = np.array([float(size(case)) for case in near])
        order = measured_order(claim, schedule)
        try:
            self.orders = np.array([float(order.subs(claim.horizon, x)) for x in self.sizes])
        except TypeError:
            raise UnscheduledError(f"its order {order} is no number at {self.sizes}") from None
        stated = _stated(claim, schedule)
        self._base = self._scheduled(stated)
        ranges = constraints(type(first.algorithm))
        self.free = tuple(
            name
            for name, value in stated.items()
            if _has_constants(claim, value) and name in ranges and ranges[name].integer
        )

    @property
    def extension(self) -> int:
        """How many times as long a run may take, with its hyperparameters, to settle.

        1 where the horizon is no number of steps or rounds: a longer run is then something else.
        """
        last = self.cases[-1]
        if not _counts_rounds(self.claim, last):
            return 1
        return int(np.clip(MOST_STEPS // steps(last), *EXTENSION))

    @property
    def scheduled(self) -> frozenset[str]:
        """The algorithm's fields that change with the horizon."""
        return frozenset(self._base)

    def algorithm(self, number: int, base: Algorithm | None = None) -> Algorithm:
        """Return the algorithm at one horizon.

        Args:
            number: which horizon.
            base: the algorithm at a climb's longest horizon: its numbers, in units of the
                schedule's there, are kept (None: those of the claim's case).
        """
        start: Any = self.cases[number].algorithm if base is None else base
        ranges = constraints(type(start))
        fields = {}
        for name, numbers in self._base.items():
            unit = 1.0 if base is None else getattr(base, name) / numbers[self._climbed]
            value = numbers[number] * unit
            fields[name] = max(1, round(value)) if ranges[name].integer else value
        return cast(Algorithm, replace(start, **fields))

    def at(self, case: Case, number: int) -> Case:
        """Return a case of a climb's longest horizon at another one."""
        algorithm = self.algorithm(number, case.algorithm)
        return Case(case.problem, algorithm, self.cases[number].rounds)

    def growth(self, lefts: np.ndarray) -> np.ndarray:
        """Return the power of T by which left / order grows at last, [candidates].

        The smallest one of the last two pairs of horizons and of all together; -10 where growth
        slows down.

        Args:
            lefts: left sides at the first horizons, or at all, [horizons, candidates].
        """
        orders, sizes = self.orders[: len(lefts)], self.sizes[: len(lefts)]
        with np.errstate(all="ignore"):
            logs = np.log(np.maximum(lefts, 1e-300) / orders[:, None])
            powers = np.diff(logs, axis=0) / np.diff(np.log(sizes))[:, None]
        powers = np.where(lefts[1:] > 1e-12 * lefts[:1], powers, -10.0)
        powers = np.nan_to_num(powers, nan=-10.0, posinf=-10.0)
        # what slows down from one horizon to the next may end at the one after
        slows = powers[-1] < STEADY * powers[-2] if len(powers) > 1 else np.zeros(1, bool)
        overall = (logs[-1] - logs[0]) / np.log(sizes[-1] / sizes[0])
        least = np.minimum(powers[-2:].min(0), np.nan_to_num(overall, nan=-10.0, posinf=-10.0))
        smallest: np.ndarray = np.where(slows, -10.0, least)
        return smallest

    def scores(self, lefts: np.ndarray) -> np.ndarray:
        """Return a score above 1 where left / order grows, and is no longer small, [candidates].

        Args:
            lefts: left sides, [horizons, candidates].
        """
        grows = np.exp(4.0 * (np.clip(self.growth(lefts), -10.0, 10.0) - EXCESS))
        scores: np.ndarray = np.minimum(grows, np.sqrt(lefts[-1] / self.orders[-1] / LARGE))
        return scores

    def _scheduled(self, stated: Mapping[str, Any]) -> Mapping[str, Sequence[float]]:
        """Return the numbers of the fields that change with the horizon, name → [horizons].

        Args:
            stated: what the form's schedule says (``_stated``).
        """
        algorithms = [case.algorithm for case in self.cases]
        values = algorithms[-1].values()
        numbers: dict[str, list[float]] = {
            name: [float(getattr(a, name)) for a in algorithms]
            for name in _varying(self.cases)
            if isinstance(values[name], int | float)
        }
        measured = _stated(self.claim, measured_form(self.claim).right)
        for name, wanted in stated.items():
            if name not in values:
                continue
            if _has_constants(self.claim, wanted):
                numbers.pop(name, None)  # a constant of its own, whatever the horizon
                continue
            shown = measured.get(name, wanted)
            if shown != wanted:
                factor = wanted / shown
                numbers[name] = [
                    float(getattr(a, name)) * float(factor.subs(self.claim.horizon, x))
                    for a, x in zip(algorithms, self.sizes, strict=True)
                ]
        return numbers


def tells_nothing(roles: Mapping[str, Any]) -> np.ndarray:
    """Return of which instances a run tells nothing of a rate, [instances].

    Where F has no infimum, which every paper assumes, a run falls for ever. In a sharp valley steps
    jump to and fro until the horizon is long.

    Args:
        roles: numbers by role, one for each instance; a role that there is not hinders nothing.
    """
    gap = np.atleast_1d(roles.get("initial_gap", 0.0))
    curvature = np.atleast_1d(roles.get("objective_smoothness", 0.0))
    silent: np.ndarray = ~np.isfinite(gap) | (curvature > SHARPEST)
    return silent


def _stated(claim: RateClaim, schedule: Schedule) -> dict[str, Any]:
    """Return what a schedule says of each role, with the exponents of the claim's cases."""
    import sympy

    notation, special = claim.notation(claim.cases[0]), measured_exponents(claim)
    return {
        notation[letter]: sympy.sympify(value).subs(special)
        for letter, value in schedule.letters.items()
        if letter in notation
    }


def _has_constants(claim: RateClaim, value: Any) -> bool:
    """Whether a schedule leaves a constant open, beside the horizon."""
    return bool(value.free_symbols - {claim.horizon})


def _varying(cases: Sequence[Case]) -> list[str]:
    """Return the algorithm's fields that are not the same in all cases."""
    return [
        name
        for name, value in cases[-1].algorithm.values().items()
        if any(getattr(case.algorithm, name) != value for case in cases)
    ]


def _counts_rounds(claim: RateClaim, case: Case) -> bool:
    """Whether a run of more rounds has a longer horizon."""
    size = claim.size or steps
    return size(replace(case, rounds=2 * case.rounds)) != size(case)


def beyond(claim: RateClaim, cases: Sequence[Case]) -> list[Case]:
    """Return cases at longer horizons than the claim's, by its schedule, if that says how.

    Args:
        cases: by horizon.
    """
    size, last = claim.size or steps, cases[-1]
    stated, varying = _stated(claim, measured_form(claim).right), _varying(cases)
    if any(name not in stated or _has_constants(claim, stated[name]) for name in varying):
        return []
    longer = []
    for factor in FACTORS:
        fields = {}
        for name in varying:
            at = [float(stated[name].subs(claim.horizon, x * size(last))) for x in (1, factor)]
            value = getattr(last.algorithm, name) * at[1] / at[0]
            fields[name] = round(value) if isinstance(getattr(last.algorithm, name), int) else value
        algorithm: Any = replace(cast(Any, last.algorithm), **fields)
        case = replace(last, algorithm=algorithm)
        if _counts_rounds(claim, last):
            rounds = round(factor * size(last) / (size(case) / case.rounds))
            case = replace(case, rounds=max(1, rounds))
        if steps(case) > MOST_STEPS:
            break
        longer.append(case)
    return longer


def horizons_of(claim: RateClaim, form: Form, *, longer: bool = False) -> Horizons:
    """Return the horizons of a form, made once.

    Raises:
        UnscheduledError: as ``Horizons``.
    """
    return _made(claim, form.key, longer)


@lru_cache(maxsize=256)
def _made(claim: RateClaim, key: str, longer: bool) -> Horizons:
    form = next(form for form in claim.forms if form.key == key)
    return Horizons(claim, form, longer=longer)
