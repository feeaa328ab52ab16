"""Candidates of the families that a claim names, one case at a time.

The families' parameters say their ranges by their annotations. A climb starts from the defaults of
problem and algorithm, not from the claim's cases.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import Constraint, constraints
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.judge import OUTSIDE
from driftproof.verifiers.judges.scores import score
from driftproof.verifiers.search import equalities
from driftproof.verifiers.search.letters import LackingError, letters_of, violation
from driftproof.verifiers.search.numbers import parameter
from driftproof.verifiers.search.structure import Structure, altered, real

CANDIDATES = 10
"""Cases of a generation: each is a run of its own."""
MOST_COUNTED = 40
"""The largest whole number that a parameter is moved to."""
HALVINGS = 25


class SingleSpace:
    """The space of one structure on a problem family of the project's, or the user's.

    Args:
        claim, form: what is to be broken.
        problem, algorithm: whose parameters are moved, from the values that they have.
        structure: what stays fixed.
        seed: of sampled noise.
        late: whether to look at no more candidates.
    """

    candidates = CANDIDATES

    def __init__(
        self,
        claim: Claim[Any],
        form: Form,
        problem: Problem,
        algorithm: Algorithm | None,
        structure: Structure,
        seed: int,
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        of = structure
        self.late = late
        self.claim, self.form, self.structure, self.seed = claim, form, structure, seed
        given = {"clients": of.clients, "dim": of.dim}
        self.problem = _with(problem, {k: v for k, v in given.items() if k not in of.moved})
        self.algorithm = None
        if algorithm is not None:
            fields = dict(of.options) | {"local_steps": of.local_steps}
            if "participation" in algorithm.values():
                clients = getattr(self.problem, "clients", of.clients)
                fields["participation"] = min(of.taking_part, clients) / clients
            self.algorithm = _with(algorithm, fields)
        ranges = constraints(type(self.problem))
        self._of_problem = {name: ranges[name] for name in of.moved if name in ranges}
        self._of_algorithm = {} if algorithm is None else real(type(algorithm))
        self.size = len(self._of_problem) + len(self._of_algorithm)
        self.assumes = (*claim.assumes, *form.assumes)

    def ratios(self, z: np.ndarray) -> np.ndarray:
        """Return the score of each candidate, [candidates], for z of [size, candidates].

        NaN of those that are not looked at, as it is late; of the first there is always one.
        """
        columns = enumerate(z.T)
        return np.array([np.nan if k and self.late() else self._score(one) for k, one in columns])

    def _score(self, z: np.ndarray) -> float:
        case = self.case(z)
        return 10 * OUTSIDE if case is None else score(self.claim, self.form, case, self.seed)

    def case(self, z: np.ndarray) -> Case | None:
        """Return one vector's case (None: its parameters do not go together)."""
        numbers = iter(z)
        fields = {
            name: _value(next(numbers), constraint, getattr(self.problem, name))
            for name, constraint in self._of_problem.items()
        }
        steps = {
            name: _value(next(numbers), constraint, getattr(self.algorithm, name))
            for name, constraint in self._of_algorithm.items()
        }
        try:
            problem = replace(self.problem, **fields)
            if self.algorithm is None:
                return Case(problem)
            return self._inside(problem, self.algorithm, steps)
        except DriftproofError:
            return None

    def _inside(
        self, problem: Problem, algorithm: Algorithm, steps: Mapping[str, float]
    ) -> Case | None:
        """Return the case with hyperparameters halved until they go together and keep relations."""
        numbers, rounds = dict(steps), self.structure.rounds
        for _ in range(HALVINGS):
            try:
                drawn = Case(problem, replace(cast(Any, algorithm), **numbers), rounds)
            except DriftproofError:
                numbers = {name: 0.5 * value for name, value in numbers.items()}
                continue
            case = equalities.kept(self.claim, self.form, drawn)
            if case is None:
                return None
            notation = self.claim.notation(case)
            moved = [x for x in numbers if x in letters_of(self.assumes, notation)]
            if not moved or not self._broken(case):
                return case
            return self._towards(case, moved)
        return None

    def _towards(self, case: Case, moved: list[str]) -> Case:
        """Return the case with hyperparameters shrunk to the edge of the relations, one by one."""
        for name in moved:
            value = float(getattr(case.algorithm, name))
            largest = 0.0
            factors = 0.5 ** np.arange(1.0, 2 * HALVINGS)
            for _ in range(3):  # halves, then between the largest that fits and the next
                broken = self._violation(case, {name: value * factors})
                fits = factors[broken == 0]
                if not len(fits):
                    break
                largest = float(fits.max())
                over = factors[factors > largest]
                factors = np.linspace(largest, float(over.min()) if len(over) else 1.0, 40)
            if largest > 0:
                return _with_number(case, name, value * largest) or case
        return case

    def _broken(self, case: Case) -> bool:
        try:
            return bool(self._violation(case, {}).max() > 0)
        except LackingError:
            return False  # no number to compare: the score says that the case is outside

    def _violation(self, case: Case, numbers: dict[str, np.ndarray]) -> np.ndarray:
        roles = {role: np.array([number]) for role, number in roles_of(case).items()} | numbers
        return violation(self.assumes, self.claim.notation(case), roles)


def movable(problem: Problem) -> tuple[str, ...]:
    """Return the parameters of a problem that a climb can move: its numbers."""
    values = problem.values()
    return tuple(
        name
        for name, constraint in constraints(type(problem)).items()
        if name not in ("clients", "dim")
        and constraint.low < constraint.high
        and not constraint.choices
        and isinstance(values[name], int | float)
    )


def _value(z: float, constraint: Constraint, default: Any) -> Any:
    """Return a parameter's value for a real number: 0 gives about the default."""
    if constraint.integer:
        high = min(constraint.high, MOST_COUNTED)
        low = constraint.low if np.isfinite(constraint.low) else -MOST_COUNTED
        whole = round((default or 1) * 4.0 ** float(np.clip(z, -4, 4)))
        return int(np.clip(whole, low, max(high, default)))
    if default == 0 and np.isinf(constraint.high):
        # a size that is 0 by default stays 0 for half of the numbers
        return 0.0 if z < -1.0 else float(parameter(np.array([z]), constraint, 1.0)[0])
    return float(parameter(np.array([z]), constraint, default)[0])


def _with(part: Any, fields: Mapping[str, Any]) -> Any:
    """Return a problem or algorithm with those of the fields that it has and may take."""
    for name, value in fields.items():
        if name in part.values():
            part = altered(part, {name: value}) or part  # it may have no such member
    return part


def _with_number(case: Case, name: str, value: float) -> Case | None:
    algorithm = altered(case.algorithm, {name: value})
    return None if algorithm is None else replace(case, algorithm=algorithm)
