r"""Leaves inequalities out of a certificate in numbers, as long as the bound can be proved.

Each is left out in turn, those with small multipliers first, and the others' multipliers are found
anew, in fractions of as few digits as will do. A right side with room is used up to its end: then
the fractions are shortest.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq_mat

from driftproof.synthetic.classes.conditions import Constraint
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.verifiers.worst_case.certificate import ROOM, certify
from driftproof.verifiers.worst_case.exact import Exact, fraction
from driftproof.verifiers.worst_case.face import Kernel
from driftproof.verifiers.worst_case.proof import prove
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.solve import solve
from driftproof.verifiers.worst_case.statement import CONDITIONS, Combination, Condition, Statement

Multipliers = Mapping[Any, Any]


def fewest(it: Statement, multipliers: Multipliers) -> Multipliers:
    """Return multipliers of as few inequalities as dropping one by one finds.

    Args:
        it: what they prove, in fractions and in one space.
    """
    conditions = {key: condition(it, key) for key in multipliers}
    found = (conditions and _proved(it, conditions)) or multipliers  # of squares alone: none
    for key in sorted(found, key=lambda key: abs(found[key])):
        if key in found and len(found) > 1:
            less = {k: conditions[k] for k in found if k != key}
            found = _proved(it, less) or found
    return found


def condition(it: Statement, key: Sequence[str]) -> Condition:
    """Return the inequality that a multiplier counts."""
    kind, name, *points = key
    if kind == "assumption":
        return it.assumptions[name]
    at = (it.triples[name][point] for point in points)
    return CONDITIONS[kind](*it.constants[name][kind], *at)


def _proved(it: Statement, conditions: Mapping[Any, Condition]) -> Multipliers | None:
    """Return multipliers of some inequalities that prove the bound, if they are found."""
    case = _case(it, conditions)
    right = fraction(it.conclusion.right)
    near = ROOM * max(abs(right), Fraction(1))
    try:
        solved = solve(case)
        if solved.value > right + near:
            return None
        exact, proof = Exact(case), None
        if solved.value < right - near:
            nothing = Kernel(fmpq_mat(exact.size, 0), ())
            proof = prove(exact, nothing, range(len(exact.rows)), exact.value(right))
        proof = proof or certify(exact, solved, at_most=right)
    except DriftproofError:
        return None
    keys = list(conditions)
    return {keys[k]: x for k, x in proof.multipliers.items()} if proof.bound <= right else None


def _case(it: Statement, conditions: Mapping[Any, Condition]) -> WorstCase:
    """Return the worst case of the conclusion under some inequalities."""
    vectors = {name: k for k, name in enumerate(it.vectors)}
    values = {name: k for k, name in enumerate(it.values)}

    def vector(of: Combination) -> Vector:
        return Vector({vectors[name]: fraction(c) for name, c in of.items() if c != 0})

    def form(of: Condition) -> GramForm:
        total = GramForm(
            {}, {values[name]: fraction(a) for name, a in of.numbers.items() if a != 0}
        )
        for c, u, v in of.products:
            total = total + vector(u) * vector(v) * fraction(c)
        return total

    relations = tuple(
        Constraint(str(key), form(of), fraction(of.right), of.equality)
        for key, of in conditions.items()
    )
    return WorstCase(
        tuple(it.vectors), tuple(it.values), (), (), relations, form(it.conclusion), {}
    )
