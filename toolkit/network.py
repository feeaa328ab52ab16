"""What a network is: its outputs as a function of one flat vector of parameters.

A network is a leaf, one file in ``toolkit/networks/``: a class under ``@network`` with the
``shapes`` of its parameters and a ``__call__`` that computes the outputs of a batch. It says
nothing of clients. ``model(example, outputs)`` binds it to data, as a ``Model``, which is all that
a problem knows of it. A function or an ``nn.Module`` of your own becomes a Model by
``from_function`` or ``from_module`` (``toolkit.own_model``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod, sqrt
from typing import TYPE_CHECKING, ClassVar, TypeVar, dataclass_transform

import numpy as np

from driftproof.toolkit.declaring import declared, with_words_alone
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import Parameters

if TYPE_CHECKING:
    from torch import Tensor

N = TypeVar("N", bound="Network")
TRIAL = 2
"""Examples of the batch on which a model's outputs are tried."""


@dataclass(frozen=True, eq=False)
class Model:
    """A network for examples of one shape; picklable where ``apply`` is.

    Attributes:
        title: what a figure calls it.
        example: the shape of one example, (3, 32, 32) say.
        outputs: how many numbers it gives for an example.
        shapes: of its parameters, by name; ``dim`` of them in all, in this order.
        apply: (parameters by name, inputs [batch, *example]) ↦ outputs [batch, outputs].
        initial: a generator ↦ the parameters that training starts from, [dim].
        convolutional: whether its time goes into convolutions. On a CPU, those of several clients
            at once take longer than one client after another (docs/networks.md has the profile).
        several: whether ``apply`` takes several units as well, [units, …] before every shape: then
            it is called once for all of them, without the cost of ``vmap``.
    """

    title: str
    example: tuple[int, ...]
    outputs: int
    shapes: Mapping[str, tuple[int, ...]]
    apply: Callable[[Mapping[str, Tensor], Tensor], Tensor]
    initial: Callable[[np.random.Generator], np.ndarray]
    convolutional: bool = False
    several: bool = False

    @property
    def dim(self) -> int:
        """The number of parameters."""
        return sum(map(prod, self.shapes.values()))

    def __call__(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """Return the outputs, [batch, outputs], of flat parameters [dim] on [batch, *example].

        Where ``several``, also [units, batch, outputs] of [units, dim] on [units, batch, *example].
        """
        import torch

        parts = torch.split(parameters, [prod(shape) for shape in self.shapes.values()], -1)
        named = {
            name: part.reshape(parameters.shape[:-1] + shape)
            for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }
        return self.apply(named, inputs)

    def start(self, seed: int) -> np.ndarray:
        """Return the initial parameters of a seed, [dim].

        Raises:
            DriftproofError: they are not ``dim`` finite numbers, or the outputs there do not have
                the shape [batch, outputs].
        """
        import torch

        initial = np.asarray(self.initial(np.random.Generator(np.random.Philox(key=seed))))
        if initial.shape != (self.dim,) or not np.isfinite(initial).all():
            raise DriftproofError(
                f"{self.title} starts from parameters of shape {initial.shape}",
                f"{self.dim} finite numbers",
                "return one flat vector, in the order of the shapes",
            )
        with torch.no_grad():
            inputs = torch.zeros(TRIAL, *self.example, dtype=torch.float64)
            got = tuple(self(torch.from_numpy(initial.astype(np.float64)), inputs).shape)
        if got != (TRIAL, self.outputs):
            raise DriftproofError(
                f"{self.title} gives outputs of shape {got} for {TRIAL} examples of {self.example}",
                f"the shape ({TRIAL}, {self.outputs}): a row an example",
                "change the last layer, or say how many outputs it has",
            )
        return initial.astype(np.float64)


class Network(Parameters, ABC):
    """Base of every network; a leaf is a subclass under ``@network``."""

    convolutional: ClassVar[bool] = False
    """Whether its time goes into convolutions."""
    several: ClassVar[bool] = False
    """Whether it takes several units at once, [units, …] before every shape."""

    @abstractmethod
    def shapes(self, example: tuple[int, ...], outputs: int) -> Mapping[str, tuple[int, ...]]:
        """Return the shapes of its parameters, by name."""

    @abstractmethod
    def __call__(self, parameters: Mapping[str, Tensor], inputs: Tensor) -> Tensor:
        """Return the outputs of a batch, [batch, outputs], for inputs [batch, *example]."""

    def initial(
        self, shapes: Mapping[str, tuple[int, ...]], random: np.random.Generator
    ) -> np.ndarray:
        """Return the parameters that training starts from, flat: ``uniform_by_fan_in``."""
        return uniform_by_fan_in(shapes, random)

    def model(self, example: tuple[int, ...], outputs: int) -> Model:
        """Return the network for examples of a shape."""
        shapes = self.shapes(example, outputs)
        return Model(
            str(self),
            example,
            outputs,
            shapes,
            self,
            Initial(self, shapes),
            self.convolutional,
            self.several,
        )


@dataclass(frozen=True)
class Initial:
    """A network's start as a function that can be sent to another process."""

    network: Network
    shapes: Mapping[str, tuple[int, ...]]

    def __call__(self, random: np.random.Generator) -> np.ndarray:
        """Return the start."""
        return self.network.initial(self.shapes, random)


def uniform_by_fan_in(
    shapes: Mapping[str, tuple[int, ...]], random: np.random.Generator
) -> np.ndarray:
    """Return PyTorch's default start: each layer uniform in ±1/√(inputs of a unit).

    A name that ends in "scale" starts at 1, one that ends in "shift" at 0. Any other vector is the
    bias of the array before it.
    """
    parts, bound = [], 1.0
    for name, shape in shapes.items():
        if name.endswith(("scale", "shift")):
            parts.append(np.full(prod(shape), float(name.endswith("scale"))))
            continue
        if len(shape) > 1:
            bound = 1 / sqrt(prod(shape[1:]))
        parts.append(random.uniform(-bound, bound, prod(shape)))
    return np.concatenate(parts)


@dataclass_transform(frozen_default=True, kw_only_default=True)
@with_words_alone
def network(*, name: str, source: str, statement: str) -> Callable[[type[N]], type[N]]:
    """Make a subclass of Network a leaf: a frozen dataclass whose fields are its parameters.

    Args:
        name: the name in lists.
        source: who introduced it, or which paper trains it.
        statement: its layers, in words.
    """
    return partial(declared, "network", Network, name)
