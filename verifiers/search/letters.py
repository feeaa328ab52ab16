"""Right sides and assumptions of many candidates at once, in doubles.

The judge evaluates both at 30 digits for one case. A search asks for thousands a second, so an
expression is compiled once and given arrays, a number for each candidate.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Notation
from driftproof.toolkit.tolerances import ROUNDED
from driftproof.verifiers.judges.assumptions import conjuncts, relation_of
from driftproof.verifiers.judges.bounds import split_right

Roles = Mapping[str, Any]
"""Role → a number for each candidate, [candidates], or one for all."""


class LackingError(Exception):
    """A role for which candidates have no number."""


def right_sides(right: Any, notation: Notation, roles: Roles) -> tuple[Any, dict[str, Any]]:
    """Return the constant part of a right side and its coefficients, [candidates] each."""
    constant, factors = split_right(right, notation)
    return (
        evaluated(constant, notation, roles),
        {name: evaluated(factor, notation, roles) for name, factor in factors.items()},
    )


def roles_in(right: Any, notation: Notation) -> set[str]:
    """Return the roles that stand in a right side."""
    constant, factors = split_right(right, notation)
    symbols = set().union(*(_compiled(x)[0] for x in (constant, *factors.values())))
    return {notation[symbol.name] for symbol in symbols}


def violation(assumptions: Sequence[Assumption], notation: Notation, roles: Roles) -> np.ndarray:
    """Return how far each candidate is from meeting every relation: 0 where all hold.

    The distance of a ≤ b is (a − b)/(|a| + |b|), so that a search can walk towards 0.
    """
    count = max((np.size(x) for x in roles.values()), default=1)
    total = np.zeros(count)
    for assumption in assumptions:
        for role in assumption.roles:
            if role not in roles:
                raise LackingError(role)
        if assumption.relation is not None:
            relation = relation_of(assumption, notation.key).formula
            total = total + np.broadcast_to(_broken(relation, notation, roles), count)
    return total


def known_violation(
    assumptions: Sequence[Assumption], notation: Notation, roles: Roles
) -> np.ndarray:
    """Return how far candidates are from the relations, or parts of one, in known letters alone."""
    count = max((np.size(x) for x in roles.values()), default=1)
    total = np.zeros(count)
    for assumption in assumptions:
        if letters_of([assumption], notation) <= set(roles):
            total = total + violation([replace(assumption, roles=())], notation, roles)
            continue
        for part in conjuncts(relation_of(assumption, notation.key).formula):
            if {notation[s.name] for s in part.free_symbols} <= set(roles):
                total = total + np.broadcast_to(_broken(part, notation, roles), count)
    return total


def letters_of(assumptions: Sequence[Assumption], notation: Notation) -> set[str]:
    """Return the roles that stand in some relation."""
    related = (a for a in assumptions if a.relation is not None)
    return set().union(*(relation_of(assumption, notation.key).roles for assumption in related))


def _broken(stated: Any, notation: Notation, roles: Roles) -> Any:
    """Return the distance from a relation, by its structure of and, or and not."""
    import sympy
    from sympy.core.relational import Equality, Relational, StrictGreaterThan, StrictLessThan

    if stated in (sympy.true, sympy.false):
        return 0.0 if stated else 1.0
    if isinstance(stated, sympy.And):
        return sum(_broken(part, notation, roles) for part in stated.args)
    if isinstance(stated, sympy.Or):
        return np.minimum.reduce([_broken(part, notation, roles) for part in stated.args])
    if isinstance(stated, sympy.Not):
        return _broken(stated.args[0].negated, notation, roles)
    if not isinstance(stated, Relational):
        raise LackingError(str(stated))
    left, right = (np.asarray(evaluated(side, notation, roles), float) for side in stated.args)
    with np.errstate(invalid="ignore"):  # 1/L is infinite where L is 0
        size = np.abs(left) + np.abs(right)
        apart = (left - right) / np.where(size > 0, size, 1.0)
    apart = np.where(np.isfinite(apart), apart, np.sign(left - right))
    if isinstance(stated, Equality):
        apart = np.abs(apart)
        return np.where(np.isnan(apart), 1.0, np.where(apart <= ROUNDED / 2, 0.0, apart))
    if stated.rel_op in (">", ">="):
        apart = -apart
    strict = isinstance(stated, StrictLessThan | StrictGreaterThan)
    bad = (apart >= 0) if strict else (apart > 0)
    return np.where(np.isnan(apart), 1.0, np.where(bad, np.maximum(apart, 1e-12), 0.0))


def evaluated(expression: Any, notation: Notation, roles: Roles) -> Any:
    """Return an expression in letters for each candidate.

    Raises:
        LackingError: a letter's role has no number.
    """
    symbols, compiled = _compiled(expression)
    arguments = []
    for symbol in symbols:
        role = notation[symbol.name]
        if role not in roles:
            raise LackingError(role)
        arguments.append(roles[role])
    with np.errstate(all="ignore"):
        return compiled(*arguments)


@lru_cache(maxsize=4096)
def _compiled(expression: Any) -> tuple[list[Any], Callable[..., Any]]:
    import sympy

    expression = sympy.sympify(expression)
    symbols = sorted(expression.free_symbols, key=str)
    return symbols, sympy.lambdify(symbols, expression, "numpy")
