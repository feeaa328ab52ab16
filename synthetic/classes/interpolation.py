"""What a run asks of unknown functions: a triple for each distinct point, made when it is met."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from torch import Tensor

from driftproof.synthetic.classes.conditions import Constraint, FunctionClass, Triple
from driftproof.synthetic.classes.unknowns import Unknowns, in_hull, put, with_products
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Vector, is_positive
from driftproof.toolkit.gram.tensor import GramVector
from driftproof.toolkit.ratios import Ratio


class InterpolationProblem(Unknowns):
    """The clients' unknown functions, and what is asked of them.

    Attributes:
        triples: what is known of each function; of a term that clients share, last.
        function_of: the function of each client (one for all, if the clients are equal).
        start: x_0, or (x_0, y_0) where the functions have two variables.
        regretted: the times whose losses are measured against those at x*.
        steps: for each step of an algorithm the points that clients' gradients were asked at,
            [clients, replicates] each.
        moves: for each step the iterate before and after it, likewise.
        chances: of each replicate, once the run has ended.
        beyond_gradients: whether anything but clients' gradients was asked.
        needs: that of the algorithm, which says what its implicit steps are of.
        without_term: whether a proximal method asked for one of no name, where there is no term.

    Args:
        shared: whether every function is least at x*.
        at_minimiser: whether x_0 is x*.
        minima: whether it is known where each client's own function is least.
        anywhere: whether the run begins at any state that a round can begin with.
        apart: whether that is two points, of two runs that are compared: no x* is spoken of.
        from_start: whether values are measured from those at x_0: nothing is said of inf F.
        line_steps: of each line search the multiples of its directions (): they are unknown.
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
        line_steps: Sequence[Sequence[Fraction]] = (),
    ) -> None:
        super().__init__(saddle=any(of.saddle for of in classes))
        self.functions = len(classes)
        self.classes = (*classes, *([term] if term else []))
        self.function_of = tuple(function_of)
        self.triples: list[list[Triple]] = [[] for _ in self.classes]
        self._known: list[dict[Vector, Triple]] = [{} for _ in self.classes]
        self._valued: list[dict[Vector, GramForm]] = [{} for _ in self.classes]
        self._implicit: dict[tuple[tuple[int, ...], Vector, Fraction | None], Vector] = {}
        self.searched: dict[Any, tuple[Triple, Vector, tuple[Vector, ...]]] = {}
        self._line_steps = line_steps
        self.term = len(classes) if term else None
        self.steps: list[np.ndarray] = []
        self.moves: list[list[np.ndarray]] = []
        self.chances: list[Fraction] = []
        self.beyond_gradients, self.needs, self.without_term = False, "", False
        self.counted = False  # whether steps may calculate with t
        self.regretted = set[int]()
        self.start = self.star if at_minimiser else self.point("x_0", "y_0")
        clients = range(len(function_of)) if anywhere else ()
        self.own = [self.vector(f"own vector of client {client}") for client in clients]
        if apart:
            self.own = [self.vector("the other start")] * self.clients
        self.limits = ["gradient"] if self.own else []
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

    def remember(self, names: Sequence[str], limits: Mapping[str, str]) -> None:
        """Let clients remember a vector of each name; where a run begins anywhere.

        Args:
            limits: where vectors go (``Algorithm.limits``).
        """
        if self.own and names:  # without names nothing is made of what there is
            self.own += [
                self.vector(f"{of} of client {k}") for of in names[1:] for k in range(self.clients)
            ]
            self.limits = [limits.get(of, "gradient") for of in names]

    def away(self) -> Iterator[Vector]:
        """Yield how far what clients remember is from where it goes."""
        for number, own in enumerate(self.own):
            to_gradient = self.limits[number // self.clients] == "gradient"
            at = self.solution(number % self.clients).gradient if to_gradient else Vector()
            yield own - at

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
                gradient = self.vector(f"gradient of client {function} at the solution")
                left = left - gradient
            elif function == self.term:
                gradient = left / self.functions
            triple = Triple(function, Vector(), gradient, GramForm(), "solution")
            self._keep(function, triple, chosen=True)

    def _add_minima(self) -> None:
        """Put the point where each client's own function is least among its triples."""
        for function in range(self.functions):
            point = self.point(f"w_{function}*")
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
        self.note(point, direction=step is None)
        point, star = point.bare, Vector() if step is None else point - point.bare
        if not (step is None or (is_positive(step) if isinstance(step, Ratio) else step > 0)):
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
            parts = [self.vector(gradient) for gradient in which[:-1]]
            total = sum(parts, Vector())
            if step is None:
                z, last = self.point(f"v_{len(self._implicit)}"), -point - total
            else:
                last = self.vector(which[-1])
                z = point - (total + last) * step
            for of, name, part in zip(functions, names, [*parts, last], strict=True):
                self._keep(of, Triple(of, z, part, self._value(of, name), name), chosen=True)
            self._implicit[key] = z
        moved: Vector = self._implicit[key] + star  # as the point does
        return moved

    def line_search(self, function: int, start: Vector, *along: Vector) -> tuple[Vector, Vector]:
        """Return the x of start + span(along) at which a function is least, and its gradient g.

        Known are ⟨g, d⟩ = 0 of each direction d and ⟨g, x − start⟩ = 0; with ``line_steps`` x too.

        Raises:
            DriftproofError: nothing need be least where a gradient is orthogonal.
        """
        of, self.beyond_gradients = self.classes[function], True
        if not (of.solvable and any(of.conditions[0].values)):
            raise DriftproofError(
                f"a line search on {of}, where it need not end at a minimiser",
                "a class of convex functions",
                "take smooth_convex(L), say",
            )
        for k, v in enumerate((start, *along)):
            self.note(v, direction=k > 0)
        start, *lines = (v.bare for v in (start, *along))
        if (key := (function, start, *lines)) not in self.searched:
            number, name = len(self.searched), f"point {len(self.triples[function])}"
            gradient = self.vector(f"gradient of client {function} at {name}")
            if self._line_steps:
                steps = zip(lines, self._line_steps[number], strict=True)
                x = sum((d * s for d, s in steps), start)
            else:
                x = self.point(f"u_{number}")
                lines.append(x - start)
            triple = Triple(function, x, gradient, self._value(function, name), name)
            self._keep(function, triple, chosen=True)
            self.searched[key] = triple, start, tuple(lines[: len(along)])
            products = [gradient * v for v in lines if v.coefficients]
            for k, of_line in enumerate(products, len(self.least)):
                self.least.append(Constraint(f"line search, ({k})", of_line, equality=True))
        triple, *_ = self.searched[key]
        return triple.point, triple.gradient

    def _value(self, function: int, name: str) -> GramForm:
        if self.classes[function].normals:
            return GramForm()
        return self.number(f"value of client {function} at {name}")

    def triple(self, function: int, point: Vector) -> Triple:
        """Return the triple of a function at a point, made at the first time."""
        self.note(point)
        point = point.bare
        known = self._known[function].get(point)
        if known is not None:
            return known
        name = f"point {len(self.triples[function])}"
        gradient = self.vector(f"gradient of client {function} at {name}")
        from_here = self._from_start and point == self.start.bare
        value = GramForm() if from_here else self._value(function, name)
        triple = Triple(function, point, gradient, value, name)
        self._keep(function, triple)
        return triple

    def _keep(self, function: int, triple: Triple, *, chosen: bool = False) -> None:
        """Add a triple; where there are several subgradients, a chosen one is not the oracle's."""
        self.triples[function].append(triple)
        self._valued[function].setdefault(triple.point, triple.value)
        if not (chosen and self.classes[function].set_valued):
            self._known[function][triple.point] = triple

    def value(self, function: int, point: Vector) -> GramForm:
        """Return a function's value at a point, which all subgradients there share."""
        self.note(point)
        known = self._valued[function].get(point.bare)
        return self.triple(function, point).value if known is None else known

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

    def without(
        self, zero: Sequence[Vector]
    ) -> tuple[Callable[[GramForm], GramForm], dict[int, Vector]]:
        """Let some vectors be 0: the last unknown of each is what the others make it.

        Returns:
            What a quantity is then, and what each unknown vector is, in those that are left. What
            the run asked is changed in the same way.
        """
        made = self.eliminated(zero)

        def known(quantity: GramForm) -> GramForm:
            return with_products(quantity, lambda j, k: made[j] * made[k])

        oracles = [{t.name for t in known.values()} for known in self._known]
        self.start, self.own = put(self.start.bare, made), [put(v, made) for v in self.own]
        self.triples = [
            [replace(t, point=put(t.point, made), gradient=put(t.gradient, made)) for t in triples]
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
        values = [self.value(function, point) for function in self.function_of]
        value: GramForm = sum(values, GramForm()) / self.clients
        if self.term is None:
            return value
        if self.classes[self.term].normals:
            if not in_hull(point.bare, list(self._known[self.term])):
                raise DriftproofError(
                    "F at a point that may lie outside of the set",
                    "a mean of points of the set",
                    "measure it after project(x) or linear_minimiser(g)",
                )
            return value
        total: GramForm = value + self.value(self.term, point)
        return total

    def stays(self, first: Tensor, last: Tensor) -> bool:
        """Tell whether a part of a state that begins at x_0, in the set, ends in the set again."""
        if self.term is None or not self.classes[self.term].normals:
            return True
        pairs = zip(points_of(first).flat, points_of(last).flat, strict=True)
        members = list(self._known[self.term])
        return all(in_hull(of, members) for at, of in pairs if at == self.start)

    def shared_points(self) -> list[Vector]:
        """Return the points that every client was asked at, in the order of the first client."""
        return [
            point
            for point in self._known[self.function_of[0]]
            if all(point in known for known in self._known[: self.functions])
        ]

    def gradients(self, x: Tensor) -> GramVector:
        """Return each client's gradient at its own point, [clients, dim, replicates]."""
        return GramVector(each_point(x, lambda client, point: self.at(client, point).gradient))


def each_point(x: Tensor, of: Callable[[int, Vector], Any]) -> np.ndarray:
    """Return what is asked at each client's own point, [clients, dim, replicates]."""
    points = points_of(x)
    found = np.empty_like(points)
    for place, point in np.ndenumerate(points):
        found[place] = of(place[0], point)
    return found


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
