"""Experiments: one figure or table of a paper, run again, with its sentences judged.

``run``: what is computed. ``tracked``: a long run, measured on its way. ``codec``: how the ledger
stores it. ``outcome``: kinds of runs on every seed, and the search for settings. ``sentence``: how
a sentence is judged. ``panel``: what a figure shows. ``study``: what is compared, said and drawn.
``leaf``: how all of it becomes a page.
"""

from driftproof.verifiers.experiment.codec import packed, unpacked
from driftproof.verifiers.experiment.leaf import Experiment, Plan, experiment, run_experiment
from driftproof.verifiers.experiment.outcome import (
    WORST,
    Asked,
    Outcome,
    Outcomes,
    called,
    outcomes,
    tuned,
)
from driftproof.verifiers.experiment.panel import Panel, curve, over_seeds
from driftproof.verifiers.experiment.run import CHOOSING, Followed, Run, results_of
from driftproof.verifiers.experiment.sentence import (
    Sentence,
    judged_by_seeds,
    similar_by_seeds,
    smaller,
    undecided_if,
)
from driftproof.verifiers.experiment.study import (
    BYTES,
    MEGABYTES,
    ROUNDS,
    SENT,
    STEPS,
    Axis,
    Conclusion,
    Figure,
    Says,
    Steps,
    Study,
    concluded,
    early,
    ends,
    judge,
    judged,
    methods,
    named,
    note,
    plot,
    setting,
    trivial,
)
from driftproof.verifiers.experiment.tracked import TrackedRun, averaged, drift

__all__ = [
    "BYTES", "CHOOSING", "MEGABYTES", "ROUNDS", "SENT", "STEPS", "WORST", "Asked", "Axis",
    "Conclusion", "Experiment", "Figure", "Followed", "Outcome", "Outcomes",
    "Panel", "Plan", "Run", "Says", "Sentence", "Steps", "Study", "TrackedRun", "averaged",
    "called", "concluded", "curve", "drift", "early", "ends", "experiment", "judge", "judged",
    "judged_by_seeds", "methods", "named", "note", "outcomes", "over_seeds",
    "packed", "plot", "results_of", "run_experiment", "setting", "similar_by_seeds", "smaller",
    "trivial", "tuned", "undecided_if", "unpacked",
]  # fmt: skip
