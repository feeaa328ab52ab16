"""Imported once by the process that workers are forked from, so that no worker has to.

It computes nothing with torch: threads would not survive the fork.
"""

from __future__ import annotations

import os
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process ends the run
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numba  # noqa: E402
import numpy as np  # noqa: E402
import scipy.optimize  # noqa: E402, F401
import sympy  # noqa: E402, F401

import verifiers.jobs  # noqa: E402, F401
from toolkit.discover import leaves  # noqa: E402


@numba.njit(cache=True)
def _first(x: np.ndarray) -> float:
    first: float = x[0]
    return first


_first(np.zeros(1))  # numba sets itself up at the first call of anything
for kind in ("kernel", "claim"):
    for leaf in leaves(kind).values():
        leaf.load()
