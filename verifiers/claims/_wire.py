"""Rounds, messages and bytes of a case, counted on the wire: one process a client."""

from functools import lru_cache

from toolkit.wire import run_on_wire


def counted(case):
    """Return the WireRun of one replicate of a case (kept, as a case's forms ask for one run)."""
    return _counted(case.problem, case.algorithm, case.rounds)


@lru_cache(maxsize=64)
def _counted(problem, algorithm, rounds):
    return run_on_wire(problem, algorithm, ("counted",), rounds=rounds)
