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

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Sentence, experiment, judged
from driftproof.verifiers.papers.feddro.experiments import _step_imbalance as common
from driftproof.verifiers.papers.feddro.experiments._step_imbalance import (
    LEARNING_RATES,
    Net,
    Runs,
    Size,
    ends,
)

MARGIN = 0.01
"""A gain in accuracy below which the performance does not improve."""
SIZES = {
    "smoke": Size(4, 2, 1, 5, 80, Net(2, 1, 8), LEARNING_RATES[3:]),
    "quick": Size(16, 8, 1, 5, 1000, Net(8, 1, 8)),
    "paper": Size(120, 8, 2, 21, 2000, Net()),
}
"""Eight seeds where five are printed: five cannot decide a sentence with six comparisons."""
LOCAL_STEPS = (1, 2, 4, 8, 16, 32)
STEPS = study.STEPS._replace(label="steps of a client")


@experiment(
    name="feddro/local-updates",
    source="FedDRO (2023), figure 2 and section 6",
    statement="as I increases the performance improves; beyond a certain I it does not, because of "
    "client drift",
)
def local_updates(plan: study.Plan) -> study.Steps:
    """Choose a learning rate for every I, run it on every partition, and judge the sentences."""
    size = SIZES[plan.profile]
    base, local_steps = size.base(plan), LOCAL_STEPS[: 3 if plan.profile == "smoke" else None]
    found, runs = yield from common.tuned(
        {f"I = {i}": base.but(local_steps=i) for i in local_steps}, size
    )
    return study.Conclusion(
        setting=common.setting(
            found,
            base,
            size,
            "I steps a round of the model; no improvement: less than "
            f"{MARGIN:g} in accuracy, set before any run",
        ),
        sentences=sentences(runs),
        findings=common.findings(runs),
        panels=[
            common.accuracy("training", runs, study.ROUNDS),
            common.accuracy("test", runs, study.ROUNDS, "test"),
            common.accuracy("training-steps", runs, STEPS),
            common.accuracy("training-samples", runs, common.SAMPLES),
            common.accuracy("training-bytes", runs, common.MEGABYTES),
            study.plot("drift", "drift", runs, "drift", "(1/K) Σ ‖x_k − x̄‖"),
        ],
        numbers=common.numbers(found, runs),
    )


def sentences(runs: Runs) -> list[Sentence]:
    """Judge each doubling up to 8, the last one, and equal steps."""
    doublings, parts = list(pairwise(runs)), ("training", "test")
    fewer, more = doublings[-1]
    improves = judged(
        "as I increases the performance improves (after the last round)",
        {
            f"{name} accuracy, {large} against {small}": (
                ends(runs[large], name),
                ends(runs[small], name),
            )
            for name in parts
            for small, large in doublings[:3]
        },
        comparisons=6,
    )
    no_further = judged(
        f"beyond a certain I it does not improve (the last doubling gains less than {MARGIN:g})",
        {
            f"{name} accuracy, {more} against {fewer}": (
                ends(runs[fewer], name) + MARGIN,
                ends(runs[more], name),
            )
            for name in parts
        },
    )
    where, pair = at_equal_steps(runs)
    drift = judged(
        "… capturing the effect of client drift (training accuracy at equal steps)", {where: pair}
    )
    judgements = [*improves, *(_unless_larger(each, more) for each in no_further), *drift]
    return [study.undecided_if(each, common.unlearned(runs)) for each in judgements]


def _unless_larger(sentence: Sentence, largest: str) -> Sentence:
    """Leave it undecided where the largest I still gains: the print names no I from which on."""
    if sentence.verdict != "not reproduced":
        return sentence
    why = f"not up to {largest}, and the print does not say from which I on; {sentence.why}"
    return replace(sentence, verdict="undecided", why=why)


def at_equal_steps(runs: Runs) -> tuple[str, tuple[np.ndarray, np.ndarray]]:
    """Return accuracies with a quarter of the largest I and with the largest, after as many steps.

    The smaller one has then done all its rounds, the larger one a quarter of them.
    """
    by_steps = {of.run.local_steps: of for of in runs.values()}
    most = max(by_steps)
    early, late = by_steps[most // 4], by_steps[most]
    rounds = late.run.rounds
    at = late.run.moments.index(rounds // 4)
    reached = [r["training"][at] if len(r["training"]) > at else 0.0 for r in late.results]
    where = f"I = {most // 4} against I = {most} after {most // 4 * rounds} steps"
    return where, (ends(early, "training"), np.array(reached))
