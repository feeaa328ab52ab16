"""The families whose members are nobody's construction, by name and by the oracles they have."""

from driftproof.synthetic.problems.piecewise_terms import TERMS
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.assertions import ASSERTIONS, asserted
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families.family import Family
from driftproof.verifiers.search.families.piecewise import (
    BilevelProblems,
    Compositions,
    LossesWithTerm,
    LossFunctions,
    MinimaxProblems,
)

BY_NEED: dict[str, Family] = {
    "composition": Compositions(),
    "field": LossFunctions(),
    "minimax": MinimaxProblems(),
    "bilevel": BilevelProblems(),
    **dict.fromkeys(TERMS, LossesWithTerm()),
}
FAMILIES: dict[str, Family] = {family.leaf_name: family for family in BY_NEED.values()}


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
    family = BY_NEED.get(need)
    lacking = [ASSERTIONS[name].words for name in sorted(kept - family.asserts)] if family else []
    if family is None or not lacking:
        return family, ""
    return (
        None,
        f"{family.leaf_name} does not assert that {' and '.join(lacking)}, as "
        f"{type(problem).__name__} does",
    )
