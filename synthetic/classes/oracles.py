"""The oracles that a class offers to an algorithm, which note what they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from torch import Tensor

from driftproof.synthetic.classes.interpolation import InterpolationProblem, each_point, points_of
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.toolkit.gram.tensor import SIZES, GramForms, GramVector, Token, entries_of, part_of
from driftproof.toolkit.oracles import Pullback


def _without_noise(self: Any, batch: int) -> None:
    """Return None: there is no noise."""


class FieldOfClass:
    """The oracles that a class offers: every client's exact gradient and value."""

    field_law = _without_noise

    def __init__(self, asked: InterpolationProblem, weights: Tensor) -> None:
        self.asked = asked
        self.clients = asked.clients
        self.client_weights = weights

    def field_grad(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return each client's gradient at its own x."""
        self.asked.steps.append(points_of(x)[:, 0])
        self.asked.check_meant()
        return self.asked.gradients(x)

    def mean_loss(self, x: Tensor) -> Tensor:
        """Return each client's value at its own x."""

        def value(client: int, point: Vector) -> GramForm:
            number, asked = self.asked.function_of[self._number(client)], self.asked
            of: GramForm = asked.value(number, point) + asked.at_star(number)
            return of

        return GramForms(each_point(x, value)[:, 0])

    def batch_loss(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return the same: there is no noise."""
        return self.mean_loss(x)

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

    def line_search(self, x: Tensor, *directions: Tensor) -> tuple[Tensor, Tensor]:
        """Return the x⁺ of x + span(directions) at which each client's f_i is least, and ∇f_i(x⁺).

        Of several subgradients it is one that is orthogonal to the directions.

        Raises:
            DriftproofError: something is no vector.
        """
        if odd := [of for of in (x, *directions) if not isinstance(of, GramVector)]:
            raise DriftproofError(
                f"oracles.line_search(x, d) with {odd[0]!r:.60}",
                "a point x, and directions d that are vectors, as gradients are",
                "write x, g = oracles.line_search(state.w, oracles.field_grad(state.w, None))",
            )
        functions = [[[self.asked.function_of[self._number(k)]]] for k in range(self.clients)]
        given = [np.array(functions, object), *map(points_of, (x, *directions))]
        found, gradients = np.frompyfunc(self.asked.line_search, len(given), 2)(*given)
        return GramVector(found), GramVector(gradients)

    def error(self, x: Tensor) -> Tensor:
        """Return the errors e of an inexact method, [clients, dim, replicates] like x.

        ``bound_error`` says how large they may be; within that they are the worst.
        """
        self.asked.beyond_gradients = True
        return GramVector(each_point(x, lambda client, point: self.asked.error()))

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
        def implicit(client: int, point: Vector) -> Vector:
            return self.asked.implicit(named or [self._function(client)], point, step)

        return GramVector(each_point(x, implicit))

    def _number(self, client: int) -> int:
        """Return the number of the client whose function is asked for."""
        return client

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
                f"oracles.{what} over classes without a term",
                "a term h, of all clients",
                "add plus(convex()) to the classes",
            )
        return self.asked.term

    def _set(self, what: str) -> int:
        term = self.asked.term
        if term is None or not self.asked.classes[term].normals:
            raise DriftproofError(
                f"oracles.{what} over classes without a set",
                "a term that is an indicator",
                "add plus(indicator(D)) to the classes",
            )
        return term


class _OneFunction(FieldOfClass):
    """The oracles of one of the functions, for every client."""

    def __init__(self, asked: InterpolationProblem, weights: Tensor, number: int) -> None:
        super().__init__(asked, weights)
        self.number: int = number % asked.clients

    def field_grad(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return the function's gradient at each client's x."""
        number = self.number
        return GramVector(each_point(x, lambda _, point: self.asked.at(number, point).gradient))

    def _number(self, client: int) -> int:
        return self.number

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

    upper_law = lower_law = _without_noise

    @property
    def upper_dim(self) -> int:
        """The stand-in for the dimension of x."""
        return int(SIZES["upper"])

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

    inner_law = outer_law = _without_noise

    def __init__(self, asked: InterpolationProblem, weights: Tensor) -> None:
        self._asked = asked
        self._outer: list[tuple[Token, Token]] = []
        self.clients, self.client_weights = asked.clients, weights

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
