"""Exact line searches over a class: what is proved of them, and what refutes on the line alone."""

import json
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from driftproof import Algorithm, algorithm, bound
from driftproof.classes import (
    bounded_gradients,
    cocoercive,
    convex,
    for_all,
    over,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    start_gap,
    start_within,
    worst_case,
)
from driftproof.toolkit.errors import DriftproofError, UndecidableError
from driftproof.toolkit.gram.tensor import GramVector
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers.verify import Settings, judge
from driftproof.verifiers.worst_case.check_counterexample import dot, functions_of
from driftproof.verifiers.worst_case.counterexample import simple
from driftproof.verifiers.worst_case.witness import witness
from tests.closed_forms import gap, gradient

STRONG = [smooth_strongly_convex(L=10, mu=1), start_gap(1)]
NEAR = [smooth_convex(L=1), start_within(R=1)]


class Held(NamedTuple):
    w: Tensor
    g: Tensor
    e: Tensor
    d: Tensor


@algorithm(name="searched", source="this test", statement="x + sd")
class Searched(Algorithm):
    """Line searches; along: the oracles and the state to directions, or to whatever else.

    number: whose function is searched; None: each client's own.
    """

    local_steps: int = 1
    along: object = None
    number: int | None = None
    needs = "online"
    notation = {
        "L": "objective_smoothness",
        "mu": "strong_convexity",
        "T": "rounds",
        "F_gap": "initial_gap",
    }

    def init(self, ctx, oracles, start):
        x = ctx.everywhere(start)
        return Held(x, oracles.field_grad(x, None), 0 * x, 0 * x)

    def step(self, ctx, oracles, state):
        of = oracles if self.number is None else oracles.at(self.number)
        x, g = of.line_search(state.w, *self.along(oracles, state))
        return Held(x, g, state.g, x - state.w)


STEEPEST = Searched(along=lambda oracles, state: [state.g])
CONJUGATE = Searched(along=lambda oracles, state: [state.g, state.e, state.d], number=0)


def judged(method, classes, right, left=gap, rounds=1, **more):
    made = bound(
        name="mine/search",
        source="this test",
        statement="x",
        classes=over(classes, method, rounds=rounds, clients=1),
        right=right,
        **more,
    )(left)
    row, *siblings = judge([made], Settings(siblings=True))
    refuted = [Verdict.REFUTED for _ in more.get("false_siblings", [])]
    assert [of.verdict for of in siblings] == refuted
    return row


def contraction(c):
    return ((c.L - c.mu) / (c.L + c.mu)) ** (2 * c.T) * c.F_gap


@settings(deadline=None, max_examples=6)
@given(mu=st.fractions(Fraction(1, 20), Fraction(9, 10), max_denominator=20))
def test_the_worst_case_is_that_of_de_klerk_glineur_and_taylor(mu):
    of = [smooth_strongly_convex(L=1, mu=mu), start_gap(1)]
    found = worst_case(STEEPEST, of, rounds=1, left=gap, clients=1)
    assert found.value == pytest.approx(float((1 - mu) / (1 + mu)) ** 2, rel=1e-5)
    assert "line" in found.loose


def test_their_theorem_is_proved_for_all_letters():
    strong = smooth_strongly_convex(L=for_all("0 < L"), mu=for_all("0 < mu < L"))
    row = judged(STEEPEST, [strong, start_gap(delta=for_all("0 < F_gap"))], contraction)
    assert (row.verdict, row.evidence) == (Verdict.SUPPORTED, Evidence.THEOREM)


@pytest.mark.parametrize(
    ("share", "rounds", "verdict"),
    [(1, 1, "SUPPORTED"), (1, 2, "SUPPORTED"), (0.99, 1, "REFUTED"), (0.5, 2, "REFUTED")],
)
def test_what_refutes_lies_on_the_line(share, rounds, verdict):
    half = [("half of it", lambda c: share * contraction(c) / 2)]
    more = {"rounds": rounds, "false_siblings": half}
    row = judged(STEEPEST, STRONG, lambda c: share * contraction(c), **more)
    assert row.verdict == verdict
    assert row.lhs["mean"] / row.rhs == pytest.approx(1 / share, rel=1e-6)
    for text in row.proofs.values() if verdict == "REFUTED" else ():
        points = functions_of(text).states.triples["f_0"]
        where = [functions_of(text).at(points[f"x_{k}"].x) for k in range(2)]
        g, last = (functions_of(text).at(points[f"x_{k}"].g) for k in range(2))
        (a, b), (c, d) = [x - y for x, y in zip(*where, strict=True)], g
        assert a * d == b * c != 0
        assert dot(g, last) == 0
        at = json.loads(text)["functions"]["f_0"]["points"]["x_1"]["x"]
        assert set(at) == {"x_0", "∇f_0(x_0)"}  # the file says so, and is checked for it


def test_nothing_is_refuted_off_the_line():
    found = worst_case(STEEPEST, STRONG, rounds=1, left=gap, clients=1)
    assert simple(found.case, found.solved, Fraction(1, 3)) is None
    assert witness(found.case, found.solved) is None


def test_a_search_in_a_span_is_as_good_as_the_optimal_method():
    """L‖x_0 − x*‖²/(2θ_2²) after two steps (Drori & Taylor 2020), and nothing better."""
    theta = (1 + sqrt(5)) / 2
    theta = (1 + sqrt(1 + 8 * theta**2)) / 2
    known = 1 / (2 * theta**2)
    found = worst_case(CONJUGATE, NEAR, rounds=2, left=gap, clients=1)
    assert found.value == pytest.approx(known, rel=1e-5)
    assert judged(CONJUGATE, NEAR, lambda c: 0.9 * known * c.R**2, rounds=2).verdict == "REFUTED"
    assert worst_case(STEEPEST, NEAR, rounds=2, left=gap, clients=1).value > 1.1 * known


def test_of_several_subgradients_it_is_an_orthogonal_one():
    of = [bounded_gradients(convex(), G=1), start_within(R=1)]
    more = {"letters": {"G": "field_gradient_bound"}}
    assert judged(STEEPEST, of, lambda c: c.G * c.R, **more).verdict == "SUPPORTED"
    assert judged(STEEPEST, of, lambda c: c.G * c.R / 2, **more).verdict == "REFUTED"


@pytest.mark.parametrize(
    ("along", "classes", "left", "said"),
    [
        (lambda oracles, state: [1.0], NEAR, gap, r"with 1\.0"),
        (lambda oracles, state: [oracles.mean_loss(state.w)], NEAR, gap, "with GramForms"),
        (lambda oracles, state: [state.w], NEAR, gap, "where the origin is"),
        (lambda oracles, state: [state.g], [smooth(L=1), start_gap(1)], gradient, "at a minimiser"),
        (lambda oracles, state: [state.g], [cocoercive(L=1), NEAR[1]], gradient, "at a minimiser"),
    ],
)
def test_a_direction_is_a_vector_and_a_function_is_convex(along, classes, left, said):
    with pytest.raises(DriftproofError, match=said) as error:
        worst_case(Searched(along=along), classes, rounds=1, left=left, clients=1)
    assert error.value.wanted
    assert error.value.remedy


def test_a_text_that_searches_elsewhere_in_doubles_is_seen():
    def along(oracles, state):
        return [state.g if isinstance(state.g, GramVector) else state.g + state.w]

    with pytest.raises(UndecidableError, match="line_search"):
        worst_case(Searched(along=along), NEAR, rounds=1, left=gap, clients=1)
