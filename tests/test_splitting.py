"""Two runs on the same functions, implicit steps on sums, two operators, and inexact steps."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational
from torch import Tensor

from driftproof import Algorithm, algorithm, bound, each, sq
from driftproof.classes import (
    cocoercive,
    convex,
    for_all,
    indicator,
    monotone,
    monotone_lipschitz,
    over,
    plus,
    shared_minimiser,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_apart,
    start_gap,
    start_within,
    worst_case,
)
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers.verify import Settings, judge
from driftproof.verifiers.worst_case.face import spanned
from driftproof.verifiers.worst_case.solve import UnboundedError
from tests.closed_forms import FORMS, distance, gap

SHARES = st.fractions(Rational(1, 10), Rational(9, 10), max_denominator=10)


class Pair(NamedTuple):
    w: Tensor
    v: Tensor


@algorithm(name="pair", source="this test", statement="w, v")
class Runs(Algorithm):
    """One run in w, and another one in v. move: the oracles and a point to the next one."""

    local_steps: int = 1
    move: object = None
    needs = "online"

    def init(self, ctx, oracles, start):
        return Pair(ctx.everywhere(start), ctx.everywhere(start))

    def anywhere(self, ctx, oracles, start, own):
        return Pair(ctx.everywhere(start), own)

    def step(self, ctx, oracles, state):
        return Pair(*(self.move(oracles, x) for x in state))


@algorithm(name="means", source="this test", statement="w, v")
class Means(Runs):
    """Gradient steps of both runs, and their means over clients."""

    step_size: float = 1.0
    notation = {"eta": "step_size"}

    def step(self, ctx, oracles, state):
        moved = [x - self.step_size * oracles.field_grad(x, None) for x in state]
        return Pair(*ctx.average(*moved))


def apart(view):
    return each("round", "local_step", sq(view.mean("w") - view.mean("v"))) if view.last else None


def worst(move, conditions, left=apart, rounds=1, clients=1):
    return worst_case(Runs(move=move), conditions, rounds=rounds, left=left, clients=clients).value


def descent(oracles, x):
    return x - oracles.field_grad(x, None) / 2


def splitting(step):
    """Douglas and Rachford's, the term first."""

    def move(oracles, w):
        x = oracles.prox(w, step)
        return w + oracles.at(0).prox(2 * x - w, step) - x

    return move


@pytest.mark.parametrize("clients", [1, 2])
def test_two_runs_come_as_much_closer_as_one_run_to_the_minimiser(clients):
    of, mean = smooth_strongly_convex(L=1, mu=0.1), [similar(zeta=1)] * (clients - 1)
    pair = worst(descent, [of, start_apart(R=2)], rounds=2, clients=clients)
    assert pair == pytest.approx(4 * 0.95**4, rel=1e-6)
    one = worst(descent, [of, *mean, start_within(R=2)], distance, rounds=2, clients=clients)
    assert one >= pair * (1 - 1e-6)  # clients that differ move each one's own point


def test_two_runs_of_two_clients_need_no_relation_of_these():
    """For all L, μ and η: each client's own step is a contraction, and so is their mean."""
    of = smooth_strongly_convex(L=for_all("0 < L"), mu=for_all("0 < mu < L"))

    method = Means(step_size=for_all("0 < eta <= 1/L"))
    made = bound(
        name="mine/two-runs",
        source="this test",
        statement="x",
        right=lambda c: (1 - c.eta * c.mu) ** 2 * c.R**2,
        classes=over([of, start_apart(R=for_all("0 < R"))], method, clients=2),
    )(apart)
    row = judge([made], Settings())[0]
    assert (row.verdict, row.evidence) == (Verdict.SUPPORTED, Evidence.THEOREM)


@pytest.mark.parametrize("more", [start_within(R=1), start_gap(1), similar(zeta=1)])
def test_two_runs_know_no_minimiser(more):
    of = smooth_strongly_convex(L=1, mu=0.1)
    with pytest.raises(DriftproofError, match="may have no minimiser"):
        over([of, start_apart(R=1), more], Runs(move=descent))
    for left in (distance, gap):
        with pytest.raises(DriftproofError):
            worst(descent, [of, start_apart(R=1)], left)


@settings(deadline=None, max_examples=8)
@given(L=st.fractions(Rational(1, 4), 4, max_denominator=4), mu=SHARES, step=SHARES)
def test_splitting_contracts_as_giselsson_and_boyd_say(L, mu, step):
    """max(1/(1 + ημ), ηL/(1 + ηL))², from a class of functions and one of operators."""
    mu, step = mu * L, 2 * step / L
    known = max(1 / (1 + step * mu), step * L / (1 + step * L)) ** 2
    made = [smooth_strongly_convex(L=L, mu=mu), plus(convex()), start_apart(R=1)]
    assert worst(splitting(step), made) == pytest.approx(float(known), rel=1e-5)


@pytest.mark.parametrize("rounds", [1, 2])
def test_an_implicit_step_on_a_sum_is_one_on_a_function(rounds):
    """LR²/(4N) of the proximal point method, of f + h, of f_0 + f_1, and of f_0 + f_0."""
    near, known = start_within(R=1), pytest.approx(1 / (4 * rounds), rel=1e-6)
    with_term = worst(
        lambda o, x: o.prox(x, 1, losses=[0], term=True),
        [convex(), plus(convex()), near],
        gap,
        rounds,
    )
    assert with_term == known
    two = worst(
        lambda o, x: o.prox(x, 1, losses=[0, 1]),
        [convex(), similar(zeta=9), near],
        gap,
        rounds,
        clients=2,
    )
    assert 2 * two == known  # the mean of two functions is half of their sum
    assert worst(lambda o, x: o.prox(x, 0.5, losses=[0, 0]), [convex(), near], gap, rounds) == known


def test_a_set_s_least_point_of_a_sum_is_a_minimiser():
    def leader(oracles, x):
        return oracles.linear_minimiser(0 * x, losses=[0])

    made = [smooth_convex(L=1), plus(indicator(D=1))]
    assert worst(leader, made, gap) == pytest.approx(0, abs=1e-7)
    with pytest.raises(UnboundedError, match="beyond all bounds"):  # any point of it: f is ⟨g, x⟩
        worst(lambda o, x: o.linear_minimiser(0 * x), made, gap)


def judged(conditions, move, right):
    made = bound(
        name="mine/splitting",
        source="this test",
        statement="x",
        right=right,
        classes=over(conditions, Runs(move=move), clients=1),
    )(apart)
    return judge([made], Settings())[0]


@pytest.mark.parametrize(
    ("right", "verdict"), [(Rational(4, 9), Verdict.SUPPORTED), (Rational(1, 10), Verdict.REFUTED)]
)
def test_two_operators_split_as_ryu_and_others_say(right, verdict):
    """ηA is β/η-cocoercive: with η = 2, β = μ = 1 the factor is 4/9, and not 1/10, as with βη."""
    made = [cocoercive(L=1), plus(monotone(mu=1)), start_apart(R=1)]
    row = judged(made, splitting(2), lambda c: right * c.R**2)
    assert row.verdict is verdict
    assert row.lhs["mean"] == pytest.approx(4 / 9, rel=1e-6)


def test_an_operator_and_a_set():
    """Where conditions are only necessary, no linear field stands for the set's normals."""
    made = [monotone_lipschitz(L=1, mu=0), plus(indicator()), start_apart(R=1)]
    forward_backward = lambda o, x: o.project(x - o.field_grad(x, None) / 2)  # noqa: E731
    row = judged(made, forward_backward, lambda c: Rational(5, 4) * c.R**2)
    assert (row.verdict, row.lhs["mean"]) == (Verdict.SUPPORTED, pytest.approx(1.25))
    row = judged(made, forward_backward, lambda c: Rational(6, 5) * c.R**2)
    assert row.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    "conditions", [[cocoercive(L=1), plus(convex())], [convex(), plus(monotone())]]
)
def test_an_operator_beside_a_function_is_refused(conditions):
    with pytest.raises(DriftproofError, match="two operators"):
        over([*conditions, start_within(R=1)], Runs(move=descent))


PUSHED = [smooth_convex(L=1), plus(convex()), shared_minimiser(), start_within(R=1)]


def accelerated(step, rounds):
    """Return the worst case of accelerated Douglas–Rachford, and its closed form; L = R = 1."""
    method = FORMS.AcceleratedDouglasRachford(step_size=step)
    theta = (1 - step) / (1 + step)
    known = 2 / step / (theta * (rounds**2 + 3 * rounds - 2) + 8)
    return worst_case(method, PUSHED, rounds=rounds, left=gap, clients=1).value, known


@settings(deadline=None, max_examples=8)
@given(step=SHARES, rounds=st.integers(2, 7))
def test_the_worst_case_of_accelerated_douglas_rachford(step, rounds):
    found, known = accelerated(float(step), rounds)
    assert found == pytest.approx(known, rel=1e-5)


def test_the_bound_for_quadratics_does_not_hold_for_other_functions():
    """2/(ηθ(N + 3)²) of Patrinos, Stella & Bemporad 2014, at η = 1/2 and N = 5: 3/16."""
    assert accelerated(0.5, 5)[0] > 0.193 > 3 / 16
    made = bound(
        name="mine/quadratics",
        source="this test",
        statement="x",
        right=lambda c: Rational(3, 16) * c.R**2,
        classes=over(PUSHED, FORMS.AcceleratedDouglasRachford(), rounds=5, clients=1),
    )(gap)
    assert judge([made], Settings())[0].verdict is Verdict.REFUTED


def inexact(step, sigma):
    """A gradient step whose error is at most σ‖∇f‖."""

    def move(oracles, x):
        g = oracles.field_grad(x, None)
        e = oracles.error(g)
        oracles.bound_error(e, sigma * g)
        return x - step * (g + e)

    return move


@settings(deadline=None, max_examples=8)
@given(sigma=st.fractions(0, Rational(4, 5), max_denominator=10), mu=SHARES)
def test_an_inexact_gradient_step_is_as_bad_as_de_klerk_and_others_say(sigma, mu):
    """((L' − μ')/(L' + μ'))² with L' = (1 + σ)L and μ' = (1 − σ)μ, at η = 2/(L' + μ')."""
    high, low = 1 + sigma, (1 - sigma) * mu
    of = [smooth_strongly_convex(L=1, mu=mu), start_gap(1)]
    found = worst(inexact(float(2 / (high + low)), float(sigma)), of, gap)
    assert found == pytest.approx(float(((high - low) / (high + low)) ** 2), rel=1e-4)


def test_columns_that_depend_on_each_other_span_what_one_of_them_does():
    kernel = next(spanned(np.array([[1.0, 2.0], [0.5, 1.0], [0.0, 0.0]])))
    assert (kernel.basis.ncols(), len(kernel.pivots)) == (1, 1)
