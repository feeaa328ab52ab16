"""Polyak's steps over a class: the worst cases of Barré, Taylor & d'Aspremont, and what refutes."""

import json
from fractions import Fraction
from itertools import pairwise

import pytest

from driftproof import bound, each, sq
from driftproof.algorithms import FedAvg, HeavyBall, Nesterov, ProximalPoint
from driftproof.classes import (
    bounded_gradients,
    cocoercive,
    convex,
    equal,
    for_all,
    over,
    plus,
    polyak_step,
    recurs,
    similar,
    smooth,
    smooth_strongly_convex,
    start_gap,
    start_within,
    strongly_convex_concave,
    worst_case,
)
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers.standalone.of_class import script_of_class
from driftproof.verifiers.verify import Settings, judge
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.check import RefusedCertificateError, check
from driftproof.verifiers.worst_case.counterexample import simple
from driftproof.verifiers.worst_case.digest import sealed
from driftproof.verifiers.worst_case.on_paper.printed import on_paper
from driftproof.verifiers.worst_case.solve import solve
from driftproof.verifiers.worst_case.witness import witness
from driftproof.verifiers.worst_case.written import Right, counterexample
from tests.certificates import proved
from tests.closed_forms import at, distance, gap

STRONG, NEAR = smooth_strongly_convex(L=1, mu=0.1), start_within(R=1)
KNOWN = {
    ("polyak-distance", 1.0): Fraction(0),
    ("polyak-distance", 1.5): Fraction(17, 26),
    ("polyak-distance", 5.0): Fraction(4, 9),
    ("polyak-distance", 10.0): Fraction(0),
    ("polyak-gap", 1.0): Fraction(0),
    ("polyak-gap", 1.5): Fraction(41, 80),
    ("polyak-gap", 1.75): Fraction(423, 640),
    ("polyak-gap", 1.9): Fraction(6561, 10000),
}
"""Statement and γ → the worst case, for L = 1 and μ = 1/10."""
REFUTED = [key for key, value in KNOWN.items() if value and key[1] != 1.9]
"""At 1.9 it is attained by (μ/2)‖x‖² from x_0 = √20 alone, which is no fraction."""


def solved(name, step_size):
    size = {"R": 1} if name == "polyak-distance" else {"F_gap": 1}
    claim = at(name, 1, L=1, mu=Fraction(1, 10), eta=Fraction(str(step_size)), **size)
    (case,) = claim.classes
    (program,) = build(case.algorithm, case.problem, rounds=1, left=claim.left)
    return program, solve(program)


@pytest.mark.parametrize(("name", "step_size"), KNOWN)
def test_the_worst_case_is_proved_exactly_and_needs_the_condition(name, step_size):
    made = proved(*solved(name, step_size))
    assert made.bound == KNOWN[name, step_size]
    file = json.loads(made.text)
    assert file["assumptions"]["Polyak, (0)"]["equals"] == "0"
    file["multipliers"] = [of for of in file["multipliers"] if of[-1] != "Polyak, (0)"]
    with pytest.raises(RefusedCertificateError):
        check(sealed(file))


@pytest.mark.parametrize("share", [Fraction(99, 100), Fraction(1, 2)])
@pytest.mark.parametrize(("name", "step_size"), REFUTED)
def test_a_smaller_bound_is_refuted_by_functions_that_meet_it(name, step_size, share, capsys):
    (program, found), known = solved(name, step_size), KNOWN[name, step_size]
    assert known * (1 - Fraction(1, 10**6)) < witness(program, found).value <= known
    right = Right(str(known * share))
    text = counterexample(program, right, simple(program, found, right.high))
    exec(script_of_class("mine", "printed", text), scope := {})
    assert known * share < scope["left"] <= known
    assert "REFUTED" in capsys.readouterr().out
    file = json.loads(text)
    file["assumptions"]["Polyak, (0)"]["equals"] = "1/100"
    with pytest.raises(AssertionError, match="not met: Polyak"):
        exec(script_of_class("mine", "printed", json.dumps(file)), {})


def value(*relations, method=None, clients=1, rounds=1):
    method, classes = method or FedAvg(step_size=1.5), [STRONG, NEAR, *relations]
    return worst_case(method, classes, rounds=rounds, left=distance, clients=clients).value


def test_another_rule_has_another_worst_case():
    values = [value(), value(polyak_step(1.5)), value(polyak_step()), value(polyak_step(2.5))]
    assert values[0] == pytest.approx(0.85**2, rel=1e-6)
    assert values == sorted(values, reverse=True)
    assert min(a - b for a, b in pairwise(values)) > 0.01


def test_every_step_obeys_it():
    """Of two rounds, of two local steps, and of clients that have one function."""
    two, local = value(polyak_step(), rounds=2), FedAvg(step_size=1.5, local_steps=2)
    assert two < 0.9 * float(KNOWN["polyak-distance", 1.5]) ** 2
    assert value(polyak_step(), method=local) == pytest.approx(two, rel=1e-6)
    together = value(polyak_step(), equal(), clients=2)
    assert together == pytest.approx(value(polyak_step()), rel=1e-6)


def test_subgradients_end_where_polyak_says():
    """‖x⁺ − x*‖² ≤ ‖x − x*‖² − γ²‖g‖² where γ‖g‖² = F − F* (Polyak 1969)."""
    classes = [bounded_gradients(convex(), G=1), polyak_step(1), NEAR]
    method = FedAvg(step_size=0.5)

    def less(view):
        moved = sq((view.state.w - view.before.w).mean(0))
        return each("transition", sq(view.mean("w") - view.minimiser) + moved)

    (program,) = build(method, classes, rounds=1, left=less, clients=1)
    assert proved(program).bound == 1


def test_a_rate_without_a_bound_on_the_start_is_a_theorem():
    def left(view):
        before = sq(view.round_start("w") - view.minimiser)
        return each("round", "local_step", sq(view.mean("w") - view.minimiser), before=before)

    (row,) = judge(
        [
            bound(
                name="mine/rate",
                source="this test",
                statement="x",
                classes=over(
                    [
                        smooth_strongly_convex(for_all("0 < L"), for_all("0 < mu < L")),
                        polyak_step(),
                    ],
                    FedAvg(step_size=for_all("1/L <= eta <= 1/mu")),
                    clients=1,
                ),
                right=lambda c: (
                    (c.eta * c.L - 1)
                    * (1 - c.eta * c.mu)
                    / (c.eta * (c.L + c.mu) - 1)
                    * c.measured("before")
                ),
                measured={"before": "y"},
            )(left)
        ],
        Settings(),
    )
    assert (row.verdict, row.evidence) == (Verdict.SUPPORTED, Evidence.THEOREM)
    (text,) = [text for name, text in row.proofs.items() if "theorem" in name]
    assert "Here the multipliers of inequalities are at least $0$" in on_paper(text)


TWO = FedAvg(step_size=1.5)


@pytest.mark.parametrize(
    ("method", "classes", "clients", "said"),
    [
        (TWO, [STRONG, similar(1), NEAR], 2, "beside several functions"),
        (HeavyBall(step_size=1.5), [STRONG, NEAR], 1, "beside other steps"),
        (Nesterov(step_size=1.0), [STRONG, NEAR], 1, "beside other steps"),
        (ProximalPoint(step_size=1.0), [STRONG, NEAR], 1, "beside other steps"),
        (TWO, [STRONG, plus(convex()), NEAR], 1, "without a term"),
        (TWO, [STRONG, recurs(), NEAR], 1, r"without recurs\(\)"),
        (TWO, [cocoercive(L=1), NEAR], 1, "clients' functions of one variable"),
        (TWO, [strongly_convex_concave(L=1, mu=0.1), NEAR], 1, "of one variable"),
        (TWO, [smooth(L=1), start_gap(1)], 1, "no minimiser"),
    ],
)
def test_what_has_no_such_steps_is_refused(method, classes, clients, said):
    with pytest.raises(DriftproofError, match=said):
        build(method, [*classes, polyak_step()], rounds=3, left=gap, clients=clients)


def test_a_factor_is_above_0():
    with pytest.raises(DriftproofError, match="factor above 0"):
        polyak_step(0)
