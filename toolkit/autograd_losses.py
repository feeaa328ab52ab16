r"""Losses of single samples as oracles, by automatic differentiation, and the problem they make.

loss(x, sample) is a torch function of a flat vector x [dim] and *one* sample, a tuple of tensors;
client i has f_i(x) = (1/n_i) Σ_j loss(x, sample_ij), its gradient by reverse mode, both of a
minibatch too (``Indices``), and the losses of samples one by one. Functions run under vmap, as in
``toolkit.autograd_bilevel``: they may not look at values.

Logistic regression, client 1 with two samples and client 2 with one:

>>> import torch
>>> def logistic(x, sample):
...     a, label = sample
...     return torch.nn.functional.softplus(-label * (a @ x))
>>> data = [([[1.0, 0.0], [0.0, 2.0]], [1.0, -1.0]), ([[1.0, 1.0]], [1.0])]
>>> oracles = AutogradLosses(logistic, data=data)
>>> oracles.field_grad(torch.zeros(2, 2, 1, dtype=torch.float64), None)[:, :, 0].tolist()
[[-0.25, 0.5], [-0.5, -0.5]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor
from torch.func import grad

from driftproof.toolkit.client_samples import ClientSamples, Sample, mean_of, of_samples
from driftproof.toolkit.draws import Law
from driftproof.toolkit.oracles import (
    ClientVectors,
    Losses,
    Pullback,
    SharedVector,
    Values,
    on_every_client,
)
from driftproof.toolkit.problem import Problem

Loss: TypeAlias = Callable[[Tensor, Sample], Tensor]


class LossesProblem(Problem):
    """F(x) = (1/n) Σ f_i(x), f_i the mean loss of client i: F and ∇F are those of the oracles.

    Constants, start and solution are yours to give; ``AutogradLosses`` makes the oracles.
    """

    @property
    def offers(self) -> str:
        """A loss for each sample."""
        return "samples"

    def objective(self, x: SharedVector) -> Values:
        """Return F(x), the clients' mean."""
        losses: Losses = self.oracles_for(x)
        return losses.mean_loss(on_every_client(x, self.clients)).mean(0)

    def gradient(self, x: SharedVector) -> SharedVector:
        """Return ∇F(x)."""
        return self.client_gradients(x).mean(0)

    def client_gradients(self, x: SharedVector) -> ClientVectors:
        """Return each ∇f_i(x)."""
        losses: Losses = self.oracles_for(x)
        return losses.field_grad(on_every_client(x, self.clients), None)


class AutogradLosses:
    """The oracles of ``toolkit.oracles.SampleLosses``.

    Args:
        loss: of one sample, a scalar; differentiable in torch.
        data: for each client of the federation a tuple of tensors [samples_i, …]; clients may have
            different numbers of samples.
        clients: those held here (all of them, except on the wire).
        together: whether ``loss`` is a function of a batch, tensors [batch, …], and gives a number
            for each of its samples.
        dtype: of the data that are floating-point numbers; class numbers stay whole.
    """

    def __init__(
        self,
        loss: Loss,
        *,
        data: Sequence[Sample],
        clients: range | None = None,
        together: bool = False,
        dtype: torch.dtype = torch.float64,
        device: str = "cpu",
    ) -> None:
        chosen = range(len(data)) if clients is None else clients
        self.clients, self._data = len(chosen), ClientSamples(data, chosen, dtype, device)
        self.client_weights = self._data.client_weights
        self.sample_weights = self._data.shares[:, :, None]
        self._each, self._mean = of_samples(loss, together), mean_of(loss, together)

    def field_law(self, batch: int) -> Law | None:
        """Return sample numbers, or None where every client has one sample."""
        return self._data.law(batch)

    def field_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return each client's minibatch gradient at its own x."""
        return self._data.each(grad(self._mean), xi, x)

    def mean_loss(self, x: ClientVectors) -> Tensor:
        """Return each f_i at its own x, [clients, replicates]."""
        return self.batch_loss(x, None)

    def batch_loss(self, x: ClientVectors, xi: Tensor | None) -> Tensor:
        """Return each client's minibatch loss at its own x, [clients, replicates]."""
        return self._data.each(self._mean, xi, x)

    def sample_losses(self, x: ClientVectors, xi: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return the losses of samples, [clients, batch, replicates], and v ↦ Σ_j v_j ∇ℓ_j(x)."""
        losses = self._data.apply(lambda sample, share, x: self._each(x, sample), xi, x)

        def pullback(v: Tensor) -> Tensor:
            weighted = grad(lambda x, sample, v: v @ self._each(x, sample))
            return self._data.apply(lambda sample, share, x, v: weighted(x, sample, v), xi, x, v)

        return losses, pullback
