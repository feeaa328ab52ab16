"""Where the statements about robust MAML are compared."""

import numpy as np
import torch

from driftproof.synthetic.problems.maml import MAML


def points(problem: MAML) -> list[np.ndarray]:
    """Return w = 0 and the minimiser."""
    best = problem.solution.minimiser
    assert best is not None
    return [np.zeros(problem.dim), best]


def task_losses(problem: MAML, w: np.ndarray) -> np.ndarray:
    """Return f_i(w − η∇f_i(w)) of each task, [clients]."""
    losses: np.ndarray = problem.losses(torch.from_numpy(w)[:, None])[:, 0].numpy()
    return losses
