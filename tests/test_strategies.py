"""Theorem checks for users' tests: strategies, ``assert_holds``, a search, the plugin of pytest."""

import json
import math
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import cma  # noqa: F401 - as sympy
import numpy as np
import pytest
import sympy  # noqa: F401 - what pytester's runs import first, it forgets: classes would be twice
import torch
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from driftproof import Assumption, Case, DriftproofError, assert_claim, assert_holds, bound, grid
from driftproof.algorithms import ComFedL, FedAvg, FedNest, LocalSCGDM
from driftproof.problems import (
    BoundedComposition,
    PiecewiseBilevel,
    PiecewiseComposition,
    PiecewiseLosses,
    PiecewiseMinimax,
)
from driftproof.strategies import hyperparameters, instances, problems
from driftproof.toolkit.case_text import case_of, expression
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.measure import each, sq
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.parameters import constraints, sweep
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers import asserting
from driftproof.verifiers.search.inside import is_inside, moved_inside
from driftproof.verifiers.search.members import CLIENTS, DIMENSIONS
from driftproof.verifiers.search.strategies import examples_of

pytest_plugins = ["pytester"]
FEW = settings(max_examples=15, database=None, suppress_health_check=[HealthCheck.too_slow])
PLUGIN = ("-p", "no:driftproof", "-p", "driftproof.pytest_plugin", "-p", "no:cacheprovider")
"""The plugin by its file, whether or not the package is installed with its entry point."""
CONVEX = Assumption("strong convexity", r"\mu > 0", roles=("strong_convexity",))
SMALL = Assumption("step size", r"\eta \le 1/\ell", relation=lambda c: c.eta <= 1 / c.ell)
PLAIN = Assumption(
    "gradient descent",
    "one step, without noise",
    applies=lambda case: (
        case.algorithm.local_steps == 1
        and case.algorithm.participation == 1.0
        and case.problem.noise == 0
    ),
)


def drift(power=2, local_steps=1, step_size=0.1):
    """Return ‖w̄_{s,t} − w̄_s‖² ≤ τ^power η² G_f² G_g²: true for 2, false for 1."""

    @bound(
        name="mine/drift",
        source="a test",
        statement="s",
        right=lambda c: c.tau**power * c.eta**2 * c.G_f**2 * c.G_g**2,
        cases=grid(
            BoundedComposition(clients=sweep(8, 2), distance=20.0),
            ComFedL(local_steps=local_steps, step_size=step_size),
            rounds=5,
        ),
    )
    def drift(view):
        return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))

    return drift


def descent(factor=1.0):
    """Return ‖w̄ − x*‖² ≤ factor·(2/μ)(F(x_0) − F*) of gradient descent: true for 1."""

    @bound(
        name="mine/descent",
        source="a test",
        statement="s",
        assumes=[CONVEX, SMALL, PLAIN],
        right=lambda c: factor * 2 * c.F_gap / c.mu,
        cases=grid(PiecewiseLosses(tails="linear"), FedAvg(step_size=0.1), rounds=3),
    )
    def descent(view):
        optimum = view.problem.solution.minimiser
        return each("round", sq(view.mean("w") - view.mean("w").new_tensor(optimum)[:, None]))

    return descent


def falsified(claim, examples=100):
    """Return the simplest case on which a ``@given`` test fails, the last, and what it says."""
    drawn = []

    @settings(max_examples=examples, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(instances(claim))
    def test(case):
        drawn.append(case)
        assert_holds(claim, case)

    with pytest.raises(AssertionError) as failed:
        test()
    return drawn[-1], str(failed.value)


def numbers_in(value):
    """Return how many numbers there are in what differs from the defaults."""
    if isinstance(value, dict):
        return sum(map(numbers_in, value.values()))
    return sum(map(numbers_in, value)) if isinstance(value, tuple) else 1


OWN = {"drift": drift(), "descent": descent()}


@pytest.mark.parametrize(
    "name", ["drift", "descent", "comfedl/lemma-3", "scgdm/lemma-4.1", "comfedl/equation-8"]
)
def test_drawn_instances_meet_the_assumptions(name):
    claim = OWN[name] if name in OWN else leaves("claim")[name].load()
    families = set()

    @FEW
    @given(instances(claim))
    def drawn(case):
        families.add(type(case.problem))
        with suppress(AssertionError):  # a refutation is a verdict too
            assert_holds(claim, case, profile="smoke")  # an error where nothing applies

    drawn()
    piecewise = {PiecewiseComposition, PiecewiseLosses} & families
    assert bool(piecewise) == (name != "comfedl/equation-8")


def test_a_false_claim_is_falsified_and_shrinks_to_a_simple_case():
    case, told = falsified(drift(power=1))
    assert case.problem.clients == 1
    assert case.rounds == 1
    assert case.algorithm.local_steps == 2
    assert numbers_in(case.problem.changed() | case.algorithm.changed()) <= 2
    assert "printed: REFUTED" in told
    assert f"assert_holds(drift, {expression(case)})" in told


def test_the_case_that_falsifies_keeps_to_assumptions_that_few_members_meet():
    claim = descent(0.01)
    case, _ = falsified(claim)
    assert is_inside(claim, claim.forms[0], case)
    assert case.problem.constants["strong_convexity"] > 0
    assert case.problem.clients <= 2
    assert numbers_in(case.problem.changed() | case.algorithm.changed()) <= 4


@pytest.mark.parametrize("claim", [drift(), descent()], ids=["drift", "descent"])
def test_a_true_claim_is_not_falsified(claim):
    @FEW
    @given(instances(claim))
    def test(case):
        assert_holds(claim, case)

    test()


def test_the_simplest_case_has_one_client_one_round_and_the_defaults():
    case = find(instances(drift()), lambda case: True)
    assert expression(case) == "Case(PiecewiseComposition(clients=1), ComFedL(), rounds=1)"


@pytest.mark.parametrize("kind", ["field", "composition", "minimax", "bilevel"])
def test_members_are_of_their_kind_and_bounded_below(kind):
    @settings(FEW, max_examples=60)
    @given(problems(kind))
    def drawn(member):
        assert kind in OFFERS[member.offers]
        assert member.clients <= CLIENTS
        assert member.dim <= DIMENSIONS
        assert math.isfinite(member.solution.low)
        assert 0 <= member.initial_gap[1] < math.inf
        assert eval(expression(Case(member)), vars(sys.modules[__name__])) == Case(member)

    drawn()


def test_members_bend_against_each_other_and_have_noise():
    """What counterexamples need is drawn: opposite curvature, rare noise, tails that are linear."""
    compositions, losses = [], []

    @settings(FEW, max_examples=100)
    @given(problems("composition"), problems("field"))
    def drawn(composition, loss):
        compositions.append(composition)
        losses.append(loss)

    drawn()
    assert any(len(set(p.inner)) > 1 and len(set(p.outer)) > 1 for p in compositions)
    assert any(p.value_noise > 0 for p in compositions)
    assert any(p.averaged_inside and p.plain for p in compositions)
    assert any(p.rare < 0.1 for p in compositions)
    strong = [p for p in losses if p.gradients and p.tails == "linear"]
    assert strong
    assert all(p.constants["strong_convexity"] > 0 for p in strong)


def test_levels_bend_against_each_other_couple_and_have_noise():
    minimax, bilevel = [], []

    @settings(FEW, max_examples=100)
    @given(problems("minimax"), problems("bilevel"))
    def drawn(saddle, levels):
        minimax.append(saddle)
        bilevel.append(levels)

    drawn()
    for members, of_y in ((minimax, "lower"), (bilevel, "upper")):
        assert any(len(set(getattr(p, of_y))) > 1 for p in members)
        assert any(p.plain for p in members)
        assert any(p.x_noise > 0 and p.y_noise > 0 for p in members)
        assert any(p.x_noise > 0 and p.rare < 0.5 for p in members)
    couplings = [{np.sign(b) for row in p.coupling for b in row} for p in minimax + bilevel]
    assert {-1.0, 1.0} in couplings
    assert {"lower_hessian_smoothness" in p.constants for p in minimax} == {True, False}
    assert {"upper_gradient_bound" in p.constants for p in bilevel} == {True, False}
    assert any(p.curvature_noise > 0 and p.wave != 1 for p in bilevel)
    assert any(len(set(p.cross)) > 1 and len(set(p.curvature)) > 1 for p in bilevel)


@pytest.mark.parametrize("kind", ["minimax", "bilevel"])
def test_levels_shrink_to_one_client_and_the_defaults(kind):
    assert find(problems(kind), lambda member: True).changed() == {"clients": 1}
    uneven = find(problems(kind), lambda member: len(set(member.plain)) > 1)
    assert set(uneven.changed()) <= {"clients", "plain"}
    assert numbers_in(uneven.changed()) <= 10


@pytest.mark.parametrize("name", ["fedinn-convergence", "inner-drift-bound", "outer-drift-bound"])
def test_claims_of_two_levels_have_piecewise_instances(name):
    claim = leaves("claim")[f"fednest/{name}"].load()
    families = set()

    @settings(FEW, max_examples=30)
    @given(instances(claim))
    def drawn(case):
        families.add(type(case.problem))
        assert_holds(claim, case, profile="smoke")  # an error where nothing applies

    drawn()
    assert families >= {PiecewiseBilevel, PiecewiseMinimax}


def test_a_false_claim_of_two_levels_is_falsified_and_shrinks_to_a_simple_case():
    claim = leaves("claim")["fednest/inner-drift-bound"].load()
    linear = dict(claim.false_siblings)["linear in τ, as printed"]
    case, told = falsified(replace(claim, corrected=linear, false_siblings=()))
    assert case.problem.clients == 1
    assert case.algorithm.inner_steps == 2
    assert numbers_in(case.problem.changed() | case.algorithm.changed()) <= 5
    assert "corrected: REFUTED" in told


def test_a_kind_without_a_piecewise_family_is_an_error():
    with pytest.raises(DriftproofError, match="unknown kind of piecewise problems 'losses'"):
        problems("losses")


SEVERAL = [ComFedL, FedAvg, FedNest, LocalSCGDM]


@pytest.mark.parametrize("algorithm", SEVERAL, ids=lambda a: a.__name__)
def test_hyperparameters_are_inside_their_ranges(algorithm):
    ranges, seen = constraints(algorithm), []

    @settings(FEW, max_examples=40)
    @given(hyperparameters(algorithm))
    def drawn(method):
        seen.append(method)
        assert all(ranges[name].allows(getattr(method, name)) for name in ranges)

    drawn()
    moved = {name for method in seen for name in method.changed()}
    assert moved == set(ranges) - algorithm.fitted  # these have to fit the problem's tasks


def test_hyperparameters_of_a_member_shrink_to_its_own_values():
    shrunk = find(hyperparameters(ComFedL(step_size=0.3)), lambda method: True)
    assert shrunk == ComFedL(step_size=0.3)


def test_a_step_size_is_moved_to_the_largest_round_number_inside():
    claim = descent()
    curve = ((0.0, -3.0), (1.0, 0.0))  # of slope 3
    member = PiecewiseLosses(clients=1, gradients=((curve,),), tails="linear")
    moved = moved_inside(claim, claim.forms[0], Case(member, FedAvg(step_size=7.0), 3))
    assert moved is not None
    assert moved.algorithm.step_size == 0.3
    noisy = replace(member, noise=1.0)
    assert moved_inside(claim, claim.forms[0], Case(noisy, FedAvg(step_size=0.1), 3)) is None


def test_rates_and_proofs_have_no_instances():
    for name in ("comfedl/remark-1", "comfedl/section-3"):
        claim = leaves("claim")[name].load()
        with pytest.raises(DriftproofError, match="a @bound or a @comparison"):
            instances(claim)
        with pytest.raises(DriftproofError, match="on one case"):
            assert_holds(claim, Case(BoundedComposition(), ComFedL(), 1))


def test_a_claim_that_no_family_meets_is_an_error_that_names_the_assumption():
    impossible = Assumption("never", "0 > 1", applies=lambda case: False)
    with pytest.raises(DriftproofError, match="the judge says: never needs"):
        instances(replace(drift(), assumes=[impossible]))


def test_a_measure_that_fails_is_an_error_and_not_a_case_that_is_left_out():
    def wrong(view):
        return each("round", view.mean("w"))  # a vector, not a number

    with pytest.raises(DriftproofError, match="a value of shape"):
        instances(replace(drift(), left=wrong))


def test_a_measure_that_is_silent_on_some_cases_gets_others():
    def between(view):
        return None if view.local_step == 1 else each("round", "local_step", sq(view.mean("w")))

    claim = replace(drift(local_steps=3), left=between)

    @FEW
    @given(instances(claim))
    def drawn(case):
        assert case.algorithm.local_steps > 1

    drawn()


def test_a_case_outside_the_assumptions_is_an_error():
    case = Case(PiecewiseLosses(tails="linear"), FedAvg(step_size=5.0), rounds=3)
    with pytest.raises(DriftproofError, match="step size states eta <= 1/ell"):
        assert_holds(descent(), case)


def noisy_step(factor):
    """Return E‖w̄_1‖² ≤ factor·σ²η²/K for pure noise: true for 1."""

    @bound(
        name="mine/noise",
        source="a test",
        statement="s",
        right=lambda c: factor * c.sigma**2 * c.eta**2 * c.S / c.n,
        range=lambda c: 9 * c.sigma**2 * c.eta**2 * c.S,
        cases=grid(PiecewiseLosses(), FedAvg(), rounds=1),
    )
    def noise(view):
        return each("round", sq(view.mean("w")))

    return noise


FLAT = ((((0.0, 0.0),),),) * 7
NOISE = Case(PiecewiseLosses(clients=7, gradients=FLAT, noise=1.0), FedAvg(), rounds=9)


def test_a_sampled_refutation_is_found_again_with_fresh_draws(monkeypatch):
    seeds = []

    def judged(claims, chosen):
        seeds.append(chosen.seed)
        return judge(claims, chosen)

    judge = asserting.judge
    monkeypatch.setattr(asserting, "judge", judged)
    with pytest.raises(AssertionError, match="REFUTED"):
        assert_holds(noisy_step(0.3), NOISE)
    assert seeds == [0, asserting.FRESH]

    def lucky(claims, chosen):
        """Refute the claim with the first draws alone."""
        rows = judge(claims, chosen)
        false = {"verdict": Verdict.REFUTED, "evidence": Evidence.SEQUENTIAL}
        return [replace(row, **(false if chosen.seed == 0 else {})) for row in rows]

    monkeypatch.setattr(asserting, "judge", lucky)
    assert_holds(noisy_step(2.0), NOISE)


def test_cases_come_back_from_their_parameters():
    @FEW
    @given(instances(drift()))
    def drawn(case):
        types = [BoundedComposition, PiecewiseComposition, ComFedL]
        assert case_of(json.loads(json.dumps(case.parameters())), types) == case
        assert eval(expression(case), vars(sys.modules[__name__])) == case

    drawn()


def test_a_search_refutes_what_the_claims_own_cases_support():
    claim = drift(power=1)
    assert_claim(claim)
    with pytest.raises(AssertionError) as failed:
        assert_claim(claim, search=60)
    told = str(failed.value)
    assert "a search refuted it" in told
    call = next(line for line in told.splitlines() if "assert_holds(" in line)
    names = vars(sys.modules[__name__]) | {"drift": claim}
    with pytest.raises(AssertionError, match="is REFUTED on Case"):
        exec(call.strip(), names)


def test_a_search_leaves_a_true_claim_alone():
    assert_claim(drift(), search=1)


# -- the plugin

MINE = """
from driftproof import Letters, Reduction, Steps, bound, each, grid, sq
from driftproof.algorithms import ComFedL
from driftproof.problems import BoundedComposition


def linear(c: Letters):
    return c.tau * c.eta**2 * c.G_f**2 * c.G_g**2


def squared(c: Letters):
    return c.tau**2 * c.eta**2 * c.G_f**2 * c.G_g**2


def moved(view: Steps) -> Reduction:
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))


FAR = BoundedComposition(distance=20.0)
ONE, FIVE = (grid(FAR, ComFedL(local_steps=steps), rounds=2) for steps in (1, 5))


@bound(name="mine/true", source="s", statement="s", cases=FIVE, right=squared)
def true(view: Steps) -> Reduction:
    return moved(view)


def made(right):
    @bound(name="mine/false", source="s", statement="s", cases=FIVE, right=right)
    def within(view: Steps) -> Reduction:
        return moved(view)

    return within


false = made(linear)


@bound(name="mine/lucky", source="s", statement="s", cases=ONE, right=linear)
def lucky(view: Steps) -> Reduction:
    return moved(view)
"""


def test_the_plugin_makes_a_test_of_each_claim(pytester):
    pytester.makepyfile(mine=MINE)
    result = pytester.runpytest_inprocess(*PLUGIN, "--driftproof", "mine.py", "-v")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*mine.py::mine/true PASSED*",
            "*mine.py::mine/lucky*",
            "*mine.py::mine/false FAILED*",
            "mine/false does not hold as stated:",
            "*printed: REFUTED",
            "*left *, right *",
            "to repeat it:",
            "*from mine import false",
            "*assert_holds(false, Case(BoundedComposition(distance=20.0), ComFedL(*), rounds=2))",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "verifiers/" not in result.stdout.str()


def test_the_lines_that_repeat_a_failure_repeat_it(pytester, monkeypatch):
    pytester.makepyfile(mine=MINE)
    result = pytester.runpytest_inprocess(*PLUGIN, "--driftproof", "mine.py::mine/false")
    result.assert_outcomes(failed=1)
    lines = result.outlines[result.outlines.index("to repeat it:") + 1 :]
    # Only the lines that follow at once: pytest's own summary below quotes the whole report
    # again where the environment says CI.
    script = [line.strip() for line in takewhile(lambda line: line.startswith("    "), lines)]
    pytester.makepyfile(again="\n".join(script))
    again = subprocess.run(
        [sys.executable, "again.py"], cwd=pytester.path, capture_output=True, text=True, timeout=300
    )
    assert "AssertionError: mine/false is REFUTED on Case(" in again.stderr


def test_the_plugin_searches_where_it_is_asked_to(pytester):
    pytester.makepyfile(mine=MINE)
    result = pytester.runpytest_inprocess(
        *PLUGIN, "--driftproof", "--driftproof-search", "60", "mine.py::mine/lucky"
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*a search refuted it", "*assert_holds(lucky, Case(*"])


def test_the_plugin_tells_a_mistake_in_the_file(pytester):
    pytester.makepyfile(mine=MINE.replace("c.tau * ", "c.tua * "))
    result = pytester.runpytest_inprocess(*PLUGIN, "--driftproof", "mine.py::mine/false")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*mine.py:7: in linear*", "*wanted:*", "*remedy:*tau*"])
    assert "Traceback" not in result.stdout.str()
    nameless = MINE.replace('name="mine/true"', 'name="mine/" + "true"')
    pytester.makepyfile(nameless=nameless)
    result = pytester.runpytest_inprocess(*PLUGIN, "--driftproof", "nameless.py")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*has no literal name*"])


def test_without_its_option_the_plugin_does_nothing(pytester):
    pytester.makepyfile(mine=MINE)
    pytester.makepyfile(test_other="def test_other(): pass")
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(passed=1)


@settings(deadline=None, max_examples=25)
@given(member=problems("field"), at=st.integers(-5, 5))
def test_what_a_member_has_in_numpy_is_its_objective(member, at):
    plain, x = member.numpy(), np.full(member.dim, at / 2)
    point = torch.from_numpy(x)[:, None]
    losses = [plain.loss(i, x) for i in range(plain.clients)]
    slopes = [plain.grad(i, x) for i in range(plain.clients)]
    np.testing.assert_allclose(
        np.mean(losses), float(member.objective(point)), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        np.mean(slopes, 0), member.gradient(point)[:, 0], rtol=1e-9, atol=1e-9
    )
    assert plain.low <= plain.high
    assert plain.constants == dict(member.constants)
    with pytest.raises(DriftproofError, match="a vector of"):
        plain.loss(0, np.zeros(member.dim + 1))


@pytest.mark.parametrize("kind", ["composition", "minimax", "bilevel"])
def test_what_has_no_loss_of_each_client_is_refused(kind):
    member = examples_of(kind)[0]
    with pytest.raises(DriftproofError, match=r"clients with a loss f_i and its gradient"):
        member.numpy()


PAGE = (Path(__file__).parents[1] / "docs" / "testing.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S)


def test_benchmarks_are_where_the_clone_is(tmp_path):
    words = [sys.executable, "-m", "pytest", "--benchmark", *PLUGIN]
    made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 4
    assert made.stderr.strip().startswith("ERROR: pytest --benchmark times driftproof's kernels")
    assert made.stderr.count("\n") <= 2
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser): parser.addoption('--benchmark', action='store_true')"
    )
    made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 5  # a project's own option of that name: nothing is collected


def test_the_page_does_what_it_says(pytester):
    mine, test_mine, *others = (text for language, text in BLOCKS if language == "python")
    pytester.makepyfile(mine=mine, test_mine=test_mine, test_others="\n".join(others))
    pytester.syspathinsert()
    result = pytester.runpytest_inprocess(*PLUGIN, "--driftproof", "mine.py")
    result.assert_outcomes(passed=1)
    failed = pytester.runpytest_inprocess(*PLUGIN, "test_mine.py", "test_others.py")
    failed.assert_outcomes(failed=2, passed=3)
    (shown,) = (text for language, text in BLOCKS if language == "text")
    failed.stdout.fnmatch_lines([f"*{line.strip()}" for line in shown.splitlines()])
    told = re.findall(r"`pytest (--driftproof[^`]*)`", PAGE)
    assert len(told) == 2
    pytester.makepyfile(right=mine.replace("c.tau *", "c.tau**2 *"))  # a file is read once
    for options in told:
        quick = options.replace("30", "1").replace("mine.py", "right.py")
        pytester.runpytest_inprocess(*PLUGIN, *quick.split()).assert_outcomes(passed=1)


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


def test_neither_driftproof_nor_the_plugin_import_what_is_heavy():
    heavy = "{'torch', 'hypothesis', 'sympy', 'numpy', 'driftproof.verifiers'}"
    assert (
        python(
            "import sys, driftproof, driftproof.strategies; import driftproof.pytest_plugin; "
            f"assert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)"
        ).stderr
        == ""
    )
    asked = "from driftproof import assert_holds, assert_claim; import sys; "
    assert python(asked + "assert 'hypothesis' not in sys.modules").stderr == ""


def test_without_hypothesis_there_is_one_message_with_the_remedy():
    told = python(
        "import sys; sys.modules['hypothesis'] = None; from driftproof.strategies import instances"
    ).stderr
    assert "got:    driftproof.strategies without Hypothesis" in told
    assert "remedy: pip install hypothesis pytest" in told
    assert "During handling" not in told
