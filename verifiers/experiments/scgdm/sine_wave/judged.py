"""The sentences of section 5.1, judged over seeds at the last step."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from verifiers.experiment import Sentence, judged_by_seeds, over_seeds, similar_by_seeds
from verifiers.experiments.scgdm.sine_wave import printed, tasks
from verifiers.experiments.scgdm.sine_wave.run import Results, counted, end

OURS = "Local-SCGDM"
BASELINES = ("Local-BSGD", "Local-SCGD", "Local-MOML")
LOSSES = ("training", "validation")
PLAIN = "FedAvg, plain losses"
OWN_U = "u kept by its client"
AFTER = "outer gradient at the new u"
LOG = "log of the loss at the end"


def lower(
    text: str,
    setting: str,
    first: np.ndarray,
    second: np.ndarray,
    *,
    comparisons: int,
    by: float = 0.0,
) -> Sentence:
    """Judge that the first log loss is lower than the second, by a margin."""
    return judged_by_seeds(text, setting, -first, -(second - by), comparisons=comparisons)


def of_methods(runs: Mapping[str, Results], rate: float) -> list[Sentence]:
    """Local-SCGDM against each of the others; at another inner rate, in a setting of our own."""
    own = "" if rate == printed.INNER_RATE else printed.OWN_SETTING
    return [
        lower(
            text + own,
            f"{OURS} against {other}, {loss} loss, inner rate {rate:g}; {LOG}",
            end(runs[OURS], loss),
            end(runs[other], loss),
            comparisons=len(BASELINES) * len(LOSSES),
            by=margin,
        )
        for text, margin in ((printed.BETTER, 0.0), (printed.MARGIN, printed.GREAT))
        for loss in LOSSES
        for other in BASELINES
    ]


def of_fit(results: Results) -> list[Sentence]:
    """Figure 1: the error on the unseen task is a tenth of the zero function's, or less."""
    zero = float(np.square(tasks.unseen_task().values(tasks.GRID)).mean())
    sentences = []
    for steps in printed.STEPS_SHOWN:
        errors = counted([told.get(f"error {steps}", np.inf) for told in results])
        limit = np.full_like(errors, printed.FITS_WELL * zero)
        where = f"adaptation steps: {steps}; squared error at most {limit[0]:.3f}"
        sentences.append(
            judged_by_seeds(
                printed.FIT, where, -errors, -limit, comparisons=len(printed.STEPS_SHOWN)
            )
        )
    return sentences


def of_gammas(runs: Mapping[float, Results]) -> list[Sentence]:
    """Figure 3: the training loss falls with γ; the validation loss is least at 0.7."""
    fits = [
        lower(
            printed.FASTER_FIT,
            f"γ = {small:g} against {large:g}; mean log training loss over the run",
            _mean_log(runs[small]),
            _mean_log(runs[large]),
            comparisons=len(runs) - 1,
        )
        for small, large in pairwise(sorted(runs))
    ]
    return fits + best(printed.OVERFITS, "γ", runs, 0.7, ("validation",))


def best(
    text: str,
    letter: str,
    runs: Mapping[float, Results],
    chosen: float,
    losses: tuple[str, ...] = LOSSES,
) -> list[Sentence]:
    """Judge that one value of a setting gives the lowest losses of all."""
    others = [value for value in runs if value != chosen]
    return [
        lower(
            text,
            f"{letter} = {chosen:g} against {value:g}, {loss} loss; {LOG}",
            end(runs[chosen], loss),
            end(runs[value], loss),
            comparisons=len(others) * len(losses),
        )
        for loss in losses
        for value in others
    ]


def of_periods(runs: Mapping[int, Results]) -> list[Sentence]:
    """Figure 4: after as many steps, every p is as good as p = 5."""
    chosen = printed.LOCAL_STEPS
    others = [p for p in runs if p != chosen]
    return [
        similar_by_seeds(
            printed.PERIOD,
            f"p = {p} against {chosen}, {loss} loss; {LOG}",
            end(runs[p], loss),
            end(runs[chosen], loss),
            margin=round(printed.ALIKE, 4),
            comparisons=len(others) * len(LOSSES),
        )
        for loss in LOSSES
        for p in others
    ]


def of_scgd(runs: Mapping[float, Results]) -> list[Sentence]:
    """Local-SCGD's training loss ends above where it began."""
    return [
        judged_by_seeds(
            printed.DIVERGES,
            f"γ = {gamma:g}: log training loss at the end against that at the start",
            end(results, "training"),
            np.log([told["training"][0] for told in results]),
            comparisons=len(runs),
        )
        for gamma, results in runs.items()
    ]


def of_plain(results: Results) -> Sentence:
    """The mean square of the function that plain training gives."""
    square = counted([np.square(told.get("function", np.inf)).mean() for told in results])
    waves = tasks.training_tasks(range(1)).values(tasks.GRID)
    limit = printed.ZERO * float(np.square(waves).mean())
    return judged_by_seeds(
        printed.PRE_TRAINING,
        f"FedAvg on all tasks together; its function's mean square is at most {limit:.3f}",
        -square,
        np.full_like(square, -limit),
        comparisons=1,
    )


def _mean_log(results: Results) -> np.ndarray:
    points = max(len(told["training"]) for told in results)
    return np.asarray(np.log(counted(over_seeds(results, "training", points))).mean(1))
