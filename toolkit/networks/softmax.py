"""Softmax regression: one linear layer."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
from torch import Tensor

from driftproof.toolkit.network import Network, network
from driftproof.toolkit.networks._linear import linear


@network(
    name="softmax-regression",
    source="the models of ComFedL's section 5.1 and of FedDRO's figure 3 (there with one output)",
    statement="one linear layer with a bias; starts from 0",
)
class SoftmaxRegression(Network):
    """A linear layer on the flat example; with a logistic loss and one output, logistic regression.

    >>> SoftmaxRegression().model((2, 3), 4).dim
    28
    """

    several = True

    def shapes(self, example: tuple[int, ...], outputs: int) -> Mapping[str, tuple[int, ...]]:
        """Return those of the weights and the bias."""
        return {"weight": (outputs, prod(example)), "bias": (outputs,)}

    def __call__(self, parameters: Mapping[str, Tensor], inputs: Tensor) -> Tensor:
        """Return W u + b."""
        weight = parameters["weight"]
        return linear(inputs.flatten(weight.dim() - 1), weight, parameters["bias"])

    def initial(
        self, shapes: Mapping[str, tuple[int, ...]], random: np.random.Generator
    ) -> np.ndarray:
        """Return 0: the loss is convex, and every start is as good."""
        return np.zeros(sum(map(prod, shapes.values())))
