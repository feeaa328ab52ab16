"""The families whose members are nobody's construction, and what a search asks of one.

One module a family: how a vector of real numbers becomes instances.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, Protocol

import numpy as np

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.assertions import ASSERTIONS, asserted
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families.bilevel import BilevelProblems
from driftproof.verifiers.search.families.composition import Compositions
from driftproof.verifiers.search.families.decoding import Rows
from driftproof.verifiers.search.families.losses import LossFunctions
from driftproof.verifiers.search.families.minimax import MinimaxProblems
from driftproof.verifiers.search.structure import Choices, Structure


class Parts(Protocol):
    """The numbers of many instances, which lie beside each other in the last axis of tensors."""

    @property
    def members(self) -> int:
        """How many instances there are."""

    def changed(self, change: Any) -> Any:
        """Return them with ``change`` applied to every tensor."""


class Members(Protocol):
    """Many instances as one problem, of which a run has neighbouring replicates each."""

    def roles(self, of_objective: bool) -> dict[str, np.ndarray]:
        """Return every constant of every instance (also F's own), role → [instances]."""


class Family(Protocol):
    """A problem family, and how it is searched."""

    leaf_name: str
    asserts: frozenset[str]
    """What holds for every member (``toolkit.assertions``)."""

    def choices(self, algorithm: Algorithm, problem: Problem, asked: Set[str]) -> Choices:
        """Return from what structures are drawn.

        Args:
            algorithm, problem: a case of the claim.
            asked: the constants that the claim needs by role.
        """

    def parts(self, rows: Rows, of: Structure) -> Any:
        """Return the instances (``Parts``) that vectors stand for."""

    @property
    def members(self) -> Callable[..., Any]:
        """From them, and how many replicates a run has of each, to one problem (``Members``)."""

    def member(self, parts: Any, of: Structure) -> Problem:
        """Return the first of them as a problem."""


FAMILIES: dict[str, Family] = {
    family.leaf_name: family
    for family in (Compositions(), LossFunctions(), MinimaxProblems(), BilevelProblems())
}
_BY_NEED = dict(zip(("composition", "field", "minimax", "bilevel"), FAMILIES.values(), strict=True))


def family_for(algorithm: Algorithm | None, problem: Problem) -> tuple[Family | None, str]:
    """Return the family of a claim's case: by the algorithm's oracles, and the kind of problem.

    Returns:
        None without such a family; or with one that may not stand in for the problem, and why.
    """
    if algorithm is None:
        return None, ""
    kept = asserted(problem)
    saddle = problem.offers == "minimax" or "zero-sum" in kept
    need = "minimax" if saddle and algorithm.needs in OFFERS["minimax"] else algorithm.needs
    family = _BY_NEED.get(need)
    lacking = [ASSERTIONS[name].words for name in sorted(kept - family.asserts)] if family else []
    if family is None or not lacking:
        return family, ""
    return (
        None,
        f"{family.leaf_name} does not assert that {' and '.join(lacking)}, as "
        f"{type(problem).__name__} does",
    )
