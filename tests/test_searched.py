"""The tightest cases on record: each can be remade, has the ratio that is told, and is shown."""

from __future__ import annotations

import ast
import json
from dataclasses import asdict, replace

import pytest
from click.testing import CliRunner

from driftproof import Case, bound, each, grid, sq
from driftproof.commands.falsify import command
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.report.page import render
from driftproof.verifiers import record as records
from driftproof.verifiers import searched
from driftproof.verifiers.expression import expression, pasted
from driftproof.verifiers.search import recorded
from driftproof.verifiers.search.finding import CANDIDATE, CONFIRMED, NOTHING, VERIFIED, Finding
from driftproof.verifiers.search.recorded import measured, record
from driftproof.verifiers.searched import Searched, remade, shown, tightness
from driftproof.verifiers.verify import Settings, header, judge
from tests.commands import driftproof
from tests.users import DRIFT

ON_RECORD = [
    (claim, form, entry)
    for claim, forms in searched.read().items()
    for form, entry in forms.items()
]
SAMPLE = ON_RECORD[:: max(1, len(ON_RECORD) // 8)]


def path_length(c):
    return (c.tau * c.eta * c.G_f * c.G_g) ** 2


def diffusive(c):
    return c.tau * (c.eta * c.G_f * c.G_g) ** 2


def drift_claim(right, name="tests/drift"):
    siblings = [("half", lambda c: path_length(c) / 2)]

    @bound(
        name=name, source="tests", statement="x", right=right, false_siblings=siblings,
        cases=grid(BoundedComposition(), ComFedL(), rounds=2),
    )  # fmt: skip
    def drift(view):
        return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))

    return drift


TRUE = drift_claim(path_length)
LOOSE = Case(BoundedComposition(opposition_slope=0.5), ComFedL(local_steps=5), 2)
TIGHT = Case(BoundedComposition(clients=1, distance=40.0), ComFedL(local_steps=2), 1)


def finding(case, status=NOTHING, form="printed", claim="tests/drift", ratio=0.5):
    return Finding(
        claim, form, status, ratio, case.parameters(), python=pasted(case), evaluations=7,
        seconds=1.23,
    )  # fmt: skip


def form_of(claim, key):
    return next(form for form in claim.forms if form.key == key)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Keep the record of searches in a folder of the test's own."""
    for paper in ("comfedl", "tests"):
        (tmp_path / paper).mkdir()
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    searched.on_record.cache_clear()
    yield
    searched.on_record.cache_clear()


@pytest.mark.parametrize(("name", "key", "entry"), ON_RECORD)
def test_a_case_on_record_can_be_made_again(name, key, entry):
    claim = leaves("claim")[name].load()
    assert claim.kind == "bound"
    assert form_of(claim, key).form != "sibling"
    case = remade(json.loads(json.dumps(entry.case)))
    assert case is not None
    assert ran(pasted(case)) == case
    assert entry.found or entry.sampled or 0 < entry.ratio < 1 + 1e-7


@pytest.mark.parametrize(("name", "key", "entry"), SAMPLE)
def test_a_ratio_on_record_is_that_of_its_case(name, key, entry):
    claim = leaves("claim")[name].load()
    today = measured(claim, form_of(claim, key), entry)
    assert today is not None
    assert replace(today, ratio=0) == replace(entry, ratio=0)
    assert today.ratio == pytest.approx(entry.ratio, rel=1e-9)


def ran(python):
    """Run what can be pasted, and return the value of its last line."""
    *imports, last = ast.parse(python).body
    names = {}
    exec(compile(ast.Module(imports, []), "pasted", "exec"), names)
    return eval(compile(ast.Expression(last.value), "pasted", "eval"), names)


def test_another_case_has_another_ratio():
    """What is wrong on record is noticed: another case, and a violation that is none."""
    entry = Searched(0.9, NOTHING, False, TIGHT.parameters(), 1.0, 7, 0)
    form = TRUE.forms[0]
    tight = measured(TRUE, form, entry)
    loose = measured(TRUE, form, replace(entry, case=LOOSE.parameters()))
    assert (tight.ratio, loose.ratio) == (pytest.approx(1), pytest.approx(4 / 9))
    assert measured(TRUE, form, replace(entry, status=VERIFIED)) is None
    gone = {"problem": {"name": "bounded-composition", "no_such": 1.0}}
    assert measured(TRUE, form, replace(entry, case=gone)) is None


def test_the_larger_ratio_stays_and_is_measured_anew(file, monkeypatch):
    monkeypatch.setattr(recorded, "FEW_ATTEMPTS", 0)  # a simple case is a tight one
    assert record([TRUE], [finding(LOOSE)], 3) == [("tests/drift", "printed")]
    (first,) = searched.read()["tests/drift"].values()
    assert (first.seed, first.evaluations, first.seconds) == (3, 7, 1.2)
    assert first.ratio == pytest.approx(4 / 9), "what the climb said is not taken"
    record([TRUE], [finding(TIGHT)], 4)
    (second,) = searched.read()["tests/drift"].values()
    assert second.ratio == pytest.approx(1)
    assert second.seed == 4
    assert record([TRUE], [finding(LOOSE)], 5) == []
    assert searched.read()["tests/drift"] == {"printed": second}
    lie = replace(first, ratio=0.9999999)
    searched.write({"tests/drift": {"printed": lie}})
    record([TRUE], [finding(TIGHT)], 6)
    (after,) = searched.read()["tests/drift"].values()
    assert after.seed == 6, "a ratio on record counts only as far as its case has it"


def test_a_case_is_made_simple_and_stays_as_tight(file):
    odd = BoundedComposition(clients=3, distance=40.123, heterogeneity=1e-9)
    record([TRUE], [finding(Case(odd, ComFedL(local_steps=2), 7))], 0)
    (entry,) = searched.read()["tests/drift"].values()
    assert entry.ratio > 1 - 1e-6
    assert entry.case["rounds"] == 1
    assert entry.case["problem"]["clients"] == 1


def test_what_is_recorded_and_what_is_not(file):
    of_sibling = finding(TIGHT, CONFIRMED, form="sibling: half")
    record([TRUE], [finding(TIGHT, CANDIDATE), of_sibling], 0)
    assert searched.read() == {}
    false = drift_claim(diffusive, "tests/false")
    record([false], [finding(TIGHT, VERIFIED, claim="tests/false")], 0)
    entry = searched.read()["tests/false"]["printed"]
    assert (entry.status, entry.ratio > 1) == (VERIFIED, True)
    record([false], [finding(LOOSE, claim="tests/false")], 0)
    assert searched.read()["tests/false"]["printed"] == entry, "a violation stays"
    record([TRUE], [finding(TIGHT, VERIFIED)], 0)
    assert list(searched.read()) == ["tests/false"], "no judge repeats it; other claims stay"
    record([false], [], 0)
    assert searched.read()["tests/false"]["printed"] == entry
    searched.write({"tests/false": {"printed": entry, "corrected": entry}})
    record([false], [], 0)
    assert list(searched.read()["tests/false"]) == ["printed"], "of a form that is gone"


def test_show_and_the_page_tell_it_and_say_nothing_of_what_was_not_searched(file):
    name = "comfedl/lemma-2"
    entry = Searched(0.98234, NOTHING, False, LOOSE.parameters(), 30.0, 12345, 0)
    searched.write({name: {"printed": entry}})
    leaf, other = leaves("claim")[name], leaves("claim")["comfedl/lemma-3"]
    settings = Settings(profile="smoke")
    page = render(header([leaf, other], settings), judge([leaf, other], settings))
    told = "Tightest case that a search met: left / right = 0.9823 (a search of 30 s, 12,345 candid"
    assert page.count(told) == 1
    assert page.count("no proof that nothing is tighter") == 1
    assert page.count(expression(LOOSE)) == 1
    searched.write({name: {"printed": replace(entry, case={"problem": {"name": "gone"}})}})
    searched.on_record.cache_clear()
    assert shown(name) == {}
    assert told not in render(header([leaf], settings), judge([leaf], settings))


def test_the_command_show_prints_what_is_on_record():
    name = "comfedl/lemma-2"
    said = driftproof("show", name).stdout
    (form,) = shown(name)
    assert f"search, {form}: Tightest case that a search met: left / right = 1, met (" in said
    assert shown(name)[form]["python"] in said
    assert json.loads(driftproof("show", name, "--json").stdout)["searched"] == shown(name)
    assert "search" not in driftproof("show", "comfedl/equation-11").stdout


def test_sentences():
    entry = Searched(1.5, VERIFIED, False, {}, 0.8, 380, 0)
    assert entry.told == (
        "Violation that a search found: left / right = 1.5 (a search of 0.8 s, 380 candidates; "
        "verified by the judge)."
    )
    assert "= ∞ (" in replace(entry, ratio=None).told
    assert (
        "0.9, a mean over 64 sampled outcomes ("
        in replace(entry, ratio=0.9, status=NOTHING, sampled=True).told
    )
    assert tightness(1 + 2e-7) == "1.0000002"


def test_the_command_records_and_gives_each_case_to_be_pasted(file, tmp_path):
    arguments = ["comfedl/lemma-2", "--climbs", "2", "--no-controls", "--record", "--workers", "1"]
    done = CliRunner().invoke(
        command, [*arguments, "--out", str(tmp_path)], obj={"quiet": True}, catch_exceptions=False,
        standalone_mode=False,
    )  # fmt: skip
    assert done.return_value == 0
    assert set(searched.read()) == {"comfedl/lemma-2"}
    (written,) = json.loads((tmp_path / "search.json").read_text(encoding="utf-8"))["findings"]
    assert written["status"] == NOTHING
    assert ran(written["python"]) == remade(written["case"])
    (entry,) = searched.read()["comfedl/lemma-2"].values()
    assert asdict(entry)["evaluations"] == written["evaluations"]


def test_a_violation_is_printed_as_a_case_to_be_pasted_and_a_users_claim_is_not_recorded(tmp_path):
    (tmp_path / "mine.py").write_text(DRIFT)
    done = driftproof("falsify", "mine.py", "--climbs", "2", "--out", "s", cwd=tmp_path)
    (found,) = json.loads((tmp_path / "s" / "search.json").read_text())["findings"]
    assert f"\n{found['python']}\n" in done.stdout
    assert ran(found["python"]) == remade(found["case"])
    refused = driftproof("falsify", "mine.py", "--climbs", "2", "--record", cwd=tmp_path)
    assert refused.returncode == 2
    assert "of your own" in refused.stderr
    assert not (tmp_path / "report-search-mine").exists()
