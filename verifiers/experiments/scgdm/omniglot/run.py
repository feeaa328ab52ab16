"""One method on tasks of alphabets, measured on its way.

A seed deals the alphabets to clients and to the validation, starts the network and draws the
tasks. All methods on a seed see the same tasks, in training and when they are tested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from synthetic.network_problems.adapted import AdaptedLosses
from synthetic.network_problems.few_shot import FewShot
from toolkit.algorithm import Algorithm
from toolkit.algorithms.local_bsgd import LocalBSGD
from toolkit.algorithms.local_scgd import LocalSCGD
from toolkit.algorithms.local_scgdm import LocalSCGDM
from toolkit.engines.batched import BatchedContext
from toolkit.federation import sampled_context
from toolkit.network import Model
from toolkit.networks import FourConvolutions
from verifiers.experiment import TrackedRun, averaged
from verifiers.experiment.theory import drift
from verifiers.experiments.scgdm.omniglot.images import alphabets
from verifiers.experiments.scgdm.omniglot.printed import (
    INNER_RATE,
    LOCAL_STEPS,
    SETTINGS,
    SHARES,
)

NEW_U = "Local-SCGD, new u"
COMMON: dict[str, Any] = {"local_steps": LOCAL_STEPS, "samples": "one"}
METHODS: dict[str, Callable[[], Algorithm]] = {
    "Local-BSGD": partial(LocalBSGD, **COMMON, **SETTINGS["Local-BSGD"]),
    "Local-SCGD": partial(LocalSCGD, **COMMON, **SETTINGS["Local-SCGD"]),
    NEW_U: partial(LocalSCGD, **COMMON, **SETTINGS["Local-SCGD"], evaluate_at="after"),
    "Local-SCGDM": partial(LocalSCGDM, **COMMON, **SETTINGS["Local-SCGDM"]),
}
"""NEW_U is Local-SCGD with the outer gradient at the estimate after the step."""
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

    method: str = "Local-SCGDM"
    ways: int = 5
    shots: int = 1
    queries: int = 15
    filters: int = 64
    side: int = 28
    test_tasks: int = 10
    data: Path | None = None

    @property
    def algorithm(self) -> Algorithm:
        """The method with its settings."""
        return METHODS[self.method]()

    @property
    def dealt(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The alphabets to train on, one a client, and the others, in an order of the seed."""
        images = alphabets(self.data, self.side).images
        order = np.random.default_rng(self.data_seed).permutation(len(images))
        training = max(1, round(SHARES[0] * len(images)))
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
        return AdaptedLosses(
            model=self.model, data=support, query=replace(support, part="query"),
            adaptation=INNER_RATE, seed=self.data_seed,
        )  # fmt: skip

    @property
    def keys(self) -> tuple[str, ...]:
        """Every method sees the same tasks."""
        return str(self.seed), "scgdm/omniglot", str(self.partition)

    def recorded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return losses and accuracies of x̄ after a step on fixed tasks, and the clients' drift."""
        point, marked = averaged(state.x), ctx.marks.get("x")
        told: dict[str, Any] = {"drift": 0.0 if marked is None else drift(marked)}
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
        ctx = sampled_context(
            problem, (*self.keys, name), replicates=self.test_tasks, dtype=like.dtype,
            device=like.device,
        )  # fmt: skip
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
