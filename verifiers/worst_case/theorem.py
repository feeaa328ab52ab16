"""Writes a certificate as a theorem of Coq, about functions and the points of an algorithm.

The theorem is for all inner product spaces, all functions of the classes, and all starts that meet
the assumptions. An algorithm that ``algorithms.v`` defines is run here on the certificate's
combinations, and the theorem speaks of its iterates; of any other, each point is given by its
equation. Either way Coq proves that the points are those of the certificate. Nothing here has to
be believed: what is proved is what the file's last statement says (docs/machine_checked.md).
"""

import re
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from flint import fmpq

from driftproof.verifiers.worst_case import expression
from driftproof.verifiers.worst_case.classes import CLASSES
from driftproof.verifiers.worst_case.coq_iterates import Point, Steps, key
from driftproof.verifiers.worst_case.coq_text import (
    UntranslatedError,
    argument,
    bracketed,
    fractions,
    renamed,
    text,
)
from driftproof.verifiers.worst_case.coq_words import Fractions, Row, Words, minus
from driftproof.verifiers.worst_case.statement import (
    ONE,
    ZERO,
    Combination,
    Condition,
    Triple,
    number,
)


@dataclass
class Function:
    """A function f and its gradient g, or an operator g; values are less ``shift``."""

    f: str
    g: str
    shift: str
    triples: dict[str, Triple]
    classes: dict[str, list[fmpq]]

    @property
    def has_values(self) -> bool:
        """Whether anything is said of its values; of an operator nothing is."""
        said = any(_nonzero(t.f) for t in self.triples.values())
        return said or any(kind.startswith("smooth") for kind in self.classes)


class Theorem(Words):
    """What a certificate of one space says, in the words of Coq.

    Attributes:
        variables, free, defined: points that are given, vectors that are, points with equations.
        algorithm: the recursion of algorithms.v that gives the points ("": equations do).
        hypotheses: names and statements of what is assumed beside the classes.
        equations: gradients that the others determine, and what they are.
        assumed: for each assumption of the file the hypothesis that it follows from, and the point.
        ending: the conclusion.
    """

    def __init__(self, file: dict[str, Any]) -> None:
        super().__init__(file, Fractions())  # of one space
        it = self.it
        self.vectors, self.values = it.vectors, it.values
        every = [t for triples in it.triples.values() for t in triples.values()]
        self.solution = any(not self.row(t.x) or not any(self.row(t.x)) for t in every)
        self.origin = "xs" if self.solution else "(@zero E)"
        self.lower = any(name.startswith("bounded below") for name in it.assumptions)
        self.functions: dict[str, Function] = {}
        for k, (name, triples) in enumerate(it.triples.items()):
            operator = all(CLASSES[kind].of == "operators" for kind in it.constants[name])
            self.functions[name] = Function(
                f"f_{k}", f"A_{k}" if operator else f"g_{k}", "0", triples, it.constants[name]
            )
        self.hypotheses: list[tuple[str, str]] = []  # name and statement
        self._points()
        self._functions()
        self._recursion()
        self._apart: dict[Row, str] = {
            minus(p.row, q.row): f"{p.name} - {q.name}"
            for p, q in permutations(self.points.values(), 2)
            if p.name != "xs"
        }
        self._apart |= {p.row: f"{p.name} - xs" for p in self.points.values() if self.solution}
        self.ending = self._between(self.it.conclusion)
        self.member = self.members((f.f, f.g) for f in self.functions.values())
        self._assumptions()

    @property
    def names(self) -> list[str]:
        """The functions as they are bound."""
        made = []
        for f in self.functions.values():
            made += [f"({f.f} : E -> R)"] * f.has_values + [f"({f.g} : E -> E)"]
        return made

    @property
    def arguments(self) -> list[str]:
        """What is bound before the points that are defined: functions, starts, vectors."""
        functions = (name.split()[0][1:] for name in self.names)
        return [*functions, *["low"] * self.lower, *self.variables, *self.free]

    def sides(self, value: fmpq) -> tuple[str, str, fmpq, str]:
        """Return both sides of the conclusion, and what the right one is.

        Args:
            value: that of the right side less the left one's constant, or the end of its enclosure
                that is proved.

        Returns:
            The left side, the right one, its value, and "", or the fraction that stands for an
            irrational one, which Coq does not see.
        """
        ending = self.file["conclusion"]
        constant, instead = number(ending["constant"]), ""
        left = self.quantity(self.ending) + f" + {text(constant)}" * (constant != 0)
        value += constant
        try:
            right = fractions(ending["right"], ending["letters"])
        except UntranslatedError:
            right = instead = text(value)
        return left, f"({right})%Q", value, instead

    def stated(self, of: str) -> str:
        """Return a text with the names that a theorem has for points that have several."""
        return renamed(of, self.called)

    def recursions(self, of: str) -> str:
        """Return a text with the recursions that the points are, for their names."""
        those = reversed(self.defined if self.algorithm else [])
        return renamed(of, {p.name: f"({p.recursion})" for p in those})

    # --- what things are called -----------------------------------------------------------------

    def _points(self) -> None:
        """Name the points and say which unknown vector is which gradient, start or state."""
        self.points: dict[Row, Point] = {}
        zero: Row = (ZERO,) * len(self.vectors)
        self.zero = zero
        self.called: dict[str, str] = {}  # a point's first name → the last, for a theorem
        if self.solution:
            self.points[zero] = Point("xs", zero)
        made = {  # vectors that are gradients
            name
            for f in self.functions.values()
            for t in f.triples.values()
            for name in _alone(t.g)
        }
        self.variables = ["xs"] * self.solution
        self.defined: list[Point] = []
        for f in self.functions.values():
            for at, triple in f.triples.items():
                row = self.row(triple.x)
                if row in self.points:
                    continue
                names = {p.name for p in self.points.values()}
                name = at if re.fullmatch(r"[a-z]_[0-9]+", at) and at[0] != "f" else "x_0"
                while name in names or name[0] in "gfc":
                    name = f"x_{len(self.points) + len(names)}"
                    names.add("")
                point = self.points[row] = Point(name, row)
                start = [n for n in _alone(triple.x) if n not in made]
                if start and not self.atoms[start[0]]:
                    self.atoms[start[0]] = self._from_origin(name)
                    self.variables.append(name)
                else:
                    self.defined.append(point)

    def _from_origin(self, point: str) -> str:
        return f"{point} - xs" if self.solution else point

    def _functions(self) -> None:
        """Find what gradients and values stand for; the others have to obey an equation."""
        late: list[tuple[Function, Triple, str]] = []
        for f in self.functions.values():
            for triple in f.triples.values():
                at = f"{f.g} {self.points[self.row(triple.x)].name}"
                name = _alone(triple.g)
                if name and not self.atoms[name[0]]:
                    self.atoms[name[0]] = at
                else:
                    late.append((f, triple, at))
        self.free: list[str] = []
        for unknown, atom in self.atoms.items():
            if not atom:
                self.free.append(f"c_{len(self.free)}")
                self.atoms[unknown] = self.free[-1]
        self.equations: list[tuple[str, Row]] = []  # gradients that are no unknown of their own
        by_point: dict[Row, list[tuple[Function, str, Row]]] = {}
        for f, triple, at in late:
            by_point.setdefault(self.row(triple.x), []).append((f, at, self.row(triple.g)))
        for at_row, those in by_point.items():
            every = [
                f.triples[n]
                for f in self.functions.values()
                for n in f.triples
                if self.row(f.triples[n].x) == at_row
            ]
            total = tuple(map(sum, zip(*(self.row(t.g) for t in every), strict=True)))
            if len(those) == 1 and len(every) == len(self.functions) and not any(total):
                (f, at, row), where = those[0], self.points[at_row].name
                others = [g.g for g in self.functions.values() if g is not f]
                if others:
                    left = " + ".join(f"{g} {where}" for g in others) + f" + {at}"
                    self.hypotheses.append((f"sum_{len(self.equations)}", f"({left})%V = zero"))
                    self.equations.append((at, row))
                    continue
            for _, at, row in those:
                said = f"{at} = {bracketed(self.linear(row))}%V"
                self.hypotheses.append((f"sum_{len(self.equations)}", said))
                self.equations.append((at, row))
        for f in self.functions.values():
            if self.lower:
                f.shift = "low"
            else:
                at_zero = [t for t in f.triples.values() if not _nonzero(t.f)]
                if at_zero and f.has_values:
                    f.shift = f"{f.f} {self.points[self.row(at_zero[0].x)].name}"
            for triple in f.triples.values():
                name, at = _alone(triple.f), f"{f.f} {self.points[self.row(triple.x)].name}"
                if name and not self.numbers[name[0]]:
                    self.numbers[name[0]] = at if f.shift == "0" else f"{at} - {f.shift}"
                elif f.has_values and at != f.shift:
                    raise UntranslatedError("values that depend on each other", "free values")
        if not all(self.numbers.values()):
            raise UntranslatedError("a value of no point", "values of functions at points")

    def _recursion(self) -> None:
        """Give each point its equation, and, of an algorithm that is known, what iterate it is."""
        self.algorithm = ""
        steps = self._iterates()
        known = {p.row for p in steps} | {self.points[r].row for r in self.points if r == self.zero}
        starts = {p.row for p in self.points.values() if p not in self.defined}
        if steps and all(p.row in known | starts for p in self.defined):
            self.algorithm = steps[-1].recursion.split()[0]
            self.defined = steps
            # a point has the name of the file, or of the first iterate that it is
            self.points = {p.row: p for p in reversed(steps)} | self.points
            last = {p.row: p.name for p in steps}
            self.called = {
                first: name
                for row, name in last.items()
                if (first := self.points[row].name) not in self.variables
            }
            return
        earlier = [p for p in self.points.values() if p not in self.defined]
        for point in self.defined:
            base = min(earlier, default=None, key=lambda p: sum(map(bool, minus(point.row, p.row))))
            if base is None:
                point.equation = self.linear(point.row)
            else:
                moved = self.terms(minus(point.row, base.row))
                point.equation = self.ring.sum([(ONE, base.name), *moved])
            earlier.append(point)

    def _iterates(self) -> list[Point]:
        """Return the iterates of the algorithm that the file names, on its gradients."""
        said = Steps.said(self.file["about"], self.ring, {})
        known = {p.name: p for p in self.points.values() if p not in self.defined}
        start = known.get("x_0", known.get("z_0", known.get("xs")))
        if said is None or start is None:
            return []
        gs = [f.g for f in self.functions.values()]
        if len(gs) == 1:
            gs *= said.clients
        gradients = {  # of a client, by point
            (f.g, key(self.row(t.x))): self.row(t.g)
            for f in self.functions.values()
            for t in f.triples.values()
        }
        names = {key(p.row): p.name for p in self.defined}
        return list(said.iterates(self.ring, gs, gradients, start, names, len(known)))

    # --- combinations as text -------------------------------------------------------------------

    def linear(self, row: Row) -> str:
        """Return a combination as a sum; what is one vector has no brackets."""
        own = [(c, a) for c, a in self.coordinates(row) if c != 0]
        return own[0][1] if len(own) == 1 and own[0][0] == 1 else super().linear(row)

    def vector(self, row: Row) -> str:
        """Return a combination as text: a point, a difference of points, or a sum."""
        if sum(map(bool, row)) < 2:
            return self.linear(row)
        if row in self.points:
            return self._from_origin(self.points[row].name)
        return self._apart.get(row) or self.linear(row)

    def _between(self, of: Condition) -> Condition:
        """Write c‖u‖² as ‖p − q‖² where it is the distance of two points."""
        made = []
        for c, u, v in of.products:
            row, root = self.row(u), expression.sqrt(c)
            turned = tuple(x * root for x in row) if isinstance(root, fmpq) else row
            for sign in (1, -1):
                near = tuple(x * sign for x in turned)
                if u == v and sum(map(bool, row)) > 1 and near in self._apart:
                    c, u = ONE, dict(zip(self.vectors, near, strict=True))
                    v = u
                    break
            made.append((c, u, v))
        return of._replace(products=made)

    # --- assumptions and conclusion -------------------------------------------------------------

    def _assumptions(self) -> None:
        """State the assumptions; those that a class implies are proved of it."""
        fs = "; ".join(f.f for f in self.functions.values())
        gs = "; ".join(f.g for f in self.functions.values())
        self.assumed: list[tuple[str, str]] = []  # how each is proved: a hypothesis, and what of it
        for k, (name, of) in enumerate(self.it.assumptions.items()):
            where = self._shared(of)
            if name.startswith("bounded below"):
                self.assumed.append(("bounded", where))
                said = ("bounded", f"bounded_below low [{fs}]")
            elif name.startswith("similar, (") and where:
                self.assumed.append(("similar", where))
                said = ("similar", f"similar_everywhere {argument(text(of.right))} [{gs}]")
            else:
                self.assumed.append((f"assumed_{k}", ""))
                left, sign = self.quantity(of), "=" if of.equality else "<="
                if left == "0" and of.right >= 0 and not of.equality:
                    continue
                said = (f"assumed_{k}", f"{left} {sign} {text(of.right)}")
            if said not in self.hypotheses:
                self.hypotheses.append(said)
        if len({name for name, _ in self.hypotheses}) < len(self.hypotheses):
            raise UntranslatedError("bounds that differ from point to point", "one for all points")

    def _shared(self, of: Condition) -> str:
        """Return the point whose gradients and values an assumption speaks of ("": of none)."""
        used = {n for _, u, v in of.products for n in (*u, *v)} | set(of.numbers)
        for f in self.functions.values():
            for triple in f.triples.values():
                if (set(_nonzero(triple.g)) | set(_nonzero(triple.f))) & used:
                    return self.points[self.row(triple.x)].name
        return ""


def _alone(of: Combination) -> list[str]:
    """Return the one name of a combination that is no more than that."""
    names = _nonzero(of)
    return list(names) if list(names.values()) == [1] else []


def _nonzero(of: Combination) -> Combination:
    return {n: c for n, c in of.items() if c != 0}
