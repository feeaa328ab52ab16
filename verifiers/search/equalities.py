"""Equalities among what is assumed: η = 1/√T gives a step size, and no candidate meets it by luck.

An equality is solved for a hyperparameter that the search may move, or for the horizon, and what it
gives takes the place of what was drawn.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import numpy as np

from driftproof.toolkit.cases import Assumption, Case, roles_of
from driftproof.toolkit.constants import Key, Notation
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.assumptions import equalities, relation_of
from driftproof.verifiers.search.letters import LackingError, evaluated
from driftproof.verifiers.search.structure import counted, real


def given(assumptions: Sequence[Assumption], notation: Notation, names: Set[str]) -> dict[str, Any]:
    """Return what equalities give, role → sympy expression in the other letters.

    Args:
        names: the roles that may be given; each equality gives one of them.
    """
    related = (a for a in assumptions if a.relation is not None)
    formulas = tuple(relation_of(assumption, notation.key).formula for assumption in related)
    return _given(formulas, notation.key, frozenset(names))


@lru_cache(maxsize=1024)
def _given(formulas: tuple[Any, ...], key: Key, names: frozenset[str]) -> dict[str, Any]:
    import sympy

    notation = Notation.of(key)
    solved: dict[str, Any] = {}
    for equality in equalities(formulas):
        symbols = sorted(equality.free_symbols, key=str)
        for symbol in (s for s in symbols if notation[s.name] in names - set(solved)):
            # every letter stands for a number above 0 where a root is taken; alone it may be 0
            sign = {"nonnegative" if len(symbols) == 1 else "positive": True}
            positive = {s: sympy.Symbol(s.name, **sign) for s in symbols}
            solutions = sympy.solve(equality.xreplace(positive), positive[symbol])
            if len(solutions) == 1:
                solved[notation[symbol.name]] = solutions[0]
                break
    return solved


def put_in(
    expressions: Mapping[str, Any], notation: Notation, roles: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Return the numbers that equalities give, role → [candidates] (or one for all)."""
    numbers: dict[str, Any] = {}
    for role, expression in expressions.items():
        try:
            numbers[role] = np.asarray(evaluated(expression, notation, {**roles, **numbers}), float)
        except LackingError:
            continue  # no candidate has that number: the relation says so
    return numbers


def kept(claim: Claim[Any], form: Form, case: Case) -> Case | None:
    """Return the case with the hyperparameters that equalities give (None: it cannot have them)."""
    if case.algorithm is None:
        return case
    kind = type(case.algorithm)
    whole = counted(kind)
    names = {*real(kind), *whole}
    notation = claim.notation(case)
    expressions = given((*claim.assumes, *form.assumes), notation, names)
    if not expressions:
        return case
    try:
        fields: dict[str, Any] = {}
        for role, number in put_in(expressions, notation, roles_of(case)).items():
            value = float(number)
            fields[role] = round(value) if role in whole else value
        return replace(case, algorithm=replace(cast(Any, case.algorithm), **fields))
    except (DriftproofError, ValueError, ArithmeticError):
        return None
