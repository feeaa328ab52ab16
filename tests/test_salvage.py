"""Law: of a damaged ledger nothing false is used, and whatever is whole is saved."""

from __future__ import annotations

import random
import shutil
import sqlite3

import pytest

from tests.benchmarks.damage import FILE, LOG, damage, logged, units_in
from tests.commands import driftproof, results
from toolkit.errors import DriftproofError
from toolkit.ledger import Ledger
from toolkit.salvage import salvage, whole
from toolkit.write_ahead_log import loses_commits

SMOKE = ("verify", "comfedl/lemma-2", "comfedl/equation-8", "--profile", "smoke", "--workers", "1")
TIMES = 25
SIZES = (30, 700, 2_000, 4_000, 20_000)
"""Bytes of results: several on a page, and one on several."""


def filled(path):
    """Write a ledger of many units and a finished run."""
    chance = random.Random(0)
    with Ledger(path) as ledger:
        for number in range(60):
            blob = chance.randbytes(SIZES[number % len(SIZES)])
            ledger.keep(f"{number:032x}", blob, number % 7 / 3, f"unit\0{number}")
        rows = [{"row": number, "text": "y" * 300} for number in range(20)]
        ledger.finish(ledger.begin({"a": 1}), rows, {"a": 2})
    return path.parent


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = filled(tmp_path_factory.mktemp("one") / "whole" / FILE)
    return {FILE: folder, LOG: logged(folder, folder.parent / "killed")}


@pytest.mark.parametrize("way", ["cut", "bit flipped"])
@pytest.mark.parametrize("file", [FILE, LOG])
def test_whatever_is_damaged_nothing_false_is_used_and_nothing_whole_is_lost(folders, file, way):
    came = damage(folders[file], file, way, TIMES, seed=0)
    assert came.faults == []
    assert came.saved >= came.readable > 0
    if file == FILE:
        assert came.counts["told"] > TIMES / 2


def test_the_test_would_notice_a_lost_unit(folders, monkeypatch):
    """A negative control: a reader that skips every third row."""
    from toolkit import salvage as module

    rows = module._rows
    monkeypatch.setattr(module, "_rows", lambda path: list(rows(path))[::3])
    assert any("lost" in fault for fault in damage(folders[FILE], FILE, "cut", 5, 0).faults)


def test_units_are_saved_from_a_page_whose_own_table_of_them_is_damaged(tmp_path):
    path = tmp_path / FILE
    with Ledger(path) as ledger:
        for number in range(4):
            ledger.keep(f"{number:032x}", b"%d" % number * 600, 0.5)
    content = path.read_bytes()
    (page,) = {content.rindex(b"%d" % number * 600) // 4096 for number in range(4)}
    for bit in range(8 * 16):  # of the page's head, and of where its rows are
        changed = bytearray(content)
        changed[page * 4096 + bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        assert len(whole(path).units) == 4, bit


def test_all_of_a_whole_ledger_is_saved(folders, tmp_path):
    saved = salvage(folders[FILE] / FILE, tmp_path / "new" / FILE)
    assert units_in(tmp_path / "new") == units_in(folders[FILE])
    assert (saved.damaged, saved.unknown) == (0, 0)
    with Ledger(tmp_path / "new" / FILE) as new, Ledger(folders[FILE] / FILE) as old:
        assert new.latest() == old.latest()
        assert {unit.name for unit in new.units()} == {unit.name for unit in old.units()}


def test_what_is_newest_of_a_unit_is_saved(tmp_path):
    with Ledger(tmp_path / "old" / FILE) as ledger:
        for number in range(40):
            ledger.keep("k", b"%d" % number * 500, 1.0)
    salvage(tmp_path / "old" / FILE, tmp_path / "new" / FILE)
    assert units_in(tmp_path / "new")["k"].blob == b"39" * 500


@pytest.mark.parametrize("what", ["units", "runs", "meta"])
def test_a_value_that_changed_is_told_though_sqlite_sees_nothing(tmp_path, what):
    path = filled(tmp_path / "old" / FILE) / FILE
    change = {
        "units": "UPDATE units SET blob = x'00' WHERE key LIKE '%1'",
        "runs": "UPDATE runs SET done = 0",
        "meta": "ALTER TABLE names RENAME TO nemes",
    }[what]
    with sqlite3.connect(path) as ledger:
        ledger.execute(change)
    ledger.close()

    def used():
        with Ledger(path) as damaged:
            damaged.unit(f"{1:032x}")
            damaged.latest()

    with pytest.raises(DriftproofError, match=r"damaged[\s\S]*salvage"):
        used()
    saved = salvage(path, tmp_path / "new" / FILE)
    assert len(saved.units) == (56 if what == "units" else 60)
    assert saved.damaged == (4 if what == "units" else 0)
    assert saved.head == {"a": 2}


def test_a_ledger_of_the_version_before_is_read_and_goes_on(tmp_path):
    path = tmp_path / FILE
    with sqlite3.connect(path) as old:
        old.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        old.execute(
            "CREATE TABLE units (key TEXT PRIMARY KEY, seconds REAL NOT NULL, blob BLOB NOT NULL)"
        )
        old.execute("INSERT INTO meta VALUES ('schema', '1')")
        old.execute("INSERT INTO units VALUES ('before', 1.5, x'07')")
    old.close()
    before = path.read_bytes()
    assert units_in(tmp_path)["before"].blob == b"\x07"
    with pytest.raises(DriftproofError, match="nothing that is whole"):
        salvage(path, tmp_path / "new" / FILE)
    assert path.read_bytes() == before
    with Ledger(path) as ledger:
        assert ledger.unit("before") == (b"\x07", 1.5)
        ledger.keep("after", b"\x08", 2.5)
    assert set(units_in(tmp_path)) == {"before", "after"}


def test_a_log_whose_last_transaction_alone_is_torn_is_no_damage(folders, tmp_path):
    """A kill may come between the two writes of a frame."""
    killed = tmp_path / "killed"
    shutil.copytree(folders[LOG], killed)
    log = (killed / LOG).read_bytes()
    (killed / LOG).write_bytes(log[:-4096] + bytes(4096))
    assert len(units_in(killed)) == 59
    assert not loses_commits(log, 4096, (len(log) - 32) // 4120)
    assert loses_commits(log, 4096, 0)
    (killed / LOG).write_bytes(bytes(8) + log[8:])
    with pytest.raises(DriftproofError, match="cannot be read to its end"):
        units_in(killed)


def test_a_damaged_ledger_is_told_saved_and_gone_on_from(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    assert driftproof(*SMOKE, "--out", str(old)).returncode == 0
    undisturbed = results(old)
    content = bytearray((old / FILE).read_bytes())
    content[28:32] = (99).to_bytes(4, "big")  # so many pages, it says
    (old / FILE).write_bytes(content[:-8192])
    before = (old / FILE).read_bytes()
    for words in ([*SMOKE, "--resume", "--out", str(old)], ["report", str(old)]):
        told = driftproof(*words)
        assert told.returncode == 2
        assert "damaged" in told.stderr
        assert "driftproof salvage" in told.stderr
        assert "Traceback" not in told.stderr
    saved = driftproof("salvage", str(old), "--out", str(new))
    assert saved.returncode == 0, saved.stderr
    assert (old / FILE).read_bytes() == before
    again = driftproof(*SMOKE, "--resume", "--out", str(new))
    assert again.returncode == 0, again.stderr
    assert results(new) == undisturbed
    told = driftproof("salvage", str(old), "--out", str(new))
    assert (told.returncode, "has a ledger already" in told.stderr) == (2, True)


def test_a_report_is_made_of_a_saved_run(tmp_path):
    assert driftproof(*SMOKE, "--out", str(tmp_path / "old")).returncode == 0
    with sqlite3.connect(tmp_path / "old" / FILE) as ledger:
        ledger.execute("UPDATE units SET blob = x'00'")
    ledger.close()
    saved = driftproof("salvage", str(tmp_path / "old"), "--out", str(tmp_path / "new"))
    assert "units are damaged, and left out" in saved.stdout
    assert driftproof("report", str(tmp_path / "new")).returncode == 0
    assert results(tmp_path / "new") == results(tmp_path / "old")
