"""Which tests are left to ``make test-thorough``, and which are decided with two kernels."""

import os
import subprocess
import sys
from pathlib import Path

from tests import thorough

ROOT = Path(__file__).parents[1]
CONFTEST = """
import pytest
from tests import thorough
thorough.LEFT = (
    thorough.Left("tests/test_law", "x", sample=True),
    thorough.Left("tests/test_other.py::test_beside", "x"),
)
thorough.DECIDED = ("tests/test_law.py::test_law[u",)
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    thorough.mark(config, items)
    thorough.keep_part(config, items)
def pytest_addoption(parser):
    parser.addoption("--part", default="0/1")
"""
LAW = """
import pytest
@pytest.mark.parametrize("a", "xyz")
@pytest.mark.parametrize("b", "uv")
def test_law(a, b): pass
def test_beside(): pass
"""


def test_of_a_law_a_sample_runs_and_what_is_left_out_runs_by_its_marker_or_name(tmp_path):
    """Each value occurs: xu, yu, zu and xv of six pairs."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n  decided\n  thorough\ntestpaths = tests\n"
        "addopts = -m 'not thorough'\n"
    )
    ours = (ROOT / "tests/thorough.py").read_text(encoding="utf-8")
    for name, text in (
        ("__init__", ""),
        ("thorough", ours),
        ("conftest", CONFTEST),
        ("test_law", LAW),
        ("test_other", LAW),
    ):
        (tmp_path / "tests" / f"{name}.py").write_text(text, encoding="utf-8")

    def found(*words: str) -> str:
        made = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--co", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
        assert made.returncode == 0, made.stdout + made.stderr
        return made.stdout

    assert "11/14 tests collected" in found()
    left = found("-m", "thorough")
    assert {"test_law[v-y]", "test_law[v-z]", "test_beside"} == {
        line.split("::")[1] for line in left.splitlines() if "::" in line
    }
    assert "6/14 tests collected" in found("-m", "thorough or decided")
    assert "7 tests collected" in found("tests/test_law.py")
    halves = [found("-m", "thorough or decided", f"--part={k}/2").splitlines() for k in (0, 1)]
    assert not {line for line in halves[0] if "::" in line} & set(halves[1])
    assert [len([line for line in half if "::" in line]) for half in halves] == [3, 3]


def test_what_is_said_to_be_left_out_or_decided_is_there():
    for node in (*(line.tests for line in thorough.LEFT), *thorough.DECIDED):
        file, _, name = node.partition("::")
        assert f"\ndef {name.partition('[')[0]}" in (ROOT / file).read_text(encoding="utf-8"), node


def test_the_gate_runs_both_with_kernels_that_are_not_the_processor_s_own():
    gate = (ROOT / ".ci/run").read_text(encoding="utf-8")
    (repeated,) = [line for line in gate.splitlines() if "OPENBLAS_CORETYPE" in line]
    assert repeated.startswith("OPENBLAS_CORETYPE=$kernel ")
    assert '-m "thorough or decided"' in repeated
    assert "*Haswell* | *Zen*) kernel=Nehalem" in gate
    assert "*) kernel=Haswell" in gate
