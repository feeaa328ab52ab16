"""One method on tasks of alphabets, measured on its way.

A seed deals the alphabets to clients and to the validation, starts the network and draws the
tasks. All methods on a seed see the same tasks, in training and when they are tested.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.network_problems.adapted import AdaptedLosses
from driftproof.synthetic.network_problems.few_shot import FewShot
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.local_bsgd import LocalBSGD
from driftproof.toolkit.algorithms.local_scgd import LocalSCGD
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.network import Model
from driftproof.toolkit.networks import FourConvolutions
from driftproof.verifiers.experiment import TrackedRun, averaged
from driftproof.verifiers.papers.scgdm.experiments._alphabets import alphabets

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
