"""A small version of the calibration table: no judge is wrong where the truth is known."""

import pytest

from driftproof.toolkit.verdict import Verdict
from tests.calibration.__main__ import KINDS
from tests.calibration.table import Judged, counted

SMALL = {
    "bound, exact": 15,
    "bound, sampled": 3,
    "bound, given sampled pasts": 2,
    "identity": 80,
    "symbolic": 36,
}


@pytest.mark.parametrize("kind", list(SMALL))
def test_no_judge_is_wrong_on_statements_of_known_truth(kind):
    judged = list(KINDS[kind](SMALL[kind], 1))
    assert len(judged) == SMALL[kind]
    assert [one for one in judged if one.wrong] == []


def test_most_statements_are_decided():
    """A judge that never says anything is never wrong either."""
    for kind in ("bound, exact", "identity", "symbolic"):
        judged = list(KINDS[kind](SMALL[kind], 2))
        assert sum(one.said for one in judged) >= 0.7 * len(judged)
        assert {one.true for one in judged} == {True, False}


def test_both_errors_are_counted():
    verdicts = (Verdict.REFUTED, Verdict.SUPPORTED, Verdict.SUPPORTED, Verdict.INCONCLUSIVE)
    truths = (True, True, False, False)
    judged = [Judged("", true, verdict) for true, verdict in zip(truths, verdicts, strict=True)]
    assert counted(judged) == (2, 1, 0, 2, 1, 1)
    assert [one.wrong for one in judged] == [True, False, True, False]
