"""Whether a rate's schedule is what its cases follow and what its bound allows."""

from collections.abc import Sequence
from math import log
from typing import Any

from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.constants import Letters, stated, substituted
from driftproof.verifiers.algebra.orders import exponents, plain
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.rate import RateClaim, Schedule

SPREAD = 1.25
"""How far a letter's ratio to its schedule may vary over the cases: counts are rounded up."""


def off_schedule(claim: RateClaim, form: Form, cases: Sequence[Case]) -> str:
    """Say which letter of the cases is not the schedule's, up to a constant factor ("": none)."""
    import sympy

    size, solved = claim.size or steps, measured_exponents(claim)
    for letter, value_of in form.right.letters.items():
        notation = claim.notation(cases[0])
        value = sympy.sympify(value_of).subs(solved) if not isinstance(value_of, str) else None
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
            relation = stated(assumption.relation, Letters(notation))
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


def measured_order(claim: RateClaim, schedule: Schedule) -> Any:
    """Return the order on the measured instance, in T alone: other letters are constants."""
    order = schedule.in_horizon.subs(measured_exponents(claim))
    others = order.free_symbols - {claim.horizon}
    return order.subs(dict.fromkeys(others, 1))


def measured_form(claim: RateClaim) -> Form:
    """Return the form whose schedule the cases follow: the last that has one."""
    scheduled = [f for f in claim.forms if f.form != "sibling" and isinstance(f.right, Schedule)]
    return scheduled[-1]


def measured_exponents(claim: RateClaim) -> dict[Any, Any]:
    """Return the values of a schedule's free exponents (η = T^{−a}) on the claim's cases.

    They are solved from the cases themselves: a letter's values at the shortest and the longest
    horizon give its exponent.
    """
    import sympy

    size = claim.size or steps
    cases = sorted(claim.cases, key=size)
    schedule = measured_form(claim).right
    first, last = cases[0], cases[-1]
    notation, solved = claim.notation(first), {}
    for letter, value in schedule.letters.items():
        if letter not in notation:
            continue
        free = sympy.sympify(value).free_symbols - {claim.horizon}
        if len(free) != 1:
            continue
        (symbol,) = free
        powers = exponents(value, claim.horizon)
        if len(powers) != 1 or not (power := next(iter(powers))).has(symbol):
            continue  # a letter of its own, not an exponent
        grown = log(roles_of(last)[notation[letter]] / roles_of(first)[notation[letter]])
        seen = sympy.nsimplify(round(grown / log(size(last) / size(first)), 3), rational=True)
        solved[symbol] = sympy.solve(power - seen, symbol)[0] if power.is_polynomial() else seen
    return solved


def steps(case: Case) -> int:
    """Return the number of local steps of a case: its horizon, unless a rate says otherwise."""
    return case.rounds * int(case.algorithm.local_steps)
