"""The runs of comfedl/imbalanced and comfedl/imbalanced-parameters: one method on one partition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from driftproof.synthetic.image_problems.imbalanced import ImbalancedImages
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.algorithms.drfl import DRFL
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.q_fedavg import QFedAvg
from driftproof.verifiers import experiment as study

TAU, BATCH, PRINTED = 5, 20, 0.01
METRICS = ("validation average", "validation worst", "training average", "training worst")


@dataclass(frozen=True, kw_only=True)
class ImageRun(study.Run):
    """One method on one partition.

    Attributes:
        method: "comfedl", "fedavg", "fedavg-uniform", "q-fedavg" or "drfl".
        temperature: γ of the objective (5) that is reported, and of ComFedL's step.
        fairness, weight_step: q of q-FedAvg, and the step of DRFL's weights.
        local_steps: τ.
        large, validation: training images of the large client, validation images of each client.
        points: moments at which it is measured, at most.
    """

    scales = {"objective": "loss", "distance of r from 1/n": "gap"}

    method: str = "comfedl"
    temperature: float = 0.5
    step_size: float = PRINTED
    fairness: float = 0.2
    weight_step: float = 0.08
    local_steps: int = TAU
    large: int = 1000
    validation: int = 25
    points: int = 41
    data: Path | None = None

    @property
    def problem(self) -> ImbalancedImages:
        """The problem in the form that the method asks for."""
        return self.in_form("exp" if self.method == "comfedl" else "average")

    def in_form(self, form: str) -> ImbalancedImages:
        """Return the problem in one form; "log" is the objective (5)."""
        given = {"form": form, "choosing": self.choosing, "partition": self.data_seed}
        return self.made(ImbalancedImages, **given)

    @property
    def algorithm(self) -> Algorithm:
        """The method."""
        kinds: dict[str, tuple[type[Algorithm], dict[str, str]]] = {
            "comfedl": (ComFedL, {"branch": "special"}),
            "fedavg": (FedAvg, {"weighting": "samples"}),
            "fedavg-uniform": (FedAvg, {"weighting": "uniform"}),
            "q-fedavg": (QFedAvg, {}),
            "drfl": (DRFL, {}),
        }
        kind, given = kinds[self.method]
        return self.made(kind, batch=BATCH, **given)

    @property
    def keys(self) -> tuple[str, ...]:
        """A method's draws are the same in every experiment on these clients."""
        return str(self.seed), "comfedl/imbalanced", self.method, str(self.partition)

    @property
    def moments(self) -> Sequence[int]:
        """The rounds at which it is measured; in a search the first and the last."""
        points = 2 if self.choosing else min(self.rounds + 1, self.points)
        even = np.linspace(0, self.rounds, points)
        return sorted(set(even.astype(int).tolist()))

    @property
    def sizes(self) -> str:
        """Clients and images."""
        return f"one client with {self.large:,} images and nine with 20"

    @property
    def trivial(self) -> Mapping[str, float]:
        """The best constant answer."""
        _, training, _, validation = self.in_form("log").parts
        shares = {
            part: np.array([np.bincount(own, minlength=10) / len(own) for own in labels])
            for part, labels in (("training", training), ("validation", validation))
        }  # [clients, classes] each
        return {
            f"{part} {what}": float(value)
            for part, of in shares.items()
            for what, value in (("average", of.mean(0).max()), ("worst", of.min(0).max()))
        }

    def measured(self) -> dict[str, Any]:
        """Return accuracies and objective (5) at the moments, and where it overflowed."""
        followed, problem = self.followed(), self.in_form("log")
        w = followed.fields["w"]
        at = [moment for moment in self.moments if moment < len(w)]
        models = w[at].T.copy()  # all at once: the data are read once
        diverged = len(w) <= self.rounds
        away = np.abs(problem.robust_weights_at(w[-1]) - 1 / problem.clients).sum() / 2
        ended = (len(w) - 1) * self.local_steps  # the wire does not tell the step
        bad = followed.bad_step if followed.bad_step is not None else ended
        measured: dict[str, Any] = {
            "round": at,
            "bad_step": bad if diverged else None,
            "distance of r from 1/n": None if diverged else float(away),
            "objective": problem.objective(torch.from_numpy(models)).tolist(),
        }
        for part in ("training", "validation"):
            shares = problem.accuracy(models, validation=part == "validation")
            measured[f"{part} average"] = shares.mean(0).tolist()
            measured[f"{part} worst"] = shares.min(0).tolist()
            measured[f"{part} of the small clients"] = shares[1:].mean(0).tolist()
        return measured


def base_run(plan: study.Plan, rounds: int) -> ImageRun:
    """Return ComFedL as printed, at the sizes of a plan."""
    large, validation = (1000, 25) if plan.data is None else (5000, 1000)
    if plan.profile == "smoke":
        large, validation = (200, 25) if plan.data is None else (1000, 100)
    return ImageRun.planned(plan, rounds=rounds, large=large, validation=validation)


def smaller(run: ImageRun) -> str:
    """Say what is smaller than printed."""
    return study.smaller({"images of the large client": (run.large, 5000)})


def setting(run: ImageRun) -> list[str]:
    """Return what was chosen, for the head of the page."""
    return [
        f"one client with {run.large:,} training images, nine with 20; softmax regression from 0",
        f"τ = {TAU} unless said otherwise, minibatches of {BATCH} (chosen here)",
        f"validation: {run.validation:,} images a client that are not trained on, of the test "
        "files where there are some; settings are chosen by others (chosen here)",
    ]
