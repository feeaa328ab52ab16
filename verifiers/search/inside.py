"""Moves a case inside what a form of a claim assumes, to round numbers."""

from dataclasses import replace
from typing import Any, cast

import numpy as np

from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.engines.enumerated import EnumeratedContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.parameters import Constraint, constraints
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges import assumptions, bounds
from driftproof.verifiers.judges.runs import measured_once
from driftproof.verifiers.search.equalities import kept
from driftproof.verifiers.search.letters import LackingError, letters_of, violation
from driftproof.verifiers.search.structure import altered, real

DIGITS = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
POWERS = range(-9, 7)
HUNDREDTHS = 100
OUTCOMES = 64
"""Outcomes of a step's noise up to which a test takes its expectation given the past."""


def is_inside(claim: Any, form: Form, case: Case, *, in_ball: bool = True) -> bool:
    """Return whether a form says something of a case: it meets every assumption.

    It has the constants that the form uses, and the measure takes a value on some step.

    Args:
        in_ball: whether the run is made, where constants are proven on a ball only, and has to stay
            in it.
    """
    try:
        if assumptions.outside(claim, case, form) is not None:
            return False
        if not claim.measures:
            return True
        bounds.right_side(claim, case, form.right)  # it may divide by a constant that is 0
        radius = case.problem.radius
        if radius is not None and in_ball:
            return bool(measured_once(claim, form, case, 0).reach <= radius)
        context = sampled_context(case.problem, ("inside",), replicates=1)
        run(case.problem, case.algorithm, context, rounds=1, left=form.left or claim.left)
    except DriftproofError:
        return False  # no number on the right side, or a measure that is silent at every step
    except Exception:
        if any(type(case.problem) is type(own.problem) for own in claim.cases_for("full")):
            raise
        return False  # a text for the claim's own shapes, as start[:1] for x
    return True


def is_quick(claim: Any, form: Form, case: Case) -> bool:
    """Return whether judging takes a test's time: given the past, all outcomes of a step are run.

    That is done for each of 64 pasts and at every step, so there may be few of them.
    """
    if not claim.measures or case.algorithm is None:
        return True
    counts = [name for name in constraints(type(case.algorithm)) if name.endswith("_steps")]
    left, step = form.left or claim.left, altered(case.algorithm, dict.fromkeys(counts, 1))
    context = sampled_context(case.problem, ("inside",), replicates=1)
    outcome = run(case.problem, case.algorithm, context, rounds=1, left=left)
    if outcome.how[:1] != (bounds.GIVEN_PAST,):
        return True
    counting = EnumeratedContext(case.problem.clients, limit=OUTCOMES)
    try:
        run(case.problem, step or case.algorithm, counting, rounds=1)
    except TooManyAtoms:
        return False
    return True


def moved_inside(claim: Claim[Any], form: Form, case: Case, *, in_ball: bool = True) -> Case | None:
    """Return the case with real hyperparameters moved to where the relations hold (None: nowhere).

    One after another: to the largest round number below that does, or else the smallest above.
    """
    try:
        case = _moved(claim, form, case)
    except (LackingError, DriftproofError):
        return None
    return case if is_inside(claim, form, case, in_ball=in_ball) else None


def _moved(claim: Claim[Any], form: Form, case: Case) -> Case:
    if case.algorithm is None:
        return case
    case = kept(claim, form, case) or case
    assumes, notation = (*claim.assumes, *form.assumes), claim.notation(case)
    roles = {role: np.array([number]) for role, number in roles_of(case).items()}
    broken = violation(assumes, notation, roles)[0]
    asked = letters_of(assumes, notation)
    for name, constraint in real(type(case.algorithm)).items():
        if broken == 0:
            break
        if name not in asked:
            continue
        now = float(roles[name][0])
        numbers = sorted(round_numbers(constraint), key=lambda x: (x > now, abs(x - now)))
        distances = violation(assumes, notation, roles | {name: np.array(numbers)})
        for place in np.argsort(distances, kind="stable"):
            if distances[place] >= broken:
                break
            try:
                algorithm: Any = replace(cast(Any, case.algorithm), **{name: numbers[place]})
            except DriftproofError:
                continue  # it does not go with another hyperparameter
            case, broken = replace(case, algorithm=algorithm), distances[place]
            roles[name] = np.array([numbers[place]])
            break
    return case


def round_numbers(constraint: Constraint) -> list[float]:
    """Return numbers of one or two digits that a parameter may be: of every size, and hundredths.

    >>> numbers = round_numbers(Constraint(0.0, 1.0, above=True))
    >>> min(numbers), max(numbers), 0.25 in numbers, 0.0 in numbers
    (1e-09, 1.0, True, False)
    """
    low, high = constraint.low, constraint.high
    sizes = [0.0, *(float(f"{digit}e{power}") for power in POWERS for digit in DIGITS)]
    start = low if np.isfinite(low) else 0.0
    numbers = {start + size for size in sizes}
    if not np.isfinite(low):
        numbers |= {-size for size in sizes}
    if np.isfinite(low) and np.isfinite(high):
        shares = (k / HUNDREDTHS for k in range(HUNDREDTHS + 1))
        numbers |= {round(low + (high - low) * share, 12) for share in shares}
    return sorted(x for x in numbers if constraint.allows(x))
