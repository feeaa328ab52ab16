"""Oracles of KL-robust objectives over clients with a linear model."""

import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.linear_model import LinearModel
from driftproof.toolkit.composition import NoOuterNoise
from driftproof.toolkit.draws import Law
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback


class DROOracles(NoOuterNoise):
    """Inner losses and an outer exponential (6), inner exponentials and an outer log (5), or none.

    Args:
        model: the clients' mean losses f^i.
        form: "exp", "log" or "average".
        temperature: γ.
    """

    def __init__(self, model: LinearModel, *, form: str, temperature: float) -> None:
        self.model = model
        self.clients = model.clients
        self.form = form
        self.temperature = temperature
        shares = [len(part) / sum(model.sizes) for part in model.features]
        self.client_weights = model.rows.new_tensor(shares)[:, None, None]
        self.sample_weights = model.sample_weights
        self.sample_losses = model.sample_losses

    def inner_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch of the loss (none in form "log": whole batches).

        Raises:
            DriftproofError: in form "log" for a batch other than 1.
        """
        if self.form == "exp":
            return self.model.law(batch)
        if self.form == "log" and batch != 1:
            raise DriftproofError(
                f"batch = {batch} for form 'log'",
                "the whole batch: the mean of exp(f_B/γ) is not exp(f/γ)",
                "leave batch at 1; each step then takes all of a client's samples",
            )
        return None

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return f^i_B, or exp(f^i/γ) in form "log"."""
        value, pullback = self.model(x, xi)
        if self.form != "log":
            return value, pullback
        scaled = torch.exp(value / self.temperature)
        return scaled, lambda v: pullback(v * scaled / self.temperature)

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return exp(y/γ)/γ, γ/y in form "log", 0 in form "average"."""
        if self.form == "exp":
            return torch.exp(y / self.temperature) / self.temperature
        return self.temperature / y if self.form == "log" else torch.zeros_like(y)

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return exp(y/γ), γ log y, or 0."""
        if self.form == "exp":
            return torch.exp(y / self.temperature)[:, 0]
        value = self.temperature * torch.log(y) if self.form == "log" else torch.zeros_like(y)
        return value[:, 0]

    def field_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch of the loss in form "average"."""
        return self.model.law(batch) if self.form == "average" else None

    def field_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return ∇f^i_B in form "average", else 0."""
        if self.form != "average":
            return torch.zeros_like(x)
        value, pullback = self.model(x, xi)
        return pullback(torch.ones_like(value))

    def mean_loss(self, x: ClientVectors) -> Tensor:
        """Return f^i in form "average", else 0."""
        return self.batch_loss(x, None)

    def batch_loss(self, x: ClientVectors, xi: Tensor | None) -> Tensor:
        """Return f^i_B in form "average", else 0."""
        if self.form != "average":
            return x.new_zeros((x.shape[0], x.shape[2]))
        value: Tensor = self.model(x, xi)[0]
        return value[:, 0]

    plain_law, plain_grad, plain_value = field_law, field_grad, mean_loss
    """As a composition h is the average of the losses, or 0."""


def saddle_value(losses: Tensor, r: Tensor, temperature: float) -> Tensor:
    """Return Σ r_i f_i − γ Σ r_i log(n r_i), [replicates]; 0 log 0 = 0."""
    entropy: Tensor = torch.special.xlogy(r, len(losses) * r)
    return (r * losses - temperature * entropy).sum(0)


def robust_weights(losses: Tensor, temperature: float) -> Tensor:
    """Return softmax(f/γ) over clients, [clients, replicates]."""
    weights: Tensor = torch.softmax(losses / temperature, 0)
    return weights
