"""Potentials: known rates, certificates that say what was found, iterates, what is refused."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from math import sqrt
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.algorithms import (
    FedAvg,
    FedAvgS,
    FedProx,
    FedSVRG,
    GradientTrackingGDA,
    HeavyBall,
    Nesterov,
    Scaffold,
)
from driftproof.classes import (
    bounded_gradients,
    convex,
    equal,
    for_all,
    plus,
    polyak_step,
    potential,
    recurs,
    shared_minimiser,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_at_minimiser,
    start_within,
    strongly_convex_concave,
)
from driftproof.problems import PiecewiseLosses
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms._one_model import OneModel
from driftproof.toolkit.algorithms.heavy_ball import State
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.gram.exact import GramForm
from driftproof.toolkit.measure import each, sq
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.check import RefusedCertificateError, check
from driftproof.verifiers.worst_case.digest import sealed
from driftproof.verifiers.worst_case.potential import terms
from tests.commands import driftproof
from tests.test_guides import ran

CLASS = smooth_strongly_convex(L=1, mu=0.1)
METHODS = {
    "gradient descent": (FedAvg(step_size=2 / 11), 10, False),
    "heavy ball": (HeavyBall(step_size=0.04, momentum=0.25), 25, False),
    "heavy ball with gradients": (HeavyBall(step_size=0.08, momentum=0.5), 25, True),
    "nesterov": (Nesterov(step_size=0.1, form="constant", momentum=0.52), 10, False),
    "nesterov with gradients": (Nesterov(step_size=0.1, form="constant", momentum=0.5), 10, True),
}
"""Method → its text, L of the class with μ = 1, whether V has gradients."""
SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=2)
POINTS = st.lists(st.floats(-9, 9), min_size=2, max_size=2)


@cache
def found(name):
    method, L, gradients = METHODS[name]
    return potential(method, [smooth_strongly_convex(L=L, mu=1)], gradients=gradients, digits=3)


@pytest.mark.parametrize(("L", "mu"), [(1, 0.1), (3, 1), (50, 2), (1000, 10)])
def test_gradient_descent_has_the_rate_of_the_textbook(L, mu):
    classes = [smooth_strongly_convex(L=L, mu=mu)]
    made = potential(FedAvg(step_size=2 / (L + mu)), classes, digits=7)
    assert float(made.rho) == pytest.approx(((L - mu) / (L + mu)) ** 2, abs=1e-6)
    assert made.size < 1.1  # V = ‖x − x*‖² will do


def test_local_steps_from_one_minimiser_contract_by_each():
    """Two clients, two steps, and a cohort of one: (1 − ημ)⁴ and, in the mean, (1 − ημ)²."""
    classes = [smooth_strongly_convex(L=10, mu=1), shared_minimiser()]
    for method, rate in (
        (FedAvg(local_steps=2, step_size=0.1), Fraction(9, 10) ** 4),
        (FedAvg(step_size=0.1, participation=0.5), Fraction(9, 10) ** 2),
    ):
        made = potential(method, classes, clients=2, digits=3)
        assert rate <= made.rho <= rate + Fraction(1, 500)


def test_two_clients_with_one_function_are_one():
    method, L, _ = METHODS["heavy ball"]
    made = potential(method, [smooth_strongly_convex(L=L, mu=1), equal()], clients=2, digits=3)
    assert made.rho == found("heavy ball").rho


def test_a_quadratic_bounds_the_rate_of_accelerated_descent_from_below():
    """On x²/2 iterates shrink by the spectral radius; the proof in print has 1 − √(μ/L)."""
    step = np.array([[0.0, 0.9], [-0.52, 1.52 * 0.9]])  # (x, y) → (0.9 y, 1.52·0.9 y − 0.52 x)
    radius = max(abs(np.linalg.eigvals(step)))
    assert radius**2 <= found("nesterov").rho < 1 - sqrt(0.1)


def test_some_heavy_ball_is_faster_than_any_gradient_descent():
    assert found("heavy ball with gradients").rho < Fraction(24, 26) ** 2


def test_polyaks_heavy_ball_has_none():
    """It cycles on a function of this class (Lessard, Recht & Packard 2016)."""
    with pytest.raises(DriftproofError, match=r"no potential with ρ ≤ 0\.9999 of HeavyBall"):
        potential(
            HeavyBall(step_size=1 / 9, momentum=4 / 9),
            [smooth_strongly_convex(L=25, mu=1)],
            gradients=True,
        )


@settings(max_examples=25)
@given(st.integers(1, 19), st.integers(1, 20))
def test_no_heavy_ball_that_cycles_has_one(j, i):
    """Points of a regular polygon repeat, if their gradients are those of some function.

    Where they turn by w in a step, the conditions are on cosines alone; all values are 0.
    """
    beta = j / 20
    alpha = 2 * (1 + beta) / 25 * i / 21
    cycles = False
    for count in range(3, 20):
        for turn in range(1, count // 2 + 1):
            x = np.exp(2j * np.pi * turn * np.arange(count) / count)
            g = ((1 + beta) * x - beta * np.roll(x, 1) - np.roll(x, -1)) / alpha
            dx, dg = x[1:] - x[0], g[1:] - g[0]
            left = abs(dg) ** 2 + 25 * abs(dx) ** 2 - 2 * (dg * dx.conj()).real
            cycles |= max(left / 48 - (g[1:] * dx.conj()).real) < -1e-7
    try:
        potential(
            HeavyBall(step_size=alpha, momentum=beta),
            [smooth_strongly_convex(L=25, mu=1)],
            gradients=True,
            digits=2,
        )
    except DriftproofError:
        return
    assert not cycles


# --- any state ---------------------------------------------------------------------------------

ANYWHERE = [
    leaf.load()
    for leaf in leaves("algorithm").values()
    if leaf.load().anywhere is not Algorithm.anywhere
]


class AtRest(HeavyBall):
    """Says that each round begins at rest, which is false."""

    def anywhere(self, ctx, oracles, start, own):
        return self.init(ctx, oracles, start)


class Apart(HeavyBall):
    """Says that each client remembers a point of its own: then the models differ."""

    def anywhere(self, ctx, oracles, start, own):
        return State(ctx.everywhere(start), own)


@pytest.mark.parametrize("leaf", ANYWHERE, ids=lambda leaf: leaf.leaf_name)
def test_a_round_leads_to_a_state_that_the_algorithm_names(leaf):
    """Also where no potential is found, or a round's steps depend on its number."""
    for member in leaf.examples():
        said = ""
        try:
            term = [plus(convex())] * (member.needs == "proximal")
            potential(
                member,
                [smooth_strongly_convex(L=1, mu=0.1), shared_minimiser(), *term],
                clients=2,
                digits=1,
            )
        except DriftproofError as error:
            said = str(error)
        assert not re.search("(?<!start-)anywhere", said)


def test_a_state_that_the_algorithm_leaves_is_refused():
    for method in (AtRest(), Apart()):
        with pytest.raises(
            DriftproofError, match="a state that is not one of the algorithm's anywhere"
        ):
            potential(method, [CLASS, shared_minimiser()], clients=2)


@pytest.mark.parametrize(
    "leaf", [of for of in ANYWHERE if of.needs == "field"], ids=lambda leaf: leaf.leaf_name
)
def test_a_round_leaves_a_method_at_its_limits(leaf):
    """Exactly, however much clients differ: SCAFFOLD's c_i rest at ∇f_i(x*)."""

    def init(self, ctx, oracles, start):
        x = ctx.everywhere(start)
        return self.at_rest(ctx, oracles, start, oracles.field_grad(x, None))

    def left(view):
        moved = (sq(x - y).mean(0) for x, y in zip(view.state, view.begun, strict=True))
        return each("round", "local_step", sum(moved)) if view.last else None

    resting, remembers = type("Resting", (leaf,), {"init": init}), leaf.limits != {}
    assert remembers or issubclass(leaf, FedAvg | FedProx | OneModel)
    classes = [smooth_strongly_convex(L=1, mu=0.1), similar(zeta=1), start_at_minimiser()]
    for member in leaf.examples() if remembers else ():
        if leaf is FedSVRG and member.participation < 1:
            continue  # it has no limit: a cohort's gradients do not cancel
        method = resting(**{name: getattr(member, name) for name in member.values()})
        (case,) = build(method, classes, rounds=1, left=left)
        assert case.objective == GramForm()


class Mixing(NamedTuple):
    w: torch.Tensor
    y: torch.Tensor
    g: torch.Tensor


class Tracking(HeavyBall):
    """Gradient tracking by gossip: models, trackers and gradients are each client's own."""

    limits = {"own": "gradient", "x": "zero", "y": "zero"}

    def anywhere(self, ctx, oracles, start, own, x, y):
        w = ctx.everywhere(start) + x - x.mean(0)
        return Mixing(w, y - y.mean(0) + own.mean(0), own)

    def init(self, ctx, oracles, start):
        g = oracles.field_grad(ctx.everywhere(start), None)
        return Mixing(ctx.everywhere(start), g, g)

    def step(self, ctx, oracles, state):
        w = (state.w + state.w.mean(0)) / 2 - self.step_size * state.y
        g = oracles.field_grad(w, None)
        return Mixing(w, (state.y + state.y.mean(0)) / 2 + g - state.g, g)


class Forgets(Tracking):
    """Says that trackers are gradients, which holds at the start alone."""

    limits = {"own": "gradient", "x": "zero"}

    def anywhere(self, ctx, oracles, start, own, x):
        return super().anywhere(ctx, oracles, start, own, x, own)


class Elsewhere(Tracking):
    limits = {"own": "gradient", "x": "nowhere"}


def test_a_state_may_be_made_of_several_vectors():
    classes = [smooth_strongly_convex(L=1, mu=0.5), shared_minimiser()]
    found = potential(Tracking(step_size=0.2), classes, clients=2, digits=1)
    assert found.rho <= Fraction(9, 10)
    assert found.constant == 0
    assert "mean ⟨y_i − ∇f_i(x*), g_i − ∇f_i(x*)⟩" in found.weights  # both are 0 there
    with pytest.raises(DriftproofError, match="each parameter after start is a vector"):
        potential(Forgets(step_size=0.2), classes, clients=2)
    with pytest.raises(DriftproofError, match="whose anywhere takes start, own, x, y"):
        potential(Elsewhere(step_size=0.2), classes, clients=2)


def test_saddle_functions_have_potentials():
    """Of one field, local steps or none, V is ‖z − x*‖²: 1 − 2ημ + η²L² = 0.84 and more."""
    saddle = [strongly_convex_concave(L=1, mu=0.5), shared_minimiser()]
    found = potential(GradientTrackingGDA(step_size=0.2), saddle, clients=2, digits=2)
    assert Fraction(83, 100) < found.rho <= Fraction(84, 100)


@cache
def of_x_and_y():
    method = FedAvgS(inner_step_size=0.4, outer_step_size=0.3, order="alternating")
    saddle = [strongly_convex_concave(L=1, mu=0.5)]
    return [potential(method, saddle, gradients=of, digits=2) for of in (False, True)]


@settings(max_examples=50)
@given(st.lists(st.floats(0.5, 0.8), min_size=4, max_size=4), st.floats(-0.3, 0.3), POINTS)
def test_x_and_y_that_move_one_after_the_other_obey_it(bends, turn, point):
    """By hand, on h(x) + bxy − k(y) of bends that change at ±1: V falls, and is above ‖(x, y)‖²."""

    def slopes(x, y):
        far = [at - min(max(at, -1), 1) for at in (x, y)]
        (p, beyond, r, more), (u, v) = bends, far
        return p * (x - u) + beyond * u + turn * y, turn * x - r * (y - v) - more * v

    for made in of_x_and_y():
        assert made.rho <= Fraction(82, 100)  # of y alone (1 − 0.4·0.5)², of x (1 − 0.3·0.5)²

        def v(x, y, made=made):
            p, q = slopes(x, y)
            points = {"x": x, "y": y, "∇_x f": p, "−∇_y f": -q}
            of = terms({name: np.array([[at]]) for name, at in points.items()}, {})
            return sum(float(w) * of[name].item() for name, w in made.weights.items())

        x, y = point
        for _ in range(5):
            now = v(x, y)
            assert x**2 + y**2 <= now + 1e-9
            y = y + 0.4 * slopes(x, y)[1]
            x = x - 0.3 * slopes(x, y)[0]
            assert v(x, y) <= float(made.rho) * now + 1e-9


def test_where_clients_are_sampled_v_is_of_the_state_of_all():
    """SCAFFOLD's round, by hand, on (λ_i/2)x²: the mean of V over both cohorts is at most ρV."""
    eta, curvatures, rng = 0.3, np.array([1, 0.1]), np.random.default_rng(0)
    classes = [smooth_strongly_convex(L=1, mu=0.1), shared_minimiser()]
    method = Scaffold(step_size=eta, participation=0.5)
    found = potential(method, classes, clients=2, digits=2)

    def v(x, c):
        points = {"y": x, "x": x, "own_control": c.mean(), "control": c.mean()}
        made = terms(
            {name: np.array([[at]]) for name, at in points.items()},
            {"y": np.array([curvatures.mean() / 2 * x**2])},
        )
        made["mean ‖own_control_i − ∇f_i(x*)‖²"] = np.array([(c**2).mean()])
        return sum(float(a) * made[name].item() for name, a in found.weights.items())

    for x, *c in rng.standard_normal((200, 3)):
        after = []
        for i in range(2):
            new = np.array(c)
            new[i] = curvatures[i] * x
            after.append(v(x - eta * (new[i] - c[i] + np.mean(c)), new))
        assert np.mean(after) <= float(found.rho) * v(x, np.array(c)) + 1e-9


# --- the files ------------------------------------------------------------------------------------


STEPS = {
    "gradient descent": lambda w, c, g: (w - Fraction(2, 11) * g, None),
    "heavy ball": lambda w, c, g: (w - g / 25 + (w - c) / 4, w),
    "nesterov": lambda w, c, g: (
        c - g / 10,
        (c - g / 10) * Fraction(38, 25) - w * Fraction(13, 25),
    ),
}
"""Method → a step written once more: w, the other point and the gradient → both points."""
OTHER = {"heavy ball": "before", "nesterov": "y"}


def value(file, vectors, values):
    """Return the left side of a file's conclusion at vectors of fractions."""

    def total(of):
        return sum(Fraction(c) * vectors[name] for name, c in of.items())

    of = file["conclusion"]
    products = (Fraction(c) * (total(u) @ total(v)) for c, u, v in of["products"])
    return sum(products) + sum(Fraction(a) * values[name] for name, a in of["values"].items())


@pytest.mark.parametrize("name", STEPS)
def test_files_state_what_was_found(name):
    made, rng = found(name), np.random.default_rng(1)

    def drawn(*shape):
        return np.array([Fraction(int(x)) for x in rng.integers(-9, 9, shape).flat]).reshape(shape)

    def potential_at(w, other, gap):
        points = {"w": w[:, None]} | ({OTHER[name]: other[:, None]} if name in OTHER else {})
        of = terms(points, {"w": gap})
        return sum(c * of[name].item() for name, c in made.weights.items())

    files = {of: json.loads(text) for of, text in made.certificates.items()}
    vectors = {v: drawn(3) for v in files["decrease"]["vectors"]}
    values = {v: drawn(1) for v in files["decrease"]["values"]}
    w, c = vectors["x_0"], vectors["c_0"]
    asked = files["decrease"]["functions"]["f_0"]["points"]
    (at,) = [
        p["g"] for p in asked.values() if p["x"] == {"c_0" if name == "nesterov" else "x_0": "1"}
    ]
    after, other = STEPS[name](w, c, vectors[next(iter(at))])
    (gap,) = [
        values[next(iter(p["f"]))]
        for p in asked.values()
        if p["x"] and (sum(Fraction(a) * vectors[v] for v, a in p["x"].items()) == after).all()
    ]
    now = potential_at(w, c, values["f_0(x_0)"])
    assert (
        value(files["decrease"], vectors, values)
        == potential_at(after, other, gap) - made.rho * now
    )
    assert value(files["above"], vectors, values) == w @ w - now
    at_rest = potential_at(w, w, values["f_0(x_0)"]) - made.size * (w @ w)
    assert value(files["start"], vectors, values) == at_rest


@pytest.mark.parametrize("name", METHODS)
def test_files_prove_that_and_no_more(name):
    """A twentieth of what V may be, or of ‖x_0‖², beside it is refused."""
    made = found(name)
    for of, text in made.certificates.items():
        check(text)
        file = json.loads(text)
        share = made.size if of != "above" else Fraction(1)
        file["conclusion"]["products"].append([str(share / 20), {"x_0": "1"}, {"x_0": "1"}])
        with pytest.raises(RefusedCertificateError):
            check(sealed(file))
    assert made.floor == made.at_start == 0
    assert str(made).startswith(f"‖w_t − x*‖² ≤ {float(made.size)}·{float(made.rho)}^t·‖w_0 − x*‖²")


@pytest.mark.parametrize("name", STEPS)
def test_a_smaller_rate_is_refused(name):
    """ρ is less by 1/500: of gradient descent the statement is then false."""
    made = found(name)
    file, less = json.loads(made.certificates["decrease"]), Fraction(1, 500)
    vectors = {"w": "x_0", OTHER.get(name): "c_0"}
    for term, weight in made.weights.items():
        if term.startswith("(F"):
            values = file["conclusion"]["values"]
            values["f_0(x_0)"] = str(Fraction(values["f_0(x_0)"]) + less * weight)
        else:
            names = term.strip("‖²⟨⟩").split(", ")
            pair = [{vectors[of]: "1"} for of in (names[0], names[-1])]
            file["conclusion"]["products"].append([str(less * weight), *pair])
    with pytest.raises(RefusedCertificateError):
        check(sealed(file))


# --- the iterates ---------------------------------------------------------------------------------


class Bent:
    """F(x) = Σ h(x_i), h with curvature c up to |x_i| = 1, and d beyond; not quadratic if c ≠ d."""

    def __init__(self, inside, beyond):
        self.inside, self.beyond = (torch.tensor(of)[:, None] for of in (inside, beyond))

    def field_law(self, batch):
        return None

    def field_grad(self, x, noise):
        far = (x.abs() - 1).clamp(min=0)
        return x.sign() * (self.inside * (x.abs() - far) + self.beyond * far)

    def gap(self, x):
        far = (x.abs() - 1).clamp(min=0)
        near = x.abs() - far
        return (self.inside * (near**2 / 2 + near * far) + self.beyond * far**2 / 2).sum(-2)[0]


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=20)
@given(SHARES, SHARES, POINTS, POINTS)
def test_the_algorithms_own_text_obeys_it(name, inside, beyond, start, own):
    """From rest, and from any other state."""
    (method, L, gradients), made = METHODS[name], found(name)
    problem = Bent(*([1 + (L - 1) * share for share in of] for of in (inside, beyond)))
    ctx = SimpleNamespace(
        t=0,
        clients=1,
        everywhere=lambda x: x[None],
        draw=lambda law, name: None,
        mark=lambda name, value: None,
        average=lambda *of: of,
        cohort=lambda size, since: SimpleNamespace(average=lambda *of, weights: of),
    )

    def potential_at(state):
        points = state._asdict()
        vectors = points | (
            {f"∇F({n})": problem.field_grad(x, None) for n, x in points.items()}
            if gradients
            else {}
        )
        of = terms(vectors, {n: problem.gap(x) for n, x in points.items()})
        return sum(float(c) * of[n].item() for n, c in made.weights.items())

    x, y = (torch.tensor(of, dtype=torch.float64)[:, None] for of in (start, own))
    at_rest = method.init(ctx, problem, x)
    room = 1e-9 * float(made.size) * 1000  # of rounding, by what V may be
    assert potential_at(at_rest) <= float(made.size) * (x**2).sum() + room
    for state in (at_rest, method.anywhere(ctx, problem, x, y[None])):
        now = potential_at(state)
        for ctx.t in range(12):
            assert (state.w**2).sum() <= now + room
            state = method.step(ctx, problem, state)
            last, now = now, potential_at(state)
            assert now <= float(made.rho) * last + room


# --- clients that differ --------------------------------------------------------------------------

DIFFERENT = {
    "fedavg": (FedAvg(local_steps=2, step_size=0.5), 0.01),
    "fedavg, sampled": (FedAvg(local_steps=2, step_size=0.1, participation=0.5), 0.1),
    "scaffold": (Scaffold(local_steps=2, step_size=0.075), 0.1),
    "scaffold, sampled": (Scaffold(local_steps=2, step_size=0.075, participation=0.5), 0.1),
    "scaffold, any clients": (Scaffold(local_steps=2, step_size=0.075), 0.1),
}
"""Method → its text, μ of the class with L = 1; two clients, ζ = 1 or, of any clients, any ζ."""


@cache
def of_two(name):
    method, mu = DIFFERENT[name]
    classes = [smooth_strongly_convex(L=1, mu=mu), similar(zeta=1)]
    return potential(method, classes[: 2 - name.endswith("any clients")], clients=2, digits=3)


def test_the_floor_of_local_steps_is_that_of_the_theorem():
    """c of localsgd/any-state at L = ζ = 1, which was proved in another way."""
    made, eta, mu = of_two("fedavg"), Fraction(1, 2), Fraction(1, 100)
    left = 1 - eta * mu
    c = 2 * eta**3 * (1 - mu) * left**3 / ((2 - eta - eta * mu) * (2 + eta - 3 * eta * mu))
    assert left**4 <= made.rho <= left**4 + Fraction(1, 1000)
    assert float(made.floor) == pytest.approx(float(c / (1 - left**4)), rel=0.01)


def test_control_variates_have_no_floor():
    for name in ("scaffold", "scaffold, sampled", "scaffold, any clients"):
        made = of_two(name)
        assert made.of_clients == ("ζ² = (1/n) Σ" in str(made)) == name.endswith("any clients")
        assert made.floor == 0 < made.at_start  # they begin at 0, away from ∇f_i(x*)
        assert "mean ‖own_control_i − ∇f_i(x*)‖²" in made.weights
    for name in ("fedavg", "fedavg, sampled"):
        assert of_two(name).floor > Fraction(1, 2)


@pytest.mark.parametrize("name", DIFFERENT)
def test_files_of_clients_that_differ_prove_no_less(name):
    made = of_two(name)
    for of, text in made.certificates.items():
        check(text)
        file = json.loads(text)
        right = Fraction(file["conclusion"]["right"])
        assert right == {"decrease": made.constant, "above": 0, "start": made.at_start}[of]
        share = made.size if of != "above" else Fraction(1)
        file["conclusion"]["products"].append([str(share / 10), {"x_0": "1"}, {"x_0": "1"}])
        with pytest.raises(RefusedCertificateError):
            check(sealed(file))
        if right:
            file = json.loads(text)
            file["conclusion"]["right"] = str(right * Fraction(9, 10))
            with pytest.raises(RefusedCertificateError):
                check(sealed(file))


@pytest.mark.parametrize("name", DIFFERENT)
@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=2), st.floats(-3, 3), st.floats(0, 9))
def test_runs_on_quadratics_obey_it(name, shares, minimiser, zeta):
    """f_i has curvature a_i, and slope ±ζ at the minimiser of F."""
    (method, mu), made = DIFFERENT[name], of_two(name)
    zeta = zeta if made.of_clients else 1.0
    curvatures = [mu + (1 - mu) * share for share in shares]
    problem = PiecewiseLosses(
        gradients=tuple(
            (tuple((minimiser + x, a * x + slope) for x in (-99.0, 99.0)),)
            for a, slope in zip(curvatures, (zeta, -zeta), strict=True)
        )
    )
    away, rho = (minimiser - float(problem.start()[0])) ** 2, float(made.rho)
    first = float(made.size) * away + float(made.at_start) * zeta**2
    context = sampled_context(problem, ("potential",), replicates=64)
    for rounds in (1, 2, 5, 30):
        state = run(problem, method, context, rounds=rounds).state
        reached = ((getattr(state, method.iterate)[0] - minimiser) ** 2).sum(0)
        bound = first * rho**rounds + float(made.floor) * (1 - rho**rounds)
        assert reached.mean().item() <= bound * (1 + 1e-9) + 4 * reached.std().item() / 8


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "classes", "clients", "said"),
    [
        (FedAvg(step_size=1.0), [smooth_convex(L=1)], 1, "no potential with ρ ≤ 0.9999 of FedAvg"),
        (FedAvg(step_size=1.0), [smooth_strongly_convex(L=1, mu=1e-5)], 1, "more digits"),
        (HeavyBall(step_size=0.08), [smooth_strongly_convex(L=25, mu=1)], 1, "or gradients=True"),
        (Nesterov(), [CLASS], 1, "reads t, the number of the step or the round"),
        (FedAvg(), [bounded_gradients(convex(), G=1)], 1, "has a size"),
        *(
            (FedAvg(), [CLASS, of], 1, "need not hold in later rounds")
            for of in (start_within(R=1), start_at_minimiser(), recurs(), polyak_step())
        ),
        (FedAvg(step_size=for_all("0 < eta < 1")), [CLASS], 1, "wanted: numbers"),
    ],
)
def test_what_has_no_potential_is_refused(method, classes, clients, said):
    with pytest.raises(DriftproofError, match=said):
        potential(method, classes, clients=clients)


def test_the_page_has_an_example(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ran("theorems.md", capsys)
    made = driftproof("check", *(str(path) for path in sorted(tmp_path.glob("nesterov-*.json"))))
    assert made.returncode == 0, made.stderr
    assert "3 certificates hold, 0 do not" in made.stdout
    assert names["found"].rho == Fraction(57, 100)
