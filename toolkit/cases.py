"""Cases: what a statement is judged on, and what it assumes of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, overload

from typing_extensions import TypeVar

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.letters import Letter, shown
from driftproof.toolkit.problem import Problem

P_co = TypeVar("P_co", bound=Problem, covariant=True, default=Any)
A_co = TypeVar("A_co", bound=Algorithm | None, covariant=True, default=Any)
P = TypeVar("P", bound=Problem)
A = TypeVar("A", bound=Algorithm)


@dataclass(frozen=True)
class Assumption:
    """A condition under which a statement is claimed.

    Attributes:
        name: as the paper calls it.
        statement: in LaTeX.
        roles: the constants that a problem must have proven.
        relation: a further relation between letters, as sympy (None: none); it is evaluated for
            each case, and a case that breaks it is INAPPLICABLE.
        applies: a further condition on the case (None: none), for what no letter says.

    Raises:
        DriftproofError: one role, not a tuple.
    """

    name: str
    statement: str
    roles: tuple[str, ...] = ()
    relation: Callable[[Any], Any] | None = None
    applies: Callable[[Case], bool] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.roles, str):
            raise DriftproofError(
                f"roles = {self.roles!r} of the assumption {self.name!r}",
                "a tuple of roles",
                f"write roles=({self.roles!r},)",
            )


@dataclass(frozen=True)
class Case(Generic[P_co, A_co]):
    """One problem, one algorithm and a horizon.

    A claim's function says which classes it expects: ``case: Case[KLDRO, ComFedL]``.

    Attributes:
        problem: a member of a problem family.
        algorithm: with its hyperparameters (None: nothing is run).
        rounds: the horizon, in rounds of communication (0: nothing is run).

    Raises:
        DriftproofError: a part of another type, a parameter with several values, or an algorithm
            without a number of rounds.
    """

    problem: P_co
    algorithm: A_co = None  # type: ignore[assignment] # A_co is None where it is left out
    rounds: int = 0

    def __post_init__(self) -> None:
        for part, wanted, name in (
            (self.problem, Problem, "a problem"),
            (self.algorithm, Algorithm, "an algorithm"),
        ):
            if part is not None and not isinstance(part, wanted):
                raise DriftproofError(
                    f"Case with {part!r}", name, "write Case(BoundedComposition(), ComFedL(), 20)"
                )
            if part is not None and part.swept():
                raise DriftproofError(
                    f"{type(part).__name__} with a list for {', '.join(part.swept())}",
                    "one value in a Case",
                    "write cases = grid(…), which makes a case of each value",
                )
        if self.algorithm is not None and not _whole(self.rounds):
            raise DriftproofError(
                f"rounds = {self.rounds!r} of a case with {type(self.algorithm).__name__}",
                "a whole number of rounds, 1 or more",
                "write grid(…, rounds=20)",
            )

    def parameters(self) -> dict[str, Any]:
        """Return everything that defines the case, as JSON would hold it."""
        parameters: dict[str, Any] = {
            "problem": {"name": self.problem.leaf_name, **self.problem.values()}
        }
        if self.algorithm is not None:
            values = self.algorithm.values().items()
            own = {name: shown(of) if isinstance(of, Letter) else of for name, of in values}
            parameters["algorithm"] = {"name": self.algorithm.leaf_name, **own}
        if self.rounds:
            parameters["rounds"] = self.rounds
        return parameters

    @property
    def over_class(self) -> bool:
        """Whether it stands for a whole class of functions."""
        return self.problem.leaf_name == "class"

    @property
    def key(self) -> str:
        """A short name that is the same wherever and whenever the case is built.

        Made of the parameters that differ from their defaults, so that a family may gain a
        parameter without becoming another one.
        """
        parts: list[Any] = [self.problem.leaf_name, self.problem.changed(), self.rounds or None]
        if self.algorithm is not None:
            parts += [self.algorithm.leaf_name, self.algorithm.changed()]
        text = json.dumps(parts, sort_keys=True, default=shown)
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

    def __str__(self) -> str:
        parts = [str(self.problem)]
        if self.algorithm is not None:
            parts.append(str(self.algorithm))
        if self.rounds:
            parts.append(f"rounds={self.rounds}")
        return ", ".join(parts)


def numbers_of(case: Case) -> dict[str, float]:
    """Return the numeric parameters of a case's problem and algorithm by name.

    Raises:
        DriftproofError: both have a parameter of one name with different values.
    """
    numbers: dict[str, float] = {}
    for part in (case.problem, case.algorithm):
        for name, value in part.values().items() if part is not None else ():
            if not isinstance(value, int | float):
                continue
            if numbers.get(name, value) != value:
                raise DriftproofError(
                    f"{name} is {numbers[name]} of {case.problem} and {value} of {case.algorithm}",
                    "one meaning for each name",
                    f"rename the field {name} of the algorithm",
                )
            numbers[name] = value
    return numbers


def roles_of(
    case: Case, *, rounds: int | None = None, gap: float | None = None
) -> dict[str, float]:
    """Return every role's number on a case (with another horizon, to draw a bound's curve)."""
    roles: dict[str, Any] = {**numbers_of(case), **case.problem.proven}
    if case.algorithm is not None:
        roles["cohort_size"] = case.algorithm.cohort_size(case.problem.clients)
        roles["rounds"] = case.rounds if rounds is None else rounds
        roles["steps"] = roles["rounds"] * case.algorithm.local_steps
    roles["initial_gap"] = case.problem.initial_gap[1] if gap is None else gap
    return roles


@overload
def grid(problem: P) -> list[Case[P, None]]: ...
@overload
def grid(problem: P, algorithm: A, *, rounds: int | list[int]) -> list[Case[P, A]]: ...
def grid(
    problem: Problem, algorithm: Algorithm | None = None, *, rounds: int | list[int] = 0
) -> list[Any]:
    """Return a case for every combination of the values that ``sweep`` and ``rounds`` list.

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.algorithms import ComFedL
    >>> from driftproof.toolkit.parameters import sweep
    >>> members = BoundedComposition(clients=sweep(1, 2))
    >>> len(grid(members, ComFedL(local_steps=sweep(1, 5, 9)), rounds=4))
    6
    """
    return cases_of(problem, algorithm, rounds, "grid(problem, algorithm, rounds=20)")


def cases_of(
    problem: Problem, algorithm: Algorithm | None, rounds: int | list[int], call: str
) -> list[Any]:
    """Return the cases of a function that makes them.

    Args:
        call: how that function is called.
    """
    function, _, given = call.partition("(")
    for part, kind, name in (
        (problem, Problem, "a problem"),
        (algorithm, Algorithm, "an algorithm"),
    ):
        if part is not None and not isinstance(part, kind):
            first, second, *_ = given.split(", ")
            remedy = f"put the {first} first, the {second} after it"
            if isinstance(part, type):
                remedy = f"write {part.__name__}(…), with brackets"
            elif isinstance(part, list | tuple):
                remedy = f"add lists of cases: {function}(…) + {function}(…)"
            called = f"{part.__name__}, a class" if isinstance(part, type) else str(part)
            raise DriftproofError(f"{function}(…) with {called} where {name} stands", call, remedy)
    horizons = rounds if isinstance(rounds, list) else [rounds]
    algorithms: Sequence[Any] = algorithm.expand() if algorithm is not None else [None]
    return [
        Case(member, method, horizon)
        for member in problem.expand()
        for method in algorithms
        for horizon in horizons
    ]


def _whole(rounds: Any) -> bool:
    return isinstance(rounds, int) and not isinstance(rounds, bool) and rounds >= 1
