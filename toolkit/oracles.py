"""What an algorithm may ask of a client: the oracle protocols.

Shapes throughout: ``[clients, dim, replicates]`` for what each client holds, ``[dim, replicates]``
for what all share. A noise argument of None means the expectation over the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from toolkit.draws import Law

ClientVectors: TypeAlias = Float[Tensor, "clients dim replicates"]
InnerVectors: TypeAlias = Float[Tensor, "clients inner_dim replicates"]
SharedVector: TypeAlias = Float[Tensor, "dim replicates"]
Values: TypeAlias = Float[Tensor, " replicates"]
OFFERS = {"plain": {"plain"}, "losses": {"losses", "plain"}, "composition": {"composition"}}
"""What a problem offers → the needs of algorithms that it meets."""
Pullback: TypeAlias = Callable[[Tensor], Tensor]


@runtime_checkable
class Plain(Protocol):
    """A stochastic gradient field: all that FedAvg needs."""

    clients: int
    client_weights: Tensor
    """Each client's share of all samples, [clients, 1, 1]."""

    def plain_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch of ``batch`` samples (None: the oracle is exact)."""

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return each client's minibatch gradient at its own x."""


@runtime_checkable
class Losses(Plain, Protocol):
    """A gradient field that is the gradient of losses which are not negative."""

    def plain_value(self, x: ClientVectors) -> Float[Tensor, "clients replicates"]:
        """Return each client's expected loss at its own x."""

    def plain_loss(
        self, x: ClientVectors, xi: Tensor | None
    ) -> Float[Tensor, "clients replicates"]:
        """Return each client's minibatch loss at its own x."""


@runtime_checkable
class Composition(Plain, Protocol):
    """Oracles of a composition: the map applied first is *inner*, the scalar one last is *outer*.

    ComFedL (000/001) writes g(f(w)), Local-SCGDM (003) and FedDRO (004) write f(g(x)); the words
    inner and outer keep their letters apart.
    """

    def inner_law(self, batch: int) -> Law | None:
        """Return the law of an inner minibatch."""

    def outer_law(self, batch: int) -> Law | None:
        """Return the law of an outer minibatch."""

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return the inner value and v ↦ Jᵀv at x, never J itself."""

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return the outer gradient at y."""

    def outer_value(self, y: InnerVectors) -> Float[Tensor, "clients replicates"]:
        """Return the expected outer value at y."""

    def plain_value(self, x: ClientVectors) -> Float[Tensor, "clients replicates"]:
        """Return the expected non-compositional part h at x (zero where there is none)."""


@runtime_checkable
class OneSample(Composition, Protocol):
    """A composition whose inner and outer noise may come from one sample."""

    def same_sample(self, xi: Tensor) -> Tensor:
        """Return the outer draw that belongs to an inner draw."""


def on_every_client(x: SharedVector, clients: int) -> ClientVectors:
    """Return x as each of ``clients`` clients sees it."""
    return x.expand(clients, *x.shape)
