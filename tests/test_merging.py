"""Ledgers of separate runs make one; what they disagree on is named, and they stay as they are."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands import driftproof, results
from toolkit.errors import DriftproofError
from toolkit.ledger import Ledger
from verifiers.experiment.codec import Checkpoint
from verifiers.merging import merge

SMOKE = ("--profile", "smoke", "--workers", "1")


def written(folder, units):
    with Ledger(folder / "ledger.sqlite") as ledger:
        for key, blob in units.items():
            ledger.keep(key, blob, 0.5, f"claim\0{key}")
    return folder


def kept(folder):
    with Ledger.untouched(folder / "ledger.sqlite") as ledger:
        return {unit.key: unit.blob for unit in ledger.units()}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@given(
    units=st.dictionaries(st.text("abc", min_size=1), st.binary(max_size=9), max_size=9),
    parts=st.lists(st.sets(st.integers(0, 8)), min_size=1, max_size=3),
)
def test_what_is_merged_is_the_union_however_the_units_were_dealt(units, parts, tmp_path_factory):
    root, keys = tmp_path_factory.mktemp("merge"), list(units)
    folders = [
        written(root / str(k), {keys[i]: units[keys[i]] for i in part if i < len(keys)})
        for k, part in enumerate(parts)
    ]
    merged = merge(folders, root / "out")
    union = {key: blob for folder in folders for key, blob in kept(folder).items()}
    assert kept(root / "out") == union
    assert merged.units == len(union)
    assert merged.shared == sum(map(len, map(kept, folders))) - len(union)


@pytest.mark.parametrize("blob", [b"\x00\x01", b'{"ratio": 0.1, "seconds": 3.0}', b"[0.1]"])
def test_a_conflict_names_the_unit_and_both_files_and_writes_nothing(blob, tmp_path):
    other = blob[:-1] + bytes([blob[-1] ^ 1]) if blob[0] == 0 else blob.replace(b"0.1", b"0.2")
    one = written(tmp_path / "one", {"k": blob, "l": b"alike"})
    two = written(tmp_path / "two", {"k": other, "l": b"alike"})
    with pytest.raises(DriftproofError) as told:
        merge([one, two], tmp_path / "out")
    for word in ("claim k (k)", str(one / "ledger.sqlite"), str(two / "ledger.sqlite")):
        assert word in told.value.got
    assert not (tmp_path / "out").exists()


def test_seconds_are_outside_the_promise_and_nothing_else_is(tmp_path):
    def blob(**changes):
        row = {"ratio": 0.1 + 0.2, "inner": [{"seconds": 1.0, "x": None}], "seconds": 2.0}
        return json.dumps(row | changes).encode()

    one = written(tmp_path / "one", {"k": blob()})
    later = written(tmp_path / "later", {"k": blob(seconds=9.0)})
    merge([one, later], tmp_path / "out")
    assert kept(tmp_path / "out") == {"k": blob()}
    differ = written(tmp_path / "differ", {"k": blob(ratio=float(np.nextafter(0.1 + 0.2, 1)))})
    with pytest.raises(DriftproofError, match="other bits"):
        merge([one, differ], tmp_path / "none")


def test_of_a_run_that_was_kept_on_its_way_the_furthest_stays(tmp_path):
    def part(done):
        return Checkpoint({"done": done}, {"w": np.full(2, done)}).packed()

    whole = b'{"loss": [1.0]}'
    folders = {
        name: written(tmp_path / name, {"k": blob})
        for name, blob in (("half", part(0.5)), ("more", part(0.75)), ("whole", whole))
    }
    for order, wanted in (
        (("half", "more"), part(0.75)), (("more", "half"), part(0.75)),
        (("whole", "half"), whole), (("half", "whole", "more"), whole),
    ):  # fmt: skip
        out = tmp_path / "-".join(order) / "out"
        merge([folders[name] for name in order], out)
        assert kept(out) == {"k": wanted}
    broken = written(tmp_path / "broken", {"k": part(0.5)[:-1] + b"\xff"})
    with pytest.raises(DriftproofError, match=f"{broken}.*damaged checkpoint"):
        merge([folders["half"], broken], tmp_path / "none")


def _truncate(path):
    path.write_bytes(path.read_bytes()[:6000])


def _newer(path):
    with sqlite3.connect(path) as ledger:
        ledger.execute("UPDATE meta SET value = '99'")
    ledger.close()


def _other(path):
    path.unlink()
    with sqlite3.connect(path) as ledger:
        ledger.execute("CREATE TABLE songs (name TEXT)")
    ledger.close()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_truncate, "damaged"), (_newer, "version 99"), (_other, "not a ledger"),
        (lambda path: path.write_text("no database, but long enough to be read" * 99), "damaged"),
        (lambda path: path.unlink(), "no ledger"),
    ],
)  # fmt: skip
def test_a_ledger_that_cannot_be_read_is_told(damage, told, tmp_path):
    one = written(tmp_path / "one", {"k": b"1"})
    two = written(tmp_path / "two", {str(k): b"x" * 999 for k in range(30)})
    damage(two / "ledger.sqlite")
    before = contents(two)
    ended = driftproof("merge", str(one), str(two), "--out", str(tmp_path / "out"))
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    for word in (str(two), told, "wanted:", "remedy:"):
        assert word in ended.stderr
    assert contents(two) == before
    assert not (tmp_path / "out").exists()


def test_a_ledger_is_neither_merged_into_nor_read_while_it_is_written(tmp_path):
    one = written(tmp_path / "one", {"k": b"1"})
    with pytest.raises(DriftproofError, match="has a ledger already"):
        merge([one], one)
    if sys.platform != "win32":
        with Ledger(one / "ledger.sqlite"), pytest.raises(DriftproofError, match="is writing"):
            merge([one], tmp_path / "out")


def test_a_ledger_of_an_older_driftproof_has_no_names_and_merges(tmp_path):
    one = written(tmp_path / "one", {"k": b"1"})
    with sqlite3.connect(one / "ledger.sqlite") as ledger:
        ledger.execute("DROP TABLE names")
    ledger.close()
    two = written(tmp_path / "two", {"k": b"2", "l": b"3"})
    with pytest.raises(DriftproofError, match="the unit claim k"):
        merge([one, two], tmp_path / "out")
    with pytest.raises(DriftproofError, match="the unit k has"):
        merge([two, one], tmp_path / "out")


KILLED = """
import os, signal, sys
from pathlib import Path
from toolkit.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]))
ledger.keep("late", b"in the log alone", 0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_what_a_killed_run_left_in_its_log_is_merged_and_left_there(tmp_path):
    one = written(tmp_path / "one", {"k": b"1"})
    subprocess.run([sys.executable, "-c", KILLED, str(one / "ledger.sqlite")], check=False)
    before = contents(one)
    assert before["ledger.sqlite-wal"]
    merge([one], tmp_path / "out")
    assert kept(tmp_path / "out") == {"k": b"1", "late": b"in the log alone"}
    assert contents(one) == before


def test_a_merged_run_goes_on_and_repeats_nothing(tmp_path):
    """Two halves, made apart and overlapping, come to the page of the whole."""
    halves = {"a": ("comfedl/lemma-2", "comfedl/remark-1"), "b": ("comfedl/lemma-[23]",)}
    for name, select in halves.items():
        made = driftproof("verify", *select, *SMOKE, "--out", str(tmp_path / name))
        assert made.returncode == 0, made.stderr
    before = {name: contents(tmp_path / name) for name in halves}
    folders = [str(tmp_path / name) for name in halves]
    merged = driftproof("merge", *folders, "--out", str(tmp_path / "c"))
    assert merged.returncode == 0, merged.stderr
    assert {name: contents(tmp_path / name) for name in halves} == before
    # a result that is taken from the ledger keeps its seconds: nothing was computed again
    with Ledger(tmp_path / "c" / "ledger.sqlite") as ledger:
        for unit in list(ledger.units()):
            ledger.keep(unit.key, unit.blob, 1234.5, unit.name)
    every = ("comfedl/lemma-[23]", "comfedl/remark-1", *SMOKE)
    whole = driftproof("verify", *every, "--resume", "--out", str(tmp_path / "c"))
    assert whole.returncode == 0, whole.stderr
    rows = json.loads((tmp_path / "c" / "results.json").read_text())["results"]
    assert {row["seconds"] % 1234.5 for row in rows} == {0.0}
    assert driftproof("verify", *every, "--out", str(tmp_path / "d")).returncode == 0
    assert results(tmp_path / "c") == results(tmp_path / "d")
