"""The symbolic context: one run of an algorithm that stands for a whole class of functions.

The start is an unknown vector x_0 and every gradient another (``toolkit.gram``), so a state is a
combination of them. Hyper-parameters are exact: the decimals that Python prints. Clients that are
sampled, and noise of finite support, are enumerated: a replicate is an outcome, with its chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Collective
from driftproof.toolkit.draws import Law, TooManyAtoms
from driftproof.toolkit.engines.balls import exactly
from driftproof.toolkit.engines.enumerated import EnumeratedContext, Key
from driftproof.toolkit.engines.replay import RTOL, Asked, Assignment, Playback, Transcript, unlike
from driftproof.toolkit.engines.round_number import REMEDY, ROUND, RoundNumber, place_of
from driftproof.toolkit.errors import DriftproofError, UndecidableError
from driftproof.toolkit.gram.exact import DIVISORS, GramForm, Vector, is_positive
from driftproof.toolkit.gram.tensor import (
    LARGEST,
    REFUSED,
    SIZES,
    USUAL,
    GramForms,
    GramVector,
    Unknown,
    entries_of,
    refused,
    sizes,
)
from driftproof.toolkit.measure import MOMENTS, Measure, Moment, Reduction
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.rationals import INEXACT, nearest_fraction
from driftproof.toolkit.ratios import Ratio
from driftproof.toolkit.recorder import Recorder, same
from driftproof.toolkit.untouched import contents, in_place, written

SCENARIOS = 64
"""The most outcomes of sampling that are run."""


ROUNDS = (*range(40), 97, 98, 10**6)
"""The rounds that are replayed of a run that stands for all rounds, one after the other."""
FEW = 3
"""How many of them are replayed with other sizes than the usual ones: what shows in a later round
shows with any size."""
FAR = 10 * ROUNDS[-1]
"""How many rounds a step is told that there are where it may not depend on that."""


REPLAYED: dict[Any, None] = {}
"""What was replayed: a text, with what it is compared with; and with a measure."""
KEPT = 100
"""The most that is kept of that: one limit needs some ten."""


class _Place(int):
    """The number of a step, counted from the first one of the run."""


class SymbolicContext(EnumeratedContext):
    """Every outcome of sampling at once, from an unknown start.

    Args:
        all_rounds: the unknown functions of a run that stands for every round (None: it does not).
            Then t is a letter, as all that counts is, and draws are made in the round itself.
    """

    def __init__(
        self, clients: int, *, limit: int = SCENARIOS, all_rounds: Any = None, **given: Any
    ) -> None:
        self._of_all = all_rounds
        super().__init__(clients, limit=limit, **given)
        if all_rounds is not None:
            self.rounds: Any = RoundNumber(0, 1)
            self.reals: Any = RoundNumber(0, 1)
        self.laws: dict[Key, Law] = {}

    @property
    def t(self) -> Any:
        """The number of the step."""
        of, tau = self._of_all, self.local_steps
        return self._t if of is None else RoundNumber(self._t, tau, of.counted)

    @t.setter
    def t(self, number: int) -> None:
        self._t = number

    @property
    def horizon(self) -> Any:
        """How many rounds the run has: of all rounds, measures see how many are left."""
        if self._of_all is None:
            return self._horizon
        if self._of_all.following:
            raise refused("this step reads how many rounds there are", REMEDY, "any number of them")
        return RoundNumber(self._horizon, 1)

    @horizon.setter
    def horizon(self, rounds: int) -> None:
        self._horizon = rounds

    def server_draw(self, law: Law, name: str, since: Any) -> Tensor:
        """Draw at step ``since``; every process draws the same."""
        return super().server_draw(law, name, self._place(since))

    def cohort(self, size: int, since: Any, name: str = "cohort") -> Collective:
        """Return the collective drawn at a step."""
        return super().cohort(size, self._place(since), name)

    def _sample(self, law: Law, name: str, step: Any, clients: range) -> np.ndarray:
        return super()._sample(law, name, self._place(step), clients)

    def _place(self, step: Any) -> _Place:
        """Return the number of the step of a draw, which has to lie in the round so far."""
        if self._of_all is None or type(step) is _Place:
            return _Place(step)
        place = place_of(step) if type(step) is RoundNumber else -1
        if not self._t - self._t % self.local_steps <= place <= self._t:
            raise refused(
                "a draw that is not made in the round itself",
                REMEDY,
                "since= between the round's first step and ctx.t, so that the state in which a "
                "round begins is independent of its draws",
            )
        return _Place(place)

    def everywhere(self, x: Tensor) -> Tensor:
        """Return the shared [dim], or [dim, 1], as every client holds it."""
        return x.expand(len(self.local), -1, self.replicates)

    @property
    def chances(self) -> list[Fraction]:
        """The outcomes' probabilities, exactly."""
        chances = [Fraction(1)] * self.replicates
        for key, law in self.laws.items():
            stride, radix = self._digits[key]
            each = [nearest_fraction(float(p)) for p in law.support(key[2])[1]]
            chances = [p * each[j // stride % radix] for j, p in enumerate(chances)]
        return chances

    def _element(self, law: Law, key: Key) -> np.ndarray:
        self.laws[key] = law
        return super()._element(law, key)


Comparison = tuple[str, GramForm, dict[str, GramForm]]
"""Where a comparison is made, the quantity, and what else is measured there by name."""
Taken = tuple[str, Reduction, int]
"""Where a measure was taken, what it was, and ``Call.bits``."""
Unknowns = tuple[tuple[bool, ...], int, bool]
"""Of each unknown vector whether it is of the second part; how many values; if there are parts."""


@dataclass(frozen=True)
class SymbolicRun:
    """What a run on unknown functions gave.

    Attributes:
        problem: the class, with what it was asked.
        measures: where each comparison was made, the quantity, and what else was measured there by
            name: expectations over sampling.
        outcomes: how many outcomes the sampling has.
        first, state: the states at the beginning and at the end.
        inexact: a number that is a decimal for lack of a short fraction ("": there is none).
        replay: run the text in doubles, with numbers for the unknown vectors, [vectors, dim], and
            values; return the comparisons as ``measures`` has them, in numbers.
        remembers: whether the first state is made of more than x_0.
        texts: the text, and what it does, to compare with those of other runs; of a run that stands
            for all rounds the text alone as well, of which all is known then.
    """

    problem: Any
    measures: list[Comparison]
    outcomes: int
    first: Any
    state: Any
    inexact: str
    replay: Callable[[Any, Any], list[Comparison]]
    remembers: bool
    texts: Sequence[Any] = ()


def run_symbolically(
    problem: Any,
    algorithm: Algorithm,
    *,
    rounds: int,
    left: Callable[[Any], Any],
    ours: bool = False,
) -> SymbolicRun:
    """Run an algorithm once on every function of a class, and replay the run in doubles.

    Args:
        problem: a class of functions, with ``fresh()``.
        left: the measure.
        ours: whether the measure is one of ours, that may know that x* is put at the origin.

    Raises:
        NotLinearError: the algorithm or the measure leaves the span of the start and the gradients,
            or reads the number of the round where the run stands for all of them.
        UndecidableError: in doubles the text does something else.
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
    REFUSED.clear()
    INEXACT.clear()
    DIVISORS.clear()
    LARGEST[0] = 0
    try:
        run = _Run(problem, algorithm, rounds, left, ours)
        made = run.over_class()
        if run.ctx.atom_count > 1:
            run = _Run(problem, algorithm, rounds, left, ours, run.ctx.digits)
            made = run.over_class()
    except TooManyAtoms as error:
        raise DriftproofError(
            f"{algorithm} for {rounds} rounds, whose sampling has more than {SCENARIOS} outcomes",
            "few enough outcomes: each is a path of its own in the semidefinite program",
            "take fewer rounds or clients, or participation=1",
        ) from error
    _raise_what_was_refused()
    if run.problem.asked.counted and not all(map(is_positive, DIVISORS)):
        raise UndecidableError(
            f"{type(algorithm).__name__}, which divides by a polynomial in t that may be 0",
            "polynomials without a coefficient below 0",
            "divide by t + 1 or t + 3, say",
        )
    if any(isinstance(value, Ratio) for value in algorithm.values().values()):
        return made
    text, *said = run.said()
    if not run.all_rounds:
        run.replay_generically()
        _raise_what_was_refused()
        return replace(made, texts=[text])
    if said[-1] not in REPLAYED:  # of so many rounds that it is worth it
        run.replay_generically()
        _raise_what_was_refused()
    keep(REPLAYED, said)
    return replace(made, texts=[said[0], text])


def keep(table: dict[Any, None], these: Sequence[Any]) -> None:
    """Add to a table, and leave out of it what was added first, so that it stays short."""
    table.update(dict.fromkeys(these))
    while len(table) > KEPT:
        del table[next(iter(table))]


def _raise_what_was_refused() -> None:
    """Raise what was refused, also where a text caught the error."""
    if REFUSED:
        raise REFUSED[0]


class _Run:
    """A run over a class, and its replays.

    Attributes:
        asks, looks: what the algorithm asked of oracles, and the measure of the problem.
        begins: what ``init`` asked, and the state that it made, of a run from any state.
    """

    def __init__(
        self,
        problem: Any,
        algorithm: Algorithm,
        rounds: int,
        left: Callable[[Any], Any],
        ours: bool,
        atoms: dict[Key, tuple[int, int]] | None = None,
    ) -> None:
        self.algorithm, self.rounds = algorithm, rounds
        self.problem = self._fresh(problem)
        self.left, self.ours, self.name = left, ours, type(algorithm).__name__
        self.all_rounds = problem.of_all_rounds
        self.ctx = self._context(self.problem, atoms)
        self.asks, self.looks = Transcript(), Transcript()

    def _fresh(self, problem: Any) -> Any:
        """Return the class with nothing asked yet, which knows what implicit steps are of."""
        made = problem.fresh()
        made.asked.needs = self.algorithm.needs
        made.asked.counted = any("counted" in of.parameters for of in made.relations)
        made.asked.remember(self.algorithm.remembered(), self.algorithm.limits)
        return made

    def _context(
        self, problem: Any, atoms: dict[Key, tuple[int, int]] | None = None
    ) -> SymbolicContext:
        of_all = problem.asked if self.all_rounds else None
        ctx = SymbolicContext(problem.clients, all_rounds=of_all, atoms=atoms)
        ctx.local_steps, ctx.horizon = self.algorithm.local_steps, self.rounds
        return ctx

    def over_class(self) -> SymbolicRun:
        """Run on unknown functions."""
        problem, asked, ctx = self.problem, self.problem.asked, self.ctx
        method = exactly(self.algorithm, GramForms.of)
        self.how = self._reduced(method)
        self.taker = taker = _Taker(Measure(self.left), self.how)
        oracles = Asked(problem.oracles(ctx.dtype, ctx.device, ctx.local), self.asks, "oracles")
        self.start = _start_of(problem)
        self.first = _begun(problem, method, ctx, oracles, self.start)
        own = {j for v in asked.own for j in v.coefficients}
        remembers = any(own & _unknowns_in(of) for of in self.first)
        if own and not self.all_rounds and not remembers:
            raise UndecidableError(
                f"{self.name}.anywhere, which leaves out own",
                "two runs that are compared, one from start and one from own",
                "write anywhere(self, ctx, oracles, start, own), and begin the second run at "
                "own.mean(0)",
            )
        if self.all_rounds and self.asks.calls:
            raise UndecidableError(
                f"{self.name}, whose anywhere asks {self.asks.calls[0].of}",
                "all states that a round can begin with, of start and own alone",
                "write what a round leaves behind as own, whatever it is",
            )
        if self.all_rounds:
            self.init = self._init(method)
        seen = Asked(problem, self.looks, "problem")
        numbers = [RoundNumber(s, 1) if self.all_rounds else s for s in range(self.rounds)]
        self.last = self.rounds_from(ctx, seen, oracles, method, self.first, taker, numbers)
        pairs = zip(self.first, self.last, strict=True)
        if self.all_rounds and not all(
            asked.stays(x, y) for x, y in pairs if isinstance(x, GramVector)
        ):
            raise UndecidableError(
                f"{self.name}, a round of which begins in the set and may end outside of it",
                "rounds that end where the next one may begin",
                "end a round with project(x), linear_minimiser(g), or a mean of such points",
            )
        self.bits = LARGEST[0]
        self.unknowns = _unknowns(asked)
        self.chances = asked.chances = ctx.chances
        measures = taker.result(self.chances)
        everything = [of for _, one, parts in measures for of in (one, *parts.values())]
        if asked.solvable and not asked.check_origin([] if self.ours else everything):
            if asked.check_origin([]):
                whole = 'torch.cat((view.mean("x"), view.mean("y"))) - ' * asked.saddle
                raise DriftproofError(
                    f"a measure of {self.name} that depends on where the origin is",
                    "distances of points: of a class x* may be anywhere",
                    f"write {whole}view.minimiser for x*{', which is (x*, y*)' * asked.saddle}",
                )
            raise DriftproofError(
                f"{self.name}, whose steps depend on where the origin is",
                "steps that move with x_0 and x*, as along gradients: of a class x* may be "
                "anywhere",
                "judge a method that shrinks its iterate, as by weight decay, on cases",
            )
        if asked.regretted and asked.regretted != set(range(problem.clients)):
            raise DriftproofError(
                f"losses at the times {sorted(asked.regretted)} of {problem.clients} clients",
                "a client for each time: x* is the minimiser of all clients' losses",
                f"write clients={max(asked.regretted) + 1}, rounds={max(asked.regretted) + 1}",
            )
        numbered = asked.numbering_stars(everything)
        measures = _mapped(measures, lambda of: numbered(of.bare))
        if taker.how == "smallest":  # the largest number m that is at most each of them
            least = asked.below([quantity for _, quantity, _ in measures])
            measures = [(f"the smallest of {len(measures)} moments", least, {})]
        self.given: dict[int, Vector] = {}
        if problem.recurs:
            moved = (x - y for x, y in zip(self.last, self.first, strict=True))
            apart = [v for of in moved if isinstance(of, GramVector) for v in of.entries.flat]
            known, self.given = asked.without(apart)
            measures = _mapped(measures, known)
        inexact = repr(INEXACT[0]) if INEXACT else ""
        return SymbolicRun(
            problem,
            measures,
            ctx.replicates,
            self.first,
            self.last,
            inexact,
            self.replay,
            remembers,
        )

    def said(self) -> list[Any]:
        """Return the text, and what a replay runs and compares: what it does, and with its measure.

        A limit is judged by many runs of one round. What a replay shows of one of them it shows of
        each in which the text says the same; a measure of ours is not compared.
        """
        of = type(self.algorithm)
        of_class = self.problem.clients, self.problem.asked.saddle
        numbers = self.algorithm.values(), self.rounds, self.chances, SIZES, of_class
        text = *(getattr(of, name) for name in ("init", "anywhere", "step")), repr(numbers)
        if not self.all_rounds:
            return [text]
        exact = self.init[0].calls, self.init[1:], self.asks.calls, self.first, self.last
        done = *text, repr(_contents(exact))
        if self.ours:
            return [text, done]
        taken = [(where, r.value, *r.parts.values()) for where, r, _ in self.taker.taken]
        return [text, done, (done, _text(self.left), repr(_contents((taken, self.looks.calls))))]

    def rounds_from(
        self,
        ctx: Any,
        problem: Any,
        oracles: Any,
        method: Algorithm,
        state: Any,
        taker: _Taker,
        numbers: Sequence[Any],
        first: int = 0,
    ) -> Any:
        """Make the rounds from a state on.

        Args:
            numbers: those of the rounds, as a measure sees them.
            first: the number of the first step.
        """
        tau, asked, previous = method.local_steps, self.problem.asked, state
        horizon = first // tau + self.rounds
        for s, number in enumerate(numbers):
            ctx.t, ctx.horizon = first + s * tau, horizon
            begin = Moment(ctx, problem, state, state, number)
            taker.take(("round",), begin, f"at the start of round {s + 1}")
            for j in range(tau):
                ctx.t = first + s * tau + j
                where = f"step {j + 1} of round {s + 1}"
                taker.take(("step",), begin._replace(state=state, local_step=j), f"before {where}")
                asked.following, ctx.horizon = True, FAR if self.all_rounds else horizon
                before, kept = state, contents(state)
                state = method.step(ctx, oracles, state)
                if written(kept, before):
                    raise in_place(method)
                asked.following, ctx.horizon = False, horizon
                both = [getattr(of, method.iterate, None) for of in (before, state)]
                ends = [of.entries[:, 0] for of in both if isinstance(of, GramVector)]
                asked.moves += [ends] * (len(ends) == len(both))
                after = begin._replace(state=state, local_step=j + 1)
                taker.take(("round", "local_step"), after, f"after {where}")
                moment = after._replace(before=before, previous=previous)
                taker.take(("transition",), moment, f"in {where}")
                previous = before
        return state

    def _init(self, method: Algorithm) -> tuple[Transcript, Tensor, Any, Unknowns]:
        """Return what init asks of unknown functions, its start, and the state that it makes."""
        problem, transcript = self._fresh(self.problem), Transcript()
        ctx, start = self._context(problem), problem.unknown_start
        oracles = Asked(problem.oracles(ctx.dtype, ctx.device, ctx.local), transcript, "oracles")
        return transcript, start, method.init(ctx, oracles, start), _unknowns(problem.asked)

    def _reduced(self, method: Algorithm) -> tuple[str, ...]:
        """Return how the measure reduces which moments, from a step that is thrown away."""
        still, after = self._first_step(method)
        _, again = self._first_step(method)
        if not all(map(same, after.state, again.state)):
            raise UndecidableError(
                f"{self.name}, whose first step is another one when it is made again",
                "steps that depend on the state, and on what is drawn and answered, alone",
                "keep what a step remembers in the state",
            )
        return Recorder(self.left, dict.fromkeys(MOMENTS, 1), still, lambda: after).how

    def _first_step(self, method: Algorithm) -> tuple[Moment, Moment]:
        """Return the moments before and after a first step that does not count."""
        thrown = self._fresh(self.problem)
        ctx = self._context(thrown)
        oracles = thrown.oracles(ctx.dtype, ctx.device, ctx.local)
        first = _begun(thrown, method, ctx, oracles, _start_of(thrown))
        last = RoundNumber(self.rounds - 1, 1) if self.all_rounds else self.rounds - 1
        still = Moment(ctx, thrown, first, first, last, 0, first, first)
        thrown.asked.following = True
        after = _checked(method, "step", method.step(ctx, oracles, first))
        thrown.asked.following = False
        return still, still._replace(state=after)

    def replay_generically(self) -> None:
        """Run the text in doubles, with random numbers for the unknowns, or raise.

        A run that stands for all rounds is replayed as a user's: from ``init`` on each round begins
        where the last one ended, with one context, one oracle object and one algorithm. What is
        remembered outside of the state is seen so.

        Raises:
            UndecidableError: it does something else than over the class.
        """
        many = len(ROUNDS) if SIZES == USUAL else FEW
        rounds = ROUNDS[:many] if self.all_rounds else (0,)
        firsts = [k * self.rounds * self.algorithm.local_steps for k in rounds]
        doubles, state = _Doubles(self, firsts), None
        if self.all_rounds:
            state = doubles.begun(*self.init)
            anywhere = Assignment.generic(*self.unknowns, self.ctx.replicates, seed=-1 % 2**32)
            after = Assignment.generic(*self.unknowns, self.ctx.replicates, seed=0)
            anywhere.at = {ROUND.letters[0]: Fraction(1)}
            after.continued(self.first, anywhere(tuple(self.last)))
        for seed, first in enumerate(firsts, 1):
            numbers = Assignment.generic(*self.unknowns, self.ctx.replicates, seed=seed)
            numbers.at = {ROUND.letters[0]: Fraction(rounds[seed - 1])}
            if self.all_rounds:
                numbers.continued(self.first, state)
            taken, state = doubles.replayed(numbers, first, state)
            numbers.compare(tuple(self.last), tuple(state), self.bits, f"{doubles.said} ends with")
            self._compare_measures(numbers, taken)
        chances = np.array([float(chance) for chance in self.chances]) ** len(firsts)
        if not np.allclose(doubles.ctx.weights.numpy(), chances, rtol=RTOL, atol=0):
            raise unlike(f"{self.name} draws with other chances", "those of its laws")

    def _compare_measures(self, numbers: Assignment, taken: Sequence[Taken]) -> None:
        if self.ours:
            return
        if len(taken) != len(self.taker.taken):
            raise unlike(f"{len(taken)} moments are measured", f"{len(self.taker.taken)}")
        for (where, known, bits), (_, given, _) in zip(self.taker.taken, taken, strict=True):
            of, to = ((r.value, *r.parts.values()) for r in (known, given))
            numbers.compare(of, to, bits, f"the measure {where} is")

    def replay(self, vectors: np.ndarray, values: Sequence[float]) -> list[Comparison]:
        """Run the text in doubles on functions that are known: see ``SymbolicRun``."""
        asked, dim = self.problem.asked, vectors.shape[1]
        known = np.zeros((len(self.unknowns[0]) + 2, dim))
        for j in range(len(known) - 2):
            of = self.given.get(j, Vector.basis(j)).coefficients
            known[j] = sum((float(c) * vectors[k] for k, c in of.items()), np.zeros(dim))
        if asked.saddle:  # x and y have coordinates of their own
            of_y = np.array([*self.unknowns[0], True, False])[:, None]
            known = np.concatenate([np.where(of_y, 0, known), np.where(of_y, known, 0)], 1)
        replicates, minima = self.ctx.replicates, np.zeros(len(asked.classes))
        numbers = Assignment(
            np.repeat(known[:, :, None], replicates, 2),
            np.concatenate([np.array(values, dtype=float), minima]),
            asked.saddle,
        )
        REFUSED.clear()
        with sizes(known.shape[1], dim):
            first = type(self.first)(*numbers(tuple(self.first)))
            state = first if self.all_rounds else None
            taken, _ = _Doubles(self, [0]).replayed(numbers, 0, state)
        _raise_what_was_refused()
        taker = _Taker(Measure(self.left), self.how)
        taker.taken = taken
        made = taker.result(self.chances)
        return [min(made, key=lambda of: of[1].constant)] if self.how[0] == "smallest" else made


class _Doubles:
    """The text in doubles: one context, one oracle object and one algorithm for all its rounds.

    Args:
        firsts: at which steps its stretches of rounds begin.
    """

    def __init__(self, run: _Run, firsts: Sequence[int]) -> None:
        self._run, self._algorithm = run, copy(run.algorithm)
        self.ctx = run.ctx.repeated(firsts)
        self.ctx.local_steps = run.algorithm.local_steps
        self._asks, self._looks = Playback(), Playback()
        oracles = run.problem.oracles(self.ctx.dtype, self.ctx.device, self.ctx.local)
        self._oracles = Asked(oracles, self._asks, "oracles")
        self.said = run.name

    def begun(self, transcript: Transcript, start: Tensor, known: Any, unknowns: Unknowns) -> Any:
        """Return the state that init makes."""
        numbers = Assignment.generic(*unknowns, self.ctx.replicates, seed=0)
        self._asks.begin(transcript, numbers, f"{self.said}.init")
        with _blamed(self.said):
            state = self._algorithm.init(self.ctx, self._oracles, numbers(start))
        numbers.compare(tuple(known), tuple(state), 0, f"{self.said}.init ends with")
        self._asks.end()
        return state

    def replayed(self, numbers: Assignment, first: int, state: Any) -> tuple[list[Taken], Any]:
        """Make a stretch of rounds, from a state or, without one, from the start.

        Returns:
            What was measured, and the last state.
        """
        run, self.ctx.t = self._run, first
        self.said = f"{run.name} at t = {first}"
        self._asks.begin(run.asks, numbers, self.said)
        self._looks.begin(run.looks, numbers, self.said)
        taker = _Taker(Measure(run.left), run.how if not run.ours else (run.how[0], "none"))
        with _blamed(self.said):
            if state is None:
                given = numbers(run.start)
                state = _begun(run.problem, self._algorithm, self.ctx, self._oracles, given)
                numbers.compare(tuple(run.first), tuple(state), 0, f"{self.said} begins with")
            s = first // run.algorithm.local_steps
            state = run.rounds_from(
                self.ctx,
                Asked(run.problem, self._looks, "problem"),
                self._oracles,
                self._algorithm,
                state,
                taker,
                range(s, s + run.rounds),
                first,
            )
        self._asks.end()
        if not run.ours:
            self._looks.end()
        return taker.taken, state


@dataclass(frozen=True, eq=False)
class _Itself:
    """One object, equal to itself alone, kept so that no other one takes its place."""

    of: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.of is self.of

    def __hash__(self) -> int:
        return id(self.of)


def _text(of: Any) -> Any:
    """Return what a function is made of: its code, and what it encloses."""
    if not isinstance(of, FunctionType):
        return of if isinstance(of, int | str) else _Itself(of)
    enclosed = (cell.cell_contents for cell in of.__closure__ or ())
    return of.__code__, repr((of.__defaults__, of.__kwdefaults__)), *map(_text, enclosed)


def _contents(of: Any) -> Any:
    """Return exact entries and numbers in place of tensors; of a function there is nothing."""
    if isinstance(of, tuple | list):
        return [_contents(x) for x in of]
    if isinstance(of, Unknown):
        return type(of).__name__, of.shape, of.entries.tolist()
    if isinstance(of, Tensor):
        return of.tolist()
    return None if callable(of) else of


def _unknowns(asked: Any) -> Unknowns:
    return tuple(asked.second), len(asked.values) + len(asked.classes), asked.saddle


@contextmanager
def _blamed(said: str) -> Iterator[None]:
    """Put what a text raises in doubles in terms of the text."""
    try:
        yield
    except DriftproofError:
        raise
    except Exception as error:
        raise unlike(f"{said} raises {type(error).__name__}: {error}", "nothing") from error


def _unknowns_in(of: Any) -> set[int]:
    """Return the unknown vectors of which a part of a state is made."""
    return (
        {j for v in of.entries.flat for j in v.coefficients}
        if isinstance(of, GramVector)
        else set()
    )


def _start_of(problem: Any) -> tuple[Tensor, ...]:
    """Return x_0; and what clients remember, of a run that begins anywhere."""
    return problem.unknown_start, *problem.unknown_own


def _begun(
    problem: Any, algorithm: Algorithm, ctx: Any, oracles: Any, start: tuple[Tensor, ...]
) -> Any:
    """Return the state that a run begins with."""
    begin = algorithm.anywhere if problem.begins_anywhere else algorithm.init
    given = start[: 1 + len(algorithm.remembered())]  # a method without memory takes start alone
    return _checked(algorithm, begin.__name__, begin(ctx, oracles, *given))


def _checked(algorithm: Algorithm, method: str, state: Any) -> Any:
    """Return a state, or raise: every field of one is a tensor."""
    fields = getattr(type(state), "_fields", None)
    odd = [
        f"field {name!r} is {value!r:.40}"
        for name, value in zip(fields or (), state, strict=False)
        if not isinstance(value, Tensor)
    ]
    if fields is None or odd:
        raise DriftproofError(
            f"{method} of {type(algorithm).__name__} returned "
            + (f"a state whose {odd[0]}" if odd else type(state).__name__),
            "a NamedTuple of tensors [clients, …, replicates], the state of all clients",
            "keep what counts in tensors, 0 * state.w[:, :1] + 1 say, or leave it out"
            if odd
            else "return State(w), with class State(NamedTuple) and w: Tensor, say",
        )
    return state


def _mapped(measures: list[Comparison], change: Callable[[GramForm], GramForm]) -> list[Comparison]:
    return [
        (where, change(of), {name: change(part) for name, part in parts.items()})
        for where, of, parts in measures
    ]


class _Taker:
    """Takes a measure at its moments, and its expectations over sampling."""

    def __init__(self, measure: Measure, how: tuple[str, ...]) -> None:
        self._measure, self.how, self._axes = measure, how[0], how[1:]
        if self._axes != ("none",):
            measure.how = how
        self.taken: list[Taken] = []
        if self.how == "given past":
            raise DriftproofError(
                "given_past(…) of a whole class", "a measure of the run", "write each(…)"
            )

    def take(self, axes: tuple[str, ...], moment: Moment, where: str) -> None:
        """Take the measure, if these are its moments."""
        if axes == self._axes:
            reduction = self._measure(moment)
            if reduction is not None:  # the statement may not speak of this moment
                self.taken.append((where, reduction, LARGEST[0]))

    def result(self, chances: list[Fraction]) -> list[Comparison]:
        """Return the comparisons, in expectation."""
        made: list[Comparison] = []
        for where, taken, _ in self.taken:
            for client in range(len(taken.value) if taken.by_client else 1):
                expected = {}
                for name, of in {"": taken.value, **taken.parts}.items():
                    entries = entries_of(of)
                    row = entries[client] if taken.by_client else entries
                    expected[name] = sum(
                        (p * x for p, x in zip(chances, row, strict=True)), GramForm()
                    )
                at = f"{where}, client {client}" if taken.by_client else where
                made.append((at, expected.pop(""), expected))
        if self.how == "average" and made:
            mean = sum((x for _, x, _ in made), GramForm()) / len(made)
            parts = {
                name: sum((own[name] for _, _, own in made), GramForm()) / len(made)
                for name in made[0][2]
            }
            return [(f"the mean over {len(made)} moments", mean, parts)]
        return made
