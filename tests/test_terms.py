"""Problems with a term or on a set: their optimum by a second route, in balls; what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from driftproof.synthetic.attacks.search import attacked
from driftproof.synthetic.problems import CompositeQuadratic
from driftproof.toolkit.algorithm import algorithm
from driftproof.toolkit.algorithms import FedAvg, FrankWolfe, ProximalGradient, ProximalPoint
from driftproof.toolkit.balls.solutions import enclosing
from driftproof.toolkit.balls.tensor import precision
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import each, sq
from driftproof.toolkit.problem import with_overrides
from tests.test_declared import altered


@algorithm(name="online", source="tests", statement="a step along the gradient of each time")
class Online(FedAvg):
    needs = "online"


TERMS = ["l1", "box", "ball", "none"]


def member(term, **given):
    return CompositeQuadratic(term=term, clients=3, dim=4, heterogeneity=0.5, size=0.75, **given)


def last(problem, algorithm, rounds):
    ctx = sampled_context(problem, ("terms",), replicates=1)
    return run(problem, algorithm, ctx, rounds=rounds).state.w.mean(0)[:, 0].numpy()


@pytest.mark.parametrize("term", TERMS)
def test_the_optimum_is_that_of_cvxpy(term):
    """The smooth part is read from the oracles: its Hessian and slope, by differences."""
    import cvxpy as cp

    problem = member(term)
    oracles = problem.oracles(torch.float64)
    points = torch.cat([torch.zeros(4, 1), torch.eye(4)], 1).double().expand(3, 4, 5)
    gradients = oracles.field_grad(points, None).mean(0).numpy()
    hessian = gradients[:, 1:] - gradients[:, :1]
    f_0 = float(oracles.mean_loss(points)[:, 0].mean())
    x = cp.Variable(4)
    smooth = f_0 + gradients[:, 0] @ x + cp.quad_form(x, cp.psd_wrap(hessian)) / 2
    size, weight = problem.size, problem.penalty
    term_of = {
        "l1": (weight * cp.norm1(x), []),
        "box": (0, [cp.norm_inf(x) <= size]),
        "ball": (0, [cp.norm(x) <= size]),
        "none": (0, []),
    }[term]
    made = cp.Problem(cp.Minimize(smooth + term_of[0]), term_of[1])
    assert made.solve(solver=cp.CLARABEL) == pytest.approx(problem.solution.high, abs=1e-7)
    np.testing.assert_allclose(x.value, problem.solution.minimiser, atol=1e-5)


@pytest.mark.parametrize(
    ("algorithm", "term"),
    [
        *((ProximalGradient(step_size=1.0), term) for term in TERMS[:3]),
        (ProximalPoint(step_size=1.0), "none"),
    ],
)
def test_methods_end_at_the_optimum_and_not_elsewhere(algorithm, term):
    problem = member(term)
    best = problem.solution.minimiser
    np.testing.assert_allclose(last(problem, algorithm, 400), best, atol=1e-10)
    assert np.abs(last(problem, algorithm, 1) - best).max() > 1e-3


@pytest.mark.parametrize("term", ["box", "ball"])
def test_frank_wolfe_is_as_fast_as_jaggi_says(term):
    problem = member(term)
    for rounds in (1, 8, 64):
        x = torch.from_numpy(last(problem, FrankWolfe(), rounds))[:, None]
        bound = 2 * problem.smoothness * problem.constants["diameter"] ** 2 / (rounds + 2)
        assert 0 < float(problem.gap(x)) <= bound


@given(
    term=st.sampled_from(TERMS),
    along=st.lists(st.floats(-1, 1), min_size=4, max_size=4),
    size=st.sampled_from([0.0, 1e-9, 1e-3]),
)
def test_balls_contain_the_optimum_wherever_the_solution_says_it_is(term, along, size):
    """Law: from a point that is a little off, inf F and x* are enclosed."""
    problem = member(term)
    off = problem.solution.minimiser + size * np.array(along)
    stated = replace(problem.solution, minimiser=off, exact=False)
    with precision(200, 10**7):
        known = enclosing(with_overrides(problem, solution=stated)).solution
    assert known.low.entries.item().contains(problem.solution.high)
    for ball, true in zip(known.minimiser.entries, problem.solution.minimiser, strict=True):
        assert ball.contains(true)
        assert float(ball.rad()) <= 20 * size + 1e-14


def measured(problem, algorithm, value):
    def left(view):
        return each("round", "local_step", value(view, view.mean("w")))

    ctx = sampled_context(problem, ("terms",), replicates=1)
    return run(problem, algorithm, ctx, rounds=1, left=left)


def test_f_is_not_measured_outside_the_set():
    """There F is infinite, and what the formula says may be below inf F."""
    made = measured(member("ball"), FrankWolfe(), lambda view, x: view.gap(0.999 * x))
    assert made.values.min() > 0
    with pytest.raises(DriftproofError, match="from the set"):
        measured(member("ball"), FrankWolfe(), lambda view, x: view.gap(1.001 * x))


def test_a_sum_with_a_term_has_no_gradient_and_no_plain_steps():
    with pytest.raises(DriftproofError, match="a sum with a term"):
        measured(member("l1"), ProximalGradient(), lambda view, x: sq(view.gradient(x)))
    for method, term in ((FedAvg(), "box"), (FrankWolfe(), "l1"), (ProximalPoint(), "l1")):
        with pytest.raises(DriftproofError, match="CompositeQuadratic with other parameters"):
            last(member(term), method, 1)
    with pytest.raises(DriftproofError, match="classes=over"):
        last(member("box"), Online(), 1)


def test_constants_of_a_problem_on_a_set_are_attacked_in_the_set():
    """x³/6 on [0, 1]: F'' ≤ 1 there, and elsewhere as large as one likes."""

    class Oracles:
        clients, client_weights = 1, torch.ones(1, 1, 1, dtype=torch.float64)

        def field_law(self, batch):
            return None

        def field_grad(self, x, xi):
            return x**2 / 2

        def project(self, x):
            return x.clamp(0, 1)

    def cube(L):
        return altered(
            CompositeQuadratic(term="box", clients=1, dim=1),
            constants={"objective_smoothness": L, "field_smoothness": L},
            gradient=lambda self, x: x**2 / 2,
            oracles=lambda self, dtype, device="cpu", clients=None: Oracles(),
        )

    for role in ("objective_smoothness", "field_smoothness"):
        assert 0.9 < attacked(cube(1.0), role).ratio <= 1
        assert attacked(cube(0.5), role).exceeded
