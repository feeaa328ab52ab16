"""What comfedl/imbalanced and comfedl/imbalanced-parameters show alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from verifiers.experiment import Panel, Plan, curve
from verifiers.experiments.comfedl._imbalanced_runs import BATCH, METRICS, TAU, sizes_of

Results = dict[str, list[dict[str, Any]]]
"""What a run is called → its result for each seed."""


def panels(runs: Results, prefix: str = "") -> list[Panel]:
    """Return one plot a metric, with a curve for each kind of run."""
    return [
        Panel(
            prefix + metric.replace(" ", "-"), f"{metric} accuracy", "round", "accuracy",
            [
                curve(name, results[0]["rounds"], np.array([r[metric] for r in results]))
                for name, results in runs.items()
            ],
        )
        for metric in METRICS
    ]  # fmt: skip


def setting(plan: Plan, seeds: int, rounds: int) -> list[str]:
    """Return what was chosen, for the head of the page."""
    data = "scikit-learn digits" if plan.data is None else "MNIST"
    large, validation = sizes_of(plan)
    return [
        f"data: {data}; one client with {large:,} training images, nine with 20; softmax "
        "regression from w = 0",
        f"τ = {TAU} unless said otherwise, minibatch {BATCH} (chosen here), {rounds} rounds, "
        f"{seeds} seeds (partition and minibatches)",
        f"validation: {validation:,} other images a client (chosen here)",
        "band: smallest and largest seed",
    ]
