"""Shapes checked at run time, and one thread a process."""

from __future__ import annotations

import os

import pytest
import torch
from hypothesis import HealthCheck, settings

from tests import shapes

shapes.install()
os.environ.setdefault("NUMBA_NUM_THREADS", "2")
if not torch.cuda.is_available():  # read by triton when it is imported
    os.environ.setdefault("TRITON_INTERPRET", "1")

settings.register_profile(
    "driftproof",
    deadline=None,  # wall-clock limits belong in benchmarks
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("driftproof")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Begin each test on one thread of torch and of numba.

    A test that starts numba's threads changes torch's number too. On two, small operations of later
    tests waited for each other's processes: the searches of constants took 25 times as long.
    """
    from driftproof.verifiers.running.scheduler import compute_on

    compute_on(1, 1)
