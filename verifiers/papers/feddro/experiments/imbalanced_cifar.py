"""FedDRO's figure 1: training and test accuracy against rounds, where half of the classes are rare.

**Printed** (section 6): "Train and test accuracy vs communication rounds for CIFAR10-ST and
CIFAR100-ST" (caption). "We use 8 clients … and split the (unbalanced) dataset equally"; ResNet-20;
"we choose I = 1 for FedDRO and implement a parallel version of the centralized algorithms where
the overall gradient computation is K times larger"; "a batch size of 16 per client, and the
learning rates were tuned from the set {0.001, 0.01, 0.05, 0.1}, the learning rate was dropped to
1/10th after 90 communication rounds"; "averaged over 5 independent runs". What it shows: "FedDRO
provides superior training and comparable test accuracy to the state-of-the-art methods", which are
FastDRO, PDSGD and MBSGD.

**Not printed**, and chosen: how many rounds there are (120 here), how much lower a "comparable"
accuracy may be (0.02; a higher one is no failure), by what learning rates are tuned (training
accuracy at the end, on other deals of the same images), and what ``_step_imbalance`` lists. With
I = 1 a round is one step of 128 images, so that 90 rounds are less than half an epoch of
CIFAR10-ST's 25,500 images. If the paper's "communication rounds" were epochs, its models were
trained 200 times as long. The print is followed.

CIFAR100-ST is the same with CIFAR-100 in the folder that --data names.
"""

from __future__ import annotations

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Sentence, experiment, judged
from driftproof.verifiers.papers.feddro.experiments import _step_imbalance as common
from driftproof.verifiers.papers.feddro.experiments._step_imbalance import (
    BATCH,
    LEARNING_RATES,
    METHODS,
    Divergence,
    Net,
    Runs,
    Size,
    ends,
)
from driftproof.verifiers.papers.feddro.experiments._step_imbalance_data import CLIENTS

MARGIN = 0.02
"""A test accuracy that is lower by less than this is comparable."""
SIZES = {
    "smoke": Size(3, 2, 1, 2, 80, Net(2, 1, 8), LEARNING_RATES[3:]),
    "quick": Size(120, 8, 1, 7, 1000, Net(8, 1, 16)),
    "paper": Size(120, 8, 2, 21, 2000, Net()),
}
"""Eight seeds where five are printed: five cannot decide a sentence with three comparisons."""
OBJECTIVES: dict[str, Divergence] = {"objective (4), KL": "kl", "objective (5), χ²": "chi-square"}
"""The sentences are judged on each at paper size, on the first below it."""


@experiment(
    name="feddro/imbalanced-cifar",
    source="FedDRO (2023), figure 1 and section 6",
    statement="FedDRO has superior training accuracy and comparable test accuracy to FastDRO, "
    "PDSGD and MBSGD",
)
def imbalanced_cifar(plan: study.Plan) -> study.Steps:
    """Choose every method's learning rate, run it on every partition, and judge the sentences."""
    size = SIZES[plan.profile]
    base, objectives = size.base(plan), list(OBJECTIVES)[: 2 if plan.profile == "paper" else 1]
    wanted = {
        _label(method, on): base.but(method=method, divergence=OBJECTIVES[on])
        for on in objectives
        for method in METHODS
    }
    found, runs = yield from common.tuned(wanted, size)
    images = sum(map(len, base.dealt.train.targets))
    return study.Conclusion(
        setting=common.setting(
            found,
            base,
            size,
            f"I = 1; comparable: a test accuracy lower by less than {MARGIN:g}, set before any run",
        ),
        sentences=[
            sentence
            for on in objectives
            for sentence in sentences(
                {method: runs[_label(method, on)] for method in METHODS}, on, len(objectives)
            )
        ],
        findings=[
            *common.findings(runs),
            f"PDSGD moves the weight of an image only when it is drawn, "
            f"{base.rounds * BATCH * CLIENTS / images:.2g} times in a run: distance of its weights "
            "from equal ones, and of those that maximise (3) at its last model (total variation). "
            + study.ends({"PDSGD": runs["PDSGD"]}, "own weights", "worst weights"),
            "FedDRO and MBSGD differ in β alone.",
        ],
        panels=[
            common.accuracy("training", runs, study.ROUNDS),
            common.accuracy("test", runs, study.ROUNDS, "test"),
            common.accuracy("training-bytes", runs, common.MEGABYTES),
            common.accuracy("training-samples", runs, common.SAMPLES),
        ],
        numbers=common.numbers(found, runs),
    )


def _label(method: str, objective: str) -> str:
    return method if OBJECTIVES[objective] == "kl" else f"{method}, χ²"


def sentences(runs: Runs, objective: str, objectives: int) -> list[Sentence]:
    """Judge both sentences of one objective, of so many that share the level."""

    def pairs(name: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        own = ends(runs["FedDRO"], name)
        return {f"against {m}; {objective}": (own, ends(runs[m], name)) for m in METHODS[1:]}

    comparisons = objectives * (len(METHODS) - 1)
    superior = judged(
        "FedDRO provides superior training accuracy (after the last round)",
        pairs("training"),
        comparisons=comparisons,
    )
    comparable = judged(
        "FedDRO provides comparable test accuracy (after the last round)",
        pairs("test"),
        comparisons=comparisons,
        test=study.no_worse_by_seeds,
        margin=MARGIN,
    )
    return [study.undecided_if(each, common.unlearned(runs)) for each in (*superior, *comparable)]
