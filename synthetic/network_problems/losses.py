"""What a network's outputs are compared with: the loss of each sample of a batch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from driftproof.toolkit.errors import unknown_name

Loss = Callable[[Tensor, Tensor], Tensor]
"""(outputs [batch, outputs], targets [batch, …]) ↦ losses [batch]."""


def cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return −log softmax(outputs)_target, for class numbers."""
    right = outputs.gather(1, targets[:, None])[:, 0]
    return torch.logsumexp(outputs, 1) - right  # under vmap, faster than torch's cross_entropy


def logistic(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return log(1 + e^{−s·output}) with s = ±1, for one output and classes 0 and 1."""
    return functional.softplus((1 - 2 * targets.to(outputs)) * outputs[:, 0])


def square(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return ‖output − target‖², PyTorch's MSELoss for one output."""
    return (outputs - targets.reshape(outputs.shape)).square().sum(1)


LOSSES: dict[str, Loss] = {"cross-entropy": cross_entropy, "logistic": logistic, "square": square}


def loss_called(name: str) -> Loss:
    """Return a loss by its name.

    Raises:
        DriftproofError: there is none of this name.
    """
    if name not in LOSSES:
        raise unknown_name("loss", name, LOSSES)
    return LOSSES[name]


def class_numbers(outputs: Tensor) -> Tensor:
    """Return the predicted class of each row: the largest output, or the sign of a single one."""
    return (outputs[:, 0] > 0).long() if outputs.shape[1] == 1 else torch.argmax(outputs, 1)
