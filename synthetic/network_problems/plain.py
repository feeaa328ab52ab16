r"""The mean of the clients' losses: F(x) = (1/K) Σ_k f_k(x), f_k the mean loss of client k."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from driftproof.synthetic.network_problems.base import NetworkProblem
from driftproof.synthetic.network_problems.means import SampleMeans
from driftproof.toolkit.draws import Law
from driftproof.toolkit.oracles import (
    ClientVectors,
    Pullback,
    SharedVector,
    Values,
    on_every_client,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkLosses(NetworkProblem):
    """The clients' mean losses, for FedAvg and all that asks for losses or gradients.

    >>> import numpy as np
    >>> from driftproof.synthetic.network_problems.samples import ClientData
    >>> from driftproof.toolkit.networks import SoftmaxRegression
    >>> data = ClientData([np.ones((1, 2)), np.zeros((1, 2))], [np.array([0]), np.array([1])])
    >>> problem = NetworkLosses(model=SoftmaxRegression().model((2,), 2), data=data)
    >>> round(float(problem.objective(torch.zeros(6, 1, dtype=torch.float64))), 5)  # log 2
    0.69315
    """

    offers = "samples"

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> NetworkLossOracles:
        """Return the oracles of some clients."""
        return NetworkLossOracles(self.means(self.data.held(dtype, device, clients), device))

    def objective(self, x: SharedVector) -> Values:
        """Return F(x)."""
        oracles = self.oracles(x.dtype, str(x.device))
        return oracles.mean_loss(on_every_client(x, self.clients)).mean(0)

    def gradient(self, x: SharedVector) -> SharedVector:
        """Return ∇F(x)."""
        return self.client_gradients(x).mean(0)

    def client_gradients(self, x: SharedVector) -> ClientVectors:
        """Return each ∇f_k(x)."""
        oracles = self.oracles(x.dtype, str(x.device))
        return oracles.field_grad(on_every_client(x, self.clients), None)


class NetworkLossOracles:
    """The oracles of ``toolkit.oracles.SampleLosses``; tensors are [clients, …, replicates]."""

    def __init__(self, means: SampleMeans) -> None:
        self._means = means
        self.clients, self.client_weights = means.source.clients, means.source.client_weights
        if hasattr(means.source, "sample_weights"):  # drawn points are no list of samples
            self.sample_weights = means.source.sample_weights

    def field_law(self, batch: int) -> Law | None:
        """Return sample numbers with replacement."""
        return self._means.source.law(batch)

    def field_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return each client's minibatch gradient at its own x."""
        return self._means.gradient(x, xi)

    def mean_loss(self, x: ClientVectors) -> Tensor:
        """Return each client's mean loss, [clients, replicates]."""
        return self.batch_loss(x, None)

    def batch_loss(self, x: ClientVectors, xi: Tensor | None) -> Tensor:
        """Return each client's minibatch loss, [clients, replicates]."""
        return self._means.value(x, xi)[:, 0]

    def sample_losses(self, x: ClientVectors, xi: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return the losses of samples, [clients, batch, replicates], and v ↦ Σ_j v_j ∇ℓ_j."""
        return self._means.samples(x, xi)
