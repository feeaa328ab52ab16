"""Experiments: one figure or table of a paper, run again, with its sentences judged.

``run``: what is computed. ``tracked``: a long run, measured on its way. ``codec``: how the ledger
stores it. ``sentence``: how a sentence is judged. ``outcome``: kinds of
runs, searches, plots. ``panel``: what a figure shows. ``leaf``: how all
of it becomes a page.
"""

from driftproof.verifiers.experiment.codec import packed, unpacked
from driftproof.verifiers.experiment.leaf import (
    Conclusion,
    Experiment,
    Plan,
    Steps,
    experiment,
    run_experiment,
)
from driftproof.verifiers.experiment.outcome import (
    BYTES,
    ROUNDS,
    SENT,
    STEPS,
    Asked,
    Axis,
    Outcome,
    Tuned,
    ends,
    judged,
    methods,
    of_first_seed,
    outcomes,
    plot,
    setting,
    tuned,
    undecided_if,
)
from driftproof.verifiers.experiment.panel import Panel, curve, over_seeds
from driftproof.verifiers.experiment.run import Computed, Followed, Run, results_of
from driftproof.verifiers.experiment.sentence import (
    Sentence,
    judged_by_seeds,
    no_worse_by_seeds,
    similar_by_seeds,
)
from driftproof.verifiers.experiment.tracked import TrackedRun, averaged, drift

__all__ = [
    "BYTES",
    "ROUNDS",
    "SENT",
    "STEPS",
    "Asked",
    "Axis",
    "Computed",
    "Conclusion",
    "Experiment",
    "Followed",
    "Outcome",
    "Panel",
    "Plan",
    "Run",
    "Sentence",
    "Steps",
    "TrackedRun",
    "Tuned",
    "averaged",
    "curve",
    "drift",
    "ends",
    "experiment",
    "judged",
    "judged_by_seeds",
    "methods",
    "no_worse_by_seeds",
    "of_first_seed",
    "outcomes",
    "over_seeds",
    "packed",
    "plot",
    "results_of",
    "run_experiment",
    "setting",
    "similar_by_seeds",
    "tuned",
    "undecided_if",
    "unpacked",
]  # fmt: skip
