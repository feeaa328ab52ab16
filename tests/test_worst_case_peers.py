"""PEPit's own examples as algorithms here, and its values; gradient descent's curve.

Those with a closed form for all values of its letters stand in docs/closed_forms.py, and are taken
from there, at numbers. The others are written here. Each is named as PEPit 0.5.1 names it, with the
arguments that its function takes. The value is PEPit's, with Clarabel 0.11.1, and beside it the
closed form where there is one. Where PEPit is installed, it is also run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from math import sqrt
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from driftproof.synthetic.classes import (
    bounded_gradients,
    cocoercive,
    convex,
    shared_minimiser,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_gap,
    start_within,
)
from driftproof.synthetic.classes.conditions import Constraint
from driftproof.synthetic.classes.relations import Relation
from driftproof.toolkit.algorithm import Algorithm, algorithm
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.measure import Steps, each, smallest
from driftproof.toolkit.parameters import PositiveInt
from driftproof.verifiers.judges.worst_cases import right_side
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.solve import solve
from driftproof.verifiers.worst_case.witness import witness
from tests.certificates import proved
from tests.closed_forms import at, distance, gap, gradient

NEAR = start_within(R=1)


class State(NamedTuple):
    """The point that is measured, and up to three that a method remembers."""

    w: Tensor
    y: Tensor
    z: Tensor
    first: Tensor


@algorithm(name="peer", source="PEPit 0.5.1", statement="x")
class Peer(Algorithm):
    """A method of one client, whose steps are given.

    Args:
        move: the step number, the state and the gradient's function to the next state.
    """

    local_steps: PositiveInt = 1
    move: Any = None

    def init(self, ctx, oracles, start):
        x = ctx.everywhere(start)
        return State(x, x, x, x)

    def step(self, ctx, oracles, state):
        return self.move(ctx.t, state, lambda x: oracles.field_grad(x, None))


def steps_of(lengths):
    """x_{k+1} = x_k − h_k u(x_k)."""
    return Peer(move=lambda k, s, u: s._replace(w=s.w - lengths[k] * u(s.w)))


def silver(L, n):
    """h_k = (1 + (1 + √2)^{ν(k) − 1})/L, ν(k) how often 2 divides k (Altschuler & Parrilo 2023)."""
    twos = [(k & -k).bit_length() - 1 for k in range(1, n + 1)]
    return steps_of([(1 + (1 + sqrt(2)) ** (twos_of - 1)) / L for twos_of in twos])


def silver_strongly(L, mu, powers):
    """The silver steps for strongly convex functions, glued from lengths 2^p."""

    def length(t):
        return (1 + L / mu * t) / (1 + t) / L

    lengths = []
    for power in powers:
        z = mu / L
        made = [length(z)]
        for _ in range(power):
            root = 1 - z + sqrt(1 + (1 - z) ** 2)
            y, z = z / root, z * root
            made = [*made[:-1], length(y), *made[:-1], length(z)]
        lengths += made
    return steps_of(lengths)


def nesterov(L, momentum):
    """x_{k+1} = y_k − u(y_k)/L, y_{k+1} = x_{k+1} + m_k (x_{k+1} − x_k)."""

    def move(k, s, u):
        x = s.y - u(s.y) / L
        return s._replace(w=x, y=x + momentum(k) * (x - s.w))

    return Peer(move=move)


def grown(n, last=4):
    """t_0 = 1, t_{k+1} = (1 + √(4t_k² + 1))/2; of the last one another factor than 4."""
    t = [1.0]
    for k in range(n):
        t.append((1 + sqrt((last if k == n - 1 else 4) * t[-1] ** 2 + 1)) / 2)
    return t


def heavy_ball(alpha, beta):
    """x_{k+1} = x_k − αu(x_k) + β(x_k − x_{k−1})."""
    return Peer(move=lambda k, s, u: s._replace(w=s.w - alpha * u(s.w) + beta * (s.w - s.y), y=s.w))


def item(L, mu, n):
    """The information-theoretic exact method (Taylor & Drori 2023); z_n, here x, is measured."""
    q, A = mu / L, [0.0]
    for _ in range(n):
        root = sqrt((1 + A[-1]) * (1 + q * A[-1]))
        A.append(((1 + q) * A[-1] + 2 * (1 + root)) / (1 - q) ** 2)

    def move(k, s, u):
        beta = A[k] / (1 - q) / A[k + 1]
        delta = ((1 - q) ** 2 * A[k + 1] - (1 + q) * A[k]) / (2 * (1 + q + q * A[k]))
        between = (1 - beta) * s.w + beta * s.y
        gradient = u(between)
        z = (1 - q * delta) * s.w + q * delta * between - delta / L * gradient
        return s._replace(w=z, y=between - gradient / L)

    return Peer(move=move)


def optimised(L, factors):
    """x_{k+1} = y_{k+1} + a_k(y_{k+1} − y_k) + b_k(y_{k+1} − x_k), y_{k+1} = x_k − u(x_k)/L."""

    def move(k, s, u):
        y = s.w - u(s.w) / L
        a, b = factors[k]
        return s._replace(w=y + a * (y - s.y) + b * (y - s.w), y=y)

    return Peer(move=move)


def ogm(L, n):
    """The optimized gradient method (Kim & Fessler 2016)."""
    t = grown(n, last=8)
    return optimised(L, [((t[k] - 1) / t[k + 1], t[k] / t[k + 1]) for k in range(n)])


def ogm_g(L, n):
    """The same for gradients, OGM-G (Kim & Fessler 2021)."""
    t = grown(n, last=8)[::-1]
    return optimised(
        L,
        [
            (
                (t[k] - 1) * (2 * t[k + 1] - 1) / t[k] / (2 * t[k] - 1),
                (2 * t[k + 1] - 1) / (2 * t[k] - 1),
            )
            for k in range(n)
        ],
    )


def triple_momentum(L, mu):
    """Van Scoy, Freeman & Lynch 2018."""
    rho = 1 - sqrt(mu / L)
    alpha, beta = (1 + rho) / L, rho**2 / (2 - rho)
    gamma, delta = rho**2 / (1 + rho) / (2 - rho), rho**2 / (1 - rho**2)

    def move(k, s, u):
        new = (1 + beta) * s.z - beta * s.first - alpha * u(s.y)
        y = (1 + gamma) * new - gamma * s.z
        return State((1 + delta) * new - delta * s.z, y, new, s.z)

    return Peer(move=move)


def halpern(shares):
    """x_{k+1} = p_k x_0 + (1 − p_k) T(x_k), T(x) = x − u(x)."""
    return Peer(
        move=lambda k, s, u: s._replace(w=shares[k] * s.first + (1 - shares[k]) * (s.w - u(s.w)))
    )


@dataclass(frozen=True)
class StartLyapunov(Relation):
    """F(x_0) − F* + (μ/2)‖x_0 − x*‖² ≤ 1."""

    def constraints(self, asked):
        (mu,) = self.parameters.values()
        value = asked.mean(asked.start)[1]
        yield Constraint("start", value + asked.start * asked.start * (mu / 2), Fraction(1))


def change(claim: str):
    """What a claim measures after a step, less what it measures before it."""

    def left(view: Steps):
        made = leaves("claim")[claim].load().left(view)
        return each(*made.axes, made.value - made.parts["before"])

    return left


class Implicit(Peer):
    """A method of one client that asks for implicit steps, not for gradients."""

    needs = "proximal"

    def step(self, ctx, oracles, state):
        return self.move(ctx.t, state, oracles.prox)


def fast_implicit(A, steps):
    """Güler's accelerated proximal point method; z is v."""
    factors = []
    for gamma in steps:
        factors.append((sqrt((A * gamma) ** 2 + 4 * A * gamma) - A * gamma) / 2)
        A *= 1 - factors[-1]

    def move(k, s, prox):
        y = (1 - factors[k]) * s.w + factors[k] * s.z
        x = prox(y, steps[k])
        return s._replace(w=x, z=s.z + (x - y) / factors[k])

    return Implicit(move=move)


def best(view: Steps):
    """Of all iterates but the last: run one step more."""
    return smallest("transition", view.gap(view.before.w.mean(0)))


class Example(NamedTuple):
    """An example of PEPit.

    Attributes:
        module, arguments: how PEPit runs it beside ours; {}: it does not, and the module is a name.
        method, classes, rounds, left, clients: what it is here.
        value: what it is in PEPit.
        known: its closed form, where there is one; a fraction where the method's steps are some.
        times: how often the value is in PEPit's.
    """

    module: str
    arguments: dict[str, Any]
    method: Algorithm
    classes: list[Any]
    rounds: int
    left: Callable[[Steps], Any]
    value: float
    known: float | Fraction | None = None
    clients: int = 1
    times: float | Fraction = 1


def stated(name, rounds, value, module="", arguments=None, *, own=(), **more):
    """An example that docs/closed_forms.py has for all values of its letters.

    Args:
        name, rounds: a claim there, and the number of steps here.
        value, module, arguments: as in Example.
        own: fields of the method that are no letters.
        more: whatever else an Example has; the letters' numbers.
    """
    letters = {letter: x for letter, x in more.items() if letter not in Example._fields}
    claim = at(name, rounds, own, **letters)
    (case,) = claim.classes
    known = right_side(claim, case, claim.forms[0]).low * more.get("times", 1)
    made = {"known": known, "clients": case.problem.clients}
    made |= {field: x for field, x in more.items() if field in Example._fields}
    return Example(
        module or name,
        arguments or {},
        case.algorithm,
        case.problem.conditions,
        rounds,
        claim.left,
        value,
        **made,
    )


def strongly(L=1.0, mu=0.1):
    return smooth_strongly_convex(L=L, mu=mu)


NONEXPANSIVE = [cocoercive(L=2), NEAR]
"""x − T(x), ‖T(x) − T(y)‖ ≤ ‖x − y‖."""
CONTRACTION = [cocoercive(L=Fraction(21, 11), mu=Fraction(1, 11)), NEAR]
"""The same of ‖T(x) − T(y)‖ ≤ ‖x − y‖/1.1."""
UNCONSTRAINED, FIXED = "unconstrained_convex_minimization", "fixed_point_problems"
STOCHASTIC = "stochastic_and_randomized_convex_minimization"
LOW = "low_dimensional_worst_cases_scenarios"
OGM_4 = grown(4, last=8)[-1]
THIRD = Fraction(1, 3)
EXAMPLES = [
    stated(
        "gradient-descent", 4, 0.16666666685, f"{UNCONSTRAINED}.gradient_descent",
        {"L": 3, "gamma": 1 / 3, "n": 4}, L=3, R=1, eta=THIRD,
    ),
    Example(
        f"{UNCONSTRAINED}.accelerated_gradient_convex", {"mu": 0, "L": 1, "n": 5},
        nesterov(1, lambda k: (grown(6)[k] - 1) / grown(6)[k + 1]), [smooth_convex(1), NEAR], 5,
        gap, 0.03489376863,
    ),
    stated(
        "polyak-distance", 1, 0.6694214876,
        "adaptive_methods.polyak_steps_in_distance_to_optimum",
        {"L": 1, "mu": 0.1, "gamma": 2 / 1.1}, L=1, R=1, mu=Fraction(1, 10), eta=Fraction(20, 11),
    ),
    stated(
        "polyak-gap", 1, 0.6694214876, "adaptive_methods.polyak_steps_in_function_value",
        {"L": 1, "mu": 0.1, "gamma": 2 / 1.1}, L=1, F_gap=1, mu=Fraction(1, 10),
        eta=Fraction(20, 11),
    ),
    stated(
        "accelerated-simplified", 5, 0.03571428594,
        f"{UNCONSTRAINED}.accelerated_gradient_convex_simplified", {"mu": 0, "L": 1, "n": 5},
        L=1, R=1, eta=1,
    ),
    Example(
        f"{UNCONSTRAINED}.accelerated_gradient_strongly_convex", {"mu": 0.1, "L": 1, "n": 2},
        nesterov(1, lambda k: (1 - sqrt(0.1)) / (1 + sqrt(0.1))),
        [strongly(), StartLyapunov("start-distance", {"mu": Fraction(1, 10)})], 2, gap,
        0.34760223233,
    ),
    Example(
        f"{UNCONSTRAINED}.gradient_descent_silver_stepsize_convex", {"L": 10, "n": 7},
        silver(10, 7), [smooth_convex(10), NEAR], 7, gap, 0.18421542175,
    ),
    Example(
        f"{UNCONSTRAINED}.gradient_descent_silver_stepsize_strongly_convex",
        {"L": 3.2, "mu": 0.1, "n": 5}, silver_strongly(3.2, 0.1, [0, 2]),
        [strongly(3.2, 0.1), NEAR], 5, distance, 0.44610215731, 0.44610215685,
    ),
    Example(
        f"{UNCONSTRAINED}.heavy_ball_momentum",
        {"mu": 0.1, "L": 1, "alpha": 0.5, "beta": sqrt(0.9 * 0.95), "n": 2},
        heavy_ball(0.5, sqrt(0.9 * 0.95)), [strongly(), start_gap(1)], 2, gap, 0.73319294312,
    ),
    Example(
        f"{UNCONSTRAINED}.information_theoretic_exact_method", {"mu": 0.1, "L": 1, "n": 5},
        item(1, 0.1, 5), [strongly(), NEAR], 5, distance, 0.04508475961, 0.04508475927,
    ),
    Example(
        f"{UNCONSTRAINED}.optimized_gradient", {"L": 3, "n": 4}, ogm(3, 4),
        [smooth_convex(3), NEAR], 4, gap, 0.07675182860, 3 / (2 * OGM_4**2),
    ),
    Example(
        f"{UNCONSTRAINED}.optimized_gradient_for_gradient", {"L": 3, "n": 4}, ogm_g(3, 4),
        [smooth_convex(3), start_gap(1)], 4, gradient, 0.30700730796, 2 * 3 / OGM_4**2,
    ),
    Example(
        f"{UNCONSTRAINED}.triple_momentum", {"mu": 0.1, "L": 1.0, "n": 4},
        triple_momentum(1, 0.1), [strongly(), NEAR], 4, gap, 0.23892505972,
        5 * (1 - sqrt(0.1)) ** 8,
    ),
    Example(
        f"{LOW}.optimized_gradient", {"L": 1, "n": 2}, ogm(1, 2), [smooth_convex(1), NEAR], 2, gap,
        0.06189418984, 1 / (2 * grown(2, last=8)[-1] ** 2),
    ),
    Example(
        f"{STOCHASTIC}.sgd", {"L": 1, "mu": 0.1, "gamma": 0.7, "v": 1, "R": 2, "n": 5},
        FedAvg(step_size=0.7, participation=0.2),
        [strongly(), similar(zeta=1), start_within(R=2)], 1, distance, 4.18300050372,
        (0.7 * 0.9 + sqrt(1.1**2 * (0.7 - 2 / 1.1) ** 2 + 0.7**2)) ** 2, 5,
    ),
    Example(
        f"{STOCHASTIC}.sgd_overparametrized", {"L": 1, "mu": 0.1, "gamma": 2.3, "n": 5},
        FedAvg(step_size=2.3, participation=0.2), [strongly(), shared_minimiser(), NEAR], 1,
        distance, 1.69, Fraction(169, 100), 5,
    ),
    stated("halpern", 10, 0.03305785532, f"{FIXED}.halpern_iteration", {"n": 10}, R=1),
    stated(
        "krasnoselskii-mann", 3, 0.14062499933,
        f"{FIXED}.krasnoselskii_mann_constant_step_sizes", {"n": 3, "gamma": 0.75},
        times=Fraction(1, 4), R=1, eta=0.75,
    ),
    Example(
        f"{FIXED}.krasnoselskii_mann_increasing_step_sizes", {"n": 3},
        steps_of([1 - 1 / (k + 2) for k in range(3)]), NONEXPANSIVE, 3, gradient, 0.11963371139,
        times=Fraction(1, 4),
    ),
    Example(
        f"{FIXED}.optimal_contractive_halpern_iteration", {"n": 10, "gamma": 1.1},
        halpern([(1.1**2 - 1) / (1.1 ** (2 * k + 4) - 1) for k in range(10)]), CONTRACTION, 10,
        gradient, 0.01061324271, (1 + 1 / 1.1) ** 2 * (0.1 / (1.1**11 - 1)) ** 2,
    ),
    stated("halpern", 4, 0.16000002548, f"{LOW}.halpern_iteration", {"n": 4}, R=1),
    Example(
        "subgradient_method", {},
        steps_of([1 / (2 * sqrt(7))] * 7), [bounded_gradients(convex(), 2), NEAR], 7, best,
        0.755929, 2 / sqrt(7),
    ),
    stated("proximal-point", 4, 0.0208333, R=1, eta=3),
    Example(
        "accelerated_proximal_point", {},
        fast_implicit(5, [(i + 1) / 1.1 for i in range(3)]),
        [convex(), StartLyapunov("start-distance", {"mu": Fraction(5)})], 3, gap, 0.0159311,
    ),
    stated("proximal-gradient", 2, 0.6561, R=1, L=1, mu=Fraction(1, 10), eta=1),
    stated("accelerated-proximal-gradient", 4, 0.0516733, known=None),
    stated("accelerated-proximal-simplified", 4, 0.0526316, R=1, L=1, eta=1),
    stated("frank-wolfe", 10, 0.0782895, known=None),
    stated("alternate-projections", 10, 0.0188677, R=1),
    stated("monotone-proximal-point", 10, 0.038742, R=1, eta=2),
    stated("monotone-accelerated-proximal-point", 10, 0.01, R=1, eta=2),
    stated(
        "online-gradient-descent", 2, 0.707107, clients=2, times=2, known=0.5 * sqrt(2),
        D=0.5, G=1, eta=0.5 / sqrt(2),
    ),
    stated(
        "online-frank-wolfe", 2, 0.933013, clients=2, known=None,
        own={"step_size": 0.5 * 1.5**0.75, "share": 1.0},
    ),
]  # fmt: skip


POTENTIALS = {
    "gradient_descent_lyapunov_1": change("literature/lyapunov-values"),
    "gradient_descent_lyapunov_2": change("literature/lyapunov-gradients"),
}


def solved(of):
    """Return an example's one program, and the solver's answer."""
    (case,) = build(of.method, of.classes, rounds=of.rounds, left=of.left, clients=of.clients)
    return case, solve(case)


@pytest.mark.parametrize("of", EXAMPLES, ids=lambda of: of.module)
def test_an_example_of_pepit(of):
    case, found = solved(of)
    assert found.value * of.times == pytest.approx(of.value, rel=1e-5)
    assert not case.loose
    if of.known is not None:
        assert found.value * of.times == pytest.approx(float(of.known), rel=1e-5)
    if of.module == "alternate-projections":
        return  # its proof takes a minute
    bound = proved(case, found).bound
    assert float(bound) == pytest.approx(found.value, rel=1e-6)
    if isinstance(of.known, Fraction):
        assert bound * of.times == of.known
    elif of.known is not None:
        assert of.known * (1 - 1e-15) <= bound * of.times <= of.known * (1 + 1e-6)


@pytest.mark.parametrize("name", POTENTIALS)
def test_a_potential_of_pepit_does_not_grow(name):
    """V_{n+1} − V_n ≤ 0 exactly, wherever the step starts; a longer step than 1/L is different."""
    case = potential(name, 1.0)
    assert proved(case).bound == 0
    case = potential(name, 2.5)
    assert proved(case, found := solve(case)).bound > 0.1
    assert witness(case, found).value > Fraction(1, 10)


def potential(name, step_size):
    classes = [smooth_convex(1)] if step_size == 1 else [smooth_convex(1), NEAR]
    left = POTENTIALS[name]
    (case,) = build(FedAvg(step_size=step_size), classes, rounds=1, left=left, clients=1)
    return case


def run_by_pepit(module, **arguments):
    example = import_module(f"PEPit.examples.{module}")
    (run,) = [getattr(example, name) for name in dir(example) if name.startswith("wc_")]
    return run(**arguments, wrapper="cvxpy", solver="CLARABEL", verbose=-1)[0]


@pytest.mark.filterwarnings("ignore:Silver step-size strategy")  # PEPit's, of n = 5
@pytest.mark.parametrize("of", [o for o in EXAMPLES if o.arguments], ids=lambda of: of.module)
def test_pepit_beside_it(of):
    pytest.importorskip("PEPit", reason="pip install driftproof[peers]")
    found = solved(of)[1].value * of.times
    assert found == pytest.approx(run_by_pepit(of.module, **of.arguments), rel=1e-5)


@pytest.mark.parametrize("name", POTENTIALS)
def test_pepit_beside_a_potential(name):
    pytest.importorskip("PEPit", reason="pip install driftproof[peers]")
    value = run_by_pepit(f"potential_functions.{name}", L=1, gamma=1, n=10)
    assert value == pytest.approx(0, abs=1e-6)


# -- gradient descent's curve of values


def bend(view: Steps):
    """2f(x_{k+1}) − f(x_k) − f(x_{k+2}), at most 0 where the curve of values is convex."""
    before, now, previous = (
        view.gap(state.w.mean(0)) for state in (view.before, view.state, view.previous)
    )
    return each("transition", 2 * before - now - previous)


def curve(step_size, *relations, rounds=2):
    """Return the programs of all second differences, the first of x_0, x_1, x_2."""
    classes = [smooth_convex(1), *relations]
    made = build(FedAvg(step_size=step_size), classes, rounds=rounds, left=bend, clients=1)
    return made[1:]  # at the first step there is no state before


@pytest.mark.parametrize("step_size", [0.25, 0.5, 1.0, 1.23, 1.5, 1.7, 1.74, 1.75])
def test_the_curve_of_gradient_descent_is_convex(step_size):
    """Up to η = 1.75/L, for every start: the certificate has no other assumption."""
    (case,) = curve(step_size)
    assert proved(case).bound == 0


@given(st.integers(1, 3000))
def test_the_proof_for_every_step_size(thousandths):
    """3/2, 1/2 and 1/2 of three conditions leave a sum of squares if η ≤ 7/4."""
    (case,), eta = curve(thousandths / 1000), Fraction(thousandths, 1000)
    multipliers = {"(1, 2)": Fraction(3, 2), "(3, 1)": Fraction(1, 2), "(3, 2)": Fraction(1, 2)}
    names = {f"smooth-convex, client 0, {places}": x for places, x in multipliers.items()}
    total = -case.objective
    for constraint in case.constraints:
        total = total + constraint.quantity * names.get(constraint.name, 0)
    g_0, g_1, g_2 = (triple.gradient for triple in case.triples[0][1:])
    middle, apart = g_2 - (g_0 + g_1) / 2, g_0 - g_1
    assert total == middle * middle / 2 + apart * apart * (Fraction(7, 8) - eta / 2)


def test_beyond_it_the_curve_is_not_convex():
    """Functions of the class, in fractions, on which it bends the other way."""
    (case,) = curve(1.7501, NEAR)
    assert witness(case, solve(case)).value > 0


def test_the_largest_step_size_is_found():
    """The worst second difference is 0 up to some η and grows with it from there."""
    low, high = 1.0, 2.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        (case,) = curve(middle, NEAR)
        low, high = (low, middle) if solve(case).value > 1e-6 else (middle, high)
    assert high == pytest.approx(1.75, abs=2e-5)


def test_later_bends_are_smaller():
    """An arbitrary start is the worst: gradient descent's own points bend less."""
    values = [solve(case).value for case in curve(1.8, NEAR, rounds=5)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0.01
