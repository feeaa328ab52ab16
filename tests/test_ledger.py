"""A ledger that cannot be used is told and never changed; a folder that is full loses nothing."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from random import Random

import pytest

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.ledger import Ledger
from driftproof.verifiers.judges.judge import ClaimTask
from driftproof.verifiers.judges.runs import exact
from driftproof.verifiers.running.scheduler import Cache, run_jobs, task_key
from driftproof.verifiers.verify import select
from tests.commands import driftproof, results, started

SMOKE = ("verify", "comfedl/lemma-2", "--profile", "smoke", "--workers", "1")


@pytest.fixture
def finished(tmp_path):
    made = driftproof(*SMOKE, "--out", str(tmp_path))
    assert made.returncode == 0, made.stderr
    return tmp_path


def told(made, *words):
    assert made.returncode == 2, made.stderr
    assert "Traceback" not in made.stderr
    for word in ("wanted:", "remedy:", *words):
        assert word in made.stderr


def test_one_run_writes_to_a_folder(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger(path), pytest.raises(DriftproofError, match="another run"):
        Ledger(path)
    Ledger(path).close()


@pytest.mark.parametrize("damage", ["text", "truncated", "other", "newer"])
def test_a_damaged_ledger_is_left_alone(finished, damage):
    path = finished / "ledger.sqlite"
    if damage == "text":
        path.write_text("not a database at all, but long enough to be read as one" * 50)
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:6000])
    elif damage == "newer":
        with sqlite3.connect(path) as newer:
            newer.execute("PRAGMA user_version = 99")
        newer.close()
    else:
        path.unlink()
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE songs (name TEXT)")
        other.close()
    before = path.read_bytes()
    for words in ((*SMOKE, "--out", str(finished)), ("report", str(finished))):
        told(driftproof(*words), "ledger.sqlite", "damaged", "run the command again")
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


def test_a_report_is_rebuilt_from_the_ledger_as_it_was(tmp_path):
    assert driftproof(*SMOKE, "--out", str(tmp_path)).returncode == 0
    finished = tmp_path
    page, before = (finished / "index.html").read_bytes(), results(finished)
    drawn = []
    for _ in range(2):
        for path in (finished / "index.html", finished / "results.json"):
            path.unlink()
        assert started("report", str(finished)).returncode == 0
        assert (finished / "index.html").read_bytes() == page
        assert results(finished) == before
        drawn.append({p.name: p.read_bytes() for p in (finished / "plots").iterdir()})
    assert drawn[0]
    assert drawn[0] == drawn[1]
    assert driftproof(*SMOKE, "--out", str(tmp_path)).returncode == 0
    assert not (finished / "plots").exists()  # they were those of an earlier run


def test_tasks_and_rows_are_kept_exactly(tmp_path):
    with Ledger(tmp_path / "deep" / "ledger.sqlite") as ledger:
        ledger.keep("k", b"\x00\xff", 0.1 + 0.2)
        with pytest.raises(DriftproofError, match="no finished run"):
            ledger.latest()
        ledger.finish({"seed": 3}, [{"a": 1 / 3}, {"b": None}])
    with Ledger(tmp_path / "deep" / "ledger.sqlite", create=False) as ledger:
        assert ledger.task("k") == (b"\x00\xff", 0.1 + 0.2)
        assert ledger.task("other") is None
        assert ledger.latest() == ({"seed": 3}, [{"a": 1 / 3}, {"b": None}])


CHANGES = [
    "UPDATE tasks SET blob = CAST('other' AS BLOB)",
    "UPDATE tasks SET seconds = 2.0",
    "UPDATE tasks SET key = 'other' WHERE key = 'k'",
    "UPDATE tasks SET digest = NULL",
    "UPDATE runs SET head = '{}'",
    "UPDATE runs SET rows = '[]'",
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_in_a_ledger_is_refused(tmp_path, change):
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        ledger.keep("k", b"result", 1.0)
        ledger.finish({"seed": 3}, [{"a": 1}])
    with sqlite3.connect(path) as other:
        other.execute(change)
    other.close()
    with Ledger(path) as ledger, pytest.raises(DriftproofError, match="not as it was written"):
        (ledger.task("other" if "SET key" in change else "k"), ledger.latest())


def test_a_bit_that_changed_on_the_disk_is_refused_or_changes_nothing(tmp_path):
    path, random = tmp_path / "ledger.sqlite", Random(0)
    tasks = {f"{k}": random.randbytes(300) for k in range(20)}
    with Ledger(path) as ledger:
        for key, blob in tasks.items():
            ledger.keep(key, blob, 1.0)
        ledger.finish({"seed": 3}, [{"a": 1}])
    whole, refused = path.read_bytes(), 0
    for _ in range(150):
        at = random.randrange(len(whole))
        path.write_bytes(
            whole[:at] + bytes([whole[at] ^ 1 << random.randrange(8)]) + whole[at + 1 :]
        )
        try:
            with Ledger(path, create=False) as ledger:
                assert ledger.latest() == ({"seed": 3}, [{"a": 1}])
                for key, blob in tasks.items():
                    assert ledger.task(key) in ((blob, 1.0), None)
        except DriftproofError as error:
            refused += "damaged" in error.got
    assert refused > 30


# -- law: results are the same to the bit for any number of workers, and after a SIGKILL


# sampled, exact and symbolic rows; several blocks
SELECT = ("comfedl/lemma-2", "comfedl/remark-1", "--profile", "smoke")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    made = driftproof("verify", *SELECT, "--workers", "1", "--out", str(folder))
    assert made.returncode == 0, made.stderr
    return results(folder)


def test_two_workers_give_the_same_bits_as_one(undisturbed, tmp_path):
    assert started("verify", *SELECT, "--workers", "2", "--out", str(tmp_path)).returncode == 0
    assert results(tmp_path) == undisturbed


def test_a_resumed_run_computes_nothing_twice(tmp_path):
    (leaf,) = select(["comfedl/lemma-2"])
    item = ClaimTask(leaf, exact, case=leaf.load().cases[0].key)

    def job():
        ((blob, _),) = yield [item]
        return blob

    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        (first,) = run_jobs([job()], Cache(ledger, resume=False), workers=1)
        ledger.keep(task_key(item), b"from the ledger", 1.0)
        (second,) = run_jobs([job()], Cache(ledger, resume=True), workers=1)
    assert first != b"from the ledger"
    assert second == b"from the ledger"


def test_a_unit_of_other_code_is_not_reused(tmp_path):
    """The unit of a user's file is named by its content."""

    keys = []
    for text in ("", "# a change\n"):
        path = tmp_path / f"own{len(keys)}.py"
        source = select(["comfedl/lemma-2"])[0].path.read_text()
        path.write_text(text + source.replace("comfedl/lemma-2", "own/drift"))
        (leaf,) = select([str(path)])
        keys.append(task_key(ClaimTask(leaf, exact)))
    assert keys[0] != keys[1]


# -- A disk that is full, and a folder that is read-only: told, and nothing that was there is lost


@contextmanager
def mounted(folder, *options):
    """Mount something on a folder, or skip the test: it takes a right that few have."""
    folder.mkdir(exist_ok=True)
    made = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"mount: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="a disk is mounted")
def test_a_run_that_fills_a_disk_goes_on_when_there_is_room(tmp_path):
    assert driftproof(*SMOKE, "--out", str(tmp_path / "ample")).returncode == 0
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=96k", "none") as small:
        told(driftproof(*SMOKE, "--out", str(small / "out")), "with room")
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        again = driftproof(*SMOKE, "--resume", "--out", str(small / "out"))
        assert again.returncode == 0, again.stderr
        assert results(small / "out") == results(tmp_path / "ample")


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="a disk is mounted")
def test_a_read_only_folder_is_told_and_can_be_read(tmp_path):
    finished, other = tmp_path / "finished", tmp_path / "other"
    assert driftproof(*SMOKE, "--out", str(finished)).returncode == 0
    shutil.copytree(finished, other)
    with mounted(tmp_path / "fixed", "--bind", str(finished)) as fixed:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(fixed)], check=True)
        for words in (SMOKE, (*SMOKE, "--resume")):
            told(driftproof(*words, "--out", str(fixed)), "Read-only", "another --out")
        told(driftproof("report", str(fixed)), "Read-only")
        compared = driftproof("report", str(fixed), str(other))
        assert (compared.returncode, "0 changes" in compared.stdout) == (0, True)
    assert results(finished) == results(other)
