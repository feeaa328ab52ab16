"""Foreseeable mistakes in users' claims and problems: each is told, and none makes a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import driftproof as dp
from driftproof import Assumption, assert_claim, assert_holds, bound, each, smallest, sq
from driftproof.algorithms import FedAvg
from driftproof.classes import convex, over, plus, smooth_convex, start_within
from driftproof.problems import KLDRO
from driftproof.starts.minimax import Saddle, saddle
from driftproof.synthetic.audit.problem import check_losses
from driftproof.toolkit.constants import Letters, stated
from driftproof.toolkit.draws import SignMean
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.judges import at_numbers, worst_cases
from driftproof.verifiers.judges.attacked import exceeded
from driftproof.verifiers.verify import Settings, judge
from tests.users import UsersQuadratic

ONE_RUN = dp.grid(UsersQuadratic(), FedAvg(), rounds=1)
CASES = over([smooth_convex(L=1), start_within(R=1)], FedAvg(step_size=0.5), clients=1)


def claim(right=lambda c: 1, *, cases=CASES, left=None, **more):
    def gap(view):
        return each("round", view.gap(view.mean("w")))

    return bound(name="x/y", source="x", statement="x", classes=cases, right=right, **more)(
        left or gap
    )


def rows_of(made):
    return list(judge([made], Settings(profile="quick")))


LETTERS = {"eta": "step_size", "L": "objective_smoothness"}
EQUALITIES = {
    "a letter and a number": lambda c: 1 if c.eta == 1 else 2,
    "a number and a letter": lambda c: 1 if 1 == c.eta else 2,  # noqa: SIM300
    "sympy's number and a letter": lambda c: 1 if sympy.Integer(1) == c.eta else 2,
    "a formula": lambda c: 1 if 2 * c.eta == 1 / c.L else 2,
    "unequal": lambda c: 1 if c.eta != 1 else 2,
    "among": lambda c: 1 if c.eta in (1, 2) else 2,
    "beside another comparison": lambda c: (c.eta == 1) | (c.eta < 1),
}


@pytest.mark.parametrize("which", EQUALITIES)
def test_whether_letters_are_equal_is_not_decided_before_they_have_numbers(which):
    with pytest.raises(DriftproofError, match="which is decided before"):
        stated(EQUALITIES[which], Letters(LETTERS))


def test_sympy_compares_as_before_in_and_after_a_formula():
    x = sympy.Symbol("x")
    made = stated(lambda c: sympy.Max(c.eta, c.eta * (c.L + 1) - c.eta * c.L), Letters(LETTERS))
    assert sorted(map(str, made.free_symbols)) == ["L", "eta"]
    assert sympy.Symbol("x") == x
    assert x != 1
    with pytest.raises(ZeroDivisionError):
        stated(lambda c: 1 / 0, Letters(LETTERS))
    assert x == sympy.Symbol("x")


@pytest.mark.parametrize("again", [None, each("round", torch.ones(1), more=torch.ones(1))])
def test_a_measure_says_the_same_when_it_is_asked_again(again):
    said = iter([each("round", torch.ones(1)), *[again] * 100])
    cases = dp.grid(UsersQuadratic(), FedAvg(), rounds=1)
    of = bound(name="x/y", source="x", statement="x", right=lambda c: 1, cases=cases)
    made = of(lambda view: next(said))
    with pytest.raises(DriftproofError, match="another value when it was called again"):
        rows_of(made)


def test_a_right_side_says_the_same_when_it_is_asked_again():
    count = iter(range(10))
    with pytest.raises(DriftproofError, match="when it was called again"):
        stated(lambda c: c.eta + next(count), Letters(LETTERS))


@pytest.mark.parametrize("where", ["right", "assumes"])
def test_a_claim_with_such_an_equality_has_no_verdict(where):
    equal = lambda c: c.eta == Fraction(1, 2)  # noqa: E731
    given = {"assumes": [Assumption("a step", "x", relation=equal)]} if where == "assumes" else {}
    right = (lambda c: 0 if c.eta == 1 else 1) if where == "right" else lambda c: 1
    with pytest.raises(DriftproofError, match="which is decided before"):
        rows_of(claim(right, **given))


CHOICES = {
    "a set": lambda c: 5 if c.eta in {0.5} else 1,
    "a table": lambda c: {0.5: 5}.get(c.eta, 1),
    "its name": lambda c: 5 if str(c.eta) == "eta" else 1,
    "its type": lambda c: 1 if getattr(c.eta, "is_number", True) else 5,
}


@pytest.mark.parametrize("which", CHOICES)
@pytest.mark.parametrize("where", ["class", "case"])
def test_a_right_side_that_chooses_by_a_letter_has_no_verdict(which, where):
    """What is judged is a formula, and the text has to give its value on each case."""
    method = FedAvg(step_size=0.5)
    cases = CASES if where == "class" else dp.grid(UsersQuadratic(), method, rounds=1)
    made = (
        claim(CHOICES[which], cases=cases)
        if where == "class"
        else bound(name="x/y", source="x", statement="x", cases=cases, right=CHOICES[which])(
            lambda view: each("round", sq(view.mean("w")))
        )
    )
    with pytest.raises(DriftproofError, match="what it says of letters"):
        rows_of(made)


def test_a_relation_that_chooses_by_a_letter_has_no_verdict():
    assumes = [Assumption("few steps", "x", relation=lambda c: c.eta not in {0.5})]
    with pytest.raises(DriftproofError, match=r"'few steps' is False of .*, is True"):
        rows_of(claim(assumes=assumes))


@settings(max_examples=50)
@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_formulas_give_their_own_values_however_much_cancels(eta, L):
    def right(c):
        lost = 1 / (sympy.sqrt(1 + c.eta * c.L / 10**5) - 1)
        return (1 - c.eta * c.L) ** 2 + (c.eta + 1e3) - c.eta - 1e3 + sympy.Max(c.eta, 0.1) + lost

    method, cases = FedAvg(step_size=eta), [smooth_convex(L=L), start_within(R=1)]
    made = claim(right, cases=over(cases, method, clients=1))
    at_numbers.check(made, made.forms[0], made.classes[0])


@dataclass(frozen=True)
class Odd(SignMean):
    chances: tuple[float, ...] = (0.5, 0.6)

    def support(self, client):
        return np.array([-1.0, 1.0]), np.array(self.chances)


class State(NamedTuple):
    w: Tensor


@dp.algorithm(name="user/odd-draws", source="x", statement="x")
class OddDraws(dp.Algorithm):
    """Draws by a law that is none."""

    step_size: dp.Positive = 0.5
    local_steps: dp.One = 1
    chances = (0.5, 0.6)
    needs, iterate = "field", "w"

    def init(self, ctx, oracles, start):
        return State(ctx.everywhere(start))

    def step(self, ctx, oracles, state):
        sign = ctx.draw(Odd(1, (1,), self.chances), "sign")
        return State(state.w - self.step_size * (1 + 0 * sign) * oracles.field_grad(state.w, None))


@pytest.mark.parametrize("chances", [(0.5, 0.6), (1.5, -0.5)])
@pytest.mark.parametrize("cases", ["class", "case"])
def test_probabilities_are_some_wherever_they_are_drawn(chances, cases):
    method = type("OtherDraws", (OddDraws,), {"chances": chances})()
    if cases == "class":
        made = claim(cases=over([smooth_convex(L=1), start_within(R=1)], method, clients=1))
    else:
        made = bound(
            name="x/y",
            source="x",
            statement="x",
            right=lambda c: 100,
            cases=dp.grid(UsersQuadratic(), method, rounds=1),
        )(lambda view: each("round", sq(view.mean("w"))))
    with pytest.raises(DriftproofError, match="in all 1"):
        rows_of(made)


@dp.algorithm(name="user/some-draws", source="x", statement="x")
class SomeDraws(OddDraws):
    """Draws a second sign where the first is 1."""

    def step(self, ctx, oracles, state):
        sign = ctx.draw(SignMean(1, (1,)), "sign")
        if bool((sign > 0).any()):
            sign = sign + ctx.draw(SignMean(1, (1,)), "again")
        return State(state.w - self.step_size * sign * oracles.field_grad(state.w, None))


def test_what_is_drawn_after_some_outcomes_alone_is_named():
    made = bound(
        name="x/y",
        source="x",
        statement="x",
        right=lambda c: 100,
        cases=dp.grid(UsersQuadratic(), SomeDraws(), rounds=1),
    )(lambda view: each("round", sq(view.mean("w"))))
    with pytest.raises(DriftproofError, match="the draw 'again'"):
        rows_of(made)


class Minimum(Saddle):
    """lower_solution is where f(x, ·) is least, and not largest."""

    def oracles(self, dtype, device="cpu", clients=None):
        data = [(torch.tensor([self.slope]), torch.tensor([self.ridge]))] * self.clients
        return dp.AutogradMinimax(
            lambda x, y, sample: -saddle(x, y, sample),
            data=data,
            upper_dim=1,
            clients=clients,
            dtype=dtype,
            device=device,
        )


def test_a_stationary_point_of_the_lower_level_that_is_no_minimum_is_told():
    x = torch.ones(1, 1, dtype=torch.float64)
    assert Saddle().gradient(x).tolist() == [[1.5]]
    with pytest.raises(DriftproofError, match="eigenvalue"):
        Minimum().gradient(x)


@dp.problem(name="wide", source="x", statement="x")
class Wide(Saddle):
    upper_dim: dp.PositiveInt = 1


def test_the_dimensions_of_a_bilevel_problem_are_compared_where_it_is_built():
    assert Wide().dim == 1
    assert Wide(upper_dim=dp.sweep(1, 2)).swept()
    with pytest.raises(DriftproofError, match=r"dim = 1\n.*dim equal to upper_dim = 2"):
        Wide(upper_dim=2)


def test_data_that_oracles_make_are_of_the_dtype_that_is_asked_for():
    made = {}

    class Own(UsersQuadratic):
        def oracles(self, dtype, device="cpu", clients=None):
            made[dtype] = torch.tensor([0.1])
            return super().oracles(dtype, device, clients)

    for dtype in (torch.float64, torch.float32):
        Own().oracles(dtype)
        assert made[dtype].dtype == dtype
    assert torch.get_default_dtype() == torch.float32
    assert float(made[torch.float64]) == 0.1


def test_the_smallest_of_what_a_run_reached_refutes_nothing_if_it_left_the_numbers():
    far = FedAvg(step_size=1e30, local_steps=1)
    made = bound(
        name="x/y",
        source="x",
        statement="x",
        right=lambda c: 1e-3,
        cases=dp.grid(UsersQuadratic(), far, rounds=20),
    )(lambda view: smallest("round", sq(view.mean("w"))))
    (row,) = [row for row in rows_of(made) if row.form == "printed"]
    assert row.verdict is Verdict.INCONCLUSIVE, row.reason


def test_a_proof_has_exact_numbers_and_expressions():
    x = sympy.Symbol("x", positive=True)
    with pytest.raises(DriftproofError, match=r"write sympy.Rational\(1, 10\)"):
        dp.vanishes(0.1 * x + 0.2 * x - 0.3 * x, "x")
    with pytest.raises(DriftproofError, match="pass left - right"):
        dp.vanishes(sympy.Eq(x, x + 1), "x")
    with pytest.raises(DriftproofError, match="floating-point"):
        dp.nonnegative(x**2 + 1e-17, "x")
    assert dp.vanishes(0.5 * x - x / 2, "x").holds
    assert dp.vanishes(x / 18 - (1 / 18) * x, "x").holds
    assert dp.vanishes(0.1 * x - x / 11, "x").holds is False
    assert dp.nonnegative((0.25 * x - 1) ** 2, "x").holds


@pytest.mark.parametrize(
    "number", [Fraction(1, 4), sympy.Rational(1, 4), torch.tensor(0.25), np.float32(0.25)]
)
def test_a_comparison_takes_any_number(number):
    made = Comparison("x", number, number, number)
    assert (made.low, made.high, made.value) == (0.25, 0.25, 0.25)
    assert (made.apart, made.size) == (0, 0.25)


@pytest.mark.parametrize("odd", [sympy.Symbol("x"), torch.ones(2), "x", None])
def test_a_comparison_of_what_is_no_number_is_told(odd):
    with pytest.raises(DriftproofError, match="a number"):
        Comparison("x", odd, 0, 0)


def comparing(make):
    """Return a comparison of what ``make`` returns."""
    cases = dp.grid(UsersQuadratic(), FedAvg(), rounds=1)
    of = dp.comparison(name="x/y", source="x", statement="x", right=0, cases=cases)
    return of(lambda case, right: make())


@pytest.mark.parametrize("returned", [Comparison("x", 0, 0, 0), [1.0], 3, "x", None])
def test_a_comparison_that_returns_no_list_of_them_is_told(returned):
    made = comparing(lambda: returned)
    with pytest.raises(DriftproofError, match="compar"):
        rows_of(made)


def test_a_generator_of_comparisons_is_a_list_of_them():
    made = comparing(lambda: (Comparison("x", k, k, k) for k in range(3)))
    assert {row.verdict for row in rows_of(made)} == {Verdict.SUPPORTED}


def test_one_claim_and_one_case_are_asserted():
    one = claim()
    with pytest.raises(DriftproofError, match="one claim"):
        assert_claim([one])
    with pytest.raises(DriftproofError, match="one case"):
        assert_holds(one, CASES)


@pytest.mark.parametrize("number", [np.float64(0.5), np.float32(0.5), np.int64(1)])
def test_parameters_are_numbers_as_python_has_them(number):
    method = FedAvg(step_size=number)
    assert type(method.step_size) in (float, int)
    cases = over([smooth_convex(L=1), start_within(R=1)], method, clients=1)
    assert {row.verdict for row in rows_of(claim(cases=cases))} == {Verdict.SUPPORTED}


@dp.algorithm(name="user/counts", source="x", statement="x")
class Counts(OddDraws):
    """Keeps a number in its state."""

    def init(self, ctx, oracles, start):
        return Counted(ctx.everywhere(start), 0)


class Counted(NamedTuple):
    w: Tensor
    k: int


def test_a_state_of_anything_but_tensors_is_told_over_a_class_too():
    cases = over([smooth_convex(L=1), start_within(R=1)], Counts(), clients=1)
    with pytest.raises(DriftproofError, match=r"init of Counts returned a state whose field 'k'"):
        rows_of(claim(cases=cases))


@pytest.mark.parametrize("change", [math.sqrt, float, int, round])
def test_a_hyper_parameter_is_an_exact_number_over_a_class(change):
    @dp.algorithm(name="user/changed", source="x", statement="x")
    class Changed(OddDraws):
        def step(self, ctx, oracles, state):
            return State(state.w - change(self.step_size) * oracles.field_grad(state.w, None))

    cases = over([smooth_convex(L=1), start_within(R=1)], Changed(), clients=1)
    (row,) = [row for row in rows_of(claim(cases=cases)) if row.form == "printed"]
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "hyper-parameter" in row.reason


def test_a_measure_may_speak_of_one_middle_round_and_in_numpys_words():
    def middle(view):
        away = view.mean("w") - view.minimiser
        return each("round", (away * away).sum(axis=0)) if view.round == 2 else None

    cases = over([smooth_convex(L=1), start_within(R=1)], FedAvg(step_size=0.5), rounds=5)
    (row,) = [row for row in rows_of(claim(cases=cases, left=middle)) if row.form == "printed"]
    assert row.verdict is Verdict.SUPPORTED, row.reason


def test_a_measure_before_rounds_that_waits_for_the_last_step_is_told_before_a_run():
    def last(view):
        return each("round", sq(view.mean("w") - view.minimiser)) if view.last else None

    with pytest.raises(DriftproofError, match="gave no value at any moment"):
        rows_of(claim(left=last))


def test_a_constant_of_a_class_is_finite():
    with pytest.raises(DriftproofError, match="finite"):
        start_within(R=math.inf)


class Steep(UsersQuadratic):
    """Declares a gradient at the start that is too small."""

    @property
    def constants(self):
        return {**super().constants, "initial_gradient": 1e-6}


def test_a_constant_of_the_start_is_looked_at():
    case = dp.grid(Steep(), FedAvg(), rounds=1)[0]
    assert "initial_gradient is declared" in exceeded(case).exceeded["initial_gradient"]


class Doubled(KLDRO):
    """Gives twice the losses that its gradients are of."""

    def oracles(self, dtype, device="cpu", clients=None):
        made = super().oracles(dtype, device, clients)
        loss = made.mean_loss
        made.mean_loss = lambda x: 2 * loss(x)
        return made


def test_clients_gradients_are_those_of_their_losses():
    given = next(of.values() for of in KLDRO.examples() if "losses" in OFFERS[of.offers])
    check_losses(KLDRO(**given))
    with pytest.raises(DriftproofError, match="mean_loss rises by"):
        check_losses(Doubled(**given))


def test_pytest_looks_at_a_file_that_it_is_given_whatever_it_imports(tmp_path):
    (tmp_path / "kept.py").write_text(
        "from driftproof import bound, each\nfrom driftproof.classes import *\n"
        "from driftproof.algorithms import FedAvg\n",
        encoding="utf-8",
    )
    (tmp_path / "mine.py").write_text(
        'from kept import *\n\n@bound(name="mine/one", source="x", statement="x",\n'
        "       classes=over([smooth_convex(L=1), start_within(R=1)], FedAvg(step_size=0.5)),\n"
        "       right=lambda c: 1)\ndef one(view):\n"
        '    return each("round", view.gap(view.mean("w")))\n',
        encoding="utf-8",
    )
    import subprocess
    import sys

    made = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--driftproof", "mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in made.stdout, made.stdout + made.stderr


@pytest.mark.parametrize("needs", ["proximal", "implicit"])
@pytest.mark.parametrize("asks", ["unnamed", "named"])
def test_an_implicit_step_is_of_the_function_that_its_method_means(needs, asks):
    @dp.algorithm(name="user/implicit", source="x", statement="x")
    class Implicit(OddDraws):
        def step(self, ctx, oracles, state):
            if asks == "named":
                return State(oracles.at(0).prox(state.w, 1.0))
            moved = oracles.prox(state.w, 1.0)
            return State(moved - 0 * oracles.field_grad(state.w, None))

    Implicit.needs = needs
    for term in (False, True):
        parts = [smooth_convex(L=1), start_within(R=1), *([plus(convex())] if term else [])]
        made = claim(cases=over(parts, Implicit(), clients=1), left=moved)
        if asks == "unnamed" and term is (needs == "implicit"):
            with pytest.raises(DriftproofError, match="implicit step of"):
                rows_of(made)
        else:
            (row,) = rows_of(made)
            assert row.verdict in (Verdict.SUPPORTED, Verdict.INCONCLUSIVE), row.reason


def moved(view):
    return each("transition", sq(view.mean("w") - view.before.w.mean(0)) / 10**6)


def test_a_choice_behind_what_cancels_has_no_verdict():
    """(B + 1)² − B² − 2B is 1, and hid that the text said 6: a true 3 ≤ 6 was refuted."""

    def right(c):
        big = c.L * 10**9
        cancels = (big + 1) ** 2 - big**2 - 2 * big
        return cancels + (5 if str(c.eta) == "0.3" else 0)

    made = claim(
        right, cases=over([smooth_convex(L=1.5), start_within(R=1)], FedAvg(step_size=0.3))
    )
    with pytest.raises(DriftproofError, match="choose by no letter"):
        at_numbers.check(made, made.forms[0], made.classes[0])


def test_numbers_of_a_right_side_keep_their_digits_and_others_are_told():
    """sympy shows a double with 15 digits, which were read back: 10¹⁵ was judged in its place."""
    L, R = Fraction("999999999999999.625"), Fraction("999999999999999.5")
    case = over([smooth_convex(L=1), start_within(R=1)], FedAvg(step_size=1 - 1 / 3))
    made = claim(lambda c: float(L) * c.L - sympy.Rational(R) * c.R**2, cases=case)
    right = worst_cases.right_side(made, made.classes[0], made.forms[0])
    assert right.low == right.high == L - R
    third = claim(lambda c: (1 - 1 / 3) * c.R**2 + c.R**2, cases=case)
    assert worst_cases.right_side(third, third.classes[0], third.forms[0]).low == Fraction(5, 3)
    (row,) = rows_of(third)
    assert row.verdict is Verdict.SUPPORTED
    assert "0.6666666666666667 is read as 2/3" in row.reason
