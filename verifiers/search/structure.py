"""What stays fixed while a climb moves numbers: how many clients, steps and knots, which noise.

Structures are drawn at random, and half of the later ones are the best so far with one thing
changed: what helped is likely to help again.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import Constraint, Parameters, constraints

P = TypeVar("P", bound=Parameters)
STEPS_AT_FIRST, MOST_STEPS = 60, 4000
"""Steps of a run, in the first climbs and in the last ones."""
COUNTS = {
    "clients": ((2, 6), (1, 2), (3, 2), (4, 2)),
    "dim": ((1, 9), (2, 1)),
    "knots": ((2, 4), (3, 2), (1, 1)),
    "local_steps": ((1, 3), (2, 3), (3, 1), (5, 2), (10, 2), (30, 1), (100, 1)),
    "rounds": ((1, 4), (2, 2), (3, 1), (5, 2), (10, 2), (30, 2), (100, 1), (300, 1), (1000, 1)),
}
"""What a count may be, with its weight."""
LARGEST = {"local_steps": 101, "rounds": 3001}
"""What some counts stay below if they are any number, by scale."""
ANY = 0.2
"""How often they are."""
KINDS = 16
"""Structures of which each has its own combination of what statements assume most."""
RARE = (0.5, 0.5, 0.25, 0.0625, 0.01, 0.001)
WHOLE = (0, 1, 2, 3, 5, 10)
"""What a whole number of an algorithm may be."""
DRAWN = (*COUNTS, "noises", "alike", "opposed", "options", "moved", "taking_part", "plain")
"""What of a structure is drawn."""


@dataclass(frozen=True)
class Structure:
    """One way to set up a climb.

    Attributes:
        family: a problem family by name.
        clients, dim, knots, rounds, local_steps: counts (knots: of each curve).
        taking_part: m, the clients of a cohort.
        noises: which noises are on.
        rare: the probability of a coin's rarer side.
        alike: what is the same for all clients.
        opposed: the curve in which alone the clients of some candidates differ, so that it cancels
            in their mean.
        plain: whether there is a plain part h.
        convex: whether every client's loss is strongly convex.
        coupled: whether an upper level has a part that x and y share.
        at_rest: whether the start is a stationary point, from which clients that differ drift.
        averaged_inside: whether inner values are averaged before the outer function.
        term: what h is, of losses with a term.
        largest: whether step sizes are as large as the assumptions allow; small ones move nothing,
            where left / right nears 1 of whatever decays, and climbs end.
        options: values of the algorithm's fields that are whole numbers.
        moved: of a shipped family, the parameters that are moved; the others keep their defaults.
    """

    family: str
    clients: int = 2
    dim: int = 1
    knots: int = 2
    rounds: int = 1
    local_steps: int = 1
    taking_part: int = 2
    noises: tuple[str, ...] = ()
    rare: float = 0.5
    alike: tuple[str, ...] = ()
    opposed: str = ""
    plain: bool = False
    convex: bool = False
    coupled: bool = False
    at_rest: bool = False
    averaged_inside: bool = False
    term: str = ""
    largest: bool = False
    options: tuple[tuple[str, Any], ...] = ()
    moved: tuple[str, ...] = ()

    @property
    def kind(self) -> tuple[bool, ...]:
        """What statements assume most, or forget."""
        several, some = self.local_steps > 1, self.taking_part < self.clients
        return bool(self.noises), several, some, self.rounds > 1, self.clients > 1


@dataclass(frozen=True)
class Choices:
    """From what structures are drawn.

    Attributes:
        family: the problem family.
        algorithm: its whole numbers give options (None: nothing is run).
        noises: which noises there are.
        alike: what may be the same for all clients.
        opposed: the curves that may be opposed.
        flags: what else may be there or not, by name.
        rests: whether some runs begin at a stationary point, some with the largest steps.
        moved: of a shipped family, the parameters that may be moved.
        fixed: what of a structure cannot be chosen, by name.
        counts_move: whether the algorithm's whole numbers (a batch) may be others than its own.
    """

    family: str
    algorithm: Algorithm | None = None
    noises: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    opposed: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    rests: bool = False
    moved: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    counts_move: bool = True

    def draw(self, random: np.random.Generator, longest: int, number: int) -> Structure:
        """Return a structure with at most ``longest`` steps.

        Args:
            number: how many were drawn before. Each of the first sixteen has its own choice of
                noise or none, one local step or several, all clients or some, and one round or
                several: statements often assume one of these, and forget another. Of the later
                ones half are long, with two or three local steps, all clients, no noise.
        """
        structure = Structure(self.family)
        for name in (*DRAWN, *self.flags):
            structure = self._redrawn(structure, name, random)
        if not self.alike:  # coordinates of a shipped family may act on each other
            structure = replace(structure, dim=1 + number.bit_count() % 2)
        if number < KINDS:
            some, noisy = number & 2, number & 4
            several, again = not number & 1, not number & 8
            part = max(1, structure.clients - 1) if some else structure.clients
            structure = replace(
                structure,
                taking_part=part,
                local_steps=max(2, structure.local_steps) if several else 1,
                rounds=max(2, structure.rounds) if again else 1,
                noises=(structure.noises or self.noises[:1]) if noisy else (),
                rare=float(random.choice(RARE)) if noisy else 0.5,
            )
        elif number % 2:
            steps, clients = int(random.integers(2, 4)), max(2, structure.clients)
            rounds = int(max(1.0, longest / steps) ** random.uniform(0.5, 1.0))
            structure = replace(
                structure,
                clients=clients,
                taking_part=clients,
                local_steps=steps,
                rounds=max(2, rounds),
                noises=(),
                rare=0.5,
            )
        if self.rests:
            nth = number % 4
            structure = replace(structure, largest=nth == 3, at_rest=nth in (1, 3))
        return self._fitted(structure, longest)

    def changed(self, structure: Structure, random: np.random.Generator, longest: int) -> Structure:
        """Return a structure that differs from another in one thing or two."""
        names = (*DRAWN, *self.flags)
        for name in random.choice(names, size=random.integers(1, 3), replace=False):
            structure = self._redrawn(structure, str(name), random)
        return self._fitted(structure, longest)

    def _redrawn(self, of: Structure, name: str, random: np.random.Generator) -> Structure:
        if name in COUNTS:
            drawn: dict[str, Any] = {name: _count(name, random)}
        elif name == "noises":
            some = bool(self.noises) and random.random() < 0.5
            drawn = {
                "noises": _some(self.noises, random) if some else (),
                "rare": float(random.choice(RARE)) if some else 0.5,
            }
        elif name == "alike":
            drawn = {name: tuple(x for x in self.alike if random.random() < 0.3)}
        elif name == "opposed":
            drawn = {name: str(random.choice(self.opposed or ("",)))}
        elif name == "plain" or name in self.flags:
            drawn = {name: bool(random.random() < 0.3)}
        elif name == "taking_part":
            whole = random.random() < 0.6
            drawn = {name: of.clients if whole else int(random.integers(1, of.clients + 1))}
        elif name == "moved":
            drawn = {name: self._moved(random)}
        else:
            drawn = {name: tuple(self._options(random))}
        return replace(of, **drawn)

    def _moved(self, random: np.random.Generator) -> tuple[str, ...]:
        share = random.choice([0.25, 0.5, 1.0])
        return tuple(name for name in self.moved if random.random() < share)

    def _options(self, random: np.random.Generator) -> list[tuple[str, Any]]:
        """Return whole numbers of the algorithm; words and flags stay those of the claim's cases.

        A statement may presume a word, "one sample" say, without an assumption that says so.
        Numbers that do not go together, as 3 tasks of 1, are not drawn.
        """
        options: list[tuple[str, Any]] = []
        algorithm = self.algorithm
        if algorithm is None or not self.counts_move:
            return options
        for name, constraint in counted(type(algorithm)).items():
            if random.random() < 0.5:
                counts = (*WHOLE, 30) if name.endswith("_steps") else WHOLE
                values = [k for k in counts if constraint.allows(k)]
                drawn = {name: values[int(random.integers(len(values)))]}
                algorithm = altered(algorithm, drawn) or algorithm
            options.append((name, getattr(algorithm, name)))
        return options

    def _fitted(self, structure: Structure, longest: int) -> Structure:
        """Return a structure that keeps to what is fixed, to its clients and to the steps."""
        structure = replace(structure, **dict(self.fixed))
        if self.algorithm is None:
            return replace(structure, rounds=0, local_steps=1)
        algorithm = with_values(self.algorithm, dict(structure.options))
        steps = max(1, min(structure.local_steps, longest))
        part = min(structure.taking_part, structure.clients)
        if not _has(algorithm, "local_steps", steps):
            steps = algorithm.local_steps
        if not _has(algorithm, "participation", part / structure.clients):
            part = structure.clients
        rounds = max(1, min(structure.rounds, longest // steps))
        structure = replace(structure, local_steps=steps, rounds=rounds, taking_part=part)
        drifts = structure.clients > 1 and (steps > 1 or part < structure.clients)
        if not (structure.at_rest and drifts):
            return replace(structure, at_rest=False)
        return replace(structure, opposed="")  # F' would be 0 not at the start alone


def as_long(structure: Structure, case: Case) -> Structure:
    """Return a structure with the counts of a case."""
    of, problem = case.algorithm, case.problem
    if of is None:
        return structure
    return replace(
        structure,
        clients=problem.clients,
        dim=problem.dim,
        rounds=case.rounds,
        local_steps=of.local_steps,
        taking_part=of.cohort_size(problem.clients),
    )


def _has(algorithm: Algorithm, name: str, value: Any) -> bool:
    """Whether an algorithm has a parameter, and may have this value of it."""
    return name in algorithm.values() and altered(algorithm, {name: value}) is not None


def altered(part: P, fields: Mapping[str, Any]) -> P | None:
    """Return a problem or an algorithm with other values (None: they do not go together)."""
    try:
        return cast(P, replace(cast(Any, part), **fields))
    except DriftproofError:
        return None


def with_values(algorithm: Algorithm, fields: Mapping[str, Any]) -> Algorithm:
    """Return an algorithm with other values, which may be tensors, without its checks."""
    changed = copy.copy(algorithm)
    for name, value in fields.items():
        object.__setattr__(changed, name, value)
    return changed


def counted(algorithm: type[Algorithm]) -> dict[str, Constraint]:
    """Return the fields of an algorithm that are whole numbers, beside the local steps."""
    return {
        name: constraint
        for name, constraint in constraints(algorithm).items()
        if name != "local_steps" and constraint.integer
    }


def real(algorithm: type[Algorithm]) -> dict[str, Constraint]:
    """Return the fields of an algorithm that are real numbers, beside the share of clients."""
    return {
        name: constraint
        for name, constraint in constraints(algorithm).items()
        if name != "participation" and not (constraint.choices or constraint.integer)
    }


def _count(name: str, random: np.random.Generator) -> int:
    """Return a count: one of ``COUNTS`` by its weight, or sometimes any up to ``LARGEST``."""
    if name in LARGEST and random.random() < ANY:
        return int(LARGEST[name] ** random.random())
    values, weights = zip(*COUNTS[name], strict=True)
    shares = np.array(weights, float)
    return int(random.choice(values, p=shares / shares.sum()))


def _some(names: Sequence[str], random: np.random.Generator) -> tuple[str, ...]:
    """Return at least one of the names."""
    chosen = tuple(name for name in names if random.random() < 0.5)
    return chosen or (names[int(random.integers(len(names)))],)
