"""The statements of the literature: what is published of them, and what the page says."""

import json

import pytest

from docs.generate.literature import FILE, row, statements
from docs.generate.pages import block
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers import baseline
from driftproof.verifiers.in_print import errata
from driftproof.verifiers.in_print.citations import PUBLISHED
from driftproof.verifiers.verify import Settings, judge

TRUTH = {name: row(leaf)["truth"] for name, leaf in statements().items()}


def test_there_are_enough_of_each_kind():
    false = [name for name, truth in TRUTH.items() if truth.startswith("false")]
    tight = [name for name, truth in TRUTH.items() if "tight" in truth]
    assert len(TRUTH) >= 30
    assert len(false) >= 12
    assert len(tight) >= 12
    assert all(truth.startswith(("false", "true")) for truth in TRUTH.values())


@pytest.mark.parametrize("name", TRUTH)
def test_no_true_one_is_refuted_and_no_false_one_supported(name):
    published = TRUTH[name].startswith("false")
    wrong = Verdict.SUPPORTED if published else Verdict.REFUTED
    assert row(leaves("claim")[name])["informed"] is not wrong


@pytest.mark.parametrize("name", [name for name, truth in TRUTH.items() if "tight" in truth])
def test_what_is_tight_is_met(name):
    """So every smaller right side is false. Where both sides can be 0 there is no ratio."""
    for one in judge([leaves("claim")[name].load()], Settings()):
        assert one.verdict is Verdict.SUPPORTED
        assert one.ratio is None or one.ratio == pytest.approx(1, rel=1e-6)


def test_they_count_among_no_papers_errata():
    assert not any(one.claim in TRUTH for one in errata.of_papers())
    assert not any(entry["claim"] in TRUTH for entry in baseline.errata())
    assert any(one.claim in TRUTH for one in errata.statements())


def test_the_measured_file_and_the_table_have_all_of_them():
    assert set(json.loads(FILE.read_text(encoding="utf-8"))) == set(TRUTH)
    table = block("measured", "literature")
    for name in TRUTH:
        assert f"`{name.removeprefix(PUBLISHED)}`" in table
