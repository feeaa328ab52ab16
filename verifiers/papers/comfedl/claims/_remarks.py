"""What Remarks 1 and 2 share: schedule, order, floors and false siblings."""

from collections.abc import Mapping, Sequence
from typing import Literal

from sympy import Rational, log, symbols

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Expression
from driftproof.verifiers.claim_types.rate import Floor, Schedule

T, TAU, a1, a2, a3 = symbols("T tau alpha_1 alpha_2 alpha_3", positive=True)
STEPS = (64, 128, 256, 512, 1024, 2048, 4096)
FLOORS = [
    Floor("Huber slope, G = 1 and D − δ = 1", lambda at: 1 / (T * at["eta"])),
    Floor("stuck estimator, G = 1", lambda at: 1 + 0 * T if at["b"] == 1 else None),
]


def case(
    problem: BoundedComposition,
    steps: int,
    branch: Literal["general", "special"],
    outer_batch: int = 1,
) -> Case:
    """Return a case of T = steps that attains the rate: η = T^{-1/2}, b = T, τ = 2."""
    method = ComFedL(
        branch=branch, local_steps=2, step_size=steps**-0.5, batch=steps, outer_batch=outer_batch
    )
    return Case(problem, method, rounds=steps // 2)


def schedule(minibatches: Mapping[str, Expression], sign: int) -> Schedule:
    """Return η = T^{-α1}, minibatches of T^{±α} samples, and the order that is printed for them.

    Args:
        minibatches: letter of each minibatch → its α.
        sign: of α, −1 as printed.
    """
    letters = {"eta": T**-a1, **{letter: T ** (sign * a) for letter, a in minibatches.items()}}
    order = T ** (a1 - 1) + TAU * T**-a1 + sum(T ** (-a / 2) for a in minibatches.values())
    return Schedule(letters, order, counts=tuple(minibatches))


def false_siblings(minibatches: Mapping[str, Expression]) -> Sequence[tuple[str, Schedule]]:
    growing = {"eta": T**-a1, **{letter: T**a for letter, a in minibatches.items()}}
    single = {"eta": T**-a1, **dict.fromkeys(minibatches, 1)}
    return [
        ("faster by T^{1/10}", Schedule(growing, T ** Rational(-3, 5))),
        ("faster by a logarithm", Schedule(growing, T ** Rational(-1, 2) / log(T))),
        ("one sample is enough", Schedule(single, T ** Rational(-1, 2))),
    ]


def explained(theorem: str) -> str:
    return (
        "A minibatch of 1/T samples does not exist, so the remark as printed speaks of nothing. "
        f"With b = T, which is plainly meant, it follows from {theorem}, and T^(-1/2) is attained."
    )
