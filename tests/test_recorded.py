"""What stands on record, what passes beside it, and what a damaged record says."""

import json
from dataclasses import replace

import pytest

from driftproof.cli import cli
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.verdict import Row, Verdict, together
from driftproof.verifiers import baseline

SUPPORTED, REFUTED = Verdict.SUPPORTED, Verdict.REFUTED
INCONCLUSIVE, INAPPLICABLE = Verdict.INCONCLUSIVE, Verdict.INAPPLICABLE
NAME = "comfedl/lemma-3"


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    """Keep the record in a folder of the test's own."""
    path = tmp_path / NAME.partition("/")[0] / "record.json"
    path.parent.mkdir()
    monkeypatch.setattr(baseline, "folder", lambda: tmp_path)
    return path


def row(verdict=SUPPORTED, form="printed", key="k", claim=NAME, kind="literal", **more):
    fields = {"reading_kind": kind if form == "printed" else None, **more}
    reading = fields.pop("reading", "")
    return Row(claim, form, "", reading, "bound", {"key": key}, verdict, None, "", **fields)


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ([], INAPPLICABLE),
        ([INAPPLICABLE], INAPPLICABLE),
        ([SUPPORTED, INAPPLICABLE], SUPPORTED),
        ([SUPPORTED, INCONCLUSIVE], INCONCLUSIVE),
        ([INCONCLUSIVE], INCONCLUSIVE),
        ([SUPPORTED, INCONCLUSIVE, INAPPLICABLE, REFUTED], REFUTED),
    ],
)
def test_a_form_on_record_is_what_its_cases_come_to(verdicts, whole):
    assert together(iter(verdicts)) is whole


def test_no_record_is_empty_and_a_damaged_one_is_named(file):
    assert baseline.read() == {}
    file.write_text("{", encoding="utf-8")
    with pytest.raises(DriftproofError, match=r"record\.json"):
        baseline.read()


def test_what_is_written_is_read_and_sorted(file):
    baseline.write([row(key="b"), row(REFUTED, key="a"), row(form="corrected")], "full")
    assert baseline.read() == {
        NAME: {"printed": {"a": "REFUTED", "b": "SUPPORTED"}, "corrected": {"k": "SUPPORTED"}}
    }
    text = file.read_text(encoding="utf-8")
    assert text == json.dumps(baseline.read(), indent=1, sort_keys=True) + "\n"
    other = "comfedl/lemma-2"
    baseline.write([row(key="c", reading="as meant — ε")], "smoke")
    assert "as meant — ε" in file.read_text(encoding="utf-8")
    baseline.write([row(key="c", claim=other), row(INAPPLICABLE, key="a", claim=other)], "quick")
    assert set(baseline.read()) == {NAME, other}  # of a claim that was not run nothing is lost
    baseline.write([row(key="d", claim=other)], "quick")
    assert baseline.read()[other] == {"printed": {"d": "SUPPORTED"}}  # what is gone is forgotten
    assert baseline.read()[NAME]["printed"]["a"] == "REFUTED"


def test_a_record_that_cannot_be_written_is_told(file, monkeypatch):
    monkeypatch.setattr(baseline, "folder", lambda: file.parent / "nowhere")
    with pytest.raises(DriftproofError, match="record in a checkout"):
        baseline.write([row()], "smoke")


def test_it_is_told_before_anything_is_judged(tmp_path, monkeypatch):
    """As where driftproof was installed by somebody else."""
    monkeypatch.setattr(baseline, "folder", lambda: tmp_path / "nowhere")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DriftproofError, match="record in a checkout"):
        cli.main(["verify", "comfedl/lemma-2", "--record"], standalone_mode=False)
    assert not [*tmp_path.rglob("*.json")]


def test_only_driftproofs_own_claims_go_on_record(file):
    with pytest.raises(DriftproofError, match="mine/other"):
        baseline.write([row(), row(claim="mine/other")], "full")
    assert not file.exists()


def test_a_row_is_told_what_is_on_record(file):
    baseline.write([row(), row(REFUTED, form="corrected")], "full")
    told = baseline.expected(
        [row(INCONCLUSIVE), row(form="corrected"), row(key="new"), row(claim="mine/other")]
    )
    assert [one.expected for one in told] == ["SUPPORTED", "REFUTED", None, None]
    assert [one.verdict for one in told] == [INCONCLUSIVE, SUPPORTED, SUPPORTED, SUPPORTED]


def test_a_verdict_that_is_not_the_one_on_record_does_not_pass():
    baseline.write([row()], "full")
    known = baseline.expected([row()])[0]
    assert baseline.as_expected([known])
    assert not baseline.as_expected([replace(known, verdict=INCONCLUSIVE)])


@pytest.mark.parametrize(
    ("recorded", "verdict", "passes"),
    [(SUPPORTED, REFUTED, False), (SUPPORTED, INCONCLUSIVE, True), (REFUTED, REFUTED, True)],
)
def test_a_new_case_of_a_form_on_record_may_refute_only_what_is_refuted(recorded, verdict, passes):
    baseline.write([row(recorded)], "full")
    rows = baseline.expected([row(recorded), row(verdict, key="new")])
    assert baseline.as_expected(rows) == passes


@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        ([row()], []),
        ([row(REFUTED)], ["printed"]),
        ([row(INCONCLUSIVE)], ["printed"]),
        ([row(), row(REFUTED, form="corrected")], ["corrected"]),
        ([row(form="corrected")], []),  # nothing of it is printed
        ([row(INAPPLICABLE, form="corrected")], ["corrected"]),
        # the better of a literal and an intended reading counts, and a wider one does not
        ([row(REFUTED, reading="a"), row(reading="b", kind="intended")], []),
        ([row(REFUTED, reading="a"), row(reading="b", kind="wider")], ["printed: a"]),
        ([row(reading="a"), row(REFUTED, reading="b", kind="wider")], []),
        # each part has to hold
        (
            [row(reading="a", part="first"), row(REFUTED, reading="b", part="second")],
            ["printed: b"],
        ),
    ],
)
def test_a_claim_without_a_record_passes_if_its_print_and_its_correction_hold(rows, bad):
    assert [f"{g.form}: {g.reading}".removesuffix(": ") for g in baseline.unsound(rows)] == bad
    assert baseline.as_expected(rows) == (not bad)
