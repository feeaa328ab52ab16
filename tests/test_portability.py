"""What other systems lack is taken away here: a simulation, for want of Windows and macOS."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import DRIFTPROOF, driftproof, results

AS_ON_WINDOWS = """
import asyncio, multiprocessing, os, signal, sys
import numba, torch
# these have found by now what they need of this system; driftproof finds it gone

multiprocessing.get_all_start_methods = lambda: ["spawn"]
for name in ("SIGKILL", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGCHLD", "SIGALRM", "alarm",
             "pthread_sigmask", "sigtimedwait"):
    delattr(signal, name)
for name in ("fork", "sched_getaffinity", "register_at_fork", "WNOHANG", "killpg", "getuid"):
    delattr(os, name)
sys.modules["fcntl"] = sys.modules["resource"] = None
sys.platform = "another"  # "win32" would send Python for what is not here
from driftproof.__main__ import main

if __name__ == "__main__":
    main()
"""


def test_a_verdict_is_the_same_where_processes_cannot_be_forked(tmp_path):
    """Two workers start afresh, import that file themselves, and do without a lock and signals."""
    script = tmp_path / "as_on_windows.py"
    script.write_text(AS_ON_WINDOWS, encoding="utf-8")
    words = ["verify", "comfedl/lemma-2", "--profile", "smoke", "--quiet", "--workers", "2"]
    run = [sys.executable, "-W", "error::RuntimeWarning", str(script), *words, "--out", "there"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    made = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, "page: there/index.html\n")
    assert driftproof(*words, "--out", "here", cwd=tmp_path).returncode == 0
    there, here = (results(tmp_path / name) for name in ("there", "here"))
    assert there == here


def test_a_pipe_of_windows_takes_every_letter(tmp_path):
    """What Windows hands a program for a file is cp1252, which has neither σ nor ─."""
    environment = os.environ | {"PYTHONIOENCODING": "cp1252"}
    words = [*DRIFTPROOF, "list", "problems"]
    made = subprocess.run(words, env=environment, capture_output=True)
    assert made.returncode == 0, made.stderr
    told = made.stdout.decode("utf-8")
    with pytest.raises(UnicodeEncodeError):
        told.encode("cp1252")
    assert json.loads(
        subprocess.run([*words, "--json"], env=environment, capture_output=True).stdout
    )


def test_no_file_name_is_refused_by_another_system():
    """Windows has no colon in a name, and takes two that differ in case for one."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    names = listed.stdout.splitlines()
    assert len({name.lower() for name in names}) == len(names)
    assert not [name for name in names if set(name) & set(':*?"<>|')]
