"""Writes what a certificate, or a counterexample, states: docs/certificates.md has the grammar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb, fmpq

from driftproof.synthetic.classes.unknowns import put, with_products
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.letters import shown
from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case import check, check_counterexample
from driftproof.verifiers.worst_case.digest import sealed
from driftproof.verifiers.worst_case.exact import fraction, rational
from driftproof.verifiers.worst_case.expression import ends, evaluate
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.witness import Witness


@dataclass(frozen=True)
class Right:
    """A right side: an expression, and the numbers of its letters.

    >>> Right("L/(2*S)", {"L": Fraction(1), "S": Fraction(3)}).low
    Fraction(1, 6)
    """

    text: str
    letters: Mapping[str, Fraction] = field(default_factory=dict)

    def of_letters(self, region: Region) -> Any:
        """Return it as a rational function of a region's letters.

        Raises:
            ArithmeticError, ValueError: it is none.
        """
        given = {name: rational(x) for name, x in self.letters.items()}
        value = evaluate(self.text, given, region.free)
        if isinstance(value, arb):
            raise ValueError("it is irrational")
        return value

    @property
    def written(self) -> dict[str, str]:
        """The letters as a file has them."""
        return {name: str(value) for name, value in self.letters.items()}

    @cached_property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Fractions that enclose its value, equal if it is one."""
        low, high = ends(evaluate(self.text, {n: rational(x) for n, x in self.letters.items()}))
        return fraction(low), fraction(high)

    @property
    def low(self) -> Fraction:
        """What a bound has to be at most."""
        return self.ends[0]

    @property
    def high(self) -> Fraction:
        """What a counterexample has to exceed."""
        return self.ends[1]


def certificate(case: WorstCase, right: Right, multipliers: Mapping[int, fmpq]) -> str:
    """Return the file of a proof that the measure is at most a right side.

    Raises:
        DriftproofError: the checker does not take it.
    """
    names = Names(case)
    sources = list(_sources(case, names))
    used = [[str(x), *sources[k]] for k, x in sorted(multipliers.items())]
    text = sealed({"schema": check.SCHEMA, **statement(case, names, right), "multipliers": used})
    return _taken(text, check.check)


def theorem(
    case: WorstCase, right: Right, region: Sequence[Sequence[str]], multipliers: Mapping[int, Any]
) -> str:
    """Return the file of a proof that the measure is at most a right side in a region.

    Raises:
        DriftproofError: the checker refuses it.
    """
    own, order = in_means(case)
    names = Names(own)
    sources = list(_sources(own, names))
    used = [[str(x), *sources[k]] for k, x in sorted(multipliers.items()) if not vanishes(x)]
    file = {"schema": check.THEOREM, "region": region, **statement(own, names, right)}
    if not any(own.second):
        file["vectors"] = [names.vectors[j] for j in order]
    return _taken(sealed({**file, "multipliers": used}), check.check)


def in_means(case: WorstCase) -> tuple[WorstCase, list[int]]:
    """Return a worst case of two clients in means and differences of their gradients, in order.

    What treats both clients alike has then a matrix S of two blocks, of which pivots are of lower
    degree; so they are too if the gradients come before the start.
    """
    size = len(case.vectors)
    if len(case.triples) != 2 or len({*map(len, case.triples)}) > 1 or any(case.second):
        return case, list(range(size))
    new, names = {j: Vector.basis(j) for j in range(size)}, list(case.vectors)
    means, differences = list[int](), list[int]()
    for one, other in zip(*case.triples, strict=True):
        j, k = _alone(one.gradient.coefficients), _alone(other.gradient.coefficients)
        if j and k and j != k and new[j[0]] == Vector.basis(j[0]):
            new[j[0]] = Vector.basis(j[0]) + Vector.basis(k[0])
            new[k[0]] = Vector.basis(j[0]) - Vector.basis(k[0])
            names[j[0]], names[k[0]] = f"m_{len(means)}", f"d_{len(means)}"
            means.append(j[0])
            differences.append(k[0])

    def quantity(of: GramForm) -> GramForm:
        return with_products(of, lambda j, k: new[j] * new[k])

    triples = tuple(
        tuple(replace(t, point=put(t.point, new), gradient=put(t.gradient, new)) for t in own)
        for own in case.triples
    )
    relations = tuple(replace(of, quantity=quantity(of.quantity)) for of in case.relations)
    rest = [j for j in range(size) if j not in {*means, *differences}]
    made = replace(
        case,
        vectors=tuple(names),
        triples=triples,
        relations=relations,
        objective=quantity(case.objective),
    )
    return made, [*means, *rest[:1], *differences, *rest[1:]]


def counterexample(case: WorstCase, right: Right, found: Witness) -> str:
    """Return the file of functions on which the measure exceeds a right side.

    Raises:
        DriftproofError: the checker does not take it.
    """
    names = Names(case)
    where = zip(names.vectors, found.coordinates, strict=True)
    text = sealed(
        {
            "schema": check_counterexample.COUNTEREXAMPLE,
            **statement(case, names, right),
            "coordinates": {name: list(map(str, row)) for name, row in where},
            "numbers": {name: str(found.values[j]) for j, name in names.values.items()},
            "fields": dict(zip(names.functions, found.fields, strict=False)),
        }
    )
    return _taken(text, check_counterexample.functions_of)


def _taken(text: str, checked: Any) -> str:
    """Return a file that the checker takes: what is written may not be what was found."""
    try:
        checked(text)
    except check.RefusedCertificateError as error:
        raise DriftproofError(
            f"a file that driftproof check refuses: {error}",
            "one that it takes",
            "report the claim: driftproof wrote the file",
        ) from error
    return text


def statement(case: WorstCase, names: Names, right: Right) -> dict[str, Any]:
    """Return what a file states: that the measure is at most the right side."""
    functions = {}
    for name, of, triples in zip(names.functions, case.classes, case.triples, strict=True):
        points = {
            names.points[t.point]: {
                "x": names.vector(t.point),
                "g": names.vector(t.gradient),
                "f": names.quantity(t.value)["values"],
            }
            for t in triples
        }
        classes = {
            condition.name: {name: str(c) for name, c in condition.constants.items()}
            for condition in of.conditions
        }
        functions[name] = {"classes": classes, "points": points}
    return {
        "about": _about(case.about),
        "vectors": names.spaces(case.second),
        "values": list(names.values.values()),
        "functions": functions,
        "assumptions": {
            relation.name: {
                **names.quantity(relation.quantity),
                "equals" if relation.equality else "at_most": str(
                    relation.bound - relation.quantity.constant
                ),
            }
            for relation in case.relations
        },
        "conclusion": {
            **names.quantity(case.objective),
            "constant": str(case.objective.constant),
            "right": right.text,
            "letters": right.written,
        },
    }


def _sources(case: WorstCase, names: Names) -> Iterator[list[str]]:
    """Yield what a certificate calls each condition, in the order of ``case.constraints``."""
    for condition, client, places in case.conditions():
        points = (names.points[case.triples[client][place].point] for place in places)
        yield [condition.name, names.functions[client], *points]
    for relation in case.relations:
        yield ["assumption", relation.name]


class Names:
    """Names as a reader has them: x_1, ∇f_0(x_1), f_0(x_1); the solution is x*."""

    def __init__(self, case: WorstCase) -> None:
        self.vectors = list(case.vectors)
        self.values: dict[int, str] = {}  # operators have none
        start, letter, both = Vector.basis(0), "x", any(case.second)
        if both:
            start, letter = start + Vector.basis(Second(1)), "z"
        self.points: dict[Vector, str] = {Vector(): f"{letter}*", start: f"{letter}_0"}
        self.functions = []
        met = Counter[str]()
        for number, (of, triples) in enumerate(zip(case.classes, case.triples, strict=True)):
            operator = not of.normals and not any(any(c.values) for c in of.conditions)
            name = "h" if of.term else f"A_{number}" if operator else f"f_{number}"
            self.functions.append(name)
            for triple in triples:
                point = self.points.setdefault(triple.point, f"{letter}_{len(self.points) - 1}")
                met[name + point] += 1  # a point may have several subgradients
                which = f"_{met[name + point]}" if met[name + point] > 1 else ""
                given = f"{'' if operator else '∇'}{name}{which}({point})"
                for second, part in ((False, "_x"), (True, "_y")):
                    for j in _alone(triple.gradient.part(second=second).coefficients):
                        self.vectors[j] = given + part * both
                for j in _alone(triple.value.values) if not operator else ():
                    self.values[j] = f"{name}{which}({point})"
        for j, name in enumerate(case.values):
            if name == "m":  # of the smallest moment
                self.values[j] = name
        for number, own in enumerate(case.own):
            for second, part in ((False, "_x"), (True, "_y")):
                for j in _alone(own.part(second=second).coefficients):
                    self.vectors[j] = f"c_{number}" + part * both

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

    def quantity(self, of: GramForm) -> dict[str, Any]:
        """Return a form as a certificate has it, its Gram part as squares where they exist."""
        products = [[str(c), self.vector(u), self.vector(v)] for c, u, v in squares(of.gram)]
        known = sorted((j, a) for j, a in of.values.items() if j in self.values)
        values = {self.values[j]: str(a) for j, a in known}
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
    left, made = GramForm(dict(gram)), []
    while (
        place := min((j for (j, k), q in left.gram.items() if j == k and _fixed(q)), default=None)
    ) is not None:
        c = left.gram[place, place]
        halves = {j + k - place: q / 2 / c for (j, k), q in left.gram.items() if place in (j, k)}
        u = Vector({**halves, place: Fraction(1)})
        made.append((c, u, u))
        left = left - u * u * c
    return made + [(q, Vector.basis(j), Vector.basis(k)) for (j, k), q in left.gram.items()]


def _fixed(of: Any) -> bool:
    """Tell whether a coefficient has no free letter, so that a square can be completed with it."""
    return not isinstance(of, Ratio) or of.number is not None


def _about(about: Mapping[str, Any]) -> str:
    def text(value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{key} = {text(part)}" for key, part in value.items())
        return "; ".join(map(text, value)) if isinstance(value, list | tuple) else shown(value)

    return "; ".join(f"{key}: {text(value)}" for key, value in about.items())
