"""Law: killed at any moment and resumed, a command ends with the same results to the bit."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import pytest

from tests.commands import DRIFTPROOF, PATIENCE, Late, driftproof

COMMANDS = {
    "results.json": (
        "verify",
        "comfedl/algorithm-1",
        "comfedl/equation-8",
        "comfedl/equation-10",
        "comfedl/client-drift-class",
        "comfedl/lemma-2",
        "--profile",
        "smoke",
    ),
    "experiment.json": ("run", "worked-example/local-steps", "--profile", "smoke"),
    "search.json": ("falsify", "comfedl/lemma-2", "--climbs", "2", "--no-controls"),
}
OUTSIDE = ("seconds", "memory", "environment")
"""What no promise of the same bits covers."""
KILLS = 4
GONE = 10.0
"""Seconds in which every process of a killed command has to end, and not by being done."""


def timeless(value):
    if isinstance(value, dict):
        return {name: timeless(part) for name, part in value.items() if name not in OUTSIDE}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def tasks_in(folder):
    """The results in a ledger, which has to be whole."""
    if not (folder / "ledger.sqlite").exists():
        return {}
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as ledger:
        assert list(ledger.execute("PRAGMA integrity_check")) == [("ok",)]
        if not list(ledger.execute("SELECT 1 FROM sqlite_master WHERE name = 'tasks'")):
            return {}
        kept = dict(ledger.execute("SELECT key, blob FROM tasks"))
    for key, blob in kept.items():
        with suppress(ValueError):
            kept[key] = timeless(json.loads(blob))
    return kept


def left_in(folder, told):
    return timeless(json.loads((folder / told).read_text())), tasks_in(folder)


@cache
def undisturbed(told, folder):
    out, words = folder / "whole", (*COMMANDS[told], "--workers", "1")
    driftproof(*words, "--out", str(folder / "first"))  # kernels may have to be compiled
    began = time.monotonic()
    made = driftproof(*words, "--out", str(out))
    assert made.returncode in (0, 1), made.stderr
    return time.monotonic() - began, left_in(out, told)


def group_of(process):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, group, *_ = status.read_text().rpartition(") ")[2].split()
            if int(group) == process and state not in "ZX":
                found.append(int(status.parent.name))
    return found


def gone(process):
    """Wait until every process of a group has ended; say whether that came about."""
    ends = time.monotonic() + GONE
    while group_of(process) and time.monotonic() < ends:
        time.sleep(0.01)
    return not group_of(process)


def kill_all(process):
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux alone")
@pytest.mark.parametrize("told", COMMANDS)
def test_a_killed_command_ends_as_if_undisturbed(told, tmp_path_factory):
    chance = random.Random(told)
    takes, whole = undisturbed(told, tmp_path_factory.getbasetemp() / told)
    kills = 0
    while kills < KILLS:
        out, kept, resume = tmp_path_factory.mktemp("killed"), {}, ()
        for attempt in range(1000):
            met = []

            def act(process, met=met):
                met.append(process)
                kill_all(process)

            late = Late(chance.uniform(0, takes * 1.1**attempt), act)
            words = (*COMMANDS[told], "--workers", "1", "--out", str(out), *resume)
            made = driftproof(*words, late=late)
            assert "Traceback" not in made.stderr
            if made.returncode in (0, 1):
                break
            assert made.returncode == -signal.SIGKILL, made.stderr
            kills, resume = kills + 1, ("--resume",)
            assert gone(met[0])
            before, kept = kept, tasks_in(out)
            assert before.items() <= kept.items()
        assert left_in(out, told) == whole


@pytest.fixture(scope="module")
def lemmas(tmp_path_factory):
    """What an undisturbed run leaves."""
    folder = tmp_path_factory.mktemp("lemmas")
    made = driftproof("verify", "comfedl/lemma-[1-4]", "--workers", "2", "--out", str(folder))
    assert made.returncode == 0, made.stderr
    return left_in(folder, "results.json")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("whom", ["a worker", "the command", "all"])
def test_a_kill_while_workers_work_costs_nothing_that_is_done(whom, lemmas, tmp_path):
    words = (*DRIFTPROOF, "verify", "comfedl/lemma-[1-4]", "--workers", "2", "--out")
    running = subprocess.Popen(
        [*words, str(tmp_path)],
        text=True,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    workers = []
    while not (workers and tasks_in(tmp_path)):
        assert running.poll() is None, "it ended before it could be killed"
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        workers = [
            int(child)
            for child in children
            if b"LokyProcess" in Path(f"/proc/{child}/cmdline").read_bytes()
        ]
        time.sleep(0.05)
    kept = tasks_in(tmp_path)
    if whom == "all":
        kill_all(running.pid)
    else:
        os.kill(workers[0] if whom == "a worker" else running.pid, signal.SIGKILL)
    _, errors = running.communicate(timeout=PATIENCE)
    if whom == "a worker":
        assert running.returncode == 2
        assert "ended a worker process" in errors
        assert "--resume" in errors
    assert gone(running.pid)
    assert kept.items() <= tasks_in(tmp_path).items()
    assert driftproof(*words[len(DRIFTPROOF) :], str(tmp_path), "--resume").returncode == 0
    assert left_in(tmp_path, "results.json") == lemmas
