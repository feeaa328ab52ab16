r"""Oracles of robust objectives over samples, Φ = h + f(g) with means over the losses ℓ of samples.

* "kl": g = mean exp(ℓ/λ), f(y) = λ log y, h = 0;
* "chi-square": g = mean ℓ, f(y) = −y²/(2λ), h = mean(ℓ + ℓ²/(2λ)).

What Φ is a robust form of, and its constants: ``synthetic.problems.penalised_dro``.
"""

import torch
from torch import Tensor

from driftproof.toolkit.composition import NoOuterNoise
from driftproof.toolkit.draws import Law
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback, SampleLosses


class PenalisedOracles(NoOuterNoise, SampleLosses):
    """The oracles of Φ; a subclass has those of the losses.

    Attributes:
        divergence, penalty: "kl" or "chi-square", and λ.
        sizes: the inverse of each sample's share of its client's, [clients, samples, 1] (None: of
            each client all samples count the same).
    """

    divergence: str
    penalty: float
    sizes: Tensor | None = None

    def _sized(self, x: ClientVectors, xi: Tensor | None) -> tuple[Tensor, Pullback, int | Tensor]:
        """Return the losses, their pullback, and by what each is divided in a mean."""
        losses, pull = self.sample_losses(x, xi)
        same = xi is not None or self.sizes is None
        return losses, pull, losses.shape[1] if same else self.sizes  # type: ignore[return-value]

    def inner_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch of g."""
        return self.field_law(batch)

    def plain_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch of h (none for KL, where h = 0)."""
        return None if self.divergence == "kl" else self.field_law(batch)

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return the mean of exp(ℓ/λ), or of ℓ."""
        (losses, pull, size), penalty = self._sized(x, xi), self.penalty
        if self.divergence != "kl":
            return _mean(losses, size), lambda v: pull(v.expand_as(losses) / size)
        scaled = torch.exp(losses / penalty)
        return _mean(scaled, size), lambda v: pull(v * scaled / (penalty * size))

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return λ/y, or −y/λ."""
        return self.penalty / y if self.divergence == "kl" else -y / self.penalty

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return λ log y, or −y²/(2λ), [clients, replicates]."""
        kl, penalty = self.divergence == "kl", self.penalty
        value = penalty * torch.log(y) if kl else -(y**2) / (2 * penalty)
        return value[:, 0]

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return the mean of (1 + ℓ/λ)∇ℓ, or 0."""
        if self.divergence == "kl":
            return torch.zeros_like(x)
        losses, pull, size = self._sized(x, xi)
        return pull((1 + losses / self.penalty) / size)

    def plain_value(self, x: ClientVectors) -> Tensor:
        """Return the mean of ℓ + ℓ²/(2λ), or 0, [clients, replicates]."""
        if self.divergence == "kl":
            return x.new_zeros((x.shape[0], x.shape[2]))
        losses, _, size = self._sized(x, None)
        return _mean(losses + losses**2 / (2 * self.penalty), size)[:, 0]


def _mean(values: Tensor, size: int | Tensor) -> Tensor:
    """Return the mean over samples, [clients, 1, replicates]."""
    if isinstance(size, int):
        return values.mean(1, keepdim=True)
    return (values / size).sum(1, keepdim=True)
