"""Which tests are repeated with other kernels, and which are left to ``make test-thorough``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driftproof.algorithms import FedAvg
from driftproof.classes import smooth_convex, start_within, worst_case
from tests import numbers, thorough
from tests.certificates import gap

ROOT = Path(__file__).parents[1]
CONFTEST = """
import pytest
from tests import numbers, thorough
thorough.LEFT = (thorough.Left("tests/test_law", "x", sample=True),)
def pytest_configure(config):
    config.pluginmanager.register(numbers.Notes(config))
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    thorough.mark(config, items)
"""
SOLVES = """
from tests import numbers
def test_solves(): numbers.note("a solver")
def test_beside(): pass
"""
SHARES = """
import pytest
from tests import numbers
@pytest.fixture(scope="module")
def solved(): numbers.note("a solver")
def test_first(solved): pass
def test_second(solved): pass
"""
LAW = """
import pytest
from tests import numbers
@pytest.mark.parametrize("a", "xyz")
@pytest.mark.parametrize("b", "uv")
def test_law(a, b): numbers.note("a solver")
"""


@pytest.fixture
def suite(tmp_path):
    """A small suite; what is returned runs it with some words."""
    (tmp_path / "tests").mkdir()
    ours = {name: (ROOT / "tests" / name).read_text() for name in ("numbers.py", "thorough.py")}
    for name, text in (
        ours
        | {
            "__init__.py": "",
            "conftest.py": CONFTEST,
            "test_solves.py": SOLVES,
            "test_law.py": LAW,
            "test_shares.py": SHARES,
            "test_cached.py": SOLVES + "# cached\n",
            "test_adds.py": "def test_adds(): assert 1 + 1 == 2\n",
        }
    ).items():
        (tmp_path / "tests" / name).write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n  numbers\n  thorough\ntestpaths = tests\n"
        "addopts = -m 'not thorough'\n"
    )

    def run(*words: str, status: int = 0) -> str:
        made = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "xdist", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
        assert made.returncode == status, made.stdout + made.stderr
        return made.stdout + made.stderr

    return run


def test_a_solver_is_noticed():
    numbers.taken()
    assert not numbers.taken()
    worst_case(
        FedAvg(step_size=1.0),
        [smooth_convex(L=1), start_within(R=1)],
        rounds=1,
        left=gap,
        clients=1,
    )
    assert numbers.taken()
    numbers.note("for this file")


def test_what_was_seen_to_solve_is_repeated_with_what_shares_it_and_another_is_not(suite):
    chosen = ("--co", "-m", "numbers", "--ignore=tests/test_law.py")
    assert "7 tests collected" in suite(*chosen)  # no run has seen any
    assert "7 passed" in suite("-n", "2", "--ignore=tests/test_law.py")
    found = suite(*chosen)
    assert "5/7 tests collected" in found  # of test_solves.py one, of the files that share two each
    assert "test_adds" not in found
    assert "test_solves.py::test_beside" not in found
    suite("tests/test_shares.py::test_second")  # a part of a file takes nothing back
    assert "5/7 tests collected" in suite(*chosen)


def test_of_a_law_a_sample_runs_and_what_is_left_out_runs_by_its_marker_or_name(suite):
    """Each value occurs: xu, yu, zu and xv of six pairs."""
    assert "11 passed" in suite("-n", "2")
    left = suite("--co", "-m", "thorough")
    assert "2/13 tests collected" in left
    assert {"test_law[v-y]", "test_law[v-z]"} == {
        line.split("::")[1] for line in left.splitlines() if "::" in line
    }
    assert "6 passed" in suite("tests/test_law.py")
    assert "4/6 tests collected" in suite("--co", "-m", "numbers", "tests/test_law.py")


def test_what_is_said_to_be_left_out_or_decided_is_there():
    for node in (*(line.tests for line in thorough.LEFT), *thorough.DECIDED):
        file, _, name = node.partition("::")
        assert f"\ndef {name.partition('[')[0]}" in (ROOT / file).read_text(encoding="utf-8"), node


def test_the_gate_repeats_by_the_marker_with_kernels_that_are_not_the_processor_s_own():
    gate = (ROOT / ".ci/run").read_text(encoding="utf-8")
    (repeated,) = [line for line in gate.splitlines() if "OPENBLAS_CORETYPE" in line]
    assert repeated.startswith("OPENBLAS_CORETYPE=$kernel ")
    assert repeated.endswith('-m "thorough or numbers"')
    assert "*Haswell* | *Zen*) kernel=Nehalem" in gate
    assert "*) kernel=Haswell" in gate
