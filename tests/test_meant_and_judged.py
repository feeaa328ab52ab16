"""What a text states is what is judged: values, oracles, files with loops, one case of a claim."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

import pytest
import torch
from sympy import Symbol
from torch import Tensor

from driftproof import (
    Algorithm,
    One,
    Positive,
    Schedule,
    algorithm,
    assert_holds,
    average,
    bound,
    each,
    grid,
    limit,
    problem,
    rate,
    smallest,
    sq,
)
from driftproof.algorithms import FedAvg, ProximalGradient
from driftproof.classes import (
    any_state,
    bounded_gradients,
    convex,
    for_all,
    indicator,
    over,
    plus,
    smooth_convex,
    smooth_strongly_convex,
    start_apart,
    start_within,
)
from driftproof.problems import CompositeQuadratic, PiecewiseLosses
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.claim_types.sources import claims_in
from driftproof.verifiers.verify import Settings, judge
from tests.commands import driftproof

T = Symbol("T", positive=True)
SMOOTH, NEAR = smooth_convex(L=1), start_within(R=1)


class State(NamedTuple):
    w: Tensor


class Two(NamedTuple):
    w: Tensor
    y: Tensor


class Own(Algorithm):
    """Begins with w at the start."""

    local_steps: One = 1
    needs = "online"
    notation = {"T": "rounds", "G": "field_gradient_bound", "D": "diameter"}

    def init(self, ctx, oracles, start):
        return State(ctx.everywhere(start))


def row_of(claim):
    rows = judge([claim], Settings())
    return rows[0]


def stated(right, measure, classes=(SMOOTH, NEAR), method=None, rounds=1, clients=1, **more):
    """Return a bound over a class."""
    method = method or FedAvg(step_size=1.0)
    given = over(list(classes), method, rounds=rounds, clients=clients)
    more = {"name": "mine/stated", "source": "tests", "statement": "x", **more}
    return bound(classes=given, right=right, **more)(measure)


# -- values without their minimum


def value_falls(view):
    before = view.objective(view.before.w.mean(0))
    return each("transition", view.objective(view.state.w.mean(0)), F=before)


def last_value(view):
    return each("round", "local_step", view.objective(view.mean("w"))) if view.last else None


def best_value(view):
    return smallest("transition", view.objective(view.state.w.mean(0)))


STRONGLY = smooth_strongly_convex(L=for_all("0 < L"), mu=for_all("0 < mu < L"))
WITHOUT_MINIMUM = {
    "a contraction": stated(
        lambda c: (1 - c.eta * c.mu) ** 2 * c.measured("F"),
        value_falls,
        (smooth_strongly_convex(L=1, mu=0.1), NEAR),
        FedAvg(step_size=0.5),
        measured={"F": "F"},
    ),
    "for all letters": stated(
        lambda c: (1 - c.eta * c.mu) ** 2 * c.measured("F"),
        value_falls,
        (STRONGLY, any_state()),
        FedAvg(step_size=for_all("0 < eta <= 2/(L+mu)")),
        measured={"F": "F"},
    ),
    "a rate": stated(lambda c: c.L * c.R**2 / 6, last_value),
    "with a term": stated(
        lambda c: c.L * c.R**2 / 4,
        last_value,
        (SMOOTH, plus(convex()), NEAR),
        ProximalGradient(step_size=1.0),
    ),
    "the best": stated(lambda c: c.L * c.R**2 / 10, best_value, rounds=2),
    "a difference of two with different weights": stated(
        lambda c: c.L * c.R**2,
        lambda view: each(
            "transition",
            view.objective(view.state.w.mean(0)) - view.objective(view.before.w.mean(0)) / 2,
        ),
    ),
}


@pytest.mark.parametrize("name", WITHOUT_MINIMUM)
def test_a_value_without_its_minimum_says_nothing_over_a_class(name):
    with pytest.raises(DriftproofError, match="F\\(x\\*\\) is left over") as refused:
        row_of(WITHOUT_MINIMUM[name])
    assert "view.gap(x)" in refused.value.remedy


def test_a_gap_and_a_difference_of_values_are_judged():
    gap = stated(
        lambda c: c.L * c.R**2 / 6,
        lambda view: each("round", "local_step", view.gap(view.mean("w"))) if view.last else None,
    )
    fall = stated(
        lambda c: 0,
        lambda view: each(
            "transition",
            view.objective(view.state.w.mean(0)) - view.objective(view.before.w.mean(0)),
        ),
    )
    assert [row_of(claim).verdict for claim in (gap, fall)] == [Verdict.SUPPORTED] * 2


# -- oracles that say what their words say


@algorithm(name="prox-of-one", source="tests", statement=r"\mathrm{prox}_{f_0}(x)")
class ProxOfOne(Own):
    term: bool = False

    def step(self, ctx, oracles, state):
        return State(oracles.prox(state.w, 1.0, losses=[0], term=self.term))


def moved(view):
    return each("transition", sq((view.state.w - view.before.w).mean(0)))


def test_a_proximal_step_is_of_the_losses_that_it_names():
    """‖x_1 − x_0‖ = ‖g‖ ≤ G for a subgradient g of f_0: nothing else is in that step."""
    lipschitz = bounded_gradients(convex(), G=1)
    claim = stated(lambda c: c.G**2, moved, (lipschitz, start_within(R=9)), ProxOfOne())
    row = row_of(claim)
    assert row.verdict is Verdict.SUPPORTED
    assert row.ratio == pytest.approx(1, abs=1e-6)
    wrong = stated(
        lambda c: c.G**2,
        moved,
        (lipschitz, plus(convex()), start_within(R=9)),
        ProxOfOne(term=True),
    )
    assert row_of(wrong).verdict is not Verdict.SUPPORTED  # h may be as steep as one likes


@algorithm(name="two-runs", source="tests", statement="two projected gradient steps")
class TwoRuns(Own):
    step_size: Positive = 1.0
    to_vertex: bool = False

    def init(self, ctx, oracles, start):
        return Two(*[ctx.everywhere(start)] * 2)

    def anywhere(self, ctx, oracles, start, own):
        return Two(ctx.everywhere(start), ctx.everywhere(own.mean(0)))

    def step(self, ctx, oracles, state):
        def stepped(x):
            g = oracles.field_grad(x, None)
            if self.to_vertex:
                return (x + oracles.linear_minimiser(g)) / 2
            return oracles.project(x - self.step_size * g)

        return Two(*map(stepped, state))


def apart(view):
    return each("round", "local_step", sq(view.mean("w") - view.mean("y"))) if view.last else None


def test_both_starts_of_two_runs_lie_in_the_set():
    """Two points of a set of diameter D = 1 are within 1, however far apart they may begin."""
    classes = (SMOOTH, plus(indicator(D=1)), start_apart(R=10))
    row = row_of(stated(lambda c: c.D**2, apart, classes, TwoRuns(to_vertex=True)))
    assert row.verdict is Verdict.SUPPORTED
    assert row.ratio == pytest.approx(1, abs=1e-6)
    wrong = stated(lambda c: c.D**2 / 2, apart, classes, TwoRuns(to_vertex=True))
    assert row_of(wrong).verdict is Verdict.REFUTED


@problem(name="wrong-below", source="tests", statement=r"\min F + h, \mathrm{prox}\ \text{off}")
class WrongBelow(CompositeQuadratic):
    """Its proximal step is right for t ≥ 0.1, and a plain copy of x below."""

    def oracles(self, dtype, device="cpu", clients=None):
        made = super().oracles(dtype, device, clients)
        right = made.prox
        made.prox = lambda x, t, **more: x if t < 0.1 else right(x, t, **more)
        return made


def test_an_oracle_is_audited_where_the_run_asks_it():
    def held(view):
        return (
            each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None
        )

    def claim(step_size):
        cases = grid(WrongBelow(), ProximalGradient(step_size=step_size), rounds=3)
        return bound(
            name="mine/prox", source="tests", statement="x", cases=cases, right=lambda c: 1e6
        )(held)

    assert row_of(claim(0.5)).verdict is Verdict.SUPPORTED
    with pytest.raises(DriftproofError, match="prox of wrong-below's oracles"):
        row_of(claim(0.05))


# -- measures that give another value when they are called again


def test_a_measure_that_counts_its_calls_is_refused():
    calls = []

    def counted(view):
        calls.append(1)
        return each("round", sq(view.mean("w")) / len(calls))

    cases = grid(PiecewiseLosses(), FedAvg(step_size=0.1), rounds=2)
    claim = bound(
        name="mine/counted", source="tests", statement="x", cases=cases, right=lambda c: 1e6
    )(counted)
    with pytest.raises(DriftproofError, match="again"):
        row_of(claim)


# -- one form on one case


def test_a_case_is_not_blamed_for_the_class():
    flat = PiecewiseLosses(clients=1, gradients=((((0.0, 0.0),),),))
    claim = bound(
        name="mine/both",
        source="tests",
        statement="x",
        right=lambda c: 1e-9,
        classes=over([SMOOTH, NEAR], FedAvg(step_size=1.0), rounds=1),
        cases=grid(flat, FedAvg(step_size=1.0), rounds=1),
    )(lambda view: each("round", view.gap(view.mean("w"))))
    (case,) = claim.cases_for("full")
    verdicts = [row.verdict for row in judge([claim], Settings())]
    assert sorted(verdicts) == [Verdict.REFUTED, Verdict.SUPPORTED]  # the class and the case
    assert_holds(claim, case)


def test_a_limit_takes_a_case_over_a_class():
    def off(view):
        return (
            each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None
        )

    strongly = smooth_strongly_convex(L=1, mu=0.1)
    good, bad = (over([strongly], FedAvg(step_size=step), clients=1)[0] for step in (1.0, 3.0))
    claim = limit(name="mine/limit", source="tests", statement="x", classes=(bad,))(off)
    assert_holds(claim, good)
    with pytest.raises(AssertionError, match="REFUTED"):
        assert_holds(claim, bad)
    with pytest.raises(DriftproofError, match="over"):
        assert_holds(claim, *grid(PiecewiseLosses(), FedAvg(step_size=0.1), rounds=1))


def test_a_rate_with_one_horizon_says_that_it_needs_more():
    cases = grid(PiecewiseLosses(), FedAvg(step_size=0.1), rounds=3)
    claim = rate(
        name="mine/rate",
        source="tests",
        statement=r"\order",
        cases=cases,
        horizon=T,
        right=Schedule({"eta": 1}, 1 / T),
    )(lambda view: average("round", sq(view.mean("w"))))
    row = row_of(claim)
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "horizons" in row.reason


# -- files


HEAD = """
from driftproof import assert_claim, bound, each, grid, sq
from driftproof.algorithms import FedAvg
from driftproof.classes import any_state, for_all, over, recurs, smooth_convex, start_within
from driftproof.problems import PiecewiseLosses

def last(view):
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None

def claim(name, factor):
    return bound(
        name=name, source="tests", statement="x", right=lambda c: factor * c.L * c.R**2,
        classes=over([smooth_convex(L=1), start_within(R=1)], FedAvg(step_size=1.0), rounds=1),
    )(last)

"""
MADE = {
    "in a loop": "for k in (1, 0.001):\n    globals()[f'claim_{k}'] = claim(f'mine/times-{k}', k)",
    "in a list": "ALL = [claim(f'mine/times-{k}', k) for k in (1, 0.001)]",
    "by a function, and dropped": "for k in (1, 0.001):\n    claim(f'mine/times-{k}', k)",
    "by replace": "from dataclasses import replace\ntrue = claim('mine/times-1', 1)\n"
    "false = replace(true, name='mine/times-0.001', right=lambda c: c.L * c.R**2 / 1000)",
}


def written(folder, text):
    (folder / "mine.py").write_text(HEAD + text + "\n", encoding="utf-8")
    return folder / "mine.py"


@pytest.mark.parametrize("how", MADE)
def test_claims_that_a_program_makes_are_judged(tmp_path, how):
    written(tmp_path, MADE[how])
    made = driftproof("verify", "mine.py", cwd=tmp_path)
    assert made.returncode == 1
    rows = [line.split()[:3] for line in made.stdout.splitlines() if line.startswith(" mine/")]
    assert sorted(rows) == [
        ["mine/times-0.001", "printed", "REFUTED"],
        ["mine/times-1", "printed", "SUPPORTED"],
    ]


def test_claims_that_a_program_makes_are_tests_for_pytest(tmp_path):
    written(tmp_path, MADE["in a loop"])
    made = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--driftproof", "-p", "no:cacheprovider", "mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "1 failed, 1 passed" in made.stdout, made.stdout


REFUSED = {
    "claim('mine/one', 1); claim('mine/one', 2)": "two claims called 'mine/one'",
    "half = bound(name='mine/half', source='x', statement='x', right=lambda c: 1,\n"
    "    cases=grid(PiecewiseLosses(), FedAvg(step_size=0.1), rounds=1))": "mine/half",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_looks_like_a_claim_and_is_none_is_refused_by_name(tmp_path, text):
    with pytest.raises(DriftproofError, match=REFUSED[text]):
        claims_in(written(tmp_path, text))


def test_claims_of_another_file_are_named(tmp_path):
    (tmp_path / "others.py").write_text(HEAD + "one = claim('others/one', 1)", encoding="utf-8")
    path = written(tmp_path, "from others import one\nmy = claim('mine/my', 1)")
    notes = []
    assert [leaf.name for leaf in claims_in(path, notes.append)] == ["mine/my"]
    assert notes == ["mine.py imports others/one: judged where they are made, not here"]


def rows_in(folder, text):
    claims = [leaf.load() for leaf in claims_in(written(folder, text))]
    return judge(claims, Settings())


JUDGED = {
    "a condition at the start of a round": (
        "@bound(name='mine/critical', source='x', statement='x', right=lambda c: 0, classes=over("
        "[smooth_convex(L=1), recurs()], FedAvg(step_size=1.0), rounds=1, clients=1))\n"
        "def critical(view):\n    return each('round', view.gap(view.mean('w')))",
        Verdict.SUPPORTED,
    ),
    "a measure that grows for all letters": (
        "@bound(name='mine/grows', source='x', statement='x', right=lambda c: c.L, classes=over("
        "[smooth_convex(L=for_all('0 < L')), any_state()], FedAvg(step_size=for_all('0 < eta')),"
        " rounds=1, clients=1))\n"
        "def grows(view):\n    return each('transition', sq(view.state.w.mean(0)"
        " - view.minimiser))",
        Verdict.REFUTED,
    ),
    "a loss of the problem over a class": (
        "@bound(name='mine/loss', source='x', statement='x', right=lambda c: c.L * c.R**2,"
        " classes=over([smooth_convex(L=1), start_within(R=1)], FedAvg(step_size=1.0), rounds=1,"
        " clients=1))\n"
        "def loss(view):\n"
        "    return each('transition', view.problem.loss_at(0, view.state.w.mean(0)))",
        Verdict.SUPPORTED,
    ),
}


@pytest.mark.parametrize("name", JUDGED)
def test_what_crashed_is_judged(tmp_path, name):
    text, verdict = JUDGED[name]
    (row,) = rows_in(tmp_path, text)
    assert row.verdict is verdict, row.reason


def test_a_local_name_of_the_objective_costs_no_finding(tmp_path):
    written(
        tmp_path,
        "from driftproof.algorithms import SignDescent\n"
        "@bound(name='mine/falls', source='x', statement='x', right=lambda c: 0, cases=grid("
        "PiecewiseLosses(clients=1, gradients=((((0.0, 1.0),),),)), SignDescent(step_size=0.01),"
        " rounds=2))\n"
        "def falls(view):\n    F = view.problem.objective\n"
        "    return each('transition', F(view.state.w.mean(0)) - F(view.before.w.mean(0)))",
    )
    made = driftproof("falsify", "mine.py", "--climbs", "4", cwd=tmp_path)
    assert "Traceback" not in made.stderr
    assert "verified" in made.stdout + made.stderr


class Base(Algorithm):
    local_steps: One = 1
    size: Positive = 0.5
    needs = "field"


@algorithm(name="inherits", source="tests", statement="x")
class Inherits(Base):
    notation = {"eta": "size", "T": "rounds"}

    def init(self, ctx, oracles, start):
        return State(ctx.everywhere(start))

    def anywhere(self, ctx, oracles, start, own):
        return State(ctx.everywhere(start))

    def step(self, ctx, oracles, state):
        return State(state.w - self.size * oracles.field_grad(state.w, None))


def test_a_parameter_of_a_base_class_is_one():
    assert Inherits(size=0.25).values() == {"local_steps": 1, "size": 0.25}
    claim = stated(
        lambda c: c.R**2 * (1 - c.eta) ** 0,
        lambda view: each("round", "local_step", sq(view.mean("w") - view.minimiser)),
        method=Inherits(),
    )
    assert row_of(claim).verdict is Verdict.SUPPORTED


class Carrying(NamedTuple):
    w: Tensor
    weights: Tensor


@algorithm(name="carrying", source="tests", statement="x")
class Carries(Inherits):
    """Has a tensor of plain numbers in its state."""

    def init(self, ctx, oracles, start):
        return Carrying(ctx.everywhere(start), torch.full((1, 1, 1), 0.5, dtype=torch.float64))

    def anywhere(self, ctx, oracles, start, own):
        return self.init(ctx, oracles, start)

    def step(self, ctx, oracles, state):
        return state._replace(w=state.w - state.weights * oracles.field_grad(state.w, None))


def test_a_limit_of_a_state_with_plain_numbers():
    def off(view):
        return (
            each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None
        )

    cases = over([smooth_strongly_convex(L=1, mu=0.1)], Carries(), clients=1)
    claim = limit(name="mine/carries", source="tests", statement="x", classes=cases)(off)
    assert row_of(claim).verdict is Verdict.SUPPORTED
