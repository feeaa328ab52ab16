"""A disk that is full, and a folder that is read-only: told, and nothing that was there is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

from driftproof.toolkit.report.files import write_text
from tests.commands import driftproof, results

SMOKE = ("verify", "comfedl/lemma-2", "--profile", "smoke", "--workers", "1")
FULL = """
import resource, sys
from pathlib import Path
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.files import write_text
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_text(Path(sys.argv[1]), "x" * 10_000)
except DriftproofError as error:
    print(error)
"""


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


def told(made, *words):
    assert made.returncode == 2, made.stderr
    assert "Traceback" not in made.stderr
    for word in ("wanted:", "remedy:", *words):
        assert word in made.stderr


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


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size")
def test_a_file_that_there_is_no_room_for_leaves_the_old_one(tmp_path):
    path = tmp_path / "search.json"
    write_text(path, "what was found before")
    made = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True
    )
    assert "got:" in made.stdout
    assert "remedy:" in made.stdout
    assert path.read_text() == "what was found before"
    assert [file.name for file in tmp_path.iterdir()] == ["search.json"]
