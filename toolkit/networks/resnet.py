"""ResNet-20 for small images (He, Zhang, Ren & Sun 2016, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.network import Network, network
from driftproof.toolkit.networks._linear import linear
from driftproof.toolkit.networks._normalised import Normalisation, normalised, normalising
from driftproof.toolkit.parameters import PositiveInt


@network(
    name="resnet",
    source="He, Zhang, Ren & Sun 2016, section 4.2; FedDRO (2023), section 6",
    statement="a 3 × 3 convolution, 3 stages of residual blocks with 16, 32, 64 channels, the mean "
    "over pixels, a linear layer: 6·blocks + 2 layers",
)
class ResNet(Network):
    """Residual network; the default is ResNet-20. Shortcuts have no parameters ("option A").

    >>> ResNet().model((3, 32, 32), 10).dim
    269722

    Args:
        width: channels of the first stage; the others have two and four times as many.
        blocks: residual blocks a stage.
        normalisation: "batch" (as printed by its authors) takes the statistics of the client's own
            minibatch; "group" those of one example; "none".
    """

    width: PositiveInt = 16
    blocks: PositiveInt = 3
    normalisation: Normalisation = "batch"

    convolutional = True

    def shapes(self, example: tuple[int, ...], outputs: int) -> Mapping[str, tuple[int, ...]]:
        """Return those of the convolutions, the normalisations and the last layer.

        Raises:
            DriftproofError: an example is no image [channels, height, width].
        """
        if len(example) != 3:
            raise DriftproofError(
                f"{self} for examples of shape {example}",
                "images, of shape (channels, height, width)",
                "choose a data set of images, or Perceptron()",
            )
        shapes: dict[str, tuple[int, ...]] = {}
        for name, before, after, _ in self._convolutions(example[0]):
            shapes[f"{name}.weight"] = (after, before, 3, 3)
            shapes |= normalising(name, after, self.normalisation)
        return shapes | {"last.weight": (outputs, 4 * self.width), "last.bias": (outputs,)}

    def _convolutions(self, channels: int) -> Iterator[tuple[str, int, int, int]]:
        """Yield the name, the channels before and after, and the stride of each convolution."""
        yield "first", channels, self.width, 1
        before = self.width
        for stage in range(3):
            after = self.width * 2**stage
            for block in range(self.blocks):
                stride = 2 if stage and not block else 1
                yield f"{stage}.{block}.0", before, after, stride
                yield f"{stage}.{block}.1", after, after, 1
                before = after

    def initial(
        self, shapes: Mapping[str, tuple[int, ...]], random: np.random.Generator
    ) -> np.ndarray:
        """Return He's normal start of the convolutions, and PyTorch's of the last layer."""
        parts = []
        for name, shape in shapes.items():
            if name.endswith(("scale", "shift")):
                part = np.full(shape, float(name.endswith("scale")))
            elif len(shape) == 4:
                part = random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
            else:
                bound = (4 * self.width) ** -0.5
                part = random.uniform(-bound, bound, shape)
            parts.append(part.ravel())
        return np.concatenate(parts)

    def __call__(self, parameters: Mapping[str, Tensor], inputs: Tensor) -> Tensor:
        """Return the last layer's outputs."""
        values = inputs
        channels = inputs.shape[1]
        convolutions = self._convolutions(channels)

        def convolved(values: Tensor) -> Tensor:
            name, _, _, stride = next(convolutions)
            turned = functional.conv2d(values, parameters[f"{name}.weight"], None, stride, 1)
            return normalised(turned, parameters, name, self.normalisation)

        values = torch.relu(convolved(values))
        for _ in range(3 * self.blocks):
            branch = convolved(torch.relu(convolved(values)))
            values = torch.relu(branch + _shortcut(values, branch))
        return linear(values.mean((2, 3)), parameters["last.weight"], parameters["last.bias"])


def _shortcut(values: Tensor, like: Tensor) -> Tensor:
    """Return values as the branch has them: every second pixel, and channels of 0 beside them."""
    if values.shape[1] == like.shape[1]:
        return values
    extra = like.shape[1] - values.shape[1]
    return functional.pad(values[:, :, ::2, ::2], (0, 0, 0, 0, extra // 2, extra - extra // 2))
