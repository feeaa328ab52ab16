"""What a run over a class cannot follow is refused, whatever an algorithm's text does about it."""

import pytest
import sympy
import torch

from driftproof.synthetic.classes import (
    bounded_steps,
    cocoercive,
    convex,
    for_all,
    minima_apart,
    over,
    plus,
    recurs,
    shared_minimiser,
    smooth_convex,
    smooth_strongly_convex,
    start_within,
)
from driftproof.toolkit.algorithms import FedAvg, ProximalPoint
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import each, smallest, sq
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.verify import Settings, judge
from driftproof.verifiers.worst_case.builder import build

CLASS = [smooth_convex(L=1), start_within(R=1)]


def distance(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None


def asked_and_caught(w, eta):
    try:
        return w * 10 if eta > 0.5 else w
    except Exception:  # noqa: BLE001 - as a text may
        return w


def changed_in_place(w, eta):
    moved = w.clone()
    moved.detach().sub_(5 * w)
    return moved


TEXTS = {
    "a question that is caught": asked_and_caught,
    "a table": lambda w, eta: w * {0.5: 10.0}.get(eta, 1.0),
    "a set": lambda w, eta: w * (10 if eta in {0.5} else 1),
    "whole numbers": lambda w, eta: w.to(torch.int64).to(torch.float64),
    "a sum of whole numbers": lambda w, eta: w[None].sum(0, dtype=torch.int64) * 1.0,
    "a size below both stand-ins": lambda w, eta: w * (10 if w.shape[-2] < 5 else 1),
    "a mean over the outcomes of sampling": lambda w, eta: w.mean(-1, keepdim=True).expand_as(w),
}


def programs(change):
    class Changed(FedAvg):
        def step(self, ctx, oracles, state):
            after = super().step(ctx, oracles, state)
            return type(state)(change(after.w, self.step_size))

    return build(
        Changed(step_size=for_all("0 < eta <= 1"), participation=0.5),
        CLASS,
        rounds=1,
        left=distance,
        ours=True,
    )


@pytest.mark.parametrize("change", TEXTS.values(), ids=TEXTS)
def test_a_text_that_cannot_be_followed_is_refused(change):
    with pytest.raises(DriftproofError):
        programs(change)


def test_what_is_written_into_a_view_is_written():
    """torch's detach is a view: the text moves to −4w."""
    moved, times = programs(changed_in_place), programs(lambda w, eta: w * -4)
    assert [of.objective for of in moved] == [of.objective for of in times]


class Backwards(FedAvg):
    def step(self, ctx, oracles, state):
        return type(state)(oracles.prox(state.w, self.step_size - 0.5))


@pytest.mark.parametrize(
    ("algorithm", "conditions"),
    [
        (Backwards(step_size=0.25), CLASS),
        (Backwards(step_size=for_all("0 < eta <= 1")), CLASS),
        (ProximalPoint(step_size=1.0), [*CLASS, bounded_steps(G=1)]),
        (FedAvg(step_size=1.0), [*CLASS, bounded_steps(G=1), recurs()]),
        (FedAvg(step_size=1.0), [*CLASS, minima_apart(Gamma=1), plus(convex())]),
        (FedAvg(step_size=1.0), [cocoercive(L=1), start_within(R=1), minima_apart(Gamma=1)]),
    ],
)
def test_conditions_and_steps_that_do_not_go_together_are_refused(algorithm, conditions):
    with pytest.raises(DriftproofError):
        build(algorithm, over(conditions, algorithm, rounds=1)[0].problem, rounds=1, left=distance)


class OfType(FedAvg):
    """Ten times as far if its step size is a double above 0.7."""

    def step(self, ctx, oracles, state):
        far = 10 if isinstance(self.step_size, float) and self.step_size > 0.7 else 1
        u = oracles.field_grad(state.w, None)
        return type(state)(state.w - far * self.step_size * u)


class OneByOne(FedAvg):
    """Asks one client after the other."""

    def step(self, ctx, oracles, state):
        u = oracles.at(ctx.t % 2).field_grad(state.w, None)
        return type(state)(state.w - self.step_size * u)


class Slower(FedAvg):
    """Steps of η/√2, which is no short fraction."""

    def step(self, ctx, oracles, state):
        return type(state)(state.w - self.step_size / 2**0.5 * oracles.field_grad(state.w, None))


def row_over(algorithm, of=CLASS[0], right=lambda c: c.R**2, left=distance):
    claim = bound(
        name="mine/text",
        source="here",
        statement="x \\le 1",
        right=right,
        classes=over([of, start_within(R=1), shared_minimiser()], algorithm, rounds=2),
    )(left)
    (row,) = judge([claim], Settings())
    return row


@pytest.mark.parametrize(
    "algorithm", [OfType(step_size=0.75), OfType(step_size=for_all("0 < eta <= 1/L"))]
)
def test_a_text_that_does_in_doubles_what_it_does_not_over_a_class_is_refused(algorithm):
    row = row_over(algorithm)
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "in doubles, and over the class" in row.reason


@pytest.mark.parametrize("algorithm", [OfType(step_size=0.5), OneByOne(step_size=0.75)])
def test_a_text_that_does_the_same_in_doubles_is_judged(algorithm):
    assert row_over(algorithm).verdict in (Verdict.SUPPORTED, Verdict.REFUTED)


@pytest.mark.parametrize("L", [1e-6, 1e5, 3e7])
def test_an_honest_text_is_judged_whatever_the_scale(L):
    row = row_over(FedAvg(step_size=1 / L), smooth_convex(L=L))
    assert (row.verdict, row.attained) == (Verdict.SUPPORTED, True)


def test_the_smallest_moment_is_judged():
    def best(view):
        return smallest("round", sq(view.gradient(view.mean("w"))))

    row = row_over(FedAvg(step_size=1.0), right=lambda c: 1, left=best)
    assert row.verdict is Verdict.SUPPORTED


def test_a_root_in_the_steps_refutes_nothing_by_rounding():
    """(1 − ημ/√2)⁴ is met with equality; √2 is a decimal, off by 10⁻¹⁷."""
    of = smooth_strongly_convex(L=1, mu=0.1)

    def rate(c):
        return (1 - c.eta * c.mu / sympy.sqrt(2)) ** 4 * c.R**2

    row = row_over(Slower(step_size=0.5), of, rate)
    assert row.verdict is not Verdict.REFUTED
    smaller = row_over(
        Slower(step_size=0.5), of, lambda c: rate(c) * (1 - sympy.Rational(1, 10**6))
    )
    assert smaller.verdict is Verdict.REFUTED
