"""PEPit's constrained, composite and online examples, and those with implicit steps.

Each is named as PEPit 0.5.1 names it, with the numbers of its docstring; the methods are written
again. The value is what PEPit prints, with its six digits, and beside it the closed form, if any.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any, NamedTuple

import pytest

from driftproof.synthetic.classes import (
    bounded_gradients,
    convex,
    indicator,
    monotone,
    plus,
    smooth_convex,
    smooth_strongly_convex,
)
from driftproof.toolkit.measure import Steps, average, each, smallest, sq
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.solve import solve
from tests.certificates import proved
from tests.test_worst_case_peers import NEAR, Peer, StartLyapunov, distance, gap, grown


class Method(Peer):
    """A method that asks the oracles themselves."""

    needs = "proximal"

    def step(self, ctx, oracles, state):
        return self.move(ctx.t, state, oracles)


def method(move):
    return Method(move=move)


def subgradient(step):
    return method(lambda k, s, o: s._replace(x=s.x - step * o.field_grad(s.x, None)))


def implicit(step):
    return method(lambda k, s, o: s._replace(x=o.prox(s.x, step)))


def fast_implicit(A, steps):
    """Güler's accelerated proximal point method; z is v."""
    factors = []
    for gamma in steps:
        factors.append((sqrt((A * gamma) ** 2 + 4 * A * gamma) - A * gamma) / 2)
        A *= 1 - factors[-1]

    def move(k, s, o):
        y = (1 - factors[k]) * s.x + factors[k] * s.z
        x = o.prox(y, steps[k])
        return s._replace(x=x, z=s.z + (x - y) / factors[k])

    return method(move)


def forward_backward(step, momentum=lambda k: 0):
    """x⁺ = prox(y − γ∇f(y)), y⁺ = x⁺ + m_k(x⁺ − x)."""

    def move(k, s, o):
        x = o.prox(s.y - step * o.field_grad(s.y, None), step)
        return s._replace(x=x, y=x + momentum(k) * (x - s.x))

    return method(move)


def frank_wolfe(k, s, o):
    v = o.linear_minimiser(o.field_grad(s.x, None))
    return s._replace(x=(1 - 2 / (k + 2)) * s.x + 2 / (k + 2) * v)


def alternating(k, s, o):
    y = o.at(0).prox(s.x, 1)
    return s._replace(x=o.at(1).prox(y, 1), y=y)


def fast_resolvent(k, s, o):
    """Kim's accelerated proximal point method; y is what the resolvent is taken of."""
    x = o.prox(s.y, 2)
    m = k / (k + 2)
    return s._replace(x=x, y=x + m * (x - s.x) - m * (s.x - s.z), z=s.y)


def online_descent(step):
    return method(
        lambda k, s, o: s._replace(x=o.project(s.x - step * o.at(k).field_grad(s.x, None)))
    )


def online_frank_wolfe(eta, sigma):
    def move(k, s, o):
        g = o.at(k).field_grad(s.x, None)
        total = s.z + g if k else g
        v = o.linear_minimiser(s.x - s.first + eta * total)
        return s._replace(x=(1 - sigma) * s.x + sigma * v, z=total)

    return method(move)


def best(view: Steps):
    """Of all iterates but the last: run one step more."""
    return smallest("transition", view.gap(view.before.x.mean(0)))


def moved(view: Steps):
    last = view.state.x - view.before.x
    return each("transition", sq(last.mean(0))) if view.last else None


def apart(view: Steps):
    """‖P_1(x_n) − x_n‖², x_n in the second set; the projection is taken in one step more."""
    return each("transition", sq((view.state.y - view.before.x).mean(0))) if view.last else None


def residual(view: Steps):
    return each("transition", sq((view.state.x - view.before.y).mean(0))) if view.last else None


def regret(view: Steps):
    """The mean over time of f_t(x_t) − f_t(x*), x* the best fixed point."""
    return average("transition", view.problem.loss_at(view.t, view.before.x.mean(0)))


class Example(NamedTuple):
    method: Any
    classes: list[Any]
    rounds: int
    left: Any
    value: float
    known: Any = None
    clients: int = 1
    times: float = 1


LIPSCHITZ, SETS = bounded_gradients(convex(), 1), [indicator(), NEAR]
ONLINE = [LIPSCHITZ, plus(indicator(0.5))]
EXAMPLES = {
    "subgradient_method": Example(
        subgradient(1 / (2 * sqrt(7))), [bounded_gradients(convex(), 2), NEAR], 7, best, 0.755929,
        2 / sqrt(7),
    ),
    "proximal_point": Example(
        implicit(3), [convex(), NEAR], 4, gap, 0.0208333, Fraction(1, 48)
    ),
    "accelerated_proximal_point": Example(
        fast_implicit(5, [(i + 1) / 1.1 for i in range(3)]),
        [convex(), StartLyapunov("start-distance", {"mu": Fraction(5)})], 3, gap, 0.0159311,
    ),
    "proximal_gradient": Example(
        forward_backward(1), [smooth_strongly_convex(1, 0.1), plus(convex()), NEAR], 2, distance,
        0.6561, Fraction(6561, 10**4),
    ),
    "accelerated_proximal_gradient": Example(
        forward_backward(1, lambda k: (grown(5)[k] - 1) / grown(5)[k + 1]),
        [smooth_convex(1), plus(convex()), NEAR], 4, gap, 0.0516733,
    ),
    "accelerated_proximal_gradient_simplified": Example(
        forward_backward(1, lambda k: k / (k + 3)), [smooth_convex(1), plus(convex()), NEAR], 4,
        gap, 0.0526316, Fraction(1, 19),
    ),
    "frank_wolfe": Example(
        method(frank_wolfe), [smooth_convex(1), plus(indicator(1))], 10, gap, 0.0782895,
    ),
    "alternate_projections": Example(method(alternating), SETS, 11, apart, 0.0188677, None, 2),
    "monotone_inclusions.proximal_point": Example(
        implicit(2), [monotone(), NEAR], 10, moved, 0.038742, Fraction(9**9, 10**10)
    ),
    "monotone_inclusions.accelerated_proximal_point": Example(
        method(fast_resolvent), [monotone(), NEAR], 10, residual, 0.01, Fraction(1, 100)
    ),
    "online_gradient_descent": Example(
        online_descent(0.5 / sqrt(2)), ONLINE, 2, regret, 0.707107, 0.5 * sqrt(2), 2, 2
    ),
    "online_frank_wolfe": Example(
        online_frank_wolfe(0.25 * 1.5**0.75, 1), ONLINE, 2, regret, 0.933013, None, 2, 2
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_pepit(name):
    of = EXAMPLES[name]
    (case,) = build(of.method, of.classes, rounds=of.rounds, left=of.left, clients=of.clients)
    found = solve(case)
    assert found.value * of.times == pytest.approx(of.value, rel=1e-5)
    assert not case.loose
    if name == "alternate_projections":
        return  # its proof takes a minute
    bound = proved(case, found).bound
    assert float(bound) == pytest.approx(found.value, rel=1e-5)
    if isinstance(of.known, Fraction):
        assert bound * of.times == of.known
    elif of.known is not None:
        assert float(bound) * of.times == pytest.approx(of.known, rel=1e-6)
