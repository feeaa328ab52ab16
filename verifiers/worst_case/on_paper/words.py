"""What points, vectors and values of a certificate are called in a theorem, and in its proof.

The theorem speaks of x*, ∇f(x_i) and f(x_i). In the proof x* = 0 and f(x*) = 0, which loses nothing
(docs/certificates.md), and gradients and values have short names.
"""

import re
from itertools import combinations
from typing import Any, NamedTuple

from driftproof.toolkit.ratios import vanishes
from driftproof.verifiers.worst_case.classes import ROUGH
from driftproof.verifiers.worst_case.on_paper.latex import Printer, UnprintableError, name_of
from driftproof.verifiers.worst_case.statement import (
    ONE,
    ZERO,
    Combination,
    Condition,
    Statement,
    Triple,
)

HALF = ONE / 2
POINT = re.compile(r"[a-z](_\d+|\*)")


class Called(NamedTuple):
    """What a vector or a value is called: in the proof, and in the theorem, as Σ c·text."""

    short: str
    long: list[tuple[Any, str]]


class Words:
    """A statement about one space in the words of a paper.

    Attributes:
        it: the statement.
        called: what each vector and value is called.
        points: names of points → where they are.
        weights: vectors that a translation of all points moves, each with 1.
        given: what gradients and values are that others determine, in the words of the theorem.
        halves: gradients as sums and differences of means and half differences.
        steps: the points, each from those before it.

    Raises:
        UnprintableError: it has names or points of which a theorem cannot speak.
    """

    def __init__(self, it: Statement) -> None:
        self.it, self.printer = it, Printer(it.numbers)
        self.triples = [
            (function, at, Triple(*map(nonzero, triple)))
            for function, points in it.triples.items()
            for at, triple in points.items()
        ]
        self.called: dict[str, Called] = {}
        self.points: dict[str, Combination] = {}
        self.given, self.halves, self.steps = list[str](), list[str](), list[str]()
        self._name()
        self.weights = self._weights()
        self.points = {self.called[v].short: {v: ONE} for v in self.weights} | self.points
        for name in [name for name, x in self.points.items() if x]:
            if name not in (self.called[v].short for v in it.vectors):
                self.step(name)

    # --- names ---------------------------------------------------------------------------------

    def names(self, what: str, function: str, at: str) -> tuple[str, str]:
        r"""Return what g or f of a function is called at a point: g_{0} and \nabla f(x_{0})."""
        letter, _, number = function.partition("_")
        label = "" if len(self.it.triples) == 1 else number or letter
        index = at.partition("_")[2] or "*"
        short = f"{what}_{{{label},{index}}}" if label else f"{what}_{{{index}}}"
        if what == "g" and not self._smooth(function):
            return short, short
        own = letter + f"_{{{label}}}" * (label not in ("", letter))
        nabla = "\\nabla " * (what == "g" and letter == "f")
        return short, f"{nabla}{own}({_point(at)})"

    def _smooth(self, function: str) -> bool:
        """Tell whether a function has a gradient, or is an operator."""
        return not {*ROUGH} & self.it.constants[function].keys()

    def _call(self, of: str, short: str, long: list[tuple[Any, str]] | None = None) -> None:
        self.called.setdefault(of, Called(short, long or [(ONE, short)]))

    def _name(self) -> None:
        """Name points, vectors and values."""
        if odd := [at for _, at, _ in self.triples if not POINT.fullmatch(at)]:
            raise UnprintableError(f"points {', '.join(odd)}", "x*, x_0, x_1, …", "rename them")
        for _, at, t in self.triples:
            if not same(self.points.setdefault(_point(at), t.x), t.x):
                raise UnprintableError(
                    f"two points {at}", "points with one index each", "rename one"
                )
            if _alone(t.x):
                self._call(next(iter(t.x)), _point(at))
        for function, at, t in self.triples:
            for what, of in (("g", t.g), ("f", t.f)):
                short, long = self.names(what, function, at)
                if _alone(of):
                    self._call(next(iter(of)), short, [(ONE, long)])
        for (f, at, t), (h, there, u) in combinations(self.triples, 2):
            mean, apart = (*t.g, "", "")[:2]
            one, other = {mean: ONE, apart: ONE}, {mean: ONE, apart: -ONE}
            if apart and same(t.g, one) and same(u.g, other) and mean not in self.called:
                (g, long), (k, wide) = self.names("g", f, at), self.names("g", h, there)
                m, d = name_of(mean), name_of(apart)
                self._call(mean, m, [(HALF, long), (HALF, wide)])
                self._call(apart, d, [(HALF, long), (-HALF, wide)])
                self.halves += [f"{g}={m}+{d}", f"{k}={m}-{d}"]
        for v in [*self.it.vectors, *self.it.values]:
            if v not in self.called and re.search(r"[∇(]", v):
                raise UnprintableError(
                    f"{v}, which no point of the file has as its own",
                    "vectors that are points, gradients, or means of two gradients",
                    "driftproof check FILE says what is proved",
                )
            self._call(v, name_of(v))
        halved = {text.partition("=")[0] for text in self.halves}
        valued = {name for name, _, t in self.triples if t.f}
        for function, at, t in self.triples:
            for what, of in (("g", t.g), ("f", t.f)):
                short, long = self.names(what, function, at)
                unsaid = (at.endswith("*") and not of) or function not in valued
                normal = what == "f" and unsaid
                if short not in halved and not normal and self.short(of) != short:
                    self.given.append(f"{long}={self.long(of)}")
            if not self._smooth(function) and t.g:
                letter = self.names("f", function, at)[1]
                self.given.append(f"{self.names('g', function, at)[0]}\\in\\partial {letter}")

    def _weights(self) -> Combination:
        """Return how much a translation of all points moves each vector: 1, or not at all."""
        free = free_vectors(self.it)
        known = [v for v in free if self.called[v].short in self.points]
        for starts in (known or free, free if known else known):
            self.weights = dict.fromkeys(starts, ONE)
            moved: list[Any] = [self.moved(x) for x in self.points.values()]
            if all(vanishes(s) or vanishes(s - 1) for s in moved):
                return self.weights
        raise UnprintableError(
            "points that do not move with x*",
            "means of starts, less multiples of gradients",
            "driftproof check FILE says what is proved",
        )

    def moved(self, of: Combination) -> Any:
        """Return how much of a translation of all points a vector takes part in."""
        return sum((c * self.weights.get(v, ZERO) for v, c in of.items()), ZERO)

    # --- vectors and conditions ----------------------------------------------------------------

    def short(self, of: Combination) -> str:
        """Return a combination in the words of the proof."""
        for name, x in self.points.items():
            if x and same(x, of):
                return name
        return self.printer.sum((c, self.called[v].short) for v, c in of.items())

    def long(self, of: Combination) -> str:
        """Return a combination in the words of the theorem."""
        made: Combination = {}
        for v, c in of.items():
            for times, text in self.called[v].long:
                made[text] = made.get(text, ZERO) + c * times
        return self.printer.sum((c, text) for text, c in made.items())

    def _from_solution(self, of: Combination) -> str:
        """Return a vector in the words of the theorem, which has points and x*."""
        points = {name: x for name, x in self.points.items() if x}
        for name, x in [*points.items(), ("x^*", dict[str, Any]())]:
            for other, y in points.items():
                if same(minus(y, x), of):
                    return f"{other}-{name}"
        return added(self.long(of), self.printer.sum([(-self.moved(of), "x^*")]))

    def step(self, name: str) -> None:
        """Say where a point is, from one before it where that is shorter."""
        x = self.points[name]
        base = "" if vanishes(self.moved(x) - 1) else "x^*"
        ways = [added(base, self.long(x)) if base else self.long(x)]
        for before, old in self.points.items():
            if before == name:
                break
            if old and vanishes(self.moved(old) - self.moved(x)):
                ways.append(added(before, self.long(minus(x, old))))
        self.steps.append(f"{name}={min(ways, key=len)}")

    def said(self, of: Condition) -> str:
        """Return a condition in the words of the theorem, with few minus signs."""
        left, right = list[tuple[Any, str]](), list[tuple[Any, str]]()
        for c, u, v in of.products:
            one, two = (self._from_solution(nonzero(w)) for w in (u, v))
            text = f"\\|{one}\\|^2" if one == two else f"\\langle {one},{two}\\rangle"
            minus = self.printer.signed(c)[0] == "-" and len(of.products) > 1
            (right if minus else left).append((-c if minus else c, text))
        for function in self.it.triples:
            values = {v for f, _, t in self.triples if f == function for v in t.f}
            own = [(a, v) for v, a in of.numbers.items() if v in values]
            left += [(a, self.called[v].long[0][1]) for a, v in own]
            left.append((-sum((a for a, _ in own), ZERO), self.base(function)))
        of_points = {v for _, _, t in self.triples for v in t.f}
        left += [(a, self.called[v].short) for v, a in of.numbers.items() if v not in of_points]
        sign = "=" if of.equality else "\\le "
        return f"{self.printer.sum(left)}{sign}{self.printer.sum([*right, (of.right, '')])}"

    def base(self, function: str) -> str:
        """Return what values of a function are measured from."""
        at_solution = self.names("f", function, "x*")[1]
        known = "x*" in self.it.triples[function]
        return at_solution if known else f"{at_solution.partition('(')[0]}^*"

    def terms(self, of: Condition) -> list[tuple[Any, str]]:
        """Return a condition, less its right side, in the words of the proof."""
        made = []
        for c, u, v in of.products:
            one, two = self.short(nonzero(u)), self.short(nonzero(v))
            made.append((c, f"\\|{one}\\|^2" if one == two else f"\\langle {one},{two}\\rangle"))
        return [*made, *((a, self.called[v].short) for v, a in of.numbers.items()), (-of.right, "")]


def _alone(of: Combination) -> bool:
    """Tell whether a combination is one name, once."""
    return len(of) == 1 and all(vanishes(c - 1) for c in of.values())


def _point(at: str) -> str:
    """Return the name of a point: x_{0} of z_0, too."""
    return name_of(f"x{at[1:]}")


def free_vectors(it: Statement) -> list[str]:
    """Return the vectors that no gradient is made of: starts, and errors."""
    gradients = {v for t in it.triples.values() for at in t.values() for v in nonzero(at.g)}
    return [v for v in it.vectors if v not in gradients]


def nonzero(of: Combination) -> Combination:
    """Return a combination without what vanishes."""
    return {name: c for name, c in of.items() if not vanishes(c)}


def minus(one: Combination, other: Combination) -> Combination:
    """Return a difference."""
    return nonzero({v: one.get(v, ZERO) - other.get(v, ZERO) for v in one | other})


def same(one: Combination, other: Combination) -> bool:
    """Tell whether two combinations are equal."""
    return not minus(one, other)


def added(one: str, other: str) -> str:
    """Return the text of a sum."""
    if other in ("", "0"):
        return one
    return f"{one}{'' if other[0] == '-' else '+'}{other}"
