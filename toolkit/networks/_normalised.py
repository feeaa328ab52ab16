"""Normalisation that is well defined for clients that train together.

Batch statistics are those of a client's own minibatch, in training and in test: there are no
running averages, which would be a state beside the parameters that no algorithm sends. Groups are
of channels within one example, so nothing depends on the rest of the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import torch
from torch import Tensor

Normalisation: TypeAlias = Literal["none", "batch", "group"]
GROUPS = 8
"""Groups of channels; as many as divide the channels, at most this."""


def normalised(
    values: Tensor, parameters: Mapping[str, Tensor], name: str, kind: Normalisation
) -> Tensor:
    """Return [batch, channels, …] normalised, with the scale and the shift of this name."""
    if kind == "none":
        return values
    scale, shift = parameters[f"{name}.scale"], parameters[f"{name}.shift"]
    if kind == "batch" and values.numel() == len(scale):  # one number a channel is its own mean
        return 0 * values + shift.view(-1, *[1] * (values.dim() - 2))
    if kind == "batch":
        return torch.nn.functional.batch_norm(values, None, None, scale, shift, training=True)
    channels = len(scale)
    groups = next(count for count in range(GROUPS, 0, -1) if channels % count == 0)
    return torch.nn.functional.group_norm(values, groups, scale, shift)


def normalising(name: str, channels: int, kind: Normalisation) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a normalisation's parameters."""
    return {} if kind == "none" else {f"{name}.scale": (channels,), f"{name}.shift": (channels,)}
