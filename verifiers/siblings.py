"""False siblings of a right side, made by itself: what a slip in a proof would print instead.

A sibling that is larger than the claim on every case is implied by it, so it would be true. It is
no control: ``apart`` says where a sibling is smaller, and one that is so nowhere is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from driftproof.toolkit.cases import Assumption, Case
from driftproof.toolkit.constants import MEASURED, ROLES, Expression, Letters, expressed, split
from driftproof.toolkit.readings import Stated
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.comparison import ComparisonClaim
from driftproof.verifiers.judges.bounds import roles_of, unmet

DROPPED, HALVED, EXPONENT = "a term left out", "a constant halved", "an exponent off by one"
SWAPPED, SIGN, LOCAL_STEP = "two constants swapped", "a sign changed", "one local step less"
UNASSUMED = "an assumption removed"
KINDS = (DROPPED, HALVED, EXPONENT, SWAPPED, SIGN, LOCAL_STEP, UNASSUMED)
"""The kinds of change."""
POINTS = 64
"""Random positive letters at which right sides are told apart."""
APART = 1e-9
"""The relative difference from which two right sides are different numbers."""
LOCAL_STEPS = frozenset({"local_steps", "inner_steps", "outer_steps"})
"""The roles that count local steps."""
Path = tuple[int, ...]


@dataclass(frozen=True)
class Sibling:
    """A right side with one thing changed.

    Attributes:
        kind: one of ``KINDS``.
        what: what was changed, in the letters.
        right: the right side, a sympy expression.
    """

    kind: str
    what: str
    right: Expression


@dataclass(frozen=True)
class InLetters:
    """A right side that was made from an expression: the expression in the letters of any case.

    Attributes:
        expression: the right side in the letters of one case.
        original: the right side that it is a sibling of; what else that holds, this has too.
    """

    expression: Expression
    original: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "original":  # as while it is unpickled
            raise AttributeError(name)
        return getattr(self.original, name)

    def __call__(self, c: Letters) -> Expression:
        """Return the expression, in letters of the signs that they have there."""
        letters = {
            s: c.measured(s.name.removeprefix(MEASURED))
            if s.name.startswith(MEASURED)
            else getattr(c, s.name)
            for s in self.expression.free_symbols
        }
        other = {here: there for here, there in letters.items() if here != there}
        # putting in what is there already would simplify every maximum again
        return self.expression.xreplace(other) if other else self.expression


def generated(right: Expression, notation: Mapping[str, str]) -> list[Sibling]:
    """Return the siblings of a right side, of every kind but a removed assumption.

    Each differs from the right side and from every other at some positive letters.

    >>> import sympy
    >>> L, eta, tau = sympy.symbols("L eta tau", positive=True)
    >>> notation = {"L": "objective_smoothness", "eta": "step_size", "tau": "local_steps"}
    >>> for sibling in generated(L * eta + tau, notation)[:4]:
    ...     print(f"{sibling.kind}: {sibling.what}")
    a term left out: tau
    a term left out: L*eta
    a constant halved: in L*eta + tau
    a constant halved: in tau
    """
    points = points_of(right)
    seen, siblings = {_signature(right, points)}, []
    for sibling in _changed(right, notation):
        signature = _signature(sibling.right, points)
        if signature not in seen:
            seen.add(signature)
            siblings.append(sibling)
    return siblings


def _changed(right: Expression, notation: Mapping[str, str]) -> Iterator[Sibling]:
    import sympy

    places = list(_places(right))
    sums = [(path, node) for path, node in places if isinstance(node, sympy.Add)]
    for path, node in sums:
        for k, term in enumerate(node.args):
            others = [*node.args[:k], *node.args[k + 1 :]]
            yield Sibling(DROPPED, str(term), _replaced(right, path, sympy.Add(*others)))
    for largest in sorted(right.atoms(sympy.Max), key=str):
        for k, one in enumerate(largest.args):
            others = [*largest.args[:k], *largest.args[k + 1 :]]
            less = right.xreplace({largest: sympy.Max(*others)})
            yield Sibling(DROPPED, f"{one} of {largest}", less)
    halves = [((), right), *((path, node) for path, node in _terms(sums) if path != ())]
    for path, node in halves:
        yield Sibling(HALVED, f"in {node}", _replaced(right, path, node / 2))
    for path, node in places:
        base = node.base if isinstance(node, sympy.Pow) and node.exp.is_number else node
        inside = path and _is_power(right, path[:-1]) and path[-1] == 0
        if not isinstance(base, sympy.Symbol) or base.name.startswith(MEASURED) or inside:
            continue
        for step in (-1, 1):
            changed = node * base**step
            where = f"{node} → {changed} in {_term_of(right, path)}"
            yield Sibling(EXPONENT, where, _replaced(right, path, changed))
    letters = sorted((s for s in right.free_symbols if s.name in notation), key=str)
    for k, a in enumerate(letters):
        for b in letters[k + 1 :]:
            if _alike(notation[a.name], notation[b.name]):
                swapped = right.xreplace({a: b, b: a})
                yield Sibling(SWAPPED, f"{a} and {b}", swapped)
    for path, node in _terms(sums):
        yield Sibling(SIGN, f"of {node}", _replaced(right, path, -node))
    for letter in letters:
        if notation[letter.name] in LOCAL_STEPS:
            less = right.xreplace({letter: letter - 1})
            yield Sibling(LOCAL_STEP, f"{letter} → {letter} - 1", less)


def _places(node: Expression, path: Path = ()) -> Iterator[tuple[Path, Expression]]:
    """Yield every part of an expression, with the way to it; a maximum is one part."""
    import sympy

    yield path, node
    if isinstance(node, sympy.Max):
        return
    for k, part in enumerate(node.args):
        yield from _places(part, (*path, k))


def _terms(sums: Sequence[tuple[Path, Expression]]) -> Iterator[tuple[Path, Expression]]:
    for path, node in sums:
        for k, term in enumerate(node.args):
            yield (*path, k), term


def _replaced(whole: Expression, path: Path, part: Expression) -> Expression:
    """Return an expression with another part in one place."""
    if not path:
        return part
    args = list(whole.args)
    args[path[0]] = _replaced(args[path[0]], path[1:], part)
    return whole.func(*args)


def _at(whole: Expression, path: Path) -> Expression:
    for k in path:
        whole = whole.args[k]
    return whole


def _is_power(whole: Expression, path: Path) -> bool:
    """Whether a place holds x^number: the exponent of x is changed there, not at x."""
    import sympy

    node = _at(whole, path)
    return isinstance(node, sympy.Pow) and bool(node.exp.is_number)


def _term_of(whole: Expression, path: Path) -> Expression:
    """Return the smallest term of a sum that a place is in."""
    import sympy

    for length in range(len(path) - 1, -1, -1):
        if isinstance(_at(whole, path[:length]), sympy.Add):
            return _at(whole, path[: length + 1])
    return whole


def _alike(a: str, b: str) -> bool:
    """Whether two roles are of one kind: smoothness, noise, bounds, step sizes and so on."""
    known = all(role in ROLES or role.endswith("step_size") for role in (a, b))
    return known and a.rpartition("_")[2] == b.rpartition("_")[2]


def points_of(right: Expression) -> dict[str, np.ndarray]:
    """Return positive numbers for the letters of a right side, whole ones where they are counts."""
    random, points = np.random.default_rng(0), {}
    for symbol in sorted(right.free_symbols, key=str):
        whole, real = random.integers(2, 12, POINTS), np.exp(random.uniform(-2, 2, POINTS))
        points[symbol.name] = whole.astype(float) if symbol.is_integer else real
    return points


def _signature(right: Expression, points: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    return tuple(f"{x:.9g}" for x in values_of([right], points)[0])


def values_of(expressions: Sequence[Expression], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the values of expressions, [expressions, points]; nan where one has no real value.

    Args:
        numbers: of each symbol, by its name, [points].
    """
    import sympy

    symbols = sorted({s for e in expressions for s in e.free_symbols}, key=str)
    compiled = sympy.lambdify(symbols, list(expressions), "numpy")
    count = len(next(iter(numbers.values()), np.zeros(1)))
    with np.errstate(all="ignore"):
        values = compiled(*(numbers.get(s.name, np.full(count, np.nan)) for s in symbols))
    rows = np.array([np.broadcast_to(np.asarray(value, float), count) for value in values])
    return np.where(np.isfinite(rows), rows, np.nan)


def right_sides_of(claim: Claim[Any]) -> list[tuple[Form, Expression]]:
    """Return the forms whose right side is a formula that something is bounded by, with it.

    Those of a bound, or of a comparison that is one. What an identity, a proof or a rate compares
    with is none.

    Raises:
        DriftproofError: a right side returns no formula.
    """
    if not (isinstance(claim, BoundClaim) or claim.kind == "bound") or not claim.judged_on:
        return []
    letters = Letters(claim.notation(claim.judged_on[0]))
    forms = (form for form in claim.forms if form.form != "sibling" and callable(form.right))
    return [(form, expressed(form.right, letters)) for form in forms]


@dataclass(frozen=True)
class Control:
    """A sibling of one form of a claim.

    Attributes:
        number: among the claim's controls, from 1.
        form: the key of the form.
        sibling: what was changed.
        stated: it, instead of the form; it says nothing on cases that do not tell it apart,
            so that no time is spent on judging it there.
        cases: on how many of the claim's cases it could be refuted.
    """

    number: int
    form: str
    sibling: Sibling
    stated: Stated[Any]
    cases: int

    @property
    def name(self) -> str:
        """Form and change in one: no two controls of a claim share it."""
        return f"{self.form} | {self.number}. {self.sibling.kind}: {self.sibling.what}"


def controls_of(claim: Claim[Any], forms: Collection[str] | None = None) -> list[Control]:
    """Return the generated controls of a claim (``forms``: of those, by their keys)."""
    controls: list[Control] = []
    for form, right in right_sides_of(claim) if claim.cases else ():
        if forms is not None and form.key not in forms:
            continue
        cases = [case for case in claim.cases_for("quick") if unmet(claim, case, form) is None]
        known = [_numbers(claim, case) for case in cases]
        letters = {x for numbers in known for x in numbers}
        numbers = {x: np.array([on.get(x, np.nan) for on in known]) for x in letters}
        points = points_of(right)
        for sibling in generated(right, claim.notation(claim.cases[0])):
            told = apart(sibling.right, right, numbers) if cases else ()
            keys = frozenset(case.key for case, is_told in zip(cases, told, strict=True) if is_told)
            if not keys and not apart(sibling.right, right, points).any():
                continue  # the claim implies it
            smaller = Assumption(
                "A control", r"\text{a sibling that is smaller here}",
                applies=partial(_is_among, keys),
            )  # fmt: skip
            stated = Stated(
                InLetters(sibling.right, form.right), left=form.left, range=form.range,
                assumes=(*form.assumes, smaller),
            )  # fmt: skip
            controls.append(Control(len(controls) + 1, form.key, sibling, stated, len(keys)))
    return controls


def _is_among(keys: Collection[str], case: Case) -> bool:
    return case.key in keys


def apart(sibling: Expression, claim: Expression, numbers: Mapping[str, np.ndarray]) -> np.ndarray:
    """Whether a sibling could be refuted at some letters though the claim holds, [points].

    There it is smaller than the claim. If what is measured stands in it with another coefficient,
    either may be the smaller one.

    Args:
        sibling, claim: the two right sides.
        numbers: of each letter, [points].
    """
    (mine, of_mine), (theirs, of_theirs) = split(sibling), split(claim)
    names = sorted({*of_mine, *of_theirs})
    parts = [*(of_mine.get(x, 0) for x in names), *(of_theirs.get(x, 0) for x in names)]
    values = values_of([*map(_expression, (mine, theirs, *parts))], numbers)
    factors, others = values[2 : 2 + len(names)], values[2 + len(names) :]
    room = APART * (np.abs(values[0]) + np.abs(values[1]))
    moved = np.abs(factors - others) > APART * (np.abs(factors) + np.abs(others))
    result: np.ndarray = np.isfinite(values).all(0) & (
        (values[0] < values[1] - room) | moved.any(0)
    )
    return result


def _expression(part: Any) -> Expression:
    import sympy

    return sympy.sympify(part)


def _numbers(claim: Claim[Any], case: Case) -> dict[str, float]:
    """Return the numbers of a claim's letters on a case."""
    roles = roles_of(case)
    return {x: float(roles[role]) for x, role in claim.notation(case).items() if role in roles}


def removable(claim: Claim[Any]) -> list[int]:
    """Return the places of the assumptions that a case can break though it has all constants."""
    if not isinstance(claim, BoundClaim | ComparisonClaim):
        return []
    return [
        place
        for place, assumption in enumerate(claim.assumes)
        if assumption.relation is not None or assumption.applies is not None
    ]
