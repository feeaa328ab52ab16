"""Hyper-parameters that a statement ties to constants, as α = 4/(√L + √μ)²: said once, in letters.

Each case gets the number that the formula has there, and the search, which draws cases of its own,
meets it as an assumption.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from driftproof.toolkit.cases import Assumption, Case, roles_of
from driftproof.toolkit.constants import LackingConstantError, Letters, Notation, evaluate, stated
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.parameters import constraints
from driftproof.toolkit.rationals import in_fractions

NEAR = 1e-9
"""How near to a whole number the value of a whole parameter has to be."""
Tie = Callable[[Letters], Any]
"""From the letters of a paper to what one of them is, as sympy."""


def tied(case: Case, ties: Mapping[str, Tie], notation: Notation) -> Case:
    """Return a case whose algorithm has the tied values, each of the letters before it.

    Raises:
        DriftproofError: a letter names no parameter of the algorithm, or a value cannot be.
    """
    for letter, formula in ties.items():
        own = case.algorithm.values() if case.algorithm is not None else {}
        letters = {name: role for name, role in notation.items() if role in own}
        if letter not in letters:
            raise unknown_name("letter of a hyper-parameter in ties", letter, letters)
        value: float = _value(letter, formula, notation, case)
        if (
            constraints(type(case.algorithm))[letters[letter]].integer
            and abs(value - round(value)) < NEAR
        ):
            value = round(value)
        case = replace(case, algorithm=replace(case.algorithm, **{letters[letter]: value}))
    return case


def _value(letter: str, formula: Tie, notation: Notation, case: Case) -> float:
    if not callable(formula):
        raise DriftproofError(
            f"ties with {formula!r} for {letter}",
            "a function of the letters",
            f'write ties={{"{letter}": lambda c: {formula!r}}}',
        )
    try:
        return evaluate(stated(formula, Letters(notation)), notation, roles_of(case))
    except LackingConstantError as error:
        raise DriftproofError(
            f"the tie of {letter}, which needs {error.args[0]}: {case.problem} has no number",
            "letters that are numbers in the case",
            "give the class numbers; for_all has none",
        ) from None


def as_assumptions(ties: Mapping[str, Tie], notation: Notation) -> list[Assumption]:
    """Return the ties as assumptions."""
    import sympy

    def one(letter: str, formula: Tie) -> Assumption:
        relation: Callable[[Any], Any] = lambda c: sympy.Eq(getattr(c, letter), formula(c))  # noqa: E731
        said = in_fractions(stated(relation, Letters(notation)))
        return Assumption(letter, sympy.latex(said), relation=relation)

    return [one(letter, formula) for letter, formula in ties.items()]
