"""Experiments: one figure or table of a paper, run again, with its sentences judged.

``run``: what is computed. ``codec``: how the ledger stores it. ``sentence``: how a sentence is
judged. ``panel``: what a figure shows. ``leaf``: how all of it becomes a page.
"""

from verifiers.experiment.codec import loaded, packed
from verifiers.experiment.leaf import Conclusion, Experiment, Plan, Steps, conduct, experiment
from verifiers.experiment.panel import Panel, curve
from verifiers.experiment.run import Computed, Followed, Run, results_of
from verifiers.experiment.sentence import Sentence, judged_by_seeds, similar_by_seeds

__all__ = [
    "Computed", "Conclusion", "Experiment", "Followed", "Panel", "Plan", "Run", "Sentence",
    "Steps", "conduct", "curve", "experiment", "judged_by_seeds", "loaded", "packed",
    "results_of", "similar_by_seeds",
]  # fmt: skip
