"""What an algorithm does on an instance, round by round: its states, questions, cohorts and draws.

It is run by ``toolkit.federation``. The context and the oracles note what is drawn and asked, so
that a user's code can be answered as the algorithm was, and compared with it.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit import oracles as protocols
from driftproof.toolkit.algorithm import Algorithm, Collective
from driftproof.toolkit.draws import Law, Words
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run
from driftproof.toolkit.problem import Problem, with_overrides
from driftproof.toolkit.tolerances import COMPUTED
from driftproof.verifiers.search.structure import altered


def _arguments(method: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    """Return the names of a question's arguments, and whether a draw comes last."""
    names = tuple(inspect.signature(method).parameters)[1:]
    noisy = names[-1:] in (("xi",), ("zeta",))
    return names[: len(names) - noisy], noisy


ARGUMENTS = {
    name: _arguments(method)
    for protocol in vars(protocols).values()
    if getattr(protocol, "_is_protocol", False)
    for name, method in inspect.getmembers(protocol, inspect.isfunction)
    if not name.startswith("_") and not name.endswith("_law") and name != "at"
    if _arguments(method)[0]  # what takes a draw alone is no question at a point
}
"""The questions that an algorithm may ask of oracles."""

POINTED = {name for name in ARGUMENTS if "grad" in name or "product" in name}
"""Questions whose answers are derivatives, which a family of problems may have constant."""
APART = 1 / 8
"""By how much of its size an answer may be moved."""


def told_apart(name: str, ask: Callable[..., Any]) -> Callable[..., Any]:
    """Return an oracle whose answers are of one point alone: of constant ones each would do.

    A program that asks at the wrong point would else conform. An algorithm's steps do not know
    that gradients are those of a function, so that any smooth factor serves. It does not depend on
    a vector v in which the answer is linear.
    """
    count = len(ARGUMENTS[name][0]) - (ARGUMENTS[name][0][-1] == "v")

    def asked(*given: Any) -> Any:
        far = sum((k * x.sum(-2, keepdim=True) for k, x in enumerate(given[:count], 1)), 0.0)
        return _times(ask(*given), 1 + APART * far / (1 + abs(far)))

    return asked


def _times(answer: Any, factor: Tensor) -> Any:
    if isinstance(answer, tuple):
        return tuple(_times(part, factor) for part in answer)
    return (lambda v: _times(answer(v), factor)) if callable(answer) else answer * factor


@dataclass(frozen=True)
class Instance:
    """What both sides run on.

    Attributes:
        sizes: each client's number of samples; its weight is its share of all.
        seed: of the draws.
        once: a client that asks a question twice at one point in a round meets one draw there.
        apart: it begins away from 0, and derivatives are ``told_apart``.
    """

    problem: Problem
    algorithm: Algorithm
    rounds: int
    sizes: tuple[int, ...]
    seed: int = 0
    once: bool = False
    apart: bool = False

    @cached_property
    def oracles(self) -> Any:
        """The problem's oracles, whose clients have these sizes."""
        oracles = copy(self.problem.oracles(torch.float64))
        sizes = torch.tensor(self.sizes, dtype=torch.float64)[:, None, None]
        object.__setattr__(oracles, "client_weights", sizes / sizes.sum())
        for name in POINTED if self.apart else ():
            if hasattr(oracles, name):
                object.__setattr__(oracles, name, told_apart(name, getattr(oracles, name)))
        return oracles

    @cached_property
    def start(self) -> np.ndarray:
        """Where both begin: if ``apart`` not where a program does that was not told."""
        start = self.problem.start()
        moved = self.apart and not start.any()
        return start + np.linspace(0.25, 0.5, start.size) * moved


@dataclass(frozen=True, eq=False)
class Question:
    """What the algorithm asked all clients: which oracle, in which local step (from 1), and where.

    Attributes:
        points: its arguments, [clients, size] each (numbers as they are).
        noise: the draw that it was answered with (None: none).
    """

    name: str
    step: int
    points: tuple[Any, ...]
    noise: Any

    def at(self, client: int) -> list[Any]:
        """Return where one client was asked."""
        return [x[client] if isinstance(x, np.ndarray) else x for x in self.points]


@dataclass
class Round:
    """One round of the algorithm.

    Attributes:
        raw: the state as the round begins.
        cohorts: the members of each cohort, by its name and the step at which it was drawn.
        draws: what else was drawn, by its name and the step at which it was, but for noise that
            went into an oracle.
    """

    raw: Any = ()
    questions: list[Question] = field(default_factory=list)
    cohorts: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    draws: dict[tuple[str, int], Tensor] = field(default_factory=dict)

    @cached_property
    def state(self) -> dict[str, np.ndarray]:
        """The state by field, [clients, size]."""
        return {name: _plain(x) for name, x in self.raw._asdict().items()}


@dataclass(frozen=True)
class Run:
    """The rounds of a run, and the state at the end as a round without questions."""

    rounds: list[Round]

    @cached_property
    def largest(self) -> float:
        """The largest number of the run, of its states and of where it asked."""
        asked = [x for each in self.rounds for q in each.questions for x in q.points]
        return _largest(*asked, *(x for each in self.rounds for x in each.state.values()))

    def allowed(self, *sizes: Any) -> float:
        """Return by how much numbers of some size may differ and count as equal.

        A thousandth of the largest of the run counts too: what cancels keeps its rounding error.
        """
        return float(COMPUTED.apart) * max(self.largest / 1000, _largest(*sizes))

    def of(self, name: str) -> list[np.ndarray]:
        """Return a field of the state as each round begins."""
        return [each.state[name] for each in self.rounds]

    def near(self, x: Any, wanted: Any) -> Any:
        """Say whether a point is that of the algorithm; of rows of points, which of them are."""
        size = np.abs(wanted).max(-1, initial=self.largest / 1000)
        return np.abs(x - wanted).max(-1, initial=0.0) <= float(COMPUTED.apart) * size


class _Noting(BatchedContext):
    """One replicate, whose cohorts and draws are noted; of question ``lost`` each answer is NaN."""

    fusable = False

    def __init__(self, instance: Instance, lost: int, met: list[Any]) -> None:
        words = Words("conform", str(instance.seed))
        super().__init__(words, instance.problem.clients, replicates=1)
        self.now, self._once, self._lost, self._met = Round(), instance.once, lost, met

    def cohort(self, size: int, since: int, name: str = "cohort") -> Collective:
        made: Any = super().cohort(size, since, name)
        made.average = partial(self._looked, (name, since), made.average)
        mask = self._cohorts[name][1]
        members = torch.arange(self.clients) if mask is None else mask[:, 0, 0].nonzero().flatten()
        self.now.cohorts[name, since] = members.tolist()
        return cast(Collective, made)

    def _looked(self, key: tuple[str, int], average: Any, *xs: Tensor, **named: Any) -> Any:
        self._met += [key] * any(bool(x.isnan().any()) for x in xs)
        return average(*xs, **named)

    def draw(self, law: Law | None, name: str) -> Tensor | None:
        drawn = super().draw(law, name)
        if drawn is not None:
            self.now.draws[name, self.t] = drawn
        return drawn

    def server_draw(self, law: Law, name: str, since: int) -> Tensor:
        drawn = self.now.draws[name, since] = super().server_draw(law, name, since)
        return drawn

    def asking(self, name: str, ask: Callable[..., Any], *given: Any) -> Any:
        """Note a question, and answer it."""
        names, noisy = ARGUMENTS[name]
        noise: Any = given[-1] if noisy else None
        self.now.draws = {key: x for key, x in self.now.draws.items() if x is not given[-1]}
        points = tuple(map(_plain, given[: len(names)]))
        if self._once and noise is not None:
            given = (*given[:-1], noise := noise.clone())
        now = Question(name, self.t % self.local_steps + 1, points, noise)
        for q in self.now.questions[::-1] if self._once else []:  # the first draw stays
            if q.name == name and np.shape(q.noise) == np.shape(noise) != ():
                for k in range(self.clients):
                    if all(map(np.allclose, q.at(k), now.at(k))):
                        now.noise[k] = q.noise[k]
        self.now.questions.append(now)
        self._lost -= 1
        return ask(*given) if self._lost else nan(ask(*given))


def played(instance: Instance, lost: int = 0, met: Any = (), **changed: Any) -> Run | None:
    """Run the algorithm (None: an iterate was not finite).

    Args:
        lost, met: the number of a question answered with NaN; gets the cohorts that meet it.
        changed: arguments of ``run``: jitter, or begun.
    """
    ctx = _Noting(instance, lost, [] if lost == 0 else met)
    oracles, rounds = copy(instance.oracles), list[Round]()
    for name in ARGUMENTS:
        if hasattr(oracles, name):
            ask = partial(ctx.asking, name, getattr(instance.oracles, name))
            object.__setattr__(oracles, name, ask)

    def watch(number: int, state: Any) -> None:
        ctx.now = Round(state)
        rounds.append(ctx.now)

    problem = with_overrides(
        instance.problem,
        oracles=lambda self, *args, **named: oracles,
        start=lambda self: instance.start,
    )
    run(
        problem,
        instance.algorithm,
        ctx,
        rounds=instance.rounds,
        watch=watch,
        kernels=False,
        **changed,
    )
    for each in rounds:
        of_cohorts = {name for name, _ in each.cohorts}
        each.draws = {key: x for key, x in each.draws.items() if key[0] not in of_cohorts}
    whole = len(rounds) + changed.get("begun", (0,))[0] > instance.rounds
    states = [x for each in rounds[1:] for x in each.state.values()]
    return Run(rounds) if whole and all(np.isfinite(x).all() for x in states) else None


def stable(instance: Instance, made: Run) -> bool:
    """Say whether rounding errors, as another order of sums has, stay far below what is allowed."""
    moved = played(instance, jitter=0)
    return moved is not None and all(
        _largest(np.subtract(made.of(name), moved.of(name))) <= made.allowed(*made.of(name)) / 1000
        for name in made.rounds[0].state
    )


def averaged(instance: Instance, now: Round, number: int) -> dict[Any, list[Question]]:
    """Return the questions of a round by the cohort that first meets their answers, NaN in turn."""
    found: dict[Any, list[Question]] = {key: [] for key in now.cohorts}
    for k, question in enumerate(now.questions, 1):
        met: list[Any] = []
        with suppress(Exception):  # NaN is no choice
            played(instance, k, met, begun=(number, now.raw))
        key = next((key for key in met if key in now.cohorts), None)
        found.setdefault(key, []).append(question)
    return found


def fields_of(
    algorithm: Algorithm, problems: list[Problem]
) -> tuple[tuple[str, ...], dict[str, bool]]:
    """Return the fields of the state that a round reads, and which are each client's own.

    Seen on problems whose clients differ. Where a round sets a field before it reads it, NaN there
    changes nothing, and where none ever sets or reads it another value changes no other field. The
    iterate is among the fields all the same.

    What is shared where a round has one local step may be a client's own where it has two.

    Returns:
        The fields; and of those that differ between clients, whether they do after the first round.
    """
    read: dict[str, None] = {}
    own = dict[str, bool]()
    two = {"local_steps": 2} if "local_steps" in algorithm.values() else {}
    for problem, member in product(problems, (algorithm, altered(algorithm, two) or algorithm)):
        instance = Instance(problem, member, 3, (1,) * problem.clients)
        made = played(instance)
        if made is None:
            continue
        for name in made.rounds[0].state:
            apart = [bool(np.ptp(x, 0).any()) for x in made.of(name)]
            if any(apart):
                own[name] = own.get(name, False) or any(apart[1:])
            if name == algorithm.iterate or _reads(instance, name, made):
                read[name] = None
    return tuple(read), own


def _reads(instance: Instance, name: str, made: Run) -> bool:
    raw, stays = made.rounds[1].raw, not np.ptp(made.of(name), 0).any()
    now = getattr(raw, name)
    unknown = raw._replace(**{name: now + 1 if stays else torch.full_like(now, torch.nan)})
    try:
        moved = played(instance, begun=(1, unknown))
        return moved is None or not all(
            np.array_equal(made.of(other)[1:], moved.of(other)) or other == name or not stays
            for other in made.rounds[0].state
        )
    except (RuntimeError, IndexError):  # it chooses by it, and NaN is no choice
        return True


def nan(x: Any) -> Any:
    """Return NaN for each number of an answer."""
    if isinstance(x, tuple):
        return tuple(map(nan, x))
    return (lambda v: nan(x(v))) if callable(x) else x * np.nan


def _plain(x: Any) -> Any:
    """Return a copy of the single replicate of a tensor; anything else as it is."""
    return x[..., 0].detach().cpu().numpy().copy() if isinstance(x, Tensor) else x


def doubles(name: str, x: Any) -> Any:
    """Return a user's vector in doubles; a number as it is.

    Raises:
        DriftproofError: it is in a shorter format, whose rounding would be taken for a difference.
    """
    parts = x if isinstance(x, list | tuple) else [x]
    kinds = [str(part.dtype).removeprefix("torch.") for part in parts if hasattr(part, "dtype")]
    for kind in kinds:
        if kind.startswith(("float", "bfloat")) and kind not in ("float64", "float128"):
            raise DriftproofError(
                f"{name} in {kind}",
                "float64: rounding to fewer digits would be taken for a difference",
                "convert what you get with dtype=torch.float64 or np.float64; or call "
                "torch.set_default_dtype(torch.float64) first",
            )
    if isinstance(x, int | float):
        return x
    return np.array(x.detach().cpu().numpy() if isinstance(x, Tensor) else x, dtype=np.float64)


def _largest(*numbers: Any) -> float:
    return max((float(np.max(np.abs(x), initial=0.0)) for x in numbers), default=0.0)
