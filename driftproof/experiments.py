"""What an experiment of your own is written with: ``from driftproof.experiments import Run``."""

from __future__ import annotations

from driftproof.whole import refuse_hidden

refuse_hidden()

from synthetic.image_problems.imbalanced import ImbalancedImages  # noqa: E402 - after the look
from toolkit.federation import run, sampled_context  # noqa: E402
from verifiers.experiment import (  # noqa: E402
    Computed,
    Conclusion,
    Panel,
    Plan,
    Run,
    Sentence,
    Steps,
    TrackedRun,
    averaged,
    curve,
    experiment,
    judged_by_seeds,
    no_worse_by_seeds,
    over_seeds,
    results_of,
    similar_by_seeds,
)

__all__ = [
    "Computed",
    "Conclusion",
    "ImbalancedImages",
    "Panel",
    "Plan",
    "Run",
    "Sentence",
    "Steps",
    "TrackedRun",
    "averaged",
    "curve",
    "experiment",
    "judged_by_seeds",
    "no_worse_by_seeds",
    "over_seeds",
    "results_of",
    "run",
    "sampled_context",
    "similar_by_seeds",
]
