"""Leaves out of a program the vectors that can be taken to be 0, as nothing depends on them.

A direction d with Q_k d = 0 for all k is one along which all vectors can be moved: gradients that
enter by their differences alone, by a common one, say. Nothing bounds the Gram matrix there, so
that no multipliers have a margin. To take one vector with d_j ≠ 0 to be 0 changes no value.
"""

from dataclasses import replace

import numpy as np

from driftproof.verifiers.worst_case.program import Matrices
from driftproof.verifiers.worst_case.scaling import units

FREE = 1e-12
"""How small a singular value is that is taken for 0, relative to the largest."""
SOME = 500
"""Conditions whose rows are held at a time."""


def kept(program: Matrices) -> np.ndarray:
    """Return which vectors matter, [vectors]."""
    size = len(program.objective[0])
    scaled = units(program).scaled(program)
    every, upper = range(len(program.bounds)), scaled.objective[0]
    for first in every[::SOME]:  # QR keeps singular values and directions
        rows = scaled.gram.chosen(every[first : first + SOME]).dense.reshape(-1, size)
        upper = np.asarray(np.linalg.qr(np.vstack([upper, rows[rows.any(1)]]), mode="r"))
    _, sizes, directions = np.linalg.svd(upper, full_matrices=False)
    free = directions[sizes <= FREE * sizes.max(initial=0.0)]
    matter = np.ones(size, dtype=bool)
    while len(free):  # the entry that is largest in some direction is made 0 in all
        row, column = np.unravel_index(np.abs(free).argmax(), free.shape)
        matter[column] = False
        free = np.delete(free - np.outer(free[:, column] / free[row, column], free[row]), row, 0)
    return matter


def reduced(program: Matrices, matter: np.ndarray) -> Matrices:
    """Return the program of the vectors that matter."""
    if matter.all():
        return program
    gram, values = program.objective
    return replace(
        program,
        gram=program.gram.chosen(range(len(program.bounds)), np.flatnonzero(matter)),
        objective=(gram[matter][:, matter], values),
        points=program.points[matter],
    )
