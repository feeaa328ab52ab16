"""Workers: one thread each, and none is left however they or their command end."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path

import pytest

from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.running import scheduler

SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.workers import end_pool, pool
from driftproof.verifiers.running.scheduler import Cache, run_jobs

class Does:
    # a task whose result is what a function of this file returns
    path = None
    def __init__(self, called, number=0):
        self.called, self.name = called, f"{called.__name__} {number}"
    def work(self):
        return str(self.called()).encode()

def threads():
    import torch, numba, numpy, scipy.linalg, threadpoolctl
    blas = {of["num_threads"] for of in threadpoolctl.threadpool_info()}
    assert numba.njit(lambda x: x + 1)(1) == 2  # it compiles, and minds no environment
    return torch.get_num_threads(), numba.get_num_threads(), blas

def whose():
    return os.getpid()

def killed():
    os.kill(os.getpid(), signal.SIGKILL)

def exits():
    os._exit(3)

def sleeps():
    Path(f"asleep-{os.getpid()}").touch()
    time.sleep(60)

def unpicklable():
    return lambda: None

def job(*called):
    results = yield [Does(one, number) for number, one in enumerate(called)]
    return [blob.decode() for blob, _ in results]

def on_workers(*called):
    pool(2)  # warm: nothing is done in this process
    return run_jobs([job(*called)], Cache(None, resume=False), workers=2)[0]

if __name__ == "__main__":
    try:
        print(eval(sys.argv[1]))
    except DriftproofError as error:
        print(error.got)
    except KeyboardInterrupt:
        print("interrupted")
    finally:
        end_pool()
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)

    def begun(expression):
        return subprocess.Popen(
            [sys.executable, "script.py", expression],
            cwd=tmp_path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    return begun


def said(running):
    printed, errors = running.communicate(timeout=120)
    assert errors == ""
    return printed.strip()


def test_a_worker_computes_on_one_thread(script):
    assert said(script("on_workers(threads)")) == "['(1, 1, {1})']"


def test_a_few_short_tasks_are_done_in_the_commands_own_process(script):
    alone = "run_jobs([job(whose)], Cache(None, resume=False), workers=2)[0] == [str(os.getpid())]"
    assert said(script(alone)) == "True"
    assert said(script("on_workers(whose) == [str(os.getpid())]")) == "False"


def test_workers_stay_warm(script):
    assert (
        said(script("len({*on_workers(*[whose] * 9), *on_workers(*[whose] * 9)}) <= 2")) == "True"
    )


@pytest.mark.parametrize(("called", "how"), [("killed", "SIGKILL(-9)"), ("exits", "EXIT(3)")])
def test_a_worker_that_ends_is_told(script, called, how):
    told = said(script(f"on_workers(whose, sleeps, {called}, sleeps)"))
    assert told.startswith("a task ended a worker process, or the system killed it: ")
    assert how in told


def asleep(folder):
    while not (found := list(folder.glob("asleep-*"))):
        time.sleep(0.01)
    return [int(path.name.removeprefix("asleep-")) for path in found]


def runs(process):
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_is_left(script, tmp_path, sent):
    running = script("on_workers(sleeps, sleeps)")
    workers = asleep(tmp_path)
    os.kill(running.pid, sent)
    printed, _ = running.communicate(timeout=30)
    assert printed == ("interrupted\n" if sent == signal.SIGINT else "")
    ends = time.monotonic() + 10
    while any(map(runs, workers)) and time.monotonic() < ends:
        time.sleep(0.01)
    assert not any(map(runs, workers))


@pytest.mark.skipif(sys.platform == "win32", reason="no groups of processes")
def test_ctrl_c_goes_to_all_and_one_tells(script, tmp_path):
    """A terminal sends it to every process of a group."""
    running = script("on_workers(sleeps, sleeps)")
    asleep(tmp_path)
    os.killpg(running.pid, signal.SIGINT)
    assert said(running) == "interrupted"


def test_a_pool_that_broke_since_the_last_look_is_explained(monkeypatch):
    """Of a worker that is killed before a task is handed over, that hand-over tells."""

    class Pool:
        def submit(self, *call):
            raise BrokenProcessPool("the exit codes of the workers are {SIGKILL(-9)}")

    class Waits:
        name, path = "waits", None

    def job():
        yield [Waits()]

    monkeypatch.setattr("driftproof.toolkit.workers.pool", lambda workers: Pool())
    running = scheduler._Running([job()], scheduler.Cache(None, resume=False), print, print)
    running.begin()
    with pytest.raises(DriftproofError, match="ended a worker process"):
        running.on(scheduler._Workers(2))
