"""Whether a formula's text says of a case's numbers what it says of letters.

A right side is called with letters, as a relation is, and its formula is what is judged. A text
that chooses by a letter, ``2 if c.T in {1, 2} else …`` or by ``str(c.T)``, chooses before the
letter has a number. So it is called again with the numbers of each case, and has to give what the
formula gives there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from driftproof.toolkit.cases import Assumption, Case, roles_of
from driftproof.toolkit.constants import MEASURED, Key, Letters, Notation, evaluate, stated
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.tolerances import EDGE, UNIT
from driftproof.toolkit.user_traceback import place_of
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.assumptions import relation_of

CLOSE, ADDED = 1e-12, 1e-26
"""How far the two may be apart, relative to the value, and to what is added up."""
LOST = 1e-3
"""How far they may be apart at most if the formula has numbers in doubles, which sympy has rounded:
behind what cancels altogether a choice would not be seen."""
DIGITS = 60
"""Of the numbers that a text is called with: what cancels in doubles is there in so many."""


@dataclass
class Numbers(Letters):
    """The namespace ``c`` with numbers for letters.

    Attributes:
        numbers: letter → number, of those that have one.
    """

    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, letter: str) -> Any:
        symbol = super().__getattr__(letter)
        return self.numbers.get(letter, symbol)


def check(claim: Claim[Any], form: Form, case: Case) -> None:
    """Raise if a formula of a form says something else of a case's numbers.

    Args:
        case: one that meets the assumptions.

    Raises:
        DriftproofError: it does.
    """
    import sympy

    notation, roles = claim.notation(case), roles_of(case)
    numbers = _numbers(notation, roles)
    for text in claim.formulas(form) or ():
        _check(text, notation, roles, numbers)
    for assumption in (*claim.assumes, *form.assumes):
        if assumption.relation is None or _at_edge(assumption, notation, roles):
            continue
        said = _called(assumption.relation, numbers)
        if said is not None and sympy.sympify(said) == sympy.false:
            raise DriftproofError(
                f"the relation of {assumption.name!r} is {said} of {case}, where what it says of "
                f"letters, {relation_of(assumption, notation.key).formula}, is True",
                "a relation that holds or fails as its formula does, on every case",
                "choose by no letter: write comparisons, with & or | between them",
            )


def _at_edge(assumption: Assumption, notation: Notation, roles: Mapping[str, float]) -> bool:
    """Say whether a comparison has nearly equal sides: rounding may decide it either way."""
    from sympy.core.relational import Relational

    for comparison in relation_of(assumption, notation.key).formula.atoms(Relational):
        one, other = (evaluate(side, notation, roles) for side in comparison.args)
        if abs(one - other) <= EDGE * max(abs(one), abs(other)):
            return True
    return False


def _check(text: Any, notation: Notation, roles: Mapping[str, float], numbers: Numbers) -> None:
    import sympy

    formulas, said = _formulas(text, notation.key), _called(text, numbers)
    try:
        wanted = [evaluate(of, notation, roles) for of in formulas]
    except DriftproofError:  # a pole, or no number: the judge says so
        return
    if said is None:
        return
    found = [_at_means(of).evalf(DIGITS) for of in (said if isinstance(said, tuple) else (said,))]
    for formula, one, other in zip(formulas, wanted, found, strict=True):
        if not other.is_Float and not other.is_Integer:
            continue
        off = abs(one - other)
        if off <= CLOSE * max(abs(one), abs(other)):
            continue
        added = evaluate(_added(formula), notation, roles)
        doubles = min(UNIT * added, LOST * abs(one)) if formula.atoms(sympy.Float) else 0.0
        if off <= max(ADDED * added, doubles):
            continue
        names = sorted(s.name for s in formula.free_symbols)
        at = ", ".join(f"{name} = {roles[notation[name]]:g}" for name in names)
        raise DriftproofError(
            f"{place_of(text)} gives {float(other):g} at {at or 'the numbers of a case'}, where "
            f"what it says of letters, {formula}, is {one:g}",
            "a formula that holds on every case",
            "choose by no letter: write sympy.Piecewise, or one form for each case",
        )


@lru_cache(maxsize=4096)
def _formulas(text: Any, key: Key) -> tuple[Any, ...]:
    """Return what a text says of letters; of a range, both ends."""
    said = stated(text, Letters(Notation.of(key)))
    return tuple(map(_at_means, said if isinstance(said, tuple) else (said,)))


def _called(text: Any, numbers: Numbers) -> Any:
    """Return what a text says of numbers (None: it fails, as where it asks a letter's name).

    Its own doubles have ``DIGITS``, too: sympy computes with as few as one of two numbers has.
    """
    import sympy
    from sympy.core.sympify import _sympy_converter as converter

    before = converter[float]
    converter[float] = lambda x: sympy.Float(x, DIGITS)
    try:
        return text(numbers)
    except (ArithmeticError, AttributeError, TypeError, ValueError):  # of letters it did not
        return None
    finally:
        converter[float] = before


def _added(formula: Any) -> Any:
    """Return a formula with every difference a sum: how large what cancels is."""
    import sympy

    def positive(sum_: Any) -> Any:
        return sympy.Add(*(-x if x.could_extract_minus_sign() else x for x in sum_.args))

    return formula.replace(lambda of: of.is_Add, positive)


def _at_means(of: Any) -> Any:
    """Put numbers for measured means, one for each name: any will do."""
    import sympy

    of = sympy.sympify(of)
    means = [s for s in of.free_symbols if s.name.startswith(MEASURED)]
    return of.xreplace({s: sympy.Rational(sum(s.name.encode()), 997) for s in means})


@cache
def _kind() -> Any:
    """Return the type of a number of ``DIGITS`` digits that equals, and is shown as, its double."""
    import sympy

    class Double(sympy.Float):  # type: ignore[misc]
        def __eq__(self, other: Any) -> Any:
            return float(self) == other if type(other) in (float, int) else super().__eq__(other)

        def __ne__(self, other: Any) -> Any:
            return float(self) != other if type(other) in (float, int) else super().__ne__(other)

        __hash__ = sympy.Float.__hash__

        def __str__(self) -> str:
            return repr(float(self))

        __repr__ = __str__

    return Double


def _numbers(notation: Notation, roles: Mapping[str, float]) -> Numbers:
    """Return the namespace of a case: whole numbers are integers, others equal their doubles."""
    import sympy

    numbers = {
        letter: sympy.Integer(int(of)) if float(of).is_integer() else _kind()(float(of), DIGITS)
        for letter, of in ((x, roles[role]) for x, role in notation.items() if role in roles)
    }
    return Numbers(notation, numbers=numbers)
