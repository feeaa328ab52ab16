"""How well models do on data: the mean loss and the share of right answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.network_problems.losses import class_numbers, loss_called
from driftproof.synthetic.network_problems.samples import piece_of
from driftproof.toolkit.network import Model


class Scores(NamedTuple):
    """Of each client's model on its data, [clients] each."""

    loss: np.ndarray
    accuracy: np.ndarray


@torch.no_grad()
def evaluated(
    model: Model,
    parameters: Sequence[Tensor],
    inputs: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    *,
    loss: str = "cross-entropy",
    levels: float = 255.0,
) -> Scores:
    """Return the scores of client k's parameters [dim] on its own inputs and class numbers.

    Args:
        levels: what bytes are divided by.
    """
    of_loss, scores = loss_called(loss), []
    for own, part, wanted in zip(parameters, inputs, targets, strict=True):
        total, right = 0.0, 0
        length = piece_of(part.ndim - 1)
        for first in range(0, len(part), length):
            piece = torch.from_numpy(np.asarray(part[first : first + length])).to(own.device)
            classes = torch.from_numpy(np.asarray(wanted[first : first + length])).to(own.device)
            scaled = piece.to(own.dtype) / (1.0 if piece.is_floating_point() else levels)
            if scaled.dim() == 4:
                scaled = scaled.contiguous(memory_format=torch.channels_last)
            outputs = model(own, scaled)
            total += float(of_loss(outputs, classes).sum())
            right += int((class_numbers(outputs) == classes).sum())
        scores.append((total / len(part), right / len(part)))
    return Scores(*map(np.array, zip(*scores, strict=True)))
