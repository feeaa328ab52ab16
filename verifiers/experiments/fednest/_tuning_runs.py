"""The units of fednest/tuning: one method with one pair of step sizes on one split."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from toolkit.algorithm import Algorithm
from toolkit.algorithms.fedinn import FedInn
from toolkit.algorithms.fednest import FedNest
from toolkit.algorithms.fednest_sgd import FedNestSGD
from toolkit.algorithms.lfednest import LFedNest
from toolkit.algorithms.stocbio import StocBiO
from verifiers.experiment import packed
from verifiers.experiments.fednest._tuning_engines import ENGINES
from verifiers.experiments.fednest._tuning_problem import Tuning
from verifiers.experiments.fednest._tuning_public import AllSharedFedNest, PublicFedNest
from verifiers.scheduler import Result

METHODS: dict[str, Callable[..., Algorithm]] = {
    "fednest": FedNest,
    "fednest-sgd": FedNestSGD,
    "lfednest": LFedNest,
    "public": PublicFedNest,
    "public-sgd": partial(PublicFedNest, plain=True),
    "public-light": partial(PublicFedNest, plain=True, alone=True),
    "all-shared": AllSharedFedNest,
    "fixed": FedInn,
    "machine": StocBiO,
    "machine-fixed": FedInn,
}
"""What runs: "fixed" leaves x where it is; "machine…" has one client, with all images."""


@dataclass(frozen=True)
class Size:
    """How large a profile's runs are.

    Attributes:
        rounds: K; seeds: splits that the sentences are judged on.
        clients, sampled: m, and how many take part in a call.
        largest, ratio, per_class: of the images (``Tuning``).
        inner_calls, inner_steps, terms, batch: T, τ, N and b.
        betas, alphas: the step sizes that every method may choose from.
        public_scale: what α is divided by with the public code's series, whose p is about that
            much longer: (1 + Σ_{n≤N} 1/n) against N/ℓ_{g,1}, to a power of ten.
    """

    rounds: int
    seeds: int
    clients: int
    sampled: int
    largest: int
    ratio: float
    per_class: int
    betas: tuple[float, ...]
    alphas: tuple[float, ...]
    public_scale: float
    inner_calls: int = 3
    inner_steps: int = 10
    terms: int = 3
    batch: int = 5


@dataclass(frozen=True)
class OneRun:
    """A unit: one method on one split.

    Attributes:
        method: a key of METHODS.
        rounds: k at the end.
        beta, alpha: step sizes of the lower and of the upper level.
        alike: whether the clients' data are i.i.d.
        summed: whether FedIHGP sums its series instead of sampling it.
        squash, normalised, prior: of ``Tuning``.
    """

    method: str
    size: Size
    rounds: int
    alike: bool
    seed: int
    data: Path | None
    engine: str
    ridge: float
    partition: int = 0
    beta: float = 0.0
    alpha: float = 1.0
    summed: bool = False
    squash: bool = False
    normalised: bool = False
    prior: bool = False

    @property
    def name(self) -> str:
        """Everything that the result depends on."""
        return "fednest/tuning " + repr(self)

    @property
    def path(self) -> None:
        """No user's file."""
        return

    @property
    def alone(self) -> bool:
        """Whether one machine has all images."""
        return self.method.startswith("machine")

    @property
    def fixed(self) -> bool:
        """Whether x stays where it is."""
        return self.method.endswith("fixed")

    def but(self, **changes: Any) -> OneRun:
        """Return the run with some attributes changed."""
        return replace(self, **changes)

    @property
    def problem(self) -> Tuning:
        """The problem; its split depends on ``alike``, the seed and the partition alone."""
        of = self.size
        return Tuning(
            clients=1 if self.alone else of.clients, data=self.data, shards=of.clients,
            alike=self.alike, largest=of.largest, ratio=of.ratio, per_class=of.per_class,
            ridge=self.ridge, squash=self.squash, normalised=self.normalised, prior=self.prior,
            partition=self.seed * 1000 + self.partition,
        )  # fmt: skip

    @property
    def algorithm(self) -> Algorithm:
        """The method; one machine draws as many images a step as all sampled clients together."""
        of = self.size
        made: dict[str, Any] = {
            "inner_step_size": self.beta, "outer_step_size": self.alpha, "terms": of.terms,
            "batch": of.batch * (of.sampled if self.alone else 1),
        }  # fmt: skip
        if self.method == "machine":
            return StocBiO(inner_calls=of.inner_calls * of.inner_steps, **made)
        if not self.alone:
            made["participation"] = of.sampled / of.clients
        if self.summed:
            made["series"] = "summed"
        return METHODS[self.method](inner_calls=of.inner_calls, inner_steps=of.inner_steps, **made)

    def work(self) -> bytes:
        """Run, and measure at every k: communication, test accuracy, validation loss; x at the end.

        FedInn's round is one of the T calls that the others' k has.
        """
        calls = self.size.inner_calls if self.fixed else 1
        names = (str(self.seed), "fednest/tuning", self.method, str(self.partition))
        engine = ENGINES[self.engine]
        made = engine(self.problem, self.algorithm, names, self.rounds * calls)
        ys = [y for y in made["y"][::calls] if np.all(np.isfinite(y))]
        problem, models = self.problem, np.stack(ys, 1)
        return packed({
            "ended": len(ys) == self.rounds + 1,
            "rounds": list(range(len(ys))),
            "communication": made["sent"][::calls][: len(ys)],
            "accuracy": problem.accuracy(models).tolist(),
            "loss": np.nan_to_num(problem.validation_loss(models), posinf=1e30).tolist(),
            "x": [value for value in made["x"] if np.isfinite(value)],
        })  # fmt: skip


def loaded(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return units' results as data."""
    return [json.loads(blob) for blob, _ in results]
