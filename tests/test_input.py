"""Nothing that a user's file or a name does ends the command without a word, or leaves a trace."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from driftproof.toolkit.errors import after_system_error
from driftproof.toolkit.names import NAME_LETTERS, check_name
from tests.commands import Late, driftproof

SMOKE = ("--profile", "smoke", "--workers", "1")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux")
MINE = """
import os, signal, time
from driftproof import bound, each, grid, sq
from driftproof.algorithms import ComFedL
from driftproof.problems import BoundedComposition

{first}

def right(c):
    return c.tau**2 * c.eta**2 * c.G_f**2 * c.G_g**2


@bound(
    name="mine/drift", source="", statement="", right=right,
    cases=grid(BoundedComposition(distance=20.0), ComFedL(local_steps=[1, 2, 3, 4]), rounds=2),
)
def drift(view):
    {left}
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
"""


def mine(folder: Path, first: str = "", left: str = "") -> Path:
    path = folder / "mine.py"
    path.write_text(MINE.format(first=first, left=left), encoding="utf-8")
    return path


def session(leader: int) -> list[int]:
    """Return the processes of a session that run, from Linux's own list."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, *fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended as we looked
        if int(fields[2]) == leader and state not in "ZX":
            found.append(int(folder.name))
    return found


LONG = "time.sleep(120 if 'loky' in str(__import__('sys').orig_argv) else 0.5)"
SOON = """
from driftproof.verifiers.running import scheduler
scheduler.ALONE = 0.1
from driftproof.__main__ import main
main()
"""
"""A command does its shortest tasks itself for so many seconds; then workers start."""


def ignores(process: int, number: int) -> bool:
    """Say whether a process ignores a signal, as a command does Ctrl-C while its workers start."""
    text = Path(f"/proc/{process}/status").read_text()
    return bool(int(text.partition("SigIgn:")[2].split()[0], 16) >> number - 1 & 1)


@LINUX
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_a_command_is_sent_ends_it_in_order(tmp_path, number, status):
    mine(tmp_path, left=LONG)
    running = subprocess.Popen(
        [sys.executable, "-c", SOON, "verify", "mine.py", "--workers", "2"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell's background job ignores Ctrl-C, and so would what it starts
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while len(session(running.pid)) < 4 or ignores(running.pid, number):
        assert running.poll() is None
        time.sleep(0.05)
    os.kill(running.pid, number)
    _, told = running.communicate(timeout=300)
    assert running.returncode == status
    assert "Traceback" not in told
    assert "interrupted" in told


CALLBACK = """
import ctypes, sys, time
from driftproof import cli
def within():
    print("within", flush=True)
    time.sleep(0.3)
@cli.cli.command("wait")
def wait():
    for _ in range(20):
        ctypes.CFUNCTYPE(None)(within)()
        time.sleep(0.3)
cli.Commands.get_command = lambda self, ctx, name: wait
sys.argv = ["driftproof", "wait"]
cli.main()
"""


@LINUX
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_sent_while_compiled_code_calls_back_is_not_lost(number, status):
    """Python prints what is raised in a callback from C, and goes on."""
    running = subprocess.Popen(
        [sys.executable, "-c", CALLBACK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    running.stdout.readline()
    os.kill(running.pid, number)
    _, told = running.communicate(timeout=300)
    assert (running.returncode, told.strip()) == (status, "driftproof: interrupted")


@pytest.mark.parametrize(
    "name", ["mine/" + "x" * 300, "a\0b", " a", "", "a\nb", "\N{SNOWMAN}" * 70]
)
def test_a_claims_name_that_no_file_can_bear_is_refused(tmp_path, name):
    path = mine(tmp_path)
    path.write_text(path.read_text().replace('"mine/drift"', repr(name)))
    made = driftproof("verify", "mine.py", *SMOKE, cwd=tmp_path)
    assert made.returncode == 2
    assert "mine.py:13: the claim's name" in made.stderr
    assert "space" not in made.stderr
    assert check_name("claim", "x" * NAME_LETTERS)


def test_a_path_that_is_too_long_does_not_blame_the_disk(tmp_path):
    made = driftproof("verify", "comfedl/lemma-2", *SMOKE, "--out", "o" * 300, cwd=tmp_path)
    assert made.returncode == 2
    assert "shorten the name" in made.stderr
    assert "room" not in made.stderr.split("remedy")[1]
    assert "free some space" in after_system_error(OSError(28, "No space left on device"))


def test_many_files_of_ones_own_have_a_folder_of_a_bearable_name():
    from driftproof.commands._shared import folder

    names = [
        folder(None, "-".join(f"file-{k}-of-many" for k in range(n))).name for n in (2, 40, 41)
    ]
    assert names[0] == "report-file-0-of-many-file-1-of-many"
    assert all(len(name) <= 100 for name in names)
    assert len(set(names)) == 3


SEVERAL = """
from driftproof import Comparison, average, bound, comparison, each, grid, sq
from driftproof.algorithms import ComFedL
from driftproof.problems import BoundedComposition

CASES = grid(BoundedComposition(), ComFedL(), rounds=2)


def large(c):
    return 1000 * c.tau


@bound(name="mine/good", source="", statement="", cases=CASES, right=large)
def good(view):
    return each("round", sq(view.mean("w")))


@bound(name="mine/letter", source="", statement="", cases=CASES, right=lambda c: c.taw)
def letter(view):
    return each("round", sq(view.mean("w")))


@bound(name="mine/left", source="", statement="", cases=CASES, right=large)
def left(view):
    return each("round", sq(view.mean("v")))


@comparison(name="mine/zero", source="", statement="", cases=CASES, right=1.0)
def zero(case, right):
    return [Comparison("a", 1 / 0, 1.0, right)]


@comparison(name="mine/nan", source="", statement="", cases=CASES, right=1.0)
def nan(case, right):
    return [Comparison("a", float("nan"), 1.0, right)]
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_claims_beside_a_bad_one_are_judged_and_shown(tmp_path, workers):
    (tmp_path / "mine.py").write_text(SEVERAL, encoding="utf-8")
    made = driftproof("verify", "mine.py", "--workers", workers, "--json", cwd=tmp_path)
    assert made.returncode == 2
    results = json.loads(made.stdout)
    verdicts = {row["claim"]: row["verdict"] for row in results["results"]}
    assert verdicts == {"mine/good": "SUPPORTED", "mine/nan": "INCONCLUSIVE"}
    assert set(results["failed"]) == {"mine/letter", "mine/left", "mine/zero"}
    page = (tmp_path / "report-mine" / "index.html").read_text(encoding="utf-8")
    for claim, line, said in (
        ("letter", 18, "did you mean tau"),
        ("left", 25, "unknown quantity 'v'"),
        ("zero", 30, "division by zero"),
    ):
        assert f"mine.py:{line}: in " in results["failed"][f"mine/{claim}"]
        assert said in results["failed"][f"mine/{claim}"]
        assert said in made.stderr
        assert f"<strong>mine/{claim} could not be judged.</strong>" in page
    again = driftproof("report", "report-mine", cwd=tmp_path)
    assert again.returncode == 0
    assert "could not be judged" in (tmp_path / "report-mine/index.html").read_text()


def test_files_that_cannot_be_read_are_refused_at_once(tmp_path):
    """A loop of links, and a pipe that nobody writes to."""
    (tmp_path / "loop.py").symlink_to("loop.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "data").mkdir()
    os.mkfifo(tmp_path / "data" / "adult.data")
    commands = ("verify", "falsify", "show", "counterexample", "controls", "check", "prove")
    tried = [(command, f"{name}.py") for command in commands for name in ("loop", "pipe")]
    tried += [("run", "comfedl/imbalanced", "--data", name) for name in ("loop.py", "data")]
    waits = Late(60.0, lambda process: os.killpg(process, signal.SIGKILL))
    for words in tried:
        ended = driftproof(*words, cwd=tmp_path, late=waits)
        assert ended.returncode in (2, 3), (words, ended.stderr)
        assert "remedy: " in ended.stderr
        assert "internal error" not in ended.stderr
