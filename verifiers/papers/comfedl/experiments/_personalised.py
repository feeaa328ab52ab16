"""The runs of the three personalised experiments: one method on one partition, and their sizes.

Printed (preprint, section 5.2; journal version, sections 5.2 and 5.3): CIFAR-10, a 4-layer
convolutional network, 10 workers, τ = 5 "by default" (journal; the preprint gives none), ρ = 0.28,
γ = 0.5. A method is judged by personal models on their clients' validation images. Those of FedAvg,
FedMAML, TR-MAML and ComFedL are one gradient step away from the common model, on ``adapting`` of
the client's training images: with the inner learning rate, and for FedAvg, which has none, with its
own ("FedAvg is trained with one step at test time"). Ditto's are those that it trains.

How a sentence is read was fixed before anything was run: "better" and "outperforms" at the last
round, "faster" by the mean over all rounds, in the mean over clients of the accuracy (or loss) of
the personal models on their clients' validation images; "noisy" by the root mean square of the
second differences of the log of the loss; "robust": the last accuracies differ by less than MARGIN.

All methods are searched over the journal's grids (``GRIDS``), each by as many runs, on images that
judge nothing; the first setting tried is the one in print.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from driftproof.synthetic.network_problems.adapted import AdaptedLosses
from driftproof.synthetic.network_problems.base import NetworkProblem
from driftproof.synthetic.network_problems.evaluated import evaluated
from driftproof.synthetic.network_problems.plain import NetworkLosses
from driftproof.synthetic.network_problems.samples import piece_of
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.algorithms.ditto import Ditto
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.fedmaml import FedMAML
from driftproof.toolkit.algorithms.tr_maml import TRMAML
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.network import Model
from driftproof.toolkit.networks.convolutions import FourConvolutions
from driftproof.verifiers import experiment as study
from driftproof.verifiers.papers.comfedl.experiments._dominant_classes import (
    CLIENTS,
    Dealt,
    Images,
    dealt,
)

STEP_SIZE, TEMPERATURE, SHARE = 0.05, 0.5, 0.28
"""η of ComFedL-MAML (preprint, figures 5 and 6) and of ComFedL-DAMAML (about figure 7); γ; ρ."""
RATES, TEMPERATURES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0), (0.1, 0.5, 1.0, 5.0)
"""Searched for "learning rate (both inner and outer if two types of learning rates are needed)",
and for γ "for our method"."""
_BOTH: dict[str, tuple[float, ...]] = {"step_size": RATES, "adaptation": RATES}
GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "FedAvg": {"step_size": RATES},
    "FedMAML": _BOTH,
    "TR-MAML": _BOTH | {"weight_step": (0.008, 0.08, 0.8)},
    "Ditto": {
        "step_size": RATES,
        "personal_step_size": RATES,
        "proximity": (0.05, 0.1, 0.5, 1.0, 5.0),
    },
    "ComFedL-MAML": _BOTH,
    "ComFedL-DAMAML": _BOTH | {"temperature": TEMPERATURES},
}
GAPS, SHARES = (1, 5, 10), (0.2, 0.28, 0.6)
"""τ and ρ where they are varied; chosen here ("60% samples" is the journal's example)."""
MARGIN = 0.02
"""Mean accuracies within two percentage points count as alike; chosen here."""


@dataclass(frozen=True, kw_only=True)
class PersonalisedRun(study.TrackedRun):
    """One method on one partition.

    Attributes:
        method: a key of GRIDS.
        images: which each client has.
        share: ρ.
        filters: of each convolution.
        local_steps: τ.
        step_size: η, of the common model.
        adaptation: α, the inner learning rate.
        temperature: γ of ComFedL-DAMAML.
        weight_step: of TR-MAML.
        personal_step_size, proximity: η and λ of Ditto's personal models.
        batch: images of an inner step, and of an outer loss.
    """

    scales = {"loss": "loss"}
    drawn = ("comfedl/personalised",)
    """All methods on a partition have the same minibatches at the same step."""

    method: str = "ComFedL-MAML"
    images: Images
    share: float = SHARE
    filters: int = 32
    local_steps: int = 5
    step_size: float = STEP_SIZE
    adaptation: float = 0.05
    temperature: float = TEMPERATURE
    weight_step: float = 0.08
    personal_step_size: float = 0.2
    proximity: float = 0.1
    batch: int = 10
    data: Path | None = None

    @property
    def dealt(self) -> Dealt:
        """What the clients hold."""
        return dealt(self.data, self.images, self.share, self.data_seed, self.choosing)

    @property
    def sizes(self) -> str:
        """Clients, network and images."""
        side = self.images.side
        return f"{CLIENTS} clients, {self.filters} filters, {side} × {side} pixels"

    @property
    def trivial(self) -> Mapping[str, float]:
        """A client's most frequent class, or its class shares, for every image."""
        shares = np.array(
            [
                np.bincount(own, minlength=self.dealt.classes) / len(own)
                for own in self.dealt.validation.targets
            ]
        )
        entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(1)
        return {"accuracy": float(shares.max(1).mean()), "loss": float(entropy.mean())}

    @property
    def model(self) -> Model:
        """The network.

        Clients are computed together, by vmap, on a CPU too: a MAML step has many small operations
        in its second backward pass, and a round took 0.21 s so, 0.58 s client after client, with
        8 filters on 16 × 16 pixels; 1.9 s and 2.3 s with 32 filters on 32 × 32.
        """
        held = self.dealt
        network = FourConvolutions(filters=self.filters)
        model = network.model(held.training.inputs[0].shape[1:], held.classes)
        return replace(model, convolutional=False)

    @property
    def problem(self) -> NetworkProblem:
        """The clients' losses, or the composition; a network starts from the partition's seed."""
        seed, held = self.data_seed, self.dealt.training
        if self.method in ("FedAvg", "Ditto"):
            return NetworkLosses(model=self.model, data=held, seed=seed)
        gamma = self.temperature if self.method == "ComFedL-DAMAML" else 0.0
        return AdaptedLosses(
            model=self.model, data=held, seed=seed, adaptation=self.adaptation, temperature=gamma
        )

    @property
    def algorithm(self) -> Algorithm:
        kinds: dict[str, type[Algorithm]] = {
            "FedAvg": FedAvg,
            "FedMAML": FedMAML,
            "TR-MAML": TRMAML,
            "Ditto": Ditto,
        }
        outer = {} if self.method in ("FedAvg", "Ditto") else {"outer_batch": self.batch}
        return self.made(kinds.get(self.method, ComFedL), **outer)

    def personal(self, ctx: BatchedContext, state: Any) -> Tensor:
        """Return each client's personal model, [clients, dim]."""
        if self.method == "Ditto":
            return state.v[..., 0]  # type: ignore[no-any-return]
        rate = self.step_size if self.method == "FedAvg" else self.adaptation
        losses = NetworkLosses(model=self.model, data=self.dealt.adapting)
        gradient = losses.oracles(ctx.dtype, ctx.device).field_grad(state.w, None)
        return (state.w - rate * gradient)[..., 0]  # type: ignore[no-any-return]

    def recorded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return the personal models' validation loss and accuracy."""
        held, models = self.dealt.validation, list(self.personal(ctx, state))
        scores = evaluated(problem.model, models, held.inputs, held.targets, levels=held.levels)
        return {
            "loss": float(scores.loss.mean()),
            "accuracy": float(scores.accuracy.mean()),
            "worst": float(scores.accuracy.min()),
        }


class Size(NamedTuple):
    """How large a profile's runs are.

    Attributes:
        seeds: partitions that the sentences are judged on: nine decide sixteen comparisons.
        budget: runs of each method's search.
        given: what runs have; the papers' network has 32 filters.
        gaps, shares: τ and ρ where they are varied.
    """

    seeds: int
    budget: int
    given: dict[str, Any]
    gaps: tuple[int, ...] = GAPS
    shares: tuple[float, ...] = SHARES

    def base(self, plan: study.Plan) -> PersonalisedRun:
        """Return ComFedL-MAML at this size; of scikit-learn's digits there are fewer."""
        few = {"images": DIGITS} if plan.data is None and plan.profile != "smoke" else {}
        return PersonalisedRun.planned(plan, **self.given | few)


# of the 5,000 images of a class a tenth is set aside for the search, and draws are not even
SMOKE, QUICK, PAPER = (
    Images(20, 10, 5, 20, 8),
    Images(850, 200, 80, 100, 16),
    Images(4300, 1000, 400, 1000, 32),
)
SIZES = {
    "smoke": Size(
        2,
        2,
        {"rounds": 2, "points": 3, "filters": 2, "local_steps": 2, "images": SMOKE},
        gaps=(1, 2),
        shares=(0.28, 0.6),
    ),
    "quick": Size(9, 8, {"rounds": 20, "points": 11, "filters": 8, "images": QUICK}),
    "paper": Size(9, 50, {"rounds": 500, "points": 21, "images": PAPER}),
}
DIGITS = Images(100, 20, 8, 100, 8)


def smaller(base: PersonalisedRun) -> str:
    """Say what is smaller than printed."""
    return study.smaller({"filters": (base.filters, 32), "pixels a side": (base.images.side, 32)})


def setting(base: PersonalisedRun) -> list[str]:
    """Return what was chosen, for the head of the page."""
    images, held = base.images, base.dealt
    return [
        f"{images.training:,} training and {images.validation} validation images a client; in a "
        f"search {images.choosing} others validate; split: dominant-class, ρ = {base.share:g} "
        f"unless said otherwise; first partition: {held.told}",
        f"τ = {base.local_steps} and minibatches of {base.batch} unless said otherwise; the number "
        "of rounds is not printed",
        "batch statistics are those of the client's own minibatch, in validation those of "
        f"{piece_of(len(base.model.example))} of its validation images at a time",
        f"personal models: one step on {images.adapting} training images of the client with the "
        "inner learning rate (FedAvg: with its own); Ditto: those that it trains",
        "TR-MAML's server takes the mean of the clients' models that their weights p give",
    ]


def varied(runs: Mapping[Any, PersonalisedRun], name: str, values: Sequence[Any]) -> dict[Any, Any]:
    """Return runs with one parameter at each of some values, by (label, value in words)."""
    return {
        (label, f"{SYMBOLS[name]} = {value:g}"): run.but(**{name: value})
        for label, run in runs.items()
        for value in values
    }


SYMBOLS = {"local_steps": "τ", "share": "ρ", "temperature": "γ"}


def faster(text: str, label: str, gaps: Sequence[int]) -> study.Says:
    """Each larger τ has the better mean accuracy over as many rounds."""
    return study.Says(
        text=text,
        pairs=[((label, f"τ = {more}"), (label, f"τ = {less}")) for less, more in pairwise(gaps)],
        by=study.Outcome.throughout,
        how="mean over all rounds",
    )


def at_every_share(text: str, label: str, shares: Sequence[float]) -> study.Says:
    """The method is better than FedAvg at every ρ."""
    return study.Says(
        text=text,
        pairs=[((label, f"ρ = {share:g}"), ("FedAvg", f"ρ = {share:g}")) for share in shares],
    )


def most_at_large_shares(
    text: str, label: str, shares: Sequence[float], size: str
) -> Callable[[study.Outcomes], study.Conclusion]:
    """Its lead over FedAvg is larger at the largest ρ than at the smallest."""

    def more(runs: study.Outcomes) -> study.Conclusion:
        low, high = (
            runs[label, key].last("accuracy") - runs["FedAvg", key].last("accuracy")
            for key in (f"ρ = {share:g}" for share in (min(shares), max(shares)))
        )
        where = (
            f"{label}'s lead in accuracy over FedAvg, ρ = {max(shares):g} against {min(shares):g}"
        )
        return study.Conclusion(sentences=study.judged(text, {where: (high, low)}, size=size))

    return more


def robust(text: str, label: str, how: str = "") -> study.Says:
    """Every other γ ends as TEMPERATURE does."""
    own = (label, f"γ = {TEMPERATURE:g}")
    others = [(label, f"γ = {g:g}") for g in TEMPERATURES if g != TEMPERATURE]
    return study.Says(
        text=text + how,
        pairs=[(other, own) for other in others],
        test=study.similar_by_seeds,
        margin=MARGIN,
    )


def figures(title: str, labels: Sequence[Any] | None = None) -> list[study.Figure]:
    """Return the loss by rounds, and the accuracy by rounds, megabytes and images drawn."""
    images = study.Axis(
        "images that a client has drawn",
        place=lambda run, at: float(at * PASSES.get(run.method, 2) * run.batch * run.local_steps),
    )
    axes = {"": study.ROUNDS, "-sent": study.MEGABYTES, "-images": images}
    loss = study.Figure("loss", f"{title}: loss", "loss", labels, log="y")
    return [
        *(
            study.Figure(f"accuracy{name}", f"{title}: accuracy", "accuracy", labels, axis)
            for name, axis in axes.items()
        ),
        loss,
    ]


PASSES = {"FedAvg": 1, "FedMAML": 3}
"""Minibatches that a client draws for a local step; of the other methods two."""
