"""A fully connected network with one hidden layer or more."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import prod

import torch
from torch import Tensor

from driftproof.toolkit.network import Network, network
from driftproof.toolkit.networks._linear import linear
from driftproof.toolkit.parameters import PositiveInt


@network(
    name="perceptron",
    source="Local-SCGDM (2022), section 5.1: two layers, 40 hidden units",
    statement="linear layers with biases, ReLU between them",
)
class Perceptron(Network):
    """Linear layers and ReLU; the default is the sine wave's net of 40 units.

    >>> Perceptron().model((1,), 1).dim
    121

    Args:
        hidden: units of a hidden layer.
        hidden_layers: how many. "A two-layer network with 40 hidden units" is read as one.
    """

    several = True

    hidden: PositiveInt = 40
    hidden_layers: PositiveInt = 1

    def shapes(self, example: tuple[int, ...], outputs: int) -> Mapping[str, tuple[int, ...]]:
        """Return those of each layer's weights and bias."""
        widths = [prod(example), *[self.hidden] * self.hidden_layers, outputs]
        shapes: dict[str, tuple[int, ...]] = {}
        for layer, (before, after) in enumerate(pairwise(widths)):
            shapes |= {f"{layer}.weight": (after, before), f"{layer}.bias": (after,)}
        return shapes

    def __call__(self, parameters: Mapping[str, Tensor], inputs: Tensor) -> Tensor:
        """Return the last layer's outputs."""
        values = inputs.flatten(parameters["0.weight"].dim() - 1)
        for layer in range(self.hidden_layers + 1):
            weight, bias = parameters[f"{layer}.weight"], parameters[f"{layer}.bias"]
            values = linear(torch.relu(values) if layer else values, weight, bias)
        return values
