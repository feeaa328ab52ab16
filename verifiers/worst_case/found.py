"""The worst case of an algorithm over a whole class of functions, as one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from driftproof.synthetic.classes.conditions import FunctionClass
from driftproof.synthetic.classes.function_class import FunctionClassProblem
from driftproof.synthetic.classes.relations import Relation
from driftproof.toolkit.algorithm import Algorithm
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.program import Solved
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.solve import solve


@dataclass(frozen=True)
class Found:
    """A worst case in floating point; a certificate proves it.

    Attributes:
        case: the program of the comparison with the largest value.
        solved: its solution.
    """

    case: WorstCase
    solved: Solved

    @property
    def value(self) -> float:
        """The largest value of the measure over the class."""
        return self.solved.value

    @property
    def moment(self) -> str:
        """The moment of the run at which it is largest."""
        return str(self.case.about["moment"])

    @property
    def loose(self) -> str:
        """Why no function of the class may attain it ("": one does)."""
        return self.case.loose


def worst_case(
    algorithm: Algorithm,
    classes: Sequence[FunctionClass | Relation] | FunctionClassProblem,
    *,
    rounds: int,
    left: Callable[[Any], Any],
    clients: int = 2,
) -> Found:
    """Return the largest value that a measure takes over all functions of a class.

    The algorithm's own text is run once, on unknown vectors. Of a measure that makes several
    comparisons the largest is returned.

    Gradient descent with η = 1/L on a convex function: F(x_1) − F* ≤ LR²/6 (Drori & Teboulle 2014).

    >>> from driftproof.toolkit.algorithms import FedAvg
    >>> from driftproof.toolkit.measure import Steps, each
    >>> from driftproof.synthetic.classes import smooth_convex, start_within
    >>> def left(view: Steps):
    ...     return each("round", "local_step", view.gap(view.mean("w")))
    >>> found = worst_case(FedAvg(step_size=1.0), [smooth_convex(L=1), start_within(R=1)],
    ...                    rounds=1, left=left, clients=1)
    >>> round(found.value, 6)
    0.166667

    Args:
        classes: one class of functions, and what relates clients and the start
            (``synthetic.classes``).
        left: a measure, as a claim has it; ``view.minimiser`` is x*.

    Raises:
        NotLinearError: a step or the measure leaves what can be followed; it names the line.
        DriftproofError: nothing bounds the measure, or it says nothing at any moment.
    """
    cases = build(algorithm, classes, rounds=rounds, left=left, clients=clients)
    return max((Found(case, solve(case)) for case in cases), key=lambda found: found.value)
