"""Images dealt to clients with a class each of their own, to train on and to validate with.

Printed: "We construct the training (validation) dataset as follows": ρ of class i at client i, and
(1 − ρ)/9 of each other class. How many images a client has is not printed.

Chosen: which images train, which choose settings and which validate (``Data.apart``). Pixels are
scaled to [0, 1]; images larger than ``side`` are made smaller, each pixel the mean of a block.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.dataset import Split, read
from driftproof.toolkit.heterogeneity import heterogeneity
from driftproof.toolkit.splits.dominant_class import DominantClass

CLIENTS = 10


@dataclass(frozen=True)
class Images:
    """Which images.

    Attributes:
        training, validation: of each client.
        choosing: of each client, the validation images in a search, which judge nothing.
        adapting: of the training images, those on which a personal model takes its step.
        side: pixels a side.
    """

    training: int
    validation: int
    choosing: int
    adapting: int
    side: int


class Dealt(NamedTuple):
    """What the clients hold; ``told`` says how unlike they are."""

    training: ClientData
    adapting: ClientData
    validation: ClientData
    classes: int
    told: str


@lru_cache(maxsize=2)
def dealt(
    folder: Path | None, of: Images, share: float, seed: int, choosing: bool = False
) -> Dealt:
    """Deal the images of a data set.

    Args:
        share: ρ.
        seed: of which images a client has.
        choosing: whether the validation images are those of a search.

    Raises:
        DriftproofError: the examples are no images, or there are too few of them.
    """
    data = read(folder)
    picture = data.picture
    random = np.random.Generator(np.random.Philox(key=seed))
    train, *others = data.apart
    held_out = others[0 if choosing else 1]

    def numbers(labels: np.ndarray, size: int) -> list[np.ndarray]:
        return DominantClass(share=share, size=size).parts(labels, CLIENTS, random)

    def held(split: Split, parts: list[np.ndarray]) -> ClientData:
        inputs = [
            smaller(split.features[part].reshape(len(part), *picture), of.side) for part in parts
        ]
        return ClientData(inputs, [split.labels[part] for part in parts], split.full)

    parts = numbers(train.labels, of.training)
    clients = held(train, parts)
    first = ClientData(
        [part[: of.adapting] for part in clients.inputs],
        [part[: of.adapting] for part in clients.targets],
        clients.levels,
    )
    each = of.choosing if choosing else of.validation
    validation = held(held_out, numbers(held_out.labels, each))
    told = str(heterogeneity(train.labels, parts, data.classes))
    return Dealt(clients, first, validation, data.classes, told)


def smaller(pictures: np.ndarray, side: int) -> np.ndarray:
    """Return pictures whose pixels are means of square blocks, so that no side is below ``side``.

    >>> smaller(np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4), 2)[0, 0].tolist()
    [[2, 4], [10, 12]]
    """
    block = max(1, min(pictures.shape[-2:]) // side)
    height, width = (pixels // block for pixels in pictures.shape[-2:])
    cut = pictures[..., : height * block, : width * block]
    means = cut.reshape(*pictures.shape[:2], height, block, width, block).mean((3, 5))
    return np.asarray(means if pictures.dtype.kind == "f" else np.rint(means), pictures.dtype)
