"""A certificate for all values of letters in a region, as a statement of Coq.

Letters are real variables, and the theorem is for all functions of the classes, and all points that
obey its equations. ``coq_region_proof`` writes its proof.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from flint import fmpq

from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case.classes import CURVED
from driftproof.verifiers.worst_case.coq_iterates import Point, Steps, key
from driftproof.verifiers.worst_case.coq_signs import Signs, called
from driftproof.verifiers.worst_case.coq_text import (
    UntranslatedError,
    fractions,
    renamed,
    statement,
)
from driftproof.verifiers.worst_case.coq_words import Row, Words, matrix, minus
from driftproof.verifiers.worst_case.expression import sqrt
from driftproof.verifiers.worst_case.signs import Region


class OverRegion(Words):
    """A certificate of one space over a region, in the words of Coq.

    Attributes:
        algorithm: the recursion of algorithms.v that gives the points ("": equations do).
    """

    def __init__(self, file: dict[str, Any]) -> None:
        names = called(Region(file["region"]).free)
        self.signs = Signs(file["region"], lambda of: fractions(of, {}, names))
        super().__init__(file, self.signs, self.signs.region)
        ending = file["conclusion"]
        self.right = fractions(ending["right"], ending["letters"], names)
        self.basis: list[tuple[str, Row]] = []  # what vectors are written in
        self.reduced: list[tuple[int, Row, Row]] = []
        self.points: list[tuple[str, Row]] = [("xs", self.row({}))]
        self.starts, self.equations = ["xs"], list[tuple[str, str]]()
        self.gradients: dict[str, Row] = {}  # by what they are called
        self.values: list[str] = []
        self.at: dict[tuple[str, str], str] = {}  # function and name of a point → its point
        self.apart: dict[str, Row] = {}
        self.member = self.members((f"f_{k}", f"g_{k}") for k in range(len(self.it.constants)))
        self._points()
        self._ending()
        self.constant = self.signs.full(self.signs.region.number(ending["constant"]))
        if not vanishes(self.constant):
            self.left += f" + {self.signs.ratio(self.constant)}"
        self.functions = [
            f"{h}_{k}"
            for k, of in enumerate(self.it.constants.values())
            for h in ("fg" if {*of} & {*CURVED} else "g")
        ]
        self.defined = [n for n, _ in self.equations if " " not in n]
        self.recursions = self._recursions()
        self._given()
        self.algorithm = (list(self.recursions.values()) or [" "])[-1].split(" ")[0]

    # --- vectors --------------------------------------------------------------------------------

    def _solve(self, row: Row) -> tuple[Row, Row]:
        """Return what is left of a row without the basis, and its coefficients in the basis."""
        left, made = list(row), [self.signs.zero] * len(self.basis)
        for column, reduced, own in self.reduced:
            if not vanishes(c := left[column]):
                left = [x - c * y for x, y in zip(left, reduced, strict=True)]
                for k, y in enumerate(own):
                    made[k] += c * y
        return left, made

    def _known(self, row: Row) -> bool:
        return all(map(vanishes, self._solve(row)[0]))

    def _new(self, text: str, row: Row) -> None:
        left, made = self._solve(row)
        column = next(k for k, x in enumerate(left) if not vanishes(x))
        own = [-x / left[column] for x in made] + [1 / left[column]]
        self.basis.append((text, row))
        self.reduced.append((column, [x / left[column] for x in left], own))

    def _points(self) -> None:
        """Say what each unknown vector is: a start, a gradient, or a combination of these."""
        order = list(self.it.triples)
        pending = [
            (k, at, t) for k, name in enumerate(order) for at, t in self.it.triples[name].items()
        ]
        shifts: dict[int, str] = {}
        while pending:
            those = [p for p in pending if self._known(self.row(p[2].x))]
            k, at, triple = (those or pending)[0]
            pending.remove((k, at, triple))
            row = self.row(triple.x)
            name = next((p for p, other in self.points if _alike(row, other)), "")
            if not name:
                name = self._name(at)
                if those:
                    self.equations.append((name, self._from(row)))
                else:
                    self.starts.append(name)
                    self._new(f"{name} - xs", row)
                    self.apart[f"{name} - xs"] = row
                self.points.append((name, row))
            self.at[order[k], at] = name
            g, gradient = f"g_{k} {name}", self.row(triple.g)
            if g in self.gradients:
                raise UntranslatedError(f"{order[k]} twice at one point", "each point once")
            if self._known(gradient):
                self.equations.append((g, self.linear(gradient)))
            else:
                self._new(g, gradient)
            self.gradients[g] = gradient
            value = f"f_{k} {name}"
            self.values.append(value)
            named = [n for n, c in triple.f.items() if not vanishes(c)]
            if not named:
                shifts.setdefault(k, value)
            elif len(named) > 1 or not vanishes(triple.f[named[0]] - 1) or self.numbers[named[0]]:
                raise UntranslatedError("values that depend on each other", "free values")
            else:
                self.numbers[named[0]] = value
        units = [self.row({name: fmpq(1)}) for name in self.it.vectors]
        if not all(map(self._known, units)) or not all(self.numbers.values()):
            raise UntranslatedError("vectors or values of no point", "those of functions at points")
        for name, value in self.numbers.items():
            k = int(value.split()[0][2:])
            self.numbers[name] = f"{value} - {shifts[k]}" if k in shifts else value
        self.own = [self.linear(unit) for unit in units]

    def _name(self, at: str) -> str:
        names, k = {p for p, _ in self.points}, len(self.points)
        name = at if re.fullmatch(r"[w-z]_[0-9]+", at) else f"x_{k}"
        while name in names:
            k, name = k + 1, f"x_{k + 1}"
        return name

    def _from(self, row: Row) -> str:
        """Return a point as an earlier one and what is added to it."""
        apart = [(p, self.terms(minus(row, other))) for p, other in self.points]
        base, rest = min(apart, key=lambda pair: len(pair[1]))
        return f"{base} + {self.ring.sum(rest)}" if rest else base

    def coordinates(self, row: Row) -> Iterable[tuple[Ratio, str]]:
        """Return a combination as numbers times starts and gradients."""
        return zip(self._solve(row)[1], (text for text, _ in self.basis), strict=True)

    def vector(self, row: Row) -> str:
        """Return a combination as text: the difference of two points, or a sum."""
        for k, (p, one) in enumerate(self.points):
            for q, two in self.points[:k]:
                for text, sign in ((f"{p} - {q}", 1), (f"{q} - {p}", -1)):
                    if _alike(row, [sign * (x - y) for x, y in zip(one, two, strict=True)]):
                        self.apart[text] = row
                        return text
        return self.linear(row)

    def _ending(self) -> None:
        """Write the left side as ‖u‖² less a rest c‖v‖², if it is that, and u as y_0 − xs."""
        of, signs, self.rest, self.contracts = self.it.conclusion, self.signs, "", ("", "")
        Q = matrix([(signs.full(1), of)], self.it.vectors, signs.zero)
        self.left, size = self.quantity(of), range(len(Q))
        if of.numbers or sum(not vanishes(x) for row in Q for x in row) == 1:
            return
        for k, row in enumerate(Q):
            if (root := _root(row[k])) is None:
                continue
            w = [x / root for x in row]
            more = {(i, j): signs.full(w[i] * w[j] - Q[i][j]) for i in size for j in size}
            more = {at: c for at, c in more.items() if not vanishes(c)}
            if len(more) > 1 or any(i != j for i, j in more):
                continue
            try:
                factors = [signs.product(c.top) for c in more.values()]
            except UntranslatedError:
                continue
            if all(signs.text(c.bottom) == "1" for c in more.values()):
                self.left = f"‖{self._ended(w)}‖²"
                for (i, _), factor in zip(more, factors, strict=True):
                    self.contracts = (factor, self.vector([signs.full(j == i) for j in size]))
                    self.rest = f"{factor} * ‖{self.contracts[1]}‖²"
                return

    def _ended(self, w: Row) -> str:
        """Return the difference that a row is, up to its sign, of y_0 and another point."""
        if any(vanishes(c + 1) and "g_" not in t for c, t in self.terms(w)):
            w = [-x for x in w]
        if not any(_alike(w, other) for _, other in self.points):
            self.equations.append(("y_0", self._from(w)))
            self.points.append(("y_0", w))
        return self.vector(w)

    def _given(self) -> None:
        """Name what is assumed of points: equations of them, of gradients, and assumptions."""
        own = [(f"is_{n.replace(' ', '_')}", f"{n} = {_vector(t)}") for n, t in self.equations]
        points = [of for of, (n, _) in zip(own, self.equations, strict=True) if " " not in n]
        self.sums = [of for of in own if of not in points]
        self.assumed = [
            (
                f"assumed_{k}",
                f"{self.quantity(of)} {'=' if of.equality else '<='} " + self.signs.ratio(of.right),
            )
            for k, of in enumerate(self.it.assumptions.values())
        ]
        self.given = [*points, *self.sums, *self.assumed]

    def statements(self) -> list[list[str]]:
        """Return what is proved: of points with equations, of iterates, and after every round.

        A round that takes ‖x − x*‖² to ρ‖x − x*‖² + c at most, from any x, has a theorem about
        every number of rounds too.
        """
        functions = " ".join(f"({f} : E -> {'R' if f[0] == 'f' else 'E'})" for f in self.functions)
        letters = " ".join(self.signs.names.values())
        before = f"forall (E : space) ({letters} : R) {functions}"
        ended = f"{self.left} <= {f'{self.rest} + ' * bool(self.rest)}({self.right})"
        vectors = " ".join([*self.starts, *self.defined])
        first = "Lemma points_of_the_certificate" if self.recursions else "Theorem bound"
        known = [*self.signs.hypotheses, *self.member]
        made = [statement(f"{first} : {before} ({vectors} : E),", [*known, *self.given], ended)]
        if not self.recursions:
            return made
        recursions = {name: f"({of})" for name, of in self.recursions.items()}
        given, starts = [*known, *self.sums, *self.assumed], f"({' '.join(self.starts)} : E)"
        lines = statement(f"Theorem bound : {before} {starts},", given, ended)
        made.append([renamed(line, recursions) for line in lines])
        start, after = self.starts[1], f"‖({self.recursions.get('y_0')}) - xs‖²"
        from_any = all(start not in text for _, text in [*self.sums, *self.assumed])
        rho, apart = self.contracts
        if from_any and (apart, renamed(self.left, recursions)) == (f"{start} - xs", after):
            every = (
                f"forall rounds, {after.replace(' 1)', ' rounds)')} <= "
                f"({rho})^rounds * ‖{apart}‖² + ({self.right}) * geometric ({rho}) rounds"
            )
            made.append(statement(f"Theorem every_round : {before} {starts},", given, every))
        return made

    def _recursions(self) -> dict[str, str]:
        """Return what iterates of algorithms.v the points are; Coq proves that they are."""
        said = Steps.said(self.file["about"], self.signs, self.signs.region.free)
        if len(self.starts) != 2 or said is None or said.name != "fedavg":
            return {}
        rows = dict(self.points)
        gs = [g for g in self.functions if g[0] == "g"]
        gradients = {
            (g, key(rows[at])): row
            for (g, at), row in ((of.split(), row) for of, row in self.gradients.items())
        }
        start = Point(self.starts[1], rows[self.starts[1]])
        found: dict[tuple[str, ...], dict[str, str]] = {}  # by recursion, and by the whole text
        for p in replace(said, clients=len(gs)).iterates(
            self.signs, gs, gradients, start, {}, 0, means=True
        ):
            found.setdefault(key(p.row), {}).setdefault(p.recursion.split()[0], p.recursion)
        made = {
            n: found.get(key(rows[n]), {}).get("fedavg" if n == "y_0" else "gradient_descent", "")
            for n in self.defined
        }
        return made if all(made.values()) else {}


def _root(of: Ratio) -> Ratio | None:
    """Return the square root of a function that is a square."""
    made: Ratio = of * 0 + 1
    for part, way in ((of.top, 1), (of.bottom, -1)):
        constant, factors = part.factor()
        root = sqrt(fmpq(constant)) if constant > 0 else None
        if not isinstance(root, fmpq) or any(power % 2 for _, power in factors):
            return None
        for factor, power in factors:
            made *= Ratio(factor) ** (way * int(power) // 2)
        made *= root if way > 0 else 1 / root
    return made


def _vector(text: str) -> str:
    return text if text.isidentifier() else f"({text})%V"


def _alike(one: Row, two: Row) -> bool:
    return all(vanishes(x - y) for x, y in zip(one, two, strict=True))
