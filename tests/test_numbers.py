"""Which tests are repeated with other kernels: those that were seen to reach numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from driftproof.algorithms import FedAvg
from driftproof.classes import smooth_convex, start_within, worst_case
from tests import numbers
from tests.certificates import gap
from tests.commands import driftproof

ROOT = Path(__file__).parents[1]
CONFTEST = """
from tests import numbers
def pytest_configure(config):
    config.pluginmanager.register(numbers.Notes(config))
"""
SOLVES = """
from tests import numbers
def test_solves(): numbers.note("a solver")
def test_beside(): pass
"""


def test_a_solver_and_a_command_are_noticed():
    numbers.taken()
    assert not numbers.taken()
    worst_case(
        FedAvg(step_size=1.0), [smooth_convex(L=1), start_within(R=1)], rounds=1, left=gap,
        clients=1,
    )  # fmt: skip
    assert numbers.taken()
    assert driftproof("--version").returncode == 0
    assert numbers.taken()
    numbers.note("for this file")


def test_a_file_that_was_seen_to_solve_is_repeated_and_another_is_not(tmp_path):
    (tmp_path / "tests").mkdir()
    numbers_ = (ROOT / "tests/numbers.py").read_text(encoding="utf-8")
    for name, text in (
        ("__init__.py", ""), ("numbers.py", numbers_), ("conftest.py", CONFTEST),
        ("test_solves.py", SOLVES), ("test_adds.py", "def test_adds(): assert 1 + 1 == 2\n"),
    ):  # fmt: skip
        (tmp_path / "tests" / name).write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = numbers\ntestpaths = tests\n")

    def run(*words: str) -> str:
        made = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "xdist", *words],
            cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )  # fmt: skip
        assert made.returncode == 0, made.stdout + made.stderr
        return made.stdout

    assert "3 tests collected" in run("--co", "-m", "numbers")  # no run has seen any
    assert "3 passed" in run("-n", "2")
    chosen = run("--co", "-m", "numbers")
    assert "2/3 tests collected" in chosen
    assert "test_adds" not in chosen
    run("tests/test_solves.py::test_beside")  # a part of a file takes nothing back
    assert "2/3 tests collected" in run("--co", "-m", "numbers")


def test_the_gate_repeats_by_the_marker_with_kernels_that_are_not_the_processor_s_own():
    gate = (ROOT / ".ci/run").read_text(encoding="utf-8")
    (repeated,) = [line for line in gate.splitlines() if "OPENBLAS_CORETYPE" in line]
    assert repeated.startswith("OPENBLAS_CORETYPE=$kernel ")
    assert repeated.endswith("-m numbers")
    assert "*Haswell* | *Zen*) kernel=Nehalem" in gate
    assert "*) kernel=Haswell" in gate
