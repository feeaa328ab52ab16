"""Writes a counterexample as a theorem of Coq: there are functions of the class, and a start.

The functions are those that ``witnesses.v`` makes of points, gradients and values: Coq decides that
these meet the inequalities of the class two by two, and has proved that they are then those of a
function of the class on R^d. Of a monotone Lipschitz operator the file has a linear field.
"""

import json
from collections.abc import Iterator
from math import lcm

from flint import fmpq

from driftproof.verifiers.worst_case import check_counterexample
from driftproof.verifiers.worst_case.classes import CURVED, curvatures
from driftproof.verifiers.worst_case.coq_iterates import Point
from driftproof.verifiers.worst_case.coq_text import (
    UntranslatedError,
    Written,
    heading,
    listed,
    trimmed,
)
from driftproof.verifiers.worst_case.coq_words import Row
from driftproof.verifiers.worst_case.statement import ZERO, Combination, Condition, number
from driftproof.verifiers.worst_case.theorem import Function, Theorem


def refuted(counterexample: str) -> Written:
    """Return a Coq file whose last theorem is what a counterexample shows.

    Raises:
        UntranslatedError: it is of a kind that is not translated.
        RefusedCertificateError: it does not show what it says.
        ArithmeticError, LookupError, SyntaxError, TypeError, ValueError: it is no counterexample.
    """
    shown = check_counterexample.functions_of(counterexample)
    about, where, *given, conclusion = shown.said
    file = json.loads(counterexample)
    if isinstance(file["vectors"], dict):
        raise UntranslatedError("a counterexample of two spaces", "one space")
    theorem = Theorem(file)
    points = "points that obey the equations of the theorem"
    if theorem.algorithm:
        points = f"iterates of {theorem.algorithm} of algorithms.v"
    said = (about, where, *(f"  {line}" for line in given), f"at {points}, {conclusion}")
    of = Refutation(theorem, shown)
    stated, conclusion = tuple(of.statements()[0][:-1]), conclusion.removeprefix("but ")
    return Written(of.text(said), about, stated, conclusion, points, of.instead)


class Refutation:
    """The parts of a file. Coordinates are whole numbers over ``unit``, values over its square."""

    def __init__(self, of: Theorem, shown: check_counterexample.Counterexample) -> None:
        self.of, self.shown = of, shown
        self.where = [shown.where[name] for name in of.vectors]
        parts = [c for point in self.where for c in point] + list(shown.numbers.values())
        rows = [*(p.row for p in of.defined), *(row for _, row in of.equations)]
        rows += [of.row(w) for w in self._vectors()]
        shifts = [number(c) for field in of.file["fields"].values() for c in field.get("shift", [])]
        self.unit = lcm(1, *(int(c.q) for c in [*parts, *shifts]))
        self.unit *= lcm(1, *(int(c.q) for row in rows for c in row))
        self.functions = list(of.functions.values())
        self.known = f"{self.unit}%Z {shown.dimension}%nat"

    def _conditions(self) -> list[Condition]:
        return [self.of.ending, *self.of.it.assumptions.values()]

    def _vectors(self) -> Iterator[Combination]:
        for of in self._conditions():
            for _, u, v in of.products:
                yield from (u, v)

    def _at(self, row: Row) -> list[fmpq]:
        """Return the coordinates of a combination, in whole numbers."""
        return [
            sum((c * point[k] for c, point in zip(row, self.where, strict=True)), ZERO) * self.unit
            for k in range(self.shown.dimension)
        ]

    def _place(self, row: Row) -> str:
        return f"({listed(trimmed(int(x.p) for x in self._at(row)))}%Z : row)"

    def _value(self, of: Combination) -> int:
        total = sum((a * self.shown.numbers[name] for name, a in of.items()), ZERO)
        return int((total * self.unit**2).p)

    # --- the file -------------------------------------------------------------------------------

    def statements(self) -> list[list[str]]:
        """Return what is proved, and that its proof begins."""
        given = [f"  ({said}) /\\" for said, _ in self._given()]
        first = f"Theorem refuted : exists {self._bound()},"
        return [[first, *given, f"  {self._conclusion()}.", "Proof."]]

    def text(self, said: tuple[str, ...]) -> str:
        """Return all of it, with what is said in words."""
        (statement,) = self.statements()
        names = self.of.arguments
        if not self.of.algorithm:
            names += [p.name for p in self.of.defined]
        proof = [
            *self._functions(),
            *self._points(),
            *self._products(),
            f"exists {', '.join(names)}.",
            *(f"split; [{how}|]." for _, how in self._given()),
            f"apply (exceeded _ _ ({self.value.p} # {self.value.q})); [number_of; lra | decided].",
        ]
        file = [
            *heading(said, "witnesses"),
            f"Notation E := (euclidean {self.shown.dimension}).",
            *statement,
            *(f"  {line}" for line in proof),
            "Qed.",
            "Print Assumptions refuted.",
        ]
        return "\n".join(file) + "\n"

    def _bound(self) -> str:
        of = self.of
        points = [] if of.algorithm else [p.name for p in of.defined]
        starts = [*of.variables, *of.free, *points]
        low = ["(low : R)"] * of.lower
        return " ".join([*of.names, *low, *[f"({' '.join(starts)} : E)"] * bool(starts)])

    def _given(self) -> list[tuple[str, str]]:
        """Return what the theorem says of functions and points, each with its proof."""
        of = self.of
        made = []
        for name, said in of.member:
            made.append((said, name.replace("member", "member class")))
        equations = dict(
            zip((f"sum_{k}" for k in range(len(of.equations))), of.equations, strict=True)
        )
        for name, said in of.hypotheses:
            if name in equations:
                row = of.zero if said.endswith("= zero") else equations[name][1]
                how = f"both_read {self._place(row)}"
            elif name == "bounded" and len(self.functions) == 1:
                how = "bounded low_0"
            elif name.startswith("assumed"):
                how = "lra"
            else:
                raise UntranslatedError(
                    f"a counterexample that speaks of all points: {said}", "of the points named"
                )
            made.append((of.recursions(of.stated(said)), how))
        if not of.algorithm:
            made += [
                (f"{p.name} = ({p.equation})%V", f"both_read {self._place(p.row)}")
                for p in of.defined
            ]
        return made

    def _functions(self) -> list[str]:
        made = []
        for k, (name, f) in enumerate(self.of.functions.items()):
            data = [
                f"({self._place(self.of.row(t.x))}, {self._place(self.of.row(t.g))}, "
                f"({self._value(t.f)}))"
                for t in f.triples.values()
            ]
            if set(f.classes) <= set(CURVED):
                parts = f"witness {self.known} {curved(f.classes)}"
                found = f"{f.f} & {f.g} & class_{k}_0 & data_{k} & low_{k}"
            else:
                parts = f"field_witness {self.unit}%Z {self._field(name, f)}"
                found = f"{f.g} & class_{k}_0 & class_{k}_1 & data_{k}"
            made += [f"destruct ({parts} {listed(data)}%Z", f"  ltac:(decided)) as ({found})."]
        return made

    def _field(self, name: str, of: Function) -> str:
        """Return a linear field of the plane as witnesses.v has it."""
        if list(of.classes) != ["strongly-monotone", "lipschitz"]:
            raise UntranslatedError(
                f"a counterexample with {' and '.join(of.classes)} operators",
                "smooth functions, or strongly monotone and Lipschitz operators",
            )
        written = self.of.file["fields"][name]
        (a, b), (c, d) = [[number(x) for x in row] for row in written["matrix"]]
        (mu,), (L,) = of.classes.values()
        if (a, b) != (d, -c) or a != mu:
            raise UntranslatedError("another linear field", "one that turns the plane")
        q = lcm(int(a.q), int(b.q))
        shift = " ".join(f"({int((number(x) * self.unit).p)})" for x in written["shift"])
        return f"{(a * q).p} ({(b * q).p}) {q} {L.p} {L.q} {shift}"

    def _points(self) -> list[str]:
        """Return what is read of the points, and of the functions there, in their order."""
        of = self.of
        made = ["destruct (ex_intro (fun x => x = 0) 0 eq_refl) as (low & is_low)."] * of.lower
        given = [*(of.points[r] for r in of.points if of.points[r].name in of.variables)]
        for p in given:
            made.append(f"point {self.known} {p.name} {self._place(p.row)}.")
            made += self._data(p)
        for name in of.free:
            k = [*of.atoms.values()].index(name)
            row = tuple(fmpq(j == k) for j in range(len(of.vectors)))
            made.append(f"point {self.known} {name} {self._place(row)}.")
        for p in of.defined:
            if of.algorithm:
                made.append(
                    f"iterate_at {self.known} ({p.recursion})%V "
                    f"({of.recursions(p.equation)})%V {self._place(p.row)}."
                )
            else:
                made.append(f"point {self.known} {p.name} {self._place(p.row)}.")
            made += self._data(p)
        return made

    def _data(self, point: Point) -> list[str]:
        made = []
        for k, f in enumerate(self.functions):
            for n, t in enumerate(f.triples.values()):
                if self.of.row(t.x) == point.row:
                    made.append(f"data_at data_{k} {n}%nat ({self.of.recursions(point.name)}).")
        return made

    def _products(self) -> list[str]:
        """Return what the inner products are that the theorem speaks of."""
        of, made = self.of, []
        for condition in self._conditions():
            for _, u, v in condition.products:
                one, two = of.row(u), of.row(v)
                value = sum(
                    (a * b for a, b in zip(self._at(one), self._at(two), strict=True)), ZERO
                )
                texts = [of.recursions(of.stated(of.vector(row))) for row in (one, two)]
                made.append(
                    f"product {self.known} ({texts[0]})%V ({texts[1]})%V "
                    f"{self._place(one)} {self._place(two)} ({value.p})%Z."
                )
        return list(dict.fromkeys(made))

    def _conclusion(self) -> str:
        of = self.of
        left, right, self.value, self.instead = of.sides(of.it.upper)
        return f"Q2R {right} < {of.recursions(of.stated(left))}"


def curved(classes: dict[str, list[fmpq]]) -> str:
    """Return mu, L and their denominator of functions between two parabolas."""
    ((kind, constants),) = classes.items()
    q = lcm(*(int(c.q) for c in constants))
    mu, L = curvatures(kind, [int((c * q).p) for c in constants])
    return f"({mu}) {L} {q}"
