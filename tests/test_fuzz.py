"""A few hundred mutated inputs of every kind, and that the watch over them sees what it is for."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synthetic.classes import over, smooth_convex
from tests.commands import ROOT, driftproof
from tests.fuzzing import (
    KINDS,
    MINE,
    Input,
    Outcome,
    attempts,
    mutated_json,
    mutated_python,
)
from toolkit.algorithms.fedavg import FedAvg
from toolkit.errors import DriftproofError
from toolkit.report.files import write_text
from toolkit.report.text_table import NARROW, lay_out
from toolkit.verdict import Row, Verdict
from toolkit.zip_reader import members
from verifiers.running.jobs import row_from

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="inputs are run in forked processes")


@LINUX
def test_inputs_of_every_kind_end_in_order(tmp_path):
    """In a process of its own, which has computed nothing."""
    words = ["-m", "tests.benchmarks.fuzz", "--inputs", "150", "--keep", str(tmp_path / "kept")]
    made = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert "0 went wrong" in made.stdout
    assert all(f"| {kind} | " in made.stdout for kind in KINDS)


def _writes(folder: Path) -> None:
    (folder.parent / "home" / "stray").write_text("")


def _fails(folder: Path) -> None:
    raise KeyError("lost")


def _runs(folder: Path) -> None:
    subprocess.run(["true"], check=True)


@LINUX
@pytest.mark.parametrize(
    ("python", "wrong"),
    [
        (_writes, "written outside"),
        (_runs, "written outside"),
        (_fails, "traceback"),
        (lambda folder: os.kill(os.getpid(), 15), "status -15"),
        (lambda folder: sys.exit(17), "status 17"),
        (lambda folder: (folder / "out").mkdir(), ""),
    ],
)
def test_the_watch_sees_what_it_is_for(tmp_path, python, wrong):
    (outcome,) = attempts([Input([], python=python)], tmp_path / "run")
    assert outcome.wrong == wrong


def test_what_takes_too_long_or_too_much_is_wrong():
    assert Outcome(0, "", seconds=61.0).wrong == "hang"
    assert Outcome(-24, "controls: 287 of 2872, comfedl/lemma-4", seconds=61.0).wrong == ""
    assert Outcome(0, "", memory=2**31 + 1).wrong == "memory"
    assert Outcome(2, "driftproof: no").wrong == "no remedy"
    assert Outcome(0, "").wrong == ""


@given(seed=st.integers(0, 2**32))
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_mutation_is_drawn_from_its_seed_alone(seed):
    value = {"a": [1, 2, {"b": None}], "c": "text"}
    one, two = (mutated_json(value, random.Random(seed)) for _ in range(2))
    assert repr(one) == repr(two)
    assert value == {"a": [1, 2, {"b": None}], "c": "text"}
    first, second = (mutated_python(MINE, random.Random(seed), ("os",)) for _ in range(2))
    assert first == second


def test_half_a_letter_in_a_users_file_is_told_with_its_line(tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace('"Said of it."', r'"\ud800"'))
    made = driftproof("verify", "mine.py", "--profile", "smoke", cwd=tmp_path)
    assert made.returncode == 2
    assert "mine.py:12: a string holds a surrogate" in made.stderr


def test_a_file_that_is_nested_too_deep_is_told(tmp_path):
    (tmp_path / "mine.py").write_text("x = " + "-" * 5000 + "1\n")
    made = driftproof("verify", "mine.py", cwd=tmp_path)
    assert made.returncode == 2
    assert "mine.py" in made.stderr
    assert "internal" not in made.stderr


def test_a_table_with_a_word_of_a_thousand_letters_is_laid_out():
    """It was widened by one letter at a time, each in a call of its own."""
    heads, cells, widths, left_out = lay_out(["a", "b"], [["x" * 2000, "y"]], 80, ("b",))
    assert heads == ["a"]
    assert left_out == ["b"]
    assert cells[1] == [["x" * 2000]]
    _, _, widths, _ = lay_out(["a", "b"], [["x" * 2000, "some words"]], 80)
    assert sum(widths) == 2000 + NARROW + len("words") + NARROW


@pytest.mark.parametrize(
    ("good", "bad", "told"),
    [
        ("return c.tau**2", "return c/tau**2", "in right: NameError: name 'tau' is not defined"),
        ("right=right", "right=int", "TypeError: int()"),
        ('why="less"', "why=bound", "for its quote or its why"),
    ],
)
def test_what_a_users_claim_says_is_told_before_it_is_judged(tmp_path, good, bad, told):
    assert good in MINE
    (tmp_path / "mine.py").write_text(MINE.replace(good, bad, 1))
    made = driftproof("show", "mine.py", cwd=tmp_path)
    assert made.returncode == 2
    assert told in made.stderr
    assert "mine.py" in made.stderr


def test_a_run_over_a_class_has_no_more_steps_than_can_be_solved():
    with pytest.raises(DriftproofError, match="2,000 steps of FedAvg"):
        over([smooth_convex(L=1)], FedAvg(local_steps=20), rounds=[1, 100], clients=1)


def test_a_member_of_an_archive_without_a_name_is_told(tmp_path):
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("x", b"")
    named = (tmp_path / "data.zip").read_bytes()
    at = named.index(b"PK\x01\x02")
    nameless = bytearray(named)
    nameless[at + 28] = 0  # the length of its name, in the list of members
    nameless[at + 46 : at + 47] = b""
    size = int.from_bytes(nameless[-10:-6], "little")
    nameless[-10:-6] = (size - 1).to_bytes(4, "little")
    (tmp_path / "data.zip").write_bytes(nameless)
    with pytest.raises(DriftproofError, match="a member without a name"):
        list(members(tmp_path / "data.zip", 1000))


def test_half_a_letter_of_a_ledger_is_written_as_what_it_is(tmp_path):
    write_text(tmp_path / "page.html", "half: \ud800")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == r"half: \ud800"


@pytest.mark.parametrize("seconds", ["inf", "nan", "0", "-1"])
def test_seconds_of_a_search_are_a_number_above_zero(seconds):
    made = driftproof("falsify", "localsgd/gradient-descent", "--budget", seconds)
    assert made.returncode == 2
    assert "Invalid value for '--budget'" in made.stderr


def test_a_certificate_of_a_ledger_is_text():
    row = Row("c", "printed", "e", "", "bound", {}, Verdict.SUPPORTED, None, "why")
    assert row_from(asdict(row)) == row
    with pytest.raises(TypeError, match="a certificate that is no text"):
        row_from(asdict(row) | {"proofs": {"a.json": 1}})
