"""Law: on workers elsewhere results are the same to the bit, whatever becomes of the workers."""

import os
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from driftproof.toolkit.discover import import_path
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.judges.judge import ClaimTask
from driftproof.verifiers.judges.runs import exact
from driftproof.verifiers.running.dask_workers import done, packed
from driftproof.verifiers.running.fingerprint import LIBRARIES, SOURCES, fingerprint
from driftproof.verifiers.verify import select
from tests.commands import ROOT, driftproof, started
from tests.test_input import mine
from tests.test_kills import COMMANDS, left_in, tasks_in

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
FATAL = """import os, pathlib
    fatal = pathlib.Path(__file__).with_name("fatal")  # names a process to be ended; 0: this one
    if view.local_steps == 3 and fatal.exists():
        process = int(fatal.read_text())
        fatal.unlink()
        os.kill(process or os.getpid(), 9)
    return 1.0"""
CLUSTER = """import sys, distributed
sizes = dict(zip(("n_workers", "threads_per_worker"), map(int, sys.argv[1:])))
made = distributed.LocalCluster(**sizes, dashboard_address=None)
print(made.scheduler_address, flush=True)
sys.stdin.read()"""


def own_claim(folder, factor=FATAL):
    folder.mkdir()
    (folder / "beside.py").write_text(f"def factor(view):\n    {factor}\n")
    left = 'factor(view) * sq(view.mean("w") - view.round_start("w"))'
    return mine(folder, "from beside import factor", f'return each("round", "local_step", {left})')


def told(made, status, *words):
    assert made.returncode == status, made.stderr
    assert "Traceback" not in made.stderr
    for word in ("wanted:", "remedy:", *words):
        assert word in made.stderr


@pytest.mark.parametrize("name", [SOURCES, "Python", *LIBRARIES, "data"])
def test_a_worker_with_other_code_or_data_refuses_by_name(name):
    text, wanted = packed(SimpleNamespace(name="data of one", work=bytes)), dict(fingerprint())
    assert done(text, wanted, "data of one")[0] == b""
    if name != "data":
        text, wanted[name] = b"of a class that is not here", "of another day"
    with pytest.raises(DriftproofError, match=rf"process {os.getpid()}, has .*{name}"):
        done(text, wanted, "data of another")


def test_a_users_files_travel_with_each_task_and_what_they_raise_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    sent = []
    for body in ("return 1.0", "return 2.0", "return view.lenght", "import not_there"):
        path = own_claim(tmp_path / str(len(sent)), body)
        (leaf,) = select([str(path)])
        task = ClaimTask(leaf, exact, number=0, case=leaf.load().cases[0].key)
        sent.append((packed(task), fingerprint(), task.name))
        path.parent.rename(tmp_path / f"gone-{len(sent)}")  # as on another machine
        import_path.cache_clear()
        monkeypatch.delitem(sys.modules, "beside")
    one, two, again = (done(*sent[number])[0] for number in (0, 1, 0))
    assert one == again != two
    with pytest.raises(DriftproofError, match=r"beside.py:2: in factor: AttributeError: .*lenght"):
        done(*sent[2])
    with pytest.raises(DriftproofError, match="No module named 'not_there'"):
        done(*sent[3])


@contextmanager
def cluster(workers, threads=1, **env):
    """Start a scheduler with workers, which end with it; yield its process and its address."""
    words, env = [sys.executable, "-c", CLUSTER, str(workers), str(threads)], os.environ | env
    with subprocess.Popen(words, stdin=-1, stdout=-1, stderr=-3, text=True, env=env) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A user's claim, and what it gives without a cluster."""
    path = own_claim(tmp_path_factory.mktemp("alone") / "mine")
    made = driftproof("verify", str(path), "--workers", "1", "--out", str(path.parent))
    assert made.returncode == 0, made.stderr
    return path, left_in(path.parent, "results.json")


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_results_are_the_same_on_any_number_of_workers_of_which_one_dies(workers, alone, tmp_path):
    (fatal := alone[0].with_name("fatal")).write_text("0")
    with cluster(workers) as (_, address):
        words = ("--out", str(tmp_path), "--cluster", f"dask={address}")
        made = driftproof("verify", str(alone[0]), *words)
    assert made.returncode == 0, made.stderr
    assert not fatal.exists()
    assert left_in(tmp_path, "results.json") == alone[1]


def test_when_the_scheduler_is_killed_resume_goes_on(alone, tmp_path):
    words = ("verify", str(alone[0]), "--out", str(tmp_path), "--resume", "--cluster")
    with cluster(1) as (process, address):
        alone[0].with_name("fatal").write_text(str(process.pid))
        told(started(*words, f"dask={address}"), 2, f"scheduler at {address} is", "--resume")
    assert 1 <= len(tasks_in(tmp_path)) < len(alone[1][1])
    made = started(*words, "dask", "--workers", "1")
    assert made.returncode == 0, made.stderr
    assert "distributed" not in made.stderr
    results, tasks = left_in(tmp_path, "results.json")
    assert (results, len(tasks)) == (alone[1][0], len(alone[1][1]))  # none was done twice


@pytest.mark.parametrize(
    "command",
    [
        ("verify", "scgdm/remark-3.7", "--profile", "smoke"),  # its tasks start processes
        ("controls", "comfedl/lemma-2", "--json"),
        COMMANDS["search.json"],
        COMMANDS["experiment.json"],
    ],
)
def test_every_command_gives_the_bits_of_one_machine(command, tmp_path):
    found = []
    for place in ("here", "there"):
        words = () if command[0] == "controls" else ("--out", place)
        words += ("--workers", "2", *(("--cluster", "dask") if place == "there" else ()))
        made = started(*command, *words, cwd=tmp_path)
        assert made.returncode in (0, 1), made.stderr
        found.append(tasks_in(tmp_path / place) or made.stdout)
    assert found[0] == found[1]


def test_workers_that_are_refused_are_named(alone, tmp_path):
    (tmp_path / "cma-99.dist-info").mkdir()
    text = "Metadata-Version: 2.1\nName: cma\nVersion: 99\n"
    (tmp_path / "cma-99.dist-info" / "METADATA").write_text(text)
    words = ("verify", str(alone[0]), "--out", str(tmp_path / "out"), "--cluster")
    with cluster(1, PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)])) as (_, address):
        told(driftproof(*words, f"dask={address}"), 2, "process ", "has cma 99 (the command has ")
    with cluster(1, threads=2) as (_, address):
        told(driftproof(*words, f"dask={address}"), 2, f"in several threads: {address[:6]}")


def test_a_task_that_ends_its_workers_is_named(tmp_path):
    ending = "import os, multiprocessing\n    multiprocessing.parent_process() and os._exit(3)"
    path = own_claim(tmp_path / "mine", f"{ending}\n    return 1.0")
    made = started("verify", str(path), "--workers", "1", "--cluster", "dask", cwd=tmp_path)
    told(made, 2, str(path), "ended 4 workers", "in the task mine/drift exact", "--resume")


@pytest.mark.parametrize(
    ("words", "status", "got"),
    [
        *(
            (f"{command} --cluster {word}", 2, f"--cluster {word}")
            for command in (
                "verify",
                "falsify comfedl/lemma-2",
                "controls",
                "run comfedl/imbalanced",
            )
            for word in ("ray", "dask=", "dask:tcp://127.0.0.1:9")
        ),
        ("run comfedl/imbalanced --engine wire --cluster dask", 2, "--engine wire with --cluster"),
        *(
            (f"verify comfedl/lemma-2 --cluster dask={address}", 3, f"no Dask workers at {address}")
            for address in ("tcp://127.0.0.1:9", "nonsense://1")
        ),
    ],
)
def test_a_cluster_that_cannot_be_is_told(words, status, got, tmp_path):
    told(driftproof(*words.split(), cwd=tmp_path), status, got)


def test_dask_that_is_not_installed_is_told(tmp_path):
    (tmp_path / "dask.py").write_text("raise ModuleNotFoundError(name='dask')")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    made = started("verify", "comfedl/lemma-2", "--cluster", "dask", cwd=tmp_path, env=env)
    told(made, 3, "no dask is installed", "pip install cloudpickle distributed")
