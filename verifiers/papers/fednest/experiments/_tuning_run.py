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
from driftproof.verifiers.papers.fednest.experiments import _public_code as public_code

RIDGE = 1e-3
"""ν of the lower level."""
METHODS: dict[str, Callable[..., Algorithm]] = {
    "fednest": FedNest,
    "fednest-sgd": FedNestSGD,
    "lfednest": LFedNest,
    "public": public_code.PublicFedNest,
    "public-sgd": partial(public_code.PublicFedNest, plain=True),
    "public-light": partial(public_code.PublicFedNest, plain=True, alone=True),
    "all-shared": public_code.AllSharedFedNest,
    "fixed": FedInn,
    "machine": StocBiO,
    "machine-fixed": FedInn,
}
"""What runs: "fixed" leaves x where it is; "machine…" has one client, with all images."""


@dataclass(frozen=True, kw_only=True)
class TuningRun(Run):
    """One method on one split.

    Attributes:
        method: a key of METHODS.
        rounds: K.
        clients, sampled: m, and how many take part in a call.
        largest, ratio, per_class: of the images (``LabelImbalance``).
        alike: whether the clients' data are i.i.d.
        inner_calls, inner_steps, terms, batch: T, τ, N and b.
        beta, alpha: step sizes of the lower and of the upper level.
    """

    fields = ("x", "y")
    scales = {"late loss": "cost"}

    method: str = "fednest"
    clients: int
    sampled: int
    largest: int
    ratio: float
    per_class: int
    alike: bool = False
    data: Path | None = None
    inner_calls: int = 3
    inner_steps: int = 10
    terms: int = 3
    batch: int = 5
    beta: float = 0.0
    alpha: float = 1.0

    @property
    def sizes(self) -> str:
        """Clients and images."""
        return f"{self.clients} clients, {self.sampled} a call, {self.largest:,} images of class 0"

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
    def problem(self) -> LabelImbalance:
        """The problem; its split depends on ``alike``, the seed and the partition alone."""
        given: dict[str, Any] = {"clients": 1 if self.alone else self.clients, "ridge": RIDGE}
        given |= {"shards": self.clients, "coded": self.coded, "partition": self.data_seed}
        return self.made(LabelImbalance, **given)

    @property
    def algorithm(self) -> Algorithm:
        """The method; one machine draws as many images a step as all sampled clients together."""
        given: dict[str, Any] = {"inner_step_size": self.beta, "outer_step_size": self.alpha}
        if self.alone:
            given["batch"] = self.batch * self.sampled
        else:
            given["participation"] = self.sampled / self.clients
        if self.method == "machine":
            given["inner_calls"] = self.inner_calls * self.inner_steps
        return self.made(METHODS[self.method], **given)

    @property
    def cost(self) -> float:
        """Expected rounds of communication of one k: the slides' table with N' in place of N."""
        light = self.method in ("lfednest", "public-light")
        lower = self.inner_calls * (1 if light or self.method.endswith("sgd") else 2)
        if self.fixed or light:
            return lower + light
        return lower + 3 + (self.terms if self.coded else (self.terms - 1) / 2)

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
        calls, problem = self.inner_calls if self.fixed else 1, self.problem
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
