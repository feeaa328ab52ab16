"""A client as a round function sees it: it answers as it answered the algorithm."""

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.verifiers.conform.reference import ARGUMENTS, Instance, Question, Run, doubles, nan

SHORT = {"grad": "field_grad", "loss": "mean_loss"}
"""Shorter names of questions."""
PLAIN = ("number", "size", "weight")
"""What a client has besides."""
Place = tuple[int, int, int]
"""A question of a user's code: its round and its client, and how many this client had before it."""


class Client:
    """One client: ``grad(x)``, and whatever else its problem's oracles can be asked.

    A question that the algorithm asks in this round, too, has that question's noise; one at another
    point has that of the first question that is still open, and no noise if none is.

    Args:
        way: which of several draws at one point a question gets, if it is not the first: as many
            as they are, it leaves the first to the next question, as one for a log has to.
        choices: is told how many there are.
        alike: whether the questions of all clients get theirs in one way.

    Attributes:
        number: its place among all clients, the same in every round.
        size: how many samples it has.
        weight: its share of all samples.
        open: the algorithm's questions of this round that it was not asked yet.
        elsewhere: those of them at whose turn it was asked at another point: argument, got, wanted.
        found: those that were asked at their point, at their turn or later.
        asked: how often each question was asked in this round.
        places: each question that it was asked.
        idle, lost: those that take no draw, as they change no iterate; that answered with NaN.
    """

    idle: Collection[Place] = ()
    lost: Place | None = None

    def __init__(
        self, number: int, instance: Instance, of: Run, at: int, way: Any, choices: Any, alike: bool
    ) -> None:
        self.number, self.size = number, instance.sizes[number]
        self.weight = self.size / sum(instance.sizes)
        self._questions = of.rounds[at].questions
        self.open = list(self._questions)
        self.elsewhere: dict[Question, tuple[str, Any, Any]] = {}
        self.found: set[Question] = set()
        self.asked: Counter[str] = Counter()
        self.places: dict[Place, str] = {}
        self._run, self._oracles, self._round = of, instance.oracles, at
        self._way, self._choices, self._as = way, choices, "all" if alike else number
        has = (word for word in ARGUMENTS if hasattr(self._oracles, word))
        self._can = {word: getattr(self._oracles, word) for word in has}
        problem: Any = instance.problem  # its losses, where the oracles give gradients alone
        if hasattr(problem, "own_values") and not problem.inside:
            self._can.setdefault("mean_loss", problem.own_values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        asked, given = SHORT.get(name, name), getattr(self._oracles, name, None)
        if asked in self._can:
            return partial(self._answer, asked)
        if isinstance(given, int | float):
            return given
        known = [*(short for short, full in SHORT.items() if full in self._can), *self._can]
        known += [word for word in ("lower_smoothness",) if hasattr(self._oracles, word)]
        raise unknown_name("attribute of a client", name, [*known, *PLAIN])

    def _answer(self, name: str, *given: Any) -> Any:
        """Answer in numpy, unless a tensor is given."""
        points = [doubles(f"{name} of client {self.number} at a point", x) for x in given]
        names, noisy = ARGUMENTS[name]
        self.places[place := (self._round, self.number, len(self.places))] = name
        if len(given) != len(names):
            raise DriftproofError(
                f"{name} of client {self.number} with {len(given)} arguments",
                f"{name}({', '.join(names)})",
                "leave the noise out: the algorithm's is taken",
            )
        meant = self._meant(name, points) if place not in self.idle else None
        noise = [meant.noise if meant is not None else None] if noisy else []
        answer = self._can[name](*map(self._everywhere, points), *noise)
        own = self._own(answer, next((x.dtype for x in given if isinstance(x, Tensor)), None))
        return nan(own) if place == self.lost else own

    def _meant(self, name: str, points: list[Any]) -> Question | None:
        """Return the algorithm's question whose noise a question gets (None: no noise)."""
        self.asked[name] += 1
        still_open = [q for q in self.open if q.name == name]
        found = self._near(name, points)
        near = sorted(found, key=lambda q: (not found[q], q not in still_open))
        draws: dict[Any, Question] = {}  # equal ones are one
        for q in near:
            draws.setdefault(q.noise is not None and q.noise[self.number].numpy().tobytes(), q)
        key, of = (self._as, self.asked.total()), len(draws)
        if of > 1:
            self._choices[key] = max(of, self._choices.get(key, 0))
        taken = min(self._way.get(key, 0), of)
        meant = list(draws.values())[taken % of] if of else None
        self.found |= {*still_open} & {meant} or {*near} & {*self.elsewhere}
        if still_open and {*near}.isdisjoint(still_open):
            self.elsewhere[still_open[0]] = self._apart(still_open[0], points)[0]
        meant = meant or next(iter(still_open), None)
        if meant in still_open and taken < max(of, 1):
            self.open.remove(meant)
        return meant

    @property
    def more(self) -> dict[str, int]:
        """How much more often than by the algorithm its questions were asked in this round."""
        return {
            name: self.asked[name] - n for name, n in self.often.items() if self.asked[name] > n
        }

    @property
    def often(self) -> Counter[str]:
        """How often the algorithm asks each of its questions in this round."""
        return Counter(q.name for q in self._questions)

    def _near(self, name: str, points: list[Any]) -> dict[Question, bool]:
        """Return the questions that were asked at these points, and whether just there."""
        every = [q for q in self._questions if q.name == name]
        near, same = np.full((2, len(every)), True)
        at = zip(*(q.at(self.number) for q in every), strict=True)
        for argument, x, wanted in zip(ARGUMENTS[name][0], points, at, strict=bool(every)):
            if np.shape(x) != np.shape(wanted[0]):
                raise DriftproofError(
                    f"{name} of client {self.number} at {argument} of shape {np.shape(x)}",
                    f"{argument} of shape {np.shape(wanted[0])}",
                    "ask at one vector, of this client alone",
                )
            rows = np.reshape(wanted, (len(every), -1))
            near &= self._run.near(x, rows)
            same &= (np.abs(rows - x) <= 1e-8 + 1e-5 * np.abs(x)).all(-1)  # as np.allclose has it
        return {q: same[k] for k, q in enumerate(every) if near[k]}

    def _apart(self, question: Question, points: list[Any]) -> list[tuple[str, Any, Any]]:
        """Return the arguments that are not those of a question: name, got and wanted."""
        every = zip(ARGUMENTS[question.name][0], points, question.at(self.number), strict=True)
        return [(name, x, y) for name, x, y in every if not self._run.near(x, np.atleast_1d(y))]

    def _everywhere(self, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        return torch.from_numpy(x)[None, :, None].expand(self._oracles.clients, -1, 1)

    def _own(self, answer: Any, kind: torch.dtype | None) -> Any:
        """Return this client's part of what all answer."""
        if isinstance(answer, tuple):
            return tuple(self._own(part, kind) for part in answer)
        if callable(answer):
            return self._pullback(answer)
        own = answer[self.number, ..., 0].detach()
        if kind is not None:
            return own.to(kind)
        return own.numpy().copy() if own.dim() else float(own)

    def _pullback(self, back: Callable[[Tensor], Tensor]) -> Callable[[Any], Any]:
        def pulled(v: Any) -> Any:
            kind = v.dtype if isinstance(v, Tensor) else None
            return self._own(back(self._everywhere(doubles("v of a pullback", v))), kind)

        return pulled
