"""Makes the certificate of a worst case: from a solver's multipliers to fractions that prove it.

A solver's multipliers λ miss Σ λ_k a_k = a_0 by rounding, and its S = Σ λ_k Q_k − Q_0 has
eigenvalues about 0 of either sign. So a second solve gives multipliers with a margin, S ⪰ εI. A
small step towards them makes S definite and costs little of the bound. The multipliers are then
rounded to decimals, and the few that are needed to meet Σ λ_k a_k = a_0 are solved for exactly.
Before that, fractions with small denominators are tried, which may prove the worst case itself.

Nothing of this has to be believed: ``verifiers.worst_case.check`` checks what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from synthetic.classes.conditions import Condition, FunctionClass
from toolkit.errors import DriftproofError
from toolkit.spans.exact import Quantity, Second, Vector
from verifiers.worst_case.check import (
    SCHEMA,
    RefusedCertificateError,
    check,
    positive_semidefinite,
)
from verifiers.worst_case.digest import sealed
from verifiers.worst_case.freedom import kept, reduced
from verifiers.worst_case.program import Matrices, Solved, matrices
from verifiers.worst_case.record import WorstCase, pairs
from verifiers.worst_case.scaling import units
from verifiers.worst_case.solve import solve_matrices

EXCESS = Fraction(1, 10**5)
"""What a proved bound may exceed the solver's value by, relative to it.

It is about 1e-9 above the worst case. The solver's own value is wrong by 1e-6 on long runs.
"""
EXACT = Fraction(1, 10**8)
"""The same where small fractions are tried, which prove the worst case itself or nothing."""
ZERO = 1e-8
"""Bounds that are taken for 0, in units in which the program's numbers are near 1."""
DENOMINATORS = (1, 12, 360, 10_000)
"""Largest denominators of the fractions that are tried first."""
STEPS = (1e-9, 1e-8, 1e-7, 4e-7, 8e-7)
"""What a margin may cost, relative to the bound."""
INNER = 1e-2
"""What the margin of the second solve costs, relative to the bound: it moves all multipliers."""
IDLE = 1e-6
"""Multipliers that are taken for 0, relative to the largest."""
SMALL = 1e-5
"""Eigenvalues of S that are taken for 0, relative to the largest."""
POLISHED = 3
"""Steps of polishing; each squares the error."""
DIGITS = 13
"""Digits of the largest multiplier that rounding to decimals keeps."""


@dataclass(frozen=True)
class Certificate:
    """A proved bound.

    Attributes:
        bound: what the measure is proved to be at most.
        text: the file, JSON, that ``driftproof check`` checks.
    """

    bound: Fraction
    text: str


def certify(
    case: WorstCase, solved: Solved | None = None, *, enough: Fraction | None = None
) -> Certificate:
    """Return a proof that no function of the class does worse than nearly the worst case.

    The bound exceeds the optimum of the multipliers' program by at most 8e-7, relative to it; or
    it is at most ``enough``, where rounding spoils what is nearer.

    Args:
        solved: what ``solve(case)`` gave, if it was solved before.
        enough: a bound that will do, a claim's right side say.

    Raises:
        DriftproofError: the worst case is not bounded, or rounding loses the proof.
    """
    program = matrices(case)
    if solved is None:
        solved = solve_matrices(program, constant=float(case.objective.constant))
    matter = kept(program)
    program = reduced(program, matter)
    solved = replace(solved, gram=solved.gram[np.ix_(matter, matter)])
    exact = _Exact(case)
    value = Fraction(solved.value)
    zero = Fraction(ZERO / units(program).objective)
    if abs(value) <= zero:  # it is 0 to rounding
        enough = max(zero, enough or zero)
    reasons = []
    wider: tuple[Fraction, list[fmpq]] | None = None
    for excess, tried in _candidates(program, solved):
        try:
            multipliers = exact.repaired(tried, solved.multipliers)
            bound = exact.bound(multipliers)
        except ArithmeticError as error:
            reasons.append(str(error))
            continue
        if bound > value + excess * abs(value):
            reasons.append(f"it would prove {float(bound):.9g}")
            most = enough if wider is None else wider[0]
            if most is not None and bound <= most and _definite(exact, multipliers):
                wider = bound, multipliers
        elif not _definite(exact, multipliers):
            reasons.append("S is not positive semidefinite")
        else:
            return _checked(bound, _written(case, exact, multipliers, bound))
    if wider is not None:
        bound, multipliers = wider
        return _checked(bound, _written(case, exact, multipliers, bound))
    raise DriftproofError(
        f"multipliers that rounding spoils: {'; '.join(dict.fromkeys(reasons))}",
        f"fractions that prove nearly {solved.value:.9g}",
        "take a class or a start that bounds every point, or hyper-parameters of few digits",
    )


def _definite(exact: _Exact, multipliers: Sequence[fmpq]) -> bool:
    return positive_semidefinite(exact.slack(multipliers))


def _checked(bound: Fraction, text: str) -> Certificate:
    """Return a certificate that the checker takes: what is written may not be what was proved."""
    try:
        check(text)
    except RefusedCertificateError as error:
        raise DriftproofError(
            f"a certificate that driftproof check refuses: {error}",
            "one that it takes",
            "report the claim: driftproof wrote the certificate",
        ) from error
    return Certificate(bound, text)


def _candidates(program: Matrices, solved: Solved) -> Iterator[tuple[Fraction, list[fmpq]]]:
    """Yield multipliers as fractions, and by how much what they prove may exceed the value."""
    largest = np.abs(solved.multipliers).max(initial=1e-300)
    for found in (solved.multipliers, *_smallest(program, solved)):
        for most in DENOMINATORS:
            simple = (Fraction(x).limit_denominator(most) for x in found)
            yield EXACT, [_fmpq(x) if abs(x) > IDLE * largest else fmpq(0) for x in simple]
    unit = Fraction(10) ** (int(np.ceil(np.log10(largest))) - DIGITS)
    chosen = units(program)
    for scaled in _with_margin(chosen.scaled(program), chosen.to_these(solved)):
        multipliers = scaled * chosen.constraints / chosen.objective
        kept = np.where(program.equal, multipliers, np.maximum(multipliers, 0.0))
        yield EXCESS, [_fmpq(round(Fraction(float(x)) / unit) * unit) for x in kept]


def _idle(program: Matrices, multipliers: np.ndarray) -> np.ndarray:
    """Tell which conditions count for nothing."""
    idle: np.ndarray = (multipliers < IDLE * multipliers.max(initial=0.0)) & ~program.equal
    return idle


def _smallest(program: Matrices, solved: Solved) -> Iterator[np.ndarray]:
    """Yield the multipliers with the smallest sum, of many that prove 0: they are often simple."""
    if not program.bounds[~_idle(program, solved.multipliers)].any():
        try:
            yield solve_matrices(replace(program, bounds=program.bounds + 1)).multipliers
        except DriftproofError:
            return


def _with_margin(program: Matrices, solved: Solved) -> Iterator[np.ndarray]:
    """Yield multipliers whose S is definite, in doubles: polished, then mixed with safer ones.

    Conditions that count for nothing are left out at a second try: nothing else may bound a vector
    that appears in these alone, and then S has no margin with them.
    """
    yield from _near(program, solved)
    idle = _idle(program, solved.multipliers)
    program = replace(
        program, gram=np.where(idle[:, None, None], 0.0, program.gram),
        values=np.where(idle[:, None], 0.0, program.values),
        bounds=np.where(idle, 1.0, program.bounds),
    )  # fmt: skip
    matter = kept(program)
    solved = replace(
        solved, gram=solved.gram[np.ix_(matter, matter)],
        multipliers=np.where(idle, 0.0, solved.multipliers),
    )  # fmt: skip
    program = reduced(program, matter)
    yield from (np.where(idle, 0.0, found) for found in _near(program, solved))


def _near(program: Matrices, solved: Solved) -> Iterator[np.ndarray]:
    """Yield multipliers with a definite S: polished, then mixed with those of a margin."""
    size, value = float(np.trace(solved.gram)), abs(solved.value)
    room = program.bounds - np.tensordot(program.gram, solved.gram) - program.values @ solved.values
    active = program.equal | (solved.multipliers > room)  # one of the two is 0 at an optimum
    starts = (np.where(active, solved.multipliers, 0.0), solved.multipliers)
    for share in STEPS:
        polished = [_polished(program, x, share * value / max(size, 1e-300)) for x in starts]
        polished = [x for x in polished if np.linalg.eigvalsh(_slack(program, x))[0] > 0]
        yield from sorted(polished, key=lambda x: float(x @ program.bounds))
    try:
        inner = solve_matrices(program, margin=INNER * value / max(size, 1e-300))
    except DriftproofError:
        return  # some direction is not bounded
    for share in STEPS:
        mixed = solved.multipliers + share / INNER * (inner.multipliers - solved.multipliers)
        if np.linalg.eigvalsh(_slack(program, mixed))[0] > 0:
            yield mixed


def _slack(program: Matrices, multipliers: np.ndarray) -> np.ndarray:
    """Return S = Σ λ_k Q_k − Q_0 in doubles."""
    slack: np.ndarray = np.tensordot(multipliers, program.gram, 1) - program.objective[0]
    return slack


def _polished(program: Matrices, multipliers: np.ndarray, margin: float) -> np.ndarray:
    """Return multipliers near those given that meet the equations of an optimum, with a margin.

    At an optimum S is 0 on the range V of the Gram matrix, and the values cancel. Multipliers are
    moved, each in proportion to its size, until VᵀSV = margin·I and Σ λ_k a_k = a_0. Those that
    are 0 stay so.
    """
    moved = multipliers.copy()
    for _ in range(POLISHED):
        slack = _slack(program, moved)
        eigenvalues, directions = np.linalg.eigh(slack)
        small = directions[:, eigenvalues < SMALL * max(eigenvalues[-1], 1e-300)]
        upper = np.triu_indices(small.shape[1])
        parts = (small.T @ program.gram @ small)[:, *upper]
        wanted = (margin * np.eye(small.shape[1]) - small.T @ slack @ small)[upper]
        left = program.objective[1] - moved @ program.values
        weights = np.abs(moved)
        system = np.concatenate([program.values, parts], 1).T * weights
        moved = moved + weights * np.linalg.lstsq(system, np.concatenate([left, wanted]))[0]
    return moved


def _fmpq(of: Fraction | int) -> fmpq:
    return fmpq(of.numerator, of.denominator)


def _fraction(of: fmpq) -> Fraction:
    return Fraction(int(of.p), int(of.q))


@dataclass(frozen=True)
class _Row:
    """A constraint, exactly: its value part a and bound b, and where it came from.

    Attributes:
        terms: (c, row, row) of the rows of ``_Exact.vectors``, whose products its Gram part is.
        source: what a certificate calls it.
    """

    values: Mapping[int, Fraction]
    bound: Fraction
    equality: bool
    terms: Sequence[tuple[Fraction, int, int]]
    gram: Mapping[tuple[int, int], Fraction]
    source: tuple[str, ...]


class _Exact:
    """A worst case in fractions: matrices are summed over triples, then taken to the basis."""

    def __init__(self, case: WorstCase) -> None:
        self.names = Names(case)
        self.size, self.count = len(case.vectors), len(case.values)
        self.second = case.second or (False,) * self.size
        listed = [(t.point, t.gradient) for triples in case.triples for t in triples]
        self.vectors = fmpq_mat(
            2 * len(listed), self.size,
            [_fmpq(v.coefficients.get(j, Fraction(0)))
             for pair in listed for v in pair for j in range(self.size)],
        )  # fmt: skip
        self.rows, self.objective = list(self._rows(case)), case.objective
        self._solvable: tuple[list[int], list[int], fmpq_mat] | None = None

    def _rows(self, case: WorstCase) -> Iterator[_Row]:
        first = 0
        for function, (of, triples) in enumerate(zip(case.classes, case.triples, strict=True)):
            for condition in of.conditions:
                for places in pairs(condition, len(triples)):
                    of_values = [triples[place].value for place in places]
                    value = Quantity()
                    for factor, known in zip(condition.values, of_values, strict=False):
                        value = value + known * factor
                    kind = _kind(of, condition)[0]
                    yield _Row(
                        value.values, condition.bound - value.constant, False,
                        list(_terms(condition, [first + 2 * place for place in places])), {},
                        (kind, self.names.functions[function],
                         *(self.names.points[triples[place].point] for place in places)),
                    )  # fmt: skip
            first += 2 * len(triples)
        for relation in case.relations:
            q = relation.quantity
            yield _Row(q.values, relation.bound - q.constant, relation.equality, (), q.gram,
                       ("assumption", relation.name))  # fmt: skip

    def bound(self, multipliers: Sequence[fmpq]) -> Fraction:
        """Return Σ λ_k b_k + c_0."""
        total = sum((x * _fmpq(row.bound) for x, row in self._used(multipliers)), fmpq(0))
        return _fraction(total) + self.objective.constant

    def slack(self, multipliers: Sequence[fmpq]) -> list[list[fmpq]]:
        """Return S = Σ λ_k Q_k − Q_0."""
        side = self.vectors.nrows()
        inner, gram = [fmpq(0)] * side**2, [fmpq(0)] * self.size**2
        for x, row in self._used(multipliers):
            for c, one, other in row.terms:
                inner[one * side + other] += x * _fmpq(c)
            for (j, k), q in row.gram.items():
                gram[j * self.size + k] += x * _fmpq(q)
        for (j, k), q in self.objective.gram.items():
            gram[j * self.size + k] -= _fmpq(q)
        square = fmpq_mat(self.size, self.size, gram)
        square += self.vectors.transpose() * fmpq_mat(side, side, inner) * self.vectors
        doubled: list[list[fmpq]] = (square + square.transpose()).tolist()
        second, numbers = self.second, range(self.size)
        return [
            [doubled[j][k] / 2 if second[j] == second[k] else fmpq(0) for k in numbers]
            for j in numbers
        ]

    def repaired(self, multipliers: Sequence[fmpq], weights: np.ndarray) -> list[fmpq]:
        """Return multipliers with Σ λ_k a_k = a_0, by solving for a few that are large.

        Raises:
            ArithmeticError: there are none, or one comes out below 0.
        """
        if self._solvable is None:
            self._solvable = self._pivots(weights)
        columns, kept, matrix = self._solvable
        left = [_fmpq(self.objective.values.get(j, Fraction(0))) for j in range(self.count)]
        for x, row in self._used(multipliers):
            for j, a in row.values.items():
                left[j] -= x * _fmpq(a)
        repaired = list(multipliers)
        if columns:
            found = matrix.solve(fmpq_mat(len(kept), 1, [left[j] for j in kept]))
            for place, column in enumerate(columns):
                repaired[column] += found[place, 0]
                for j, a in self.rows[column].values.items():
                    left[j] -= found[place, 0] * _fmpq(a)
        if any(entry != 0 for entry in left):
            raise ArithmeticError("no multipliers make the values cancel: nothing bounds them")
        if any(x < 0 and not row.equality for x, row in zip(repaired, self.rows, strict=True)):
            raise ArithmeticError("a multiplier comes out below 0")
        return repaired

    def _pivots(self, weights: np.ndarray) -> tuple[list[int], list[int], fmpq_mat]:
        """Return independent columns, the heaviest first, rows that tell them, and their matrix."""
        order = [int(k) for k in np.argsort(-np.abs(weights)) if self.rows[k].values]
        columns = [order[k] for k in _leading(self._values_of(order))]
        chosen = self._values_of(columns)
        kept = _leading(chosen.transpose())
        square = [chosen[j, k] for j in kept for k in range(len(columns))]
        return columns, kept, fmpq_mat(len(kept), len(columns), square)

    def _values_of(self, columns: Sequence[int]) -> fmpq_mat:
        """Return the a_k of some constraints as columns."""
        of = [self.rows[k].values for k in columns]
        entries = [_fmpq(a.get(j, Fraction(0))) for j in range(self.count) for a in of]
        return fmpq_mat(self.count, len(columns), entries)

    def _used(self, multipliers: Sequence[fmpq]) -> Iterator[tuple[fmpq, _Row]]:
        for x, row in zip(multipliers, self.rows, strict=True):
            if x != 0:
                yield x, row


def _leading(matrix: fmpq_mat) -> list[int]:
    """Return the first columns that span a matrix's columns."""
    reduced, rank = matrix.rref()
    columns, place = [], 0
    for row in range(rank):
        while reduced[row, place] == 0:
            place += 1
        columns.append(place)
    return columns


def _terms(condition: Condition, first: Sequence[int]) -> Iterator[tuple[Fraction, int, int]]:
    """Yield a condition's products in the rows of points and gradients.

    Args:
        first: the row of each triple's point; the gradient's is the next.
    """
    rows: dict[str, list[tuple[int, int]]] = {
        "difference": [(row, sign) for row, sign in zip(first, (1, -1), strict=False)],
        "one": [(first[0] + 1, 1)],
        "other": [(first[-1] + 1, 1)],
    }
    for (a, b), factor in condition.products.items():
        for one, sign in rows[a]:
            for other, turn in rows[b]:
                yield factor * sign * turn, one, other


BASES = ("smooth", "smooth-convex", "smooth-strongly-convex")
"""Classes with an interpolation condition."""


def _kind(of: FunctionClass, condition: Condition) -> tuple[str, dict[str, str]]:
    """Return what the checker calls a condition of a class, and its constants."""
    base = next((name for name in BASES if of.name.removesuffix(SHORT) == name), None)
    kind, letters = {
        "interpolation": (base, "L mu" if base == BASES[2] else "L"),
        "bounded gradient": ("bounded-gradients", "G"),
        "monotone": ("strongly-monotone", "mu"),
        "Lipschitz": ("lipschitz", "L"),
        "sector": ("cocoercive", "L mu"),
    }.get(condition.name, (None, ""))
    if kind is None:
        raise DriftproofError(
            f"the condition {condition.name!r} of {of}",
            "one that driftproof check knows",
            "write it into CLASSES of verifiers/worst_case/check.py",
        )
    return kind, {letter: str(of.parameters[letter]) for letter in letters.split()}


SHORT = "-with-bounded-gradients"


class Names:
    """Names as a reader has them: x_1, ∇f_0(x_1), f_0(x_1); the solution is x*."""

    def __init__(self, case: WorstCase) -> None:
        self.vectors, self.values = list(case.vectors), list(case.values)
        start, letter, both = Vector.basis(0), "x", any(case.second)
        if both:
            start, letter = start + Vector.basis(Second(1)), "z"
        self.points: dict[Vector, str] = {Vector(): f"{letter}*", start: f"{letter}_0"}
        self.functions = []
        for number, (of, triples) in enumerate(zip(case.classes, case.triples, strict=True)):
            operator = not any(any(c.values) for c in of.conditions)
            name = f"A_{number}" if operator else f"f_{number}"
            self.functions.append(name)
            for triple in triples:
                point = self.points.setdefault(triple.point, f"{letter}_{len(self.points) - 1}")
                given = f"{'' if operator else '∇'}{name}({point})"
                for second, part in ((False, "_x"), (True, "_y")):
                    for j in _alone(triple.gradient.part(second=second).coefficients):
                        self.vectors[j] = given + part * both
                for j in _alone(triple.value.values):
                    self.values[j] = f"{name}({point})"
        for number, own in enumerate(case.own):
            for j in own.coefficients:
                self.vectors[j] = f"c_{number}" + ("_y" if case.second[j] else "_x") * both
        self._unlike(case)

    def _unlike(self, case: WorstCase) -> None:
        for names, own in ((self.vectors, case.vectors), (self.values, case.values)):
            for place, name in enumerate(names):
                if names.count(name) > 1:
                    names[place] = f"{name} [{own[place]}]"

    def spaces(self, second: Sequence[bool]) -> list[str] | dict[str, list[str]]:
        """Return the vectors' names, by space where there are two."""
        if not any(second):
            return self.vectors
        return {
            letter: [name for name, of in zip(self.vectors, second, strict=True) if of is it]
            for letter, it in (("x", False), ("y", True))
        }

    def vector(self, of: Vector) -> dict[str, str]:
        """Return a combination as a certificate has it."""
        return {self.vectors[j]: str(c) for j, c in sorted(of.coefficients.items())}

    def quantity(self, of: Quantity) -> dict[str, Any]:
        """Return a form as a certificate has it, its Gram part as squares where they exist."""
        products = [[str(c), self.vector(u), self.vector(v)] for c, u, v in squares(of.gram)]
        values = {self.values[j]: str(a) for j, a in sorted(of.values.items())}
        return {"products": products, "values": values}


def _alone(of: Mapping[int, Fraction]) -> list[int]:
    """Return the number of a basis vector, if it is one."""
    return list(of) if list(of.values()) == [1] else []


def squares(gram: Mapping[tuple[int, int], Fraction]) -> list[tuple[Fraction, Vector, Vector]]:
    """Write Σ q_jk G_jk as Σ c⟨u, v⟩ with few terms: squares are completed while there are any.

    >>> squares({(0, 0): Fraction(1), (0, 1): Fraction(-2), (1, 1): Fraction(1)}) == [
    ...     (1, u := Vector.basis(0) - Vector.basis(1), u)]
    True
    """
    left, made = Quantity(dict(gram)), []
    while (place := min((j for j, k in left.gram if j == k), default=None)) is not None:
        c = left.gram[place, place]
        halves = {j + k - place: q / 2 / c for (j, k), q in left.gram.items() if place in (j, k)}
        u = Vector({**halves, place: Fraction(1)})
        made.append((c, u, u))
        left = left - u * u * c
    return made + [(q, Vector.basis(j), Vector.basis(k)) for (j, k), q in left.gram.items()]


def _written(case: WorstCase, exact: _Exact, multipliers: Sequence[fmpq], bound: Fraction) -> str:
    """Return the file of a proof."""
    used = [[str(x), *row.source] for x, row in exact._used(multipliers)]
    return sealed({"schema": SCHEMA, **statement(case, exact.names, bound), "multipliers": used})


def statement(case: WorstCase, names: Names, bound: Fraction) -> dict[str, Any]:
    """Return what a file says, without what shows it: that the measure is at most ``bound``."""
    functions = {}
    for name, of, triples in zip(names.functions, case.classes, case.triples, strict=True):
        points = {
            names.points[t.point]: {
                "x": names.vector(t.point), "g": names.vector(t.gradient),
                "f": names.quantity(t.value)["values"],
            } for t in triples
        }  # fmt: skip
        classes = dict(_kind(of, condition) for condition in of.conditions)
        functions[name] = {"classes": classes, "points": points}
    return {
        "about": _about(case.about),
        "vectors": names.spaces(case.second),
        "values": names.values,
        "functions": functions,
        "assumptions": {
            relation.name: {
                **names.quantity(relation.quantity),
                "equals" if relation.equality else "at_most":
                    str(relation.bound - relation.quantity.constant),
            } for relation in case.relations
        },
        "conclusion": {
            **names.quantity(case.objective), "at_most": str(bound - case.objective.constant)
        },
    }  # fmt: skip


def _about(about: Mapping[str, Any]) -> str:
    def told(value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{key} = {told(part)}" for key, part in value.items())
        return "; ".join(map(told, value)) if isinstance(value, list | tuple) else str(value)

    return "; ".join(f"{key}: {told(value)}" for key, value in about.items())
