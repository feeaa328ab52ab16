"""Negative controls of the judges themselves: algebra, certified numbers, rates."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
import sympy

from driftproof.synthetic.problems import BoundedComposition, StuckEstimator
from driftproof.toolkit.algorithms import ComFedL
from driftproof.toolkit.cases import Assumption, Case
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run_exactly
from driftproof.toolkit.measure import average, sq
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers.algebra.symbolic import (
    computed,
    convex_with_minimum,
    nonnegative,
    vanishes,
)
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.judges import comparisons, proofs
from driftproof.verifiers.judges.comparisons import maximum_over_simplex
from driftproof.verifiers.judges.decide import Comparisons, Interval, decide
from driftproof.verifiers.judges.judge import Judge, pack_rows
from driftproof.verifiers.judges.rows import row_of
from driftproof.verifiers.verify import Settings
from driftproof.verifiers.verify import judge as verdicts
from tests import judges, mutation
from tests.calibration.rates import line
from tests.test_claims import make

x, y = sympy.symbols("x y", positive=True)
n = sympy.Symbol("n", positive=True, integer=True)


def test_algebra_decides_identities_and_gives_witnesses():
    assert vanishes((x + y) ** 2 - x**2 - 2 * x * y - y**2, "").holds is True
    wrong = vanishes(sympy.log(x * y) - sympy.log(x), "")
    assert wrong.holds is False
    assert "the sides differ by" in wrong.why
    assert "n = 2" in vanishes(1 / n - 1, "").why
    # one millionth is a difference, whatever the size of the rest
    assert vanishes(x * (1 + sympy.Rational(1, 10**6)) - x, "").holds is False


def test_algebra_decides_signs_and_gives_witnesses():
    assert nonnegative(x**2 + y, "").holds is True
    assert nonnegative((x - y) ** 2, "").holds is True
    refused = nonnegative(x - y, "")
    assert refused.holds is False
    assert "below 0" in refused.why
    assert nonnegative(1 - sympy.exp(-x) - x + x**2 / 2, "").holds is None  # true, but not seen
    assert convex_with_minimum(x * sympy.log(x) - x + 1, x, 1, 0, "").holds is True
    assert convex_with_minimum(x * sympy.log(x) - x, x, 1, 0, "").holds is False
    assert convex_with_minimum(x * sympy.log(x) - x + 1, x, 2, 0, "").holds is None


@pytest.mark.parametrize("points", [2, 3, 8])
def test_a_fitted_line_is_the_one_of_a_library(points):
    x, y = np.random.default_rng(points).normal(size=(2, points))
    slope, half = line(x, y)
    fit = scipy.stats.linregress(x, y)
    student = scipy.stats.t.ppf(0.975, max(1, points - 2))
    np.testing.assert_allclose([slope, half], [fit.slope, fit.stderr * student], rtol=1e-9)


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        ([True, True], Verdict.SUPPORTED),
        ([True, None], Verdict.INCONCLUSIVE),
        ([None, False], Verdict.REFUTED),
    ],
)
def test_a_proof_is_as_good_as_its_worst_step(holds, verdict):
    claim = leaves("claim")["comfedl/lemma-1-proof-v1"].load()
    row = proofs.judge(claim, claim.forms[0], [computed("s", h, "w") for h in holds])
    assert row.verdict is verdict
    assert verdict is Verdict.SUPPORTED or "of 2 of the check" in row.reason


def test_steps_may_say_nothing_where_cases_decide_and_only_there():
    on_cases = make(prove=lambda right: [])
    (row,) = verdicts([on_cases], Settings())
    assert row.case["key"] == on_cases.cases[0].key
    alone = proof(name="own/empty", source="–", statement="x", right=1)(lambda right: [])
    with pytest.raises(DriftproofError, match="returned no steps"):
        verdicts([alone], Settings())


@pytest.mark.parametrize(
    ("low", "high", "value", "verdict"),
    [
        (1.0, 1.0, 1.0, Verdict.SUPPORTED),
        (1.0, 1.0, 1.0 + 1e-7, Verdict.SUPPORTED),  # within the margin, 1e-6
        (1.0, 1.0, 1.0 + 2e-6, Verdict.REFUTED),
        (1.0, 1.0, 1.0 - 2e-6, Verdict.REFUTED),
        (0.9, 1.1, 1.0, Verdict.INCONCLUSIVE),
    ],
)
def test_an_identity_is_judged_by_its_enclosure(low, high, value, verdict):
    claim = leaves("claim")["comfedl/lemma-1"].load()
    compared = [Comparison("good", 2.0, 2.0, 2.0), Comparison("shown", low, high, value)]
    row = comparisons.judge(claim, claim.cases[0], claim.forms[0], compared)
    assert row.verdict is verdict


@pytest.mark.parametrize("mass", [0.0, 0.5, 1.0, 2.0])
def test_the_maximum_over_a_scaled_simplex_is_its_closed_form(mass):
    """Two routes beside weak duality: cvxpy, and mass·γ(log mean exp(f/γ) − log mass)."""
    import cvxpy as cp

    losses, gamma = np.array([0.3, 1.2, -0.4]), 0.7
    r = cp.Variable(3, nonneg=True)
    entropy = cp.sum(cp.entr(r)) - np.log(3) * cp.sum(r)
    found = cp.Problem(cp.Maximize(losses @ r + gamma * entropy), [cp.sum(r) == mass]).solve()
    low, high = maximum_over_simplex(losses, gamma, mass)
    exact = 0.0
    if mass:
        exact = mass * gamma * (np.log(np.mean(np.exp(losses / gamma))) - np.log(mass))
    assert low - 1e-12 <= exact <= high + 1e-12
    assert found == pytest.approx(exact, abs=1e-6)
    assert high - low < 1e-12


def left(view):
    return average("round", sq(view.gradient(view.round_start("w"))))


@pytest.mark.parametrize("steps", [64, 256, 1024])
def test_the_floors_of_the_remarks_hold_on_the_runs_that_they_name(steps):
    eta = steps**-0.5
    huber = BoundedComposition(clients=1, distance=2.0)  # G = δ = 1, D = 2
    made = run_exactly(
        huber, ComFedL(local_steps=2, step_size=eta), rounds=steps // 2, left=left, limit=4
    )
    floors = leaves("claim")["comfedl/remark-1"].load().floors
    horizon = sympy.Symbol("T", positive=True)
    stated = [floor.value({"eta": eta, "b": 1}).subs(horizon, steps) for floor in floors]
    assert stated[0] == pytest.approx(1 / (steps * eta))
    assert made.values[0, 0] >= stated[0]
    stuck = Case(StuckEstimator(), ComFedL(step_size=eta), 5)
    made = run_exactly(stuck.problem, stuck.algorithm, rounds=5, left=left, limit=64)
    assert made.values[0] @ made.weights == pytest.approx(float(stated[1])) == 1.0


def test_the_judges_of_the_mutation_run_are_there_and_have_changes():
    for path in judges.MODULES:
        assert next(mutation.changes(path), None) is not None, path
    for name in judges.TESTS:
        assert (judges.ROOT / "tests" / f"test_{name}.py").is_file(), name


def test_a_way_of_judging_is_a_file_and_a_line(monkeypatch):
    """The file has a JUDGE, the line is that by which a claim lists it; all else follows."""

    def looked_up(claim, task):
        _, form = task.of(claim)
        made = decide(Comparisons(Interval(1, 1), Interval(form.right, form.right)))
        case = {"key": "table", "label": "a table of values"}
        return pack_rows([row_of(claim, form, case, made, Evidence.EXACT)])

    class LookedUp(Judge):
        task = staticmethod(looked_up)

    monkeypatch.setitem(
        sys.modules, "driftproof.verifiers.judges.looked_up", SimpleNamespace(JUDGE=LookedUp())
    )

    @dataclass(frozen=True, kw_only=True, eq=False)
    class TableClaim(Claim):
        kinds = ("bound",)
        judges = ("looked_up",)

    cases = [Case(BoundedComposition(), ComFedL(), 1)]
    for right, verdict in ((2, "SUPPORTED"), (0.5, "REFUTED")):
        made = TableClaim(name="a/b", source="s", statement="x", cases=cases, right=right)
        (row,) = verdicts([made], Settings())
        assert (row.verdict, row.evidence, row.case["key"]) == (verdict, "exact", "table")
    unmet = Assumption("few", "", relation=lambda c: c.eta < 0)
    made = TableClaim(
        name="a/b",
        source="s",
        statement="x",
        cases=cases,
        right=0.5,
        assumes=[unmet],
        letters={"eta": "step_size"},
    )
    (row,) = verdicts([made], Settings())  # the judge cannot forget to ask
    assert (row.verdict, row.evidence) == ("INAPPLICABLE", None)
    assert row.reason.startswith("few")
