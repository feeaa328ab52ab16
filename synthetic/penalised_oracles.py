"""The oracles of ``synthetic.problems.penalised_dro``, where the formulas stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from toolkit.draws import Indices, Law
from toolkit.oracles import ClientVectors, InnerVectors, Pullback

if TYPE_CHECKING:
    from synthetic.problems.penalised_dro import PenalisedDRO


class PenalisedOracles:
    """The oracles in one dtype; losses of samples are [clients, samples, replicates]."""

    def __init__(self, of: PenalisedDRO, dtype: torch.dtype, device: str, clients: range) -> None:
        chosen = list(clients)
        self._of, self.clients = of, len(chosen)
        self._rows = torch.from_numpy(of.rows[chosen]).to(device, dtype)
        self._number = torch.arange(len(chosen), device=device)[:, None, None]
        share = torch.full((len(chosen), 1, 1), 1.0 / of.clients, dtype=dtype, device=device)
        self.client_weights = share
        self._kl = of.divergence == "kl"

    def inner_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch: sample numbers, with replacement."""
        return Indices((self._of.samples,) * self._of.clients, batch)

    def outer_law(self, batch: int) -> Law | None:
        """The outer function has no noise."""
        return None

    def plain_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch of h (none for KL, where h = 0)."""
        return None if self._kl else self.inner_law(batch)

    def sample_losses(self, x: ClientVectors, xi: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return the losses of all samples or of some, and v ↦ Σ v_i ∇ℓ_i."""
        if xi is None:
            scores = self._rows @ x
        else:
            taken = self._rows[self._number, xi]  # [clients, batch, replicates, dim]
            scores = torch.einsum("kbrd,kdr->kbr", taken, x)
        slopes = -torch.sigmoid(-scores)

        def pullback(v: Tensor) -> Tensor:
            if xi is None:
                return self._rows.mT @ (v * slopes)
            return torch.einsum("kbr,kbrd->kdr", v * slopes, taken)

        return torch.nn.functional.softplus(-scores), pullback

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return the mean of exp(ℓ/λ), or of ℓ."""
        losses, pull = self.sample_losses(x, xi)
        size, penalty = losses.shape[1], self._of.penalty
        if not self._kl:
            return losses.mean(1, keepdim=True), lambda v: pull(v.expand_as(losses) / size)
        scaled = torch.exp(losses / penalty)
        return scaled.mean(1, keepdim=True), lambda v: pull(v * scaled / (penalty * size))

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return λ/y, or −y/λ."""
        return self._of.penalty / y if self._kl else -y / self._of.penalty

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return λ log y, or −y²/(2λ)."""
        penalty = self._of.penalty
        made = penalty * torch.log(y) if self._kl else -(y**2) / (2 * penalty)
        return made[:, 0]

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return the mean of (1 + ℓ/λ)∇ℓ, or 0."""
        if self._kl:
            return torch.zeros_like(x)
        losses, pull = self.sample_losses(x, xi)
        return pull((1 + losses / self._of.penalty) / losses.shape[1])

    def plain_value(self, x: ClientVectors) -> Tensor:
        """Return the mean of ℓ + ℓ²/(2λ), or 0."""
        if self._kl:
            return x.new_zeros((x.shape[0], x.shape[2]))
        losses, _ = self.sample_losses(x, None)
        return (losses + losses**2 / (2 * self._of.penalty)).mean(1)
