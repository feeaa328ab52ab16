"""One method on tasks of alphabets, measured on its way.

A seed deals the alphabets to clients and to the validation, starts the network and draws the
tasks. All methods on a seed see the same tasks, in training and when they are tested. Without data
alphabets are generated: a character is three curves with random control points, which a drawing
moves a little; ink is 255, paper 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from driftproof.synthetic.network_problems.adapted import AdaptedLosses
from driftproof.synthetic.network_problems.few_shot import FewShot
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.local_bsgd import LocalBSGD
from driftproof.toolkit.algorithms.local_scgd import LocalSCGD
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.dataset import read
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.network import Model
from driftproof.toolkit.networks import FourConvolutions
from driftproof.verifiers.experiment import TrackedRun, averaged

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


LOCAL_STEPS, INNER_RATE = 5, 0.4
QUERIES, FILTERS, SIDE = 15, 64, 28
"""As printed; the side of the images as in Vinyals et al. 2016, it is not in this paper's print."""
TRAINED = 33 / 50
"""The share of the alphabets that clients train on."""
NEW_U = "Local-SCGD, new u"
COMMON: dict[str, Any] = {"local_steps": LOCAL_STEPS, "samples": "one"}
METHODS: dict[str, Algorithm] = {
    "Local-BSGD": LocalBSGD(step_size=0.1, **COMMON),
    "Local-SCGD": LocalSCGD(step_size=0.1, inner_momentum=0.99, **COMMON),
    NEW_U: LocalSCGD(step_size=0.1, inner_momentum=0.99, evaluate_at="after", **COMMON),
    "Local-SCGDM": LocalSCGDM(
        step_size=1.0, step_factor=0.1, momentum=0.9, inner_momentum=0.99, **COMMON
    ),
}
"""As printed; NEW_U is Local-SCGD with the outer gradient at the estimate after the step."""
SMALL = 20
"""Sides up to which clients' convolutions are faster together than one by one, on a CPU (14 × 14, 8
filters, 5 clients: 12 ms against 29 ms for the inner step, the same for the query)."""


@dataclass(frozen=True, kw_only=True)
class FewShotRun(TrackedRun):
    """One method.

    Attributes:
        method: a key of METHODS.
        ways, shots, queries: N, K and the drawings a class in the outer loss.
        filters: of each convolution.
        side: of the images.
        test_tasks: of each alphabet, in training and in validation.
        data: Omniglot's folder.
    """

    scales = {"training loss": "loss", "validation loss": "loss"}
    drawn = ("scgdm/omniglot",)
    """Every method sees the same tasks."""

    method: str = "Local-SCGDM"
    ways: int = 5
    shots: int = 1
    queries: int = QUERIES
    filters: int = FILTERS
    side: int = SIDE
    test_tasks: int = 10
    data: Path | None = None

    titled = ""

    @property
    def sizes(self) -> str:
        """Clients, network and images."""
        return (
            f"{len(self.dealt[0])} clients, {self.ways}-way {self.shots}-shot, {self.filters} "
            f"filters, {self.side} × {self.side} pixels"
        )

    @property
    def trivial(self) -> Mapping[str, float]:
        """A guess among the classes of a task."""
        loss, accuracy = log(self.ways), 1 / self.ways
        return {"training loss": loss, "validation accuracy": accuracy}

    @property
    def algorithm(self) -> Algorithm:
        return METHODS[self.method]

    @property
    def dealt(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The alphabets to train on, one a client, and the others, in an order of the seed."""
        images = alphabets(self.data, self.side).images
        order = np.random.default_rng(self.data_seed).permutation(len(images))
        training = max(1, round(TRAINED * len(images)))
        every = [images[k] for k in order]
        return every[:training], every[training:]

    @property
    def model(self) -> Model:
        """The network; its batch statistics are those of a task's support, and of its query."""
        network = FourConvolutions(filters=self.filters)
        model: Model = network.model((1, self.side, self.side), self.ways)
        return replace(model, convolutional=self.side > SMALL)

    @property
    def problem(self) -> AdaptedLosses:
        """The clients' tasks."""
        return self.problem_of(self.dealt[0])

    def problem_of(self, images: list[np.ndarray]) -> AdaptedLosses:
        """Return tasks of some alphabets, a client each."""
        support = FewShot(images, self.ways, self.shots, self.queries)
        query: Any = {"query": replace(support, part="query"), "adaptation": INNER_RATE}
        return AdaptedLosses(model=self.model, data=support, seed=self.data_seed, **query)

    def recorded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return losses and accuracies of x̄ after a step on fixed tasks."""
        point, told = averaged(state.x), dict[str, Any]()
        for name, images in zip(("training", "validation"), self.dealt, strict=True):
            loss, accuracy = self._tested(point, images, name, ctx)
            told |= {f"{name} loss": loss, f"{name} accuracy": accuracy}
        return told

    @torch.no_grad()
    def _tested(
        self, point: Tensor, images: list[np.ndarray], name: str, like: BatchedContext
    ) -> tuple[float, float]:
        """Return the mean loss and accuracy on the queries of some tasks of each alphabet."""
        problem = self.problem_of(images)
        kind: dict[str, Any] = {"dtype": like.dtype, "device": like.device}
        ctx = sampled_context(problem, (*self.keys, name), replicates=self.test_tasks, **kind)
        oracles = problem.oracles(ctx.dtype, ctx.device)
        draw = ctx.draw(oracles.inner_law(1), "xi")
        adapted, _ = oracles.inner(ctx.everywhere(point), draw)
        loss = float(oracles.outer_batch_value(adapted, draw).mean())
        assert problem.query is not None
        query = next(problem.query.held(ctx.dtype, ctx.device, None).pieces(draw, self.test_tasks))
        each = adapted.mT.flatten(0, 1)  # a model a unit, [units, dim]
        right = [
            self.model(*unit).argmax(1) == wanted
            for *unit, wanted in zip(each, query.inputs, query.targets, strict=True)
        ]
        return loss, float(torch.stack(right).to(ctx.dtype).mean())
