"""Conditions on a whole case, asked of many candidates by their numbers alone.

An assumption may be a function of the case. Most such functions look at declared constants and at
the algorithm's fields; then no case has to be made of a candidate to ask them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from types import SimpleNamespace
from typing import Any

import numpy as np

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import ROLES

MOST_ANSWERS = 100_000
"""Answers that are remembered."""


class Conditions:
    """The conditions of some assumptions that numbers decide.

    Args:
        assumptions: of which those with ``applies`` count.
        algorithm: with the values of what is no number of a candidate.
        rounds: of the cases.

    Attributes:
        read: the constants by role, and the algorithm's fields, that they look at.
    """

    def __init__(
        self,
        assumptions: Sequence[Assumption],
        algorithm: Algorithm,
        rounds: int,
        example: Mapping[str, Any],
    ) -> None:
        self._algorithm, self._rounds = algorithm, rounds
        self._values = frozenset(algorithm.values())
        self._answers: dict[tuple[Callable[[Any], bool], tuple[float, ...]], bool] = {}
        stated = [a.applies for a in assumptions if a.applies is not None]
        reads = [(applies, self._reads(applies, example)) for applies in stated]
        self._asked = [(applies, read) for applies, read in reads if read is not None]
        self.read: set[str] = set().union(*(read for _, read in self._asked))

    def broken(
        self, numbers: Mapping[str, Any], count: int, where: np.ndarray | None = None
    ) -> np.ndarray:
        """Return how many conditions each candidate breaks, [candidates].

        Args:
            numbers: of roles and fields, a number for each candidate or one for all.
            count: how many candidates there are.
            where: of which to ask (None: of all).
        """
        total = np.zeros(count)
        places = np.arange(count) if where is None else np.flatnonzero(where)
        for applies, read in self._asked:
            known = sorted(read & set(numbers))
            values = [np.broadcast_to(numbers[name], count)[places] for name in known]
            table = np.array(values, float).reshape(len(known), len(places))
            # most read what all candidates share, or what does not change between two calls
            rows, at = np.unique(table.T, axis=0, return_inverse=True)
            fails = [not self._answer(applies, tuple(known), tuple(row)) for row in rows.tolist()]
            total[places] += np.array(fails, float)[at.ravel()] if len(places) else 0.0
        return total

    def _answer(
        self, applies: Callable[[Any], bool], names: tuple[str, ...], row: tuple[float, ...]
    ) -> bool:
        """Return whether a condition holds for these numbers; asked once."""
        if len(self._answers) > MOST_ANSWERS:
            self._answers.clear()
        if (applies, row) not in self._answers:
            case = self._case(dict(zip(names, row, strict=True)))
            self._answers[applies, row] = _holds(applies, case)
        return self._answers[applies, row]

    def _reads(self, applies: Callable[[Any], bool], example: Mapping[str, Any]) -> set[str] | None:
        """Return what a condition reads, if it asks for numbers alone (None: it looks further)."""
        numbers = {name: float(np.ravel(x)[0]) for name, x in example.items()}
        read: set[str] = set()
        try:
            _holds(applies, self._case(numbers, read))
        except Exception:  # noqa: BLE001 - it may be anybody's, and looks further than numbers
            return None
        return read

    def _case(self, numbers: Mapping[str, float], read: set[str] | None = None) -> Any:
        constants = {name: x for name, x in numbers.items() if name in ROLES and np.isfinite(x)}
        noted = set() if read is None else read
        fields = _Fields(self._algorithm, self._values & set(numbers), numbers, noted)
        problem = SimpleNamespace(constants=_Noting(constants, noted))
        return SimpleNamespace(problem=problem, algorithm=fields, rounds=self._rounds)


def _holds(applies: Callable[[Any], bool], case: Any) -> bool:
    try:
        return bool(applies(case))
    except KeyError:  # of a constant that there is not
        return False


class _Noting(Mapping[str, float]):
    """Constants, which note what was asked for."""

    def __init__(self, constants: Mapping[str, float], read: set[str]) -> None:
        self._constants, self._read = constants, read

    def __getitem__(self, role: str) -> float:
        self._read.add(role)
        return self._constants[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self._constants)

    def __len__(self) -> int:
        return len(self._constants)


class _Fields:
    """An algorithm with a candidate's numbers, which notes what was asked for."""

    def __init__(
        self, algorithm: Algorithm, moved: Set[str], numbers: Mapping[str, float], read: set[str]
    ) -> None:
        self._algorithm, self._moved, self._numbers, self._read = algorithm, moved, numbers, read

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        return self._numbers[name] if name in self._moved else getattr(self._algorithm, name)
