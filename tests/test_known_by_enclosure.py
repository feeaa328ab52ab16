"""What is known by an enclosure, inf F and a minimiser, enters both sides of a statement as one."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.cases import Case
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.measure import each, sq
from driftproof.toolkit.oracles import has_term
from driftproof.toolkit.problem import Problem, Solution, problem
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.judges import enclosed
from tests.leaves import fits, members, problems
from tests.test_enclosed import rows_of


def with_zero(value):
    return value, {"other": 0 * value}


def other(c):
    return c.measured("other")


EQUALITIES = {
    # F(x_0) − inf F is the gap at the start, on the left and on the right
    "gap ≤ F_gap": (lambda view, x: (view.gap(x), {}), lambda c: c.F_gap),
    "F_gap ≤ gap": (lambda view, x: (-view.gap(x), {}), lambda c: -c.F_gap),
    # F(x_0) = inf F + gap, with inf F taken from the problem itself
    "F ≤ inf F + F_gap": (
        lambda view, x: (
            view.objective(x),
            {"other": 0 * view.gap(x) + view.problem.solution.high},
        ),
        lambda c: c.measured("other") + c.F_gap,
    ),
    # at a minimiser there is no gap and no slope
    "gap(x*) ≤ 0": (lambda view, x: with_zero(view.gap(view.minimiser)), other),
    "0 ≤ gap(x*)": (lambda view, x: with_zero(-view.gap(view.minimiser)), other),
    "‖∇F(x*)‖² ≤ 0": (lambda view, x: with_zero(sq(view.gradient(view.minimiser))), other),
}


def claim_of(name, problem, algorithm):
    measure, right = EQUALITIES[name]

    @bound(
        name="law/equality",
        source="",
        statement="",
        right=right,
        letters={"F_gap": "initial_gap"},
        range=lambda c: (-1e3, 1e3),
        cases=[Case(problem, algorithm, 1)],
    )
    def claim(view):
        x = view.mean(algorithm.iterate)[: view.problem.dim]
        value, parts = measure(view, x)
        return each("round", value, **parts)

    return claim


def moves_all(algorithm, problem):
    """Say whether an algorithm's iterate begins at x_0 (some move a lower level's alone)."""
    if not fits(algorithm, problem):
        return False
    context, oracles = (
        sampled_context(problem, ("law",), replicates=1),
        problem.oracles(torch.float64),
    )
    start = torch.from_numpy(problem.start())
    begun = getattr(algorithm.init(context, oracles, start), algorithm.iterate)[0, :, 0]
    return torch.equal(begun[: problem.dim], start[: problem.dim])


@pytest.mark.parametrize("problem", problems())
def test_no_equality_of_exact_arithmetic_is_refuted(problem):
    algorithm = next(a.values[0] for a in members("algorithm") if moves_all(a.values[0], problem))
    solution = problem.solution
    for name in EQUALITIES:
        if "x*" in name and solution.minimiser is None:
            continue
        if "∇F" in name and has_term(problem):  # its optimum is not stationary
            continue
        ((row,), _) = rows_of(claim_of(name, problem, algorithm))
        assert row.verdict is not Verdict.REFUTED, (name, row.reason)
        if row.evidence is Evidence.EXACT and name in ("gap ≤ F_gap", "F_gap ≤ gap"):
            assert row.attained or row.rhs == 0
            assert solution.high - solution.low <= 1e-6 * abs(row.rhs)


def contracts(share):
    """F(w_1) − F* ≤ share·(1 − ηL)²(F(w_0) − F*), of a quadratic an equality for share = 1."""

    @bound(
        name="quadratic/contracts",
        source="",
        statement="",
        cases=[Case(Offset(), FedAvg(), 1)],
        right=lambda c: share * (1 - c.eta * c.L) ** 2 * c.F_gap,
    )
    def claim(view):
        return each("round", "local_step", view.gap(view.mean("w")))

    return claim


@settings(max_examples=30, deadline=None)
@given(
    curvature=st.floats(0.01, 100.0),
    product=st.floats(0.9, 0.9999),
    distance=st.sampled_from([1e-3, 1.0, 50.0]),
)
def test_an_equality_of_a_users_quadratic_holds_beside_a_large_optimal_value(
    curvature, product, distance
):
    """F* = 500·L as the user computes it, beside gaps of any size, and η near 1/L."""
    case = Case(
        Offset(curvature=curvature, distance=distance), FedAvg(step_size=product / curvature), 1
    )
    near, far = (
        enclosed.judge(claim, case, claim.forms[0])
        for claim in (contracts(1), contracts(1 - sympy.Rational(1, 10**6)))
    )
    assert near.verdict is Verdict.SUPPORTED
    assert near.attained
    assert far.verdict is Verdict.REFUTED


class OffsetOracles:
    def __init__(self, of, dtype, clients):
        self.of, self.clients = of, clients
        self.client_weights = torch.full((clients, 1, 1), 1.0 / clients, dtype=dtype)

    def field_law(self, batch):
        return None

    def field_grad(self, x, xi):
        return self.of.gradient(x)


@problem(name="user/offset", source="a test", statement="F")
class Offset(Problem):
    """F(x) = (L/2)((x − 1/3)² + 1000), whose x* and F* are rounded."""

    clients: int = 1
    dim: int = 1
    curvature: float = 1.0
    distance: float = 1.0

    @property
    def constants(self):
        return {"objective_smoothness": self.curvature}

    @property
    def solution(self):
        return Solution(500 * self.curvature, 500 * self.curvature, np.array([1 / 3]), {})

    def start(self):
        return np.array([1 / 3 + self.distance])

    def oracles(self, dtype, device="cpu", clients=None):
        return OffsetOracles(self, dtype, self.clients)

    def objective(self, x):
        return self.curvature / 2 * ((3 * x[0] - 1) ** 2 / 9 + 1000)

    def gradient(self, x):
        return self.curvature * (3 * x - 1) / 3


def test_a_measure_that_takes_the_minimiser_as_an_array_is_refused_by_balls():
    """Negative control: what it computes in doubles is not taken for an enclosure."""

    @bound(
        name="law/array",
        source="",
        statement="",
        right=lambda c: c.F_gap,
        cases=[Case(Offset(), FedAvg(), 1)],
    )
    def claim(view):
        best = torch.from_numpy(view.problem.solution.minimiser)[:, None]
        return each("round", 0 * sq(view.mean("w") - best))

    row = enclosed.judge(claim, claim.cases[0], claim.forms[0])
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "no version for balls" in row.reason
