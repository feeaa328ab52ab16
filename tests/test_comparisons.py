"""Certified numbers are compared at the size of the sides, counts exactly."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.cases import grid
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.files import write_report
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.claim_types.compared import Comparison, components
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.judges.comparisons import judge, maximum_over_simplex
from driftproof.verifiers.verify import Settings, header

SUPPORTED, REFUTED = Verdict.SUPPORTED, Verdict.REFUTED


def claimed(kind):
    decorate = comparison(
        name="own/numbers",
        kind=kind,
        source="",
        statement="x",
        cases=grid(BoundedComposition()),
        right=0,
    )
    return decorate(lambda case, right: [])


def judged(kind, comparisons):
    made = claimed(kind)
    return judge(made, made.cases[0], made.forms[0], comparisons)


def numbers(kind, left, right, **more):
    return judged(kind, [Comparison("", left, left, right, **more)]).verdict


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e-7, 1.0, 1e12])
def test_two_numbers_are_compared_at_their_own_size(size):
    assert numbers("identity", size, 2 * size) is REFUTED
    assert numbers("identity", size, size * (1 + 1e-5)) is REFUTED
    assert numbers("identity", size, size * (1 + 1e-8)) is SUPPORTED
    assert numbers("bound", 9 * size, size) is REFUTED
    assert numbers("bound", size, size * (1 - 1e-8)) is SUPPORTED
    assert numbers("identity", size, 0.0) is REFUTED
    assert numbers("bound", size, 0.0) is REFUTED


def test_a_variance_that_is_twice_too_large_is_refused_however_small():
    sigma = 1e-4
    assert numbers("identity", sigma**2, 2 * sigma**2) is REFUTED


def test_a_scale_says_what_counts_as_zero():
    assert numbers("identity", 1e-17, 0.0) is REFUTED
    assert numbers("identity", 1e-17, 0.0, scale=1.0) is SUPPORTED
    assert numbers("identity", 1e-5, 0.0, scale=1.0) is REFUTED
    assert numbers("identity", 0.0, 0.0) is SUPPORTED


def test_components_are_compared_at_the_size_of_their_vector():
    row = judged("identity", components("component {}", [3e9, 1e-8, 4e9], np.array([3e9, 0, 4e9])))
    assert row.verdict is SUPPORTED
    row = judged("identity", components("component {}", [3e9, 1e5, 4e9], [3e9, 0, 4e9]))
    assert row.verdict is REFUTED
    assert "component 2" in row.reason
    with pytest.raises(DriftproofError, match="two vectors of one length"):
        components("component {}", [1.0, 2.0], [1.0])


def test_counts_are_compared_exactly():
    steps, local = 240, 4
    count = float(steps + steps / local)
    assert numbers("complexity", count, count) is SUPPORTED
    assert numbers("complexity", count, count - 1e-7 * steps) is REFUTED
    assert numbers("complexity", 1e9, 1e9 + 1) is REFUTED
    assert numbers("existence", count, count - 1e-7 * steps) is SUPPORTED  # limit points, say
    assert numbers("existence", count, count - 1e-7 * steps, count=True) is REFUTED


def test_a_row_shows_both_ends_and_the_middle_of_a_left_side():
    for kind, mean in (("identity", 2.0), ("bound", 1.0)):  # a bound's left side reaches its low
        row = judged(kind, [Comparison("", 1.0, 3.0, 4.0, x=1.0), Comparison("", 0.0, 0.0, 0.0)])
        assert row.lhs == {"mean": mean, "low": 1.0, "high": 3.0}
        assert (row.rhs, row.margin, row.comparisons) == (4.0, 1e-6, 2)
        assert row.series.low == [0.0, 1.0]  # sorted by where they are drawn


def test_a_bound_shows_what_comes_closest_and_0_below_0_is_not_close():
    zero, met = Comparison("zero", 0.0, 0.0, 0.0), Comparison("met", 1.0, 1.0, 1.0)
    for both in ([met, zero], [met, Comparison("far", 1.0, 1.0, 2.0), zero]):
        row = judged("bound", both)
        assert (row.verdict, row.rhs, row.attained) == (SUPPORTED, 1.0, True)
    assert judged("bound", [zero]).attained is False
    above = judged("bound", [Comparison("large", 3.0, 3.0, 1.0), Comparison("", 1e-9, 1.0, 0.0)])
    assert (above.verdict, above.rhs) == (REFUTED, 1.0)  # by most


def test_nothing_that_is_compared_supports_nothing():
    row = judged("identity", [])
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "nothing was compared" in row.reason


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("kind", ["identity", "complexity"])
@pytest.mark.parametrize(
    ("low", "high", "value", "verdict"),
    [
        (NAN, NAN, 1.0, Verdict.INCONCLUSIVE),
        (1.0, NAN, 1.0, Verdict.INCONCLUSIVE),
        (1.0, 1.0, NAN, Verdict.INCONCLUSIVE),
        (INF, INF, INF, Verdict.INCONCLUSIVE),
        (1.0, INF, INF, Verdict.INCONCLUSIVE),
        (1.0, INF, 1.0, Verdict.INCONCLUSIVE),
        (2.0, 2.0, INF, REFUTED),
        (2.0, 2.0, -INF, REFUTED),
        (INF, INF, 2.0, REFUTED),
        (-INF, INF, 1.0, Verdict.INCONCLUSIVE),
        (-INF, INF, 0.0, Verdict.INCONCLUSIVE),
        (-INF, -INF, INF, REFUTED),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_sides_that_are_not_finite_support_nothing(kind, low, high, value, verdict, first):
    good, odd = Comparison("good", 1.0, 1.0, 1.0), Comparison("odd", low, high, value)
    row = judged(kind, [odd, good] if first else [good, odd])
    assert row.verdict is verdict
    assert row.reason.startswith("odd: ")


@pytest.mark.parametrize("kind", ["identity", "complexity", "bound"])
@pytest.mark.parametrize("scale", [NAN, INF])
def test_a_scale_that_is_not_finite_measures_nothing(kind, scale):
    row = judged(kind, [Comparison("odd", 5.0, 5.0, 1.0, scale=scale)])
    assert row.verdict is Verdict.INCONCLUSIVE
    assert row.reason.startswith("odd: the scale")


@pytest.mark.parametrize(
    ("low", "high", "value", "verdict"),
    [
        (-INF, INF, 1.0, Verdict.INCONCLUSIVE),
        (INF, INF, 1.0, REFUTED),
        (INF, INF, INF, Verdict.INCONCLUSIVE),
        (1.0, INF, INF, Verdict.INCONCLUSIVE),
        (1.0, 1.0, INF, SUPPORTED),
        (1.0, 1.0, -INF, REFUTED),
    ],
)
def test_a_bound_by_what_is_not_finite(low, high, value, verdict):
    row = judged("bound", [Comparison("", low, high, value), Comparison("", 0.0, 0.5, 1.0)])
    assert row.verdict is verdict
    assert row.rhs == value or verdict is SUPPORTED  # what is closest to failing is shown


numbers_of_any_kind = st.floats() | st.sampled_from([NAN, INF, -INF, 0.0, 1.0, 1e308, -1e308])
comparisons_of_any_kind = st.lists(
    st.builds(
        Comparison, st.just("x"), *[numbers_of_any_kind] * 4, scale=numbers_of_any_kind.map(abs)
    ),
    min_size=1,
    max_size=4,
)


KINDS = ["identity", "complexity", "existence", "bound"]


@settings(max_examples=16, deadline=None, suppress_health_check=list(HealthCheck))
@given(kind=st.sampled_from(KINDS), compared=comparisons_of_any_kind)
@example(kind="identity", compared=[Comparison("", NAN, NAN, 1.0)])
@example(kind="bound", compared=[Comparison("", 1.0, 1.0, INF)] * 2)
@example(kind="existence", compared=[Comparison("", -1e308, -1e308, 1e308)] * 2)
def test_whatever_is_compared_is_reported(tmp_path, kind, compared):
    made = claimed(kind)
    row = judge(made, made.cases[0], made.forms[0], compared)
    if row.verdict is SUPPORTED:
        assert all(c.low <= c.value + c.slack and c.high < INF for c in compared)
    head = header([], Settings()) | {"union_bound": 0.0}
    head["claims"] = {
        made.name: {
            "kind": kind,
            "source": "",
            "statement": "x",
            "assumes": [],
            "forms": {},
            "notes": {},
            "explain": "",
            "command": "c",
        }
    }
    write_report(tmp_path, head, [row], plots=True)
    (public,) = json.loads((tmp_path / "results.json").read_text())["results"]
    assert public["verdict"] == row.verdict
    assert (public["rhs"] is None) == (not np.isfinite(row.rhs))


@pytest.mark.parametrize(
    "odd", [Comparison("odd", 2.0, 0.0, 1.0), Comparison("odd", 2.0, 2.0, 1.0, scale=-1.0)]
)
def test_an_empty_enclosure_and_a_scale_below_0_decide_nothing(odd):
    row = judged("identity", [odd])
    assert row.verdict is Verdict.INCONCLUSIVE
    assert row.reason.startswith("odd: ")


def test_one_enclosure_that_is_too_wide_leaves_an_identity_open():
    good, wide = Comparison("good", 2.0, 2.0, 2.0), Comparison("wide", 0.9, 1.1, 1.0)
    for compared in ([good, wide], [wide, good]):
        row = judged("identity", compared)
        assert row.verdict is Verdict.INCONCLUSIVE
        assert "wide: the certificate is too wide" in row.reason


def test_losses_of_very_different_sizes_have_their_maximum():
    """Which a search may propose, and on which conic solvers give up."""
    low, high = maximum_over_simplex(np.array([1e16, 0.0, -1e16]), 1.0)
    assert low == pytest.approx(1e16, rel=1e-15)
    assert high == pytest.approx(1e16, rel=1e-15)
