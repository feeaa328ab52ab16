"""The bias within a round of FedDRO's algorithms: its first order and its bounds, by other routes.

The claims measure runs of the toolkit. Here the pseudo-code is run in exact rational functions of
η, or in numpy on other functions.
"""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import sympy

from driftproof.synthetic.problems import AveragedComposition, BiasAmplification
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.federation import run_exactly
from driftproof.verifiers.papers.feddro.claims import _descent
from driftproof.verifiers.papers.feddro.claims import _local_bias as local
from driftproof.verifiers.papers.feddro.claims.bias_amplification import curvatures, stays

CASES_I_AND_II = ("case-1", "case-2")


def of_pseudo_code(start, steps, eta, sharing, inner, outer, slopes):
    """Return b_0 … by Algorithm 1's lines, in whatever numbers its arguments are.

    Args:
        inner, slopes: from a client and x to g_k(x) and ∇g_k(x).
        outer: f'.
    """
    clients = range(len(inner))

    def mean(values):
        return sum(values) / len(inner)

    x, made = [start] * len(inner), []
    y = [inner[k](x[k]) for k in clients]
    if sharing == "case-2":
        y = [mean(y)] * len(inner)
    for _ in range(steps):
        if sharing == "every-step":
            y = [mean(y)] * len(inner)
        u = [slopes[k](x[k]) * outer(y[k]) for k in clients]
        centre = mean(x)
        whole = mean([slopes[k](centre) for k in clients])
        made.append(mean(u) - whole * outer(mean([inner[k](centre) for k in clients])))
        x = [x[k] - eta * u[k] for k in clients]
        y = [inner[k](x[k]) for k in clients]
    return made


def affine(problem, number=float):
    """Return the problem's g_k, their slopes, and f'."""
    inner, slopes = [], []
    numbers = [map(number, values) for values in (problem.slopes, problem.offsets)]
    for a, c in zip(*numbers, strict=True):
        inner.append(lambda x, a=a, c=c: a * x + c)
        slopes.append(lambda x, a=a: a)
    return inner, slopes, partial(clip, ends=problem.outer_slope)


def clip(y, ends):
    return min(max(y, -ends), ends)


@pytest.mark.parametrize("sharing", CASES_I_AND_II)
@pytest.mark.parametrize("heterogeneity", ["slopes", "offsets"])
def test_the_first_order_is_the_derivative_at_0_of_the_exact_bias(heterogeneity, sharing):
    """b_j is a polynomial in η and x: its derivative at η = 0 is −(1/K) Σ (F_k'' − Φ'') w_k."""
    eta, x = sympy.symbols("eta x")
    problem = BiasAmplification(heterogeneity=heterogeneity, at=0.3)
    inner, slopes, _ = affine(problem, sympy.Integer)
    # near 0.3 the first client of "offsets" has f' = 1, the others and Φ have f'(y) = y
    ends = int(problem.outer_slope)

    def outer(y):
        return sympy.Integer(ends) if y.subs({x: 0.3, eta: 0}) > ends else y

    made = of_pseudo_code(x, 6, eta, sharing, inner, outer, slopes)
    own = [slopes[k](x) * outer(sympy.sympify(inner[k](x))) for k in range(problem.clients)]
    shared = sum(g(x) for g in inner) / sympy.Integer(problem.clients)
    first = own if sharing == "case-1" else [slopes[k](x) * outer(shared) for k in range(len(own))]
    *bends, whole = map(sympy.nsimplify, curvatures(problem, 0.3))
    mean_slope = sum(a(x) for a in slopes) / sympy.Integer(len(own))
    beta = sum(own) / len(own) - mean_slope * outer(shared)
    for j, value in enumerate(made[1:], 1):
        way = [first[k] + (j - 1) * own[k] for k in range(len(own))]
        change = sum((bends[k] - whole) * way[k] for k in range(len(own))) / len(own)
        assert sympy.expand(value.subs(eta, 0) - beta) == 0
        assert sympy.expand(sympy.diff(value, eta).subs(eta, 0) + change) == 0


def smooth_composition():
    """Return curved g_k, f' and F_k', F_k'', Φ', Φ'' of f(y) = √(1 + y²), as functions."""
    x, y = sympy.symbols("x y")
    outer = sympy.diff(sympy.sqrt(1 + y**2), y)
    inner = [sympy.sin(x) + 1, x / 2 - 1, sympy.cos(2 * x)]
    mean = sum(inner) / 3

    def on(g):
        return sympy.diff(sympy.sqrt(1 + g**2), x)

    def made(e):
        return sympy.lambdify(x, e, "numpy")

    return {
        "inner": [made(g) for g in inner],
        "slopes": [made(sympy.diff(g, x)) for g in inner],
        "outer": sympy.lambdify(y, outer, "numpy"),
        "own": [made(on(g)) for g in inner],
        "bends": [made(sympy.diff(on(g), x)) for g in inner],
        "whole": made(on(mean)),
        "bend": made(sympy.diff(on(mean), x)),
        "mean": made(mean),
    }


@pytest.mark.parametrize("sharing", CASES_I_AND_II)
@pytest.mark.parametrize("start", [-0.7, 0.4, 1.3])
def test_the_first_order_holds_for_smooth_functions_up_to_eta_squared(sharing, start):
    of, steps, errors = smooth_composition(), 5, []
    own = np.array([f(start) for f in of["own"]])
    first = own
    if sharing == "case-2":
        first = np.array([g(start) for g in of["slopes"]]) * of["outer"](of["mean"](start))
    apart = np.array([f(start) for f in of["bends"]]) - of["bend"](start)
    for eta in (1e-2, 1e-3):
        made = of_pseudo_code(start, steps, eta, sharing, of["inner"], of["outer"], of["slopes"])
        change = eta * np.mean(apart * (first + (steps - 2) * own))
        errors.append(abs(made[-1] - (own.mean() - of["whole"](start)) + change))
    assert errors[1] < errors[0] / 80  # η²: a hundredth


@pytest.mark.parametrize("at", [-2.9, 0.3, 2.4])
@pytest.mark.parametrize("heterogeneity", ["slopes", "offsets"])
def test_the_curvatures_are_the_second_derivatives(heterogeneity, at):
    problem = BiasAmplification(heterogeneity=heterogeneity)
    inner, slopes, outer = affine(problem)

    def gradients(x):
        mean = np.mean([g(x) for g in inner])
        own = [slope(x) * outer(g(x)) for g, slope in zip(inner, slopes, strict=True)]
        return np.array([*own, problem.slopes.mean() * outer(mean)])

    found = (gradients(at + 1e-6) - gradients(at - 1e-6)) / 2e-6
    assert found == pytest.approx(curvatures(problem, at), abs=1e-6)


def test_a_case_whose_run_meets_a_kink_is_refused():
    claim = leaves("claim")["feddro/bias-amplification"].load()
    case = claim.cases[0]
    assert stays(case)
    method = case.algorithm
    assert not stays(Case(BiasAmplification(at=1.45), method, 1))  # 2x leaves (−3, 3) at 1.5
    assert not stays(Case(case.problem, method, 2))


def left_sides(name, case):
    """Return what a claim measures on a case at its moments: the left side and its parts."""
    claim = leaves("claim")[name].load()
    outcome = run_exactly(
        case.problem, case.algorithm, rounds=case.rounds, left=claim.left, limit=1
    )
    return outcome.taken[:, :, 0]


@pytest.mark.parametrize("sharing", [*CASES_I_AND_II, "every-step"])
@pytest.mark.parametrize("heterogeneity", ["slopes", "offsets"])
def test_the_bias_that_is_measured_is_that_of_the_pseudo_code(heterogeneity, sharing):
    problem = BiasAmplification(heterogeneity=heterogeneity, at=0.3)
    inner, slopes, outer = affine(problem)
    method = local.CompositionalFedAvg(local_steps=9, step_size=1 / 64, sharing=sharing)
    made = of_pseudo_code(0.3, 9, 1 / 64, sharing, inner, outer, slopes)
    start, bias = left_sides("feddro/bias-amplification", Case(problem, method, 1))
    assert bias == pytest.approx(np.abs(made), abs=1e-14)
    assert start == pytest.approx(np.abs(made[0]), abs=1e-14)


def test_the_bounds_hold_on_problems_that_were_drawn():
    """‖b_j‖, δ and the bound by loops in numpy; both claims' right sides are their formula's."""
    random = np.random.default_rng(0)
    tightest = 0.0
    for _ in range(40):
        problem = AveragedComposition(
            clients=int(random.integers(2, 5)),
            inner_slope=random.uniform(0.2, 2),
            inner_curvature=random.choice([0.0, random.uniform(0.1, 2)]),
            inner_heterogeneity=random.uniform(0, 0.9),
            inner_offset=random.uniform(0, 2),
            outer_curvature=random.uniform(0.2, 3),
            distance=random.uniform(0, 3),
        )
        size, steps = random.uniform(0.001, 0.3), int(random.integers(1, 7))
        sharing = str(random.choice([*CASES_I_AND_II, "every-step"]))
        method = local.CompositionalFedAvg(local_steps=steps, step_size=size, sharing=sharing)
        case = Case(problem, method, 1)
        (bias,), (delta,) = left_sides("feddro/bias-bound", case)
        (drift,), (same,) = left_sides("feddro/bias-drift", case)
        assert delta == same
        c = problem.constants
        B_f, B_g = c["outer_gradient_bound"], c["inner_gradient_moment"]
        L_f, L_g = c["outer_smoothness"], c["inner_mean_smoothness"]
        Delta = c["inner_gradient_heterogeneity"]
        grown = (1 + size * (B_f * L_g + B_g**2 * L_f)) ** (steps - 1)
        moved = (B_f * Delta + B_g * L_f * delta) * (grown - 1)
        assert drift <= moved * (1 + 1e-12) + 1e-14
        assert bias <= moved + B_g * L_f * delta + 1e-14
        assert delta == 0 if sharing == "every-step" else delta <= 2 * B_f / L_f
        tightest = max(tightest, bias / (moved + B_g * L_f * delta) if bias > 1e-12 else 0)
    assert tightest > 0.3  # the claim's own cases come to 0.75


def test_without_delta_only_twice_the_largest_gradient_holds_and_it_is_attained():
    """g_k = B_gx ± δ, f' = min(L_f|y|, 2B_f) − B_f: equality for every δ; f may not be convex."""
    B_f, B_g, L_f = 1.5, 0.7, 2.0

    def outer(y):
        return min(L_f * abs(y), 2 * B_f) - B_f

    for delta in (0.1, 1.0, 1.5, 20.0):
        inner = [lambda x, d=d: B_g * x + d for d in (delta, -delta)]
        (b, *_) = of_pseudo_code(0.0, 1, 0.1, "case-1", inner, outer, [lambda x: B_g] * 2)
        assert b == pytest.approx(B_g * min(L_f * delta, 2 * B_f))
    assert b == pytest.approx(2 * B_f * B_g)
    for clients in (3, 10, 1000):  # a convex f
        shifts = [-2.0 * (clients - 1), *[2.0] * (clients - 1)]
        inner = [lambda x, c=c: x + c for c in shifts]
        slopes, outer = [lambda x: 1.0] * clients, partial(clip, ends=1.0)
        (b, *_) = of_pseudo_code(-1.0, 1, 0.1, "case-1", inner, outer, slopes)
        assert b == pytest.approx(2 - 2 / clients)


def test_a_bias_that_does_not_vanish_with_the_step_size_and_one_that_does():
    problem = BiasAmplification(at=0.3)
    for sharing, least in (("case-1", 0.07), ("case-2", 0.07), ("every-step", 0.0)):
        made = []
        for size in (1e-2, 1e-4):
            method = local.CompositionalFedAvg(local_steps=5, step_size=size, sharing=sharing)
            made.append(left_sides("feddro/bias-bound", Case(problem, method, 1))[0][-1])
        assert made[1] > least
        assert made[1] < made[0] / 90 if sharing == "every-step" else made[1] < made[0]


def test_the_plots_show_that_sharing_at_each_step_alone_comes_to_the_solution():
    for heterogeneity in ("slopes", "offsets"):
        problem = BiasAmplification(heterogeneity=heterogeneity)
        for steps in _descent.LOCAL_STEPS:
            ends = [
                _descent.descent(problem, _descent.made(name, steps)) for name in _descent.METHODS
            ]
            one, two, modified, feddro = ends
            assert min(one[-1], two[-1]) > 0.04
            assert max(modified[-1], feddro[-1]) < 1e-8
            assert all(a >= b for a, b in pairwise(modified))
            assert all(values[0] == one[0] for values in ends)
    assert _descent.panels(Case(BiasAmplification(), local.CompositionalFedAvg(decay=2.0), 1)) == []
