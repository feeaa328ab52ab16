"""FedDRO: limit points by the pseudo-code, and the conditions, seen from a second side."""

from dataclasses import replace
from math import sqrt

import pytest

from driftproof.synthetic.problems import AveragedComposition, BiasAmplification
from driftproof.toolkit.algorithms import CompositionalFedAvg, FedDRO
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import leaves
from driftproof.verifiers.judges.assumptions import unmet
from driftproof.verifiers.papers.feddro.claims import _theorem as parts
from driftproof.verifiers.papers.feddro.claims import assumptions as given
from driftproof.verifiers.papers.feddro.claims import heterogeneity_threshold as claimed
from driftproof.verifiers.papers.feddro.claims.theorem_4_1 import for_any_sequence
from driftproof.verifiers.papers.feddro.claims.theorem_4_2 import SHARED

SLOPES = {"slopes": ((2.0, 0.0), (-1.0, 1.0)), "offsets": ((1.0, 2.0), (1.0, -1.0), (1.0, -1.0))}


def outer_slope(heterogeneity, y):
    """Return f' of the two constructions."""
    return max(-3.0, min(3.0, y)) if heterogeneity == "slopes" else max(-1.0, min(1.0, y))


def at_rest(heterogeneity, sharing, steps, size):
    """Run the paper's Algorithm 1 for scalars until x̄ stands still; the numbers are its lines."""
    clients = SLOPES[heterogeneity]
    x = [0.5] * len(clients)  # 2
    y = [a * 0.5 + c for a, c in clients]
    mean = sum(y) / len(y)
    y = y if sharing == "case-1" else [mean] * len(y)
    for _ in range(int(200 / size / steps) + 1):
        for j in range(steps):  # 3
            if sharing == "every-step":
                y = [a * v + c for (a, c), v in zip(clients, x, strict=True)]
                y = [sum(y) / len(y)] * len(y)
            x = [  # 5, with (6)
                v - size * a * outer_slope(heterogeneity, w)
                for (a, _), v, w in zip(clients, x, y, strict=True)
            ]
            if j == steps - 1:  # 7
                x = [sum(x) / len(x)] * len(x)
            y = [a * v + c for (a, c), v in zip(clients, x, strict=True)]
        if sharing == "case-2":  # 8
            y = [sum(y) / len(y)] * len(y)
    return x[0]


@pytest.mark.parametrize("heterogeneity", ["slopes", "offsets"])
@pytest.mark.parametrize("sharing", ["case-1", "case-2", "every-step"])
@pytest.mark.parametrize(("steps", "size"), [(1, 0.05), (2, 0.06), (5, 0.02)])
def test_the_limit_points_are_those_of_the_pseudo_code(heterogeneity, sharing, steps, size):
    claim = leaves("claim")["feddro/theorem-4.1"].load()
    for form in claim.forms[1:3]:
        stated = form.right(heterogeneity, sharing)(steps, size)
        assert stated == pytest.approx(at_rest(heterogeneity, sharing, steps, size), abs=1e-9)
    assert claim.forms[2].right is for_any_sequence


@pytest.mark.parametrize(("first", "second", "steps"), [(1.0, 2.0, 5), (0.5, 3.0, 9)])
def test_the_harm_of_local_steps_is_that_of_a_run(first, second, steps):
    """feddro/heterogeneity-threshold: where two quadratics' local steps rest, by running them."""
    size, apart, x = 0.01, 1.3, 0.0
    for _ in range(20_000):
        one, two = x, x
        for _ in range(steps):
            one, two = one - size * first * (one - apart), two - size * second * two
        x = (one + two) / 2
    values = {claimed.first: first, claimed.second: second, claimed.shift: apart, claimed.eta: size}
    stated = float(claimed.bias(steps).subs(values))
    assert (first * (x - apart) + second * x) / 2 == pytest.approx(stated, rel=1e-9)
    limit = first * second * (first - second) * apart / (first + second) * (steps - 1) / 4
    assert abs(stated) == pytest.approx(abs(limit) * size, rel=0.2)


OFFSET = AveragedComposition(clients=2, inner_offset=1.0)


def case(problem, **more):
    return Case(problem, FedDRO(**more), 25)


def follows(of):
    """Say whether a case keeps the schedule of Theorem 5.1, and nothing else."""
    claim = replace(leaves("claim")["feddro/theorem-5.1"].load(), assumes=[parts.SCHEDULE])
    return unmet(claim, of) is None


def test_the_schedule_is_theorem_5_1s():
    """η = √(|b|K/T), β = 4B_g⁴L_f²η, T = 100."""
    problem = AveragedComposition(clients=2, inner_slope=0.5, outer_curvature=0.7)
    c = problem.constants
    eta = sqrt(3 * 2 / 100)
    beta = 4 * c["inner_gradient_moment"] ** 4 * c["outer_smoothness"] ** 2 * eta
    fine = {"local_steps": 4, "batch": 3, "step_size": eta, "momentum": beta}
    for change in (
        {},
        {"step_size": eta * 1.001},
        {"momentum": beta * 0.999},
        {"batch": 2},
        {"local_steps": 5},
    ):
        assert follows(case(problem, **fine | change)) is not bool(change)


@pytest.mark.parametrize(
    ("assumption", "made", "fine"),
    [
        *((given.QUIET, case(replace(OFFSET, **change)), not change) for change in (
            {}, {"inner_value_noise": 0.1}, {"inner_gradient_noise": 0.1}, {"plain_noise": 0.1},
            {"inner_heterogeneity": 0.1}, {"plain_slope": 1.0, "plain_tilt": 0.1},
        )),
        (given.AVERAGED, case(BiasAmplification(objective_of="client-wise")), False),
        (given.AVERAGED, case(BiasAmplification()), True),
        *((SHARED, Case(BiasAmplification(), CompositionalFedAvg(sharing=sharing), 2),
           sharing == "every-step") for sharing in ("every-step", "case-1", "case-2")),
    ],
)  # fmt: skip
def test_conditions_tell_noise_averages_and_sharing_apart(assumption, made, fine):
    """QUIET: the terms whose constants the text leaves out have a factor 0."""
    assert assumption.applies(made) is fine
