"""Compares a stated Lipschitz constant of the objective's gradient with what is proven and met."""

from collections.abc import Mapping

from driftproof.synthetic.attacks.search import attack
from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters, evaluate
from driftproof.verifiers.claim_types.bound import RightSide
from driftproof.verifiers.claim_types.compared import Comparison


def steepest(case: Case, right: RightSide, roles: Mapping[str, str]) -> list[Comparison]:
    """Return the comparison of right at the constants' letters with the steepest pair of points."""
    constants = case.problem.constants
    stated = evaluate(right(Letters(roles)), roles, constants)
    proven = constants["objective_smoothness"]
    met = proven * attack(case.problem, "objective_smoothness")
    return [Comparison("steepest pair of points", met, max(met, proven), stated)]
