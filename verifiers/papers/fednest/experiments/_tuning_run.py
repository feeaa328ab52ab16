"""The runs of fednest/tuning: one method with one pair of step sizes on one split."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from driftproof.synthetic.image_problems.label_imbalance import LabelImbalance
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.fednest_sgd import FedNestSGD
from driftproof.toolkit.algorithms.lfednest import LFedNest
from driftproof.toolkit.algorithms.stocbio import StocBiO
from driftproof.verifiers.experiment import Run
from driftproof.verifiers.experiment.outcome import better
from driftproof.verifiers.papers.fednest.experiments._public_code import (
    AllSharedFedNest,
    PublicFedNest,
)

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
        budget: runs of each method's search.
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
    budget: int = 12
    inner_calls: int = 3
    inner_steps: int = 10
    terms: int = 3
    batch: int = 5


@dataclass(frozen=True, kw_only=True)
class TuningRun(Run):
    """One method on one split.

    Attributes:
        method: a key of METHODS.
        rounds: K.
        beta, alpha: step sizes of the lower and of the upper level.
        alike: whether the clients' data are i.i.d.
    """

    fields = ("x", "y")
    scales = {"late loss": "cost"}

    method: str = "fednest"
    size: Size
    alike: bool = False
    data: Path | None = None
    beta: float = 0.0
    alpha: float = 1.0

    @property
    def sizes(self) -> str:
        """Clients and images."""
        of = self.size
        return f"{of.clients} clients, {of.sampled} a call, {of.largest:,} images of class 0"

    @property
    def trivial(self) -> Mapping[str, float]:
        """One class for every image, of test images with equally many of each."""
        return {"accuracy": 1 / self.problem.classes}

    @property
    def alone(self) -> bool:
        """Whether one machine has all images. It does not communicate; it has no wire."""
        return self.method.startswith("machine")

    @property
    def fixed(self) -> bool:
        """Whether x stays where it is."""
        return self.method.endswith("fixed")

    @property
    def coded(self) -> bool:
        """Whether it is the public code's."""
        return self.method.startswith("public")

    @property
    def grid(self) -> dict[str, tuple[float, ...]]:
        """The step sizes from which the method chooses."""
        alphas = (1.0,) if self.fixed else self.size.alphas
        if self.coded:
            alphas = tuple(alpha / self.size.public_scale for alpha in alphas)
        return {"beta": self.size.betas, "alpha": alphas}

    @property
    def problem(self) -> LabelImbalance:
        """The problem; its split depends on ``alike``, the seed and the partition alone."""
        of = self.size
        return LabelImbalance(
            clients=1 if self.alone else of.clients, shards=of.clients, data=self.data,
            largest=of.largest, ratio=of.ratio, per_class=of.per_class, ridge=RIDGE,
            alike=self.alike, coded=self.coded, partition=self.data_seed,
        )  # fmt: skip

    @property
    def algorithm(self) -> Algorithm:
        """The method; one machine draws as many images a step as all sampled clients together."""
        of = self.size
        common: dict[str, Any] = {
            "inner_step_size": self.beta,
            "outer_step_size": self.alpha,
            "terms": of.terms,
            "batch": of.batch * (of.sampled if self.alone else 1),
        }
        if self.method == "machine":
            return StocBiO(inner_calls=of.inner_calls * of.inner_steps, **common)
        if not self.alone:
            common["participation"] = of.sampled / of.clients
        return METHODS[self.method](
            inner_calls=of.inner_calls, inner_steps=of.inner_steps, **common
        )

    @property
    def cost(self) -> float:
        """Expected rounds of communication of one k: the slides' table with N' in place of N."""
        of, light = self.size, self.method in ("lfednest", "public-light")
        lower = of.inner_calls * (1 if light or self.method.endswith("sgd") else 2)
        if self.fixed or light:
            return lower + light
        return lower + 3 + (of.terms if self.coded else (of.terms - 1) / 2)

    @property
    def length(self) -> int:
        """How many k are run: K, and where sentences are judged FedNest's communication at K."""
        if self.alone or self.choosing:
            return self.rounds
        return max(self.rounds, ceil(self.rounds * self.but(method="fednest").cost / self.cost))

    @property
    def moments(self) -> Sequence[int]:
        """Every k."""
        return range(self.length + 1)

    @property
    def keys(self) -> tuple[str, ...]:
        """A method's draws are its own."""
        return str(self.seed), "fednest/tuning", self.method, str(self.partition)

    def measured(self) -> dict[str, Any]:
        """Return communication and test accuracy for every k, and the late validation loss.

        That is the mean log over the last quarter of what was to be run. FedInn's round is one of
        the T calls that the others' k has.
        """
        calls, problem = self.size.inner_calls if self.fixed else 1, self.problem
        here = self.but(engine="batched") if self.alone or self.choosing else self
        followed = here.followed(rounds=self.length * calls)
        models = followed.fields["y"][::calls].T.copy()
        count, whole = models.shape[1], self.length + 1
        losses = np.full(whole, np.inf)
        losses[:count] = problem.validation_loss(models)
        late = better("loss", losses)[-max(1, whole // 4) :]
        return {
            "bad_step": None if count == whole else count * self.algorithm.local_steps,
            "rounds": list(range(count)),
            "communication": followed.sent[::calls],
            "accuracy": problem.accuracy(models).tolist(),
            "late loss": -float(late.mean()),
        }
