"""What tests of the command rest on: a fork does as a new process, and what is made once is."""

from __future__ import annotations

import sys

import pytest

from tests.commands import driftproof, started
from tests.once import once

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


class Folders:
    """pytest's tmp_path_factory, as far as ``once`` needs it."""

    def __init__(self, base):
        self.base = base

    def getbasetemp(self):
        return self.base


def test_what_is_made_once_is_made_again_only_after_an_error(tmp_path, monkeypatch):
    made, workers = [], [tmp_path / name for name in ("gw0", "gw1", "gw2")]
    for worker in workers:
        worker.mkdir()

    def make(folder):
        made.append(folder)
        if len(made) == 1:
            raise ZeroDivisionError

    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    with pytest.raises(ZeroDivisionError):
        once(Folders(workers[0]), "thing", make)
    assert [once(Folders(worker), "thing", make) for worker in workers] == [tmp_path / "thing"] * 3
    assert made == [tmp_path / "thing"] * 2
