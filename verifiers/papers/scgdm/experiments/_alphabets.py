"""The images: Omniglot's drawings made smaller, or drawings of random strokes.

Without data an alphabet is generated. A character is three curves with random control points;
a drawing of it moves these points a little. Ink is 255, paper 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from driftproof.toolkit.dataset import read
from driftproof.toolkit.errors import DriftproofError

DRAWINGS = 20
STROKES = 3
GENERATED = (8, 12)
"""Alphabets, and characters of each, where there are no data."""
SHAKEN = 0.06
"""By how much a drawing's control points move, of the image's side; standard deviation."""


@dataclass(frozen=True, eq=False)
class Alphabets:
    """Images of each alphabet, [characters, 20, side, side] bytes, and what they are called."""

    title: str
    images: Sequence[np.ndarray]


@cache
def alphabets(folder: Path | None, side: int) -> Alphabets:
    """Return the alphabets of a folder, in images of side × side.

    Raises:
        DriftproofError: the data are not square images of characters in alphabets.
    """
    if folder is None:
        return _generated(side)
    data = read(folder)
    if not data.group_names or len(data.shape) != 2 or data.shape[0] != data.shape[1]:
        raise DriftproofError(
            f"{data.title}, examples of shape {data.shape}, {len(data.group_names)} groups",
            "square images of characters, grouped by alphabets",
            "name a folder with Omniglot, or leave out --data",
        )
    of_character: dict[tuple[int, int], list[np.ndarray]] = {}
    for split in data.splits.values():
        assert split.groups is not None
        for row, label, group in zip(split.features, split.labels, split.groups, strict=True):
            image = _smaller(row.reshape(data.shape) * (255.0 / split.full), side)
            of_character.setdefault((int(group), int(label)), []).append(image)
    fewest = min(map(len, of_character.values()))
    kept: list[list[list[np.ndarray]]] = [[] for _ in data.group_names]
    for (group, _), drawings in sorted(of_character.items()):
        kept[group].append(drawings[:fewest])
    return Alphabets(data.title, [np.array(characters) for characters in kept if characters])


def _smaller(image: np.ndarray, side: int) -> np.ndarray:
    """Return the means over areas, as bytes."""
    whole = Image.fromarray(image.astype(np.uint8))
    return np.asarray(whole.resize((side, side), Image.Resampling.BOX))


def _generated(side: int) -> Alphabets:
    count, characters = GENERATED
    random = np.random.default_rng(0)
    points = random.uniform(0.15, 0.85, (count, characters, 1, STROKES, 3, 2))
    moved = points + SHAKEN * random.normal(size=(count, characters, DRAWINGS, STROKES, 3, 2))
    t = np.linspace(0, 1, 2 * side)[:, None]
    start, middle, end = (moved[..., k, None, :] for k in range(3))
    ink = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end  # quadratic Bézier curves
    places = np.clip((ink * side).astype(int), 0, side - 1)
    places = places.reshape(count * characters * DRAWINGS, -1, 2)
    images = np.zeros((len(places), side, side), np.uint8)
    images[np.arange(len(places))[:, None], places[..., 0], places[..., 1]] = 255
    title = f"generated strokes, {count} alphabets of {characters} characters"
    return Alphabets(title, list(images.reshape(count, characters, DRAWINGS, side, side)))
