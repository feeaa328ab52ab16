"""What a run asks of unknown functions: a triple for each distinct point, made when it is met."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from driftproof.synthetic.classes.conditions import FunctionClass, Triple
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import Pullback
from driftproof.toolkit.spans.exact import Quantity, Second, Vector
from driftproof.toolkit.spans.tensor import SIZES, Quantities, Span, part_of


class AskedFunctions:
    """The clients' unknown functions, and what is asked of them.

    Attributes:
        vectors: names of the unknown vectors.
        values: names of the unknown numbers.
        triples: what is known of each function.
        function_of: the function of each client (one for all, if the clients are equal).
        start: x_0, or (x_0, y_0) where the functions have two variables.
        second: for each vector, whether it is one of the second space.
        own: what each client holds beside x_0 as the run begins: unknown vectors, if it may
            begin anywhere.

    Args:
        shared: whether every function is least at x*.
        at_minimiser: whether x_0 is x*.
        anywhere: whether the run begins at any state that a round can begin with.
        from_start: whether values are measured from those at x_0: nothing is said of inf F.
    """

    def __init__(
        self,
        classes: Sequence[FunctionClass],
        function_of: Sequence[int],
        *,
        shared: bool = False,
        at_minimiser: bool = False,
        anywhere: bool = False,
        from_start: bool = False,
    ) -> None:
        self.vectors: list[str] = []
        self.second: list[bool] = []
        self.values: list[str] = []
        self.classes = tuple(classes)
        self.function_of = tuple(function_of)
        self.triples: list[list[Triple]] = [[] for _ in classes]
        self._known: list[dict[Vector, Triple]] = [{} for _ in classes]
        self.saddle = any(of.saddle for of in classes)
        self.start = Vector() if at_minimiser else self._start()
        clients = range(len(function_of)) if anywhere else ()
        self.own = [self._vector(f"own vector of client {client}") for client in clients]
        self._from_start = from_start
        self.solvable = all(of.solvable for of in classes)
        if self.solvable:
            self._add_solution(shared)

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return len(self.function_of)

    def _add_solution(self, shared: bool) -> None:
        """Put x* at the origin, and every value there at 0; the mean gradient there is 0."""
        number, last = len(self.classes), Vector()
        for function in range(number):
            gradient = last
            if function < number - 1 and not shared:
                gradient = self._vector(f"gradient of client {function} at the solution")
                last = last - gradient
            triple = Triple(function, Vector(), gradient, Quantity(), "solution")
            self._keep(function, triple)

    def at(self, client: int, point: Vector) -> Triple:
        """Return the triple of a client's function at a point, made at the first time."""
        function = self.function_of[client]
        known = self._known[function].get(point)
        if known is not None:
            return known
        name = f"point {len(self.triples[function])}"
        gradient = self._vector(f"gradient of client {function} at {name}")
        value = Quantity()
        if not (self._from_start and point == self.start):
            self.values.append(f"value of client {function} at {name}")
            value = Quantity.value(len(self.values) - 1)
        triple = Triple(function, point, gradient, value, name)
        self._keep(function, triple)
        return triple

    def _start(self) -> Vector:
        start = self._basis("x_0")
        return start + self._basis("y_0", second=True) if self.saddle else start

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

    def _keep(self, function: int, triple: Triple) -> None:
        self.triples[function].append(triple)
        self._known[function][triple.point] = triple

    def mean(self, point: Vector) -> tuple[Vector, Quantity]:
        """Return ∇F and F at a point, the means over clients."""
        every = [self.at(client, point) for client in range(self.clients)]
        gradient, value = Vector(), Quantity()
        for triple in every:
            gradient = gradient + triple.gradient / self.clients
            value = value + triple.value / self.clients
        return gradient, value

    def shared_points(self) -> list[Vector]:
        """Return the points that every client was asked at, in the order of the first client."""
        return [
            point
            for point in self._known[self.function_of[0]]
            if all(point in known for known in self._known)
        ]

    def gradients(self, x: Tensor) -> Span:
        """Return each client's gradient at its own point, [clients, dim, replicates]."""
        return Span(self._each(x, "gradient"))

    def function_values(self, x: Tensor) -> Quantities:
        """Return each client's value at its own point, [clients, replicates]."""
        return Quantities(self._each(x, "value")[:, 0])

    def _each(self, x: Tensor, part: str) -> np.ndarray:
        points = points_of(x)
        found = np.empty(points.shape, dtype=object)
        for client, _, replicate in np.ndindex(points.shape):
            triple = self.at(client, points[client, 0, replicate])
            found[client, 0, replicate] = getattr(triple, part)
        return found


def points_of(x: Tensor) -> np.ndarray:
    """Return the vectors of a point that an oracle is asked at.

    Raises:
        DriftproofError: it is no combination of the unknown vectors.
    """
    if not isinstance(x, Span):
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
        return self.asked.gradients(x)

    def mean_loss(self, x: Tensor) -> Tensor:
        """Return each client's value at its own x, above that at x*."""
        return self.asked.function_values(x)

    def batch_loss(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return the same: there is no noise."""
        return self.asked.function_values(x)


class SaddleOfClass(FieldOfClass):
    """The oracles of functions of two variables, min over x of max over y: g_i = −f_i."""

    @property
    def upper_dim(self) -> int:
        """The stand-in for the dimension of x."""
        return SIZES["upper"]

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
        field = self.asked.gradients(x + y)
        return Span(part_of(field.entries, second=second))


class CompositionOfClass:
    """The oracles of compositions g ∘ f: at each point one unknown direction ∇f(w)ᵀ∇g(f(w)).

    Nothing else is known of the parts, so that w itself stands for f(w) and for ∇g(f(w)).
    """

    def __init__(self, asked: AskedFunctions, weights: Tensor) -> None:
        self._asked = asked
        self.clients, self.client_weights = asked.clients, weights

    def inner_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def outer_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def inner(self, w: Tensor, xi: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return what stands for f(w), and v ↦ ∇f(w)ᵀv, which is asked of ∇g(f(w)) alone."""

        def pullback(v: Tensor) -> Tensor:
            if v is not w:
                raise DriftproofError(
                    "the inner Jacobian of unknown compositions times another vector",
                    "its product with the outer gradient at the inner value",
                    "pass pullback what outer_grad returned, unchanged",
                )
            return self._asked.gradients(w)

        return w, pullback

    def outer_grad(self, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return what stands for ∇g(y)."""
        return y
