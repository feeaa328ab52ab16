"""Other values in a claim's cases give the rows of cases that are written so, and no record."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL
from driftproof.toolkit.cases import grid
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.report.page import asset
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers import record
from driftproof.verifiers.overrides import AS_WRITTEN, Overrides
from driftproof.verifiers.running.jobs import loaded
from driftproof.verifiers.verify import Settings, judge, select
from tests.commands import driftproof
from tests.users import DRIFT

CLAIM = leaves("claim")["comfedl/lemma-2"]
WORDS = (["heterogeneity=0,1,10", "clients=2"], ["local_steps=1,50"])


def same(rows, others):
    return [replace(r, seconds=0.0) for r in rows] == [replace(r, seconds=0.0) for r in others]


def rows_of(words, leaf=CLAIM, **more):
    overrides = Overrides.parsed(*words, **more)
    return judge([overrides.of(leaf)], Settings(overrides=overrides))


def test_the_rows_are_those_of_cases_that_are_written_so(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(DRIFT, encoding="utf-8")
    (leaf,) = select([str(path)])
    own = leaf.load()
    cases = grid(
        BoundedComposition(heterogeneity=sweep(0.0, 1.0, 10.0)),
        ComFedL(local_steps=sweep(1, 3)),
        rounds=2,
    )
    made = rows_of((["heterogeneity=0,1,10"], ["local_steps=1,3"]), leaf)
    assert [row.case["key"] for row in made] == [case.key for case in cases]
    assert same(made, judge([replace(own, cases=cases)], Settings()))
    # √τ steps' length bounds one step, and not three
    verdicts = {row.case["algorithm"]["local_steps"]: row.verdict for row in made[:2]}
    assert verdicts == {1: Verdict.SUPPORTED, 3: Verdict.REFUTED}


def test_a_value_that_a_case_has_anyway_changes_nothing_but_the_record():
    claim = CLAIM.load()
    kept = [case for case in claim.cases if case.problem.clients == 2]
    short = replace(claim, cases=kept[:3], full=())
    as_written = judge([short], Settings())
    assert all(row.expected is not None for row in as_written)
    overrides = Overrides.parsed(["clients=2"], [])
    again = judge([overrides.applied(short)], Settings(overrides=overrides))
    assert same(again, [replace(row, expected=None) for row in as_written])


def test_each_combination_is_a_case_once():
    claim = Overrides.parsed(*WORDS).applied(CLAIM.load())
    keys = [case.key for case in claim.cases]
    assert len(keys) == len(set(keys))
    assert {case.problem.heterogeneity for case in claim.cases} == {0.0, 1.0, 10.0}
    assert {case.algorithm.local_steps for case in claim.cases} == {1, 50}
    assert {case.problem.clients for case in claim.cases} == {2}
    assert {type(case.problem.heterogeneity) for case in claim.cases} == {float}
    assert CLAIM.load().cases != claim.cases
    assert AS_WRITTEN.of(CLAIM) is CLAIM


def test_cases_that_lack_a_parameter_are_left_out_and_counted():
    claim = next(
        leaf.load()
        for leaf in leaves("claim").values()
        if leaf.decorator == "bound" and len({type(c.problem) for c in leaf.load().cases}) > 1
    )
    names = [set(case.problem.values()) for case in claim.cases]
    lacking = sorted(set.union(*names) - set.intersection(*names))
    name, old = next(
        (name, case.problem.values()[name])
        for name in lacking
        for case in claim.cases
        if name in case.problem.values()
    )
    overrides = Overrides.parsed([f"{name}={old}"], [])
    without = sum(name not in case.problem.values() for case in (*claim.cases, *claim.full))
    assert without > 0
    assert overrides.left_out(claim) >= without
    assert all(name in case.problem.values() for case in overrides.applied(claim).cases)
    assert f"{overrides.left_out(claim)} of the claims' cases" in overrides.said([claim])


def test_classes_of_functions_are_overridden_too():
    claim = Overrides.parsed([], ["local_steps=2,3"]).applied(
        leaves("claim")["localsgd/drift"].load()
    )
    assert {case.algorithm.local_steps for case in claim.classes} == {2, 3}
    with pytest.raises(DriftproofError, match="conditions = 'none'"):
        Overrides.parsed(["conditions=none"], []).applied(claim)


def test_replicates_bound_what_a_case_takes():
    leaf = leaves("claim")["comfedl/lemma-3"]
    taken = {row.replicates for row in rows_of(([], []), leaf, replicates=100) if row.alpha}
    assert taken <= {64, 128}
    assert taken
    rate = next(leaf for leaf in leaves("claim").values() if leaf.decorator == "rate")
    assert loaded(Overrides(replicates=640).of(rate)).replicates == 640


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((["heterogenity=1"], []), "did you mean heterogeneity"),
        ((["local_steps=1"], []), "write -a local_steps=…"),
        (([], ["heterogeneity=1"]), "write -p heterogeneity=…"),
        ((["clients=0"], []), "a whole number, 1 or more"),
        ((["clients=2,2.5"], []), "a whole number, 1 or more"),
        ((["clients=two"], []), "a value like"),
        ((["clients=" + "9" * 400], []), "a value like"),
        ((["heterogeneity=-1"], []), "change -p heterogeneity=…"),
        ((["heterogeneity=nan"], []), "heterogeneity = 'nan'"),
        (([], ["branch=odd"]), "'general', 'special'"),
        ((["clients"], []), "NAME=VALUE"),
        ((["clients="], []), "NAME=VALUE"),
        ((["=2"], []), "NAME=VALUE"),
        ((["clients=2,"], []), "a value like"),
        ((["clients=2", "clients=3"], []), "twice"),
    ],
)
def test_what_cannot_be_overridden_is_told(words, said):
    with pytest.raises(DriftproofError) as error:
        Overrides.parsed(*words).of(CLAIM).load()
    assert said in str(error.value)


@pytest.mark.parametrize("way", ["rate", "proof"])
def test_what_has_no_cases_of_its_own_choice_is_refused(way):
    leaf = next(leaf for leaf in leaves("claim").values() if leaf.decorator == way)
    with pytest.raises(DriftproofError, match="judged on cases"):
        Overrides.parsed(["clients=2"], []).of(leaf).load()


def test_the_command_says_that_it_is_an_override_everywhere(tmp_path):
    before = record.read()
    (tmp_path / "mine.py").write_text(DRIFT, encoding="utf-8")
    words = ("mine.py", "-p", "heterogeneity=0,1", "-a", "local_steps=1,3", "--workers", "2")
    made = driftproof("verify", *words, "--out", "out", cwd=tmp_path)
    assert made.returncode == 1, made.stderr
    told = "Overridden by -p heterogeneity=0,1 -a local_steps=1,3: nothing is compared with"
    assert told in made.stdout
    lines = [line.split() for line in made.stdout.splitlines()]
    assert ["mine/drift", "printed", "0.0", "3", "REFUTED", "1", "3"] in lines
    assert ["mine/drift", "printed", "0.0", "1", "SUPPORTED", "1", "1"] in lines
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert told in page
    assert "driftproof verify mine.py -p heterogeneity=0,1 -a local_steps=1,3" in page
    results = json.loads((tmp_path / "out/results.json").read_text(encoding="utf-8"))
    jsonschema.validate(results, json.loads(asset("results.schema.json")))
    assert results["overrides"].startswith(told)
    assert {row["expected"] for row in results["results"]} == {None}
    rebuilt = driftproof("report", "out", cwd=tmp_path)
    assert rebuilt.returncode == 0
    assert told in (tmp_path / "out/index.html").read_text(encoding="utf-8")
    fine = driftproof("verify", "mine.py", "-a", "local_steps=1", cwd=tmp_path)
    assert fine.returncode == 0, fine.stderr
    refused = driftproof("verify", "comfedl/lemma-2", "-p", "clients=2", "--record", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--record with -p clients=2" in refused.stderr
    assert record.read() == before
    assert Path(tmp_path / "out/results.json").exists()


def test_a_run_as_written_says_nothing_of_overrides(tmp_path):
    (tmp_path / "mine.py").write_text(DRIFT, encoding="utf-8")
    driftproof("verify", "mine.py", "--out", "out", cwd=tmp_path)
    assert "overrides" not in json.loads((tmp_path / "out/results.json").read_text("utf-8"))
