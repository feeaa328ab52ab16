"""FedDRO's figure 2: FedDRO with I local updates between two averages of the model.

**Printed** (section 6): "Train and test accuracy of FedDRO on the CIFAR10-ST and CIFAR100-ST for
different I" (caption), and: "as I increases the performance improves, however, beyond a certain, I,
the performance doesn't improve capturing the effect of client drift because of data heterogeneity".

**Not printed**, and chosen: the values of I (powers of 2 up to 32, near which the paper sees figure
3 saturate), and how many rounds. The axis is not in the text either. It is read as figure 1's,
"communication rounds", in which the model is sent: at equal rounds a larger I has taken more steps,
and drift is what may use them up. At equal *steps* a larger I only communicates less, and the first
half of the sentence would say that this is better. So the sentences are judged at equal rounds, and
the second axis shows steps. "Because of data heterogeneity" is asked of equal steps: there a larger
I should do worse. The clients of CIFAR10-ST are dealt at random, so they differ by chance alone.

Learning rates are tuned for every I, as in figure 1. They drop after 90 rounds, if there are more.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Figure, Outcome, Outcomes, Says, Sentence, experiment
from driftproof.verifiers.papers.feddro.experiments import _step_imbalance as common
from driftproof.verifiers.papers.feddro.experiments._step_imbalance import PARTS, ImbalancedRun, Net

MARGIN = 0.01
"""A gain in accuracy below which the performance does not improve."""
SIZES: dict[str, tuple[int, int, dict[str, Any]]] = {
    "smoke": (2, 1, {"rounds": 4, "points": 5, "shown": 80, "net": Net(2, 1, 8)}),
    "quick": (8, 4, {"rounds": 16, "points": 5, "shown": 1000, "net": Net(8, 1, 8)}),
    "paper": (8, 8, {"rounds": 120, "points": 21, "shown": 2000}),
}
"""Seeds, runs of a search, and what runs have.

Eight seeds where five are printed: five cannot decide a sentence with six comparisons.
"""
LOCAL_STEPS = (1, 2, 4, 8, 16, 32)
STEPS = study.STEPS._replace(label="steps of a client")


@experiment(
    name="feddro/local-updates",
    source="FedDRO (2023), figure 2 and section 6",
    statement="as I increases the performance improves; beyond a certain I it does not, because of "
    "client drift",
)
def local_updates(plan: study.Plan) -> study.Study:
    """Choose a learning rate for every I, run it on every partition, and judge the sentences."""
    seeds, budget, given = SIZES[plan.profile]
    base = ImbalancedRun.planned(plan, **given)
    methods = {
        f"I = {i}": base.but(local_steps=i)
        for i in LOCAL_STEPS[: 3 if plan.profile == "smoke" else None]
    }
    return study.Study(
        methods=methods,
        seeds=seeds,
        grids=dict.fromkeys(methods, common.RATES),
        budget=budget,
        by="test",
        says=sentences(list(methods), base.dealt.of.classes),
        size=common.smaller(base),
        setting=[
            *common.setting(base),
            f"I steps a round; no improvement: less than {MARGIN:g} in accuracy",
        ],
        shown=("training", "test", "rare", "other", "drift"),
        figures=[
            Figure("training", "training accuracy", "training"),
            Figure("test", "test accuracy", "test"),
            Figure("training-steps", "training accuracy", "training", None, STEPS),
            Figure("training-samples", "training accuracy", "training", None, common.SAMPLES),
        ],
        more=lambda runs: study.Conclusion(
            sentences=study.judged(
                "… capturing the effect of client drift (training accuracy at equal steps)",
                at_equal_steps(runs),
                size=common.smaller(base),
            )
        ),
    )


def sentences(labels: list[str], classes: int) -> list[Says]:
    """Return that each doubling up to 8 improves, and that the last one does not."""
    doublings = list(pairwise(labels))
    other = "CIFAR100-ST" if classes == 10 else "CIFAR10-ST"
    return [
        Says(
            text="as I increases the performance improves",
            pairs=[(more, fewer) for fewer, more in doublings[:3]],
            of=PARTS,
        ),
        Says(
            text="beyond a certain I, the performance doesn't improve (the last doubling)",
            pairs=doublings[-1:],
            of=PARTS,
            test=saturated,
            margin=MARGIN,
        ),
        Says(text=f"both on {other}", reason=f"not run: {other} has a run of its own, by --data"),
    ]


def saturated(*compared: Any, **level: Any) -> Sentence:
    """Judge that fewer steps are no worse; that they are refutes nothing at a larger I."""
    made = study.judged_by_seeds(*compared, **level)
    if made.verdict != "not reproduced":
        return made
    return study.undecided_if(made, "the print does not say from which I on")


def at_equal_steps(runs: Outcomes) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return accuracies with a quarter of the largest I and with the largest, after as many steps.

    The smaller one has then done all its rounds, the larger one a quarter of them.
    """
    by_steps: dict[int, Outcome[ImbalancedRun]] = {of.run.local_steps: of for of in runs.values()}
    most = max(by_steps)
    early, late = by_steps[most // 4], by_steps[most]
    rounds = late.run.rounds
    reached = late.good("training")[:, list(late.run.moments).index(rounds // 4)]
    where = f"I = {most // 4} against I = {most} after {most // 4 * rounds} steps"
    return {where: (early.last("training"), reached)}
