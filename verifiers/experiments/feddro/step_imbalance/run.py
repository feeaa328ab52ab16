r"""One method on CIFAR10-ST: what is run, and what is measured on the way.

Printed: ResNet-20, a batch of 16 a client, learning rates from {0.001, 0.01, 0.05, 0.1}, divided by
10 after 90 rounds of communication. Not printed, and chosen:

* the objective. Section 2 has two, (4) with KL and (5) with χ². Here (4) with λ = 1, at which the
  printed log g and λ log g are the same; all methods minimise it, each in its own way;
* FedDRO's β = 0.5 (the β of Theorem 5.1 is told beside it), and ȳ⁰ from a first minibatch;
* FastDRO: the exact maximum over a minibatch of all clients, with the same penalty;
* PDSGD: the step of the samples' weights, ρ = 0.1, the largest of the printed learning rates;
* no momentum, weight decay or augmentation; normalisation with the statistics of a client's own
  minibatch, in the test with those of as many images as ``samples.piece_of`` takes at a time.

The theory's quantities need all images, and are measured on the first seed alone: ‖∇Φ(x̄)‖², the
bias of the plug-in gradient, and how far ȳ is from g. The clients' drift is measured on all seeds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor

from synthetic.network_problems.evaluated import Scores, evaluated
from synthetic.network_problems.robust import RobustSamples
from toolkit.algorithm import Algorithm
from toolkit.algorithms.fastdro import FastDRO
from toolkit.algorithms.feddro import FedDRO
from toolkit.algorithms.mbsgd import MBSGD
from toolkit.algorithms.pdsgd import PDSGD
from toolkit.engines.batched import BatchedContext
from toolkit.network import Model
from toolkit.networks.resnet import ResNet
from toolkit.oracles import on_every_client
from toolkit.worst_case import Geometry, worst_case_weights
from verifiers.experiment import TrackedRun, averaged
from verifiers.experiment.theory import (
    drift,
    estimated_constants,
    plug_in_bias,
    squared_gradient,
)
from verifiers.experiments.feddro.step_imbalance.clients import Dealt, dealt

Divergence: TypeAlias = Literal["kl", "chi-square"]
BATCH = 16
LEARNING_RATES = (0.001, 0.01, 0.05, 0.1)
DROPS_AFTER, DROP = 90, 10.0
PENALTY, MOMENTUM, DUAL_STEP = 1.0, 0.5, 0.1
TUNED_ON = 990
"""The first of the partitions on which learning rates are chosen; none is judged on them."""
LEARNED = 0.5
"""Training accuracy below which a model has hardly learned: no comparison is decided there."""
METHODS = ("FedDRO", "FastDRO", "PDSGD", "MBSGD")


class Net(NamedTuple):
    """A residual network and its images; ResNet-20 is (16, 3, 32).

    Attributes:
        width: channels of the first stage.
        blocks: a stage.
        side: pixels a side at most.
        normalisation: "batch" or "group".
    """

    width: int = 16
    blocks: int = 3
    side: int = 32
    normalisation: Literal["batch", "group"] = "batch"


@dataclass(frozen=True, kw_only=True)
class ImbalancedRun(TrackedRun):
    """One method on one partition.

    Attributes:
        method: one of METHODS.
        local_steps: I.
        divergence: of the robust objective.
        net: the network.
        shown: training and test images, of each so many at most, on which accuracy is measured.
        theory: whether the first seed measures what needs all images; FedDRO and MBSGD alone do.
    """

    method: str = "FedDRO"
    step_size: float = LEARNING_RATES[-1]
    local_steps: int = 1
    divergence: Divergence = "kl"
    net: Net = Net()  # noqa: RUF009 - it cannot be changed
    shown: int = 1000
    theory: bool = False
    data: Path | None = None

    @property
    def dealt(self) -> Dealt:
        """The clients' images and those of the test."""
        return dealt(self.data, self.net.side, self.data_seed)

    @property
    def model(self) -> Model:
        """The network. A small one is computed for all clients at once, also on a CPU."""
        width, blocks, _, normalisation = self.net
        network = ResNet(width=width, blocks=blocks, normalisation=normalisation)
        images = self.dealt
        model = network.model(images.inputs.shape[1:], images.of.classes)
        return replace(model, convolutional=width > 8)

    @property
    def problem(self) -> RobustSamples:
        """The robust objective over all clients' images."""
        return RobustSamples(
            model=self.model, data=self.dealt.train, divergence=self.divergence, penalty=PENALTY,
            seed=self.data_seed,
        )  # fmt: skip

    @property
    def algorithm(self) -> Algorithm:
        """The method at its first learning rate."""
        return self._at(self.step_size)

    def _at(self, step_size: float) -> Algorithm:
        given: dict[str, Any] = {"step_size": step_size, "batch": BATCH}
        if self.method == "FedDRO":
            return FedDRO(local_steps=self.local_steps, momentum=MOMENTUM, **given)
        if self.method == "FastDRO":
            return FastDRO(geometry=_penalty(self.divergence), size=PENALTY, **given)
        if self.method == "PDSGD":
            own: Any = {
                "dual_step": DUAL_STEP,
                "dual_penalty": PENALTY,
                "divergence": self.divergence,
            }
            return PDSGD(**own, **given)
        return MBSGD(**given)

    @property
    def phases(self) -> list[tuple[int, Algorithm]]:
        """The learning rate drops after 90 rounds."""
        first = (min(DROPS_AFTER, self.rounds), self.algorithm)
        return [first, (self.rounds, self._at(self.step_size / DROP))]

    @property
    def keys(self) -> tuple[str, ...]:
        """FedDRO and MBSGD draw the same minibatches, and so do FastDRO and PDSGD."""
        return str(self.seed), "feddro/step-imbalance", str(self.partition)

    def recorded(self, problem: RobustSamples, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return accuracies, drift and, three times on the first seed, the theory's quantities."""
        point = averaged(getattr(state, self.algorithm.iterate))
        images, each = self.dealt, -(-self.shown // self.dealt.train.clients)
        inputs, classes = (
            np.concatenate([part[:each] for part in parts])
            for parts in (images.train.inputs, images.train.targets)
        )
        train = self._scores(problem, point, inputs, classes)
        test = self._scores(
            problem, point, images.inputs[: self.shown], images.classes[: self.shown]
        )
        marked = ctx.marks.get("x")
        return {
            "training": float(train.accuracy[0]),
            "test": float(test.accuracy[0]),
            "training loss": float(train.loss[0]),
            "drift": 0.0 if marked is None else drift(marked),
            **(self._theory(problem, point, state) if self.looks else {}),
        }

    @property
    def looks(self) -> bool:
        """Whether the theory's quantities are measured."""
        return self.theory and self.partition == 0

    def _scores(
        self, problem: RobustSamples, point: Tensor, inputs: np.ndarray, classes: np.ndarray
    ) -> Scores:
        return evaluated(problem.model, [point], [inputs], [classes])

    def _weighed(
        self, problem: RobustSamples, point: Tensor, log_weights: Tensor
    ) -> dict[str, float]:
        """Return the total variation from equal weights, of PDSGD's p and of x̄'s worst case."""
        oracles = _in_turn(problem).oracles(point.dtype, self.device)
        every = on_every_client(point[:, None], problem.clients)
        losses, shares = oracles.sample_losses(every, None)[0][..., 0], oracles.sample_weights
        equal = (shares / shares.sum())[..., 0]
        worst = worst_case_weights(
            losses.reshape(-1, 1), equal.reshape(-1, 1), _penalty(self.divergence), PENALTY
        )
        own = equal * log_weights[..., 0].exp()
        return {
            name: float((weights.flatten() - equal.flatten()).abs().sum() / 2)
            for name, weights in (("own weights", own / own.sum()), ("worst weights", worst))
        }

    def _theory(self, problem: RobustSamples, point: Tensor, state: Any) -> dict[str, float]:
        """Return ‖∇Φ‖², Φ and ‖E u_B − ∇Φ‖ at x̄; and ḡ and |ȳ − ḡ|, ḡ where ȳ was made.

        ȳ^t estimates ḡ = (1/K) Σ_k g_k(x_k^t), of the points before the last step.
        """
        problem = _in_turn(problem)
        oracles = problem.oracles(point.dtype, self.device)
        g = oracles.inner(state.x_previous, None)[0].mean(0, keepdim=True)
        return {
            "squared gradient": squared_gradient(problem, point),
            "objective": float(problem.objective(point[:, None])),
            "bias": plug_in_bias(problem, point, self.keys, batch=BATCH),
            "embedding error": float((state.y.mean(0, keepdim=True) - g).norm()),
            "embedding": float(g.norm()),
        }

    def concluded(self, problem: RobustSamples, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return Φ(x̄), the test accuracy on rare and other classes, and estimated constants."""
        point = averaged(getattr(state, self.algorithm.iterate))
        images = self.dealt
        told: dict[str, Any] = {"Φ": float(_in_turn(problem).objective(point[:, None]))}
        if self.method == "PDSGD":
            told |= self._weighed(problem, point, state.log_weights)
        rare = images.classes < images.rare
        for name, rows in (("rare", rare), ("other", ~rare)):
            scores = self._scores(
                problem,
                point,
                images.inputs[rows][: self.shown],
                images.classes[rows][: self.shown],
            )
            told[name] = float(scores.accuracy[0])
        if self.looks:
            start = torch.from_numpy(problem.start()).to(point)
            points = torch.stack([start, (start + point) / 2, point], 1)
            told["constants"] = estimated_constants(_in_turn(problem), points, self.keys, draws=2)
        return told


def _in_turn(problem: RobustSamples) -> RobustSamples:
    """Return the problem with one client after another: with all images, that takes less memory."""
    return replace(problem, model=replace(problem.model, convolutional=True))


def _penalty(divergence: Divergence) -> Geometry:
    return "kl-penalty" if divergence == "kl" else "chi-square-penalty"
