"""The runs of fednest/tuning: one method with one pair of step sizes on one split."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.image_problems.label_imbalance import LabelImbalance
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.fednest_sgd import FedNestSGD
from driftproof.toolkit.algorithms.lfednest import LFedNest
from driftproof.toolkit.algorithms.stocbio import StocBiO
from driftproof.toolkit.oracles import ClientVectors, on_every_client
from driftproof.verifiers.experiment import Computed, Run
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
        rounds: k at the end.
        beta, alpha: step sizes of the lower and of the upper level.
        alike: whether the clients' data are i.i.d.
        summed: whether FedIHGP sums its series instead of sampling it.
        squash, normalised, prior: of ``LabelImbalance``.
    """

    fields = ("x", "y")
    scales = {"loss": "loss"}

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
        """Whether one machine has all images."""
        return self.method.startswith("machine")

    @property
    def fixed(self) -> bool:
        """Whether x stays where it is."""
        return self.method.endswith("fixed")

    @property
    def problem(self) -> LabelImbalance:
        """The problem; its split depends on ``alike``, the seed and the partition alone."""
        own = ("data", "alike", "squash", "normalised", "prior")
        given: dict[str, Any] = {name: getattr(self, name) for name in own}
        given |= {name: getattr(self.size, name) for name in ("largest", "ratio", "per_class")}
        clients = 1 if self.alone else self.size.clients
        return LabelImbalance(
            clients=clients,
            shards=self.size.clients,
            ridge=RIDGE,
            partition=self.data_seed,
            **given,
        )

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
            "bad_step": None if count == self.rounds + 1 else count * self.algorithm.local_steps,
            "rounds": list(range(count)),
            "communication": followed.sent[::calls],
            "accuracy": problem.accuracy(models).tolist(),
            "loss": np.nan_to_num(problem.validation_loss(models), posinf=1e30).tolist(),
            "x": followed.fields["x"][-1].tolist(),
        }


TERMS = (1, 3, 10, 30, 100, 300)


@dataclass(frozen=True)
class Series(Computed):
    r"""How near the series come to the hypergradient, at the start x⁰ and y*(x⁰), on one split.

    The exact ∇F is had by conjugate gradients. Compared with it are, without noise and with all
    clients, −∇²_xy g p for

    * p = (1/ℓ) Σ_{n<N} (I − H/ℓ)^n ∇_y f, the mean of what the slides sample (H the mean ∇²_yy g),
    * p = ∇_y f + Σ_{n≤N} (1/n)(1/m) Σ_i (I − ηH_i)^n ∇_y f, the public code's.

    Lengths are a matter of the step size α; directions are not.
    """

    of: TuningRun

    def measured(self) -> dict[str, Any]:
        """Return the cosine and the ratio of lengths for each N, and for the public code's p."""
        problem = self.of.problem
        oracles = problem.oracles(torch.float64)
        start = torch.from_numpy(problem.start()[: problem.upper_dim])[:, None]
        solved = problem.lower_solution(start)
        x, y = (on_every_client(part, problem.clients) for part in (start, solved))
        exact = problem.hypergradient(start, solved)

        def compared(p: ClientVectors) -> dict[str, float]:
            h = -oracles.lower_cross_product(x, y, p, None).mean(0)
            length = float(h.norm())
            return {
                "cosine": float((h * exact).sum()) / length / float(exact.norm()),
                "length": length / float(exact.norm()),
            }

        def mean(v: ClientVectors) -> ClientVectors:
            return on_every_client(v.mean(0), problem.clients)

        gradient = mean(oracles.upper_grad_y(x, y, None))
        step = 1 / oracles.lower_smoothness
        power, total = gradient, torch.zeros_like(gradient)
        series: dict[str, Any] = {}
        for n in range(1, max(TERMS) + 1):
            total = total + step * power
            if n in TERMS:
                series[str(n)] = compared(total)
            power = mean(power - step * oracles.lower_hessian_product(x, y, power, None))
        terms, eta = self.of.size.terms, PublicFedNest().series_step
        counter: Tensor = gradient
        total = gradient
        for n in range(1, terms + 1):
            counter = counter - eta * oracles.lower_hessian_product(x, y, counter, None)
            total = total + mean(counter) / n
        series["public"] = compared(total)
        series["length of ∇F"] = float(exact.norm())
        return series
