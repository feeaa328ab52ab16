"""Four convolutions, each followed by normalisation, ReLU and pooling, then a linear layer."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.network import Network, network
from driftproof.toolkit.networks._linear import linear
from driftproof.toolkit.networks._normalised import Normalisation, normalised, normalising
from driftproof.toolkit.parameters import PositiveInt


@network(
    name="four-convolutions",
    source="Finn, Abbeel & Levine 2017 (MAML), which both ComFedL and Local-SCGDM take it from",
    statement="4 × (3 × 3 convolution, normalisation, ReLU, 2 × 2 max-pooling), a linear layer",
)
class FourConvolutions(Network):
    """The network of few-shot learning: 32 filters for CIFAR-10, 64 for Omniglot.

    >>> FourConvolutions(filters=64).model((1, 28, 28), 5).dim
    112261

    Args:
        filters: of each convolution.
        blocks: how many convolutions; each halves the image, rounded down, while it has more than
            one pixel a side.
        normalisation: "batch" takes the statistics of the client's own minibatch; "group" those
            of one example; "none".
    """

    filters: PositiveInt = 32
    blocks: PositiveInt = 4
    normalisation: Normalisation = "batch"

    convolutional = True

    def shapes(self, example: tuple[int, ...], outputs: int) -> Mapping[str, tuple[int, ...]]:
        """Return those of the blocks and of the last layer.

        Raises:
            DriftproofError: an example is no image [channels, height, width].
        """
        if len(example) != 3:
            raise DriftproofError(
                f"{self} for examples of shape {example}",
                "images, of shape (channels, height, width)",
                "choose a data set of images, or Perceptron()",
            )
        channels, *sides = example
        shapes: dict[str, tuple[int, ...]] = {}
        for block in range(self.blocks):
            shapes |= {
                f"{block}.weight": (self.filters, channels, 3, 3),
                f"{block}.bias": (self.filters,),
                **normalising(f"{block}", self.filters, self.normalisation),
            }
            channels, sides = self.filters, [max(side // 2, 1) for side in sides]
        return shapes | {
            "last.weight": (outputs, channels * sides[0] * sides[1]),
            "last.bias": (outputs,),
        }

    def __call__(self, parameters: Mapping[str, Tensor], inputs: Tensor) -> Tensor:
        """Return the last layer's outputs."""
        values = inputs
        for block in range(self.blocks):
            weight, bias = parameters[f"{block}.weight"], parameters[f"{block}.bias"]
            values = functional.conv2d(values, weight, bias, padding=1)
            values = torch.relu(normalised(values, parameters, f"{block}", self.normalisation))
            values = functional.max_pool2d(values, [min(2, side) for side in values.shape[-2:]])
        return linear(values.flatten(1), parameters["last.weight"], parameters["last.bias"])
