r"""What figures 1 and 2 share: a method on CIFAR10-ST, and its learning rate.

Printed: ResNet-20, a batch of 16 a client, learning rates from {0.001, 0.01, 0.05, 0.1}, divided by
10 after 90 rounds of communication. Not printed, and chosen:

* the objective. Section 2 has two, (4) with KL and (5) with χ². Here (4) with λ = 1, at which the
  printed log g and λ log g are the same; all methods minimise it, each in its own way;
* FedDRO's β = 0.5 (the β of Theorem 5.1 is told beside it), and ȳ⁰ from a first minibatch;
* FastDRO: the exact maximum over a minibatch of all clients, with the same penalty;
* in place of PDSGD (Xu 2020), whose program is not named: primal-dual SGD on (3), ours. The step of
  the samples' weights is ρ = 0.1;
* how CIFAR10-ST is made (``ReducedClasses``) of the images to train on (``Data.apart``); pixels are
  normalised by the mean and the deviation of each colour over the images that were dealt;
* no momentum, weight decay or augmentation; normalisation with the statistics of a client's own
  minibatch, in the test with those of as many images as ``samples.piece_of`` takes at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from torch import Tensor

from driftproof.synthetic.network_problems.evaluated import evaluated
from driftproof.synthetic.network_problems.robust import RobustSamples
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.fastdro import FastDRO
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.algorithms.mbsgd import MBSGD
from driftproof.toolkit.algorithms.pdsgd import PDSGD
from driftproof.toolkit.dataset import Data, Split, read
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.heterogeneity import Heterogeneity, heterogeneity
from driftproof.toolkit.network import Model
from driftproof.toolkit.networks.resnet import ResNet
from driftproof.toolkit.splits.reduced_classes import ReducedClasses
from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import averaged

CLIENTS = 8
SHARE = 0.02
"""What is kept of a rare class."""


class Dealt(NamedTuple):
    """What the clients hold, and what models are tested on.

    Attributes:
        train: the clients' images and classes.
        inputs, classes: of the test, [images, channels, height, width] and [images].
        rare: how many classes are rare: those numbered below.
        of: the data set.
        unlike: the measured heterogeneity.
    """

    train: ClientData
    inputs: np.ndarray
    classes: np.ndarray
    rare: int
    of: Data
    unlike: Heterogeneity


@lru_cache(maxsize=1)
def dealt(folder: Path | None, side: int, seed: int, choosing: bool = False) -> Dealt:
    """Deal a data set.

    Args:
        folder: of the data set; None for scikit-learn's digits.
        side: images with more pixels a side are halved, by means over 2 × 2 pixels.
        seed: of the partition.
        choosing: whether the test images are those of a search, which judge nothing.

    Raises:
        DriftproofError: the examples are no images.
    """
    data = read(folder)
    train, *others = data.apart
    test = others[0 if choosing else 1]
    labels, random = train.labels, np.random.Generator(np.random.Philox(key=seed))
    parts = ReducedClasses(share=SHARE).parts(labels, CLIENTS, random)
    images = [_images(data, train, part, side) for part in parts]
    together = np.concatenate(images)
    mean, deviation = (
        of(together, axis=(0, 2, 3), keepdims=True, dtype=np.float64).astype(np.float32)
        for of in (np.mean, np.std)
    )
    deviation = np.maximum(deviation, np.float32(1e-6))
    held_out = random.permutation(len(test.labels))
    inputs = _images(data, test, held_out, side)
    return Dealt(
        ClientData([(part - mean) / deviation for part in images], [labels[p] for p in parts]),
        (inputs - mean) / deviation,
        test.labels[held_out],
        data.classes // 2,
        data,
        heterogeneity(labels, parts, data.classes),
    )


def _images(data: Data, split: Split, rows: np.ndarray, side: int) -> np.ndarray:
    """Return images in [0, 1], [images, channels, height, width], halved while they are larger."""
    channels, height, width = data.picture
    images = split.scaled(rows).astype(np.float32).reshape(len(rows), channels, height, width)
    while min(height, width) > side:
        height, width = height // 2, width // 2
        images = images[:, :, : 2 * height, : 2 * width]
        images = images.reshape(len(rows), channels, height, 2, width, 2).mean((3, 5))
    return images


Divergence: TypeAlias = Literal["kl", "chi-square"]
BATCH = 16
LEARNING_RATES = (0.001, 0.01, 0.05, 0.1)
DROPS_AFTER, DROP = 90, 10.0
PENALTY, MOMENTUM, DUAL_STEP = 1.0, 0.5, 0.1
PRIMAL_DUAL = "primal-dual SGD, for PDSGD"
METHODS = ("FedDRO", "FastDRO", PRIMAL_DUAL, "MBSGD")


class Net(NamedTuple):
    """A residual network and its images; ResNet-20 is (16, 3, 32).

    Attributes:
        width: channels of the first stage.
        blocks: a stage.
        side: pixels a side at most.
    """

    width: int = 16
    blocks: int = 3
    side: int = 32


@dataclass(frozen=True, kw_only=True)
class ImbalancedRun(study.TrackedRun):
    """One method on one partition.

    Attributes:
        method: one of METHODS.
        local_steps: I.
        divergence: of the robust objective.
        net: the network.
        shown: training and test images, of each so many at most, on which accuracy is measured.
    """

    scales = {"drift": "loss"}
    drawn = ("feddro/step-imbalance",)
    """FedDRO and MBSGD draw the same minibatches, and so do FastDRO and PDSGD."""

    method: str = "FedDRO"
    step_size: float = LEARNING_RATES[-1]
    local_steps: int = 1
    divergence: Divergence = "kl"
    net: Net = Net()  # noqa: RUF009 - it cannot be changed
    shown: int = 1000
    data: Path | None = None

    @property
    def dealt(self) -> Dealt:
        """The clients' images and those of the test."""
        return dealt(self.data, self.net.side, self.data_seed, self.choosing)

    @property
    def sizes(self) -> str:
        """Clients, network and images."""
        width, blocks, side = self.net
        return (
            f"{CLIENTS} clients, {6 * blocks + 2} layers, {width} channels, {side} × {side} pixels"
        )

    @property
    def trivial(self) -> Mapping[str, float]:
        """One class for every image; on rare classes, a guess."""
        classes = self.dealt.of.classes
        counts = np.bincount(np.concatenate(self.dealt.train.targets), minlength=classes)
        training = float(counts.max() / counts.sum())
        return {"training": training, "test": 1 / classes, "rare": 1 / classes}

    @property
    def model(self) -> Model:
        """The network. A small one is computed for all clients at once, also on a CPU."""
        width, blocks, _ = self.net
        network, images = ResNet(width=width, blocks=blocks), self.dealt
        model = network.model(images.inputs.shape[1:], images.of.classes)
        return replace(model, convolutional=width > 8)

    @property
    def problem(self) -> RobustSamples:
        """The robust objective over all clients' images."""
        return RobustSamples(
            model=self.model,
            data=self.dealt.train,
            divergence=self.divergence,
            penalty=PENALTY,
            seed=self.data_seed,
        )

    @property
    def algorithm(self) -> Algorithm:
        """The method at its first learning rate."""
        kinds: dict[str, tuple[type[Algorithm], dict[str, Any]]] = {
            "FedDRO": (FedDRO, {"momentum": MOMENTUM}),
            "FastDRO": (FastDRO, {"size": PENALTY}),
            PRIMAL_DUAL: (PDSGD, {"dual_step": DUAL_STEP, "dual_penalty": PENALTY}),
            "MBSGD": (MBSGD, {}),
        }
        kind, given = kinds[self.method]
        return self.made(kind, batch=BATCH, **given)

    @property
    def phases(self) -> list[tuple[int, Algorithm]]:
        """The learning rate drops after 90 rounds."""
        first = (min(DROPS_AFTER, self.rounds), self.algorithm)
        return [first, (self.rounds, self.but(step_size=self.step_size / DROP).algorithm)]

    def recorded(self, problem: RobustSamples, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return accuracies and drift."""
        point = averaged(getattr(state, self.algorithm.iterate))
        images, each = self.dealt, -(-self.shown // self.dealt.train.clients)
        inputs, classes = (
            np.concatenate([part[:each] for part in parts])
            for parts in (images.train.inputs, images.train.targets)
        )
        train = evaluated(problem.model, [point], [inputs], [classes])
        return {
            "training": float(train.accuracy[0]),
            "test": self._accuracy(problem, point, slice(None)),
            "drift": study.drift(ctx.marks.get("x")),
        }

    def _accuracy(self, problem: RobustSamples, point: Tensor, rows: Any) -> float:
        """Return the accuracy on the first ``shown`` of some test images."""
        inputs, classes = (
            part[rows][: self.shown] for part in (self.dealt.inputs, self.dealt.classes)
        )
        return float(evaluated(problem.model, [point], [inputs], [classes]).accuracy[0])

    def concluded(self, problem: RobustSamples, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return the test accuracy on rare and other classes."""
        point, rare = averaged(getattr(state, self.algorithm.iterate)), self.dealt.rare
        of_rare = self.dealt.classes < rare
        return {
            name: self._accuracy(problem, point, rows)
            for name, rows in (("rare", of_rare), ("other", ~of_rare))
        }


PARTS = ("training", "test")
RATES = {"step_size": LEARNING_RATES}


def smaller(base: ImbalancedRun) -> str:
    """Say what is smaller than printed."""
    width, blocks, side = base.net
    images = sum(map(len, base.dealt.train.targets))
    return study.smaller(
        {
            "channels": (width, 16),
            "layers": (6 * blocks + 2, 20),
            "pixels a side": (side, 32),
            "training images": (images, 25_500),
        }
    )


def setting(base: ImbalancedRun) -> list[str]:
    """Return what was run and what was chosen, for the head of the page."""
    images = base.dealt
    counts = np.bincount(np.concatenate(images.train.targets), minlength=images.of.classes)
    return [
        f"of each of the first {images.rare} classes the last {SHARE:.0%} are kept ({counts[0]} "
        f"images of class 0, {counts[-1]} of the last), {sum(counts):,} images dealt equally; "
        f"{len(images.classes):,} test images",
        f"measured heterogeneity: {images.unlike}. The clients differ by chance alone",
        f"objective: λ log mean exp(ℓ/λ), λ = {PENALTY:g}; batch {BATCH} a client; FedDRO's β = "
        f"{MOMENTUM:g}; primal-dual SGD's ρ = {DUAL_STEP:g} (λ, β and ρ are chosen here)",
        f"learning rate divided by 10 after {DROPS_AFTER} rounds, chosen by the accuracy on images "
        "that judge nothing",
        f"accuracies: of the mean of the clients' models, on at most {base.shown:,} training and "
        f"{base.shown:,} test images; rare, other: test accuracy on the classes that are rare in "
        "training and on the others",
    ]


SAMPLES = study.Axis(
    "samples drawn by all clients", place=lambda run, at: run.local_steps * BATCH * CLIENTS * at
)
