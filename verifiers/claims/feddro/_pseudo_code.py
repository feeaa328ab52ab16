"""Compares a run of the federation with pseudo-code written line by line."""

import numpy as np

from toolkit.federation import run, sampled_context
from verifiers.ground_truth import Comparison


def models(case, name, transcribed, right):
    """Return a comparison for each entry of each client's last model, on the draws of one name."""
    ctx = sampled_context(case.problem, (name,), replicates=1)
    made = run(case.problem, case.algorithm, ctx, rounds=case.rounds, kernels=False)
    ours = made.state.x[..., 0].numpy()
    theirs = np.array(transcribed(case.problem, case.algorithm, case.rounds, right))
    return [
        Comparison(f"entry {n + 1} of the models", float(a), float(a), float(b), float(n))
        for n, (a, b) in enumerate(zip(ours.ravel(), theirs.ravel(), strict=True))
    ]
