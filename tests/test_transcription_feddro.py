"""Right sides and conditions of FedDRO a second time, in numbers, from the paper's displays."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from synthetic.problems import AveragedComposition, BiasAmplification
from toolkit.algorithms import CompositionalFedAvg, FedDRO
from toolkit.cases import Case
from toolkit.constants import Letters, evaluate
from toolkit.discover import leaves
from toolkit.readings import ByProof, Undecided
from verifiers.claims.feddro import _theorem as parts
from verifiers.claims.feddro import assumptions as given
from verifiers.claims.feddro.theorem_4_1 import for_any_sequence
from verifiers.claims.feddro.theorem_4_2 import SHARED, SMALL
from verifiers.judges.bounds import unmet

# letters with values that no product of others equals
V = {
    "Phi_gap": 41.0, "e_0": 0.61, "b": 5.0, "K": 3.0, "T": 119.0, "B_g": 1.9, "B_f": 2.3,
    "L_g": 3.1, "L_f": 0.7, "L_h": 0.37, "eta": 0.03, "I": 7.0,
}  # fmt: skip
GAP, E0, BATCH, K, T = 41.0, 0.61, 5.0, 3.0, 119.0
BG, BF, LG, LF, LH, ETA = 1.9, 2.3, 3.1, 0.7, 0.37, 0.03
INITIAL = 2 * (GAP + E0**2) / sqrt(BATCH * K * T)
LPHI = 0 + BF * LG + BG**2 * LF  # Theorem 4.2 has h = 0
DRIFT = sum(j**2 for j in range(7)) / 7  # the mean of j² over a round of I = 7 steps

PRINTED = {
    # the other terms have a factor 0 where these are judged
    ("theorem-5.1", ""): INITIAL,
    ("corollary-5.2", ""): INITIAL,
    ("lemma-3.5", ""): LH + BF * LG + BG**2 * LF,
    # not in the text: 2(Φ(x̄⁰) − Φ*)/(ηT) and L_Φ² times the mean squared distance of the models
    ("theorem-4.2", "Φ is bounded below"): 2 * GAP / (ETA * T)
    + LPHI**2 * ETA**2 * BG**2 * BF**2 * DRIFT,
}
ELSEWHERE = {"theorem-4.1", "remark-2.1"}
"""Existence by limit points: below, by running the pseudo-code."""


def test_every_printed_bound_is_written_here():
    bounds = {
        (name.split("/")[1], form.reading)
        for name, leaf in leaves("claim").items()
        if name.startswith("feddro/") and leaf.load().kind in ("bound", "existence")
        for form in leaf.load().forms
        if form.form == "printed" and name.split("/")[1] not in ELSEWHERE
        if leaf.load().way != "proof" and not isinstance(form.right, ByProof | Undecided)
    }
    assert bounds == set(PRINTED)


@pytest.mark.parametrize(("name", "reading"), PRINTED)
def test_a_printed_right_side_is_the_papers(name, reading):
    claim = leaves("claim")[f"feddro/{name}"].load()
    (form,) = (f for f in claim.forms if f.form == "printed" and f.reading == reading)
    letters = {letter: letter for letter in V}
    assert evaluate(form.right(Letters(letters)), letters, V) == pytest.approx(
        PRINTED[name, reading], rel=1e-12
    )


SLOPES = {"slopes": ((2.0, 0.0), (-1.0, 1.0)), "offsets": ((1.0, 2.0), (1.0, -1.0), (1.0, -1.0))}


def outer_slope(heterogeneity, y):
    """Return f' of the two constructions."""
    return max(-3.0, min(3.0, y)) if heterogeneity == "slopes" else max(-1.0, min(1.0, y))


def at_rest(heterogeneity, sharing, steps, size):
    """Run the paper's Algorithm 1 for scalars until x̄ stands still; the numbers are its lines."""
    clients = SLOPES[heterogeneity]
    x = [0.5] * len(clients)  # 2
    y = [a * 0.5 + c for a, c in clients]
    mean = sum(y) / len(y)
    y = y if sharing == "case-1" else [mean] * len(y)
    for _ in range(int(200 / size / steps) + 1):
        for j in range(steps):  # 3
            if sharing == "every-step":
                y = [a * v + c for (a, c), v in zip(clients, x, strict=True)]
                y = [sum(y) / len(y)] * len(y)
            x = [  # 5, with (6)
                v - size * a * outer_slope(heterogeneity, w)
                for (a, _), v, w in zip(clients, x, y, strict=True)
            ]
            if j == steps - 1:  # 7
                x = [sum(x) / len(x)] * len(x)
            y = [a * v + c for (a, c), v in zip(clients, x, strict=True)]
        if sharing == "case-2":  # 8
            y = [sum(y) / len(y)] * len(y)
    return x[0]


@pytest.mark.parametrize("heterogeneity", ["slopes", "offsets"])
@pytest.mark.parametrize("sharing", ["case-1", "case-2", "every-step"])
@pytest.mark.parametrize(("steps", "size"), [(1, 0.05), (2, 0.06), (5, 0.02)])
def test_the_limit_points_are_those_of_the_pseudo_code(heterogeneity, sharing, steps, size):
    claim = leaves("claim")["feddro/theorem-4.1"].load()
    for form in claim.forms[1:3]:
        stated = form.right(heterogeneity, sharing)(steps, size)
        assert stated == pytest.approx(at_rest(heterogeneity, sharing, steps, size), abs=1e-9)
    assert claim.forms[2].right is for_any_sequence


@pytest.mark.parametrize("sharing", ["case-1", "case-2", "every-step"])
@drawn(sizes=st.lists(st.floats(1e-6, 10.0), min_size=1, max_size=20), period=st.integers(1, 6))
def test_no_sequence_of_steps_leads_to_the_maximum_that_every_method_flees(sharing, sizes, period):
    """Theorem 4.1's literal construction and 4.2's counterexample, as the pseudo-code runs."""
    x, shifts = [2.0, 2.0], (1.0, -1.0)  # g_k(x) = x ± 1
    y = [v + c for v, c in zip(x, shifts, strict=True)]
    for t, size in enumerate(sizes):
        if sharing == "every-step":
            y = [sum(y) / 2] * 2
        # f(y) = −√(1 + y²)
        x = [v + size * w / sqrt(1 + w * w) for v, w in zip(x, y, strict=True)]
        if (t + 1) % period == 0:
            x = [sum(x) / 2] * 2
        y = [v + c for v, c in zip(x, shifts, strict=True)]
        if (t + 1) % period == 0 and sharing == "case-2":
            y = [sum(y) / 2] * 2
        mean = sum(x) / 2
        assert mean**2 / (1 + mean**2) >= 4 / 5 - 1e-12  # ‖∇Φ‖² at x̄


@pytest.mark.parametrize(("first", "second", "steps"), [(1.0, 2.0, 5), (0.5, 3.0, 9)])
def test_the_harm_of_local_steps_is_that_of_a_run(first, second, steps):
    """feddro/heterogeneity-threshold: where two quadratics' local steps rest, by running them."""
    from verifiers.claims.feddro import heterogeneity_threshold as claimed

    size, apart, x = 0.01, 1.3, 0.0
    for _ in range(20_000):
        one, two = x, x
        for _ in range(steps):
            one, two = one - size * first * (one - apart), two - size * second * two
        x = (one + two) / 2
    values = {claimed.first: first, claimed.second: second, claimed.shift: apart, claimed.eta: size}
    stated = float(claimed.bias(steps).subs(values))
    assert (first * (x - apart) + second * x) / 2 == pytest.approx(stated, rel=1e-9)
    limit = first * second * (first - second) * apart / (first + second) * (steps - 1) / 4
    assert abs(stated) == pytest.approx(abs(limit) * size, rel=0.2)


def case(problem, **more):
    return Case(problem, FedDRO(**more), 25)


def test_the_schedule_is_theorem_5_1s():
    """η = √(|b|K/T), β = 4B_g⁴L_f²η, T = 100."""
    problem = AveragedComposition(clients=2, inner_slope=0.5, outer_curvature=0.7)
    c = problem.constants
    eta = sqrt(3 * 2 / 100)
    beta = 4 * c["inner_gradient_moment"] ** 4 * c["outer_smoothness"] ** 2 * eta
    fine = {"local_steps": 4, "batch": 3, "step_size": eta, "momentum": beta}
    assert parts.SCHEDULE.applies(case(problem, **fine))
    for change in (
        {"step_size": eta * 1.001}, {"momentum": beta * 0.999}, {"batch": 2}, {"local_steps": 5},
    ):  # fmt: skip
        assert not parts.SCHEDULE.applies(case(problem, **fine | change))
    made = parts.run(problem, 100, local_steps=4, batch=3)
    assert made.rounds == 25
    assert made.algorithm.step_size == pytest.approx(eta, rel=1e-14)
    assert made.algorithm.momentum == pytest.approx(beta, rel=1e-14)


def holds(assumption, values):
    letters = {name: name for name in values}
    relation = assumption.relation(Letters(letters))
    left, right = (evaluate(side, letters, values) for side in (relation.lhs, relation.rhs))
    return bool(relation.func(left, right))


def test_step_sizes_end_at_one_over_the_smoothness():
    random = np.random.default_rng(4)
    for _ in range(40):
        v = {x: float(np.exp(random.uniform(-2, 2))) for x in (*V, "L_Phi")}
        ends = {
            parts.STEP_SIZE: 1 / v["L_Phi"],
            SMALL: 1 / (v["B_f"] * v["L_g"] + v["B_g"] ** 2 * v["L_f"]),
        }
        for assumption, end in ends.items():
            for share, fine in ((0.3, True), (1 - 1e-9, True), (1 + 1e-9, False), (3.0, False)):
                assert holds(assumption, v | {"eta": share * end}) is fine


def test_the_terms_whose_constants_the_text_leaves_out_have_a_factor_0():
    quiet = AveragedComposition(clients=2, inner_offset=1.0)
    assert given.QUIET.applies(case(quiet))
    for change in (
        {"inner_value_noise": 0.1}, {"inner_gradient_noise": 0.1}, {"plain_noise": 0.1},
        {"inner_heterogeneity": 0.1}, {"plain_slope": 1.0, "plain_tilt": 0.1},
    ):  # fmt: skip
        problem = AveragedComposition(clients=2, inner_offset=1.0, **change)
        assert not given.QUIET.applies(case(problem)), change
    assert not given.AVERAGED.applies(case(BiasAmplification(objective_of="client-wise")))
    assert given.AVERAGED.applies(case(BiasAmplification()))


def test_theorem_4_2_is_for_embeddings_that_are_shared_at_each_step():
    problem = BiasAmplification()
    claim = leaves("claim")["feddro/theorem-4.2"].load()
    for sharing, fine in (("every-step", True), ("case-1", False), ("case-2", False)):
        made = Case(problem, CompositionalFedAvg(sharing=sharing, step_size=0.1), 2)
        assert SHARED.applies(made) is fine
        assert (unmet(claim, made, claim.forms[1]) is None) is fine


NEEDED = {
    "Assumption 3.2": {"outer_smoothness", "plain_smoothness", "inner_mean_smoothness",
                       "outer_gradient_bound", "inner_gradient_moment"},
    "Assumption 3.3": {"plain_gradient_noise", "inner_gradient_noise", "inner_value_noise"},
    "Assumption 3.4": {"plain_gradient_heterogeneity", "inner_gradient_heterogeneity"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "left_out"),
    [("theorem-5.1", ()), ("corollary-5.2", ()), ("theorem-4.1", ()), ("theorem-4.2", ()),
     ("lemma-3.5", ("Assumption 3.3", "Assumption 3.4"))],
)  # fmt: skip
def test_every_statement_assumes_what_the_paper_does(name, left_out):
    claim = leaves("claim")[f"feddro/{name}"].load()
    held = {a.name: set(a.roles) for a in claim.assumes if a.name.startswith("Assumption")}
    assert {name: roles for name, roles in held.items() if roles} == {
        k: v for k, v in NEEDED.items() if k not in left_out
    }
