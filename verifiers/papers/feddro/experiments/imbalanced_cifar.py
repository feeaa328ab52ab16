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
accuracy may be (0.02; a higher one is no failure), by what learning rates are tuned, and what
``_step_imbalance`` lists. With I = 1 a round is one step of 128 images, so that 90 rounds are less
than half an epoch of CIFAR10-ST's 25,500 images. If the paper's "communication rounds" were epochs,
its models were trained 200 times as long. The print is followed.

CIFAR100-ST is the same with CIFAR-100 in the folder that --data names.
"""

from typing import Any

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Figure, Says, experiment
from driftproof.verifiers.papers.feddro.experiments import _step_imbalance as common
from driftproof.verifiers.papers.feddro.experiments._step_imbalance import (
    METHODS,
    PARTS,
    Divergence,
    ImbalancedRun,
    Net,
)

MARGIN = 0.02
"""A test accuracy that is lower by less than this is comparable."""
SIZES: dict[str, tuple[int, int, dict[str, Any]]] = {
    "smoke": (2, 1, {"rounds": 3, "points": 3, "shown": 80, "net": Net(2, 1, 8)}),
    "quick": (8, 4, {"rounds": 120, "points": 9, "shown": 1000, "net": Net(8, 1, 16)}),
    "paper": (8, 8, {"rounds": 120, "points": 21, "shown": 2000}),
}
"""Seeds, runs of a search, and what runs have.

Eight seeds where five are printed: five cannot decide a sentence with three comparisons.
"""
OBJECTIVES: dict[str, Divergence] = {"objective (4), KL": "kl", "objective (5), χ²": "chi-square"}
"""The sentences are judged on each at paper size, on the first below it."""


@experiment(
    name="feddro/imbalanced-cifar",
    source="FedDRO (2023), figure 1 and section 6",
    statement="FedDRO has superior training accuracy and comparable test accuracy to FastDRO, "
    "PDSGD and MBSGD",
)
def imbalanced_cifar(plan: study.Plan) -> study.Study:
    """Choose every method's learning rate, run it on every partition, and judge the sentences."""
    seeds, budget, given = SIZES[plan.profile]
    base = ImbalancedRun.planned(plan, **given)
    objectives = list(OBJECTIVES)[: 2 if plan.profile == "paper" else 1]
    methods = {
        (method, on): base.but(method=method, divergence=OBJECTIVES[on])
        for on in objectives
        for method in METHODS
    }
    return study.Study(
        methods=methods,
        seeds=seeds,
        grids=dict.fromkeys(methods, common.RATES),
        budget=budget,
        by="test",
        says=sentences(objectives, base.dealt.of.classes),
        size=common.smaller(base),
        setting=[
            *common.setting(base),
            f"comparable: lower by less than {MARGIN:g}; FedDRO and MBSGD differ in β alone",
        ],
        shown=("training", "test", "rare", "other"),
        figures=[
            Figure("training", "training accuracy", "training"),
            Figure("test", "test accuracy", "test"),
            Figure("training-bytes", "training accuracy", "training", None, study.MEGABYTES),
            Figure("training-samples", "training accuracy", "training", None, common.SAMPLES),
        ],
    )


def sentences(objectives: list[str], classes: int) -> list[Says]:
    """Return both sentences, and that they are said of another data set too."""
    pairs = [(("FedDRO", on), (other, on)) for on in objectives for other in METHODS[1:]]
    other = "CIFAR100-ST" if classes == 10 else "CIFAR10-ST"
    return [
        Says(text="FedDRO provides superior training accuracy", pairs=pairs, of=PARTS[:1]),
        Says(
            text="FedDRO provides comparable test accuracy",
            pairs=pairs,
            of=PARTS[1:],
            margin=MARGIN,
        ),
        Says(text=f"both on {other}", reason=f"not run: {other} has a run of its own, by --data"),
    ]
