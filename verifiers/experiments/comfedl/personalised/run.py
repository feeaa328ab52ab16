"""The runs of the three personalised experiments: one method on one partition.

A method is judged by personal models on their clients' validation images. Those of FedAvg,
FedMAML, TR-MAML and ComFedL are one gradient step away from the common model, on ``adapting`` of
the client's training images: with the inner learning rate, and for FedAvg, which has none, with its
own ("FedAvg is trained with one step at test time"). Ditto's are those that it trains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from synthetic.network_problems.adapted import AdaptedLosses
from synthetic.network_problems.base import NetworkProblem
from synthetic.network_problems.evaluated import evaluated
from synthetic.network_problems.plain import NetworkLosses
from toolkit.algorithm import Algorithm
from toolkit.algorithms.comfedl import ComFedL
from toolkit.algorithms.ditto import Ditto
from toolkit.algorithms.fedavg import FedAvg
from toolkit.algorithms.fedmaml import FedMAML
from toolkit.algorithms.tr_maml import TRMAML
from toolkit.engines.batched import BatchedContext
from toolkit.network import Model
from toolkit.networks.convolutions import FourConvolutions
from verifiers.experiment import TrackedRun, averaged
from verifiers.experiment.theory import (
    drift,
    estimated_constants,
    plug_in_bias,
    squared_gradient,
)
from verifiers.experiments.comfedl.personalised.images import Dealt, Images, dealt
from verifiers.experiments.comfedl.personalised.printed import (
    LOCAL_STEPS,
    SHARE,
    STEP_SIZE,
    TEMPERATURE,
)

NAMES = {
    "maml": "ComFedL-MAML", "damaml": "ComFedL-DAMAML", "fedavg": "FedAvg", "fedmaml": "FedMAML",
    "tr-maml": "TR-MAML", "ditto": "Ditto",
}  # fmt: skip
PLAIN = ("fedavg", "ditto")
"""Methods on the clients' losses; the others solve the composition."""


@dataclass(frozen=True, kw_only=True)
class PersonalisedRun(TrackedRun):
    """One method on one partition.

    Attributes:
        method: a key of NAMES.
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

    method: str = "maml"
    images: Images
    share: float = SHARE
    filters: int = 32
    local_steps: int = LOCAL_STEPS
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
        return dealt(self.data, self.images, self.share, self.data_seed)

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
        """The problem that the method solves; a network starts from the partition's own seed."""
        given: dict[str, Any] = {
            "model": self.model, "data": self.dealt.training, "seed": self.data_seed
        }  # fmt: skip
        if self.method in PLAIN:
            return NetworkLosses(**given)
        gamma = self.temperature if self.method == "damaml" else 0.0
        return AdaptedLosses(adaptation=self.adaptation, temperature=gamma, **given)

    @property
    def algorithm(self) -> Algorithm:
        """The method with its parameters."""
        given: dict[str, Any] = {
            "local_steps": self.local_steps, "step_size": self.step_size, "batch": self.batch
        }  # fmt: skip
        if self.method == "fedavg":
            return FedAvg(**given)
        if self.method == "ditto":
            given["personal_step_size"] = self.personal_step_size
            return Ditto(proximity=self.proximity, **given)
        given["outer_batch"] = self.batch
        if self.method == "tr-maml":
            return TRMAML(weight_step=self.weight_step, **given)
        return FedMAML(**given) if self.method == "fedmaml" else ComFedL(**given)

    @property
    def keys(self) -> tuple[str, ...]:
        """All methods on a partition have the same minibatches at the same step."""
        return str(self.seed), "comfedl/personalised", str(self.partition)

    def personal(self, ctx: BatchedContext, state: Any) -> Tensor:
        """Return each client's personal model, [clients, dim]."""
        if self.method == "ditto":
            return state.v[..., 0]  # type: ignore[no-any-return]
        rate = self.step_size if self.method == "fedavg" else self.adaptation
        losses = NetworkLosses(model=self.model, data=self.dealt.adapting)
        gradient = losses.oracles(ctx.dtype, ctx.device).field_grad(state.w, None)
        return (state.w - rate * gradient)[..., 0]  # type: ignore[no-any-return]

    def recorded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return the personal models' validation loss and accuracy, and the clients' drift."""
        held = self.dealt.validation
        scores = evaluated(
            problem.model, list(self.personal(ctx, state)), held.inputs, held.targets,
            levels=held.levels,
        )  # fmt: skip
        return {
            "loss": float(scores.loss.mean()),
            "accuracy": float(scores.accuracy.mean()),
            "worst": float(scores.accuracy.min()),
            "drift": drift(ctx.marks["w"]) if "w" in ctx.marks else 0.0,
        }


@dataclass(frozen=True, kw_only=True)
class ExplainedRun(PersonalisedRun):
    """The same run, of which the theorem's quantities are recorded: a few costly numbers."""

    def recorded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return ‖∇F‖², the plug-in gradient's bias and the clients' drift."""
        point = averaged(state.w)
        bias = plug_in_bias(
            problem, point, (*self.keys, str(ctx.t)), batch=self.batch, outer_batch=self.batch
        )
        return {
            "left": squared_gradient(problem, point),
            "bias": bias,
            "drift": drift(ctx.marks["w"]) if "w" in ctx.marks else 0.0,
        }

    def concluded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return the constants that are seen at the first and the last model.

        They are looked for at single samples. Where the last convolution sees a single pixel, one
        sample has no batch statistics, and there are none.
        """
        if min(self.dealt.training.inputs[0].shape[-2:]) < 2 ** FourConvolutions().blocks:
            return {}
        first = torch.from_numpy(problem.start()).to(averaged(state.w))
        points = torch.stack([first, averaged(state.w)], 1)
        return {"constants": estimated_constants(problem, points, self.keys, draws=2)}
