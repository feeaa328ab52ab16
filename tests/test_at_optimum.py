"""Constants at the optimum, beside rational arithmetic that knows nothing of their code."""

from fractions import Fraction
from itertools import pairwise
from math import inf, isqrt

import numpy as np
import pytest
import sympy
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from driftproof.synthetic.attacks.scores import Scores
from driftproof.synthetic.attacks.search import attack
from driftproof.synthetic.problems import PiecewiseBilevel, PiecewiseLosses, QuadraticMinimax
from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.at_optimum import AT_OPTIMUM, FIELD, OF_BOTH, OF_TWO_LEVELS, OF_X
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.measure import average, each, sq
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.problem import STRONGLY_CONVEX, Solution, with_overrides
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims.textbook_convex import textbook
from driftproof.verifiers.search.finding import NOTHING, VERIFIED
from driftproof.verifiers.search.search import Effort, falsify
from driftproof.verifiers.verify import Settings, judge
from tests.test_declared import altered
from tests.users import UsersQuadratic

KNOTS = st.lists(st.integers(-12, 12), min_size=2, max_size=4, unique=True).map(sorted)
RISES = st.lists(st.integers(1, 9), min_size=4, max_size=4)


@st.composite
def rising(draw):
    """One client's derivative: rises from below 0 at its first knot to above 0 at its last."""
    knots, steps = draw(KNOTS), draw(RISES)
    values = np.cumsum(steps[: len(knots)])
    values = values - draw(st.integers(int(values[0]) + 1, int(values[-1])))
    return tuple((x / 4, float(y) + 0.25) for x, y in zip(knots, values, strict=True))


def slope(points, tails, x):
    """p(x) of the line through points, in rationals."""
    pairs = [(Fraction(a), Fraction(b)) for a, b in points]
    if not pairs[0][0] <= x <= pairs[-1][0]:
        (a, u), (b, v) = pairs[:2] if x < pairs[0][0] else pairs[-2:]
        near = (a, u) if x < pairs[0][0] else (b, v)
        return near[1] + (x - near[0]) * ((v - u) / (b - a) if tails == "linear" else 0)
    (a, u), (b, v) = next((p, q) for p, q in pairwise(pairs) if p[0] <= x <= q[0])
    return u + (x - a) * (v - u) / (b - a)


def root(of, corners):
    """Where a rising piecewise linear function is 0, between its corners."""
    far = [min(corners) - 10**6, *sorted(corners), max(corners) + 10**6]
    a, b = next((a, b) for a, b in pairwise(far) if of(a) <= 0 <= of(b) and of(a) < of(b))
    return a - of(a) * (b - a) / (of(b) - of(a))


def risen(points, tails, x):
    """∫_0^x p, by trapezia between corners."""
    inner = {c for c in (Fraction(a) for a, _ in points) if min(0, x) < c < max(0, x)}
    at = sorted({Fraction(0), x} | inner)
    total = sum(
        (slope(points, tails, a) + slope(points, tails, b)) / 2 * (b - a) for a, b in pairwise(at)
    )
    return total if x >= 0 else -total


@settings(max_examples=15)
@given(st.lists(rising(), min_size=1, max_size=3), st.sampled_from(["flat", "linear"]))
def test_they_are_those_of_rational_arithmetic_rounded_up(clients, tails):
    member = PiecewiseLosses(
        clients=len(clients), gradients=tuple((points,) for points in clients), tails=tails
    )
    corners = sorted({Fraction(a) for points in clients for a, _ in points})
    best = root(lambda x: sum(slope(p, tails, x) for p in clients), corners)
    own = [root(lambda x, p=p: slope(p, tails, x), [Fraction(a) for a, _ in p]) for p in clients]
    squares = sum(slope(p, tails, best) ** 2 for p in clients) / len(clients)
    gaps = [risen(p, tails, best) - risen(p, tails, x) for p, x in zip(clients, own, strict=True)]
    digits = 10**24
    true = {
        "initial_distance": abs(best),
        "gradient_dissimilarity": Fraction(isqrt(int(squares * digits**2)), digits),
        "minima_gap": sum(gaps) / len(gaps),
    }
    for role, x in true.items():
        assert x <= Fraction(member.proven[role]) + Fraction(1, digits)  # of the root
        assert float(member.proven[role] - x) <= 1e-12 * (1 + float(x)) * 100, role
        assert Scores(member).has(role)
    assert attack(member, "minima_gap") <= 1 + 1e-6


@pytest.mark.parametrize("role", sorted(AT_OPTIMUM - OF_TWO_LEVELS))
def test_one_that_is_too_small_is_found(role):
    member = PiecewiseLosses.examples()[3]
    wrong = {**member.constants, role: 0.98 * member.proven[role]}
    assert attack(altered(member, constants=wrong), role) > 1.01
    assert attack(member, role) > 0.999


FALLS = (((-1.0, -1.0), (0.0, 1.0), (1.0, -0.5), (2.0, 3.0)),)
NEAR, FAR = (((0.0, -1.0), (1.0, 0.0)),), (((0.0, -3.0), (1.0, -2.0)),)
SHORT = Assumption("short rounds", "", relation=lambda c: 4 * c.eta * c.L * c.tau <= 1)
EXACT = Assumption("no noise", "", relation=lambda c: sympy.Eq(c.sigma, 0))
WHOLE = Assumption("all clients", "", applies=lambda case: case.algorithm.participation == 1)


def convex_local_sgd(*gradients, times=1):
    """The bound of ``localsgd/textbook-convex``; an eighth of it is false."""

    @bound(
        name="mine/convex",
        source="a textbook",
        statement="x",
        assumes=[SHORT, EXACT, WHOLE],
        letters={
            "R": "initial_distance",
            "zeta": "gradient_dissimilarity",
            "L": "field_smoothness",
            "sigma": "field_gradient_noise",
        },
        right=lambda c: times * textbook(c),
        cases=grid(
            PiecewiseLosses(gradients=gradients, tails="linear", clients=len(gradients)),
            FedAvg(local_steps=sweep(1, 4), step_size=0.05),
            rounds=sweep(5, 50),
        ),
    )
    def gap(view):
        return average("step", view.gap(view.mean("w")))

    return gap


def test_the_convex_bound_of_local_sgd_is_judged_and_searched():
    rows = judge([convex_local_sgd(NEAR, FAR)], Settings())
    assert [row.verdict for row in rows] == [Verdict.SUPPORTED] * 4
    assert rows[0].instance["R"] == pytest.approx(2)
    assert rows[0].instance["zeta"] == pytest.approx(1)
    (true,) = falsify([convex_local_sgd(NEAR, FAR)], Effort(climbs=2))
    (false,) = falsify([convex_local_sgd(NEAR, FAR, times=1 / 8)], Effort(climbs=4))
    assert true.status == NOTHING
    assert false.status == VERIFIED


def test_where_x_star_may_not_be_unique_the_parameter_that_would_do_is_named():
    member = PiecewiseLosses(clients=1, gradients=(FALLS,))
    assert set(member.proven) & AT_OPTIMUM == {"minima_gap"}
    assert member.why_unproven("field_monotonicity").endswith("proves none")
    misnamed = with_overrides(member, constants={"strong_monotonicity": 0.5})
    assert "has strong_monotonicity: did you mean field_mon" in misnamed.why_unproven(
        "field_monotonicity"
    )
    row = judge([convex_local_sgd(FALLS)], Settings())[0]
    assert row.verdict is Verdict.INAPPLICABLE
    assert "needs gradient_dissimilarity, initial_distance; not proven of Piece" in row.reason
    told = "gradients whose mean nowhere falls, and rises where it is 0, would do"
    assert row.reason.endswith(f"x* may not be unique; {told}")


@given(off=st.floats(-0.3, 0.3), modulus=st.floats(0.1, 1.0), role=st.sampled_from(STRONGLY_CONVEX))
def test_a_minimiser_that_is_only_near_is_led_to_upper_ends_by_strong_convexity(off, modulus, role):
    """F = ‖x‖² of a user: the minimiser that is told lies ``off`` beside the true one.

    A modulus of the clients' functions, or of their fields, is one of F.
    """
    made = UsersQuadratic()
    best = made.solution.minimiser + off * np.eye(len(made.solution.minimiser))[0]
    high = float(made.objective(torch.from_numpy(best)[:, None]))
    assume(off == 0 or high > made.solution.low)  # else doubles do not tell the points apart
    without = {k: x for k, x in made.constants.items() if k not in STRONGLY_CONVEX}
    constants = {**without, role: modulus}
    near = altered(made, solution=Solution(made.solution.low, high, best, {}), constants=constants)
    true = np.linalg.norm(made.start()[: made.dim] - made.solution.minimiser)
    assert near.minimiser_error >= abs(off)
    assert near.proven["initial_distance"] >= true
    unknown = altered(near, constants=without)
    assert unknown.minimiser_error == inf or high == made.solution.low


@pytest.mark.parametrize("member", [*QuadraticMinimax.examples(), *PiecewiseBilevel.examples()])
def test_on_two_levels_each_distance_says_whose_it_is(member):
    x = member.minimiser
    best = torch.cat((x, member.lower_solution(x)))[:, 0].numpy()
    away, every = member.start() - best, torch.from_numpy(best)[:, None]
    true = {OF_X: np.linalg.norm(away[: member.dim]), OF_BOTH: np.linalg.norm(away)}
    if member.offers == "minimax":
        fields = member.oracles(x.dtype).field_grad(every.expand(member.clients, -1, 1), None)
        true[FIELD] = float(fields.square().sum((1, 2)).mean().sqrt())
    assert set(member.proven) & AT_OPTIMUM == set(true)
    for role, size in true.items():
        assert member.proven[role] == pytest.approx(size, rel=1e-9, abs=1e-11)
        if size > 1e-9:  # one that is too small is found
            wrong = altered(member, constants={**member.constants, role: 0.98 * size})
            assert attack(wrong, role) > 1.01
    assert f"{OF_BOTH}, ‖z_0 − z*‖" in member.why_unproven("initial_distance")
    assert FIELD in member.why_unproven("gradient_dissimilarity")


def test_y_star_is_enclosed_where_the_method_of_the_user_comes_near_it():
    member = QuadraticMinimax()
    near = altered(member, lower_solution=lambda self, x: member.lower_solution(x) + 1e-7)
    assert member.proven[OF_BOTH] <= near.proven[OF_BOTH] <= member.proven[OF_BOTH] + 1e-6
    bare = altered(member, constants={**member.constants, "lower_strong_convexity": 0.0})
    assert set(bare.proven) & OF_TWO_LEVELS == {OF_X}
    assert "lacks lower_strong_convexity" in bare.why_unproven(OF_BOTH)


@pytest.mark.parametrize(
    ("role", "verdict"),
    [("initial_distance", "INAPPLICABLE"), (OF_X, "REFUTED"), (OF_BOTH, "SUPPORTED")],
)
def test_a_true_bound_on_both_variables_is_not_refuted_unawares(role, verdict):
    @bound(
        name="mine/saddle",
        source="a textbook",
        statement="x",
        letters={"Z": role, "m": "field_monotonicity", "S": "rounds"},
        cases=grid(QuadraticMinimax(), FedAvg(step_size=0.03), rounds=2),
        right=lambda c: (1 - c.eta * c.m) ** c.S * c.Z**2,
    )
    def off(view):
        best = torch.cat((view.minimiser, view.lower_minimiser))
        off = each("round", "local_step", sq(view.mean("w") - best))
        return off if view.last else None

    (row,) = judge([off], Settings())
    assert (row.verdict, OF_BOTH in row.reason) == (verdict, verdict == "INAPPLICABLE")


def test_an_honest_error_of_a_minimax_solution_leaves_x_star_as_near_as_rounding_does():
    """∇Φ(x̂) and a modulus place x*, and Φ needs no L of its own; a wide gap takes nothing away."""
    made = QuadraticMinimax()
    other = ("objective_smoothness", "strong_convexity")
    constants = {role: x for role, x in made.constants.items() if role not in other}
    low, best = made.solution.low, made.solution.minimiser
    wide = altered(made, constants=constants, solution=Solution(low - 1e-12, low + 1e-12, best, {}))
    assert 0 < wide.minimiser_error < 1e-12


def test_a_declared_distance_is_held_against_the_minimiser_that_is_named():
    """Where nothing encloses x*, the point that the problem calls least is taken for it."""
    made = UsersQuadratic()
    true = float(np.linalg.norm(made.start()[: made.dim] - made.solution.minimiser))
    without = {k: x for k, x in made.constants.items() if k not in STRONGLY_CONVEX}
    low, best = made.solution.low, made.solution.minimiser
    for share, finds in ((0.5, True), (1.0, False)):
        constants = {**without, "initial_distance": share * true}
        near = altered(made, constants=constants, solution=Solution(low, low + 1e-9, best, {}))
        assert near.minimiser_error == inf
        assert (attack(near, "initial_distance") > 1.01) is finds
