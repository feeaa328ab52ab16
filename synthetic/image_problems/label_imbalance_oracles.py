r"""The oracles of label imbalance in closed form: softmax regression under a parametric loss.

A client's model is y = W [features, classes], flat, with the constant 1 among the features; its
logits are y(u) = Wᵀu. With x = (Δ, l) and s = δ(Δ)∘y(u) + l, δ(Δ) = Δ (FedNest's slides) or the
sigmoid of Δ (ucr-optml/FedNest), a training image (u, t) loses

    log(1 + Σ_{s≠t} e^{l_s − l_t} e^{δ_s y_s(u) − δ_t y_t(u)}) = log Σ_c e^{s_c} − s_t,

the cross entropy of s. Let e = softmax(s) − 1_t and J = diag(p) − ppᵀ with p = softmax(s). Then

* ∇_W = u (δ∘e)ᵀ + νW; in the direction V, with η = Vᵀu: ∇²_W V = u (δ∘J(δ∘η))ᵀ + νV;
* ∇²_xy v: in l it is J(δ∘η), in Δ it is δ'(Δ)∘(y(u)∘J(δ∘η) + e∘η);
* ∇_Δ = δ'(Δ)∘y(u)∘e and ∇_l = e.

The upper loss is w_t times the cross entropy of y(u) itself: it does not depend on x.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.image_problems.dealt import Drawn, Level
from driftproof.toolkit.draws import Indices, Law


class LabelImbalanceOracles:
    """The oracles of some clients; tensors are [clients, …, replicates].

    Args:
        train, validation: features and class numbers, [clients, images, …] of the federation.
        class_weights: w by class.
        clients: those held here.
        ridge: ν.
        coded: whether δ is the sigmoid, and f divides the weights of a minibatch by their sum.
        smoothness: ℓ_{g,1}.
    """

    def __init__(
        self,
        train: Sequence[np.ndarray],
        validation: Sequence[np.ndarray],
        class_weights: np.ndarray,
        *,
        clients: Sequence[int],
        ridge: float,
        coded: bool,
        smoothness: float,
        dtype: torch.dtype,
        device: str = "cpu",
    ) -> None:
        self.classes = len(class_weights)
        self.upper_dim = 2 * self.classes
        self.clients = len(clients)
        self.lower_smoothness = smoothness
        self._train, self._validation = (
            Level(part, class_weights, clients, dtype, device) for part in (train, validation)
        )
        self._ridge, self._coded = ridge, coded
        self._one = torch.ones((), dtype=dtype, device=device)

    def upper_law(self, batch: int) -> Law:
        """Validation images, with replacement."""
        return Indices(self._validation.sizes, batch)

    def lower_law(self, batch: int) -> Law:
        """Training images, with replacement."""
        return Indices(self._train.sizes, batch)

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        images = self._validation.at(None)
        scores = images.features @ self._model(y)
        losses = torch.logsumexp(scores, -1) - (scores * images.hot).sum(-1)
        return (losses * self._shares(images)).sum(-1)

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return 0: the validation loss is of the model alone."""
        return torch.zeros_like(x)

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇_y f_i(x, y; ξ)."""
        images = self._validation.at(xi)
        error = torch.softmax(images.features @ self._model(y), -1) - images.hot
        return _flat(images.features.mT @ (error * self._shares(images)[..., None]))

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇_y g_i(x, y; ζ)."""
        images, scale, _, _, error = self._errors(x, y, zeta)
        pulled = images.features.mT @ (scale * error) / error.shape[2]
        return _flat(pulled) + self._ridge * y

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ∇_x g_i(x, y), exactly."""
        _, _, slope, logits, error = self._errors(x, y, None)
        return _pair(slope * logits * error, error)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇²_yy g_i(x, y; ζ) v."""
        images, scale, _, _, error = self._errors(x, y, zeta)
        bent = _softmax_derivative(error + images.hot, scale * (images.features @ self._model(v)))
        return _flat(images.features.mT @ (scale * bent) / error.shape[2]) + self._ridge * v

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇²_xy g_i(x, y; ζ) v."""
        images, scale, slope, logits, error = self._errors(x, y, zeta)
        along = images.features @ self._model(v)
        bent = _softmax_derivative(error + images.hot, scale * along)
        return _pair(slope * (logits * bent + error * along), bent)

    def _errors(
        self, x: Tensor, y: Tensor, zeta: Tensor | None
    ) -> tuple[Drawn, Tensor, Tensor, Tensor, Tensor]:
        """Return the images, δ, δ', y(u) and e, [clients, replicates, batch, …] each."""
        images = self._train.at(zeta)
        scale, slope, shift = self._parameters(x)
        logits = images.features @ self._model(y)
        error = torch.softmax(scale * logits + shift, -1) - images.hot
        return images, scale, slope, logits, error

    def _parameters(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return δ, δ' and l, [clients, replicates, 1, classes] each."""
        both = x.transpose(1, 2)[:, :, None]
        delta, shift = both[..., : self.classes], both[..., self.classes :]
        if not self._coded:
            return delta, self._one, shift
        scale = torch.sigmoid(delta)
        return scale, scale * (1 - scale), shift

    def _model(self, y: Tensor) -> Tensor:
        """Return W, [clients, replicates, features, classes]."""
        clients, dim, replicates = y.shape
        return y.transpose(1, 2).reshape(clients, replicates, dim // self.classes, self.classes)

    def _shares(self, images: Drawn) -> Tensor:
        """Return how much each image counts in a mean, [clients, replicates, batch]."""
        weights = self._validation.weights[images.number]
        return weights / (weights.sum(-1, keepdim=True) if self._coded else weights.shape[-1])


def _softmax_derivative(p: Tensor, v: Tensor) -> Tensor:
    """Return (diag(p) − ppᵀ)v along the last axis."""
    return p * (v - (p * v).sum(-1, keepdim=True))


def _flat(matrices: Tensor) -> Tensor:
    """Return [clients, replicates, features, classes] as [clients, dim, replicates]."""
    return matrices.flatten(2).transpose(1, 2)


def _pair(of_delta: Tensor, of_shift: Tensor) -> Tensor:
    """Return the means over images as one vector in x, [clients, 2·classes, replicates]."""
    return torch.cat([of_delta.mean(2), of_shift.mean(2)], -1).transpose(1, 2)
