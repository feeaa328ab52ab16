"""Theorem 4.1: FedAvg with shared models, or models and embeddings, does not solve (2).

**Kind.** Existence. The text has no construction; this one is ``bias-amplification``, in
closed form (``_bias``, docs/feddro.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import sympy
import torch

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.toolkit.algorithms.compositional_fedavg import CompositionalFedAvg
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.cases import Assumption, Case, grid
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.federation import run
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import ByProof, Stated, literal, narrower, wider
from driftproof.verifiers.algebra.symbolic import Step, argued, nonnegative, vanishes
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.feddro.claims import _bias as bias
from driftproof.verifiers.papers.feddro.claims import _descent, _escape
from driftproof.verifiers.papers.feddro.claims import assumptions as given

CASE_II = Assumption(
    "Case II",
    "x and y are shared at synchronisation",
    applies=lambda case: (
        getattr(case.algorithm, "sharing", "") == "case-2"
        and case.problem.heterogeneity == "slopes"
    ),
)
LOCAL_STEPS = (2, 3, 4, 6, 8, 12, 16)
STEP_SIZES = tuple(float(x) for x in np.geomspace(1 / 16, 1 / 256, 8))
ONE_SIZE = Assumption(
    "One step size", r"\eta^t=\eta", applies=lambda case: getattr(case.algorithm, "decay", 0.0) == 0
)


LimitPoint = Callable[[str, str], bias.OfSchedule]
"""From heterogeneity and sharing to the limit point of x̄ as a function of I and η."""


def stationary(heterogeneity: str, sharing: str) -> bias.OfSchedule:
    point = float(bias.STATIONARY[heterogeneity])
    return lambda steps, size: point


def constant(heterogeneity: str, sharing: str) -> bias.OfSchedule:
    """Return the limit point with one step size."""
    if sharing == "feddro":
        return stationary(heterogeneity, sharing)
    return bias.of_schedule(bias.limit_point(heterogeneity, sharing))


def for_any_sequence(heterogeneity: str, sharing: str) -> bias.OfSchedule:
    """Return the same: the statement says that the sizes of single steps do not matter."""
    return constant(heterogeneity, sharing)


def first_order(heterogeneity: str, sharing: str) -> bias.OfSchedule:
    """Return the limit point as if Case II had Case I's bias."""
    return constant(heterogeneity, "case-1" if sharing == "case-2" else sharing)


@cache
def limit_points(
    problem: BiasAmplification, method: CompositionalFedAvg | FedDRO
) -> list[tuple[int, float, float]]:
    """Run the algorithm on the map of (I, η) until x̄ stands still: I, η and x̄ of every cell."""
    sharing, cells = getattr(method, "sharing", "every-step"), []
    shrinks = bias.slope(problem.heterogeneity, sharing)
    for size in STEP_SIZES:
        for steps in LOCAL_STEPS:
            one = replace(method, local_steps=steps, step_size=size)
            rounds = int(30 / (1 - shrinks(steps, size))) + 10
            rounds *= 4 if getattr(method, "decay", 0) else 1
            ctx = NoiselessContext(problem.clients, dtype=torch.float64, device="cpu")
            end = run(problem, one, ctx, rounds=rounds).state.x.mean().item()
            cells.append((steps, size, end))
    return cells


def steps(right: LimitPoint) -> list[Step]:
    return _proof_of_one_size() + (_refutation() if right is for_any_sequence else [])


READINGS: Mapping[str, Stated[LimitPoint] | Stated[ByProof]] = {
    "any sequence of step sizes": literal(ByProof(_escape.steps)),
    "one step size for all t, and Φ has a minimum": narrower(
        Stated(constant, assumes=(ONE_SIZE,)),
        why="the print lets the step size change with t, and asks nothing of Φ",
    ),
    "any sequence of step sizes, and Φ has bounded level sets": wider(
        Stated(for_any_sequence, assumes=(CASE_II,)),
        why="the print says that some problem exists, and asks nothing of the level sets of Φ",
    ),
}


@comparison(
    name="feddro/theorem-4.1",
    kind="existence",
    source="FedDRO (2023), Theorem 4.1",
    assumes=given.ASSUMED,
    statement=r"I>1:\quad \exists f, g_k, \bar x^0\; \forall\, 0<\eta^t<C_\eta:\quad "
    r"\bar x^t \not\to \{x : \nabla\Phi(x)=0\} \text{ in Case I and in Case II}",
    cases=[
        *grid(
            BiasAmplification(heterogeneity=sweep("slopes", "offsets")),
            CompositionalFedAvg(sharing=sweep("case-1", "case-2", "every-step")),
            rounds=1,
        ),
        *grid(
            BiasAmplification(heterogeneity=sweep("slopes", "offsets")),
            FedDRO(embedding="given"),
            rounds=1,
        ),
        *grid(BiasAmplification(), CompositionalFedAvg(decay=2.0), rounds=1),
    ],
    readings=READINGS,
    false_siblings=[
        ("no bias", Stated(stationary, assumes=(ONE_SIZE,))),
        ("Case II as biased as Case I", Stated(first_order, assumes=(ONE_SIZE,))),
    ],
    prove=steps,
    draws=_descent.panels,
    explain=(
        "It holds as printed, by a problem that has a maximum and no minimum. With one step size "
        "for all t a problem with a minimum shows it too. Its limit points are closed forms, with "
        "a bias that does not vanish with the step size, also where all inner gradients agree; in "
        "Case II it grows with I. For any sequence of step sizes no problem with bounded level "
        "sets can show it in Case II."
    ),
)
def non_convergence(
    case: Case[BiasAmplification, CompositionalFedAvg | FedDRO], right: LimitPoint
) -> list[Comparison]:
    problem, method = case.problem, case.algorithm
    predicted = right(problem.heterogeneity, getattr(method, "sharing", "feddro"))
    solution = bias.STATIONARY[problem.heterogeneity]
    return [
        Comparison(
            f"I = {steps}, η = {size:.3g}",
            end,
            end,
            predicted(steps, size),
            float(number),
            scale=abs(problem.at - solution),  # how far the run has come
        )
        for number, (steps, size, end) in enumerate(limit_points(problem, method))
    ]


def _proof_of_one_size() -> list[Step]:
    """Return the steps of the closed forms, their limits and their distance from −1."""
    eta, count = bias.eta, bias.period
    one, two = sympy.symbols("s_1 s_2", positive=True)  # 1 − (1 − 4η)^I and 1 − (1 − η)^I
    steps = []
    for (heterogeneity, sharing), limit in bias.SMALL_STEP_BIAS.items():
        point = bias.limit_point(heterogeneity, sharing)
        fixed = bias.after_a_round(heterogeneity, sharing).subs(bias.x, point) - point
        steps += [
            vanishes(fixed, rf"\text{{{heterogeneity}, {sharing}: a fixed point of a round}}"),
            vanishes(
                sympy.limit(point, eta, 0) - bias.STATIONARY[heterogeneity] - limit,
                rf"\text{{its bias as }} \eta\to0:\; {sympy.latex(limit)}",
            ),
        ]
    rest = sympy.symbols("r", positive=True)
    case_1 = bias.limit_point("slopes", "case-1")
    # Case II at its worst: (1 − η)^{I−1} ≤ 1 − η and (1 − 4η)^{I−1} ≤ 1 − 4η
    worst = 1 - (1 - eta) * (1 - eta / 2) - eta * (1 - 4 * eta)
    return [
        *steps,
        vanishes(
            case_1
            - (two / (one + two)).subs(
                {one: 1 - (1 - 4 * eta) ** count, two: 1 - (1 - eta) ** count}
            ),
            r"\text{Case I: } \hat x = s_2/(s_1+s_2),\; s_k = 1-(1-\eta a_k^2)^I \in (0,1)",
        ),
        nonnegative(two / (one + two), r"\text{so } \hat x \ge 0, \text{ at least 1 from } -1"),
        nonnegative(
            sympy.expand(worst),
            r"\text{Case II: the numerator of } \hat x \text{ is at least } \tfrac\eta2+"
            r"\tfrac72\eta^2 \text{ for } I\ge2,\ \eta<\tfrac14",
        ),
        nonnegative(rest / (rest + 4), r"\|\nabla\Phi\|^2 = (x+1)^2/16 \ge 1/16 \text{ on } [0,1]"),
    ]


def _refutation() -> list[Step]:
    """Return the steps that refute "for each t its own step size" in Case II, for all f and g_k."""
    step, smooth, gradient, error = sympy.symbols("eta L g epsilon", positive=True)
    descent = -step * gradient * (gradient) + gradient * error
    bound = smooth / 2 * (step * gradient + error) ** 2
    stated = -step * (1 - smooth * step / 2) * gradient**2 + (
        gradient * error * (1 + smooth * step) + smooth / 2 * error**2
    )
    return [
        argued(
            r"\text{after an average } \tfrac1K\textstyle\sum_k\nabla g_k(\bar x)\nabla f(\bar y)"
            r" = \nabla\Phi(\bar x),\; \bar y = g(\bar x)",
            "all clients are at x̄ and hold the mean of the g_k(x̄)",
        ),
        vanishes(
            descent + bound - stated,
            r"\Phi(\bar x-\eta\nabla\Phi-e) \le \Phi(\bar x) - \eta(1-\tfrac{L\eta}2)g^2 + "
            r"g\epsilon(1+L\eta)+\tfrac L2\epsilon^2,\; g=\|\nabla\Phi\|,\ \epsilon=\|e\|",
        ),
        argued(
            r"\exists \eta^t\in(0,C_\eta):\; \textstyle\sum_r\epsilon_r<\infty \text{ and } "
            r"\nabla\Phi(\bar x^{rI})\to0 \text{ in Case II, for bounded level sets of } \Phi",
            "η^t = η at t = 0, I, 2I … and η/(1 + t)² between: the other steps of round r move x̄ "
            "by ε_r ≤ B_gB_fη Σ 1/(1 + t)², g ≤ B_gB_f, so Σ g² < ∞ as Φ is bounded below",
            holds=False,
        ),
    ]
