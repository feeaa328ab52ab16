r"""Robust objectives on networks, as compositions.

* over clients, ComFedL's (6): F(x) = (1/K) Σ_k exp(f_k(x)/γ), inner f_k, outer exp(·/γ);
* over samples, FedDRO's (3) in the form Φ = h + f(g), g the mean over clients:
  - "kl": g = mean exp(ℓ/λ), f(y) = λ log y, h = 0;
  - "chi-square": g = mean ℓ, f(y) = −y²/(2λ), h = mean(ℓ + ℓ²/(2λ)).

The formulas of f and of the outer gradients are those of ``synthetic.problems.penalised_dro``,
whose linear model has proven constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from driftproof.synthetic.network_problems.base import NetworkProblem
from driftproof.synthetic.network_problems.means import SampleMeans
from driftproof.synthetic.network_problems.plain import NetworkLossOracles
from driftproof.toolkit.composition import CompositionProblem, NoOuterNoise, NoPlainPart
from driftproof.toolkit.draws import Law
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback
from driftproof.toolkit.parameters import Positive


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustClients(NetworkProblem, CompositionProblem):
    """ComFedL's robust objective over clients.

    Args:
        temperature: γ.
    """

    temperature: Positive = 1.0

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> RobustClientOracles:
        """Return the oracles of some clients."""
        means = self.means(self.data.held(dtype, device, clients), device)
        return RobustClientOracles(means, self.temperature)


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustSamples(NetworkProblem, CompositionProblem):
    """FedDRO's penalised robust objective over all samples.

    Args:
        divergence: "kl" or "chi-square".
        penalty: λ.
    """

    divergence: Literal["kl", "chi-square"] = "kl"
    penalty: Positive = 1.0

    offers = "composition-of-samples"
    inside = True

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> KLOracles | ChiSquareOracles:
        """Return the oracles of some clients."""
        source, losses, penalty = (
            self.data.held(dtype, device, clients), self.losses_of_samples(), self.penalty
        )  # fmt: skip
        plain = self.means(source, device)

        def exponential(*batch: Tensor) -> Tensor:
            return torch.exp(losses(*batch) / penalty)

        def raised(*batch: Tensor) -> Tensor:
            loss = losses(*batch)
            return loss + loss.square() / (2 * penalty)

        if self.divergence == "kl":
            return KLOracles(plain, self.means(source, device, exponential), penalty)
        return ChiSquareOracles(plain, self.means(source, device, raised), penalty)


class InnerMean(NoOuterNoise):
    """An inner value that is a mean over samples; no noise in the outer function."""

    def __init__(self, inner: SampleMeans) -> None:
        self._inner = inner
        self.clients, self.client_weights = inner.source.clients, inner.source.client_weights

    def inner_law(self, batch: int) -> Law | None:
        """Return sample numbers with replacement."""
        return self._inner.source.law(batch)

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return the minibatch mean, [clients, 1, replicates], and its pullback."""
        return self._inner.pulled(x, xi)


class PlainMean:
    """A plain part that is a mean over samples."""

    def __init__(self, plain: SampleMeans) -> None:
        self._plain = plain

    def plain_law(self, batch: int) -> Law | None:
        """Return sample numbers with replacement."""
        return self._plain.source.law(batch)

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return the gradient of the minibatch mean."""
        return self._plain.gradient(x, xi)

    def plain_value(self, x: ClientVectors) -> Tensor:
        """Return the mean over all samples, [clients, replicates]."""
        return self._plain.value(x, None)[:, 0]


class _InnerMeanOfSamples(InnerMean, NetworkLossOracles):
    """The same, beside the losses of single samples, of which the objective is a robust form."""

    def __init__(self, plain: SampleMeans, inner: SampleMeans, penalty: float) -> None:
        NetworkLossOracles.__init__(self, plain)
        InnerMean.__init__(self, inner)
        self._penalty = penalty


class RobustClientOracles(InnerMean, NoPlainPart):
    """Inner losses and an outer exponential."""

    def __init__(self, means: SampleMeans, temperature: float) -> None:
        super().__init__(means)
        self._temperature = temperature

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return exp(y/γ)/γ."""
        return torch.exp(y / self._temperature) / self._temperature

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return exp(y/γ), [clients, replicates]."""
        return torch.exp(y / self._temperature)[:, 0]


class KLOracles(_InnerMeanOfSamples, NoPlainPart):
    """Inner exponentials and an outer logarithm."""

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return λ/y."""
        return self._penalty / y

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return λ log y, [clients, replicates]."""
        return self._penalty * torch.log(y)[:, 0]


class ChiSquareOracles(_InnerMeanOfSamples, PlainMean):
    """The inner mean loss, an outer square, and the mean of ℓ + ℓ²/(2λ) as plain part."""

    def __init__(self, losses: SampleMeans, raised: SampleMeans, penalty: float) -> None:
        super().__init__(losses, losses, penalty)
        PlainMean.__init__(self, raised)

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return −y/λ."""
        return -y / self._penalty

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return −y²/(2λ), [clients, replicates]."""
        return -y.square()[:, 0] / (2 * self._penalty)
