"""What a federated split is: a rule that deals the examples of a data set to clients.

A split is a leaf, one file in ``toolkit/splits/``: a class under ``@split``, whose fields are its
parameters, with one method, ``deal``. Who wants the parts calls ``parts``, which checks what goes
into a rule and what comes out of it. (``toolkit.dataset.Split`` is something else: the training or
the test examples of a data set.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Self, TypeVar, dataclass_transform

import numpy as np

from driftproof.toolkit.declaring import declared, with_words_alone
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import Parameters

S = TypeVar("S", bound="FederatedSplit")


class FederatedSplit(Parameters, ABC):
    """Base of every rule; a leaf is a subclass under ``@split``.

    Attributes:
        uses_all: whether the rule deals every example.
    """

    uses_all: ClassVar[bool] = True

    @classmethod
    def examples(cls) -> list[Self]:
        """Return the members that tests run: few, and every feature of the rule."""
        return [cls()]

    @abstractmethod
    def deal(
        self, labels: np.ndarray, clients: int, random: np.random.Generator
    ) -> Sequence[np.ndarray]:
        """Return the numbers of each client's examples; ``parts`` calls it with checked arguments.

        The numbers of a client are in random order.
        """

    def parts(
        self, labels: np.ndarray, clients: int, random: np.random.Generator
    ) -> list[np.ndarray]:
        """Return the numbers of each client's examples: no example twice, no client without one.

        They are in the order in which they were drawn. So the first k of a client are a random
        sample of its examples, a validation set say.

        Args:
            labels: class numbers 0, 1, …, [examples], 64-bit.
            clients: how many.
            random: what the rule draws with.

        Raises:
            DriftproofError: an argument is not what it should be, or the rule leaves a client
                without an example, deals an example twice, or asks for more than there is.
        """
        _check_arguments(labels, clients)
        made = [np.asarray(part) for part in self.deal(labels, clients, random)]
        self._check_parts(made, len(labels), clients)
        return made

    def _check_parts(self, made: list[np.ndarray], examples: int, clients: int) -> None:
        name = self.leaf_name or type(self).__name__
        empty = [client for client, part in enumerate(made) if not len(part)]
        if empty or len(made) != clients:
            named = ", ".join(map(str, empty[:5])) + (", …" if len(empty) > 5 else "")
            got = f"client {named} without an example" if empty else f"parts of {len(made)} clients"
            raise DriftproofError(
                f"{name}: {got}, of {examples:,} examples and {clients} clients",
                "an example or more for each client",
                "take fewer clients, more examples, other parameters of the split, or another seed",
            )
        dealt = np.concatenate(made)
        wrong = f"numbers of type {dealt.dtype}" if dealt.dtype.kind not in "iu" else ""
        if not wrong and (dealt.min() < 0 or dealt.max() >= examples):
            wrong = f"example numbers from {dealt.min()} to {dealt.max()}"
        if not wrong and np.bincount(dealt).max() > 1:
            wrong = f"example {np.bincount(dealt).argmax()} dealt {np.bincount(dealt).max()} times"
        if wrong:
            raise DriftproofError(
                f"{name}: {wrong}",
                f"numbers from 0 to {examples - 1}, each once at most",
                f"mend deal of {type(self).__name__}",
            )


def _check_arguments(labels: np.ndarray, clients: int) -> None:
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise DriftproofError(
            f"labels of type {labels.dtype} and shape {labels.shape}",
            "a class number for each example",
            "pass labels as a vector of 64-bit integers",
        )
    if not len(labels) or labels.min() < 0:
        raise DriftproofError(
            f"labels from {labels.min()}" if len(labels) else "no labels",
            "some examples, of the classes 0, 1, …",
            "number the classes from 0; check what was read",
        )
    if not isinstance(clients, int | np.integer) or clients < 1:
        raise DriftproofError(
            f"{clients!r} clients", "a whole number, 1 or more", "pass clients=10, say"
        )


@dataclass_transform(frozen_default=True, kw_only_default=True)
@with_words_alone
def split(*, name: str, source: str, statement: str) -> Callable[[type[S]], type[S]]:
    """Make a subclass of FederatedSplit a leaf: a frozen dataclass of parameters.

    Args:
        name: the name on the command line.
        source: the paper whose experiments are split so.
        statement: the rule, in one sentence.

    Raises:
        DriftproofError: the class does not derive from FederatedSplit, or has no ``deal``; or a
            parameter has no annotation or no default.
    """
    return partial(declared, "split", FederatedSplit, name)


def cut(order: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """Return the first ``sizes[0]`` numbers of an order, then the next ``sizes[1]``, and so on.

    >>> [part.tolist() for part in cut(np.array([4, 1, 3, 0, 2]), [2, 1])]
    [[4, 1], [3]]

    Raises:
        DriftproofError: there are fewer.
    """
    if sum(sizes) > len(order):
        least, most = min(sizes), max(sizes)
        each = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        raise DriftproofError(
            f"{len(order):,} examples to train on",
            f"{sum(sizes):,}, for {len(sizes):,} clients with {each} each",
            "take a larger data set, or fewer clients with fewer examples each",
        )
    return np.split(order, np.cumsum(sizes))[:-1]


def by_class(labels: np.ndarray, random: np.random.Generator) -> list[np.ndarray]:
    """Return the numbers of each class's examples, those of a class in random order."""
    order = random.permutation(len(labels))
    return [order[labels[order] == c] for c in range(labels.max() + 1)]
