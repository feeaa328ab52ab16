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

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from verifiers.experiment import (
    Conclusion,
    Panel,
    Plan,
    Sentence,
    Steps,
    experiment,
    judged_by_seeds,
)
from verifiers.experiments.feddro.step_imbalance.clients import CLIENTS
from verifiers.experiments.feddro.step_imbalance.run import (
    BATCH,
    DROPS_AFTER,
    LEARNING_RATES,
    ImbalancedRun,
    Net,
)
from verifiers.experiments.feddro.step_imbalance.told import (
    BYTES,
    Results,
    Size,
    Tuned,
    common_setting,
    ends,
    panel,
    theory_panels,
    theory_told,
    tuned,
    undecided_if_unlearned,
)

MARGIN = 0.01
"""A gain in accuracy below which the performance does not improve."""
IMPROVES = "as I increases the performance improves (after the last round)"
NO_FURTHER = (
    f"beyond a certain I it does not improve (the last doubling gains less than {MARGIN:g})"
)
DRIFT = "… capturing the effect of client drift (training accuracy at equal steps)"


SIZES = {
    "smoke": Size(4, 2, 1, 5, 80, Net(2, 1, 8), LEARNING_RATES[3:]),
    "quick": Size(16, 8, 1, 5, 1000, Net(8, 1, 8)),
    "paper": Size(120, 8, 2, 21, 2000, Net()),
}
"""Eight seeds where five are printed: five cannot decide a sentence with six comparisons."""
LOCAL_STEPS = {"smoke": (1, 2, 4), "quick": (1, 2, 4, 8, 16, 32), "paper": (1, 2, 4, 8, 16, 32)}


@experiment(
    name="feddro/local-updates",
    source="FedDRO (2023), figure 2 and section 6",
    statement="as I increases the performance improves; beyond a certain I it does not, because of "
    "client drift",
)
def local_updates(plan: Plan) -> Steps:
    """Choose a learning rate for every I, run it on every partition, and judge the sentences."""
    size, local_steps = SIZES[plan.profile], LOCAL_STEPS[plan.profile]
    base, outer = size.base(plan), (local_steps[0], local_steps[-1])
    wanted = {
        f"I = {steps}": base.but(local_steps=steps, theory=steps in outer) for steps in local_steps
    }
    made = yield from tuned(wanted, size)
    return Conclusion(
        setting=[
            *common_setting(base, size),
            f"{size.rounds} rounds of the model, I steps each; learning rate divided by 10 after "
            f"{DROPS_AFTER} rounds; chosen {made.rates}",
            f"no improvement: less than {MARGIN:g} in accuracy, set before any run",
        ],
        sentences=_sentences(made.runs, made.chosen),
        findings=[*_findings(made), *theory_told(made.runs, made.chosen)],
        panels=[*_panels(made.runs, made.chosen), *theory_panels(made.runs, made.chosen)],
        numbers=made.numbers,
    )


def _sentences(runs: Mapping[str, Results], chosen: Mapping[str, ImbalancedRun]) -> list[Sentence]:
    """Judge each doubling up to 8, the last one, and equal steps."""
    doublings, small = list(pairwise(runs)), 3
    learned = max(ends(results, "training").mean() for results in runs.values())
    judged = [
        judged_by_seeds(
            IMPROVES, f"{name} accuracy, {more} against {fewer}", ends(runs[more], name),
            ends(runs[fewer], name), comparisons=2 * small,
        )
        for name in ("training", "test")
        for fewer, more in doublings[:small]
    ]  # fmt: skip
    fewer, more = doublings[-1]
    judged += [
        _unless_larger(
            judged_by_seeds(
                NO_FURTHER, f"{name} accuracy, {more} against {fewer}",
                ends(runs[fewer], name) + MARGIN, ends(runs[more], name), comparisons=2,
            ),
            more,
        )
        for name in ("training", "test")
    ]  # fmt: skip
    early, late, steps = _at_equal_steps(runs, chosen)
    where = f"I = {early[0]} against I = {late[0]} after {steps} steps"
    judged.append(judged_by_seeds(DRIFT, where, early[1], late[1], comparisons=1))
    return [undecided_if_unlearned(each, learned) for each in judged]


def _unless_larger(sentence: Sentence, largest: str) -> Sentence:
    """Leave it undecided where the largest I still gains: the print names no I from which on."""
    if sentence.verdict != "not reproduced":
        return sentence
    why = f"not up to {largest}, and the print does not say from which I on; {sentence.why}"
    return replace(sentence, verdict="undecided", why=why)


def _at_equal_steps(
    runs: Mapping[str, Results], chosen: Mapping[str, ImbalancedRun]
) -> tuple[tuple[int, np.ndarray], tuple[int, np.ndarray], int]:
    """Return a quarter of the largest I and the largest, with accuracies after as many steps.

    The smaller one has then done all its rounds, the larger one a quarter of them.
    """
    values = {run.local_steps: label for label, run in chosen.items()}
    most = max(values)
    few, rounds = most // 4, chosen[values[most]].rounds
    at = chosen[values[most]].moments.index(rounds // 4)

    def reached(results: Results) -> np.ndarray:
        return np.array([r["training"][at] if len(r["training"]) > at else 0.0 for r in results])

    early, late = ends(runs[values[few]], "training"), reached(runs[values[most]])
    return (few, early), (most, late), few * rounds


def _findings(made: Tuned) -> list[str]:
    unlike = next(iter(made.chosen.values())).dealt.unlike
    return [
        *made.found(),
        "The print puts the saturation down to drift from heterogeneous data. Here the clients are "
        f"dealt at random (label total variation {unlike.mean_variation:.2g} on average): what "
        "drift there is comes from minibatches.",
    ]


def _panels(runs: Mapping[str, Results], chosen: Mapping[str, ImbalancedRun]) -> list[Panel]:
    rounds = {label: (results, "round", 1.0) for label, results in runs.items()}
    steps = {
        label: (results, "round", float(chosen[label].local_steps))
        for label, results in runs.items()
    }
    sent = {label: (results, "reals", BYTES / 1e6) for label, results in runs.items()}
    samples = {
        label: (results, axis, worth * BATCH * CLIENTS)
        for label, (results, axis, worth) in steps.items()
    }
    drifts = panel("drift", "drift", "rounds of the model", rounds, "(1/K) Σ ‖x_k − x̄‖")
    return [
        panel("training", "training", "rounds of the model", rounds),
        panel("test", "test", "rounds of the model", rounds),
        panel("training-steps", "training", "steps of a client", steps),
        panel("training-samples", "training", "samples drawn by all clients", samples),
        panel("training-bytes", "training", "megabytes that a client sent", sent),
        drifts,
    ]
