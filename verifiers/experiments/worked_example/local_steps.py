"""Do local steps save rounds of communication? FedAvg on images, τ = 1, 5 and 20.

The example of docs/experiments.md, and what ``driftproof new experiment`` starts from.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from synthetic.image_problems.imbalanced import ImbalancedImages
from toolkit.algorithms.fedavg import FedAvg
from toolkit.dataset import read
from verifiers.experiment import (
    Conclusion,
    Panel,
    Plan,
    Run,
    Steps,
    curve,
    experiment,
    judged_by_seeds,
    results_of,
)

SIZES = {"smoke": (2, 5), "quick": (8, 40), "paper": (20, 200)}
"""Profile: seeds and rounds."""
LOCAL_STEPS = (1, 5, 20)


@dataclass(frozen=True, kw_only=True)
class FedAvgRun(Run):
    """FedAvg with τ local steps a round; ten clients have 100 images each.

    Attributes:
        local_steps: τ.
        data: folder of a data set, or None for scikit-learn's digits.
    """

    local_steps: int = 1
    data: Path | None = None

    @property
    def problem(self) -> ImbalancedImages:
        """Softmax regression; the partition says who has which images."""
        return ImbalancedImages(
            data=self.data, large=100, small=100, form="average", partition=self.data_seed
        )

    @property
    def algorithm(self) -> FedAvg:
        """FedAvg with minibatches of 10."""
        return FedAvg(local_steps=self.local_steps, step_size=0.1, batch=10)

    @property
    def keys(self) -> tuple[str, ...]:
        """Every τ has the same draws on the same partition."""
        return str(self.seed), "worked-example/local-steps", str(self.partition)

    def measured(self) -> dict[str, Any]:
        """Return the clients' mean validation accuracy at every round."""
        models = self.followed().fields["w"].T.copy()
        return {"accuracy": self.problem.accuracy(models, validation=True).mean(0).tolist()}


@experiment(
    name="worked-example/local-steps",
    source="McMahan et al. 2017 (FedAvg), on images of driftproof's choice",
    statement="more local steps a round give a better model after as many rounds",
)
def local_steps(plan: Plan) -> Steps:
    """Run FedAvg with every τ on every partition, and judge the sentence."""
    seeds, rounds = SIZES[plan.profile]
    base = FedAvgRun(rounds=rounds, seed=plan.seed, engine=plan.engine, data=plan.data)
    runs = yield from results_of(
        {f"τ = {tau}": base.but(local_steps=tau).over(seeds) for tau in LOCAL_STEPS}
    )
    accuracies = {
        label: np.array([result["accuracy"] for result in results])  # [seeds, rounds + 1]
        for label, results in runs.items()
    }
    return Conclusion(
        setting=[
            f"data: {read(plan.data).title}; ten clients with 100 images each; softmax regression",
            f"{rounds} rounds, {seeds} seeds (partition and minibatches)",
            "band: smallest and largest seed",
        ],
        sentences=[
            judged_by_seeds(
                "more local steps a round give a better model after as many rounds",
                f"{more} against {fewer}",
                accuracies[more][:, -1],
                accuracies[fewer][:, -1],
                comparisons=len(LOCAL_STEPS) - 1,
            )
            for fewer, more in pairwise(accuracies)
        ],
        findings=[
            f"{label}: accuracy {values[:, -1].mean():.3f} at the end, mean over seeds."
            for label, values in accuracies.items()
        ],
        panels=[
            Panel(
                "accuracy", "validation accuracy", "round", "accuracy",
                [curve(label, range(rounds + 1), values) for label, values in accuracies.items()],
            )
        ],
    )  # fmt: skip
