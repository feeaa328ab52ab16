r"""Meta-learning on networks: the loss after one gradient step on each task, plain or robust.

With f_kj the mean loss of client k's task j, f_k(u) = (1/J) Σ_j f_kj(u_j) for u = (u_1, …, u_J):

* inner x ↦ u, u_j = x − α∇f_kj(x), all tasks one after another in one vector of J·dim numbers;
* outer f_k (ComFedL's (7), Local-SCGDM's (8)), or exp(f_k/γ), ComFedL's (10).

The Jacobian I − α∇²f_kj is never formed: its pullback is a second backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from driftproof.synthetic.network_problems.base import Held, NetworkProblem
from driftproof.synthetic.network_problems.means import SampleMeans
from driftproof.toolkit.composition import CompositionProblem, NoPlainPart
from driftproof.toolkit.draws import Law
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback
from driftproof.toolkit.parameters import NonNegative, Positive


@dataclass(frozen=True, eq=False, kw_only=True)
class AdaptedLosses(NetworkProblem, CompositionProblem):
    """MAML's objective.

    Args:
        adaptation: α, the step on a task.
        temperature: γ of the robust form (0: the plain mean over clients).
        query: the samples of the outer loss (None: those of the inner step).
    """

    adaptation: Positive = 0.1
    temperature: NonNegative = 0.0
    query: Held | None = None

    offers = "tasks"

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> AdaptedOracles:
        """Return the oracles of some clients."""
        support = self.data.held(dtype, device, clients)
        query = support if self.query is None else self.query.held(dtype, device, clients)
        means = self.means(support, device), self.means(query, device)
        return AdaptedOracles(*means, self.adaptation, self.temperature)


class AdaptedOracles(NoPlainPart):
    """The oracles of a composition; tensors are [clients, …, replicates].

    Args:
        support, query: the mean losses of the inner step and of the outer loss.
        adaptation: α.
        temperature: γ, or 0.
    """

    def __init__(
        self, support: SampleMeans, query: SampleMeans, adaptation: float, temperature: float
    ) -> None:
        self._support, self._query = support, query
        self._adaptation, self._temperature = adaptation, temperature
        self.clients, self.client_weights = support.source.clients, support.source.client_weights
        self._tasks = support.source.tasks

    def inner_law(self, batch: int) -> Law | None:
        """Return the law of the samples of the inner step."""
        return self._support.source.law(batch)

    def outer_law(self, batch: int) -> Law | None:
        """Return the law of the samples of the outer loss."""
        return self._query.source.law(batch)

    def same_sample(self, xi: Tensor) -> Tensor:
        """Return what the outer loss takes where ξ is also its sample: the same draw.

        Raises:
            DriftproofError: the two losses draw by other laws.
        """
        inner, outer = self._support.source.law(1), self._query.source.law(1)
        if inner != outer:
            raise DriftproofError(
                f"one sample for an inner loss that draws {inner} and an outer one, {outer}",
                "a draw that says what both see, as that of a few-shot task",
                'use samples="two", or the same data for both',
            )
        return xi

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return the adapted parameters of every task, and v ↦ Σ_j (I − α∇²f_kj)v_j."""
        gradient, product = self._support.each_gradient(x, xi)
        rate, tasks = self._adaptation, self._tasks

        def pullback(v: Tensor) -> Tensor:
            total = v if tasks == 1 else v.reshape(len(v), tasks, -1, v.shape[2]).sum(1)
            return total - rate * product(v)

        return x.repeat(1, tasks, 1) - rate * gradient, pullback

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return ∇f_k(y; ζ), times exp(f_k(y; ζ)/γ)/γ in the robust form."""
        if not self._temperature:
            return self._query.gradient(y, zeta) / self._tasks
        value, gradient = self._query.value_and_gradient(y, zeta)
        gamma, mean = self._temperature, value.mean(1, keepdim=True)
        return torch.exp(mean / gamma) / gamma * gradient / self._tasks

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return f_k(y), or exp(f_k(y)/γ), [clients, replicates]."""
        return self._outer(y, None)

    def outer_batch_value(self, y: InnerVectors, zeta: Tensor | None) -> Tensor:
        """Return the same of a minibatch."""
        return self._outer(y, zeta)

    def _outer(self, y: InnerVectors, zeta: Tensor | None) -> Tensor:
        mean = self._query.value(y, zeta).mean(1)
        return torch.exp(mean / self._temperature) if self._temperature else mean
