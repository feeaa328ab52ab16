"""Imported by a process before workers are forked from it, so that none of them has to.

It computes nothing with torch: threads would not survive the fork.
"""

from __future__ import annotations

import numba
import numpy as np
import scipy.optimize  # noqa: F401
import sympy  # noqa: F401

import verifiers.running.jobs  # noqa: F401
from toolkit.discover import leaves


@numba.njit(cache=True)
def _first(x: np.ndarray) -> float:
    first: float = x[0]
    return first


_first(np.zeros(1))  # numba sets itself up at the first call of anything
for leaf in leaves("kernel").values():
    leaf.load()
