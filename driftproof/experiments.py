"""What an experiment of your own is written with: ``from driftproof.experiments import Run``."""

from __future__ import annotations

from driftproof.whole import refuse_hidden

refuse_hidden()

from driftproof.synthetic.image_problems.imbalanced import ImbalancedImages  # noqa: E402 - after the look
from driftproof.toolkit.federation import run, sampled_context  # noqa: E402
from driftproof.verifiers.experiment import (  # noqa: E402
    ROUNDS,
    SENT,
    STEPS,
    Axis,
    Computed,
    Conclusion,
    Outcome,
    Panel,
    Plan,
    Run,
    Sentence,
    Steps,
    TrackedRun,
    averaged,
    curve,
    ends,
    experiment,
    judged,
    judged_by_seeds,
    methods,
    no_worse_by_seeds,
    outcomes,
    over_seeds,
    plot,
    results_of,
    setting,
    similar_by_seeds,
    tuned,
    undecided_if,
)

__all__ = [
    "ROUNDS",
    "SENT",
    "STEPS",
    "Axis",
    "Computed",
    "Conclusion",
    "ImbalancedImages",
    "Outcome",
    "Panel",
    "Plan",
    "Run",
    "Sentence",
    "Steps",
    "TrackedRun",
    "averaged",
    "curve",
    "ends",
    "experiment",
    "judged",
    "judged_by_seeds",
    "methods",
    "no_worse_by_seeds",
    "outcomes",
    "over_seeds",
    "plot",
    "results_of",
    "run",
    "sampled_context",
    "setting",
    "similar_by_seeds",
    "tuned",
    "undecided_if",
]
