"""Compares a run of the federation with pseudo-code written line by line."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from driftproof.toolkit.cases import A, Case, P
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.readings import R
from driftproof.verifiers.claim_types.compared import Comparison, components


def models(
    case: Case[P, A],
    name: str,
    transcribed: Callable[[P, A, int, R], Iterable[ArrayLike]],
    right: R,
    fields: Sequence[str] = ("x",),
) -> list[Comparison]:
    """Return a comparison for each entry of each client's last state, on the draws of one name.

    Args:
        transcribed: from problem, algorithm, rounds and right side to the vectors of all clients,
            field by field.
        fields: of the state.
    """
    ctx = sampled_context(case.problem, (name,), replicates=1)
    state = run(case.problem, case.algorithm, ctx, rounds=case.rounds, kernels=False).state
    ours = [getattr(state, field)[..., 0].numpy().ravel() for field in fields]
    theirs = transcribed(case.problem, case.algorithm, case.rounds, right)
    theirs_joined = np.concatenate([np.ravel(part) for part in theirs])
    return components("entry {} of the models", np.concatenate(ours), theirs_joined)
