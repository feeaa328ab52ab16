"""What an experiment computes, in units: a run of a method on a problem.

It is a frozen dataclass, whose fields name everything that its result depends on: the ledger finds
a finished run by them.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.dataset import digest, read
from driftproof.toolkit.discover import import_path, is_own
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.user_traceback import telling_the_file
from driftproof.toolkit.wire import WireFailure, run_on_wire
from driftproof.verifiers.experiment.codec import checkpoint, packed, unpacked
from driftproof.verifiers.running.scheduler import Result, Task

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")
CHOOSING = 900
"""The first of the partitions on which settings are chosen: no sentence is judged on them."""


@dataclass(frozen=True)
class Followed:
    """The state of a run at every round's start and at the end.

    Attributes:
        fields: of the first client's state, [moments, dim] each. There are rounds + 1 moments,
            or fewer: the last is the last at which every value was finite.
        sent: rounds of communication until each moment (on the wire, which counts them in sum,
            spread evenly).
        bad_step: the local step that gave a value that is not finite (None: none did, or the wire
            does not tell).
    """

    fields: Mapping[str, np.ndarray]
    sent: Sequence[int]
    bad_step: int | None = None


@dataclass(frozen=True, kw_only=True)
class Run(ABC):
    """One method on one problem, followed round by round and measured.

    A subclass names the ``problem``, the ``algorithm`` and what is ``measured``.

    Attributes:
        rounds: how many.
        seed: of the whole experiment.
        partition: of the data and the draws: 0, 1, … over which sentences are judged.
        engine: "batched" or "wire".
    """

    fields: ClassVar[tuple[str, ...]] = ("w",)
    """Of the state, to be followed."""
    scales: ClassVar[Mapping[str, str]] = {}
    """Of what is measured: "loss", "gap" and "cost" are better small, all else is an accuracy."""
    drawn: ClassVar[tuple[str, ...]] = ()
    """What keys the draws beside seed and partition."""
    units: ClassVar[Mapping[str, str]] = {}
    """Of what is measured, where its name does not say it."""

    rounds: int
    seed: int = 0
    partition: int = 0
    engine: str = "batched"

    @property
    @abstractmethod
    def problem(self) -> Problem:
        """The problem, whose data depend on ``data_seed``."""

    @property
    @abstractmethod
    def algorithm(self) -> Algorithm:
        """The method with its parameters."""

    @property
    def keys(self) -> tuple[str, ...]:
        """What keys the draws: runs of equal keys have the same cohorts and minibatches."""
        return str(self.seed), *self.drawn, str(self.partition)

    def made(self, kind: Callable[..., Made], **given: Any) -> Made:
        """Return an algorithm or a problem, by default with the run's attributes of equal names."""
        names = {part.name for part in fields(self)} & set(signature(kind).parameters)
        return kind(**{name: getattr(self, name) for name in names} | given)

    @abstractmethod
    def measured(self) -> dict[str, Any]:
        """Compute: numbers, texts, lists and dictionaries of them."""

    def work(self) -> bytes:
        """Compute, and pack it for the ledger."""
        with telling_the_file(self.path):
            return packed(self.measured())

    @property
    def name(self) -> str:
        """Everything that the result depends on; of a data set its content, not its path alone."""
        folders = [of for part in fields(self) if isinstance(of := getattr(self, part.name), Path)]
        contents = "".join(f" {of}" for folder in folders if (of := digest(folder)))
        return f"{type(self).__module__}.{self!r}{contents}"

    @property
    def path(self) -> Path | None:
        """The user's file that its class is in, if it is in one."""
        module = type(self).__module__
        return Path(sys.modules[module].__file__ or "") if is_own(module) else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel by the file's path, from which a worker imports the class."""
        return _restored, (self.path, type(self).__module__, type(self).__name__, vars(self))

    @property
    def choosing(self) -> bool:
        """Whether it is of a search: its validation data judge nothing."""
        return self.partition >= CHOOSING

    @property
    def moments(self) -> Sequence[int]:
        """The rounds at which it is measured."""
        return range(self.rounds + 1)

    @property
    def titled(self) -> str:
        """What its data set is called; empty if it has none, or says so elsewhere."""
        return read(self.data).title if hasattr(self, "data") else ""

    @property
    def sizes(self) -> str:
        """What stands below its plots: clients, model, images."""
        return f"{self.problem.clients} clients"

    @property
    def trivial(self) -> Mapping[str, float]:
        """What a model that ignores its inputs comes to, by what is measured."""
        return {}

    def scale(self, name: str) -> str:
        """Return how what is measured compares: see ``outcome.better``."""
        return self.scales.get(name, "accuracy")

    @property
    def data_seed(self) -> int:
        """The seed of the data."""
        return self.seed * 1000 + self.partition

    @classmethod
    def planned(cls, plan: Any, **given: Any) -> Self:
        """Return a run at a plan's seed, engine, data and device, as far as its class has them."""
        names = {part.name for part in fields(cls)} & {"seed", "engine", "data", "device"}
        return cls(**{name: getattr(plan, name) for name in names} | given)

    def but(self, **changes: Any) -> Self:
        """Return the run with some attributes changed."""
        return replace(self, **changes)

    def over(self, seeds: int) -> list[Self]:
        """Return the run on each of the first ``seeds`` partitions."""
        return [self.but(partition=k) for k in range(seeds)]

    def followed(self, problem: Problem | None = None, rounds: int | None = None) -> Followed:
        """Run in the chosen engine and follow the state.

        Args:
            problem: what is run on (default: the run's own).
            rounds: how many (default: the run's own).
        """
        engine = _on_wire if self.engine == "wire" else _batched
        return engine(self, problem or self.problem, self.rounds if rounds is None else rounds)


def _restored(path: Path | None, module: str, name: str, values: dict[str, Any]) -> Run:
    owner = import_module(module) if path is None else import_path(path)
    run: Run = object.__new__(getattr(owner, name))
    run.__dict__.update(values)
    return run


def _batched(of: Run, problem: Problem, rounds: int) -> Followed:
    ctx = sampled_context(problem, of.keys, replicates=1)
    kept: dict[str, list[np.ndarray]] = {name: [] for name in of.fields}
    sent: list[int] = []

    def watch(s: int, state: Any) -> None:
        for name, values in kept.items():
            values.append(getattr(state, name)[0, :, 0].numpy().copy())
        sent.append(ctx.rounds)

    outcome = run(problem, of.algorithm, ctx, rounds=rounds, watch=watch)
    fields = {name: np.array(values) for name, values in kept.items()}
    return Followed(fields, sent, outcome.bad_step)


def _on_wire(of: Run, problem: Problem, rounds: int) -> Followed:
    try:
        done = run_on_wire(problem, of.algorithm, of.keys, rounds=rounds, fields=of.fields)
    except WireFailure as failure:
        if failure.what != "not finite" or failure.done is None:
            raise
        done = failure.done  # the rounds before it overflowed
    fields = {name: done.followed[name][..., 0] for name in of.fields}
    sent = np.linspace(0, done.rounds, len(done.iterates)).round().astype(int).tolist()
    return Followed(fields, sent)


def results_of(
    units: Mapping[Key, Sequence[Task]],
) -> Generator[Sequence[Task], list[Result], dict[Key, list[dict[str, Any]]]]:
    """Ask for all units at once (``yield from``) and return each key's results, in order.

    A unit that comes back as a checkpoint is asked for again, for what is left, until it is whole.
    """
    asked = [unit for of_key in units.values() for unit in of_key]
    blobs: dict[int, bytes] = {}
    while left := [place for place in range(len(asked)) if place not in blobs]:
        for place, (blob, _) in zip(left, (yield [asked[k] for k in left]), strict=True):
            if checkpoint(blob) is None:
                blobs[place] = blob
            else:
                asked[place] = cast("Any", asked[place]).going_on(blob)
    results = iter(unpacked((blobs[k], 0.0) for k in range(len(asked))))
    return {key: list(islice(results, len(of_key))) for key, of_key in units.items()}
