"""Limits: how methods go on quadratics by a second route, what is proved, and what is refused."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import torch
from flint import fmpq, fmpq_poly
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Eq, Rational, sqrt

from driftproof import Assumption, algorithm, average, bound, each, limit, sq, verify
from driftproof.algorithms import (
    DecayingFedAvg,
    Extragradient,
    FedAvg,
    FedAvgS,
    FedSVRG,
    GradientTrackingGDA,
    HeavyBall,
    Nesterov,
    ProximalGradient,
    ProximalPoint,
    Scaffold,
    SignDescent,
)
from driftproof.classes import (
    bounded_gradients,
    cocoercive,
    convex,
    equal,
    for_all,
    indicator,
    monotone,
    monotone_lipschitz,
    over,
    plus,
    potential,
    shared_minimiser,
    similar,
    similar_everywhere,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    start_within,
    strongly_convex,
    strongly_convex_concave,
)
from driftproof.problems import QuadraticMinimax
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.fedavg_s import State
from driftproof.toolkit.cases import grid
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import OFFERS
from driftproof.verifiers.judges.decide import settled
from driftproof.verifiers.judges.limits import OFF, _carried, _check, _cycle, _nearer_to_all
from driftproof.verifiers.worst_case.check import check
from driftproof.verifiers.worst_case.check_counterexample import functions_of
from driftproof.verifiers.worst_case.on_quadratics import (
    _members,
    _mode,
    _run,
    _turning,
    is_on_circle,
    slowest,
)
from driftproof.verifiers.worst_case.potential import descent

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
    rows = {
        FedAvg: [[c]],
        HeavyBall: [[c + m, -m], [1, 0]],
        Nesterov: [[c * (1 + m), -c * m], [1, 0]],
    }
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
)
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
    [(FedAvg(step_size=0.05, participation=0.5), similar(zeta=1)), (Linear(), plus(indicator()))],
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


FLAT = smooth_convex(L=10)


@pytest.mark.parametrize("of", [FLAT, cocoercive(L=10)])
def test_of_several_minimisers_a_step_of_two_over_l_is_refuted(of):
    row = row_of([of], FedAvg(step_size=0.2))
    assert (row.verdict, row.evidence) == ("REFUTED", "enclosed")
    assert "with λ = 10 the iterates of some run obey x_(t+1) = − x_t" in row.reason


@pytest.mark.parametrize(
    ("conditions", "method", "clients", "verdict"),
    [
        ([FLAT], FedAvg(step_size=0.19), 1, "SUPPORTED"),
        ([FLAT, similar(zeta=1)], FedAvg(step_size=0.1), 2, "SUPPORTED"),
        ([FLAT, shared_minimiser()], FedAvg(step_size=0.1, local_steps=2), 2, "SUPPORTED"),
        ([convex()], ProximalPoint(step_size=1.0), 1, "SUPPORTED"),
        ([FLAT, plus(convex())], ProximalGradient(step_size=0.1), 1, "SUPPORTED"),
        ([FLAT, plus(indicator())], ProximalGradient(step_size=0.1), 1, "SUPPORTED"),
        ([cocoercive(L=10)], FedAvg(step_size=0.1), 1, "SUPPORTED"),
        ([monotone_lipschitz(L=10, mu=0)], Extragradient(step_size=0.05), 1, "SUPPORTED"),
        # a certificate speaks of means alone, where a run is many paths
        ([FLAT, shared_minimiser()], FedAvg(step_size=0.1, participation=0.5), 2, "INCONCLUSIVE"),
    ],
)
def test_of_several_minimisers_x_t_goes_to_one(conditions, method, clients, verdict):
    distance = measured(method, lambda view, x: sq(x - view.minimiser))
    row = row_of(conditions, method, left=distance, clients=clients)
    assert row.verdict == verdict
    if verdict == "SUPPORTED":
        assert "_t goes to; which one depends on the start:" in row.reason
        assert row.ratio is None
        assert len(row.proofs) == 3
        assert all(check(text) for text in row.proofs.values())


@pytest.mark.parametrize(
    ("conditions", "method", "clients"),
    [
        ([FLAT], FedAvg(step_size=0.2), 1),  # it never grows, and cycles
        ([FLAT, similar(zeta=1)], FedAvg(step_size=0.05, local_steps=2), 2),
        ([FLAT], HeavyBall(step_size=0.05, momentum=0.2), 1),  # the distance may grow
        ([monotone_lipschitz(L=10, mu=0), shared_minimiser()], Extragradient(step_size=0.05), 2),
    ],
)
def test_what_does_not_come_nearer_to_every_minimiser_is_left_open(conditions, method, clients):
    claim = stated(over(conditions, method, clients=clients))
    assert _nearer_to_all(claim, claim.classes[0], claim.forms[0]) is None


def test_fields_that_share_a_solution_may_have_others_in_the_mean():
    """±J share 0 alone, and their mean is 0 everywhere: a V about what they share says less."""
    conditions = [monotone_lipschitz(L=10, mu=0), shared_minimiser()]
    method = Extragradient(step_size=0.05)
    assert descent(method, conditions, measured(method, gradient), clients=2, distance=True)


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
    one_variable = {len(of) for of in json.loads(text)["coordinates"].values()}
    assert one_variable == {1}  # quadratics, the push of which leads back to the start


def test_a_cycle_refutes_and_a_floor_is_open():
    lessard = smooth_strongly_convex(L=25, mu=1)
    row = row_of([lessard], HeavyBall(step_size=1 / 9, momentum=4 / 9))
    assert (row.verdict, row.evidence) == ("REFUTED", "class")
    assert row.reason.startswith("a cycle of 3 rounds")
    assert row.reason.endswith("a run from rest at x_0 = 1 comes to it too, on the f of --tex")
    claim = stated(over([CLASS], FedAvg(step_size=0.2), clients=1))
    (case,) = claim.classes
    reason = _cycle(claim, case, case.problem, [2])["reason"]  # where a run may begin
    assert reason.startswith("a cycle of 2 rounds")
    assert "from init" not in reason
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


@algorithm(name="mine", source="tests", statement=r"z^+ = z - \eta V(z)")
class Mine(FedAvg):
    notation = {**FedAvg.notation, "mu": "field_monotonicity", "u": "upper_smoothness"}

    def anywhere(self, ctx, oracles, start):
        return self.init(ctx, oracles, start)


def test_a_method_without_memory_needs_no_own_and_a_letter_that_a_class_lacks_is_told():
    saddles = [strongly_convex_concave(L=4, mu=1)]
    row = row_of(saddles, Mine(step_size=0.05), right=lambda c: 1 - 2 * c.eta * c.mu + c.eta / 1.25)
    assert row.verdict == "SUPPORTED"  # field_monotonicity is the class's μ
    with pytest.raises(DriftproofError, match=r"u, upper_smoothness[^$]*drop a letter"):
        row_of(saddles, Mine(step_size=0.05), right=lambda c: c.u)


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
            name="own/regret",
            source="tests",
            statement="x",
            right=lambda c: c.G * c.D,
            classes=over(online, Linear(), rounds=rounds, clients=clients),
        )(regret)
        with pytest.raises(DriftproofError, match=f"clients={rounds}, rounds={rounds}"):
            verify(claim)


def test_a_rate_is_refuted_by_small_curvatures_and_by_no_rounding():
    row = row_of([smooth_convex(L=1)], FedAvg(step_size=1.0), right=lambda c: Rational("0.99"))
    assert (row.verdict, row.evidence) == ("REFUTED", "enclosed")
    row = row_of(
        [smooth_strongly_convex(L=2, mu=1)],
        FedAvg(),
        ties={"eta": lambda c: 1 / sqrt(c.L * c.mu)},
        right=lambda c: (sqrt(c.L / c.mu) - 1) ** 2,
    )
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


@pytest.mark.parametrize(
    ("conditions", "method", "more", "verdict"),
    [
        ([monotone_lipschitz(L=10, mu=1)], Extragradient(step_size=0.05), {}, "SUPPORTED"),
        ([CLASS], FedSVRG(step_size=0.1), {"right": lambda c: Rational("0.81")}, "SUPPORTED"),
        ([CLASS], DecayingFedAvg(step_offset=20.0), {"rate": "1/t"}, "SUPPORTED"),
        ([CLASS], DecayingFedAvg(), {}, "INCONCLUSIVE"),  # another step in each round
        ([CLASS], SignDescent(), {}, "INCONCLUSIVE"),  # no combination of gradients
    ],
)
def test_shipped_methods_that_remember_nothing_begin_anywhere(conditions, method, more, verdict):
    row = row_of(
        conditions, method, left=measured(method, lambda v, x: sq(x - v.minimiser)), **more
    )
    assert row.verdict == verdict, row.reason


@pytest.mark.parametrize("of", [smooth_convex(L=1), cocoercive(L=1)])
def test_local_steps_drift_to_a_fixed_point_that_is_no_minimiser(of):
    """Of clients that differ, also where there are several minimisers; one local step does not."""
    row = row_of([of], FedAvg(local_steps=2, step_size=0.5), clients=2)
    assert row.verdict == "REFUTED"
    assert "a fixed point that is no minimiser" in row.reason
    assert row_of([of], FedAvg(step_size=0.5), clients=2).verdict != "REFUTED"


def test_what_several_clients_remember_of_several_vectors_has_names_of_its_own():
    """Where one of them is what the others make it, too."""
    apart = [CLASS, similar(zeta=1)]
    claim = stated(over(apart, FedSVRG(step_size=0.1), clients=2), measured(FedSVRG, off))
    (case,) = claim.classes
    assert _cycle(claim, case, case.problem, [1]) is None


@pytest.mark.parametrize(
    ("conditions", "method"),
    [
        ([strongly_convex(mu=2)], ProximalPoint(step_size=0.5)),
        ([smooth_convex(L=2), plus(strongly_convex(mu=2))], ProximalGradient(step_size=0.5)),
    ],
)
def test_an_implicit_step_contracts_by_strong_convexity_alone(conditions, method):
    """By 1/(1 + ημ) and no more, of f without an L, or of the term alone (Rockafellar 1976)."""
    for power, verdict in ((2, "SUPPORTED"), (3, "REFUTED")):
        row = row_of(conditions, method, right=lambda c, power=power: Rational(1, 2**power))
        assert row.verdict == verdict, row.reason


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
    for sides in (
        [lambda c: c.alpha * c.L <= 1, lambda c: c.alpha * c.L >= 1],
        [lambda c: Eq(c.alpha, 1 / c.L)],
    ):
        assumes = [Assumption("the step", "x", relation=side) for side in sides]
        (row,) = verify(stated(over([CLASS], HeavyBall(step_size=0.3), clients=1), assumes=assumes))
        assert re.search(r"write ties=.\"alpha\": .* gets (L\*alpha = 1|alpha = 1/L)", row.reason)
    (row,) = verify(stated(other, assumes=assumes, ties={"alpha": lambda c: 3 / c.L}))
    assert "write ties" not in row.reason
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
    squared = lambda view: each("round", sq(view.mean("w") - view.minimiser))  # noqa: E731
    for made, words in (
        (lambda: row_of([CLASS], FedAvg(step_size=for_all("0 < eta"))), "numbers"),
        (lambda: row_of([CLASS], gd, left=squared), "measures something else"),
        (lambda: row_of([CLASS], gd, right=lambda c: 2), "above 0 and at most 1"),
        (lambda: row_of([CLASS], gd, right=lambda c: 0), "above 0 and at most 1"),
        (lambda: row_of([CLASS, start_within(R=1)], gd), "need not hold in later rounds"),
        (
            lambda: row_of([CLASS, plus(indicator(D=1))], ProximalGradient()),
            r"plus\(indicator\(D = 1\)\) has sets of one size(.|\n)*indicator\(\) without D",
        ),
        (lambda: stated([], cases=grid(QuadraticMinimax(), gd, rounds=1)), "classes alone"),
    ):
        with pytest.raises(DriftproofError, match=words):
            made()


# -- Values and gradients

LIMITS = (
    ([CLASS], FedAvg(step_size=0.1), 1, "0.81"),
    ([CLASS], FedAvg(step_size=0.1), 1, "0.8"),
    ([CLASS], Nesterov(step_size=0.1, momentum=0.3, form="constant"), 1, "0.9"),
    ([CLASS], ProximalPoint(step_size=1.0), 1, "0.5"),
    ([CLASS, similar(zeta=1)], Scaffold(step_size=0.02), 2, "0.98"),
    ([CLASS, shared_minimiser()], FedAvg(step_size=0.05, participation=0.5), 2, "0.95"),
    ([CLASS, similar(zeta=1)], FedAvg(step_size=0.05, local_steps=2), 2, None),
    ([CLASS, plus(smooth_convex(L=1))], ProximalGradient(step_size=0.1), 1, "0.81"),
    ([smooth_strongly_convex(L=25, mu=1)], HeavyBall(step_size=1 / 9, momentum=4 / 9), 1, None),
)


def measured(method, of):
    """Return a left side: a measure of the iterate after a round."""
    return lambda view: (
        each("round", "local_step", of(view, view.mean(method.iterate))) if view.last else None
    )


def gap(view, x):
    return view.gap(x)


def gradient(view, x):
    return sq(view.gradient(x))


@pytest.mark.parametrize(
    ("conditions", "method", "clients", "rate"), LIMITS, ids=lambda of: type(of).__name__
)
def test_values_and_gradients_have_the_verdict_of_the_distance(conditions, method, clients, rate):
    """Where μ > 0 all three are the same up to constants, and files say which."""
    right = {"right": lambda c: Rational(rate)} if rate else {}
    term = any(getattr(of, "term", False) for of in conditions)  # ∇F is not asked of a sum
    rows = [
        row_of(conditions, method, left=measured(method, of), clients=clients, **right)
        for of in (lambda view, x: sq(x - view.minimiser), gap, *(() if term else (gradient,)))
    ]
    assert len({(row.verdict, row.evidence, row.rhs) for row in rows}) == 1
    assert rows[0].verdict != "INCONCLUSIVE"
    for row in rows[1:]:
        assert f"{row.verdict} of what is measured, m, since after a round" in row.reason
        files = [text for name, text in row.proofs.items() if "-measure-" in name]
        assert len(files) == 1 + (row.verdict == "SUPPORTED")
        assert all(check(text) for text in files)


def test_a_measure_that_is_no_multiple_of_the_distance_is_left_open():
    """Of a sum with a kink F − F* is no O(‖x − x*‖²); where μ = 0 a quadratic is enough."""
    kinked = [CLASS, plus(convex())]
    method = ProximalGradient(step_size=0.1)
    for of in (lambda view, x: sq(x - view.minimiser), gap):
        row = row_of(kinked, method, left=measured(method, of), right=lambda c: Rational("0.81"))
        assert row.verdict == ("INCONCLUSIVE" if of is gap else "SUPPORTED")
    assert "no c is found with |m| ≤ c·‖w − x*‖² of what is measured" in row.reason
    bent = [smooth_convex(L=10)]
    assert row_of(bent, FedAvg(step_size=0.2), left=measured(FedAvg(), gap)).verdict == "REFUTED"
    row = row_of(bent, FedAvg(step_size=0.2), left=measured(FedAvg(), gradient), right=lambda c: 1)
    assert row.verdict == "SUPPORTED"


BENT = [smooth(L=10)]


def moved(view, x):
    return sq(view.round_start("w") - x)


@pytest.mark.parametrize(("conditions", "verdict"), [(BENT, "INCONCLUSIVE"), ([CLASS], "REFUTED")])
def test_how_far_a_round_moves_refutes_nothing_where_there_may_be_no_minimiser(conditions, verdict):
    """Of steps ‖x_{t+1} − x_t‖² → 0 an x_t that stays away from 0 says nothing by itself."""
    method = FedAvg(step_size=0.1)
    claim = stated(over(conditions, method, clients=1), left=measured(method, moved))
    case, form = claim.every_case[0], claim.forms[0]
    one, _ = _check(claim, case, form)
    if verdict == "REFUTED":  # with an x*: what is measured is the distance from it
        one = replace(one, parts={OFF: one.objective})
    facts = {"lhs": {"mean": None, "low": 1.0, "high": None}, "rhs": 1.0, "comparisons": 1}
    row = _carried(claim, case, form, one, settled(False), "it stays", **facts)
    assert row.verdict == verdict


@pytest.mark.parametrize(
    ("conditions", "method", "clients", "of", "verdict"),
    [
        (BENT, FedAvg(step_size=0.19), 1, gradient, "SUPPORTED"),
        (BENT, FedAvg(step_size=0.1), 2, gradient, "SUPPORTED"),
        (BENT, HeavyBall(step_size=0.05, momentum=0.3), 1, gradient, "SUPPORTED"),
        ([smooth_convex(L=10)], FedAvg(step_size=0.1), 1, gap, "SUPPORTED"),
        (BENT, FedAvg(step_size=0.2), 1, gradient, "REFUTED"),
        (BENT, FedAvg(step_size=0.1), 1, gap, "INCONCLUSIVE"),  # it may rest on a saddle
        (BENT, FedAvg(step_size=0.1), 1, lambda *at: -gradient(*at), "INCONCLUSIVE"),  # no m ≥ 0
        (
            [*BENT, similar_everywhere(zeta=1)],
            FedAvg(step_size=0.05, local_steps=2),
            2,
            gradient,
            "INCONCLUSIVE",
        ),
    ],
)
def test_what_a_potential_falls_by_goes_to_0(conditions, method, clients, of, verdict):
    row = row_of(conditions, method, left=measured(method, of), clients=clients)
    assert row.verdict == verdict
    if verdict == "SUPPORTED":
        assert "V⁺ ≤ V − m" in row.reason
        assert len(row.proofs) == 3
        assert all(check(text) for text in row.proofs.values())


# -- Fields that turn, clients that differ, roots on the circle

FIELDS = (
    monotone_lipschitz(L=1, mu=0.1),
    monotone_lipschitz(L=2, mu=0),
    cocoercive(L=1, mu=0.2),
    strongly_convex_concave(L=1, mu=0.1),
    monotone(mu=0.5),
)


@pytest.mark.parametrize("of", FIELDS, ids=str)
def test_the_fields_that_turn_are_of_the_class_and_nearly_as_far_as_it_goes(of):
    """By eigenvalues: ⟨Mx, x⟩ ≥ μ‖x‖², ‖Mx‖ ≤ L‖x‖, ⟨Mx − μx, Lx − Mx⟩ ≥ 0."""
    L, mu = (float(of.parameters.get(name, np.inf)) for name in ("L", "mu"))
    made = [np.array(matrix, float) for matrix in _turning(of)]
    assert made
    room = []
    for M in made:
        least = np.linalg.eigvalsh((M + M.T) / 2)[0] - mu
        size = L - np.linalg.norm(M, 2)
        sector = np.inf
        if of.name == "cocoercive":
            S = (M - mu * np.eye(2)).T @ (L * np.eye(2) - M)
            sector = np.linalg.eigvalsh((S + S.T) / 2)[0]
        assert min(least, size, sector) >= -1e-12
        room.append(min(size, sector))
    assert of.name == "monotone" or min(room) < 1e-3


@pytest.mark.parametrize(
    ("of", "step", "verdict"),
    [
        (monotone_lipschitz(L=1, mu=0.1), 0.5, "REFUTED"),  # it converges on every quadratic
        (monotone_lipschitz(L=1, mu=0.1), 0.1, "SUPPORTED"),  # η = μ/L²
        (monotone_lipschitz(L=1, mu=0), 0.01, "REFUTED"),  # a rotation, at any step
        (cocoercive(L=1, mu=0.2), 0.5, "SUPPORTED"),
        (monotone(mu=0.5), 0.1, "REFUTED"),  # nothing bounds its size
    ],
)
def test_steps_along_a_field_leave_where_it_turns_too_fast(of, step, verdict):
    row = row_of([of], FedAvg(step_size=step))
    assert row.verdict == verdict
    assert verdict != "REFUTED" or "the iterates of some run obey" in row.reason


@pytest.mark.parametrize(
    ("mu", "step", "rate", "curvature"),
    [
        (0.1, 1, None, 1),  # η = 1/L, where the factor is 1
        (0.1, Rational("0.6"), "0.88", Rational("0.1")),
        (0.2, Rational("0.6"), "0.785", Rational("0.2")),
        (0, Rational("0.5"), "0.99", Rational(1, 2**19)),  # ever smaller ones, where μ = 0
        (0.1, Rational("0.6"), "0.9", None),  # true: its factor is at most 0.8904
        (0.1, Rational("0.9"), None, None),
    ],
)
def test_saddle_functions_that_do_not_turn_refute_extragradient(mu, step, rate, curvature):
    """On (λ/2)(x² − y²) its factor is (1 − ηλ + η²λ²)², here by sympy."""
    method, right = Extragradient(step_size=float(step)), {}
    if rate:
        right = {"right": lambda c: Rational(rate)}
    row = row_of([strongly_convex_concave(L=1, mu=mu)], method, **right)
    assert row.verdict == ("SUPPORTED" if curvature is None else "REFUTED")
    if curvature is not None:
        factor = (1 - step * curvature + (step * curvature) ** 2) ** 2
        assert factor >= Rational(rate or 1)
        assert f"on f(x, y) = (λ/2)(‖x‖² − ‖y‖²) with λ = {curvature} the iterates" in row.reason
        assert row.lhs["low"] == pytest.approx(float(factor))


def test_saddle_functions_that_do_not_turn_differ_between_clients():
    """As quadratics do: two local steps of 2.05 take z to (1.1025 + 0.795²)/2·z."""
    method = FedAvg(local_steps=2, step_size=2.05)
    apart = [strongly_convex_concave(L=1, mu=0.1), shared_minimiser()]
    (case,) = over(apart, method)
    done = _run(method, case.problem)
    (mode,) = (
        _mode(done, of, case.problem)
        for of in _members(case.problem, done, None)
        if len(set(of)) == 2
    )
    assert mode.recurrence == (Fraction("1.1025") / 2 + Fraction("0.795") ** 2 / 2,)
    assert "f_i(x, y) = (λ_i/2)(‖x‖² − ‖y‖²) with λ = (1/10, 1)" in str(mode)


@algorithm(name="alternating", source="tests", statement="y, then x at the new y")
class Alternating(FedAvgS):
    pass


@pytest.mark.parametrize(("inner", "outer"), [(0.5, 0.5), (0.2, 0.6)])
def test_alternating_steps_on_a_saddle_function_go_as_their_matrix(inner, outer):
    method = Alternating(inner_step_size=inner, outer_step_size=outer, order="alternating")
    (case,) = over([strongly_convex_concave(L=1, mu=0.1)], method, clients=1)
    mode = slowest(method, case.problem)
    wanted = 0.0
    for (((p, b), (_, r)),) in _members(case.problem, _run(method, case.problem), None):
        p, b, r = map(float, (p, b, r))
        first = np.array([[1, 0], [inner * b, 1 - inner * r]])  # y goes first
        second = np.array([[1 - outer * p, -outer * b], [0, 1]])
        wanted = max(wanted, *(abs(np.linalg.eigvals(second @ first)) ** 2))
    assert float(mode.factor.mid()) == pytest.approx(wanted, rel=1e-9)


SADDLES = [strongly_convex_concave(L=1, mu=0.1)]


def apart(view):
    z = torch.cat((view.mean("x"), view.mean("y")))
    return each("round", "local_step", sq(z - view.minimiser)) if view.last else None


def moves(view):
    return each("round", "local_step", sq(view.mean("x") - view.round_start("x")))


@pytest.mark.parametrize(
    ("steps", "order", "left", "rate", "verdict"),
    [
        ((0.05, 0.03), "simultaneous", apart, None, "SUPPORTED"),
        ((0.05, 0.03), "simultaneous", apart, "0.994", "REFUTED"),  # (1 − 0.003)² is 0.994009
        ((0.05, 0.03), "simultaneous", moves, "0.997", "SUPPORTED"),
        ((0.05, 0.03), "alternating", apart, "0.995", "SUPPORTED"),
        ((0.5, 0.5), "simultaneous", apart, None, "REFUTED"),  # where it turns
        ((2.1, 0.1), "alternating", apart, None, "REFUTED"),  # in y alone, 1 − 2.1
        ((0.1, 2.0), "alternating", apart, None, "REFUTED"),  # in x alone, 1 − 2
    ],
)
def test_x_and_y_may_be_held_apart(steps, order, left, rate, verdict):
    """Both have a weight of their own in V, and the distance is that of (x, y)."""
    method = FedAvgS(inner_step_size=steps[0], outer_step_size=steps[1], order=order)
    right = {"right": lambda c: Rational(rate)} if rate else {}
    row = row_of(SADDLES, method, left=left, **right)
    assert row.verdict == verdict
    if verdict == "SUPPORTED":
        assert re.search(r"V = \S+ ‖x‖² \+ \S+ ‖y‖²\n", row.reason)
        assert all(check(text) for text in row.proofs.values())
        assert len(row.proofs) == 3 + 2 * (left is moves)
    else:
        assert row.evidence == "enclosed"


class Tracked(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor
    of_x: torch.Tensor
    of_y: torch.Tensor


@algorithm(name="tracking-apart", source="tests", statement="GradientTrackingGDA, x and y apart")
class TrackingApart(GradientTrackingGDA):
    needs = "minimax"
    iterate = "x"

    def init(self, ctx, oracles, start):
        x, y = (ctx.everywhere(of) for of in self.parts(oracles, start))
        return Tracked(x, y, torch.zeros_like(x), torch.zeros_like(y))

    def parts(self, oracles, of):
        return of[..., : oracles.upper_dim, :], of[..., oracles.upper_dim :, :]

    def anywhere(self, ctx, oracles, start, own):
        x, y = (ctx.everywhere(of) for of in self.parts(oracles, start))
        return Tracked(x, y, *self.parts(oracles, ctx.average(own)[0] - own))

    def step(self, ctx, oracles, state):
        x, y, *of = state
        slopes = oracles.upper_grad_x(x, y, None), -oracles.upper_grad_y(x, y, None)
        if ctx.t % self.local_steps == 0:
            means = ctx.average(*slopes)
            of = [mean - slope for mean, slope in zip(means, slopes, strict=True)]
        x, y = (
            at - self.step_size * (slope + own)
            for at, slope, own in zip((x, y), slopes, of, strict=True)
        )
        if ctx.t % self.local_steps == self.local_steps - 1:
            x, y = ctx.average(x, y)
        return Tracked(x, y, *of)


@algorithm(name="tracking-swapped", source="tests", statement="y is given the part of x")
class TrackingSwapped(TrackingApart):
    def anywhere(self, ctx, oracles, start, own):
        state = super().anywhere(ctx, oracles, start, own)
        return state._replace(of_y=state.of_x)


def test_what_is_remembered_of_x_and_y_may_be_held_apart():
    """And converges as fast as where both are one vector, however much the clients differ."""
    classes = [strongly_convex_concave(L=1, mu=0.5)]
    kinds = {
        GradientTrackingGDA: measured(GradientTrackingGDA, lambda v, z: sq(z - v.minimiser)),
        TrackingApart: apart,
    }
    rows = [
        row_of(classes, of(local_steps=2, step_size=0.1), left=left, clients=2)
        for of, left in kinds.items()
    ]
    assert {row.verdict for row in rows} == {"SUPPORTED"}
    assert len({row.lhs["mean"] for row in rows}) == 1
    assert all("·ζ²" in row.reason for row in rows)
    row = row_of(classes, TrackingSwapped(local_steps=2, step_size=0.1), left=apart, clients=2)
    assert row.verdict == "INCONCLUSIVE"


class Named(NamedTuple):
    u: torch.Tensor
    v: torch.Tensor


@algorithm(name="named", source="tests", statement="FedAvg-S, whose x and y are called u and v")
class NamedUV(FedAvgS):
    iterate = "u"

    def init(self, ctx, oracles, start):
        return Named(*super().init(ctx, oracles, start))

    def step(self, ctx, oracles, state):
        return Named(*super().step(ctx, oracles, State(*state)))


def test_what_is_measured_of_x_and_y_is_the_distance_of_both():
    with pytest.raises(DriftproofError, match=r"a state of u, v[^$]*its fields: x and y"):
        potential(NamedUV(), SADDLES)
    method, both = FedAvgS(), re.escape('torch.cat((view.mean("x"), view.mean("y")))')
    with pytest.raises(DriftproofError, match=rf"\(x, y\) − x\*[^$]*{both}"):
        row_of(SADDLES, method, left=lambda view: average("step", moves(view).value))
    with pytest.raises(DriftproofError, match="where the origin is"):
        row_of(SADDLES, method, left=measured(method, lambda v, x: sq(x - v.minimiser)))


def test_clients_of_different_curvature_go_as_the_mean_of_their_steps():
    """f_1 = x²/2 and f_2 = x²/20: two local steps of 2.05 take x to (1.1025 + 0.632)/2·x."""
    method = FedAvg(local_steps=2, step_size=2.05)
    apart = [smooth_strongly_convex(L=1, mu=0.1), shared_minimiser()]
    (case,) = over(apart, method)
    found = {
        of: _mode(done, of, case.problem)
        for done in [_run(method, case.problem)]
        for of in _members(case.problem, done, None)
        if len(set(of)) == 2
    }
    assert len(found) == 1
    (mode,) = found.values()
    assert mode.recurrence == (Fraction("1.1025") / 2 + Fraction("0.795") ** 2 / 2,)
    assert "f_i(x) = (λ_i/2)‖x‖² with λ = (1/10, 1)" in str(mode)
    (alike,) = over([CLASS, equal()], method)
    done = _run(method, alike.problem)
    assert all(len(set(of)) == 1 for of in _members(alike.problem, done, None))


@given(
    st.lists(st.fractions(-3, 3, max_denominator=20), min_size=1, max_size=3),
    st.lists(st.fractions(-3, 3, max_denominator=20), max_size=3),
)
def test_roots_on_the_circle_are_told_exactly(sums, others):
    """(z² − wz + 1) has its roots on the circle if and only if |w| ≤ 2; (z − u) if |u| = 1."""
    whole = fmpq_poly([1])
    for w in sums:
        whole *= fmpq_poly([1, fmpq(-w.numerator, w.denominator), 1])
    for u in others:
        whole *= fmpq_poly([fmpq(-u.numerator, u.denominator), 1])
    wanted = any(abs(w) <= 2 for w in sums) or any(abs(u) == 1 for u in others)
    assert is_on_circle(whole) == wanted


def test_a_double_root_refutes_its_own_rate_and_a_single_one_does_not():
    """Heavy ball at its best parameters, L = 9, μ = 1: a double root −1/2 at λ = L, 1/2 at μ."""
    best = HeavyBall(step_size=0.25, momentum=0.25)
    row = row_of([smooth_strongly_convex(L=9, mu=1)], best, right=lambda c: Rational(1, 4))
    assert row.verdict == "REFUTED"
    assert "‖x_t‖² goes like t²·0.25^t" in row.reason
    row = row_of([CLASS], FedAvg(step_size=0.1), right=lambda c: Rational("0.81"))
    assert row.verdict == "SUPPORTED"
    row = row_of([smooth_convex(L=10)], FedAvg(step_size=0.2), right=lambda c: 1)
    assert row.verdict == "SUPPORTED"  # x_(t+1) = −x_t stays bounded: its root is single


METHODS = [
    member
    for leaf in leaves("algorithm").values()
    if (cls := leaf.load()).anywhere is not Algorithm.anywhere
    for member in {str(of): of for of in (cls(), *cls.examples())}.values()
    if member.local_steps == member.participation == 1
]
"""Every shipped method that says what a round begins with, with one local step of all clients."""
CONDITIONS = (
    [CLASS],
    [smooth_convex(L=10)],
    [convex()],
    [strongly_convex(mu=1)],
    [smooth_convex(L=10), plus(strongly_convex(mu=1))],
    [monotone(mu=0.5)],
    [cocoercive(L=10)],
    [monotone_lipschitz(L=10, mu=1)],
    [strongly_convex_concave(L=10, mu=1)],
    [CLASS, plus(convex())],
    [CLASS, plus(indicator())],
    [smooth_convex(L=10), plus(convex())],
)


def can_run(method, conditions):
    """Tell whether a class has the oracles that a method asks, and a term where it steps along."""
    offers = "minimax" if conditions[0].saddle else "class"
    terms = [of.normals for of in conditions if of.term]
    with_term = {"proximal": terms, "set": any(terms), "compact-set": any(terms)}
    fits = with_term | {"implicit": not terms}
    return method.needs in OFFERS[offers] and bool(fits.get(method.needs, True))


PAIRS = [(method, of) for method in METHODS for of in CONDITIONS if can_run(method, of)]


def test_each_shipped_method_with_a_limit_can_run_on_a_class():
    """All but those whose oracles no class has: of samples, and of compositions."""
    told = {type(method).__name__ for method, _ in PAIRS}
    assert told >= {"FedAvgS", "FrankWolfe", "GradientTrackingGDA", "ProximalPoint", "Scaffold"}
    left_out = [method for method in METHODS if type(method).__name__ not in told]
    every = OFFERS["class"] | OFFERS["minimax"]
    assert not every & {method.needs for method in left_out}


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(PAIRS), st.sampled_from([None, "1", "0.95"]))
def test_each_method_is_judged_over_each_class_that_it_can_run_on(pair, factor):
    """A solver that fails is no error of the statement's: the row says what was tried."""
    method, conditions = pair
    right = {"right": lambda c: Rational(factor)} if factor else {}
    apart_from = measured(method, lambda view, x: sq(x - view.minimiser))
    row = row_of(
        conditions, method, left=apart if method.needs == "minimax" else apart_from, **right
    )
    assert row.verdict in ("SUPPORTED", "REFUTED", "INCONCLUSIVE")
    assert row.reason
