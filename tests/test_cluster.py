"""Law: on workers elsewhere results are the same to the bit, whatever becomes of the workers."""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.verifiers.running.dask_workers import done, packed
from driftproof.verifiers.running.fingerprint import LIBRARIES, SOURCES, fingerprint
from tests.commands import DRIFTPROOF, ROOT, driftproof, results, started

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None,
    reason="Dask is not installed: pip install cloudpickle distributed",
)
needs_sigkill = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")

HELPER = """
import os, time
from pathlib import Path

FOLDER = Path(__file__).parent

def steady(view):
    # the cases of one local step, which are the last, are held while there is a file "hold"
    while view.local_steps == 1 and (FOLDER / "hold").exists():
        (FOLDER / f"held-{os.getpid()}").touch()
        time.sleep(0.01)
    return 1.0
"""
CLAIM = """
from driftproof import Letters, Reduction, Steps, bound, each, grid, sq, sweep
from driftproof.algorithms import ComFedL
from driftproof.problems import BoundedComposition
from steady import steady

def formula(c: Letters):
    return c.tau**2 * c.eta**2 * c.G_f**2 * c.G_g**2

@bound(
    name="mine/held",
    source="my draft",
    statement="x",
    cases=[
        case
        for steps in (2, 1)
        for case in grid(
            BoundedComposition(clients=sweep(2, 3), heterogeneity=sweep(0.0, 1.0)),
            ComFedL(local_steps=steps, step_size=0.1),
            rounds=2,
        )
    ],
    right=formula,
)
def drift(view: Steps) -> Reduction:
    moved = sq(view.mean("w") - view.round_start("w"))
    return each("round", "local_step", steady(view) * moved)
"""


def own_claim(folder):
    folder.mkdir()
    (folder / "steady.py").write_text(HELPER)
    (folder / "held.py").write_text(CLAIM)
    return folder / "held.py"


# what travels, without any cluster


@dataclass(frozen=True)
class Doubled:
    """A unit that says nothing but a number."""

    number: int

    @property
    def name(self):
        return f"doubled {self.number}"

    @property
    def path(self):
        return None

    def work(self):
        return str(2 * self.number).encode()


@dataclass(frozen=True)
class Reading(Doubled):
    """A unit whose name, and result, rest on a file of data."""

    data: str = ""

    @property
    def name(self):
        return f"reading {Path(self.data).read_text()}"


@needs_dask
@pytest.mark.parametrize("name", [SOURCES, "Python", *LIBRARIES])
def test_a_worker_with_other_code_refuses_by_name(name):
    text = packed(Doubled(3))
    assert done(text, fingerprint(), "doubled 3")[0] == b"6"
    with pytest.raises(DriftproofError) as told:
        done(b"of a class that is not here", fingerprint() | {name: "of another day"}, "doubled 3")
    assert f"process {os.getpid()}," in told.value.got
    assert ("other sources of driftproof" if name == SOURCES else name) in told.value.got
    assert "--resume" in told.value.remedy


@needs_dask
def test_a_worker_with_other_data_is_told(tmp_path):
    data = tmp_path / "data"
    data.write_text("digits-1")
    task = Reading(1, str(data))
    text, name = packed(task), task.name
    assert done(text, fingerprint(), name)[0] == b"2"
    data.write_text("digits-2")
    with pytest.raises(DriftproofError, match="has other data: reading digits-2, and not"):
        done(text, fingerprint(), name)


WORKER = """
import pickle, sys
from driftproof.verifiers.running.dask_workers import done
for task in pickle.load(sys.stdin.buffer):
    try:
        print(done(*task)[0])
    except Exception as error:
        print(repr(error))
"""
"""A worker of another machine: it is sent tasks, and has no file of the user's."""


def another_machine(tasks, folder):
    ended = subprocess.run(
        [sys.executable, "-c", WORKER], input=pickle.dumps(tasks), capture_output=True,
        check=True, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return ended.stdout.decode().splitlines()


TASKS = """
import pickle, sys
from driftproof.verifiers.running.dask_workers import fingerprint, packed
from driftproof.verifiers.judges.judge import ClaimTask
from driftproof.verifiers.judges.runs import exact
from driftproof.verifiers.verify import select
(leaf,) = select([sys.argv[1]])
claim = leaf.load()
tasks = [ClaimTask(leaf, exact, number=k, case=case.key) for k, case in enumerate(claim.cases)]
sent = [(packed(task), fingerprint(), task.name) for task in tasks[:2]]
pickle.dump(sent, open(sys.argv[2], "wb"))
"""


def tasks_of(path, folder):
    """Pack the first tasks of a claim as a command does, in a process of its own."""
    to = folder / "tasks"
    words = [sys.executable, "-c", TASKS, str(path), str(to)]
    subprocess.run(words, check=True, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)})
    return pickle.loads(to.read_bytes())


@needs_dask
def test_a_users_file_travels_with_what_it_imports_from_beside_it(tmp_path):
    path = own_claim(tmp_path / "mine")
    tasks = tasks_of(path, tmp_path)
    path.parent.rename(tmp_path / "elsewhere")
    there = another_machine(tasks, tmp_path)
    assert all(text.startswith("b'PK") for text in there)
    # a worker that serves another command meanwhile takes each file as it is sent
    other = own_claim(tmp_path / "mine")
    (other.parent / "steady.py").write_text("def steady(view):\n    return 2.0\n")
    changed = tasks_of(other, tmp_path)
    served = another_machine([*tasks, *changed, *tasks], tmp_path)
    assert served == there + another_machine(changed, tmp_path) + there
    assert served[:2] != served[2:4]


@needs_dask
def test_what_a_users_file_raises_elsewhere_is_told_as_at_home(tmp_path):
    path = own_claim(tmp_path / "mine")
    (path.parent / "steady.py").write_text("def steady(view):\n    return view.lenght\n")
    tasks = tasks_of(path, tmp_path)
    path.parent.rename(tmp_path / "elsewhere")
    for text in another_machine(tasks, tmp_path):
        assert text.startswith("DriftproofError(")
        assert f"{path.parent / 'steady.py'}:2: in steady: AttributeError" in text


@needs_dask
def test_a_module_that_a_worker_lacks_is_told(tmp_path):
    path = own_claim(tmp_path / "mine")
    lazy = "def steady(view):\n    import not_there_at_all\n    return 1.0\n"
    (path.parent / "steady.py").write_text(lazy)
    for text in another_machine(tasks_of(path, tmp_path), tmp_path):
        assert "No module named 'not_there_at_all'" in text
        assert "Traceback" not in text


# on Dask


@contextmanager
def scheduler(folder):
    """Start a scheduler, and yield its process and its address."""
    file = folder / f"scheduler-{time.monotonic_ns()}.json"
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with _process("dask_scheduler", words, folder) as process:
        while not file.exists() or not file.read_text().strip():
            assert process.poll() is None, "the scheduler ended"
            time.sleep(0.05)
        yield process, file.read_text().split('"address": "')[1].split('"')[0]


@contextmanager
def worker(address, folder, *words, **env):
    """Start a worker of one thread that nobody starts again; yield its process once it is there."""
    words = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard", *words]
    with _process("dask_worker", words, folder, **env) as process:
        while "Registered to" not in (folder / "dask_worker.log").read_text():
            assert process.poll() is None, "the worker ended"
            time.sleep(0.05)
        yield process


@contextmanager
def _process(name, words, folder, **env):
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", *words], stdout=log, stderr=log,
            cwd=folder, env=os.environ | env,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def units(folder):
    try:
        with sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True) as ledger:
            return ledger.execute("SELECT count(*) FROM tasks").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def bits(folder):
    with sqlite3.connect(folder / "ledger.sqlite") as ledger:
        kept = dict(ledger.execute("SELECT key, blob FROM tasks"))
    return {key: re.sub(rb'"seconds": [^,}]*', b"", blob) for key, blob in kept.items()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A user's claim whose units can be held, and its results without a cluster."""
    folder = tmp_path_factory.mktemp("alone")
    path = own_claim(folder / "mine")
    made = driftproof("verify", str(path), "--workers", "1", "--out", str(folder / "out"))
    assert made.returncode == 0, made.stderr
    return path, results(folder / "out"), units(folder / "out")


@contextmanager
def held(path, out, cluster, number):
    """Start a command on a cluster; yield it, and which workers have begun a unit that is held.

    It has done a unit by then, and goes on afterwards.
    """
    hold = path.with_name("hold")
    hold.touch()
    running = subprocess.Popen(
        [*DRIFTPROOF, "verify", str(path), "--out", str(out), "--cluster", cluster],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        while units(out) < 1 or len(found := list(path.parent.glob("held-*"))) < number:
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.01)
        yield running, {int(file.name.removeprefix("held-")) for file in found}
    finally:
        hold.unlink()
        for file in path.parent.glob("held-*"):
            file.unlink()


@needs_dask
def test_results_are_the_same_on_one_two_and_four_workers(alone, tmp_path):
    path, before, _ = alone
    with scheduler(tmp_path) as (_, address), ExitStack() as workers:
        for number, more in ((1, 1), (2, 1), (4, 2)):
            for _ in range(more):
                workers.enter_context(worker(address, tmp_path))
            out = tmp_path / str(number)
            words = ("--cluster", f"dask={address}", "--out", str(out))
            made = driftproof("verify", str(path), *words)
            assert made.returncode == 0, made.stderr
            assert results(out) == before


@needs_dask
def test_a_cluster_of_this_machine_gives_the_same_bits(alone, tmp_path):
    path, before, _ = alone
    words = ("--workers", "2", "--cluster", "dask", "--out", str(tmp_path))
    made = started("verify", str(path), *words)
    assert made.returncode == 0, made.stderr
    assert "distributed" not in made.stderr
    assert results(tmp_path) == before


@needs_dask
def test_a_unit_that_starts_processes_does_so_on_a_worker_of_dask(tmp_path):
    """Such a worker is daemonic, which Python lets have no children."""
    words = ("verify", "scgdm/remark-3.7", "--profile", "smoke", "--workers", "2", "--out")
    found = []
    for out, more in (("here", ()), ("there", ("--cluster", "dask"))):
        made = started(*words, str(tmp_path / out), *more)
        assert made.returncode in (0, 1), made.stderr
        found.append(results(tmp_path / out))
    assert found[0] == found[1]


@needs_dask
@needs_sigkill
def test_workers_killed_within_a_unit_are_done_without_and_the_bits_stay(alone, tmp_path):
    (path, before, count), number, lost = alone, 4, 2
    with scheduler(tmp_path) as (_, address), ExitStack() as opened:
        workers = [opened.enter_context(worker(address, tmp_path)) for _ in range(number)]
        with held(path, tmp_path / "out", f"dask={address}", lost) as (running, pids):
            killed = [process for process in workers if process.pid in pids][:lost]
            for process in killed:
                process.kill()
                process.wait()
        _, errors = running.communicate()
    assert running.returncode == 0, errors
    assert len(killed) == lost
    assert results(tmp_path / "out") == before
    assert units(tmp_path / "out") == count


@needs_dask
@needs_sigkill
def test_when_the_scheduler_is_killed_resume_goes_on(alone, tmp_path):
    """On another one; what is resumed without any is in tests/test_kills.py."""
    path, before, count = alone
    out = tmp_path / "out"
    with (
        scheduler(tmp_path) as (process, address),
        worker(address, tmp_path),
        held(path, out, f"dask={address}", 1) as (running, _),
    ):
        process.kill()
        _, errors = running.communicate()
    assert running.returncode == 2, errors
    for word in ("the Dask scheduler at", address, "wanted:", "remedy:", "--resume"):
        assert word in errors
    assert "Traceback" not in errors
    assert 1 <= units(out) < count
    words = ("verify", str(path), "--resume", "--out", str(out))
    with scheduler(tmp_path) as (_, address), worker(address, tmp_path):
        made = started(*words, "--cluster", f"dask={address}")
    assert made.returncode == 0, made.stderr
    assert results(out) == before
    assert units(out) == count  # none was done twice


@needs_dask
def test_falsify_controls_and_run_give_the_bits_of_one_machine(tmp_path):
    made = driftproof("new", "experiment", "mine/first-try", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    commands = {
        "falsify": ("comfedl/lemma-2", "--climbs", "1"),
        "controls": ("comfedl/lemma-2", "--json"),
        "run": ("first_try.py", "--profile", "smoke"),
    }
    with (
        scheduler(tmp_path) as (_, address),
        worker(address, tmp_path),
        worker(address, tmp_path),
    ):
        places = {"here": ("--workers", "1"), "there": ("--cluster", f"dask={address}")}
        for place, words in places.items():
            for command, chosen in commands.items():
                out = () if command == "controls" else ("--out", f"{command}-{place}")
                made = driftproof(command, *chosen, *words, *out, cwd=tmp_path)
                assert made.returncode == 0, made.stderr
                (tmp_path / f"{command}-{place}.txt").write_text(made.stdout)
    said = [(tmp_path / f"controls-{place}.txt").read_text() for place in places]
    assert said[0] == said[1]
    assert len(json.loads(said[0])) > 1
    for command in ("falsify", "run"):
        here, there = (bits(tmp_path / f"{command}-{place}") for place in places)
        assert here == there
        assert len(here) > 1


@needs_dask
def test_workers_that_are_refused_are_named(alone, tmp_path):
    (tmp_path / "cma-99.dist-info").mkdir()
    (tmp_path / "cma-99.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: cma\nVersion: 99\n"
    )
    other = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", str(ROOT))])
    with scheduler(tmp_path) as (_, address):
        words = ("verify", str(alone[0]), "--cluster", f"dask={address}")
        words = (*words, "--out", str(tmp_path / "out"))
        with worker(address, tmp_path, PYTHONPATH=other):
            told(driftproof(*words), 2, "process ", "has cma 99 (the command has ")
        with worker(address, tmp_path, "--nthreads", "2"):
            told(driftproof(*words), 2, "in threads: tcp://", "--nthreads 1")


@needs_dask
def test_a_unit_that_ends_its_workers_is_named(tmp_path):
    path = own_claim(tmp_path / "mine")
    ending = "    import os, multiprocessing\n    multiprocessing.parent_process() and os._exit(3)"
    (path.parent / "steady.py").write_text(f"def steady(view):\n{ending}\n    return 1.0\n")
    words = ("--workers", "1", "--cluster", "dask", "--out", str(tmp_path / "out"))
    made = started("verify", str(path), *words)
    told(made, 2, str(path), "ended 4 workers", "in the task mine/held exact", "--resume")


def told(made, status, *words):
    assert made.returncode == status, made.stderr
    assert "Traceback" not in made.stderr
    for word in ("wanted:", "remedy:", *words):
        assert word in made.stderr


@needs_dask
def test_a_scheduler_that_is_not_there_is_told(tmp_path):
    words = ("verify", "comfedl/lemma-2", "--out", str(tmp_path / "out"), "--cluster")
    made = driftproof(*words, "dask=tcp://127.0.0.1:9")
    told(made, 3, "no Dask scheduler answers at tcp://127.0.0.1:9")
    made = driftproof(*words, "dask=nonsense://1")
    told(made, 3, "no Dask scheduler answers at nonsense://1")


@pytest.mark.parametrize("word", ["ray", "dask=", "dask:tcp://127.0.0.1:9"])
def test_another_word_is_told(word, tmp_path):
    told(driftproof("verify", "comfedl/lemma-2", "--cluster", word), 2, f"--cluster {word}")


def test_clients_that_send_messages_stay_on_one_machine():
    words = ("run", "comfedl/imbalanced", "--engine", "wire", "--cluster", "dask")
    told(driftproof(*words), 2, "--engine wire with --cluster")


def test_dask_that_is_not_installed_is_told(tmp_path):
    (tmp_path / "dask.py").write_text("raise ModuleNotFoundError(name='dask')")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    made = started(
        "verify", "comfedl/lemma-2", "--cluster", "dask", cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    told(made, 3, "no dask is installed", "pip install cloudpickle distributed")


def test_a_workers_exception_keeps_its_kind():
    assert isinstance(pickle.loads(pickle.dumps(MissingError("a", "b", "c"))), MissingError)
