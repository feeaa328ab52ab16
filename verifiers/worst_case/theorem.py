"""Writes a certificate as a theorem of Coq, about functions and the points of an algorithm.

The theorem is for all inner product spaces, all functions of the classes, and all starts that meet
the assumptions. An algorithm that ``algorithms.v`` defines is run here on the certificate's
combinations, and the theorem speaks of its iterates; of any other, each point is given by its
equation. Either way Coq proves that the points are those of the certificate. Nothing here has to
be believed: what is proved is what the file's last statement says (docs/machine_checked.md).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from flint import fmpq

from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.worst_case import expression
from driftproof.verifiers.worst_case.classes import CLASSES
from driftproof.verifiers.worst_case.statement import (
    ONE,
    ZERO,
    Combination,
    Condition,
    Statement,
    Triple,
)

RECURSIONS = {
    "gradient-descent": ("fedavg", "local_steps", ("step_size",)),
    "fedavg": ("fedavg", "local_steps", ("step_size",)),
    "fedavg-s": ("fedavg", "local_steps", ("inner_step_size", "outer_step_size")),
    "comfedl": ("fedavg", "local_steps", ("step_size",)),
    "fedinn": ("fedsvrg", "inner_steps", ("inner_step_size",)),
    "fedout": ("fedsvrg", "outer_steps", ("outer_step_size",)),
    "fedsvrg": ("fedsvrg", "local_steps", ("step_size",)),
    "gradient-tracking-gda": ("fedsvrg", "local_steps", ("step_size",)),
}
"""Algorithm → the recursion of algorithms.v that it may be, its local steps, its step sizes. Where
it is another one, Coq sees that the certificate's points are not its iterates."""
PLAIN = {"participation": "1.0", "order": "simultaneous", "variance_reduced": "True"}
"""Hyper-parameters that have to be so."""
Row = tuple[fmpq, ...]


class UntranslatedError(DriftproofError):
    """A certificate that is right, of a kind of which no theorem is written."""

    def __init__(self, got: str, wanted: str) -> None:
        super().__init__(got, wanted, "driftproof check FILE checks it without Coq")


def one_space(file: dict[str, Any]) -> dict[str, Any]:
    """Return a certificate of pairs (x, y) that treats x and y alike as one of single vectors."""
    if not isinstance(file["vectors"], dict):
        return file
    refused = UntranslatedError(
        "two spaces that are not treated alike",
        "one space, or the same steps in x and in y",
    )
    spaces = list(file["vectors"].values())
    if len(spaces) != 2 or len(spaces[0]) != len(spaces[1]):
        raise refused
    other = dict(zip(spaces[1], spaces[0], strict=True))

    def one(of: Mapping[str, str]) -> dict[str, str]:
        x = {n: c for n, c in of.items() if n not in other}
        if x != {other[n]: c for n, c in of.items() if n in other}:
            raise refused
        return x

    def alone(of: dict[str, Any]) -> dict[str, Any]:
        xs = [p for p in of["products"] if not {*p[1], *p[2]} & set(other)]
        ys = [p for p in of["products"] if p not in xs]
        renamed = [[c, *({other.get(n, ""): a for n, a in u.items()} for u in uv)] for c, *uv in ys]
        if xs != renamed:
            raise refused
        return {**of, "products": xs}

    functions = {
        name: {**f, "points": {
            at: {**t, "x": one(t["x"]), "g": one(t["g"])} for at, t in f["points"].items()
        }} for name, f in file["functions"].items()
    }  # fmt: skip
    return {
        **file, "vectors": spaces[0], "functions": functions,
        "assumptions": {name: alone(of) for name, of in file["assumptions"].items()},
        "conclusion": alone(file["conclusion"]),
    }  # fmt: skip


@dataclass
class Point:
    """A point: its variable, its combination, the equation that it obeys, the recursion it is."""

    name: str
    row: Row
    equation: str = ""
    recursion: str = ""


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


class Theorem:
    """What a certificate of one space says, in the words of Coq.

    Attributes:
        atoms: what each unknown vector stands for: a gradient at a point, a start, a state.
        numbers: what each unknown number stands for.
        variables, free, defined: points that are given, vectors that are, points with equations.
        algorithm: the recursion of algorithms.v that gives the points ("": equations do).
        hypotheses: names and statements of what is assumed beside the classes.
        equations: gradients that the others determine, and what they are.
        assumed: for each assumption of the file the hypothesis that it follows from, and the point.
        ending: the conclusion.
    """

    def __init__(self, file: dict[str, Any]) -> None:
        self.file = file
        it = self.it = Statement(file)  # of one space
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
        self.atoms: list[str] = [""] * len(self.vectors)
        self._points()
        self._functions()
        self._recursion()
        self._apart = {
            _minus(p.row, q.row): f"{p.name} - {q.name}"
            for p, q in permutations(self.points.values(), 2) if p.name != "xs"
        }  # fmt: skip
        self._apart |= {p.row: f"{p.name} - xs" for p in self.points.values() if self.solution}
        self.ending = self._between(self.it.conclusion)
        self._assumptions()

    @property
    def names(self) -> list[str]:
        """The functions as they are bound."""
        made = []
        for f in self.functions.values():
            made += [f"({f.f} : E -> R)"] * f.has_values + [f"({f.g} : E -> E)"]
        return made

    @property
    def members(self) -> list[tuple[str, str]]:
        """Names and statements of what class each function is of."""
        made = []
        for k, f in enumerate(self.functions.values()):
            for j, (kind, constants) in enumerate(f.classes.items()):
                values = [argument(text(c)) for c in constants]
                made.append((f"member_{k}_{j}", CLASSES[kind].definition(kind, values, f.f, f.g)))
        return made

    def stated(self, of: str) -> str:
        """Return a text with the names that a theorem has for points that have several."""
        for first, last in self.called.items():
            of = re.sub(rf"(?<![\w.]){re.escape(first)}(?!\w)", last, of)
        return of

    def recursions(self, of: str) -> str:
        """Return a text with the recursions that the points are, for their names."""
        for p in reversed(self.defined if self.algorithm else []):
            of = re.sub(rf"(?<![\w.]){re.escape(p.name)}(?!\w)", f"({p.recursion})", of)
        return of

    # --- what things are called -----------------------------------------------------------------

    def row(self, of: Combination) -> Row:
        """Return a combination as a row of its coefficients."""
        return tuple(of.get(name, ZERO) for name in self.vectors)

    def _points(self) -> None:
        """Name the points and say which unknown vector is which gradient, start or state."""
        self.points: dict[Row, Point] = {}
        zero: Row = (ZERO,) * len(self.vectors)
        self.zero = zero
        self.called: dict[str, str] = {}  # a point's first name → the last, for a theorem
        if self.solution:
            self.points[zero] = Point("xs", zero)
        made = {  # vectors that are gradients
            name for f in self.functions.values() for t in f.triples.values()
            for name in _alone(t.g)
        }  # fmt: skip
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
                if start and not self.atoms[self.vectors.index(start[0])]:
                    self.atoms[self.vectors.index(start[0])] = self._from_origin(name)
                    self.variables.append(name)
                else:
                    self.defined.append(point)

    def _from_origin(self, point: str) -> str:
        return f"{point} - xs" if self.solution else point

    def _functions(self) -> None:
        """Find what gradients and values stand for; the others have to obey an equation."""
        self.numbers = [""] * len(self.values)
        late: list[tuple[Function, Triple, str]] = []
        for f in self.functions.values():
            for triple in f.triples.values():
                at = f"{f.g} {self.points[self.row(triple.x)].name}"
                name = _alone(triple.g)
                if name and not self.atoms[k := self.vectors.index(name[0])]:
                    self.atoms[k] = at
                else:
                    late.append((f, triple, at))
        self.free: list[str] = []
        for k in range(len(self.vectors)):
            if not self.atoms[k]:
                self.free.append(f"c_{len(self.free)}")
                self.atoms[k] = self.free[-1]
        self.equations: list[tuple[str, Row]] = []  # gradients that are no unknown of their own
        by_point: dict[Row, list[tuple[Function, str, Row]]] = {}
        for f, triple, at in late:
            by_point.setdefault(self.row(triple.x), []).append((f, at, self.row(triple.g)))
        for at_row, those in by_point.items():
            every = [f.triples[n] for f in self.functions.values() for n in f.triples
                     if self.row(f.triples[n].x) == at_row]  # fmt: skip
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
                said = f"{at} = {bracketed(self._linear(row))}"
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
                if name and not self.numbers[k := self.values.index(name[0])]:
                    self.numbers[k] = at if f.shift == "0" else f"{at} - {f.shift}"
                elif f.has_values and at != f.shift:
                    raise UntranslatedError("values that depend on each other", "free values")
        if not all(self.numbers):
            raise UntranslatedError("a value of no point", "values of functions at points")

    def _recursion(self) -> None:
        """Give each point its equation, and, of an algorithm that is known, what iterate it is."""
        self.algorithm = ""
        steps = list(self._iterates())
        known = {p.row for p in steps} | {self.points[r].row for r in self.points if r == self.zero}
        starts = {p.row for p in self.points.values() if p not in self.defined}
        if steps and all(p.row in known | starts for p in self.defined):
            self.algorithm = steps[-1].recursion.split()[0]
            self.defined = steps
            # a point has the name of the file, or of the first iterate that it is
            self.points = {p.row: p for p in reversed(steps)} | self.points
            last = {p.row: p.name for p in steps}
            self.called = {
                first: name for row, name in last.items()
                if (first := self.points[row].name) not in self.variables
            }  # fmt: skip
            return
        earlier = [p for p in self.points.values() if p not in self.defined]
        for point in self.defined:
            base = min(
                earlier, default=None, key=lambda p: sum(map(bool, _minus(point.row, p.row)))
            )
            if base is None:
                point.equation = self._linear(point.row)
            else:
                point.equation = _joined(
                    [(ONE, base.name), *self._terms(_minus(point.row, base.row))]
                )
            earlier.append(point)

    def _said(self) -> tuple[str, dict[str, str]]:
        """Return the name and parameters that ``about`` gives the algorithm: Coq checks them."""
        form = r"algorithm: name = ([a-z-]+), (.*?); rounds: ([0-9]+); clients: ([0-9]+);"
        found = re.match(form, self.file["about"])
        if not found:
            return "", {}
        values = dict(part.split(" = ") for part in found[2].split(", ") if " = " in part)
        return found[1], {**values, "rounds": found[3], "clients": found[4]}

    def _iterates(self) -> Iterator[Point]:
        """Yield the iterates of an algorithm of algorithms.v on the certificate's gradients."""
        name, said = self._said()
        recursion, steps, sizes = RECURSIONS.get(name, ("", "", ()))
        chosen = {said[key] for key in sizes if key in said}
        if len(chosen) != 1 or any(said.get(key, value) != value for key, value in PLAIN.items()):
            return
        eta, tau, rounds = _decimal(chosen.pop()), int(said[steps]), int(said["rounds"])
        gs = [f.g for f in self.functions.values()]
        if len(gs) == 1:
            gs *= int(said["clients"])
        alone = len(set(gs)) == 1 and recursion == "fedavg"
        if len(gs) != int(said["clients"]) or (len(set(gs)) == 1 and not alone and rounds > 1):
            return
        gradients = {  # of a client, by point
            (f.g, self.row(t.x)): self.row(t.g)
            for f in self.functions.values() for t in f.triples.values()
        }  # fmt: skip
        known = {f"{p.name}": p for p in self.points.values() if p not in self.defined}
        start = known.get("x_0", known.get("z_0", known.get("xs")))
        if start is None:
            return
        rows = {p.row for p in known.values()}
        seen: dict[str, Point] = {}

        def put(row: Row, equation: str, of: str) -> Iterator[Point]:
            """Yield a point that is new; of several that are one the first has its own name."""
            old = self.points.get(row) if row not in rows else None
            point = Point(old.name if old else f"y_{len(known) + len(seen)}", row, equation, of)
            seen[of] = point
            rows.add(row)
            yield point

        local, average, whole = {
            "fedavg": ("gradient_descent {0} {2} {3} {4}", "average {0} {1} {3} {4}", "fedavg"),
            "fedsvrg": (
                "corrected {0} {1} {2} {3} {4}", "corrected_average {0} {1} {3} {4}", "fedsvrg"
            ),
        }[recursion]  # fmt: skip
        step, clients = argument(text(eta)), f"[{'; '.join(gs)}]"
        here, server = start, start.name
        for r in range(rounds):
            base, own = here, [here] * len(gs)
            for k in range(1, tau + 1):
                for i, g in enumerate(gs):
                    at = own[i]
                    if any((h, p.row) not in gradients for h, p in [(g, at), *_at(gs, base)]):
                        return
                    move, way = gradients[g, at.row], f"{g} {at.name}"
                    if recursion == "fedsvrg":
                        parts = [gradients[h, base.row] for h in gs]
                        shared = tuple(sum(x, ZERO) / len(gs) for x in zip(*parts, strict=True))
                        changed = _minus(move, gradients[g, base.row])
                        move = tuple(x + y for x, y in zip(changed, shared, strict=True))
                        terms = "; ".join(f"{h} {base.name}" for h in gs)
                        way = f"({way} - {g} {base.name} + mean [{terms}])"
                    row = _minus(at.row, tuple(eta * x for x in move))
                    many = local.format(step, clients, g, argument(server), k)
                    if alone:
                        many = f"gradient_descent {step} {g} {start.name} {r * tau + k}"
                    if many not in seen:
                        yield from put(row, f"{at.name} - {text(eta)} * {way}", many)
                    own[i] = seen[many]
                if alone:
                    here = own[0]
                    continue
                parts = [p.row for p in own]
                mean = tuple(sum(xs, ZERO) / len(gs) for xs in zip(*parts, strict=True))
                many = average.format(step, clients, "", argument(server), k)
                if k == tau:
                    many = f"{whole} {step} {tau} {clients} {start.name} {r + 1}"
                yield from put(mean, f"mean [{'; '.join(p.name for p in own)}]", many)
                here = seen[many]
            server = f"{whole} {step} {tau} {clients} {start.name} {r + 1}"

    # --- combinations as text -------------------------------------------------------------------

    def _terms(self, row: Row) -> list[tuple[fmpq, str]]:
        return [(c, bracketed(a)) for c, a in zip(row, self.atoms, strict=True) if c != 0]

    def _linear(self, row: Row) -> str:
        own = [(c, a) for c, a in zip(row, self.atoms, strict=True) if c != 0]
        return own[0][1] if len(own) == 1 and own[0][0] == 1 else _joined(self._terms(row))

    def vector(self, row: Row) -> str:
        """Return a combination as text: a point, a difference of points, or a sum."""
        if sum(map(bool, row)) < 2:
            return self._linear(row)
        if row in self.points:
            return self._from_origin(self.points[row].name)
        return self._apart.get(row) or self._linear(row)

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

    def quantity(self, of: Condition) -> str:
        """Return the left side of a condition as Coq has it."""
        terms = []
        for c, u, v in of.products:
            one, two = self.vector(self.row(u)), self.vector(self.row(v))
            terms.append((c, f"‖{one}‖²" if one == two else f"⟨{one}, {two}⟩"))
        for name, a in of.numbers.items():
            terms.append((a, f"({self.numbers[self.values.index(name)]})"))
        return _joined(terms) if terms else "0"

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


def _at(gs: Iterable[str], base: Point) -> list[tuple[str, Point]]:
    return [(g, base) for g in gs]


def _alone(of: Combination) -> list[str]:
    """Return the one name of a combination that is no more than that."""
    names = _nonzero(of)
    return list(names) if list(names.values()) == [1] else []


def _nonzero(of: Combination) -> Combination:
    return {n: c for n, c in of.items() if c != 0}


def _minus(one: Row, other: Row) -> Row:
    return tuple(a - b for a, b in zip(one, other, strict=True))


def _decimal(written: str) -> fmpq:
    whole, _, part = written.partition(".")
    return (
        fmpq(int(whole + part), 10 ** len(part))
        if "e" not in written
        else fmpq(*ast.literal_eval(written).as_integer_ratio())
    )


def matrix(
    terms: Iterable[tuple[Any, Condition]], vectors: Sequence[str], zero: Any = ZERO
) -> list[list[Any]]:
    """Return the symmetric matrix S of a sum of conditions, Σ t ⟨Q, G⟩ = ⟨S, G⟩."""
    column = {name: k for k, name in enumerate(vectors)}
    S = [[zero] * len(column) for _ in column]
    for times, of in terms:
        for c, u, v in of.products:
            for n, x in u.items():
                for m, y in v.items():
                    z = times * c * x * y / 2
                    S[column[n]][column[m]] += z
                    S[column[m]][column[n]] += z
    return S


def text(of: fmpq) -> str:
    """Return a fraction as Coq reads it."""
    whole = f"({of.p})" if of.p < 0 else str(of.p)
    return whole if of.q == 1 else f"{whole}/{of.q}"


def bracketed(of: str) -> str:
    """Return a sum in brackets."""
    return f"({of})" if " - " in of or " + " in of else of


def argument(of: str) -> str:
    """Return an expression as the argument of a function."""
    return of if of.replace("_", "").isalnum() else f"({of})"


def _joined(terms: Iterable[tuple[fmpq, str]]) -> str:
    made = ""
    for c, atom in terms:
        size = atom if abs(c) == 1 else f"{text(abs(c))} * {atom}"
        if made:
            made += f" {'+' if c > 0 else '-'} {size}"
        else:
            made = size if c > 0 else f"{text(c)} * {atom}"
    return made or "zero"
