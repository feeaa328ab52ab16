"""What a run asks of unknown functions: a triple for each distinct point, made when it is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from torch import Tensor

from driftproof.synthetic.classes.conditions import Constraint, FunctionClass, Triple
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.gram.tensor import (
    INEXACT,
    SIZES,
    GramForms,
    GramVector,
    Token,
    decimal,
    entries_of,
    part_of,
)
from driftproof.toolkit.oracles import Pullback
from driftproof.toolkit.ratios import Ratio, vanishes

ROUNDED = Fraction(1, 10**13)
"""How far from 0 a sum of decimals may be."""
STAR = Vector({-1: Fraction(1)})
"""x* in what a measure is given, and in an x_0 that is x*; ``bare`` has it at the origin."""
AT_STAR = "value at the solution, of function"
"""What an unknown F(x*) is called."""
STARS = Vector({-1: Fraction(1), Second(-2): Fraction(1)})
"""The same where functions have two variables."""


class AskedFunctions:
    """The clients' unknown functions, and what is asked of them.

    Attributes:
        vectors: names of the unknown vectors.
        values: names of the unknown numbers.
        triples: what is known of each function; of a term that clients share, last.
        function_of: the function of each client (one for all, if the clients are equal).
        start: x_0, or (x_0, y_0) where the functions have two variables.
        second: for each vector, whether it is one of the second space.
        least: what bounds a measure's smallest moment, and the errors of inexact oracles.
        located, directed: points and directions that the algorithm asked at, while ``following``.
        points: the numbers of unknown vectors that are points, and move with the origin.
        regretted: the times whose losses are measured against those at x*.
        steps: for each step of an algorithm the points that clients' gradients were asked at,
            [clients, replicates] each.
        chances: of each replicate, once the run has ended.
        beyond_gradients: whether anything but clients' gradients was asked.
        needs: that of the algorithm, which says what its implicit steps are of.
        without_term: whether a proximal method asked for one of no name, where there is no term.
        own: what each client holds beside x_0 as the run begins: unknown vectors, if it may
            begin anywhere.

    Args:
        shared: whether every function is least at x*.
        at_minimiser: whether x_0 is x*.
        minima: whether it is known where each client's own function is least.
        anywhere: whether the run begins at any state that a round can begin with.
        apart: whether that is two points, of two runs that are compared: no x* is spoken of.
        from_start: whether values are measured from those at x_0: nothing is said of inf F.
    """

    def __init__(
        self,
        classes: Sequence[FunctionClass],
        function_of: Sequence[int],
        *,
        term: FunctionClass | None = None,
        shared: bool = False,
        at_minimiser: bool = False,
        minima: bool = False,
        anywhere: bool = False,
        apart: bool = False,
        from_start: bool = False,
    ) -> None:
        self.vectors: list[str] = []
        self.second: list[bool] = []
        self.values: list[str] = []
        self.functions = len(classes)
        self.classes = (*classes, *([term] if term else []))
        self.function_of = tuple(function_of)
        self.triples: list[list[Triple]] = [[] for _ in self.classes]
        self._known: list[dict[Vector, Triple]] = [{} for _ in self.classes]
        self._valued: list[dict[Vector, GramForm]] = [{} for _ in self.classes]
        self._implicit: dict[tuple[tuple[int, ...], Vector, Fraction | None], Vector] = {}
        self.term = len(classes) if term else None
        self.least: list[Constraint] = []
        self._errors: list[frozenset[int]] = []
        self.steps: list[np.ndarray] = []
        self.chances: list[Fraction] = []
        self.beyond_gradients, self.needs, self.without_term = False, "", False
        self.saddle = any(of.saddle for of in classes)
        self.located, self.directed = dict[Vector, None](), dict[Vector, None]()
        self.following = False
        self.regretted = set[int]()
        self.points = set[int]()
        self.start = self.star if at_minimiser else self._start()
        clients = range(len(function_of)) if anywhere else ()
        self.own = [self._vector(f"own vector of client {client}") for client in clients]
        if apart:
            self.own = [self._vector("the other start")] * self.clients
        self._from_start = from_start
        self.solvable = all(of.solvable for of in classes) and not apart
        if self.solvable:
            self._add_solution(shared)
        if minima:
            self._add_minima()
        if term is not None and term.normals and not at_minimiser:  # starts lie in the set
            begun = {"start": self.start, **({"other start": self.own[0]} if apart else {})}
            for name, point in begun.items():
                self._keep(len(classes), Triple(len(classes), point, Vector(), GramForm(), name))

    @property
    def star(self) -> Vector:
        """x*, as a measure is given it."""
        return STARS if self.saddle else STAR

    def check_origin(self, quantities: Sequence[GramForm]) -> bool:
        """Tell whether nothing depends on where the origin is, at which x* is put.

        Points have to move with x_0 and x*: their coefficients add up to 1, those of directions to
        0, and what is measured stays the same. What clients remember may be points, or gradients.
        """
        own = {j for v in self.own for j in v.coefficients}
        for weight in (1, 0):
            weights = dict.fromkeys(own, weight) | dict.fromkeys(self.points, 1) | {-1: 1, -2: 1}
            if (
                all(self._moves(v, 1, weights) for v in self.located)
                and all(self._moves(v, 0, weights) for v in self.directed)
                and all(_is_invariant(of, weights) for of in quantities)
            ):
                return True
        return False

    def _moves(self, v: Vector, by: int, weights: Mapping[int, int]) -> bool:
        """Tell whether a combination moves by so many times what points move by."""
        parts = [v.part(second=second) for second in (False, True)[: 1 + self.saddle]]
        sums = (sum(c * weights.get(j, 0) for j, c in of.coefficients.items()) for of in parts)
        return all(_is_nothing(total - by) for total in sums)

    def check_meant(self) -> None:
        """Raise where a method of gradients and of a term h has none: its steps would be of f."""
        if self.without_term and self.steps:
            raise DriftproofError(
                "gradients of f and an implicit step of a term h (needs = 'proximal'), without h",
                "functions and a term, F = f + h; or functions by name",
                "add plus(convex()) to the classes, or plus(indicator()) for a set; or ask "
                "oracles.at(k).prox, or write needs = 'implicit' for a step of each client's own",
            )

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return len(self.function_of)

    def _add_solution(self, shared: bool) -> None:
        """Put x* at the origin, and every value there at 0; the whole gradient there is 0.

        That of a term is the clients' mean, with a minus.
        """
        number, left = len(self.classes), Vector()
        for function in range(number):
            gradient = left
            if function < number - 1 and not shared:
                gradient = self._vector(f"gradient of client {function} at the solution")
                left = left - gradient
            elif function == self.term:
                gradient = left / self.functions
            triple = Triple(function, Vector(), gradient, GramForm(), "solution")
            self._keep(function, triple, chosen=True)

    def _add_minima(self) -> None:
        """Put the point where each client's own function is least among its triples."""
        for function in range(self.functions):
            point = self._point(f"w_{function}*")
            value = self._value(function, "its minimum")
            triple = Triple(function, point, Vector(), value, "minimum")
            self._keep(function, triple, chosen=True)

    def minimum(self, client: int) -> GramForm:
        """Return a client's own infimum, measured from its value at x*."""
        triples = self.triples[self.function_of[client]]
        return next(triple.value for triple in triples if triple.name == "minimum")

    def at(self, client: int, point: Vector) -> Triple:
        """Return the triple of a client's function at a point, made at the first time."""
        return self.triple(self.function_of[client], point)

    def implicit(self, functions: Sequence[int], point: Vector, step: Fraction | None) -> Vector:
        """Return the z with z = point − step·g, g the sum of a subgradient of each function at z.

        step None: the z that is least in the direction ``point``, at which −point is that sum.

        Raises:
            DriftproofError: a function need not be convex, so z may be no minimiser.
        """
        self.beyond_gradients = True
        self._note(point, direction=step is None)
        point, star = point.bare, Vector() if step is None else point - point.bare
        if step is not None and not _positive(step):
            raise DriftproofError(
                f"a proximal step of {step}", "a step above 0", "a letter with a positive factor"
            )
        odd = [self.classes[of] for of in functions if not self.classes[of].solvable]
        if odd:
            raise DriftproofError(
                f"a proximal step on {odd[0]}: it may end at no minimiser",
                "a class of convex functions",
                "take smooth_convex(L), say",
            )
        key = tuple(functions), point, step
        if key not in self._implicit:
            names = [f"point {len(self.triples[of])}" for of in functions]
            which = [
                f"gradient of client {of} at {name}"
                for of, name in zip(functions, names, strict=True)
            ]
            parts = [self._vector(gradient) for gradient in which[:-1]]
            total = sum(parts, Vector())
            if step is None:
                z, last = self._point(f"v_{len(self._implicit)}"), -point - total
            else:
                last = self._vector(which[-1])
                z = point - (total + last) * step
            for of, name, part in zip(functions, names, [*parts, last], strict=True):
                self._keep(of, Triple(of, z, part, self._value(of, name), name), chosen=True)
            self._implicit[key] = z
        moved: Vector = self._implicit[key] + star  # as the point does
        return moved

    def error(self) -> Vector:
        """Return an unknown vector, of which nothing is known yet."""
        self.beyond_gradients = True
        made = self._vector(f"e_{len(self._errors) + 1}")
        self._errors.append(frozenset(made.coefficients))
        return made

    def bound_error(self, error: Vector, most: Vector) -> None:
        """Let ‖error‖² ≤ ‖most‖².

        Raises:
            DriftproofError: something else than errors is bounded: that would be a condition on the
                functions.
        """
        if not set(error.coefficients) <= set().union(*self._errors):
            raise DriftproofError(
                "bound_error(e, v) of an e that no oracles.error made", "the error, then its bound",
                "write e = oracles.error(x), and oracles.bound_error(e, v)",
            )  # fmt: skip
        self._note(most, direction=True)
        name = f"error, ({len(self.least)})"
        self.least.append(Constraint(name, error * error - most * most))

    def _value(self, function: int, name: str) -> GramForm:
        if self.classes[function].normals:
            return GramForm()
        self.values.append(f"value of client {function} at {name}")
        return GramForm.value(len(self.values) - 1)

    def triple(self, function: int, point: Vector) -> Triple:
        """Return the triple of a function at a point, made at the first time."""
        self._note(point)
        point = point.bare
        known = self._known[function].get(point)
        if known is not None:
            return known
        name = f"point {len(self.triples[function])}"
        gradient = self._vector(f"gradient of client {function} at {name}")
        from_here = self._from_start and point == self.start.bare
        value = GramForm() if from_here else self._value(function, name)
        triple = Triple(function, point, gradient, value, name)
        self._keep(function, triple)
        return triple

    def _note(self, point: Vector, *, direction: bool = False) -> None:
        """Note where an algorithm asks."""
        if self.following:
            (self.directed if direction else self.located)[point] = None

    def _start(self) -> Vector:
        start = self._basis("x_0")
        whole = start + self._basis("y_0", second=True) if self.saddle else start
        self.points |= set(whole.coefficients)
        return whole

    def _point(self, name: str) -> Vector:
        """Return an unknown point: like a start it moves with the origin."""
        made = self._vector(name)
        self.points |= set(made.coefficients)
        return made

    def _vector(self, name: str) -> Vector:
        """Return an unknown vector: of two variables, the sum of one in each space."""
        if not self.saddle:
            return self._basis(name)
        made: Vector = self._basis(f"{name}, x") + self._basis(f"{name}, y", second=True)
        return made

    def _basis(self, name: str, *, second: bool = False) -> Vector:
        self.vectors.append(name)
        self.second.append(second)
        number = len(self.vectors) - 1
        return Vector.basis(Second(number) if second else number)

    def _keep(self, function: int, triple: Triple, *, chosen: bool = False) -> None:
        """Add a triple; where there are several subgradients, a chosen one is not the oracle's."""
        self.triples[function].append(triple)
        self._valued[function].setdefault(triple.point, triple.value)
        if not (chosen and self.classes[function].set_valued):
            self._known[function][triple.point] = triple

    def value(self, client: int, point: Vector) -> GramForm:
        """Return a client's value at a point, which all subgradients there share."""
        self._note(point)
        known = self._valued[self.function_of[client]].get(point.bare)
        return self.at(client, point).value if known is None else known

    def solution(self, client: int) -> Triple:
        """Return the triple at x*, whose gradients add up to 0."""
        found = (t for t in self.triples[self.function_of[client]] if t.name == "solution")
        return next(found, None) or self.at(client, self.star)

    def mean(self, point: Vector) -> tuple[Vector, GramForm]:
        """Return ∇F and F at a point, the means over clients."""
        every = [self.at(client, point) for client in range(self.clients)]
        gradient, value = Vector(), GramForm()
        for triple in every:
            gradient = gradient + triple.gradient / self.clients
            value = value + triple.value / self.clients
        return gradient, value

    def at_star(self, function: int) -> GramForm:
        """Return f(x*) of a function, of which nothing is known: values are measured from it.

        Of an indicator it is 0, as all its values are.
        """
        known = self.classes[function].normals
        return GramForm() if known else GramForm.value(-1 - function)

    def numbering_stars(self, quantities: Sequence[GramForm]) -> Callable[[GramForm], GramForm]:
        """Give each f(x*) that quantities are made of a number after those of the other values."""
        met = sorted({j for of in quantities for j in of.values if j < 0}, reverse=True)
        number = {j: len(self.values) + k for k, j in enumerate(met)}
        self.values += [f"{AT_STAR} {-1 - j}" for j in met]
        return lambda of: replace(of, values={number.get(j, j): a for j, a in of.values.items()})

    def below(self, quantities: Sequence[GramForm]) -> GramForm:
        """Return an unknown number that is at most each of some quantities."""
        self.values.append("m")
        least = GramForm.value(len(self.values) - 1)
        for number, quantity in enumerate(quantities):
            self.least.append(Constraint(f"smallest, ({number})", least - quantity))
        return least

    def without(
        self, zero: Sequence[Vector]
    ) -> tuple[Callable[[GramForm], GramForm], dict[int, Vector]]:
        """Let some vectors be 0: the last unknown of each is what the others make it.

        Returns:
            What a quantity is then, and what each unknown vector is, in those that are left. What
            the run asked is changed in the same way.
        """
        made: dict[int, Vector] = {}

        def of(vector: Vector) -> Vector:
            parts = (made.get(j, Vector.basis(j)) * c for j, c in vector.coefficients.items())
            total: Vector = sum(parts, Vector())
            return total

        for equation in zero:
            left = of(equation.bare)
            if left.coefficients:
                last = max(left.coefficients)
                solved = Vector.basis(last) - left / left.coefficients[last]
                made = {j: _put(v, last, solved) for j, v in made.items()} | {last: solved}
        kept = [j for j in range(len(self.vectors)) if j not in made]
        number = {j: Vector.basis(k) for k, j in enumerate(kept)}
        made = {j: _renamed(v, number) for j, v in made.items()} | number

        def known(quantity: GramForm) -> GramForm:
            total: GramForm = GramForm({}, quantity.values, quantity.constant)
            for (j, k), q in quantity.gram.items():
                total = total + made[j] * made[k] * q
            return total

        oracles = [{t.name for t in known.values()} for known in self._known]
        self.vectors = [self.vectors[j] for j in kept]
        self.second = [self.second[j] for j in kept]
        self.start, self.own = of(self.start.bare), [of(v) for v in self.own]
        self.triples = [
            [replace(t, point=of(t.point), gradient=of(t.gradient)) for t in triples]
            for triples in self.triples
        ]
        self._known = [
            {t.point: t for t in triples if t.name in names}
            for triples, names in zip(self.triples, oracles, strict=True)
        ]
        self._valued = [{t.point: t.value for t in triples[::-1]} for triples in self.triples]
        self.least = [replace(c, quantity=known(c.quantity)) for c in self.least]
        return known, made

    def gap(self, point: Vector) -> GramForm:
        """Return F(point) − F*, the mean of the clients' functions and the term.

        Raises:
            DriftproofError: the point need not lie in the set whose indicator the term is.
        """
        values = [self.value(client, point) for client in range(self.clients)]
        value: GramForm = sum(values, GramForm()) / self.clients
        if self.term is None:
            return value
        if self.classes[self.term].normals:
            if not self._in_hull(point.bare, list(self._known[self.term])):
                raise DriftproofError(
                    "F at a point that may lie outside of the set", "a mean of points of the set",
                    "measure it after project(x) or linear_minimiser(g)",
                )  # fmt: skip
            return value
        known = self._valued[self.term].get(point.bare)
        own = self.triple(self.term, point).value if known is None else known
        total: GramForm = value + own
        return total

    def stays(self, first: Tensor, last: Tensor) -> bool:
        """Tell whether a part of a state that begins at x_0, in the set, ends in the set again."""
        if self.term is None or not self.classes[self.term].normals:
            return True
        pairs = zip(points_of(first).flat, points_of(last).flat, strict=True)
        members = list(self._known[self.term])
        return all(self._in_hull(of, members) for at, of in pairs if at == self.start)

    @staticmethod
    def _in_hull(point: Vector, members: Sequence[Vector]) -> bool:
        """Tell whether a point is a mean of members with weights in fractions; 0 is a member."""
        from scipy.optimize import linprog

        names = sorted({j for of in (point, *members) for j in of.coefficients})
        rows = [[float(of.coefficients.get(j, 0)) for of in members] for j in names]
        wanted = [float(point.coefficients.get(j, 0)) for j in names]
        ones = np.ones((1, len(members)))
        found = linprog(ones[0], ones, [1.0], rows, wanted) if names else None
        weights = [] if found is None or found.x is None else [decimal(float(w)) for w in found.x]
        mean = sum((of * w for of, w in zip(members, weights, strict=False)), Vector())
        return bool(mean == point and sum(weights) <= 1 and all(w >= 0 for w in weights))

    def shared_points(self) -> list[Vector]:
        """Return the points that every client was asked at, in the order of the first client."""
        return [
            point
            for point in self._known[self.function_of[0]]
            if all(point in known for known in self._known[: self.functions])
        ]

    def gradients(self, x: Tensor) -> GramVector:
        """Return each client's gradient at its own point, [clients, dim, replicates]."""
        return GramVector(self._each(x, "gradient"))

    def function_values(self, x: Tensor) -> GramForms:
        """Return each client's value at its own point, [clients, replicates]."""
        minima = [[self.at_star(function)] for function in self.function_of]
        return GramForms(self._each(x, "value")[:, 0] + np.array(minima, dtype=object))

    def _each(self, x: Tensor, part: str) -> np.ndarray:
        points = points_of(x)
        found = np.empty(points.shape, dtype=object)
        for client, _, replicate in np.ndindex(points.shape):
            found[client, 0, replicate] = _part(self, client, points[client, 0, replicate], part)
        return found


def _is_nothing(x: Any) -> bool:
    """Tell whether a number is 0, up to rounding where the steps hold decimals for fractions."""
    return vanishes(x) or bool(INEXACT and not isinstance(x, Ratio) and abs(x) < ROUNDED)


def _is_invariant(of: GramForm, weights: Mapping[int, int]) -> bool:
    """Tell whether a quantity is the same wherever the origin is."""
    rows: dict[int, Any] = {}
    for (j, k), q in of.gram.items():
        rows[k] = rows.get(k, 0) + q * weights.get(j, 0)
        rows[j] = rows.get(j, 0) + q * weights.get(k, 0)
    return all(_is_nothing(total) for total in rows.values())


def _part(asked: AskedFunctions, client: int, point: Vector, part: str) -> Any:
    return asked.value(client, point) if part == "value" else asked.at(client, point).gradient


def _positive(step: Any) -> bool:
    """Tell whether a step is above 0; of letters, which are at least 0, a product is."""
    if not isinstance(step, Ratio):
        return bool(step > 0)
    parts = [list(of.terms()) for of in (step.top, step.bottom)]
    return all(len(terms) == 1 and terms[0][1] > 0 for terms in parts)


def _put(vector: Vector, number: int, value: Vector) -> Vector:
    """Return a combination with another vector in place of one unknown."""
    factor = vector.coefficients.get(number, Fraction(0))
    put: Vector = vector - Vector.basis(number) * factor + value * factor
    return put


def _renamed(vector: Vector, number: Mapping[int, Vector]) -> Vector:
    total: Vector = sum((number[j] * c for j, c in vector.coefficients.items()), Vector())
    return total


def points_of(x: Tensor) -> np.ndarray:
    """Return the vectors of a point that an oracle is asked at.

    Raises:
        DriftproofError: it is no combination of the unknown vectors.
    """
    if not isinstance(x, GramVector):
        raise DriftproofError(
            f"a gradient asked at {x!r}",
            "a combination of the start and of gradients",
            "begin at the start that init is given, and move by gradients",
        )
    return x.entries


class FieldOfClass:
    """The oracles that a class offers: every client's exact gradient and value."""

    def __init__(self, asked: AskedFunctions, weights: Tensor) -> None:
        self.asked = asked
        self.clients = asked.clients
        self.client_weights = weights

    def field_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def field_grad(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return each client's gradient at its own x."""
        self.asked.steps.append(points_of(x)[:, 0])
        self.asked.check_meant()
        return self.asked.gradients(x)

    def mean_loss(self, x: Tensor) -> Tensor:
        """Return each client's value at its own x."""
        return self.asked.function_values(x)

    def batch_loss(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return the same: there is no noise."""
        return self.asked.function_values(x)

    def prox(self, x: Tensor, t: Any, losses: Sequence[int] = (), *, term: bool = False) -> Tensor:
        """Return argmin_z Σ f_i(z) + ‖z − x‖²/(2t), [clients, dim, replicates].

        The sum is of the named losses, and of the term h where ``term`` is given. Of no names it is
        of h; where there is no term, of each client's own function at its own x.

        Args:
            losses: the numbers i of functions.

        Raises:
            DriftproofError: there is no term.
        """
        (step,) = entries_of(t).reshape(-1)
        exact = step.as_number if isinstance(step, GramForm) else Fraction(step)
        named = self._named(losses)
        if term:
            named.append(self._term("prox(…, term=True)"))
        return self._implicit(x, exact, named)

    def project(self, x: Tensor) -> Tensor:
        """Return the points of the set that are nearest to x."""
        return self._implicit(x, Fraction(1), [self._set("project")])

    def linear_minimiser(self, g: Tensor, losses: Sequence[int] = ()) -> Tensor:
        """Return the points v of the set that make ⟨g, v⟩ + Σ f_i(v) least, i in ``losses``."""
        return self._implicit(g, None, [*self._named(losses), self._set("linear_minimiser")])

    def error(self, x: Tensor) -> Tensor:
        """Return the errors e of an inexact method, [clients, dim, replicates] like x.

        ``bound_error`` says how large they may be; within that they are the worst.
        """
        return GramVector(np.frompyfunc(lambda _: self.asked.error(), 1, 1)(points_of(x)))

    def bound_error(self, e: Tensor, v: Tensor) -> None:
        """Let ‖e‖ ≤ ‖v‖; v may depend on e, as a step that ends where the error has led."""
        for error, most in zip(points_of(e).flat, points_of(v).flat, strict=True):
            self.asked.bound_error(error, most)

    def at(self, number: int) -> _OneFunction:
        """Return the oracles of one client's function alone, for every client.

        So a method asks for one of several functions by its number, or for the function of time t.
        """
        self.asked.beyond_gradients = True
        return _OneFunction(self.asked, self.client_weights, number)

    def _named(self, losses: Sequence[int]) -> list[int]:
        return [self.asked.function_of[number % self.asked.clients] for number in losses]

    def _implicit(self, x: Tensor, step: Fraction | None, named: Sequence[int]) -> Tensor:
        points = points_of(x)
        found = np.empty(points.shape, dtype=object)
        for client, _, replicate in np.ndindex(points.shape):
            functions = named or [self._function(client)]
            point = points[client, 0, replicate]
            found[client, 0, replicate] = self.asked.implicit(functions, point, step)
        return GramVector(found)

    def _function(self, client: int) -> int:
        """Return the function that a client's implicit step is of, where none is named.

        Raises:
            DriftproofError: the algorithm's steps are of a term and there is none, or vice versa.
        """
        term, needs = self.asked.term, self.asked.needs
        self.asked.without_term |= term is None and needs == "proximal"
        self.asked.check_meant()
        if term is not None and needs == "implicit":
            raise DriftproofError(
                "an implicit step of a client's own function (needs = 'implicit'), beside a term",
                "functions without a term, or functions by name",
                "leave plus(…) out, or ask oracles.prox(x, t, losses=[…], term=True)",
            )
        return self.asked.function_of[client] if term is None else term

    def _term(self, what: str) -> int:
        if self.asked.term is None:
            raise DriftproofError(
                f"oracles.{what} over classes without a term", "a term h, of all clients",
                "add plus(convex()) to the classes",
            )  # fmt: skip
        return self.asked.term

    def _set(self, what: str) -> int:
        term = self.asked.term
        if term is None or not self.asked.classes[term].normals:
            raise DriftproofError(
                f"oracles.{what} over classes without a set", "a term that is an indicator",
                "add plus(indicator(D)) to the classes",
            )  # fmt: skip
        return term


class _OneFunction(FieldOfClass):
    """The oracles of one of the functions, for every client."""

    def __init__(self, asked: AskedFunctions, weights: Tensor, number: int) -> None:
        super().__init__(asked, weights)
        self.number: int = number % asked.clients

    def field_grad(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return the function's gradient at each client's x."""
        return GramVector(self._each(x, "gradient"))

    def mean_loss(self, x: Tensor) -> Tensor:
        """Return the function's value at each client's x."""
        least = self.asked.at_star(self.asked.function_of[self.number])
        return GramForms(self._each(x, "value")[:, 0] + least)

    def _each(self, x: Tensor, part: str) -> np.ndarray:
        asked = np.frompyfunc(lambda z: _part(self.asked, self.number, z, part), 1, 1)
        found: np.ndarray = asked(points_of(x))
        return found

    def _function(self, client: int) -> int:
        return self.asked.function_of[self.number]

    def _named(self, losses: Sequence[int]) -> list[int]:
        if losses:
            raise DriftproofError(
                f"oracles.at({self.number}) with losses={list(losses)}",
                "all functions of a sum by name",
                f"write oracles.prox(x, t, losses={[self.number, *losses]})",
            )
        return []


class SaddleOfClass(FieldOfClass):
    """The oracles of functions of two variables, min over x of max over y: g_i = −f_i."""

    @property
    def upper_dim(self) -> int:
        """The stand-in for the dimension of x."""
        return int(SIZES["upper"])

    def upper_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def lower_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇_x f_i at each client's own (x, y)."""
        return self._part(x, y, second=False)

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇_y f_i at each client's own (x, y)."""
        return -self._part(x, y, second=True)

    @property
    def lower_smoothness(self) -> float:
        """Refuse to say: a product with a Hessian leaves the span of gradients."""
        raise DriftproofError(
            "a Neumann series over a whole class of functions",
            "a method for minimax problems that asks for gradients alone",
            "pass terms=0, the method without the indirect part",
        )

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇_y g_i = −∇_y f_i at each client's own (x, y)."""
        return self._part(x, y, second=True)

    def _part(self, x: Tensor, y: Tensor, *, second: bool) -> Tensor:
        for name, of in (("x", x), ("y", y)):
            if any(v.part(second=name == "x").coefficients for v in points_of(of).flat):
                raise DriftproofError(
                    f"a gradient asked at (x, y) where {name} has a part of the other variable",
                    "x of the first variable and y of the second one",
                    "write oracles.upper_grad_x(state.x, state.y, None)",
                )
        field = self.asked.gradients(x + y)
        return GramVector(part_of(field.entries, second=second))


class CompositionOfClass:
    """The oracles of compositions g ∘ f: at each point one unknown direction ∇f(w)ᵀ∇g(f(w)).

    Nothing else is known of the parts, so that f(w) and ∇g(f(w)) are tokens.
    """

    def __init__(self, asked: AskedFunctions, weights: Tensor) -> None:
        self._asked = asked
        self._outer: list[tuple[Token, Token]] = []
        self.clients, self.client_weights = asked.clients, weights

    def inner_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def outer_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def inner(self, w: Tensor, xi: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return what stands for f(w), and v ↦ ∇f(w)ᵀv, which is asked of ∇g(f(w)) alone."""
        value, outer = Token(points_of(w)), Token(points_of(w))
        self._outer.append((value, outer))

        def pullback(v: Tensor) -> Tensor:
            if v is not outer:
                raise DriftproofError(
                    "the inner Jacobian of unknown compositions times another vector",
                    "its product with the outer gradient at the inner value",
                    "pass pullback what outer_grad returned, unchanged",
                )
            return self._asked.gradients(w)

        return value, pullback

    def outer_grad(self, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return what stands for ∇g(y)."""
        for value, outer in self._outer:
            if y is value:
                return outer
        raise DriftproofError(
            "the outer gradient of unknown compositions at another vector",
            "that at an inner value f(w)",
            "pass outer_grad what inner returned, unchanged",
        )
