"""Models of a user's own: a function of (parameters, inputs), or a ``torch.nn.Module``.

>>> import torch
>>> model = from_module(torch.nn.Linear(3, 2), example=(3,), outputs=2)
>>> model.dim, model.start(0).shape
(8, (8,))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.network import Model, uniform_by_fan_in

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def from_function(
    function: Callable[[Mapping[str, Tensor], Tensor], Tensor],
    shapes: Mapping[str, tuple[int, ...]],
    *,
    example: tuple[int, ...],
    outputs: int,
    initial: Callable[[np.random.Generator], np.ndarray] | None = None,
    convolutional: bool = False,
) -> Model:
    """Return a function of (parameters by name, inputs [batch, *example]) as a model.

    Args:
        function: in torch, without branches on values; it gives [batch, outputs].
        shapes: of the parameters, by name.
        example: the shape of one example.
        outputs: how many it gives for one.
        initial: a generator ↦ the flat start (default: PyTorch's, uniform by the inputs of a unit).
        convolutional: whether its time goes into convolutions.

    Raises:
        DriftproofError: there are no parameters.
    """
    if not shapes:
        raise DriftproofError(
            "a model without parameters", "one or more", "give the shapes by name"
        )
    start = initial or _Default(dict(shapes))
    name = getattr(function, "__name__", "a model")
    return Model(name, example, outputs, dict(shapes), function, start, convolutional)


def from_module(module: Module, *, example: tuple[int, ...], outputs: int) -> Model:
    """Return a module as a model that starts from the module's own parameters.

    Args:
        module: without buffers: running averages of a batch normalisation would be a state beside
            the parameters, which no algorithm sends.
        example: the shape of one example.
        outputs: how many it gives for one.

    Raises:
        DriftproofError: the module has buffers, or no parameters.
    """
    buffers = [name for name, _ in module.named_buffers()]
    if buffers:
        raise DriftproofError(
            f"{type(module).__name__} with buffers ({', '.join(buffers[:3])})",
            "a module whose parameters are all that training changes",
            "use GroupNorm, or BatchNorm2d(…, track_running_stats=False)",
        )
    parameters = dict(module.named_parameters())
    if not parameters:
        raise DriftproofError(
            f"{type(module).__name__} without parameters", "one or more", "give it layers"
        )
    from torch.nn import modules

    kinds = modules.conv._ConvNd
    return Model(
        type(module).__name__,
        example,
        outputs,
        {name: tuple(one.shape) for name, one in parameters.items()},
        _Called(module),
        _Own(np.concatenate([p.detach().double().numpy().ravel() for p in parameters.values()])),
        any(isinstance(part, kinds) for part in module.modules()),
    )


class _Called:
    """A module as a function of its parameters."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def __call__(self, parameters: Mapping[str, Tensor], inputs: Tensor) -> Tensor:
        from torch.func import functional_call

        outputs: Tensor = functional_call(self._module, dict(parameters), (inputs,))
        return outputs


class _Own:
    """The start from a module's own parameters, whatever the seed."""

    def __init__(self, parameters: np.ndarray) -> None:
        self._parameters = parameters

    def __call__(self, random: np.random.Generator) -> np.ndarray:
        return self._parameters


class _Default:
    """PyTorch's default start."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._shapes = shapes

    def __call__(self, random: np.random.Generator) -> np.ndarray:
        return uniform_by_fan_in(self._shapes, random)
