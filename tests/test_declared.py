"""What a user's problem declares is not believed: audited, attacked, and told before a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest
import sympy
import torch
from torch import Tensor

from driftproof.synthetic.audit.algorithm import audit_algorithm
from driftproof.synthetic.audit.problem import audit_problem
from driftproof.synthetic.problems import (
    BoundedComposition,
    CompositeQuadratic,
    QuadraticBilevel,
    QuadraticMinimax,
)
from driftproof.toolkit.algorithm import Algorithm, algorithm
from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.cases import Assumption, Case
from driftproof.toolkit.draws import Uniforms
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.problem import Solution, with_overrides
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.judges import attacked, audit_gate
from driftproof.verifiers.running.fingerprint import code_of
from driftproof.verifiers.verify import Settings, judge
from tests.leaves import pairs, problems
from tests.users import UsersQuadratic, convex_claim, smooth_claim


def rows(claim, **settings):
    return judge([claim], Settings(**settings))


def told(claim):
    with pytest.raises(DriftproofError) as caught:
        rows(claim)
    error = caught.value
    assert error.got
    assert error.wanted
    assert error.remedy
    return f"{error.got}; {error.wanted}; {error.remedy}"


def test_a_correct_problem_is_judged():
    (row,) = rows(smooth_claim(UsersQuadratic()))
    assert row.verdict is Verdict.SUPPORTED
    assert row.attained
    assert rows(convex_claim(UsersQuadratic()))[0].verdict is Verdict.SUPPORTED


def test_half_of_the_true_smoothness_no_longer_refutes_a_true_statement():
    (row,) = rows(smooth_claim(UsersQuadratic(declared=0.5)))
    assert row.verdict is Verdict.INAPPLICABLE
    assert "objective_smoothness is declared 1, but between x = (" in row.reason
    assert "it is 2 (Lipschitz constant of the objective's gradient)" in row.reason
    assert "and z = (" in row.reason


def test_twice_the_true_modulus_is_exceeded_from_the_other_side():
    """Believed, it would refute a true statement."""
    (row,) = rows(convex_claim(UsersQuadratic(modulus=2.0)))
    assert row.verdict is Verdict.INAPPLICABLE
    assert "strong_convexity is declared 4, but between" in row.reason
    assert "it is only 2" in row.reason


def test_a_constant_that_the_form_does_not_use_is_no_reason():
    (row,) = rows(smooth_claim(UsersQuadratic(modulus=2.0)))
    assert row.verdict is Verdict.SUPPORTED
    told = "beside this, user/quadratic: strong_convexity is declared 4, but between x = ("
    assert row.reason.startswith(told)
    assert rows(smooth_claim(UsersQuadratic()))[0].reason == ""


def test_an_infimum_that_only_a_search_sees_leaves_a_statement_about_the_gap_open():
    """F falls below ``low`` on a strip around x = 5000, farther than the audit looks."""
    place, depth = 5000.0, 2.6e7

    def strip(x):
        inside = (1 - ((x[0] - place) / 60.0) ** 2).clamp(min=0.0)
        return depth * inside**2

    def objective(self, x):
        return UsersQuadratic.objective(self, x) - strip(x)

    def gradient(self, x):
        with torch.enable_grad():
            leaf = x.detach().clone().requires_grad_()
            (fall,) = torch.autograd.grad(strip(leaf).sum(), leaf)
        return UsersQuadratic.gradient(self, x) - fall

    member = altered(UsersQuadratic(), objective=objective, gradient=gradient)
    (row,) = rows(smooth_claim(member))
    assert row.verdict is Verdict.INAPPLICABLE
    assert "initial_gap is declared 2, but at x = (" in row.reason
    assert "(F at the start minus inf F)" in row.reason


@pytest.mark.parametrize(
    "assumption",
    [
        Assumption("both", "", relation=lambda c: (c.eta > 1 / (2 * c.T)) & (c.eta < 1 / c.L)),
        Assumption("either", "", relation=lambda c: (c.eta > 1) | (c.eta < 1 / sympy.sqrt(c.L))),
        Assumption("of the case", "", applies=lambda case: True),
    ],
)
def test_a_constant_that_only_a_condition_uses_is_attacked(assumption):
    made = replace(smooth_claim(UsersQuadratic()), assumes=(assumption,))
    form = replace(made.forms[0], right=lambda c: 1)
    assert "objective_smoothness" in audit_gate.used_roles(made, made.cases[0], form)


@pytest.mark.parametrize("name", ["init", "step", "anywhere"])
@pytest.mark.parametrize("takes", [lambda self, ctx, x: 0, lambda self, ctx, o, x, *, own: 0])
def test_a_method_that_does_not_take_what_it_is_given_is_refused(name, takes):
    with pytest.raises(DriftproofError, match=rf"write def {name}\(self, ctx, oracles, "):
        algorithm(name="mine", source="s", statement="s")(type("Mine", (FedAvg,), {name: takes}))


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), "2", True])
def test_a_constant_that_is_no_size_is_refused(value):
    member = altered(UsersQuadratic(), constants={"objective_smoothness": value})
    text = told(smooth_claim(member))
    assert "objective_smoothness = " in text
    assert "mend constants" in text


MISTAKES = {
    "start length": "start() of user/quadratic returned an array of shape (3,)",
    "start shape": "start() of user/quadratic returned an array of shape (2, 1)",
    "start nan": "finite floating-point numbers",
    "objective shape": "objective(x) of user/quadratic",
    "gradient shape": "gradient(x) of user/quadratic",
    "gradient sign": "objective rises by 2 per unit, gradient says -2",
    "oracle sign": "the clients' mean gradient is",
    "oracle shape": "field_grad of user/quadratic's oracles",
    "dtype": "torch.float64; a tensor of shape (2, 2, 5)",
    "bias": "its mean over all outcomes of the noise is",
    "probabilities": "in all 0.9",
    "slice": "of clients 1 to 1 alone differs",
    "stationary": "at the solution's minimiser (0.5, 0.5); 0, to within",
    "high": "F(minimiser) = high",
    "low": "low, a proven lower bound on inf F",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_before_any_verdict(mistake):
    assert MISTAKES[mistake] in told(smooth_claim(UsersQuadratic(mistake=mistake)))


def altered(member, **attributes):
    """Return a member whose attributes are overridden, and which is not driftproof's own."""
    made = type(member)(**member.values())
    cls = type(type(member).__name__, (type(member),), attributes | {"__module__": __name__})
    object.__setattr__(made, "__class__", cls)
    return made


class Changed:
    """Oracles of which one method is changed."""

    def __init__(self, of, method, change):
        self._of, self._method, self._change = of, method, change

    def __getattr__(self, name):
        held = getattr(self._of, name)
        return self._change(held) if name == self._method else held


def with_oracle(member, method, change):
    def oracles(self, dtype, device="cpu", clients=None):
        return Changed(type(member).oracles(member, dtype, device, clients), method, change)

    return altered(member, oracles=oracles)


def scaled(factor):
    return lambda held: lambda *args: factor * held(*args)


NOISY = BoundedComposition(dim=2, inner_dim=3, inner_gradient_noise=0.2, outer_gradient_noise=0.3)
LASSO, BOX, BALL, OWN_STEPS = CompositeQuadratic.examples()
ORACLES = [
    (NOISY, "inner", lambda held: lambda x, xi: (held(x, xi)[0], lambda v: -held(x, xi)[1](v))),
    (NOISY, "inner", lambda held: lambda x, xi: (held(x, xi)[0][:, :1], held(x, xi)[1])),
    (NOISY, "outer_grad", lambda held: lambda y, z: held(y, z) + (0.01 if z is not None else 0)),
    (NOISY, "outer_grad", scaled(-1.0)),
    (NOISY, "outer_value", lambda held: lambda y: held(y)[:, None]),
    (NOISY, "plain_value", lambda held: lambda x: held(x).mean(0)),
    (NOISY, "client_weights", lambda held: held.flatten()),
    (NOISY, "client_weights", lambda held: 2 * held),
    (QuadraticBilevel.examples()[2], "upper_grad_x", scaled(-1.0)),
    (QuadraticBilevel.examples()[2], "upper_grad_y", scaled(1.01)),
    (QuadraticBilevel.examples()[2], "lower_cross_product", scaled(-1.0)),
    (QuadraticBilevel.examples()[2], "lower_hessian_product", scaled(2.0)),
    (QuadraticBilevel.examples()[2], "lower_grad", lambda held: lambda x, y, z: held(x, y, z) + 1),
    (QuadraticBilevel.examples()[2], "lower_grad_x", lambda held: lambda x, y: held(x, y).sum(1)),
    (QuadraticMinimax(), "field_grad", lambda held: lambda x, xi: held(x, xi).float()),
    (LASSO, "prox", lambda held: lambda x, t: held(x, 1.0)),
    (LASSO, "prox", lambda held: lambda x, t: held(x, t) * (1 + 1e-6)),
    (LASSO, "prox", lambda held: lambda x, t: x),
    (OWN_STEPS, "prox", lambda held: lambda x, t: held(x, 1.001 * t)),
    (OWN_STEPS, "mean_loss", scaled(1.001)),
    (BOX, "prox", lambda held: lambda x, t: x),
    (BOX, "project", scaled(0.999)),
    (BALL, "project", lambda held: lambda x: x.clamp(-1, 1)),
    (BOX, "linear_minimiser", scaled(-1.0)),
    (BOX, "linear_minimiser", scaled(2.0)),
    (BALL, "linear_minimiser", scaled(0.9)),
    (UsersQuadratic(), "clients", lambda held: held + 1),
    (UsersQuadratic(), "field_law", lambda held: lambda batch: "signs"),
    (UsersQuadratic(), "field_grad", lambda held: lambda x, xi: held(x, xi) / 0.0),
]


@pytest.mark.parametrize(("member", "method", "change"), ORACLES)
def test_an_oracle_that_does_not_fit_is_told(member, method, change):
    audit_problem(altered(member))
    with pytest.raises(DriftproofError):
        audit_problem(with_oracle(member, method, change))


@pytest.mark.parametrize("member", [LASSO, BOX, BALL, OWN_STEPS])
def test_a_solution_has_no_residual(member):
    """That of the proximal step: ∇f is not 0 at the optimum of a sum, or on a set."""
    best = 0.999 * member.solution.minimiser
    value = float(member.objective(torch.from_numpy(best)[:, None]))
    with pytest.raises(DriftproofError, match="a minimiser is stationary"):
        audit_problem(with_overrides(member, solution=Solution(value, value, best, {})))


def test_a_start_outside_the_set_is_told():
    with pytest.raises(DriftproofError, match=r"start\(\) of composite-quadratic"):
        audit_problem(altered(BALL, start=lambda self: 2 * BALL.start()))


def test_a_term_may_be_infinite_but_not_at_the_start():
    def objective(self, x):
        return BOX.smooth_part(x) + torch.where((x.abs() <= BOX.size).all(0), 0.0, torch.inf)

    held = {
        "offers": "proximal",
        "objective": objective,
        "solution": BOX.solution,
        "smooth_part": lambda self, x: BOX.smooth_part(x),
        "gradient": lambda self, x: BOX.gradient(x),
        "oracles": lambda self, *of, **named: BOX.oracles(*of, **named),
    }
    audit_problem(altered(BOX, **held))
    with pytest.raises(DriftproofError, match="F at the start"):
        audit_problem(altered(BOX, **held, start=lambda self: 2 * BOX.start()))


def test_half_of_the_true_diameter_is_exceeded():
    constants = {"diameter": 0.5 * BOX.constants["diameter"]}
    assert (
        "it is 1.73205 (largest dist"
        in attacked.exceeded(Case(altered(BOX, constants=constants))).exceeded["diameter"]
    )


def test_noise_of_too_many_outcomes_is_sampled():
    """Uniform noise u − ½ has 2⁵³ outcomes; u itself is biased."""

    def noisy(shift):
        def change(held):
            return lambda x, xi: held(x, None) + (0.0 if xi is None else xi[:, :1] - shift)

        made = with_oracle(UsersQuadratic(), "field_grad", change)
        cls = type(made)
        inner = cls.oracles

        def oracles(self, dtype, device="cpu", clients=None):
            return Changed(
                inner(self, dtype, device, clients),
                "field_law",
                lambda held: lambda batch: Uniforms(1),
            )

        return altered(made, oracles=oracles)

    audit_problem(noisy(0.5))
    with pytest.raises(DriftproofError, match="draws of the noise"):
        audit_problem(noisy(0.4))


@pytest.mark.parametrize("problem", problems())
def test_driftproofs_own_problems_pass_the_audit(problem):
    audit_problem(problem)


@pytest.mark.parametrize("stride", range(4))
def test_driftproofs_own_algorithms_pass_the_audit(stride):
    for pair in pairs()[stride::4]:
        audit_algorithm(*pair.values)


class State(NamedTuple):
    w: Tensor


class Wide(NamedTuple):
    w: Tensor
    v: Tensor


class Other(NamedTuple):
    x: Tensor


@algorithm(name="user/descent", source="a test", statement="w")
class UsersDescent(Algorithm):
    local_steps: int = 2
    mistake: str = ""

    def init(self, ctx, oracles, start):
        w = ctx.everywhere(start)
        made = {
            "init tensor": w,
            "init shape": State(start),
            "init field": Other(w),
            "init list": State([1.0]),
            "init dtype": State(w.double()),
            "nan": State(w / 0.0),
        }
        return made.get(self.mistake, State(w))

    def step(self, ctx, oracles, state):
        w = state.w - 0.1 * oracles.field_grad(state.w, None)
        if (ctx.t + 1) % self.local_steps == 0:
            (w,) = ctx.average(w)
            if self.mistake == "average":
                w = w[:1]
        if self.mistake == "own draw":
            w = w + torch.randn_like(w)
        if self.mistake == "step type":
            return Wide(w, w)
        if self.mistake == "step shape":
            return State(w[:, :1])
        return State(w / 0.0) if self.mistake == "step nan" else State(w)


def test_a_correct_algorithm_is_judged():
    assert rows(smooth_claim(UsersQuadratic(), FedAvg()))[0].verdict is Verdict.SUPPORTED
    UsersDescent.notation = FedAvg.notation
    assert rows(smooth_claim(UsersQuadratic(), UsersDescent()))[0].verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    "mistake",
    [
        "init tensor",
        "init shape",
        "init field",
        "init list",
        "init dtype",
        "nan",
        "average",
        "step type",
        "step shape",
        "step nan",
        "own draw",
    ],
)
def test_an_algorithm_that_does_not_fit_is_told(mistake):
    text = told(smooth_claim(UsersQuadratic(), UsersDescent(mistake=mistake)))
    assert "user/descent" in text
    assert "mend" in text or "set iterate" in text


def test_the_attack_is_a_unit_of_work(tmp_path, monkeypatch):
    """Committed once, whichever claims rest on it, and taken from the ledger in any later run."""
    calls = []
    look = attacked.look
    monkeypatch.setattr(attacked, "look", lambda *of: calls.append(of) or look(*of))
    settings = Settings()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        first = judge([smooth_claim(UsersQuadratic(declared=0.5))], settings, ledger=ledger)
        again = judge([smooth_claim(UsersQuadratic(declared=0.5))], settings, ledger=ledger)
        judge([smooth_claim(UsersQuadratic(declared=0.5), factor=3.0)], settings, ledger=ledger)
        assert len(calls) == 1
        true = UsersQuadratic.objective
        with monkeypatch.context() as patch:  # as if data that its file reads were others
            patch.setattr(UsersQuadratic, "objective", lambda self, x: true(self, x) + 1)
            judge([smooth_claim(UsersQuadratic(declared=0.5))], settings, ledger=ledger)
        assert len(calls) == 2
        full = judge([smooth_claim(UsersQuadratic())], replace(settings, profile="full"))
    assert [row.reason for row in first] == [row.reason for row in again]
    assert 1000 < first[0].attacked == again[0].attacked < full[0].attacked / 3


CLAIM = """

@bound(name="mine/a", source="x", statement="x", cases=grid(Mine()), right=lambda c: {right})
def {name}(view):
    return 0
"""
PROBLEM = "class Mine(Problem):\n    slope = {slope}"


def test_the_digest_of_a_problem_is_that_of_its_file_without_claims(tmp_path):
    digests = []
    for number, (slope, right, name, rest) in enumerate(
        [
            (1, 2, "a", ""),
            (1, 3, "b", "# other words"),
            (2, 2, "a", ""),
            (1, 2, "a", "used = a"),
            (1, 3, "a", "used = a"),
        ]
    ):
        file = tmp_path / f"mine_{number}.py"
        text = PROBLEM.format(slope=slope) + CLAIM.format(right=right, name=name) + rest
        file.write_text(text, encoding="utf-8")
        digests.append(code_of(file, claims=False))
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_driftproofs_own_problems_are_not_checked_again():
    assert not audit_gate.to_check(Case(BoundedComposition(), None, None))
    assert audit_gate.to_check(Case(UsersQuadratic()))
    assert audit_gate.to_check(Case(BoundedComposition(), UsersDescent(), 1))
    assert audit_gate.to_check(Case(altered(BoundedComposition())))


@pytest.mark.parametrize(("factor", "exceeded"), [(1 - 1e-7, False), (1 - 1e-5, True)])
def test_a_constant_may_be_short_by_the_rounding_of_a_quotient(factor, exceeded):
    made = attacked.exceeded(Case(UsersQuadratic(declared=factor))).exceeded
    assert ("objective_smoothness" in made) is exceeded
