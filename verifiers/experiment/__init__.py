"""Experiments: one figure or table of a paper, run again, with its sentences judged.

``run``: what is computed. ``tracked``: a long run, measured on its way. ``codec``: how the ledger
stores it. ``sentence``: how a sentence is judged. ``panel``: what a figure shows. ``leaf``: how all
of it becomes a page.
"""

from verifiers.experiment.codec import packed, unpacked
from verifiers.experiment.leaf import (
    Conclusion,
    Experiment,
    Plan,
    Steps,
    experiment,
    run_experiment,
)
from verifiers.experiment.panel import Panel, curve, over_seeds
from verifiers.experiment.run import Computed, Followed, Run, results_of
from verifiers.experiment.sentence import (
    Sentence,
    judged_by_seeds,
    no_worse_by_seeds,
    similar_by_seeds,
)
from verifiers.experiment.tracked import TrackedRun, averaged

__all__ = [
    "Computed",
    "Conclusion",
    "Experiment",
    "Followed",
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
    "packed",
    "results_of",
    "run_experiment",
    "similar_by_seeds",
    "unpacked",
]  # fmt: skip
