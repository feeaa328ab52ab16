"""The script of a claim of one's own: it recomputes the refutation without driftproof."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from driftproof.verifiers.standalone.of_class import script_of_class
from tests.commands import driftproof
from tests.fresh_install import blocks

ON_CASES = blocks("README.md", "## A claim of your own")[0]
WITH_BIAS = blocks("docs/claims.md", "## A whole class instead of cases")[0]
OVER_A_CLASS = WITH_BIAS.replace(" + c.eta**2 * c.zeta) ** 2", ") ** 2")
SIDES = re.compile(r"REFUTED (.+): left = (\S+) > right = (\S+)\n")


def ran(path):
    return subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True)


def test_a_refutation_on_a_case(tmp_path):
    (tmp_path / "mine.py").write_text(ON_CASES, encoding="utf-8")
    printed = driftproof("counterexample", "mine.py", "--quiet", cwd=tmp_path)
    assert (printed.returncode, printed.stderr) == (0, "")
    assert "driftproof import" not in printed.stdout
    (tmp_path / "c.py").write_text(printed.stdout, encoding="utf-8")
    form, left, right = SIDES.fullmatch(ran(tmp_path / "c.py").stdout).groups()
    assert form == "printed"
    assert (float(left), float(right)) == (pytest.approx(0.25), pytest.approx(0.05))
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"mine.py", "c.py"}


def test_a_refutation_over_a_class_is_checked_in_fractions(tmp_path):
    (tmp_path / "mine.py").write_text(OVER_A_CLASS, encoding="utf-8")
    made = driftproof("counterexample", "mine.py", "--run", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    _, left, right = SIDES.fullmatch(made.stdout).groups()
    assert driftproof("verify", "mine.py", cwd=tmp_path).returncode == 1
    folder = tmp_path / "report-mine/certificates"
    checked = driftproof("check", *map(str, folder.iterdir())).stdout  # another program
    assert f"the left side is {float(left):.6g}" in checked
    assert float(right) < float(left)


def damaged(found, part):
    if part == "values":
        name = next(iter(found["numbers"]))
        found["numbers"][name] = "9"
    elif part == "assumptions":
        found["assumptions"]["start"]["at_most"] = "1/9"
    else:
        found["conclusion"]["right"] = "9"
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    (folder / "mine.py").write_text(OVER_A_CLASS, encoding="utf-8")
    assert driftproof("verify", "mine.py", cwd=folder).returncode == 1
    return sorted((folder / "report-mine/certificates").glob("*counterexample*"))[0].read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("part", "said"),
    [("values", "is not smooth-strongly-convex"), ("assumptions", "not met: start"),
     ("conclusion", "assert left > right")],
)  # fmt: skip
def test_what_refutes_nothing_fails(found, part, said, tmp_path):
    script = tmp_path / "c.py"
    script.write_text(script_of_class("a", 'a "form"', found), encoding="utf-8")
    assert SIDES.fullmatch(ran(script).stdout)[1] == 'a "form"'
    text = json.dumps(damaged(json.loads(found), part))
    script.write_text(script_of_class("a", "b", text), encoding="utf-8")
    failed = ran(script)
    assert failed.returncode == 1
    assert said in failed.stderr


KINDS = """
from driftproof import bound, each, sq
from driftproof.algorithms import FedAvg
from driftproof.classes import over, {kind}, start_gap, start_within


@bound(
    name="mine/gradient", source="my draft", statement="a",
    classes=over([{kind}(L=2), {start}], FedAvg(step_size=0.25), rounds=2, clients=1),
    right=lambda c: {right},
)
def left(view):
    return each("round", "local_step", {left}) if view.last else None
"""


@pytest.mark.parametrize(
    ("kind", "start", "left", "right"),
    [("smooth", "start_gap(delta=1)", 'sq(view.gradient(view.mean("w")))', "c.F_gap"),
     ("smooth_convex", "start_within(R=1)", 'view.gap(view.mean("w"))', "c.R**2 / 9")],
)  # fmt: skip
def test_every_class_that_has_simple_counterexamples(kind, start, left, right, tmp_path):
    text = KINDS.format(kind=kind, start=start, left=left, right=right)
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    made = driftproof("counterexample", "mine.py", "--run", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert SIDES.fullmatch(made.stdout)


def test_what_has_no_script_is_told(tmp_path):
    true = ON_CASES.replace("c.tau * c.eta**2", "c.tau**2 * c.eta**2")
    (tmp_path / "mine.py").write_text(true, encoding="utf-8")
    made = driftproof("counterexample", "mine.py", cwd=tmp_path)
    assert (made.returncode, made.stdout) == (2, "")
    assert "no form is refuted" in made.stderr
    assert "driftproof falsify mine.py" in made.stderr
    (tmp_path / "mine.py").write_text(ON_CASES, encoding="utf-8")
    made = driftproof("counterexample", "mine.py", "--form", "corrected", cwd=tmp_path)
    assert made.returncode == 2
    assert "unknown refuted form 'corrected'" in made.stderr
