"""Limits: how methods go on quadratics by a second route, what is proved, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, sqrt

from driftproof import algorithm, average, bound, each, limit, sq, verify
from driftproof.algorithms import (
    FedAvg,
    HeavyBall,
    Nesterov,
    ProximalGradient,
    Scaffold,
)
from driftproof.classes import (
    bounded_gradients,
    cocoercive,
    convex,
    for_all,
    indicator,
    over,
    plus,
    potential,
    shared_minimiser,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_within,
    strongly_convex_concave,
)
from driftproof.problems import QuadraticMinimax
from driftproof.toolkit.cases import grid
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.judges.limits import _cycle
from driftproof.verifiers.worst_case.check import check
from driftproof.verifiers.worst_case.check_counterexample import functions_of
from driftproof.verifiers.worst_case.on_quadratics import slowest

CLASS = smooth_strongly_convex(L=10, mu=1)
STEPS = st.integers(1, 30).map(lambda k: k / 100)


def off(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None


def stated(classes, left=off, name="own/limit", **more):
    fields = {"name": name, "source": "tests", "statement": r"x_t \to x^*", **more}
    return limit(classes=classes, **fields)(left)


def row_of(*given, **more):
    (row,) = verify(stated(over(*given, clients=more.pop("clients", 1)), **more))
    return row


def radius(method, curvature):
    """Return the squared spectral radius of a step, from the method's matrix in a textbook."""
    c, m = 1 - method.step_size * curvature, getattr(method, "momentum", 0.0)
    rows = {FedAvg: [[c]], HeavyBall: [[c + m, -m], [1, 0]],
            Nesterov: [[c * (1 + m), -c * m], [1, 0]]}  # fmt: skip
    return max(abs(np.linalg.eigvals(np.array(rows[type(method)], float)))) ** 2


@settings(max_examples=25, deadline=None)
@given(
    st.one_of(
        st.builds(FedAvg, step_size=STEPS),
        st.builds(HeavyBall, step_size=STEPS, momentum=st.sampled_from([0.1, 0.45, 0.9])),
        st.builds(
            Nesterov,
            step_size=STEPS,
            momentum=st.sampled_from([0.2, 0.52]),
            form=st.just("constant"),
        ),
    )
)  # fmt: skip
def test_the_slowest_mode_is_that_of_the_matrix(method):
    (case,) = over([CLASS], method, clients=1)
    mode = slowest(method, case.problem)
    wanted = max(radius(method, x) for x in (1, 5.5, 10))
    assert float(mode.factor.mid()) == pytest.approx(wanted, rel=1e-6)
    assert mode.exceeds(None) == (wanted >= 1) or wanted == pytest.approx(1, abs=1e-9)
    assert not mode.exceeds(Fraction(wanted) + Fraction(1, 10**6))


def test_several_clients_and_what_each_remembers_go_as_one():
    """Of one quadratic K local steps are (1 − ηλ)^K, and SCAFFOLD's control variates do nothing."""
    for method in (FedAvg(step_size=0.05, local_steps=3), Scaffold(step_size=0.05, local_steps=3)):
        (case,) = over([CLASS, similar(zeta=1)], method)
        assert float(slowest(method, case.problem).factor.mid()) >= (1 - 0.05) ** 6 - 1e-12


@algorithm(name="linear", source="tests", statement="argmin ⟨g, x⟩")
class Linear(FedAvg):
    needs = "online"

    def step(self, ctx, oracles, state):
        w = oracles.linear_minimiser(oracles.field_grad(state.w, None))
        (w,) = ctx.cohort(ctx.clients, since=ctx.t).average(w)
        return state._replace(w=w)


@pytest.mark.parametrize(
    ("method", "beside"),
    [
        (FedAvg(step_size=0.05, participation=0.5), similar(zeta=1)),
        (Linear(), plus(indicator())),
    ],
)
def test_where_the_state_does_not_say_what_follows_no_mode_is_told(method, beside):
    (case,) = over([CLASS, beside], method, clients=2)
    assert slowest(method, case.problem) is None


def test_a_step_of_two_over_l_is_refuted_and_one_below_is_proved():
    row = row_of([CLASS], FedAvg(step_size=0.2))
    assert (row.verdict, row.evidence) == ("REFUTED", "enclosed")
    assert "x_(t+1) = − x_t, and ‖x_t‖² does not go to 0" in row.reason
    row = row_of([CLASS], FedAvg(step_size=0.1999))
    assert (row.verdict, row.evidence) == ("SUPPORTED", "class")
    assert all(check(text) for text in row.proofs.values())
    assert len(row.proofs) == 3
    rho = row.lhs["high"]  # the least of two digits; quadratics attain (1 − 0.1999·10)²
    assert (row.lhs["mean"], row.lhs["low"]) == (rho, pytest.approx(0.999**2))
    assert 0.998 < rho < 1
    assert not row.attained


def test_a_stated_rate_is_the_textbooks_and_none_faster():
    for factor, verdict in (("0.81", "SUPPORTED"), ("0.82", "SUPPORTED"), ("0.8099", "REFUTED")):
        right = lambda c, x=factor: Rational(x)  # noqa: E731
        row = row_of([CLASS], FedAvg(step_size=0.1), right=right)
        assert row.verdict == verdict, factor
        assert row.ratio == pytest.approx(0.81 / float(factor))  # what quadratics attain
        assert row.attained == (factor == "0.81")
    (row,) = verify(
        stated(
            over([CLASS, shared_minimiser()], FedAvg(step_size=0.05, local_steps=2)),
            right=lambda c: (1 - c.eta * c.mu) ** (2 * c.tau),
        )
    )
    assert row.verdict == "SUPPORTED"
    assert row.attained


@pytest.mark.parametrize("of", [smooth_convex(L=10), cocoercive(L=10)])
def test_of_several_minimisers_it_is_refuted_or_open(of):
    row = row_of([of], FedAvg(step_size=0.2))
    assert (row.verdict, row.evidence) == ("REFUTED", "enclosed")
    assert "with λ = 10 the iterates of some run obey x_(t+1) = − x_t" in row.reason
    row = row_of([of], FedAvg(step_size=0.1))
    assert row.verdict == "INCONCLUSIVE"


def test_iterates_that_stay_bounded_need_not_converge():
    for step, verdict in ((0.2, "SUPPORTED"), (0.201, "REFUTED")):
        row = row_of([smooth_convex(L=10)], FedAvg(step_size=step), right=lambda c: 1)
        assert row.verdict == verdict
    biased = FedAvg(step_size=0.05, local_steps=2)  # it comes to rest beside x*
    row = row_of([CLASS, similar(zeta=1)], biased, clients=2, right=lambda c: 1)
    assert row.verdict == "SUPPORTED"
    assert "t + " in row.reason.splitlines()[0] or "(1 − " in row.reason.splitlines()[0]  # a floor


def test_a_bias_of_clients_is_a_fixed_point_that_is_not_the_minimiser():
    row = row_of([CLASS, similar(zeta=1)], FedAvg(step_size=0.05, local_steps=2), clients=2)
    assert row.verdict == "REFUTED"
    assert row.reason.startswith("a fixed point that is not x*")
    (text,) = row.proofs.values()
    assert functions_of(text).left > 0


def test_a_cycle_refutes_and_a_floor_is_open():
    lessard = smooth_strongly_convex(L=25, mu=1)
    row = row_of([lessard], HeavyBall(step_size=1 / 9, momentum=4 / 9))
    assert (row.verdict, row.evidence) == ("REFUTED", "class")
    assert row.reason.startswith("a cycle of 3 rounds")
    claim = stated(over([CLASS], FedAvg(step_size=0.2), clients=1))
    (case,) = claim.classes
    assert _cycle(claim, case, case.problem, [2])["reason"].startswith("a cycle of 2 rounds")
    sampled = FedAvg(step_size=0.05, participation=0.5)
    row = row_of([CLASS, similar(zeta=1)], sampled, clients=2)
    assert row.verdict == "INCONCLUSIVE"
    assert row.reason.endswith("has a floor")


class Decayed(FedAvg):
    """Weight decay: it goes to a point between x* and the origin."""

    def step(self, ctx, oracles, state):
        g = oracles.field_grad(state.w, None) + state.w / 2
        return state._replace(w=state.w - self.step_size * g)


class Shrunk(FedAvg):
    """Asks for nothing, and goes to the origin."""

    def step(self, ctx, oracles, state):
        return state._replace(w=state.w / 2)


class Warm(FedAvg):
    def step(self, ctx, oracles, state):
        eta = self.step_size if ctx.t < 20 else 4
        return state._replace(w=state.w - eta * oracles.field_grad(state.w, None))


class Seventh(FedAvg):
    def step(self, ctx, oracles, state):
        eta = self.step_size if ctx.t % 7 == 0 else 4
        return state._replace(w=state.w - eta * oracles.field_grad(state.w, None))


class Third(FedAvg):
    def step(self, ctx, oracles, state):
        eta = 4 if ctx.t == 3 else self.step_size
        return state._replace(w=state.w - eta * oracles.field_grad(state.w, None))


class Within(FedAvg):
    """Its steps know how many rounds there are."""

    def step(self, ctx, oracles, state):
        return state._replace(
            w=state.w - self.step_size / ctx.horizon * oracles.field_grad(state.w, None)
        )


class Late(HeavyBall):
    """Remembers the last gradient, and says that it is that of the iterate."""

    def init(self, ctx, oracles, start):
        w = ctx.everywhere(start)
        return type(HeavyBall.init(self, ctx, oracles, start))(w, oracles.field_grad(w, None))

    def anywhere(self, ctx, oracles, start, own):
        return self.init(ctx, oracles, start)

    def step(self, ctx, oracles, state):
        g = oracles.field_grad(state.w, None)
        return state._replace(w=state.w - self.step_size * state.before, before=g)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Decayed(step_size=0.5), "where the origin is"),
        (Shrunk(), "where the origin is"),
        (Warm(step_size=0.1), "the number of the step or the round: it compares it"),
        (Seventh(step_size=0.1), "it takes it % 7"),
        (Third(step_size=0.1), "it compares it"),
        (Within(step_size=0.1), "reads how many rounds there are"),
        (Late(step_size=0.15), "whose anywhere asks oracles.field_grad"),
    ],
    ids=lambda of: type(of).__name__,
)
def test_what_a_round_from_any_state_does_not_tell_is_refused(method, words):
    with pytest.raises(DriftproofError, match=words):
        potential(method, [CLASS])
    if "origin" in words:
        with pytest.raises(DriftproofError, match=words):
            row_of([CLASS], method)
    else:
        row = row_of([CLASS], method)
        assert (row.verdict, words in row.reason) == ("INCONCLUSIVE", True)


def test_a_bound_over_a_class_is_refused_where_the_origin_matters():
    near = over([CLASS, start_within(R=1)], Decayed(step_size=0.5), clients=1)
    norm = lambda view: each("round", "local_step", sq(view.mean("w")))  # noqa: E731
    for classes, left in (
        (near, off),
        (over([CLASS, start_within(R=1)], FedAvg(step_size=0.1), clients=1), norm),
    ):
        claim = bound(
            name="own/bound", source="tests", statement="x", classes=classes, right=lambda c: c.R**2
        )(left)
        with pytest.raises(DriftproofError, match="where the origin is"):
            verify(claim)


def test_a_regret_has_a_client_for_each_time():
    def regret(view):
        return average("transition", view.problem.loss_at(view.t, view.before.w.mean(0)))

    online = [bounded_gradients(convex(), G=1), plus(indicator(D=1))]
    for rounds, clients in ((1, 2), (3, 2)):
        claim = bound(
            name="own/regret", source="tests", statement="x", right=lambda c: c.G * c.D,
            classes=over(online, Linear(), rounds=rounds, clients=clients),
        )(regret)  # fmt: skip
        with pytest.raises(DriftproofError, match=f"clients={rounds}, rounds={rounds}"):
            verify(claim)


def test_a_rate_is_refuted_by_small_curvatures_and_by_no_rounding():
    row = row_of([smooth_convex(L=1)], FedAvg(step_size=1.0), right=lambda c: Rational("0.99"))
    assert (row.verdict, row.evidence) == ("REFUTED", "enclosed")
    row = row_of(
        [smooth_strongly_convex(L=2, mu=1)], FedAvg(),
        ties={"eta": lambda c: 1 / sqrt(c.L * c.mu)},
        right=lambda c: (sqrt(c.L / c.mu) - 1) ** 2,
    )  # fmt: skip
    assert row.verdict != "REFUTED"  # it is true, and η is rounded


def test_what_is_proved_of_an_irrational_rate_is_no_more_than_the_rate():
    """√2/2: the certificate of V⁺ − ρV ≤ 0, V = ‖w‖², has a fraction ρ below it."""
    half = smooth_strongly_convex(L=2, mu=1)
    row = row_of([half], FedAvg(step_size=0.25), right=lambda c: sqrt(c.L) / 2)
    assert row.verdict == "SUPPORTED"
    assert "V = ‖w‖²\n" in row.reason
    (text,) = (of for name, of in row.proofs.items() if "decrease" in name)
    products = check(text).conclusion.products
    rho = 1 - sum(c * u.get("x_0", 0) * v.get("x_0", 0) for c, u, v in products)
    assert 0 < 10**100 * (1 - 2 * rho**2) < 1


def test_a_term_bends_by_its_own_modulus():
    half = smooth_strongly_convex(L=2, mu=1)
    rate = Rational(9, 11) ** 2  # ((1 − η)/(1 + η))²
    row = row_of([half, plus(half)], ProximalGradient(step_size=0.1), right=lambda c: rate)
    assert row.verdict == "SUPPORTED"


def test_what_is_tied_has_its_value_in_every_case_and_is_assumed():
    ties = {"alpha": lambda c: 2 / (c.L + c.mu), "beta": lambda c: c.alpha * c.mu}
    made = stated(over([CLASS], HeavyBall(), rounds=[1, 2], clients=1), ties=ties)
    for case in made.classes:
        assert case.algorithm == HeavyBall(step_size=2 / 11, momentum=2 / 11)
    assert [a.name for a in made.assumes] == ["alpha", "beta"]
    (row, _) = verify(made)
    assert row.verdict == "SUPPORTED"
    other = over([CLASS], HeavyBall(), clients=1)  # a case beside the ties does not meet them
    object.__setattr__(made, "classes", other)
    (row,) = verify(made)
    assert row.verdict == "INAPPLICABLE"
    assert "alpha" in row.reason
    steps = stated(
        over([CLASS], FedAvg(step_size=0.1), clients=1), ties={"tau": lambda c: 2 + 0 * c.L}
    )
    assert steps.classes[0].algorithm.local_steps == 2
    with pytest.raises(DriftproofError, match="a function of the letters"):
        stated(over([CLASS], HeavyBall(), clients=1), ties={"alpha": 0.5})
    with pytest.raises(DriftproofError, match="for_all has none"):
        stated(
            over([smooth_convex(L=for_all("0 < L"))], HeavyBall(), clients=1),
            ties={"alpha": lambda c: 1 / c.L},
        )
    with pytest.raises(DriftproofError, match="unknown letter of a hyper-parameter in ties 'L'"):
        stated(over([CLASS], HeavyBall(), clients=1), ties={"L": lambda c: c.mu})


def test_what_is_no_limit_over_a_class_is_refused():
    gd = FedAvg(step_size=0.1)
    squared = lambda view: each("round", "local_step", 2 * off(view).value)  # noqa: E731
    for made, words in (
        (lambda: row_of([CLASS], FedAvg(step_size=for_all("0 < eta"))), "numbers"),
        (
            lambda: row_of([strongly_convex_concave(L=1, mu=0.5)], gd),
            "functions of two variables",
        ),
        (lambda: row_of([CLASS], gd, left=squared), "measures something else"),
        (lambda: row_of([CLASS], gd, right=lambda c: 2), "above 0 and at most 1"),
        (lambda: row_of([CLASS], gd, right=lambda c: 0), "above 0 and at most 1"),
        (lambda: row_of([CLASS, start_within(R=1)], gd), "need not hold in later rounds"),
        (lambda: stated([], cases=grid(QuadraticMinimax(), gd, rounds=1)), "classes alone"),
    ):
        with pytest.raises(DriftproofError, match=words):
            made()
