"""Certified optima: tight whatever a solver says, true by other routes, and refused where wrong."""

import math
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import driftproof
from driftproof.synthetic.certificates.logistic import lowest_mean
from driftproof.synthetic.certificates.penalised import Ambiguity, divergence_of
from driftproof.synthetic.certificates.robust import robust_optimum
from driftproof.synthetic.certificates.smooth import frank_wolfe_gap, minimise_smooth_on_ball
from driftproof.synthetic.problems import KLDRO, LogisticBilevel, PenalisedDRO
from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.errors import DriftproofError, UndecidableError
from driftproof.toolkit.rounded import coarsely
from tests.benchmarks.optima import chi_square, kl_dro, logistic_bilevel, width_of

TIGHT = 1e-10
RULES = [
    {"divergence": "kl", "penalty": 0.3},
    {"divergence": "chi2", "penalty": 0.3},
    {"divergence": "kl", "radius": 0.2},
    {"divergence": "chi2", "radius": 0.2},
    {"divergence": "cvar", "radius": 0.4},
    {"divergence": "kl", "radius": 9.0},
    {"divergence": "chi2", "penalty": 0.01},
    {"divergence": "cvar", "radius": 1.0},
]
every_rule = pytest.mark.parametrize("rule", RULES)
SEEDS = range(24)


def value(problem, x):
    return float(problem.objective(torch.from_numpy(np.asarray(x, dtype=float))[:, None]))


def worst(losses, divergence, penalty=None, radius=None):
    """R of given losses by its dual, minimised by scipy: a second route to the inner maximum."""
    spread = float(np.ptp(losses)) + 1.0

    def least(function, low, high):
        grid = np.linspace(low, high, 120)
        k = int(np.argmin([function(at) for at in grid]))
        ends = grid[max(k - 1, 0)], grid[min(k + 1, 119)]
        return minimize_scalar(
            function, bounds=ends, method="bounded", options={"xatol": 1e-13}
        ).fun

    low, high = losses.min() - 9 * spread, losses.max()
    if divergence == "cvar":
        return least(lambda t: t + np.maximum(losses - t, 0).mean() / radius, low, high)
    if divergence == "chi2" and radius:  # Cauchy's inequality: mean p·(ℓ − ν)₊ ≤ ‖mp‖‖(ℓ − ν)₊‖
        return least(
            lambda t: t + np.sqrt((1 + 2 * radius) * np.mean(np.maximum(losses - t, 0) ** 2)),
            low,
            high,
        )
    if divergence == "chi2":
        return least(
            lambda t: (
                t + penalty / 2 * (np.mean(np.maximum(1 + (losses - t) / penalty, 0) ** 2) - 1)
            ),
            losses.min() - penalty - 1,
            losses.max() + penalty,
        )

    def entropic(lam):
        return losses.max() + lam * np.log(np.mean(np.exp((losses - losses.max()) / lam)))

    if penalty:
        return entropic(penalty)
    return min(losses.max(), least(lambda log: np.exp(log) * radius + entropic(np.exp(log)), -9, 9))


def logistic(seed, m=7, dim=2):
    rows = np.random.default_rng(seed).standard_normal((m, dim))
    return (
        lambda x: np.logaddexp(0, -rows @ x),
        lambda x: -rows / (1 + np.exp(rows @ x))[:, None],
        rows,
    )


# --- the built-in families ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("made", [kl_dro, chi_square, logistic_bilevel])
def test_random_members_are_enclosed_tightly_and_nothing_lies_below(made, seed):
    problem = made(seed)
    known = problem.solution
    if made is chi_square:
        assert width_of(problem.robust_optimum) <= TIGHT
    if known.certificate.get("convex", True) and "of W" not in known.certificate["method"]:
        assert width_of(known) <= TIGHT
    size = max(1.0, abs(known.high))
    assert abs(value(problem, known.minimiser) - known.high) <= 1e-12 * size
    random = np.random.default_rng(seed)
    for scale in (1e-6, 1e-2, 1.0):
        x = known.minimiser + scale * random.standard_normal(problem.dim)
        if problem.radius is not None:
            x *= min(1.0, problem.radius / np.linalg.norm(x))
        assert value(problem, x) >= known.low - 1e-14 * size


@pytest.mark.parametrize("seed", SEEDS)
def test_what_cvxpy_finds_lies_beside_the_enclosure(seed):
    for known in (kl_dro(seed).robust_optimum(), chi_square(seed).robust_optimum):
        if known.certificate["status"] == "optimal":
            assert known.low - 1e-6 <= known.certificate["primal"] <= known.high + 1e-6


@pytest.mark.parametrize(
    "problem",
    [
        KLDRO(clients=8, dim=10, temperature=10.0),
        KLDRO(clients=2, dim=1),
        PenalisedDRO(clients=3, divergence="chi-square", penalty=3.0),
    ],
)
@pytest.mark.parametrize("status", ["as it is", "an error", "without a point"])
def test_the_solvers_status_decides_nothing(problem, status, monkeypatch):
    problem = replace(problem)  # without what was solved before

    def gives_up(self, **options):
        if status == "an error":
            raise cp.SolverError("it gave up")

    if status != "as it is":
        monkeypatch.setattr(cp.Problem, "solve", gives_up)
    assert width_of(problem.solution) <= TIGHT


def test_where_phi_is_not_convex_the_solution_says_so():
    problem = PenalisedDRO(
        clients=5,
        dim=4,
        samples=1,
        divergence="chi-square",
        penalty=0.04,
        feature_bound=0.8,
        ball=2.0,
        heterogeneity=1.75,
        data_seed=922,
    )
    known = problem.solution
    assert width_of(known) > 1e-3
    assert not known.certificate["convex"]
    assert "convex" in known.certificate["note"]
    low, high = known.certificate["optimum_of_3"]
    assert known.low == low <= high < low + TIGHT
    assert value(problem, known.minimiser) == known.high > high
    convex = PenalisedDRO(divergence="chi-square", penalty=9.0).solution.certificate
    assert convex["convex"]
    assert "note" not in convex


@pytest.mark.parametrize("seed", range(40))
def test_the_modulus_of_logistic_members_is_one(seed):
    """By second differences of F at random points with F no larger than at the start."""
    problem = LogisticBilevel(
        clients=2,
        dim=2,
        lower_dim=2 + seed % 2,
        samples=4,
        validation=5,
        ridge=0.4 + seed / 20,
        regulariser=0.5,
        data_seed=seed,
        feature_bound=1 + seed / 20,
    )
    centre = problem.lower_solution(torch.zeros(2, 1, dtype=torch.float64))[:, 0].numpy()
    lowest = lowest_mean(problem.data[1].reshape(-1, problem.lower_dim))[1]
    above = value(problem, np.zeros(2)) - lowest
    modulus = problem._convexity(centre, above)
    assert modulus < problem.regulariser  # control: it is not λ alone
    random, radius = np.random.default_rng(seed), math.sqrt(2 * above / problem.regulariser)
    for _ in range(20):
        x, step = random.uniform(-1, 1, 2) * radius / 2**0.5, 1e-3 * random.standard_normal(2)
        bend = value(problem, x + step) + value(problem, x - step) - 2 * value(problem, x)
        assert bend >= modulus * (step @ step) - 1e-12


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 3))
def test_the_least_mean_of_rows_that_can_be_separated_in_part(seed, count, dim):
    random = np.random.default_rng(seed)
    rows = random.integers(-2, 3, (count, dim)).astype(float)  # many lie on one line
    y, low = lowest_mean(rows)
    assert low >= 0
    assert abs(np.logaddexp(0, -rows @ y).mean() - low) <= 1e-12
    for scale in (0.1, 1.0, 10.0, 100.0):
        other = np.logaddexp(0, -rows @ (scale * random.standard_normal(dim))).mean()
        assert other >= low - 1e-14


# --- losses of one's own --------------------------------------------------------------------------


@every_rule
@pytest.mark.parametrize("seed", range(4))
def test_one_dimension_by_brute_force(rule, seed):
    losses, gradients, _ = logistic(seed, dim=1)
    found = robust_optimum(losses, gradients, dim=1, ball=2.0, **rule)
    grid = np.linspace(-2, 2, 81)
    values = [worst(losses(np.array([x])), **rule) for x in grid]
    assert found.low <= min(values) + 1e-9
    assert min(values) <= found.high + 2e-3
    assert worst(losses(found.minimiser), **rule) == pytest.approx(found.high, abs=1e-7)
    assert width_of(found) <= 1e-8


@every_rule
@pytest.mark.parametrize(("seed", "m", "dim"), [(0, 3, 2), (1, 12, 3), (2, 40, 5), (3, 1, 2)])
def test_random_logistic_losses_by_cvxpy(rule, seed, m, dim):
    losses, gradients, rows = logistic(seed, m, dim)
    found = robust_optimum(losses, gradients, dim=dim, ball=3.0, samples=m, **rule)
    x, p = cp.Variable(dim), found.certificate["weights"]
    fixed = cp.Problem(cp.Minimize(p @ cp.logistic(-rows @ x)), [cp.norm(x) <= 3]).solve()
    ambiguity = Ambiguity(rule["divergence"], rule.get("penalty"), rule.get("radius"))
    paid = (rule.get("penalty") or 0.0) * divergence_of(p, rule["divergence"])
    assert fixed - paid == pytest.approx(found.low, abs=1e-6)  # the minimum for the weights named
    np.testing.assert_allclose(ambiguity.allowed(p), p, atol=1e-14)
    assert worst(losses(found.minimiser), **rule) == pytest.approx(found.high, abs=1e-7)
    assert width_of(found) <= 1e-8
    for shift in (1e-7, -1e-7):  # control: an optimum that is another is told from it
        other = robust_optimum(
            lambda at, by=shift: losses(at) + by, gradients, dim=dim, ball=3.0, **rule
        )
        assert other.low > found.high if shift > 0 else other.high < found.low


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [0.1, 0.37, 0.8])
def test_cvar_of_linear_losses_by_its_program(seed, level):
    """min over (x, t) of t + mean (Ax + b − t)₊/α: cvxpy's, with the ball as its cone."""
    random = np.random.default_rng(seed)
    a, b = random.standard_normal((9, 3)), random.standard_normal(9)
    found = robust_optimum(
        lambda x: a @ x + b, lambda x: a, divergence="cvar", radius=level, dim=3, ball=2.0
    )
    x, t = cp.Variable(3), cp.Variable()
    program = cp.Minimize(t + cp.sum(cp.pos(a @ x + b - t)) / (9 * level))
    made = cp.Problem(program, [cp.norm(x) <= 2]).solve(solver=cp.CLARABEL)
    assert found.low - 1e-7 <= made <= found.high + 1e-7
    assert width_of(found) <= 1e-8


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_units_change_nothing(size):
    losses, gradients, _ = logistic(5, 9, 3)
    plain = robust_optimum(losses, gradients, divergence="kl", penalty=0.3, dim=3, ball=4.0)
    scaled = robust_optimum(
        lambda x: size * losses(x / size),
        lambda x: gradients(x / size),
        divergence="kl",
        penalty=0.3 * size,
        dim=3,
        ball=4.0 * size,
    )
    assert scaled.high - scaled.low <= 1e-12 * size
    assert scaled.low <= size * plain.high + 1e-12 * size
    assert size * plain.low <= scaled.high + 1e-12 * size


def test_torch_losses_have_their_gradients_by_autograd():
    losses, gradients, rows = logistic(3, 8, 3)
    given = {"divergence": "chi2", "penalty": 0.4, "dim": 3, "ball": 2.0}
    one, data = robust_optimum(losses, gradients, **given), torch.from_numpy(rows)
    two = robust_optimum(lambda x: torch.nn.functional.softplus(-data @ x), **given)
    assert max(one.low, two.low) <= min(one.high, two.high)
    assert max(width_of(one), width_of(two)) <= TIGHT
    assert "Monte Carlo" in two.certificate["rests_on"][1]


def test_driftproof_has_it_and_a_problem_can_return_it():
    found = driftproof.robust_optimum(
        lambda x: np.array([x @ x]),
        lambda x: 2 * x[None],
        divergence="kl",
        penalty=1.0,
        dim=2,
        ball=1.0,
    )
    assert isinstance(found, driftproof.Solution)
    assert found.low <= 0 <= found.high


# --- what is wrong is refused ---------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-5, 1.0), st.integers(0, 3), st.sampled_from(RULES))
@example(2146, 1e-05, 2, {"divergence": "kl", "radius": 9.0})  # a weight that is 0, and rises
def test_a_loss_that_is_not_convex_is_caught(seed, bend, i, rule):
    """However little it bends down, and wherever."""
    losses, gradients, rows = logistic(seed, 4, 2)
    centre, unit = np.random.default_rng(seed).standard_normal(), np.eye(4)[i]
    bend = bend + float(rows[i] @ rows[i]) / 4  # more than a logistic loss bends up

    with pytest.raises(DriftproofError, match=rf"loss {i} .* below its tangent"):
        robust_optimum(
            lambda x: losses(x) - unit * bend / 2 * (x[0] - centre) ** 2,
            lambda x: gradients(x) - np.outer(unit * bend * (x[0] - centre), [1, 0]),
            dim=2,
            ball=2.0,
            **rule,
        )


@pytest.mark.parametrize("rule", RULES[:5])
def test_losses_that_are_nowhere_near_convex_are_caught(rule):
    with pytest.raises(DriftproofError, match=r"loss 1 .* below its tangent"):
        robust_optimum(
            lambda x: np.stack([x @ x, np.sin(3 * x[0])]),
            lambda x: np.array([2 * x, [3 * np.cos(3 * x[0]), 0.0]]),
            dim=2,
            ball=2.0,
            **rule,
        )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 3), st.integers(0, 1), st.sampled_from(RULES))
def test_a_wrong_gradient_is_caught(seed, i, j, rule):
    losses, gradients, _ = logistic(seed, 4, 2)

    def wrong(x):
        made = gradients(x).copy()
        made[i, j] += 1e-4
        return made

    with pytest.raises(DriftproofError, match=f"loss {i} at y = .* gradient says"):
        robust_optimum(losses, wrong, dim=2, ball=2.0, **rule)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"divergence": "chi-square"}, "chi2"),
        ({"penalty": None}, "one of the two"),
        ({"radius": 1.0}, "one of the two"),
        ({"divergence": "cvar"}, "its level"),
        ({"divergence": "cvar", "penalty": None, "radius": 1.5}, "its level"),
        ({"penalty": -1.0}, "penalty > 0"),
        ({"penalty": math.nan}, "penalty > 0"),
        ({"ball": math.inf}, "dim and ball"),
        ({"dim": 0}, "dim and ball"),
        ({"samples": 3}, r"shapes \(3,\) and \(3, 2\)"),
        ({"dim": 3}, r"(?s)shapes \(5,\) and \(5, 3\)"),
        ({"gradients": None}, "a tensor"),
        ({"losses": lambda x: np.log(x - 9)}, "not all of them finite"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_cannot_be_is_refused(change, told):
    given = {
        "losses": lambda x: np.full(5, x[:2] @ x[:2]),
        "gradients": lambda x: np.tile(2 * x[:2], (5, 1)),
        "divergence": "kl",
        "penalty": 1.0,
        "dim": 2,
        "ball": 1.0,
    } | change
    with pytest.raises(DriftproofError, match=told):
        robust_optimum(**given)


# --- rounding -------------------------------------------------------------------------------------


def test_rounding_of_the_losses_is_in_the_enclosure():
    """10⁸ is added and taken away: min (x − 1/3)² = 0 is lost by 10⁻⁸, which is told."""
    found = robust_optimum(
        lambda x: np.stack([((x[0] - 1 / 3) ** 2 + 1e8) - 1e8]),
        lambda x: 2 * np.stack([x - 1 / 3]),
        divergence="kl",
        penalty=1.0,
        dim=1,
        ball=1.0,
        start=np.array([1 / 3]),
    )
    assert found.low <= 0 <= found.high
    assert found.certificate["rounding"] > 1e-8


def test_what_leaves_numpy_is_told():
    found = robust_optimum(
        lambda x: [math.exp(float(x[0])), math.exp(-float(x[0]))],
        lambda x: [[math.exp(float(x[0]))], [-math.exp(-float(x[0]))]],
        divergence="kl",
        penalty=1.0,
        dim=1,
        ball=1.0,
    )
    assert found.low <= 1 <= found.high
    assert "leave numpy" in found.certificate["rests_on"][1]


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_coarse_rounding_is_that_of_single_precision(seed):
    """Sums, products, functions, numpy's own and in place: 10⁻⁶ or so, and never nothing."""
    random = np.random.default_rng(seed)
    a, x = random.standard_normal((5, 3)), random.standard_normal(3)

    def function(at):
        total = np.zeros(5)
        total += np.exp(a @ at)
        total[1:] -= np.stack([at[0] * at[1]] * 4)
        return np.concatenate([total, [np.linalg.norm(at), at.max(), np.mean(at * 2.0)]])

    exact = function(x)
    made = np.array([coarsely(function, x, k)[0] for k in range(8)])
    assert all(coarsely(function, x, k)[1] for k in range(2))
    size = np.abs(exact) + np.exp(np.abs(a).sum(1).max() * np.abs(x).max())
    assert (np.abs(made - exact) <= 1e-5 * size).all()
    assert (np.abs(made - exact).max(0) > 0).all()

    by_torch = torch.from_numpy(x)
    assert not torch.equal(
        coarsely(lambda at: at.add_(1.0) * 3, by_torch.clone(), seed)[0], (by_torch + 1) * 3
    )


# --- the parts ------------------------------------------------------------------------------------


@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=9),
    st.sampled_from(RULES),
    st.integers(0, 10**6),
)
def test_duality_of_every_ambiguity(losses, rule, seed):
    """Weights that are allowed lie below any multipliers, and the worst ones attain theirs."""
    random, ell = np.random.default_rng(seed), np.array(losses)
    ambiguity = Ambiguity(rule["divergence"], rule.get("penalty"), rule.get("radius"))
    p, multipliers = ambiguity.worst(ell)
    high = ambiguity.upper(ell, multipliers)
    size = 1 + np.abs(ell).max()
    assert ambiguity.value(ell, ambiguity.allowed(p)) == pytest.approx(high, abs=1e-7 * size)
    any_weights = ambiguity.allowed(random.dirichlet(np.ones(len(ell))))
    other = random.exponential(), float(random.choice(ell))
    if ambiguity.penalty:
        other = ambiguity.penalty, other[1]
    for bound in (high, ambiguity.upper(ell, other)):
        assert ambiguity.value(ell, any_weights) <= bound + 1e-12 * size


def test_two_losses_exactly():
    """KL over two losses at γ = 1/log 2: p = (2, 1)/3 in fractions."""
    gamma = 1 / math.log(2)
    p, (_, shift) = Ambiguity("kl", gamma).worst(np.array([1.0, 0.0]))
    assert p == pytest.approx([Fraction(2, 3), Fraction(1, 3)])
    assert shift == pytest.approx(gamma * math.log(1.5))


@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1.0, 1e3]))
@settings(max_examples=40, deadline=None)
def test_newton_on_a_ball_meets_the_trust_region_of_a_quadratic(seed, radius):
    """Inside, on the sphere, and where the quadratic is flat."""
    random = np.random.default_rng(seed)
    d = int(random.integers(1, 6))
    basis = np.linalg.qr(random.standard_normal((d, d)))[0]
    h = basis @ np.diag(random.choice([0.0, 1e-3, 1.0, 100.0], d)) @ basis.T
    b = h @ random.standard_normal(d)

    def function(w):
        return float(w @ h @ w / 2 - b @ w), h @ w - b

    w = minimise_smooth_on_ball(function, np.zeros(d), radius)
    assert np.linalg.norm(w) <= radius * (1 + 1e-12)
    assert frank_wolfe_gap(w, function(w)[1], radius) <= 1e-9 * max(1, radius) * (1 + abs(b).max())


# --- one case that cannot be judged ---------------------------------------------------------------


def refused():
    raise UndecidableError("a solver that gave up", "an optimum", "another case")


def test_one_case_that_cannot_be_judged_costs_one_row():
    problem = KLDRO(clients=driftproof.sweep(2, 3), samples=2, form="average")

    @driftproof.comparison(
        name="mine/least",
        source="notes, (1)",
        statement="F^* = F^*",
        cases=driftproof.grid(problem),
        right=lambda known: known.high,
    )
    def least(case, right):
        if case.problem.clients == 3:
            refused()
        known = case.problem.solution
        return [driftproof.Comparison("F*", known.low, known.high, right(known))]

    rows = driftproof.verify(least)
    assert [row.verdict for row in rows] == ["SUPPORTED", "INCONCLUSIVE"]
    assert "a solver that gave up" in rows[1].reason

    @driftproof.bound(
        name="mine/bound",
        source="notes, (2)",
        statement=r"\|w\|^2 \le 100",
        cases=driftproof.grid(problem, FedAvg(step_size=0.1), rounds=1),
        right=lambda c: 100,
    )
    def far(view):
        if view.problem.clients == 3:
            refused()
        return driftproof.each("round", driftproof.sq(view.round_start("w")))

    rows = driftproof.verify(far)
    assert [row.verdict for row in rows] == ["SUPPORTED", "INCONCLUSIVE"]
    assert "a solver that gave up" in rows[1].reason
