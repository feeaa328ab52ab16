"""What an algorithm may ask of a client: the oracle protocols.

Shapes throughout: ``[clients, dim, replicates]`` for what each client holds, ``[dim, replicates]``
for what all share. A noise argument of None means the expectation over the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from driftproof.toolkit.draws import Law

ClientVectors: TypeAlias = Float[Tensor, "clients dim replicates"]
InnerVectors: TypeAlias = Float[Tensor, "clients inner_dim replicates"]
SharedVector: TypeAlias = Float[Tensor, "dim replicates"]
UpperVector: TypeAlias = Float[Tensor, "upper_dim replicates"]
LowerVector: TypeAlias = Float[Tensor, "lower_dim replicates"]
LowerVectors: TypeAlias = Float[Tensor, "clients lower_dim replicates"]
Values: TypeAlias = Float[Tensor, " replicates"]
OFFERS = {
    "field": {"field"},
    "losses": {"losses", "field"},
    "proximal": {"proximal"},
    "set": {"proximal", "set"},
    "compact-set": {"proximal", "set", "compact-set"},
    "implicit": {"implicit", "field"},
    "class": {"proximal", "set", "compact-set", "implicit", "online", "losses", "field"},
    "samples": {"samples", "losses", "field"},
    "composition": {"composition"},
    "composition-of-samples": {"composition", "samples"},
    "tasks": {"composition", "outer-losses"},
    "bilevel": {"bilevel"},
    "minimax": {"minimax", "bilevel", "field"},
}
"""What a problem offers → the needs of algorithms that it meets.

A "composition-of-samples" has the losses that its objective is a robust form of, but no "field":
what a gradient step on their mean minimises is not its objective. So it is of F = f + h
("proximal"), and on a set, where h is 0 in it and infinite elsewhere. "class" is what a class has.
"""
Pullback: TypeAlias = Callable[[Tensor], Tensor]


@runtime_checkable
class GradientField(Protocol):
    """A stochastic gradient field: all that FedAvg needs."""

    clients: int
    client_weights: Tensor
    """Each client's share of all samples, [clients, 1, 1]."""

    def field_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch of ``batch`` samples (None: the oracle is exact)."""

    def field_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return each client's minibatch gradient at its own x."""


@runtime_checkable
class Losses(GradientField, Protocol):
    """A gradient field that is the gradient of losses which are not negative."""

    def mean_loss(self, x: ClientVectors) -> Float[Tensor, "clients replicates"]:
        """Return each client's expected loss at its own x."""

    def batch_loss(
        self, x: ClientVectors, xi: Tensor | None
    ) -> Float[Tensor, "clients replicates"]:
        """Return each client's minibatch loss at its own x."""


@runtime_checkable
class Proximal(GradientField, Protocol):
    """Losses f_i with a convex term h that all clients know, F = (1/n) Σ f_i + h.

    What offers "implicit" has no term: there ``prox`` is of each client's own function.
    """

    def prox(self, x: ClientVectors, t: float) -> ClientVectors:
        """Return argmin_z h(z) + ‖z − x‖²/(2t), the projection where h is that of a set."""

    def project(self, x: ClientVectors) -> ClientVectors:
        """Return the nearest points of the set."""

    def linear_minimiser(self, g: ClientVectors) -> ClientVectors:
        """Return the points v of the set at which ⟨g, v⟩ is least."""

    def mean_loss(self, x: ClientVectors) -> Float[Tensor, "clients replicates"]:
        """Return each f_i at its own x, where prox is of f_i."""

    def at(self, number: int) -> Proximal:
        """Return the oracles of one function f_number, asked by every client (of a class)."""


@runtime_checkable
class SampleLosses(Losses, Protocol):
    """Losses of single samples, which a robust method weighs one by one."""

    sample_weights: Tensor
    """Each sample's share of its client's, [clients, samples, 1]: 0 where a client has fewer."""

    def sample_losses(
        self, x: ClientVectors, xi: Tensor | None
    ) -> tuple[Float[Tensor, "clients batch replicates"], Pullback]:
        """Return the losses at x of the samples drawn, and v ↦ Σ_j v_j ∇ℓ_j(x).

        Args:
            x: each client's own point.
            xi: sample numbers drawn from ``field_law``; None: all of a client's samples, in the
                order of ``sample_weights``.
        """


@runtime_checkable
class Composition(Protocol):
    """Oracles of h + outer ∘ inner: *inner* is applied first, *plain* is the part h.

    h is zero where there is none. ComFedL writes g(f(w)), Local-SCGDM and FedDRO write f(g(x)); the
    words inner and outer keep their letters apart.
    """

    clients: int
    client_weights: Tensor
    """Each client's share of all samples, [clients, 1, 1]."""

    def plain_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch of h."""

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return ∇h, each client's at its own x."""

    def plain_value(self, x: ClientVectors) -> Float[Tensor, "clients replicates"]:
        """Return the expected h at x."""

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


@runtime_checkable
class OuterLosses(Composition, Protocol):
    """A composition whose outer function can be sampled: a task's loss of an adapted model."""

    def outer_batch_value(
        self, y: InnerVectors, zeta: Tensor | None
    ) -> Float[Tensor, "clients replicates"]:
        """Return the outer function's value at y on a minibatch of ``outer_law``."""


@runtime_checkable
class OneSample(Composition, Protocol):
    """A composition whose inner and outer noise may come from one sample."""

    def same_sample(self, xi: Tensor) -> Tensor:
        """Return the outer draw that belongs to an inner draw."""


class Bilevel(Protocol):
    """Oracles of a bilevel problem: f_i of the upper level, g_i of the lower one.

    FedNest calls the levels outer and inner; here these words are a composition's. Points are x
    [clients, upper_dim, replicates] and y [clients, lower_dim, replicates], each client's own.
    """

    clients: int
    upper_dim: int
    """d_1, the dimension of x; the start (x_0, y_0) is a vector of d_1 + d_2."""
    lower_smoothness: float
    """ℓ_{g,1}, whose inverse is the step of a Neumann series."""

    def upper_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch ξ of f_i (None: its oracles are exact)."""

    def lower_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch ζ of g_i."""

    def upper_value(self, x: Tensor, y: Tensor) -> Float[Tensor, "clients replicates"]:
        """Return f_i(x, y), exactly."""

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇_x f_i(x, y; ξ), [clients, upper_dim, replicates]."""

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇_y f_i(x, y; ξ), [clients, lower_dim, replicates]."""

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇_y g_i(x, y; ζ), [clients, lower_dim, replicates]."""

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ∇_x g_i(x, y), exactly (no algorithm asks; ℓ_{g,1} is attacked with it)."""

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇²_yy g_i(x, y; ζ) v, [clients, lower_dim, replicates]."""

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇²_xy g_i(x, y; ζ) v, [clients, upper_dim, replicates]."""


def on_every_client(x: SharedVector, clients: int) -> ClientVectors:
    """Return x as each of ``clients`` clients sees it."""
    return x.expand(clients, *x.shape)


def has_term(problem: Any) -> bool:
    """Say whether F = f + h: whether what is least is no stationary point of f."""
    return "proximal" in OFFERS[problem.offers] and problem.offers != "class"


def feasible(problem: Any, x: SharedVector) -> SharedVector:
    """Return the nearest points of a problem's set; x itself where it has none."""
    if "set" not in OFFERS[problem.offers]:
        return x
    oracles = problem.oracles(x.dtype, str(x.device))
    nearest: SharedVector = oracles.project(on_every_client(x, problem.clients))[0]
    return nearest
