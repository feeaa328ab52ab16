"""driftproof's lowest layer: algorithms, contexts, measures, draws, data sets, verdicts, page."""

import os

__version__ = "0.1.0"

if "OMP_WAIT_POLICY" not in os.environ:
    # torch and numba have a pool of OpenMP threads each: one that has done its work must not spin
    # for a millisecond on the cores that the other wants. 30 µs do for work in close succession.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
