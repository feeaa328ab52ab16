"""Conditions on a whole case, asked of many candidates by their numbers alone.

An assumption may be a function of the case. Most such functions look at declared constants and at
the algorithm's fields; then no case has to be made of a candidate to ask them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from toolkit.algorithm import Algorithm
from toolkit.cases import Assumption
from toolkit.constants import ROLES


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
        self, assumptions: Sequence[Assumption], algorithm: Algorithm, rounds: int,
        example: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self._algorithm, self._rounds = algorithm, rounds
        self.read: set[str] = set()
        stated = [a.applies for a in assumptions if a.applies is not None]
        self._asked = [applies for applies in stated if self._decided(applies, example)]

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
        if not self._asked:
            return total
        spread = {name: np.broadcast_to(numbers[name], count) for name in self.read & set(numbers)}
        for k in range(count) if where is None else np.flatnonzero(where):
            case = self._case({name: float(x[k]) for name, x in spread.items()})
            total[k] = sum(not _holds(applies, case) for applies in self._asked)
        return total

    def _decided(self, applies: Callable[[Any], bool], example: Mapping[str, Any]) -> bool:
        """Whether a condition asks for numbers alone, which are noted."""
        numbers = {name: float(np.ravel(x)[0]) for name, x in example.items()}
        read: set[str] = set()
        try:
            _holds(applies, self._case(numbers, read))
        except Exception:  # noqa: BLE001 - it may be anybody's, and looks further than numbers
            return False
        self.read |= read
        return True

    def _case(self, numbers: Mapping[str, float], read: set[str] | None = None) -> Any:
        constants = {name: x for name, x in numbers.items() if name in ROLES and np.isfinite(x)}
        noted = set() if read is None else read
        return SimpleNamespace(
            problem=SimpleNamespace(constants=_Noting(constants, noted)),
            algorithm=_Fields(self._algorithm, numbers, noted), rounds=self._rounds,
        )  # fmt: skip


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

    def __init__(self, algorithm: Algorithm, numbers: Mapping[str, float], read: set[str]) -> None:
        self._algorithm, self._numbers, self._read = algorithm, numbers, read

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        known = name in self._algorithm.values() and name in self._numbers
        return self._numbers[name] if known else getattr(self._algorithm, name)
