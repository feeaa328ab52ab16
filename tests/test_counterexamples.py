"""The counterexamples as scripts: each runs on its own, and says what the record says."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from driftproof.cli import status
from driftproof.toolkit.discover import leaves, package_folder
from driftproof.toolkit.verdict import Row
from driftproof.verifiers import baseline, counterexamples
from driftproof.verifiers.counterexamples import part, parts, refuted, refutes, scripts
from driftproof.verifiers.in_print.citations import PUBLISHED
from driftproof.verifiers.verify import Settings, judge
from tests.commands import PATIENCE, driftproof
from tests.test_standalone import needs_numpy_alone

REFUTED_CLAIMS = [
    claim for claim in baseline.read() if refuted(claim) and not claim.startswith(PUBLISHED)
]
FOLDER = package_folder("driftproof.verifiers.papers")
SCRIPTS = [
    pytest.param(claim, path, id=f"{claim}-{path.stem}")
    for claim in REFUTED_CLAIMS
    for path in scripts(claim)
]
NEAR = 1e-6
"""How far a side may be from ours on the same case, relatively: both are rounded."""


@cache
def output(script: Path) -> str:
    """Run a script, and return what it prints."""
    ran = subprocess.run(
        [sys.executable, "-I", str(script)], capture_output=True, encoding="utf-8", timeout=PATIENCE
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def sides(script: Path, claim: str) -> dict[str, tuple[float, str, float]]:
    """Return what a script prints of a claim: left side, sign and right side, by form."""
    lines = counterexamples.printed(output(script), claim)
    made = {form: (float(left), sign, float(right)) for form, left, sign, right in lines}
    assert len(made) == len(lines), "a form is printed twice"
    return made


@pytest.mark.parametrize("claim", REFUTED_CLAIMS)
def test_every_refuted_form_has_one_script(claim):
    written = [form for path in scripts(claim) for form in refutes(path, claim)]
    assert sorted(written) == sorted(refuted(claim))


def test_every_script_belongs_to_a_claim():
    known = {path for claim in REFUTED_CLAIMS for path in scripts(claim)}
    assert set(FOLDER.glob("*/counterexamples/*.py")) == known


@pytest.mark.parametrize(("claim", "script"), SCRIPTS)
def test_a_script_refutes_what_it_says(claim, script):
    made = sides(script, claim)
    assert sorted(made) == sorted(refutes(script, claim))
    for left, sign, right in made.values():
        assert left > right if sign == ">" else left != right
    of = [name for name in REFUTED_CLAIMS if script in scripts(name)]
    lines = [line for name in of for line in counterexamples.printed(output(script), name)]
    assert len(lines) == output(script).count("REFUTED"), "a line is of no claim"
    assert not parts(script) or set(parts(script)) == {name.partition("/")[2] for name in of}


@pytest.mark.parametrize(("claim", "script"), SCRIPTS)
def test_a_script_is_short_and_needs_numpy_alone(claim, script):
    text = script.read_text(encoding="utf-8")
    needs_numpy_alone(text, 35 + 25 * max(1, len(parts(script))))
    assert re.search(r"^ *assert .*\bleft\b.*\bright\b", text, re.MULTILINE), "it checks nothing"


def agrees(row: Row, left: float, right: float) -> bool:
    """Say whether the sides of a script are those of a row: its right side, its left interval."""
    low, high = row.lhs["low"], row.lhs["high"]
    above = low is None or left >= low - NEAR * abs(left)
    below = high is None or left <= high + NEAR * abs(left)
    return above and below and right == pytest.approx(row.rhs, rel=NEAR)


def disagreeing(claim: str, rows: list[Row]) -> list[str]:
    """Return the scripts' forms whose sides on a case of ours, "# case: KEY", are not its row's.

    tests/test_claims.py asks this of the rows of every claim.
    """
    found, ours = [], {(row.form_key, row.case["key"]): row for row in rows}
    for script in scripts(claim):
        for key in re.findall(r"^# case: (\w+)$", part(script, claim), re.MULTILINE):
            for form, (left, _, right) in sides(script, claim).items():
                row = ours[form, key]
                if row.verdict != "REFUTED" or not agrees(row, left, right):
                    found.append(f"{script.name}: {form}")
    return found


def test_a_script_of_another_instance_does_not_agree(tmp_path):
    claim, key = "scgdm/equation-2", "66beae26bcdc"
    text = scripts(claim)[0].read_text(encoding="utf-8")
    other = tmp_path / "other.py"
    other.write_text(text.replace("eta, x_0 = 1.0, 0.1, 0.5", "eta, x_0 = 1.0, 0.2, 0.5"))
    ((form, (left, _, right)),) = sides(other, claim).items()
    ((_, (own_left, _, own_right)),) = sides(scripts(claim)[0], claim).items()
    rows = judge([leaves("claim")[claim].load()], Settings())
    assert disagreeing(claim, rows) == []
    (row,) = (row for row in rows if (row.form_key, row.case["key"]) == (form, key))
    assert agrees(row, own_left, own_right)
    assert not agrees(row, left, own_right)
    assert not agrees(row, own_left, right)
    wrong = [replace(one, rhs=2 * one.rhs) if one is row else one for one in rows]
    assert disagreeing(claim, wrong) == [f"equation_2.py: {form}"]


FIRST = "scgdm/theorem-3.4"


def test_the_command_prints_a_script_and_runs_it(tmp_path):
    made = driftproof("counterexample", FIRST)
    assert made.returncode == 0
    copy = tmp_path / "c.py"
    copy.write_text(made.stdout, encoding="utf-8")
    ran = driftproof("counterexample", FIRST, "--run")
    assert ran.returncode == 0
    assert all(f"{form}: left = " in ran.stdout for form in sides(copy, FIRST))


def test_of_two_claims_of_a_search_each_script_has_a_name_of_its_own(tmp_path, capsys):
    of = {"form": "printed", "tex": None, "no_tex": ""}
    findings = [of | {"claim": f"mine/{name}", "script": f"{name}.py"} for name in "ab"]
    (tmp_path / "search.json").write_text(json.dumps({"findings": findings}))
    for name in "ab":
        (tmp_path / f"{name}.py").write_text(f"# {name}\n")
    for form, name, other in (("mine/b", "b", "a"), ("mine/a: printed", "a", "b")):
        assert status(["counterexample", str(tmp_path), "--form", form]) == 0
        shown = capsys.readouterr()
        assert shown.out == f"# {name}\n"
        assert f"--form 'mine/{other}: printed'" in shown.err


def test_the_form_chooses_the_script(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(counterexamples, "folder", lambda paper: tmp_path)
    first, second = refuted(FIRST)[:2]
    for name, form in {"theorem_3_4": first, "theorem_3_4_2": second}.items():
        (tmp_path / f"{name}.py").write_text(f"# {form}\n", encoding="utf-8")
    for words, form, other in (([], first, second), (["--form", second], second, first)):
        assert status(["counterexample", FIRST, *words]) == 0
        shown = capsys.readouterr()
        assert shown.out == f"# {form}\n"
        assert shown.err.count("another script: ") == 1
        assert f"--form '{other}'" in shown.err
    assert status(["counterexample", FIRST, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert status(["counterexample", FIRST, "--form", refuted(FIRST)[2]]) == 2
    assert "has no script for" in capsys.readouterr().err


def test_a_claim_whose_name_begins_like_another_has_no_script_of_the_other(tmp_path, monkeypatch):
    monkeypatch.setattr(counterexamples, "folder", lambda paper: tmp_path)
    for name in ("lemma_4", "lemma_4_2", "lemma_4_2_2"):  # scgdm/lemma-4.2 is on record
        (tmp_path / f"{name}.py").touch()
    assert [path.stem for path in scripts("scgdm/lemma-4")] == ["lemma_4"]
    assert [path.stem for path in scripts("scgdm/lemma-4.2")] == ["lemma_4_2", "lemma_4_2_2"]


def test_show_names_the_command(capsys):
    assert status(["show", FIRST]) == 0
    assert f"driftproof counterexample {FIRST}" in capsys.readouterr().out
    assert status(["show", "comfedl/lemma-3"]) == 0
    assert "counterexample" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["comfedl/lemma-3"], "no printed form on record as REFUTED"),
        ([FIRST, "--form", "corrected"], "unknown refuted form 'corrected'"),
        (["theorem-3.4"], "did you mean scgdm/theorem-3.4"),
    ],
)
def test_the_command_says_what_has_no_script(words, said, capsys):
    assert status(["counterexample", *words]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
