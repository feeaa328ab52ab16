"""Tells a role that this case lacks from a role that nothing has: the second is misspelt."""

import difflib
from collections.abc import Iterable
from typing import Any

from driftproof.toolkit.constants import ROLES, RUN_ROLES
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.user_traceback import telling_the_method
from driftproof.verifiers.claim_types.claim import Claim


def check_roles(claim: Claim[Any], lacking: Iterable[str]) -> None:
    """Raise if a role that a case lacks is one that no problem or algorithm can have.

    Args:
        claim: whose letters and assumptions name the roles.
        lacking: roles without a number on some case.
    """
    lacking = list(lacking)
    if lacking:
        families = {type(case.problem): case.problem for case in claim.cases_for("full")}
        for member in families.values():
            _check_constants(member)
    lacking = [role for role in lacking if role not in ROLES and role not in RUN_ROLES]
    if not lacking:
        return
    own: set[str] = set()
    for case in claim.cases_for("full"):
        own |= set(case.problem.proven) | set(case.problem.values())
        own |= set(case.algorithm.values()) if case.algorithm is not None else set()
    odd = next((role for role in lacking if role not in own), None)
    if odd is not None:
        error = unknown_name("role", odd, {*ROLES, *RUN_ROLES, *own})
        raise DriftproofError(f"{_named_in(claim, odd)}{error.got}", error.wanted, error.remedy)


def _named_in(claim: Claim[Any], role: str) -> str:
    """Return "in … : " of the notation that has a role, or nothing if it is in the claim."""
    for case in claim.cases_for("full"):
        for part in (case.problem, case.algorithm):
            letter = next(
                (x for x, named in getattr(part, "notation", {}).items() if named == role), ""
            )
            if letter:
                return f"letter {letter!r} in the notation of {type(part).__name__}: "
    return ""


def _check_constants(problem: Problem) -> None:
    """Raise DriftproofError if a problem declares a constant nearly as a role is called."""
    parameters = problem.values()
    for name in problem.constants:
        near = difflib.get_close_matches(name, ROLES, n=1, cutoff=0.85)
        if name not in ROLES and name not in parameters and near:
            with telling_the_method(type(problem)):
                error = unknown_name(f"role in the constants of {problem.leaf_name},", name, ROLES)
                raise DriftproofError(error.got, error.wanted, f"{error.remedy} Mend constants")
