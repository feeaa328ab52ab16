"""Worst cases of functions of two variables, and of a round from any state: known values, laws."""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from driftproof.synthetic.classes import (
    monotone_lipschitz,
    over,
    shared_minimiser,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_anywhere,
    start_at_minimiser,
    start_within,
    strongly_convex_concave,
)
from driftproof.synthetic.classes.conditions import Constraint
from driftproof.synthetic.classes.function_class import FunctionClassProblem
from driftproof.synthetic.problems import QuadraticMinimax
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.adam import Adam
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.gradient_tracking_gda import GradientTrackingGDA
from driftproof.toolkit.algorithms.scaffold import Scaffold
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run
from driftproof.toolkit.gram.exact import Second, Vector
from driftproof.toolkit.gram.tensor import NotLinearError
from driftproof.toolkit.measure import each, sq
from driftproof.toolkit.parameters import Positive
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims._saddles import distance_at_end
from driftproof.verifiers.papers.localsgd.claims.scaffold import lyapunov as of_scaffold
from driftproof.verifiers.verify import Settings, judge
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.check import RefusedCertificateError, check
from driftproof.verifiers.worst_case.found import worst_case
from driftproof.verifiers.worst_case.freedom import kept
from driftproof.verifiers.worst_case.linear_operators import LinearField, root, worst_of_fields
from driftproof.verifiers.worst_case.program import matrices
from driftproof.verifiers.worst_case.solve import solve
from driftproof.verifiers.worst_case.witness import witness
from tests.certificates import proved
from tests.worst_functions import functions

SADDLES = strongly_convex_concave(L=1, mu=0.5)
lyapunov = of_scaffold.left
ANYWHERE = [smooth_strongly_convex(L=1, mu=0.1), start_anywhere(R=1, a=0.0075)]


def steps_of(size, number=1, **more):
    return FedAvgS(local_steps=number, inner_step_size=size, outer_step_size=size, **more)


def distance(name):
    def left(view):
        apart = sq(view.mean(name) - view.minimiser)
        return each("round", "local_step", apart) if view.last else None

    return left


# -- two variables


@pytest.mark.parametrize("size", [0.1, 0.3, 0.9])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_descent_ascent_contracts_as_is_known(size, number):
    """(1 − 2ημ + η²L²)^τ, attained by a linear field; more than 1 if η > 2μ/L²."""
    (case,) = build(
        steps_of(size, number),
        [SADDLES, shared_minimiser(), start_within(R=1)],
        rounds=1,
        left=distance_at_end,
    )
    solved = solve(case)
    value = (1 - 2 * size * 0.5 + size**2) ** number
    assert solved.value == pytest.approx(value, rel=1e-6)
    assert "not sufficient" in case.loose
    assert float(witness(case, solved).value) == pytest.approx(value, rel=1e-9)


def test_a_state_of_two_fields_is_one_of_pairs():
    """FedAvg on the field (∇_x f, −∇_y f) makes the steps of FedAvg-S, on a class of operators."""
    classes = [similar(zeta=1), start_within(R=1)]
    of_pairs = worst_case(steps_of(0.3, 2), [SADDLES, *classes], rounds=1, left=distance_at_end)
    together = [
        worst_case(
            FedAvg(local_steps=2, step_size=0.3), [fields, *classes], rounds=1, left=distance("w")
        ).value
        for fields in (SADDLES, monotone_lipschitz(L=1, mu=0.5))
    ]
    assert together == pytest.approx([of_pairs.value] * 2, rel=1e-6)


def test_orders_and_step_sizes_of_the_two_variables_matter():
    classes = [SADDLES, shared_minimiser(), start_within(R=1)]
    values = [
        worst_case(method, classes, rounds=1, left=distance_at_end).value
        for method in (
            steps_of(0.3),
            steps_of(0.3, order="alternating"),
            FedAvgS(inner_step_size=0.1, outer_step_size=0.3),
            FedAvgS(inner_step_size=0.3, outer_step_size=0.1),
        )
    ]
    assert values[2] == pytest.approx(values[3], rel=1e-6)  # x and y may change places
    assert len({round(value, 4) for value in values}) == 3


def test_the_algorithm_run_on_a_quadratic_saddle_stays_below():
    """QuadraticMinimax with λ = 1: f = ½x² + (1 − y)x·s …, 1-strongly monotone, L² = 1 + s²."""
    problem = QuadraticMinimax(dim=1, largest=0.5, regulariser=1.0, distance=2.0)
    ctx = NoiselessContext(problem.clients, dtype=torch.float64, device="cpu")
    saddle = np.array([0.5 / 1.25, 1 - 0.5 * 0.5 / 1.25])
    made = run(problem, steps_of(0.3, 2), ctx, rounds=1).state
    end = np.array([made.x.mean(0).item(), made.y.mean(0).item()])
    apart = ((end - saddle) ** 2).sum() / ((np.array([2.0, 0.0]) - saddle) ** 2).sum()
    fields = strongly_convex_concave(L=float(np.sqrt(1.25)), mu=1.0)
    worst = worst_case(
        steps_of(0.3, 2),
        [fields, shared_minimiser(), start_within(R=1)],
        rounds=1,
        left=distance_at_end,
    ).value
    assert apart == pytest.approx(worst, rel=1e-6)  # such a field is a worst one


@pytest.mark.parametrize("number", [2, 3, 5])
def test_the_bias_is_that_of_fields_that_turn_against_each_other(number):
    """−ηζ i Im Σ_j (1 − η(μ + iν))^j: by complex numbers, no Gram matrix."""
    (case,) = build(
        steps_of(0.3, number),
        [SADDLES, similar(zeta=1), start_at_minimiser()],
        rounds=1,
        left=distance_at_end,
    )
    factor = 1 - 0.3 * (0.5 + 1j * np.sqrt(0.75))
    value = (0.3 * sum(factor**j for j in range(number)).imag) ** 2
    assert solve(case).value == pytest.approx(value, rel=1e-6)
    assert float(witness(case, solve(case)).value) == pytest.approx(value, rel=1e-9)


def test_local_steps_of_gradient_tracking_are_central_steps():
    """The exact worst case is (1 − 2ημ + η²L²)^K until Kη is large; there it is above."""
    classes = [SADDLES, start_within(R=1)]
    for number, size, times in ((2, 0.5, 1), (3, 0.1, 1), (5, 0.1, 1), (5, 0.5, 1.3417)):
        method = GradientTrackingGDA(local_steps=number, step_size=size)
        found = worst_case(method, classes, rounds=1, left=distance("z"))
        central = (1 - 2 * size * 0.5 + size**2) ** number
        assert found.value == pytest.approx(times * central, rel=1e-4)


class Averaging(NamedTuple):
    x: Tensor
    y: Tensor
    m: Tensor  # of x, empty at first


@dataclass(frozen=True)
class WithMomentum(Algorithm):
    """Descent–ascent with momentum on x: what remembers begins at 0."""

    step_size: Positive = 0.1
    needs = "minimax"

    def init(self, ctx, oracles, start):
        x, y = (
            ctx.everywhere(start[: oracles.upper_dim]),
            ctx.everywhere(start[oracles.upper_dim :]),
        )
        return Averaging(x, y, 0 * x)

    def step(self, ctx, oracles, state):
        m = state.m / 2 + oracles.upper_grad_x(state.x, state.y, None)
        up = oracles.upper_grad_y(state.x, state.y, None)
        x, y = ctx.average(state.x - self.step_size * m, state.y + self.step_size * up)
        return Averaging(x, y, m)


def test_a_state_may_begin_with_0_and_a_measure_is_of_both_variables():
    classes = [SADDLES, shared_minimiser(), start_within(R=1)]
    (case,) = build(WithMomentum(), classes, rounds=1, left=distance_at_end)
    assert solve(case).value == pytest.approx(1 - 2 * 0.1 * 0.5 + 0.1**2, rel=1e-6)
    with pytest.raises(DriftproofError, match=r"a measure of WithMomentum(?s:.*)torch\.cat"):
        build(WithMomentum(), classes, rounds=1, left=distance("x"))


def test_what_clients_share_is_left_out():
    """Gradients that enter by their differences alone can be moved: one vector is 0, no more."""
    method = GradientTrackingGDA(local_steps=2, step_size=0.1)
    (case,) = build(method, [SADDLES, start_within(R=1)], rounds=1, left=distance("z"))
    program = matrices(case)
    assert (~kept(program)).sum() == 2  # h_0, in x and in y
    (bounded,) = build(
        method, [SADDLES, similar(zeta=1), start_within(R=1)], rounds=1, left=distance("z")
    )
    assert kept(matrices(bounded)).all()
    assert solve(case).value == pytest.approx(solve(bounded).value, rel=1e-6)
    assert proved(case).bound == Fraction(91, 100) ** 2


def test_the_program_in_doubles_mixes_no_x_with_y():
    """That it is the exact one, tests/test_worst_cases.py has of both."""
    (case,) = build(
        steps_of(0.3, 2, order="alternating"),
        [SADDLES, similar(zeta=1), start_within(R=1)],
        rounds=1,
        left=distance_at_end,
    )
    program, second = matrices(case), np.array(case.second)
    assert second.sum() == len(case.vectors) / 2
    mixed = second[:, None] != second
    assert not program.gram.dense[:, mixed].any()
    assert not program.objective[0][mixed].any()


def test_a_vector_of_each_space():
    x, y = Vector.basis(0), Vector.basis(Second(1))
    z = x - y * 3
    assert (z.part(second=False), z.part(second=True)) == (x, y * -3)
    assert (x * y).gram == {}
    assert (z * z).gram == {(0, 0): 1, (1, 1): 9}


# -- their certificates


@pytest.fixture(scope="module")
def certificate():
    (case,) = build(
        steps_of(0.3, 2),
        [SADDLES, shared_minimiser(), start_within(R=1)],
        rounds=1,
        left=distance_at_end,
        clients=1,
    )
    return proved(case)


def test_a_certificate_tells_the_two_spaces(certificate):
    assert certificate.bound == Fraction(79, 100) ** 2
    said = check(certificate.text).said
    assert "space x has x_0, A_0(z_0)_x, A_0(z_1)_x," in said
    assert "space y has y_0, A_0(z_0)_y, A_0(z_1)_y," in said
    assert "start: ‖x_0‖² + ‖y_0‖² ≤ 1," in said


def test_with_one_space_the_same_certificate_is_refused(certificate):
    """Products of an x and a y are no longer 0, and the file is of a stronger statement."""
    file = json.loads(certificate.text)
    file["functions"]["A_0"]["points"]["z_0"]["x"]["y_0"] = "2"
    with pytest.raises(RefusedCertificateError):
        check(json.dumps(file))


def test_a_vector_of_no_space_is_refused(certificate):
    file = json.loads(certificate.text)
    file["vectors"]["y"].remove("y_0")
    with pytest.raises(LookupError):
        check(json.dumps(file))


def test_a_vector_in_the_other_space_changes_what_is_proved(certificate):
    """Whatever space a vector is moved to, the checker refuses: pairs meet in products."""
    for name in ("A_0(z_0)_x", "A_0(z_1)_x", "x_0"):
        file = json.loads(certificate.text)
        file["vectors"]["x"].remove(name)
        file["vectors"]["y"].append(name)
        with pytest.raises(RefusedCertificateError):
            check(json.dumps(file))


# -- the linear fields


@settings(max_examples=50, deadline=None)
@given(*[st.fractions(-2, 2, max_denominator=7)] * 4)
def test_a_linear_field_is_of_its_class(a, b, c, d):
    field = LinearField(Fraction(1, 2), root(Fraction(3, 4)), (Fraction(1), Fraction(-2)))
    (p, q), (r, s) = field((a, b)), field((c, d))
    moved = (a - c) ** 2 + (b - d) ** 2
    assert (p - r) * (a - c) + (q - s) * (b - d) == moved / 2
    assert (p - r) ** 2 + (q - s) ** 2 <= moved


def test_functions_with_values_and_fields_out_of_the_class_are_no_witness():
    (convex,) = build(
        FedAvg(), [smooth_convex(L=1), start_within(R=1)], rounds=1, left=distance("w"), clients=1
    )
    assert worst_of_fields(convex) is None
    (case,) = build(
        steps_of(0.3), [SADDLES, start_within(R=1)], rounds=1, left=distance_at_end, clients=1
    )
    tight = Constraint("nowhere", case.relations[0].quantity, Fraction(-1))
    assert worst_of_fields(replace(case, relations=(*case.relations, tight))) is None


def test_what_a_linear_field_attains_is_the_worst_case():
    """Then nothing is said of necessary conditions; a right side that rounds to it is it."""
    classes = over(
        [strongly_convex_concave(L=1, mu=0.6), similar(zeta=1), start_at_minimiser()],
        steps_of(0.1, 2),
        rounds=1,
    )
    value = float(Fraction(64, 10**6))  # an end of the fields is a fraction: ν = 4/5
    for right, verdict in (
        (np.nextafter(value, 0), Verdict.SUPPORTED),
        (value * (1 - 1e-5), Verdict.REFUTED),
    ):
        made = bound(
            name="mine/bias",
            source="this test",
            statement="x",
            classes=classes,
            right=lambda c, right=right: right * c.zeta,
        )(distance_at_end)
        (row,) = judge([made], Settings())
        assert row.verdict is verdict
        assert "necessary" not in row.reason
        assert row.attained == (verdict is Verdict.SUPPORTED)


# -- what is refused


def test_a_method_of_two_variables_needs_functions_of_two():
    with pytest.raises(DriftproofError, match="minimax oracles"):
        worst_case(steps_of(0.3), ANYWHERE[:1], rounds=1, left=distance_at_end)
    with pytest.raises(DriftproofError, match="Neumann"):
        worst_case(
            FedNest(terms=2),
            [SADDLES, similar(zeta=1), start_within(R=1)],
            rounds=1,
            left=distance_at_end,
        )


def test_joining_what_is_no_pair_is_refused():
    def left(view):
        z = torch.cat((view.mean("y"), view.mean("x")))
        return each("round", "local_step", sq(z))

    with pytest.raises(NotLinearError, match="not an x and a y"):
        worst_case(steps_of(0.3), [SADDLES, start_within(R=1)], rounds=1, left=left)


# -- from any state


@pytest.mark.parametrize("control", ["steps", "gradient"])
def test_one_local_step_of_scaffold_is_gradient_descent_from_any_state(control):
    """K = 1: x⁺ is that of gradient descent, whatever the c_i are. On (μ/2)‖x‖² V⁺ is known."""
    method = Scaffold(step_size=0.15, control=control)
    found = worst_case(method, ANYWHERE, rounds=1, left=lyapunov)
    x_alone = worst_case(method, ANYWHERE, rounds=1, left=distance("x"))
    assert x_alone.value == pytest.approx((1 - 0.15 * 0.1) ** 2, rel=1e-6)
    # of all curvatures ℓ the measure is (1 − ηℓ)² + aℓ², the largest at ℓ = μ
    assert found.value == pytest.approx((1 - 0.015) ** 2 + 0.0075 * 0.01, rel=1e-6)


def test_the_first_round_is_one_of_the_states():
    """From c_i = 0 the worst case is no larger, where V is bounded alike."""
    method = Scaffold(local_steps=3, step_size=0.05)
    functions_ = smooth_strongly_convex(L=1, mu=0.1)
    anywhere = worst_case(
        method, [functions_, start_anywhere(R=1, a=0.0075)], rounds=1, left=distance("x")
    )
    share = 0.0075  # ‖x_0‖² ≤ 1 − a and ζ² ≤ 1: then V ≤ 1
    first = worst_case(
        method,
        [functions_, similar(zeta=1), start_within(R=(1 - share) ** 0.5)],
        rounds=1,
        left=distance("x"),
    )
    assert first.value <= anywhere.value * (1 + 1e-9)


def test_the_algorithm_from_the_worst_state_is_as_bad():
    """Its own text, in doubles, on functions and control variates made from the Gram matrix."""
    method = Scaffold(local_steps=2, step_size=0.075)
    whole = FunctionClassProblem(conditions=tuple(ANYWHERE))
    (case,) = build(method, whole, rounds=1, left=lyapunov)
    solved = solve(case)
    problem = replace(functions(case, solved, 2), of=whole.constants)
    assert problem.own.shape == (2, problem.dim)
    ctx = NoiselessContext(2, dtype=torch.float64, device="cpu")
    start, own = (torch.from_numpy(part)[..., None] for part in (problem.first, problem.own))
    state = method.anywhere(ctx, problem.oracles(ctx.dtype), start, own)
    np.testing.assert_allclose(state.control.mean(0), own.mean(0))
    made = run(problem, method, ctx, rounds=1, left=lyapunov, begun=(0, state))
    assert made.values[-1, 0] == pytest.approx(solved.value, rel=1e-4)


def test_more_clients_are_not_worse():
    """So two stand for any number, as far as was looked."""
    for method, classes, left in (
        (Scaffold(local_steps=2, step_size=0.075), ANYWHERE, lyapunov),
        (GradientTrackingGDA(local_steps=3), [SADDLES, start_within(R=1)], distance("z")),
        (steps_of(0.3, 2), [SADDLES, similar(zeta=1), start_at_minimiser()], distance_at_end),
    ):
        two, four = (
            worst_case(method, classes, rounds=1, left=left, clients=n).value for n in (2, 4)
        )
        assert four == pytest.approx(two, rel=1e-5)


def test_a_false_invariant_would_be_seen():
    """If c were not the mean of the c_i, the round would not begin where rounds begin."""

    class Wrong(Scaffold):
        def anywhere(self, ctx, oracles, start, own):
            right = super().anywhere(ctx, oracles, start, own)
            return right._replace(control=torch.zeros_like(own))

    assert worst_case(Scaffold(step_size=0.15), ANYWHERE, rounds=1, left=lyapunov).value < 1
    with pytest.raises(DriftproofError, match="not one of the algorithm's anywhere"):
        worst_case(Wrong(step_size=0.15), ANYWHERE, rounds=1, left=lyapunov)


def test_an_algorithm_that_does_not_say_what_its_states_are_is_refused():
    with pytest.raises(DriftproofError, match="Adam from any state"):
        worst_case(Adam(), ANYWHERE, rounds=1, left=distance("w"))
