"""What tests of the command rest on: a fork does as a new process."""

from __future__ import annotations

import sys

import pytest

from tests.commands import driftproof, started

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux")
CLAIM = """
from driftproof import bound

@bound(name="own/claim", source="", statement="", right=1)
def claim(view):
    return None
"""
WORDS = ("verify", "comfedl/lemma-2", "--profile", "smoke", "--workers", "1")


@pytest.mark.parametrize("words", [WORDS, ("verify", "gone.py"), ("list", "--json", "problems")])
def test_a_fork_says_what_a_new_process_says(words, tmp_path):
    one, other = (run(*words, cwd=tmp_path) for run in (driftproof, started))
    assert (one.returncode, one.stdout, one.stderr) == (
        other.returncode, other.stdout, other.stderr
    )  # fmt: skip


@LINUX
def test_forks_leave_nothing_to_each_other(tmp_path, monkeypatch):
    told = "import sys, os\nsys.exit(os.environ.get('OWN', 'not set'))\n"
    (tmp_path / "own.py").write_text(told + CLAIM)
    monkeypatch.setenv("OWN", "set")
    assert "SystemExit: set" in driftproof("verify", "own.py", cwd=tmp_path).stderr
    monkeypatch.delenv("OWN")
    assert "SystemExit: not set" in driftproof("verify", "own.py", cwd=tmp_path).stderr
