"""The lengths N' of the Neumann series that a run on the wire draws."""

from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import Indices
from driftproof.toolkit.federation import sampled_context


def lengths(case: Case[BilevelProblem, Nested], ticks: int, first: int = 0) -> list[int]:
    """Return N' of each round.

    Args:
        ticks: local steps of one round.
        first: the step of a round at which the series begins.
    """
    method = case.algorithm
    draws = sampled_context(case.problem, ("counted",), replicates=1)
    left_out = [
        draws.server_draw(Indices((method.terms,), 1), "left-out", since=k * ticks + first)
        for k in range(case.rounds)
    ]
    return [method.terms - 1 - int(left[0, 0]) for left in left_out]
