"""Compositions: exact values and gradients from a composition's oracles."""

from __future__ import annotations

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from driftproof.toolkit.draws import Law
from driftproof.toolkit.oracles import (
    ClientVectors,
    Composition,
    InnerVectors,
    SharedVector,
    Values,
    on_every_client,
)
from driftproof.toolkit.problem import Problem


class CompositionProblem(Problem):
    """A problem whose objective is a composition, outer ∘ inner, of one of two shapes.

    ``inside`` False (ComFedL, Local-SCGDM): F = (1/K) Σ_k outer_k(inner_k(x)), client by client.
    ``inside`` True (FedDRO): Φ = (1/K) Σ_k h_k + outer((1/K) Σ_k inner_k(x)), the inner average
    taken inside.
    """

    outer_everywhere: ClassVar[bool] = True
    """Whether the outer function's constants hold on all of R^p, or on the inner map's range."""

    @property
    def offers(self) -> str:
        """A composition's oracles."""
        return "composition"

    @property
    def inside(self) -> bool:
        """Whether the clients' inner values are averaged before the outer function."""
        return False

    def objective(self, x: SharedVector) -> Values:
        """Return the objective at x, exactly."""
        oracles, every = self._at(x)
        y, _ = oracles.inner(every, None)
        if self.inside:
            y = y.mean(0, keepdim=True).expand_as(y)
        return (oracles.plain_value(every) + oracles.outer_value(y)).mean(0)

    def gradient(self, x: SharedVector) -> SharedVector:
        """Return the objective's gradient at x, exactly."""
        return self.client_gradients(x).mean(0)

    def client_gradients(self, x: SharedVector) -> ClientVectors:
        """Return each client's share of the gradient at x, exactly; their mean is the gradient."""
        oracles, every = self._at(x)
        y, pullback = oracles.inner(every, None)
        if self.inside:
            y = y.mean(0, keepdim=True).expand_as(y)
        return oracles.plain_grad(every, None) + pullback(oracles.outer_grad(y, None))

    def own_values(self, x: ClientVectors) -> Float[Tensor, "clients replicates"]:
        """Return F_k at each client's own x, exactly, [clients, replicates]."""
        oracles = self._oracles(x)
        return oracles.plain_value(x) + oracles.outer_value(oracles.inner(x, None)[0])

    def own_gradients(self, x: ClientVectors) -> ClientVectors:
        """Return ∇F_k at each client's own x, exactly, for F_k = h_k + outer_k(inner_k)."""
        oracles = self._oracles(x)
        y, pullback = oracles.inner(x, None)
        return oracles.plain_grad(x, None) + pullback(oracles.outer_grad(y, None))

    def gradients_at(self, x: ClientVectors, u: InnerVectors) -> ClientVectors:
        """Return ∇inner_k(x)ᵀ ∇outer_k(u) at each client's own x and u, exactly."""
        oracles = self._oracles(x)
        return oracles.inner(x, None)[1](oracles.outer_grad(u, None))

    def inner_values(self, x: ClientVectors) -> InnerVectors:
        """Return each client's expected inner value at its own x."""
        return self._oracles(x).inner(x, None)[0]

    def _at(self, x: SharedVector) -> tuple[Composition, ClientVectors]:
        return self._oracles(x), on_every_client(x, self.clients)

    def _oracles(self, x: Tensor) -> Composition:
        oracles: Composition = self.oracles_for(x)
        return oracles


class NoOuterNoise:
    """The law of a composition's outer function where no sample changes it."""

    def outer_law(self, batch: int) -> Law | None:
        """The outer function has no noise."""
        return None


class NoPlainPart:
    """The oracles of a composition's plain part h where h = 0."""

    def plain_law(self, batch: int) -> Law | None:
        """There is no plain part."""
        return None

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return 0: h = 0."""
        return x.new_zeros(x.shape)

    def plain_value(self, x: ClientVectors) -> Tensor:
        """Return 0: h = 0."""
        return x.new_zeros((x.shape[0], x.shape[2]))
