"""The judges' own numbers, each tried on both sides; the numbers are those of docs/verdicts.md."""

from __future__ import annotations

import numpy as np
import pytest

from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.judges import bounds
from driftproof.verifiers.judges.bounds import measure_exactly, what_to_change
from driftproof.verifiers.judges.evidence import rounding
from driftproof.verifiers.running.jobs import BUDGETS
from tests.test_evidence import exact, sampled
from tests.users import UsersQuadratic, smooth_claim


@pytest.mark.parametrize(
    ("width", "verdict"), [(0.9e-6, Verdict.SUPPORTED), (1.1e-6, Verdict.INCONCLUSIVE)]
)
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6])
def test_sides_that_agree_count_as_equal_to_a_millionth(scale, width, verdict):
    """Of the sides: their scale does not matter, above the dust of the range."""
    row = exact([0.5 * scale], 0.5 * scale * (1 - width / 2), 0.5 * scale * (1 + width / 2))
    assert row.verdict is verdict
    assert row.attained is (verdict is Verdict.SUPPORTED)


@pytest.mark.parametrize(("left", "right"), [(0.5e-12, 0.6e-12), (0.0, 1e-20), (0.0, -1e-20)])
def test_the_range_excuses_no_rounding_error_beside_a_right_side_that_is_not_0(left, right):
    row = exact([left], right, right, error=0.9e-12 / 2.0**23)
    assert row.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("beyond", "fine"), [(0.9e-9, True), (1.1e-9, False)])
def test_a_replicate_may_leave_its_range_by_rounding_only(beyond, fine):
    x = np.full((1, 4096), 0.1)
    for value in (1 + beyond, -beyond):
        x[0, 0] = value
        row = sampled(x, 0.5, 0.5)
        assert (row.verdict is Verdict.SUPPORTED) is fine
        assert ("range(c) is from" in row.reason) is not fine


@pytest.mark.parametrize(("rounds", "kind"), [(12, "exact"), (13, "too many atoms")])
def test_noise_of_4096_outcomes_is_enumerated(rounds, kind):
    problem = UsersQuadratic(clients=1, dim=1, noise=0.1)
    claim = smooth_claim(problem, FedAvg())
    made = measure_exactly(claim, Case(problem, FedAvg(), rounds))
    assert made.kind == kind
    if kind == "exact":
        assert len(made.weights) == 4096
        assert len(made.shadow) == 4


@pytest.mark.parametrize(("distance", "bound"), [
    (0.099, 0.099 * 2.0**-23 + 1e-14), (0.101, 0.101 + 1e-14), (0.0, 1e-14),
])  # fmt: skip
def test_rounding_is_scaled_where_single_precision_differs_by_a_tenth_at_most(distance, bound):
    made = rounding(np.array([1.0]), np.array([[1.0], [1.0 + distance]]), 0.0)
    assert made[0] == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize(("right", "told"), [(0.0099, "sharpen the range"), (0.0101, "farther")])
def test_a_right_side_below_a_hundredth_of_the_range_asks_for_a_sharper_range(right, told):
    assert told in what_to_change(np.full(64, right), right, right)


def test_the_numbers_that_the_docs_promise():
    assert bounds.LEVEL == 1e-5
    assert bounds.MOST == BUDGETS["full"] * BLOCK == 16_384
