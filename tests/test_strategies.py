"""Theorem checks for users' tests: strategies, ``assert_holds`` and the plugin for pytest."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from driftproof import Assumption, Case, DriftproofError, assert_claim, assert_holds, bound, grid
from driftproof.algorithms import ComFedL, FedAvg, LocalSCGDM
from driftproof.problems import BoundedComposition, PiecewiseComposition, PiecewiseLosses
from driftproof.strategies import hyperparameters, instances, problems
from toolkit.discover import leaves
from toolkit.measure import each, sq
from toolkit.oracles import OFFERS
from toolkit.parameters import constraints, sweep
from toolkit.verdict import Verdict
from verifiers.asserting import verify
from verifiers.expression import case_of, expression
from verifiers.search.inside import is_inside, moved_inside

pytest_plugins = ["pytester"]
FEW = settings(
    max_examples=12, phases=[Phase.explicit, Phase.generate], database=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
CONVEX = Assumption("strong convexity", r"\mu > 0", roles=("strong_convexity",))
SMALL = Assumption("step size", r"\eta \le 1/L", relation=lambda c: c.eta <= 1 / c.L)
"""With ∇F = Σ ∇F_i/K and F_i different, L is that of F."""


def drift(power, **more):
    """Return ‖w̄_{s,t} − w̄_s‖² ≤ τ^power η² G_f² G_g²: true for 2, false for 1."""

    @bound(
        name="mine/drift", source="a test", statement="s", right=lambda c: (
            c.tau**power * c.eta**2 * c.G_f**2 * c.G_g**2
        ),
        cases=grid(
            BoundedComposition(clients=sweep(8, 2), distance=20.0),
            ComFedL(local_steps=sweep(1, 5), step_size=0.1), rounds=5,
        ),
        **more,
    )  # fmt: skip
    def drift(view):
        return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))

    return drift


def descent(factor):
    """Return ‖w̄ − x*‖² after each round ≤ factor·(its first value), under η ≤ 1/L and μ > 0."""

    @bound(
        name="mine/descent", source="a test", statement="s", assumes=[CONVEX, SMALL],
        right=lambda c: factor * c.F_gap * 2 / c.mu,
        cases=grid(PiecewiseLosses(tails="linear"), FedAvg(step_size=0.1), rounds=3),
        letters={"eta": "step_size", "L": "field_smoothness", "mu": "strong_convexity",
                 "F_gap": "initial_gap"},
    )  # fmt: skip
    def descent(view):
        if view.problem.noise:
            return None
        return each("round", sq(view.mean("w") - view.problem.solution.minimiser[:, None]))

    return descent


@pytest.mark.parametrize(
    "name", ["comfedl/lemma-3", "scgdm/lemma-4.1", "comfedl/equation-7", "feddro/lemma-a.1"]
)
def test_drawn_instances_are_inside_the_assumptions(name):
    claim = leaves("claim")[name].load()

    @FEW
    @given(instances(claim))
    def drawn(case):
        assert_holds(claim, case, profile="smoke")

    drawn()
