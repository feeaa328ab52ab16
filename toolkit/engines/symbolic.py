"""The symbolic context: one run of an algorithm that stands for a whole class of functions.

The start is an unknown vector x_0 and every gradient another (``toolkit.spans``), so a state is a
combination of them. Hyper-parameters are exact: the decimals that Python prints. Clients that are
sampled, and noise of finite support, are enumerated: a replicate is an outcome, with its chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Collective
from driftproof.toolkit.draws import Law, TooManyAtoms
from driftproof.toolkit.engines.balls import exactly
from driftproof.toolkit.engines.enumerated import EnumeratedContext, Key
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import MOMENTS, Measure, Moment, Reduction
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.rationals import meant
from driftproof.toolkit.recorder import Recorder
from driftproof.toolkit.spans.exact import Quantity
from driftproof.toolkit.spans.tensor import Quantities, entries_of

SCENARIOS = 64
"""The most outcomes of sampling that are run."""


class Step(int):
    """The number of a step, which notes whether an algorithm asks more than its place in a round.

    t % τ and (t + 1) % τ are the same in every round; a comparison or a quotient is not.
    """

    seen: list[str]
    tau: int

    @classmethod
    def of(cls, number: int, seen: list[str], tau: int) -> Step:
        """Return a step that notes in ``seen``."""
        made = cls(number)
        made.seen, made.tau = seen, tau
        return made

    def __add__(self, other: int) -> int:
        return Step.of(int(self) + int(other), self.seen, self.tau)

    def __sub__(self, other: int) -> int:
        if isinstance(other, Step):
            return int(self) - int(other)
        return Step.of(int(self) - int(other), self.seen, self.tau)

    def __mod__(self, other: int) -> int:
        if self.tau % int(other):
            self.seen.append("t")
        return int(self) % int(other)


def _noted(name: str) -> Any:
    def of(self: Step, *others: Any) -> Any:
        self.seen.append("t")
        return getattr(int, name)(self, *others)

    return of


for _name in ("lt", "le", "gt", "ge", "eq", "ne", "truediv", "rtruediv", "floordiv", "mul", "rmul",
              "pow", "rpow", "float", "bool", "radd", "rsub", "index"):  # fmt: skip
    setattr(Step, f"__{_name}__", _noted(f"__{_name}__"))
Step.__hash__ = int.__hash__  # type: ignore[method-assign]


class SymbolicContext(EnumeratedContext):
    """Every outcome of sampling at once, from an unknown start.

    Attributes:
        timed: what a step asked that differs between rounds: "t" or "horizon".
    """

    def __init__(self, clients: int, *, limit: int = SCENARIOS, **given: Any) -> None:
        self.timed: list[str] = []
        super().__init__(clients, limit=limit, **given)
        self.laws: dict[Key, Law] = {}

    @property
    def t(self) -> int:
        """The number of the step."""
        return Step.of(self._t, self.timed, self.local_steps)

    @t.setter
    def t(self, number: int) -> None:
        self._t = int(number)

    @property
    def horizon(self) -> int:
        """How many rounds the run has."""
        self.timed.append("horizon")
        return self._horizon

    @horizon.setter
    def horizon(self, rounds: int) -> None:
        self._horizon = rounds

    def cohort(self, size: int, since: int, name: str = "cohort") -> Collective:
        """Return the collective drawn at a step."""
        return super().cohort(size, int(since), name)

    def _sample(self, law: Law, name: str, step: int, clients: range) -> np.ndarray:
        return super()._sample(law, name, int(step), clients)

    def everywhere(self, x: Tensor) -> Tensor:
        """Return the shared [dim], or [dim, 1], as every client holds it."""
        return x.expand(len(self.local), -1, self.replicates)

    @property
    def chances(self) -> list[Fraction]:
        """The outcomes' probabilities, exactly."""
        chances = [Fraction(1)] * self.replicates
        for key, law in self.laws.items():
            stride, radix = self._digits[key]
            each = [meant(float(p)) for p in law.support(key[2])[1]]
            chances = [p * each[j // stride % radix] for j, p in enumerate(chances)]
        return chances

    def _element(self, law: Law, key: Key) -> np.ndarray:
        self.laws[key] = law
        return super()._element(law, key)


@dataclass(frozen=True)
class SymbolicRun:
    """What a run on unknown functions gave.

    Attributes:
        problem: the class, with what it was asked.
        measures: where each comparison was made, the quantity, and what else was measured there by
            name: expectations over sampling.
        outcomes: how many outcomes the sampling has.
        state: the final state.
        timed: what a step asked that differs between rounds.
    """

    problem: Any
    measures: list[tuple[str, Quantity, dict[str, Quantity]]]
    outcomes: int
    state: Any
    timed: frozenset[str]


def run_symbolically(
    problem: Any,
    algorithm: Algorithm,
    *,
    rounds: int,
    left: Callable[[Any], Any],
    ours: bool = False,
) -> SymbolicRun:
    """Run an algorithm once on every function of a class.

    Args:
        problem: a class of functions, with ``fresh()``.
        left: the measure.
        ours: whether the measure is one of ours, that may know that x* is put at the origin.

    Raises:
        NotLinearError: the algorithm or the measure leaves the span of the start and the gradients.
        DriftproofError: the sampling has more than ``SCENARIOS`` outcomes; or a step or a measure
            depends on where the origin is.
    """
    if algorithm.needs not in OFFERS[problem.offers]:
        raise DriftproofError(
            f"{type(algorithm).__name__} on {problem}, which offers {problem.offers} oracles",
            f"a class of functions with {algorithm.needs} oracles",
            "take strongly_convex_concave(L, mu) for a method of two variables, and one of "
            "gradient steps for functions of one",
        )
    method = exactly(algorithm, Quantities.of)
    try:
        counting = SymbolicContext(problem.clients)
        made = _run(problem.fresh(), method, counting, rounds, left, ours)
        if counting.atom_count > 1:
            every = SymbolicContext(problem.clients, atoms=counting.digits)
            made = _run(problem.fresh(), method, every, rounds, left, ours)
    except TooManyAtoms as error:
        raise DriftproofError(
            f"{algorithm} for {rounds} rounds, whose sampling has more than {SCENARIOS} outcomes",
            "few enough outcomes: each is a path of its own in the semidefinite program",
            "take fewer rounds or clients, or participation=1",
        ) from error
    return made


def _run(
    problem: Any,
    algorithm: Algorithm,
    ctx: SymbolicContext,
    rounds: int,
    left: Callable[[Any], Any],
    ours: bool,
) -> SymbolicRun:
    tau = ctx.local_steps = algorithm.local_steps
    ctx.horizon = rounds
    oracles: Any = problem.oracles(ctx.dtype, ctx.device, ctx.local)
    asked, timed = problem.asked, set[str]()
    taker = _Taker(Measure(left), _reduced(problem, algorithm, rounds, left))
    known = sum(map(len, asked.triples))
    state = previous = first = _first(problem, algorithm, ctx, oracles)
    asked.begun = sum(map(len, asked.triples)) > known
    for s in range(rounds):
        ctx.t, begun = s * tau, state
        begin = Moment(ctx, problem, state, begun, s)
        taker.take(("round",), begin, f"at the start of round {s}")
        for j in range(tau):
            ctx.t = s * tau + j
            where = f"step {j + 1} of round {s}"
            taker.take(("step",), begin._replace(state=state, local_step=j), f"before {where}")
            ctx.timed.clear()
            asked.following = True
            before, state = state, algorithm.step(ctx, oracles, state)
            asked.following = False
            timed |= set(ctx.timed)
            after = begin._replace(state=state, local_step=j + 1)
            taker.take(("round", "local_step"), after, f"after {where}")
            moment = after._replace(before=before, previous=previous)
            taker.take(("transition",), moment, f"in {where}")
            previous = before
    measures = taker.result(ctx.chances)
    asked.chances = ctx.chances
    everything = [of for _, one, parts in measures for of in (one, *parts.values())]
    if asked.solvable and not asked.check_origin([] if ours else everything):
        raise DriftproofError(
            f"{type(algorithm).__name__}, or a measure of it, that depends on where the origin is",
            "steps that move with x_0 and x*, as along gradients: of a class x* may be anywhere",
            "write view.minimiser for x* in the measure; judge a method that shrinks its iterate, "
            "as by weight decay, on cases",
        )
    if asked.regretted and asked.regretted != set(range(problem.clients)):
        raise DriftproofError(
            f"losses at the times {sorted(asked.regretted)} of {problem.clients} clients",
            "a client for each time: x* is the minimiser of all clients' losses",
            f"write clients={max(asked.regretted) + 1}, rounds={max(asked.regretted) + 1}",
        )
    measures = [
        (where, of.bare, {name: part.bare for name, part in parts.items()})
        for where, of, parts in measures
    ]
    if taker.how == "smallest":  # the largest number m that is at most each of them
        least = asked.below([quantity for _, quantity, _ in measures])
        measures = [(f"the smallest of {len(measures)} moments", least, {})]
    if problem.recurs:
        apart = [v for x, y in zip(state, first, strict=True) for v in entries_of(x - y).flat]
        known = asked.without(apart)
        measures = [
            (where, known(of), {name: known(part) for name, part in parts.items()})
            for where, of, parts in measures
        ]
    return SymbolicRun(problem, measures, ctx.replicates, state, frozenset(timed))


def _first(problem: Any, algorithm: Algorithm, ctx: SymbolicContext, oracles: Any) -> Any:
    """Return the state that a run begins with."""
    if problem.begins_anywhere:
        return algorithm.anywhere(ctx, oracles, problem.unknown_start, problem.unknown_own)
    return algorithm.init(ctx, oracles, problem.unknown_start)


def _reduced(
    problem: Any, algorithm: Algorithm, rounds: int, left: Callable[[Any], Any]
) -> tuple[str, ...]:
    """Return how a measure reduces which moments, from a step that is thrown away."""
    ctx, thrown = SymbolicContext(problem.clients), problem.fresh()
    ctx.local_steps, ctx.horizon = algorithm.local_steps, rounds
    oracles = thrown.oracles(ctx.dtype, ctx.device, ctx.local)
    first = _first(thrown, algorithm, ctx, oracles)
    still = Moment(ctx, thrown, first, first, rounds - 1, 0, first, first)
    moments = dict.fromkeys(MOMENTS, 1)
    stepped = lambda: still._replace(state=algorithm.step(ctx, oracles, first))  # noqa: E731
    return Recorder(left, moments, still, stepped).how


class _Taker:
    """Takes a measure at its moments, and its expectations over sampling."""

    def __init__(self, measure: Measure, how: tuple[str, ...]) -> None:
        self._measure, self.how, self._axes = measure, how[0], how[1:]
        self._taken: list[tuple[str, Reduction]] = []
        if self.how == "given past":
            raise DriftproofError(
                "given_past(…) of a whole class", "a measure of the run", "write each(…)"
            )

    def take(self, axes: tuple[str, ...], moment: Moment, where: str) -> None:
        """Take the measure, if these are its moments."""
        if axes == self._axes:
            reduction = self._measure(moment)
            if reduction is not None:  # the statement may not speak of this moment
                self._taken.append((where, reduction))

    def result(self, chances: list[Fraction]) -> list[tuple[str, Quantity, dict[str, Quantity]]]:
        """Return the comparisons: where, the expected quantity, and those beside it."""
        made: list[tuple[str, Quantity, dict[str, Quantity]]] = []
        for where, taken in self._taken:
            for client in range(len(taken.value) if taken.by_client else 1):
                expected = {}
                for name, of in {"": taken.value, **taken.parts}.items():
                    entries = entries_of(of)
                    row = entries[client] if taken.by_client else entries
                    expected[name] = sum(
                        (p * x for p, x in zip(chances, row, strict=True)), Quantity()
                    )
                at = f"{where}, client {client}" if taken.by_client else where
                made.append((at, expected.pop(""), expected))
        if self.how == "average" and made:
            mean = sum((x for _, x, _ in made), Quantity()) / len(made)
            parts = {
                name: sum((own[name] for _, _, own in made), Quantity()) / len(made)
                for name in made[0][2]
            }
            return [(f"the mean over {len(made)} moments", mean, parts)]
        return made
