"""Do local steps save rounds of communication? FedAvg on examples, τ = 1, 5 and 20.

The example of docs/experiments.md, and what ``driftproof new experiment`` starts from.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from driftproof.synthetic.image_problems.imbalanced import ImbalancedImages
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.dataset import read
from driftproof.verifiers.experiment import (
    Conclusion,
    Plan,
    Run,
    Steps,
    ends,
    experiment,
    judged,
    outcomes,
    plot,
    setting,
)

SIZES = {"smoke": (2, 5), "quick": (8, 40), "paper": (20, 200)}
"""Profile: seeds and rounds."""
LOCAL_STEPS = (1, 5, 20)
IMAGES, VALIDATION = 100, 25
"""Of each of the ten clients, to train and to judge, at most."""


@dataclass(frozen=True, kw_only=True)
class FedAvgRun(Run):
    """FedAvg with τ local steps a round; ten clients have 100 examples each, of few data fewer.

    Attributes:
        local_steps: τ.
        data: folder of a data set, or None for scikit-learn's digits.
    """

    drawn = ("worked-example/local-steps",)
    """Every τ has the same draws on the same partition."""

    local_steps: int = 1
    data: Path | None = None

    @property
    def held(self) -> tuple[int, int]:
        """Training and validation examples a client has; 4/5 of few data, so that seeds differ."""
        train, _, judging = read(self.data).apart
        own, other = (max(1, len(of.labels) * 4 // 50) for of in (train, judging))
        return min(IMAGES, own), min(VALIDATION, other)

    @property
    def problem(self) -> ImbalancedImages:
        """Softmax regression; the partition says who has which examples."""
        each, validation = self.held
        sizes: dict[str, Any] = {"large": each, "small": each, "validation": validation}
        return ImbalancedImages(data=self.data, form="average", partition=self.data_seed, **sizes)

    @property
    def algorithm(self) -> FedAvg:
        """FedAvg with minibatches of 10."""
        return FedAvg(local_steps=self.local_steps, step_size=0.1, batch=10)

    def measured(self) -> dict[str, Any]:
        """Return the rounds, and the clients' mean validation accuracy at each."""
        models = self.followed().fields["w"].T.copy()
        accuracy = self.problem.accuracy(models, validation=True).mean(0)
        return {"round": list(range(len(accuracy))), "accuracy": accuracy.tolist()}


@experiment(
    name="worked-example/local-steps",
    source="McMahan et al. 2017 (FedAvg), on examples of driftproof's choice",
    statement="more local steps a round give a better model after as many rounds",
)
def local_steps(plan: Plan) -> Steps:
    """Run FedAvg with every τ on every partition, and judge the sentence."""
    seeds, rounds = SIZES[plan.profile]
    base = FedAvgRun.planned(plan, rounds=rounds)
    each, validation = base.held
    wanted = {f"τ = {tau}": base.but(local_steps=tau) for tau in LOCAL_STEPS}
    runs = yield from outcomes(wanted, seeds)
    last = {label: of.last("accuracy") for label, of in runs.items()}  # [seeds] each
    return Conclusion(
        setting=setting(base, seeds, f"softmax regression; ten clients with {each} examples each"),
        sentences=judged(
            "more local steps a round give a better model after as many rounds",
            {
                f"{more} against {fewer}": (last[more], last[fewer])
                for fewer, more in pairwise(runs)
            },
        ),
        findings=[ends(runs, "accuracy"), f"Each client is judged by {validation} examples."],
        panels=[plot("accuracy", "validation accuracy", runs, "accuracy", "accuracy")],
    )
