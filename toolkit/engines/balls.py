"""The context of balls: one run of an algorithm, every number of it enclosed.

What is enclosed is the run of exact arithmetic on the instance as its oracles hold it: doubles are
taken for what they are, hyperparameters too, and the noise's values and probabilities are the
fractions that their doubles stand for (1/3, not its nearest double).
"""

import copy
import dataclasses
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from flint import arb
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.balls.operations import finite
from driftproof.toolkit.balls.solutions import enclosing
from driftproof.toolkit.balls.tensor import Balls, RefusedError, lift
from driftproof.toolkit.draws import Law, TooManyAtoms
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.engines.enumerated import EnumeratedContext, Key
from driftproof.toolkit.measure import Measure, Moment, Reduction
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.rationals import nearest_fraction
from driftproof.toolkit.ratios import Ratio

ATOMS = 256
"""The most outcomes of the noise that are run in balls."""
_meant = np.frompyfunc(lambda x: nearest_fraction(float(x)), 1, 1)


class _InBalls(BatchedContext):
    """Gives what is real as balls; sample numbers and masks of clients as they are drawn."""

    def everywhere(self, x: Tensor) -> Tensor:
        """Return the shared [dim] as every client holds it."""
        balls = x if isinstance(x, Balls) else Balls.of(x)
        return balls[None, :, None].expand(len(self.local), x.shape[0], self.replicates)

    @property
    def chances(self) -> np.ndarray:
        """The replicates' probabilities as balls, [replicates]."""
        return lift(np.full(self.replicates, Fraction(1, self.replicates), dtype=object))

    def means(
        self, mask: Tensor | None, xs: tuple[Tensor, ...], weights: Tensor | None
    ) -> list[Tensor]:
        """Return the means over clients with weights of the fractions that their doubles are."""
        if weights is not None and not isinstance(weights, Balls):
            weights = self._tensor(weights.numpy())
        return super().means(mask, xs, weights)

    def _tensor(self, values: np.ndarray) -> Tensor:
        return Balls(lift(_meant(values))) if values.dtype.kind == "f" else super()._tensor(values)


class SampledBalls(_InBalls):
    """The sampled replicates of a block, on the same draws as in doubles."""


class BallContext(_InBalls, EnumeratedContext):
    """Every outcome of the noise at once."""

    laws: dict[Key, Law]

    def __init__(self, clients: int, **given: Any) -> None:
        super().__init__(clients, limit=ATOMS, **given)
        self.laws = {}

    @property
    def exact_chances(self) -> np.ndarray:
        """The outcomes' probabilities as fractions, [replicates]."""
        chances = np.full(self.replicates, Fraction(1), dtype=object)
        for key, law in self.laws.items():
            stride, radix = self._digits[key]
            each = np.asarray(_meant(law.support(key[2])[1]), dtype=object)
            chances = chances * each[np.arange(self.replicates) // stride % radix]
        return chances

    @property
    def chances(self) -> np.ndarray:
        """The outcomes' probabilities as balls, [replicates]."""
        return lift(self.exact_chances)

    def _element(self, law: Law, key: Key) -> np.ndarray:
        self.laws[key] = law
        return super()._element(law, key)


@dataclass(frozen=True)
class Enclosed:
    """What a run in balls gave: expectations over the noise.

    Attributes:
        values: the measure and its parts, [1 + parts, comparisons], balls.
        names: the parts' names.
        outcomes: how many outcomes the noise has.
        state: the final state.
    """

    values: np.ndarray
    names: tuple[str, ...]
    outcomes: int
    state: Any


def exactly(algorithm: Algorithm, number: Callable[[Any], Tensor] = Balls.of) -> Algorithm:
    """Return an algorithm whose real hyperparameters are exact: 1 − γη is not rounded to a double.

    They are balls, or what ``number`` makes of them.

    The share of clients stays as it is: it is only rounded to a number of them.
    """
    exact = copy.copy(algorithm)
    for field in dataclasses.fields(algorithm):  # type: ignore[arg-type]
        value = getattr(algorithm, field.name)
        if isinstance(value, float | Ratio) and field.name != "participation":
            object.__setattr__(exact, field.name, number(value))
    return exact


def run_in_balls(
    problem: Problem,
    algorithm: Algorithm,
    *,
    rounds: int,
    left: Callable[[Any], Any] | None = None,
    axes: tuple[str, ...] = (),
    sampled: SampledBalls | None = None,
    upto: int | None = None,
    exact: Callable[[Algorithm], Any] = exactly,
) -> Enclosed:
    """Run a case, all outcomes of its noise, in balls of the precision that is set.

    Args:
        left: a claim's measure, and ``axes`` the moments that it is taken at.
        sampled: run these replicates instead of all outcomes.
        upto: end the run with the comparison of this number (None: run it to its end).
        exact: what makes the algorithm's real numbers exact, and may follow it.

    Raises:
        RefusedError: an operation has no version for balls, a choice is left open by them, they
            grew without bound, or the noise has more than ``ATOMS`` outcomes.
    """
    method, measure = exact(algorithm), (left, axes, upto)
    counting = BallContext(problem.clients)
    try:
        if sampled is not None:
            return _run(problem, method, sampled, rounds, measure)
        enclosed = _run(problem, method, counting, rounds, measure)
        if counting.atom_count > 1:
            every = BallContext(problem.clients, atoms=counting.digits)
            enclosed = _run(problem, method, every, rounds, measure)
    except TooManyAtoms as error:
        raise RefusedError(f"the noise has more than {ATOMS} outcomes") from error
    except (RuntimeError, TypeError, AttributeError) as error:  # with doubles it went well
        raise RefusedError(f"something has no version for balls: {error}") from error
    return enclosed


def _run(
    problem: Problem,
    algorithm: Algorithm,
    ctx: _InBalls,
    rounds: int,
    measure: tuple[Callable[[Any], Any] | None, tuple[str, ...], int | None],
) -> Enclosed:
    tau = ctx.local_steps = algorithm.local_steps
    ctx.horizon = rounds
    taker, problem = _Taker(*measure), enclosing(problem)
    at = Balls.of(problem.start())
    oracles = problem.oracles_for(at)
    state = previous = algorithm.init(ctx, oracles, at)
    with suppress(_Enough):
        for s in range(rounds):
            ctx.t, start = s * tau, state
            begin = Moment(ctx, problem, state, start, s)
            taker.take(("round",), begin)
            for j in range(tau):
                ctx.t = s * tau + j
                taker.take(("step",), begin._replace(state=state, local_step=j))
                before, state = state, algorithm.step(ctx, oracles, state)
                after = begin._replace(state=state, local_step=j + 1)
                taker.take(("round", "local_step"), after)
                taker.take(("transition",), after._replace(before=before, previous=previous))
                previous = before
            if not all(finite(lift(x)) for x in state):
                raise RefusedError(f"the balls have no bound after step {ctx.t + 1}", open=True)
    return Enclosed(*taker.result(ctx.chances), ctx.replicates, state)


class _Enough(Exception):  # noqa: N818 - it ends a run, and is no error
    """The last comparison that was asked for has been made."""


class _Taker:
    """Takes a measure at its moments, and its expectations over the noise."""

    def __init__(
        self, left: Callable[[Any], Any] | None, axes: tuple[str, ...], upto: int | None
    ) -> None:
        self._measure, self._axes = Measure(left) if left is not None else None, axes
        self._taken: list[Reduction] = []
        self._missing = float("inf") if upto is None else upto + 1

    def take(self, axes: tuple[str, ...], moment: Moment) -> None:
        """Take the measure, if these are its moments."""
        if self._measure is None or axes != self._axes:
            return
        reduction = self._measure(moment)
        if reduction is not None:  # the statement may not speak of this moment
            self._taken.append(reduction)
            self._missing -= len(reduction.value) if reduction.by_client else 1
            if self._missing <= 0:
                raise _Enough

    def result(self, chances: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return the measure and its parts in expectation, [1 + parts, comparisons]; the names."""
        if not self._taken:
            return np.empty((1, 0), dtype=object), ()
        how, names = self._taken[0].how, tuple(self._taken[0].parts)
        rows = []
        for taken in self._taken:
            stacked = lift(taken.stacked)  # [1 + parts, (clients,) replicates]
            mean = np.asarray(stacked @ chances, dtype=object)
            rows.append(mean.reshape(len(stacked), -1))
        means = np.concatenate(rows, 1)
        if how == "average":
            means = np.asarray(means.sum(1, keepdims=True) / len(self._taken), dtype=object)
        if how == "smallest":
            means = np.array([[reduce(arb.min, row)] for row in means], dtype=object)
        if not finite(means):
            raise RefusedError("the measure's balls have no bound", open=True)
        return means, names


__all__ = ["BallContext", "Enclosed", "SampledBalls", "exactly", "run_in_balls"]
