"""The theorem's quantities on a run: ‖∇F‖², drift, bias, and its bound at estimated constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from verifiers.claims.comfedl._theorem_bounds import sharpened
from verifiers.experiment import Panel, curve, results_of
from verifiers.experiment.theory import right_side
from verifiers.experiments.comfedl.personalised.judged import Asking
from verifiers.experiments.comfedl.personalised.run import ExplainedRun, PersonalisedRun

MOMENTS = 4
IMAGES = 100
"""Training images of each client where this is measured: a gradient of all of them is costly."""
LABELS = {"left": "‖∇F(x̄)‖²", "bias": "bias of the plug-in gradient", "drift": "client drift"}


def explained(run: PersonalisedRun, label: str) -> Asking:
    """Return a panel and a finding on a run of ComFedL, first partition (``yield from``)."""
    given = {field.name: getattr(run, field.name) for field in fields(run)}
    few = replace(run.images, training=min(IMAGES, run.images.training))
    unit = ExplainedRun(**given | {"points": MOMENTS, "images": few})
    (result,) = (yield from results_of({"": [unit]}))[""]
    curves = [curve(name, result["round"], np.array([result[key]])) for key, name in LABELS.items()]
    title = f"{label}: what theorem 1 speaks of"
    return Panel("theory", title, "round", "value", curves, log="y"), _told(unit, result, label)


def _told(unit: ExplainedRun, result: Mapping[str, Any], label: str) -> str:
    left, bias = float(np.mean(result["left"])), ", ".join(f"{b:.2g}" for b in result["bias"])
    measured = (
        f"{label}, first seed, {unit.images.training} training images a client: ‖∇F(x̄)‖² is "
        f"{left:.2g} on average over {len(result['left'])} moments, the plug-in gradient's bias "
        f"{bias}, the clients' drift {result['drift'][-1]:.2g} in the last round. Part of the bias "
        "is the normalisation's: with the statistics of a minibatch, the loss of a minibatch does "
        "not have the whole loss as its mean, which the theorem assumes."
    )
    if "constants" not in result:
        return (
            f"{measured} Its constants are not estimated: the run ended early or a single small "
            "image has no batch statistics."
        )
    right = right_side(sharpened, unit.problem, unit.algorithm, unit.rounds, result["constants"])
    seen = result["constants"]
    says = (
        "it says nothing about such a network"
        if right > left
        else "below the left side, so the estimates are below the true constants"
    )
    return (
        f"{measured} The corrected right side of theorem 1 at constants that are estimated, the "
        f"largest seen at the first and the last model (G_f {seen['inner_gradient_bound']:.2g}, "
        f"G_g {seen['outer_gradient_bound']:.2g}, L_f {seen['inner_smoothness']:.2g}, L_g "
        f"{seen['outer_smoothness']:.2g}), is {right:.1g}: {says}."
    )
