"""Hyper-parameters that a statement ties to constants, as α = 4/(√L + √μ)²: said once, in letters.

Each case gets the number that the formula has there, and the search, which draws cases of its own,
meets it as an assumption.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from driftproof.toolkit.cases import Assumption, Case, roles_of
from driftproof.toolkit.constants import Letters, Notation, evaluate
from driftproof.toolkit.errors import unknown_name

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
        value = evaluate(formula(Letters(notation)), notation, roles_of(case))
        case = replace(case, algorithm=replace(case.algorithm, **{letters[letter]: value}))
    return case


def as_assumptions(ties: Mapping[str, Tie], notation: Notation) -> list[Assumption]:
    """Return the ties as assumptions."""
    import sympy

    def one(letter: str, formula: Tie) -> Assumption:
        relation: Callable[[Any], Any] = lambda c: sympy.Eq(getattr(c, letter), formula(c))  # noqa: E731
        return Assumption(letter, sympy.latex(relation(Letters(notation))), relation=relation)

    return [one(letter, formula) for letter, formula in ties.items()]
