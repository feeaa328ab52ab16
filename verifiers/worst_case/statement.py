"""Reads what a certificate, or a counterexample, states; the checkers decide whether it is so.

A statement: for all functions of some classes, if the assumptions hold at the points named, so does
the conclusion. Points and gradients combine unknown vectors v_1 … v_d of any dimension; those of
different spaces are orthogonal. Values combine unknown numbers F. docs/certificates.md has the
grammar. What is ambiguous is refused, and all that is assumed is in ``Statement.said``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from flint import fmpq

from driftproof.toolkit.ratios import vanishes
from driftproof.verifiers.worst_case.classes import CLASSES
from driftproof.verifiers.worst_case.expression import FUNCTIONS, ends, evaluate

ZERO, ONE = fmpq(0), fmpq(1)
LETTER = re.compile("[A-Za-z][A-Za-z0-9_]*")
NUMBER = re.compile("-?[0-9]+(/[0-9]+)?")
NAME = re.compile(r"∇?[A-Za-z][A-Za-z0-9_]*\*?(\([A-Za-z0-9_*]+\)(_[a-z])?)?")
WORDS = re.compile(r"[A-Za-z]+( [A-Za-z]+)*(, \([0-9]+\))?(, [a-z-]+)?")
Combination = dict[str, Any]  # name → coefficient, of unknown vectors or of unknown numbers


class Numbers:
    """Fractions, what the numbers of a file are; ``signs.Region`` has functions of free letters."""

    free: Mapping[str, Any] = {}
    said = ""

    def number(self, written: str) -> Any:
        """Return the number that a text is."""
        return number(written)

    def defined(self, of: Any) -> bool:
        """Tell whether it is a number wherever it is used."""
        return True

    def nonnegative(self, of: Any) -> bool:
        """Tell whether it is at least 0."""
        return bool(of >= 0)

    def positive(self, of: Any) -> bool:
        """Tell whether it is above 0."""
        return bool(of > 0)

    def pivot(self, of: Any) -> bool:
        """Tell whether it may be a pivot of a matrix that is positive semidefinite."""
        return bool(of >= 0)


class Condition(NamedTuple):
    """Σ c⟨u, v⟩ over the products (c, u, v), plus Σ a F over the numbers, ≤ or = right."""

    products: Sequence[tuple[fmpq, Combination, Combination]]
    numbers: Combination
    right: fmpq = ZERO
    equality: bool = False


class Triple(NamedTuple):
    """A point, the gradient there (or an operator's value), and the function's value."""

    x: Combination
    g: Combination
    f: Combination

    def minus(self, other: Triple) -> Triple:
        """Return the differences, each of which is a combination again."""
        pairs = zip(self, other, strict=True)
        return Triple(*({n: a.get(n, ZERO) - b.get(n, ZERO) for n in a | b} for a, b in pairs))


def curved(L: fmpq, mu: fmpq, i: Triple, j: Triple) -> Condition:
    """Return f_j − f_i − ⟨g_j, x_j − x_i⟩ + (‖Δg‖² + Lμ‖Δx‖² − 2μ⟨Δg, Δx⟩)/(2(L − μ)) ≤ 0.

    L-smooth functions of curvature ≥ μ satisfy it: Taylor, Hendrickx & Glineur 2017, Theorem 4.
    """
    (x, g, f), c = j.minus(i), 1 / (2 * (L - mu))
    return Condition([(-ONE, j.g, x), (c, g, g), (c * L * mu, x, x), (-2 * c * mu, g, x)], f)


def operator(xx: fmpq, gx: fmpq, gg: fmpq, i: Triple, j: Triple) -> Condition:
    """Return xx‖Δx‖² + gx⟨Δg, Δx⟩ + gg‖Δg‖² ≤ 0."""
    x, g, _ = j.minus(i)
    return Condition([(xx, x, x), (gx, g, x), (gg, g, g)], {})


CONDITIONS: dict[str, Callable[..., Condition]] = {
    "smooth": lambda L, i, j: curved(L, -L, i, j),
    "smooth-convex": lambda L, i, j: curved(L, ZERO, i, j),
    "smooth-strongly-convex": curved,
    "convex": lambda i, j: Condition([(ONE, j.g, i.minus(j).x)], j.minus(i).f),
    "strongly-convex": lambda mu, i, j: Condition(
        [(ONE, j.g, i.minus(j).x), (mu / 2, i.minus(j).x, i.minus(j).x)], j.minus(i).f
    ),
    "normal-cone": lambda i, j: Condition([(ONE, j.g, i.minus(j).x)], {}),
    "diameter": lambda D, *at: operator(ONE, ZERO, ZERO, *at)._replace(right=D * D),
    "bounded-gradients": lambda G, i: Condition([(ONE, i.g, i.g)], {}, G * G),
    "strongly-monotone": lambda mu, *at: operator(mu, -ONE, ZERO, *at),
    "lipschitz": lambda L, *at: operator(-L * L, ZERO, ONE, *at),
    "cocoercive": lambda L, mu, *at: operator(L * mu, -L - mu, ONE, *at),
}
"""Class (``classes``) → a condition on its constants that any (two) of its triples meet."""


class Statement:
    """What a file states.

    Attributes:
        spaces: name of a space → names of its unknown vectors.
        values: names of the unknown numbers.
        constants: function → class → its constants.
        triples: function → name of a point → point, gradient, value.
        assumptions: what is assumed beside the classes.
        conclusion: what is stated, with the lower end of what is known of its right side.
        upper: the upper end; the same number unless the right side is irrational.
        numbers: what its numbers are: fractions, or rational functions of free letters.
        said: all of it in lines, for a reader; the last one is the conclusion.

    Raises:
        ArithmeticError, LookupError, SyntaxError, TypeError, ValueError: the file states nothing,
            or something that can be misread.
    """

    def __init__(self, file: Mapping[str, Any], numbers: Numbers | None = None) -> None:
        self.numbers = numbers or Numbers()
        vectors, self.values = file["vectors"], file["values"]
        self.spaces: dict[str, list[str]] = vectors if isinstance(vectors, dict) else {"x": vectors}
        self.vectors = [name for names in self.spaces.values() for name in names]
        for names in (list(self.spaces), [*self.vectors, *self.values], list(file["functions"])):
            unlike(names)
        if any(not isinstance(names, list) for names in [self.values, *self.spaces.values()]):
            raise TypeError("vectors and values are lists of names")
        if not isinstance(file["about"], str):
            raise TypeError("about is a text")
        self.said = [f"(said of it, not checked: {file['about']})"]
        if self.numbers.free:
            self.said.append(f"for all {self.numbers.said},")
        if len(self.spaces) > 1:
            self.said += [f"space {of} has {', '.join(its)}," for of, its in self.spaces.items()]
            self.said.append(f"vectors of the spaces {', '.join(self.spaces)} are orthogonal,")
        self.constants: dict[str, dict[str, list[fmpq]]] = {}
        self.triples: dict[str, dict[str, Triple]] = {}
        for name, function in file["functions"].items():
            self._function(name, *fields(function, "classes points"))
        self.assumptions: dict[str, Condition] = {}
        for name, written in file["assumptions"].items():
            if not WORDS.fullmatch(name):
                raise ValueError(f"the assumption {name!r}")
            side = "equals" if "equals" in written else "at_most"
            products, values, right = fields(written, f"products values {side}")
            of = self._condition(products, values, self.numbers.number(right))
            self.assumptions[name] = of = of._replace(equality=side == "equals")
            self.said.append(f"{name}: {told(of)} {'=' if of.equality else '≤'} {of.right},")
        products, values, constant, right, letters = fields(
            file["conclusion"], "products values constant right letters"
        )
        known = {*FUNCTIONS, "pi", *self.vectors, *self.values, *self.triples}
        known |= {at for points in self.triples.values() for at in points}
        for name in [*letters, *self.numbers.free]:
            if not LETTER.fullmatch(name) or name in known:
                raise ValueError(f"{name!r} is no letter, or names something else")
        if set(letters) & set(self.numbers.free):
            raise ValueError("a letter is free, and has a number")
        given = {name: number(value) for name, value in letters.items()}
        low, high = ends(evaluate(right, given, self.numbers.free))
        less = self.numbers.number(constant)
        self.conclusion = self._condition(products, values, low - less)
        self.upper = high - less
        added = f" + {less}" * (not vanishes(less))
        about = f"about {float(low):.9g}" if isinstance(low, fmpq) else ""
        if not about:
            value = ""
        elif low < high:
            value = f" ({about}, rounded down)"
        else:
            value = f" = {low}" * (right != str(low)) + f" ({about})"
        where = ", ".join(f"{name} = {of}" for name, of in given.items())
        self.said.append(
            f"{told(self.conclusion)}{added} ≤ {right}{value}{f', where {where}' * bool(where)}"
        )

    def _function(self, name: str, classes: Any, points: Any) -> None:
        self.constants[name], self.triples[name] = {}, {}
        for kind, written in classes.items():
            of = CLASSES[kind]
            constants = [self.numbers.number(c) for c in fields(written, " ".join(of.constants))]
            if not all(map(self.numbers.nonnegative, constants)) or (
                len(constants) > 1 and not self.numbers.positive(constants[0] - constants[1])
            ):
                raise ValueError(f"{kind} functions with {written}")
            self.constants[name][kind] = constants
            given = "".join(f", {c} = {x}" for c, x in zip(of.constants, constants, strict=True))
            self.said.append(f"{name} is {kind}{given} ({of.said}),")
        unlike(list(points))
        for at, written in points.items():
            x, g, f = fields(written, "x g f")
            triple = Triple(
                self._sum(x, self.vectors), self._sum(g, self.vectors), self._sum(f, self.values)
            )
            if f and all(CLASSES[kind].of != "values" for kind in classes):
                raise ValueError(f"a value of {name}, of which {', '.join(classes)} says nothing")
            self.triples[name][at] = triple
            x, g, f = (combined(part.items()) for part in triple)
            self.said.append(f"  at {at} = {x}: gradient {g}, value {f},")

    def _condition(self, products: Any, values: Any, right: fmpq) -> Condition:
        terms = [
            (self.numbers.number(c), self._sum(u, self.vectors), self._sum(v, self.vectors))
            for c, u, v in products
        ]
        return Condition(terms, self._sum(values, self.values), right)

    def _sum(self, written: Any, names: Sequence[str]) -> Combination:
        if strange := set(written) - set(names):
            raise LookupError(f"{strange} among combinations of {', '.join(names)}")
        return {name: self.numbers.number(times) for name, times in written.items()}


def loads(text: str, schema: str, more: str) -> dict[str, Any]:
    """Return a file's fields, those of a statement and ``more``; each is there once."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError(f"a field twice: {[name for name, _ in pairs]}")
        return dict(pairs)

    file = json.loads(text, object_pairs_hook=once)
    fields(file, f"schema about vectors values functions assumptions conclusion {more} digest")
    if file["schema"] != schema:
        raise ValueError(f"schema {file['schema']!r}, not {schema!r}")
    return dict(file)


def fields(written: Any, keys: str) -> list[Any]:
    """Return what an object has under some keys, which have to be all that it has."""
    if set(written) != set(keys.split()):
        raise ValueError(f"{sorted(written)} where the fields are {keys}")
    return [written[key] for key in keys.split()]


def number(written: str) -> fmpq:
    """Return the fraction that a text is."""
    if not NUMBER.fullmatch(written):
        raise ValueError(f"{written!r} is no fraction")
    return fmpq(written)


def unlike(names: Sequence[str]) -> None:
    """Refuse names that are none, and names that a reader could take for each other."""
    for place, name in enumerate(names):
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name")
        if name.casefold() in (other.casefold() for other in names[:place]):
            raise ValueError(f"{name!r} names two things")


def told(of: Condition) -> str:
    """Return the left side of a condition as a formula."""
    inner = ((combined(u.items()), combined(v.items()), c) for c, u, v in of.products)
    products = [(f"‖{u}‖²" if u == v else f"⟨{u}, {v}⟩", c) for u, v, c in inner]
    return combined([*products, *of.numbers.items()])


def combined(terms: Iterable[tuple[str, Any]]) -> str:
    """Return 2 x − g for [("x", 2), ("g", −1)]; a sum of letters stands in brackets."""
    text = ""
    for name, c in terms:
        if not vanishes(c):
            size = f"({c})" if "+" in str(c) or " - " in str(c) else str(c)
            text += f" {'−' if size[0] == '-' else '+'} {size.removeprefix('-')} {name}"
    return re.sub("([+−]) 1 ", r"\1 ", text).removeprefix(" + ").strip() or "0"
