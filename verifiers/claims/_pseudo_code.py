"""Compares a run of the federation with pseudo-code written line by line."""

import numpy as np

from toolkit.federation import run, sampled_context
from verifiers.compared import components


def models(case, name, transcribed, right, fields=("x",)):
    """Return a comparison for each entry of each client's last state, on the draws of one name.

    Args:
        transcribed: from problem, algorithm, rounds and right side to every client's fields,
            [fields, clients, dim] with one field's vectors after the other's.
        fields: of the state.
    """
    ctx = sampled_context(case.problem, (name,), replicates=1)
    made = run(case.problem, case.algorithm, ctx, rounds=case.rounds, kernels=False)
    ours = [getattr(made.state, field)[..., 0].numpy().ravel() for field in fields]
    theirs = transcribed(case.problem, case.algorithm, case.rounds, right)
    theirs = [np.ravel(held) for held in (theirs if len(fields) > 1 else [theirs])]
    return components("entry {} of the models", np.concatenate(ours), np.concatenate(theirs))
