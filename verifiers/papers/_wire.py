"""Rounds, messages and bytes of a case, counted on the wire: one process a client."""

from functools import lru_cache

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Case
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.wire import WireRun, run_on_wire


def counted(case: Case[Problem, Algorithm]) -> WireRun:
    """Return the WireRun of one replicate of a case (kept, as a case's forms ask for one run)."""
    return _counted(case.problem, case.algorithm, case.rounds)


@lru_cache(maxsize=64)
def _counted(problem: Problem, algorithm: Algorithm, rounds: int) -> WireRun:
    return run_on_wire(problem, algorithm, ("counted",), rounds=rounds)
