"""Rates in t: what is proved for all t, what is refuted, and texts that do more than calculate."""

from __future__ import annotations

import json

import pytest

from driftproof import algorithm, each, limit, sq, verify
from driftproof.algorithms import FedAvg, Nesterov, ProximalGradient, ProximalPoint
from driftproof.classes import (
    bounded_gradients,
    convex,
    indicator,
    over,
    plus,
    shared_minimiser,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
)
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import is_positive
from driftproof.toolkit.ratios import Ratio
from driftproof.verifiers.worst_case.check import RefusedCertificateError, check
from driftproof.verifiers.worst_case.digest import sealed

SMOOTH = smooth_convex(L=1)
CURVED = smooth_strongly_convex(L=1, mu=0.5)


def gap(view):
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None


def off(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None


def gradient(view):
    return each("round", "local_step", sq(view.gradient(view.mean("w")))) if view.last else None


def row_of(conditions, method, left=gap, rate="1/t", clients=1, **more):
    fields = {"name": "own/rate", "source": "tests", "statement": r"O(1/t)", "rate": rate, **more}
    (row,) = verify(limit(classes=over(conditions, method, clients=clients), **fields)(left))
    return row


def method(size, **fields):
    """Return gradient descent with a step size that is a function of t."""

    class Text(FedAvg):
        def step(self, ctx, oracles, state):
            xi = ctx.draw(oracles.field_law(self.batch), "xi")
            (g,) = ctx.average(oracles.field_grad(state.w, xi))
            return state._replace(w=state.w - size(self.step_size, ctx.t) * g)

    return algorithm(name="in-t", source="tests", statement="x")(Text)(**fields)


@pytest.mark.parametrize(
    ("conditions", "text", "left", "rate", "clients", "said"),
    [
        ([SMOOTH], FedAvg(step_size=1.0), gap, "1/t", 1, "V_t = 1/2 ‖w‖² + t (F(w) − F*)"),
        ([SMOOTH], FedAvg(step_size=1.0), gradient, "1/t^2", 1, "(t + 1)^2·m ≤ V_t"),
        ([SMOOTH, plus(convex())], ProximalGradient(step_size=1.0), gap, "1/t", 1, "t (F(w) − F*)"),
        ([convex()], ProximalPoint(step_size=1.0), gap, "1/t", 1, "≤ 0.5·‖w_0 − x*‖²"),
        ([SMOOTH, shared_minimiser()], FedAvg(step_size=1.0), gap, "1/t", 2, "V_t = 1/2 ‖w‖²"),
        ([SMOOTH], Nesterov(step_size=1.0), gap, "1/t^2", 1, "t**2"),
        ([CURVED], method(lambda c, t: c / (t + 1), step_size=1.0), off, "1/t", 1, "‖w‖²"),
    ],
)
def test_classic_rates_have_certificates_for_all_t(conditions, text, left, rate, clients, said):
    row = row_of(conditions, text, left, rate, clients)
    assert row.verdict == "SUPPORTED"
    assert said in row.reason
    assert "replayed in doubles" in row.reason
    shown = [check(file).said for file in row.proofs.values()]
    assert sum("for all 0 <= t," in lines for lines in shown) == 2
    for file in (text for text in row.proofs.values() if '"region"' in text):
        fields = {k: v for k, v in json.loads(file).items() if k != "digest"}
        (times, *of), *rest = fields["multipliers"]
        for multipliers in ([], rest, [[f"2*({times})", *of], *rest]):
            with pytest.raises(RefusedCertificateError):
                check(sealed(fields | {"multipliers": multipliers}))


@pytest.mark.parametrize(
    ("text", "left", "rate", "verdict"),
    [
        (FedAvg(step_size=1.0), gap, "1/t^2", "INCONCLUSIVE"),  # Huber's function has 1/t
        (FedAvg(step_size=2.0), gap, "1/t", "REFUTED"),
        (FedAvg(step_size=2.1), gap, "1/t", "REFUTED"),
        (FedAvg(step_size=1.0), off, "1/t", "INCONCLUSIVE"),  # of many minimisers there is no rate
        (Nesterov(step_size=1.5), gap, "1/t^2", "INCONCLUSIVE"),
        (method(lambda c, t: c / (t + 1), step_size=1.0), gap, "1/t", "INCONCLUSIVE"),  # 1/log t
        (method(lambda c, t: c * (t + 1), step_size=1.0), off, "1/t", "INCONCLUSIVE"),
    ],
)
def test_what_is_false_or_not_shown_is_not_supported(text, left, rate, verdict):
    row = row_of([SMOOTH], text, left, rate)
    assert row.verdict == verdict
    said = "; this says nothing of larger t" in row.reason
    assert said == (verdict == "INCONCLUSIVE")


def test_what_is_not_shown_is_measured_after_a_few_rounds():
    """F(x_t) − F* is at most L‖x_0 − x*‖²/(4t + 2) (Drori & Teboulle 2014)."""
    reason = row_of([SMOOTH], FedAvg(step_size=1.0), gap, "1/t^2").reason
    assert "measured at t = 1, 2, 4: t^2·m is at most 0.167, 0.4, 0.889 times ‖w_0 − x*‖²" in reason


def test_a_step_too_short_for_its_rate_is_not_supported():
    """‖x_t‖² goes like t^(−2μc) on (μ/2)‖x‖², which is t^(−1/2) for c = 1/2."""
    row = row_of([CURVED], method(lambda c, t: c / (t + 1), step_size=0.5), off)
    assert row.verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(
    "size",
    [
        lambda c, t: c if t > 3 else 1.5 * c,
        lambda c, t: c / (1 + int(t)),
        lambda c, t: c / (1 + float(t)),
        lambda c, t: c * len(f"{t}"),
        lambda c, t: c / (1 + t) ** 0.5,
        lambda c, t: c * (2 ** -(t + 1)),
        lambda c, t: c if t / (t + 1) < 0.5 else 1.5 * c,
        lambda c, t: c * max(1 / (t + 1), 0.1),
        lambda c, t: c if isinstance(t, int) else 1.5 * c,
        lambda c, t: c * (t - 50) / (t - 50),  # there is no such step 50
        lambda c, t: c * (t + 1) / t,
    ],
)
def test_a_text_that_does_more_with_t_than_calculate_is_refused(size):
    row = row_of([CURVED], method(size, step_size=0.5), off)
    assert row.verdict == "INCONCLUSIVE"
    assert "t" in row.reason
    assert "V_t" not in row.reason
    assert "measured at" not in row.reason


def test_without_a_rate_in_t_nothing_is_calculated_with_it():
    row = row_of([CURVED], method(lambda c, t: c / (t + 1), step_size=0.5), off, rate="")
    assert row.verdict == "INCONCLUSIVE"
    assert "reads t" in row.reason


@pytest.mark.parametrize(
    ("conditions", "left", "said"),
    [
        ([smooth(L=1)], gradient, "without an x*"),
        ([bounded_gradients(convex(), G=1)], gap, "prove a bound that is larger"),
        ([SMOOTH, plus(indicator())], gap, "no V_t"),
    ],
)
def test_a_class_without_minimisers_or_with_a_size_is_left_open(conditions, left, said):
    text = ProximalGradient(step_size=0.5) if len(conditions) > 1 else FedAvg(step_size=0.5)
    row = row_of(conditions, text, left)
    assert row.verdict == "INCONCLUSIVE"
    assert said in row.reason


def test_what_is_positive_has_no_coefficient_below_0():
    t = Ratio.letter("t")
    assert all(map(is_positive, (t + 1, 1 / (t + 3))))
    assert not any(map(is_positive, (t - 1, -t, t * 0)))


@pytest.mark.parametrize("fields", [{"rate": "1/t^3"}, {"right": lambda c: 1}])
def test_a_rate_is_one_of_two_and_has_no_right_side(fields):
    with pytest.raises(DriftproofError, match="without a right side"):
        row_of([SMOOTH], FedAvg(), **fields)
