"""Whether a case meets what a statement assumes: every relation is evaluated, with numbers.

A relation is written in letters of which nothing is known, so that algebra decides no comparison
that numbers should: with a letter that is taken to be positive, x_0 ≥ 0 would be true unseen.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from driftproof.toolkit.cases import Assumption, Case, roles_of
from driftproof.toolkit.constants import (
    MEASURED,
    Key,
    LackingConstantError,
    Letters,
    Notation,
    evaluate,
    formula_of,
    stated,
)
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.rationals import decimal, other_than
from driftproof.toolkit.tolerances import EDGE, ROUNDED
from driftproof.toolkit.verdict import Row, Verdict
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.decide import withdrawn
from driftproof.verifiers.judges.roles import check_roles


def unmet(claim: Claim[Any], case: Case, form: Form | None = None) -> str | None:
    """Return the first assumption that a case does not meet, quoted with its numbers."""
    notation = claim.notation(case)
    for assumption in (*claim.assumes, *(form.assumes if form is not None else ())):
        if assumption.applies is not None and not assumption.applies(case):
            wanted = re.sub(r"\\text\{([^}]*)\}", r"\1", assumption.statement)
            return f"{assumption.name} needs: {wanted}"
        known = {*case.problem.constants, "initial_gap"}
        # what follows from the solution is looked at last: a solution may take long
        lacking = [x for x in assumption.roles if x not in known and x not in case.problem.proven]
        if lacking:
            return _lacking(claim, case, assumption.name, lacking)
        if assumption.relation is not None:
            try:
                broken = _broken(assumption, notation, roles_of(case))
            except LackingConstantError as error:
                return _lacking(claim, case, assumption.name, [str(error.args[0])])
            if broken is not None:
                return broken + _tied_by_hand(claim, case, form, assumption)
    return None


def _tied_by_hand(claim: Claim[Any], case: Case, form: Form | None, broken: Assumption) -> str:
    """Say how ``ties`` gives a hyperparameter that assumptions, such as this one, set equal."""
    notation, own = claim.notation(case), case.algorithm.values() if case.algorithm else {}
    every = (*claim.assumes, *(form.assumes if form is not None else ()))
    formulas = (relation_of(x, notation.key).formula for x in every if x.relation is not None)
    of = [part.free_symbols for part in conjuncts(relation_of(broken, notation.key).formula)]
    for equal in equalities(tuple(formulas)):
        names = sorted(equal.free_symbols, key=lambda x: (x not in equal.args, x.name))
        free = [x for x in names if notation[x.name] in own and x.name not in claim.ties]
        if free and equal.free_symbols in of:
            left, right = sorted(equal.args, key=lambda side: free[0] not in side.free_symbols)
            return f'; write ties={{"{free[0]}": lambda c: …}}, and each case gets {left} = {right}'
    return ""


def outside(claim: Claim[Any], case: Case, form: Form) -> str | None:
    """Return why a form says nothing of a case (None: it says something).

    An assumption is not met, or the right side has a letter that the case has no number for.
    """
    broken = unmet(claim, case, form)
    if broken is not None or not claim.measures:
        return broken
    notation = claim.notation(case)
    letters = formula_of(form.right, notation.key).free_symbols
    roles = {notation[x.name] for x in letters if not x.name.startswith(MEASURED)}
    lacking = sorted(roles - set(roles_of(case)))
    return _lacking(claim, case, "the right side", lacking) if lacking else None


def _lacking(claim: Claim[Any], case: Case, what: str, roles: list[str]) -> str:
    """Return that something needs constants which a case's problem has not proven, and why."""
    check_roles(claim, roles)
    why = dict.fromkeys(map(case.problem.why_unproven, roles))
    return f"{what} needs {', '.join(roles)}; {'; '.join(why)}"


def flag_edge_cases(claim: Claim[Any], case: Case, form: Form, row: Row) -> Row:
    """Return a row that names the assumptions which its case meets within rounding alone.

    What refutes it by little is left open: a true statement may be false a little further on.
    """
    edges: list[str] = []
    related = [x for x in (*claim.assumes, *form.assumes) if x.relation is not None]
    if related and row.verdict is not Verdict.INAPPLICABLE:
        roles = roles_of(case)
        for assumption in related:
            _broken(assumption, claim.notation(case), roles, edges)
    if not edges:
        return row
    left, right = (row.lhs or {}).get("low"), row.rhs
    near = left is None or right is None or left - right <= EDGE * max(abs(left), abs(right))
    reason = "; ".join(filter(None, (row.reason, *edges)))
    if row.verdict is Verdict.REFUTED and near:
        return withdrawn(row, reason)
    return replace(row, reason=reason)


def flag_numbers(claim: Claim[Any], case: Case, form: Form, row: Row) -> Row:
    """Return a row that says which numbers a proof has read as shorter ones: 1 − 1/3 is 2/3."""
    if row.evidence is None or not row.evidence.proves:
        return row
    import sympy

    method = case.algorithm.values() if case.algorithm else {}
    numbers = [*method.values(), *case.problem.constants.values()]
    for text in claim.formulas(form) or ():
        said = stated(text, Letters(claim.notation(case)))
        for of in said if isinstance(said, tuple) else (said,):
            numbers += map(float, sympy.sympify(of).atoms(sympy.Float))
    read = {x: other_than(x) for x in numbers if type(x) is float}
    said = [f"{x!r} is read as {of}" for x, of in sorted(read.items()) if of is not None]
    return replace(row, reason="; ".join(filter(None, (row.reason, *said))))


def _broken(
    assumption: Assumption,
    notation: Notation,
    roles: Mapping[str, float],
    edges: list[str] | None = None,
) -> str | None:
    """Return how a relation fails with the numbers of a case (None: it holds).

    Args:
        edges: what it holds by rounding alone is added to them.
    """
    import sympy
    from sympy.core.relational import Equality, GreaterThan, LessThan, Relational

    relation = relation_of(assumption, notation.key).formula
    first: list[str] = []

    def decided(comparison: Any) -> Any:
        sides = [evaluate(side, notation, roles) for side in comparison.args]
        stated = f"{comparison.lhs} {comparison.rel_op} {comparison.rhs}"
        apart = abs(sides[0] - sides[1])
        if apart <= ROUNDED * max(map(abs, sides)):
            holds = isinstance(comparison, Equality | GreaterThan | LessThan)
            if holds and edges is not None and not _exactly(comparison, notation, roles):
                edges.append(
                    f"{assumption.name} is met within {apart / abs(sides[0]):.1g}: {stated}"
                )
        else:
            holds = bool(comparison.func(*map(sympy.Float, sides)))
        if not holds:
            first.append(f"states {stated}, but here {sides[0]:g} and {sides[1]:g}")
        return sympy.true if holds else sympy.false

    comparisons = relation.atoms(Relational) | (
        {relation} if isinstance(relation, Relational) else set()
    )
    # one after the other, in a fixed order: the first that fails is quoted
    truths = {c: decided(c) for c in sorted(comparisons, key=sympy.default_sort_key)}
    if bool(relation.xreplace(truths)):
        return None
    return f"{assumption.name} " + (first[0] if first else f"is {relation} here")


def _exactly(comparison: Any, notation: Notation, roles: Mapping[str, float]) -> bool:
    """Say whether a comparison holds of the numbers that its letters stand for: 0.1 is 1/10."""
    import sympy

    given = {x: roles[notation[x.name]] for x in comparison.free_symbols}
    given |= {x: x for x in comparison.atoms(sympy.Float)}
    exact = {x: sympy.Rational(str(decimal(float(of)))) for x, of in given.items()}
    return bool(comparison.func(*(side.xreplace(exact) for side in comparison.args)) == sympy.true)


class Relation(NamedTuple):
    """A relation in letters of which nothing is known.

    Attributes:
        formula: a comparison as sympy, or several with and, or and not.
        roles: what its letters stand for.
    """

    formula: Any
    roles: frozenset[str]


def relation_of(assumption: Assumption, key: Key) -> Relation:
    """Return an assumption's relation in a notation's letters.

    Raises:
        DriftproofError: what the assumption returns for letters is no relation.
    """
    try:
        return _relation(assumption.relation, key)
    except TypeError as error:
        raise DriftproofError(
            f"the relation of {assumption.name!r} is none between letters: {error}",
            "comparisons of sympy expressions, with & or | between them",
            "write (c.eta > 0) & (c.eta < 1) for 0 < c.eta < 1, sympy.Max for max",
        ) from None


@lru_cache(maxsize=4096)
def _relation(relation: Any, key: Key) -> Relation:
    import sympy
    from sympy.logic.boolalg import Boolean

    notation = Notation.of(key)
    letters = Letters(notation, bare=True)
    said = sympy.sympify(stated(relation, letters))
    if not isinstance(said, Boolean) or said.is_Symbol:  # sympy takes a letter for a truth too
        raise TypeError(f"it is {said}")
    return Relation(said, frozenset(notation[letter] for letter in letters.used))


def conjuncts(stated: Any) -> Iterator[Any]:
    """Yield the relations that a conjunction consists of."""
    import sympy

    if isinstance(stated, sympy.And):
        for part in stated.args:
            yield from conjuncts(part)
    elif isinstance(stated, sympy.Basic):
        yield stated


@lru_cache(maxsize=1024)
def equalities(formulas: tuple[Any, ...]) -> list[Any]:
    """Return what relations say to be equal, also as a ≤ b and b ≤ a."""
    import sympy

    found: list[Any] = []
    bounded: set[Any] = set()
    for part in (part for formula in formulas for part in conjuncts(formula)):
        if isinstance(part, sympy.Eq):
            found.append(part)
        elif isinstance(part, sympy.LessThan | sympy.GreaterThan):
            spare = sympy.expand(part.gts - part.lts)
            if sympy.expand(-spare) in bounded:
                found.append(sympy.Eq(part.lts, part.gts))
            bounded.add(spare)
    return found
