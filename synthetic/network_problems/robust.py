r"""Robust objectives on networks, as compositions.

* over clients, ComFedL's (6): F(x) = (1/K) Σ_k exp(f_k(x)/γ), inner f_k, outer exp(·/γ);
* over samples, FedDRO's (3) in the form Φ = h + f(g) of ``synthetic.oracles.penalised``, g the mean
  over clients. ``synthetic.problems.penalised_dro`` has proven constants, of a linear model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from driftproof.synthetic.network_problems.base import NetworkProblem
from driftproof.synthetic.network_problems.means import SampleMeans
from driftproof.synthetic.network_problems.plain import NetworkLossOracles
from driftproof.synthetic.oracles.penalised import PenalisedOracles
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
    ) -> RobustSampleOracles:
        """Return the oracles of some clients."""
        means = self.means(self.data.held(dtype, device, clients), device)
        return RobustSampleOracles(means, self)


class RobustSampleOracles(NetworkLossOracles, PenalisedOracles):
    """The losses of single samples, and the objective that is a robust form of them."""

    def __init__(self, means: SampleMeans, of: RobustSamples) -> None:
        super().__init__(means)
        self.divergence, self.penalty = of.divergence, of.penalty
        self.sizes = 1 / self.sample_weights


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
