"""Whether a rate's schedule is what its cases follow and what its bound allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters, substituted
from driftproof.verifiers.algebra.orders import plain
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.rate import RateClaim, Schedule
from driftproof.verifiers.judges.bounds import roles_of
from driftproof.verifiers.judges.rates import measured_exponents, steps

SPREAD = 1.25
"""How far a letter's ratio to its schedule may vary over the cases: counts are rounded up."""


def off_schedule(claim: RateClaim, form: Form, cases: Sequence[Case]) -> str:
    """Say which letter of the cases is not the schedule's, up to a constant factor ("": none)."""
    import sympy

    size, solved = claim.size or steps, measured_exponents(claim)
    for letter, stated in form.right.letters.items():
        notation = claim.notation(cases[0])
        value = sympy.sympify(stated).subs(solved) if not isinstance(stated, str) else None
        if letter not in notation or value is None or value.free_symbols - {claim.horizon}:
            continue
        pairs = [
            (roles_of(case)[notation[letter]], float(value.subs(claim.horizon, size(case))))
            for case in cases
        ]
        ratios = [actual / wanted for actual, wanted in pairs if wanted]
        if ratios and max(ratios) > SPREAD * min(ratios):
            shown = ", ".join(f"{actual:.4g}" for actual, _ in (pairs[0], pairs[-1]))
            asked = ", ".join(f"{wanted:.4g}" for _, wanted in (pairs[0], pairs[-1]))
            return (
                f"the schedule is {letter} = {plain(value)}: {asked} at the first and the last "
                f"case, but their {letter} is {shown}"
            )
    return ""


def broken_assumption(claim: RateClaim, schedule: Schedule, notation: Any) -> str:
    """Say which assumption of the bound the schedule breaks for all large T ("": none)."""
    import sympy

    assert claim.derived is not None
    solved = measured_exponents(claim)
    put = {name: sympy.sympify(value).subs(solved) for name, value in schedule.letters.items()}
    for assumption in claim.derived.stated.assumes:
        if assumption.relation is None:
            continue
        try:
            relation = assumption.relation(Letters(notation))
            sides = relation.lhs - relation.rhs
            sign = {"<": 1, "<=": 1, ">": -1, ">=": -1}[relation.rel_op]
            over = substituted(sign * sides, {"T": claim.horizon} | put)
            limit = sympy.limit(over, claim.horizon, sympy.oo)
        except (AttributeError, KeyError, TypeError, ValueError, NotImplementedError):
            continue  # not one comparison, or no limit that algebra finds: the cases have to do
        if limit == sympy.oo:
            return (
                f"{claim.derived} assumes {relation.lhs} {relation.rel_op} {relation.rhs}, which "
                f"this schedule breaks for all large T"
            )
    return ""
