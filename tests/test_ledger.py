"""A ledger that cannot be used is told and never changed; a folder that is full loses nothing."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys

import pytest

from tests.commands import driftproof, results, started
from toolkit.errors import DriftproofError
from toolkit.ledger import Ledger

SMOKE = ("verify", "comfedl/lemma-2", "--profile", "smoke", "--workers", "1")


@pytest.fixture
def finished(tmp_path):
    made = driftproof(*SMOKE, "--out", str(tmp_path))
    assert made.returncode == 0, made.stderr
    return tmp_path


def told(made, *words):
    assert made.returncode == 2
    assert "Traceback" not in made.stderr
    for word in ("wanted:", "remedy:", *words):
        assert word in made.stderr


KILLED = """
import multiprocessing, os, signal, sys, time
from pathlib import Path
from toolkit.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]))
child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
child.start()
Path(sys.argv[2]).write_text(str(child.pid))
time.sleep(0.5)  # the child has begun
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_a_worker_that_outlives_a_killed_run_does_not_hold_its_folder(tmp_path):
    path, told = tmp_path / "ledger.sqlite", tmp_path / "pid"
    with Ledger(path), pytest.raises(DriftproofError, match="another run"):
        Ledger(path)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path), str(told)], check=False)
    assert ended.returncode == -signal.SIGKILL
    try:
        Ledger(path).close()
    finally:
        os.kill(int(told.read_text()), signal.SIGKILL)


def test_a_ledger_of_a_newer_version_is_left_alone(finished):
    path = finished / "ledger.sqlite"
    ledger = sqlite3.connect(path, isolation_level=None)
    ledger.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ledger.close()
    before = path.read_bytes()
    told(driftproof(*SMOKE, "--out", str(finished)), "version 99", "was not touched")
    told(driftproof("report", str(finished)), "version 99")
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["text", "truncated", "other"])
def test_a_damaged_ledger_is_left_alone(finished, damage):
    path = finished / "ledger.sqlite"
    if damage == "text":
        path.write_text("not a database at all, but long enough to be read as one" * 50)
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:6000])
    else:
        path.unlink()
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE songs (name TEXT)")
        other.close()
    before = path.read_bytes()
    told(driftproof(*SMOKE, "--out", str(finished)), "ledger.sqlite", "damaged")
    assert path.read_bytes() == before
    assert (finished / "index.html").exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("in the way")
    told(driftproof(*SMOKE, "--out", str(tmp_path / "file" / "report")), "another --out")


def test_a_folder_that_cannot_be_written_to_is_told():
    told(driftproof(*SMOKE, "--out", "/proc/driftproof"), "/proc/driftproof", "another --out")


def test_a_disk_that_fills_up_loses_nothing(finished):
    """Writes fail beyond 64 KiB a file, as on a full disk; the old results stay whole."""
    before = {p.name: p.read_bytes() for p in finished.iterdir() if p.suffix in (".json", ".html")}

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))

    made = started(*SMOKE, "--seed", "1", "--out", str(finished), preexec_fn=full)
    told(made, str(finished))
    for name, content in before.items():
        assert (finished / name).read_bytes() == content
    assert not list(finished.glob(".part"))
    again = driftproof(*SMOKE, "--resume", "--out", str(finished))
    assert again.returncode == 0, again.stderr


def test_a_report_without_a_run_says_what_to_do(tmp_path):
    told(driftproof("report", str(tmp_path)), "no ledger")
    Ledger(tmp_path / "ledger.sqlite").close()
    told(driftproof("report", str(tmp_path)), "no finished run", "--resume")


@pytest.mark.parametrize("profile", ["smoke", "quick"])
def test_a_report_is_rebuilt_from_the_ledger_as_it_was(profile, tmp_path):
    words = [profile if word == "smoke" else word for word in SMOKE]
    assert driftproof(*words, "--out", str(tmp_path)).returncode == 0
    finished = tmp_path
    page, before = (finished / "index.html").read_bytes(), results(finished)
    plots = {path.name: path.read_bytes() for path in (finished / "plots").iterdir()}
    assert bool(plots) == (profile == "quick")
    for path in (finished / "index.html", finished / "results.json"):
        path.unlink()
    assert started("report", str(finished)).returncode == 0
    assert (finished / "index.html").read_bytes() == page
    assert results(finished) == before
    for name, content in plots.items():
        assert (finished / "plots" / name).read_bytes() == content


def test_units_and_rows_are_kept_exactly(tmp_path):
    with Ledger(tmp_path / "deep" / "ledger.sqlite") as ledger:
        ledger.keep("k", b"\x00\xff", 0.1 + 0.2)
        number = ledger.begin({"seed": 3})
        with pytest.raises(DriftproofError, match="no finished run"):
            ledger.latest()
        ledger.finish(number, [{"a": 1 / 3}, {"b": None}], {"seed": 3})
    with Ledger(tmp_path / "deep" / "ledger.sqlite", create=False) as ledger:
        assert ledger.unit("k") == (b"\x00\xff", 0.1 + 0.2)
        assert ledger.unit("other") is None
        assert ledger.latest() == ({"seed": 3}, [{"a": 1 / 3}, {"b": None}])
