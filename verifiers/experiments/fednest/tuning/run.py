"""The runs of fednest/tuning: one method with one pair of step sizes on one split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from synthetic.image_problems.label_imbalance import LabelImbalance
from toolkit.algorithm import Algorithm
from toolkit.algorithms.fedinn import FedInn
from toolkit.algorithms.fednest import FedNest
from toolkit.algorithms.fednest_sgd import FedNestSGD
from toolkit.algorithms.lfednest import LFedNest
from toolkit.algorithms.stocbio import StocBiO
from verifiers.experiment import Run
from verifiers.experiments.fednest.tuning.public_code import AllSharedFedNest, PublicFedNest

RIDGE = 1e-3
"""ν of the lower level."""
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
        largest, ratio, per_class: of the images (``LabelImbalance``).
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


@dataclass(frozen=True, kw_only=True)
class TuningRun(Run):
    """One method on one split.

    Attributes:
        method: a key of METHODS.
        rounds: k at the end.
        beta, alpha: step sizes of the lower and of the upper level.
        alike: whether the clients' data are i.i.d.
        summed: whether FedIHGP sums its series instead of sampling it.
        squash, normalised, prior: of ``LabelImbalance``.
    """

    fields = ("x", "y")

    method: str = "fednest"
    size: Size
    rounds: int = 0
    alike: bool = False
    data: Path | None = None
    beta: float = 0.0
    alpha: float = 1.0
    summed: bool = False
    squash: bool = False
    normalised: bool = False
    prior: bool = False

    @property
    def alone(self) -> bool:
        """Whether one machine has all images."""
        return self.method.startswith("machine")

    @property
    def fixed(self) -> bool:
        """Whether x stays where it is."""
        return self.method.endswith("fixed")

    @property
    def problem(self) -> LabelImbalance:
        """The problem; its split depends on ``alike``, the seed and the partition alone."""
        of = self.size
        return LabelImbalance(
            clients=1 if self.alone else of.clients, data=self.data, shards=of.clients,
            alike=self.alike, largest=of.largest, ratio=of.ratio, per_class=of.per_class,
            ridge=RIDGE, squash=self.squash, normalised=self.normalised, prior=self.prior,
            partition=self.data_seed,
        )  # fmt: skip

    @property
    def algorithm(self) -> Algorithm:
        """The method; one machine draws as many images a step as all sampled clients together."""
        of = self.size
        common: dict[str, Any] = {
            "inner_step_size": self.beta, "outer_step_size": self.alpha, "terms": of.terms,
            "batch": of.batch * (of.sampled if self.alone else 1),
        }  # fmt: skip
        if self.method == "machine":
            return StocBiO(inner_calls=of.inner_calls * of.inner_steps, **common)
        if not self.alone:
            common["participation"] = of.sampled / of.clients
        if self.summed:
            common["series"] = "summed"
        return METHODS[self.method](
            inner_calls=of.inner_calls, inner_steps=of.inner_steps, **common
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """A method's draws are its own."""
        return str(self.seed), "fednest/tuning", self.method, str(self.partition)

    def measured(self) -> dict[str, Any]:
        """Return, for every k, communication, test accuracy, validation loss; and the last x.

        FedInn's round is one of the T calls that the others' k has.
        """
        calls = self.size.inner_calls if self.fixed else 1
        problem, followed = self.problem, self.followed(rounds=self.rounds * calls)
        models = followed.fields["y"][::calls].T.copy()
        count = models.shape[1]
        return {
            "ended": count == self.rounds + 1,
            "rounds": list(range(count)),
            "communication": followed.sent[::calls],
            "accuracy": problem.accuracy(models).tolist(),
            "loss": np.nan_to_num(problem.validation_loss(models), posinf=1e30).tolist(),
            "x": followed.fields["x"][-1].tolist(),
        }
