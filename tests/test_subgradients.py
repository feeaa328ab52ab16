"""A point may have several subgradients: an oracle's is not the one that a method has chosen."""

from __future__ import annotations

import pytest

from driftproof.synthetic.classes import (
    bounded_gradients,
    convex,
    over,
    plus,
    similar,
    smooth,
    smooth_convex,
    start_at_minimiser,
    start_gap,
    start_within,
)
from driftproof.toolkit.algorithms import FedAvg, ProximalGradient, ProximalPoint
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import each, sq
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.judges import worst_cases


def distance(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None


def gradient(view):
    moved = view.gradient(view.mean("w"))
    return each("round", "local_step", sq(moved)) if view.last else None


def verdict(conditions, algorithm, left, right, clients=1):
    cases = over(conditions, algorithm, rounds=1, clients=clients)
    made = bound(name="mine/x", source="", statement="", classes=cases, right=right)(left)
    case, form = made.classes[0], made.forms[0]
    return worst_cases.judge(made, case, form, worst_cases.measure(made, case, [form])).verdict


BOUNDED = bounded_gradients(convex(), G=1)


def test_at_the_minimiser_an_oracle_need_not_say_0():
    """Two clients with |x|, and 1 for the subgradient at 0: one step leaves x* = 0."""
    at_minimiser = [BOUNDED, similar(zeta=1), start_at_minimiser()]
    step = FedAvg(step_size=1.0)
    assert verdict(at_minimiser, step, distance, lambda c: 0 * c.G, 2) is not Verdict.SUPPORTED
    assert verdict(at_minimiser, step, distance, lambda c: c.G**2, 2) is Verdict.SUPPORTED


def test_a_proximal_gradient_step_with_a_subgradient_leaves_the_minimiser():
    made = [BOUNDED, plus(convex()), start_at_minimiser()]
    step = ProximalGradient(step_size=1.0)
    assert verdict(made, step, distance, lambda c: 0 * c.T) is not Verdict.SUPPORTED


def test_the_gradient_where_an_implicit_step_ends():
    """Of 100|x| any number up to 100, where the method has chosen (x_0 − x_1)/η."""
    step, steepness = ProximalPoint(step_size=1.0), lambda c: c.R**2 / c.eta**2
    with pytest.raises(DriftproofError, match="grows beyond all bounds"):
        verdict([convex(), start_within(R=1)], step, gradient, steepness)
    bent = [smooth_convex(L=1), start_within(R=1)]
    assert verdict(bent, step, gradient, steepness) is Verdict.SUPPORTED
    assert verdict(bent, step, gradient, lambda c: c.R**2 / 100) is Verdict.REFUTED
    with pytest.raises(DriftproofError, match="proximal step on"):  # it may be no minimiser
        verdict([smooth(L=1), start_gap(1.0)], step, gradient, steepness)
