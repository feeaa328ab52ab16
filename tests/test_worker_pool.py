"""Pools of workers: they end, and say why, whenever a worker is killed."""

import subprocess
import sys

import pytest

from toolkit.worker_pool import Recorded
from toolkit.workers import context

INTERRUPTED = """
import multiprocessing, time
from toolkit.workers import may_fork
from verifiers.running.scheduler import _pool

if __name__ == "__main__":
    {fork}
    try:
        with _pool(2) as pool:
            pool.submit(int).result()  # a worker is there
            units = [pool.submit(time.sleep, 60) for _ in range(4)]
            workers = multiprocessing.active_children()
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        for worker in workers:
            worker.join()
        print(any(worker.exitcode == 0 for worker in workers))
"""


@pytest.mark.parametrize("fork", ["may_fork()", "pass"])
def test_an_interrupt_does_not_wait_for_the_units_in_work(tmp_path, fork):
    (tmp_path / "stopped.py").write_text(INTERRUPTED.format(fork=fork))
    ended = subprocess.run(
        [sys.executable, "stopped.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "False"  # none ended in its own time


def test_a_process_that_was_made_but_not_started_is_not_killed():
    """An interrupt can come between the two; killing it would be an error of its own."""
    recorded = Recorded(context())
    process = recorded.Process(target=int)
    assert recorded.started == []
    process.start()
    process.join()
    assert recorded.started == [process]
    assert recorded.get_start_method() == context().get_start_method()


KILLED = """
import multiprocessing, os, struct, sys, time
from functools import partial
from toolkit import worker_pool
from toolkit.errors import DriftproofError
from verifiers.running.scheduler import Units, run_jobs
from toolkit.workers import may_fork

worker_pool.NOTICED = 1.0

def of_the_pool(name):
    frame = sys._getframe()
    while name not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals[name]

class Holds:
    # ends with the lock of the queue in which units come, as a worker does that waits for one
    name, path = "holds", None
    def work(self):
        of_the_pool("call_queue")._rlock.acquire()
        return str(os.getpid()).encode()

class Sends:
    # is killed while it sends its result
    name, path = "sends", None
    def work(self):
        os.write(of_the_pool("result_queue")._writer.fileno(), struct.pack("!i", 100_000) + b"half")
        os.kill(os.getpid(), 9)

def job(unit):
    [(result, seconds)] = yield [unit]
    if result:
        os.kill(int(result), 9)
    return "all units came"

if __name__ == "__main__":
    may_fork()
    try:
        print(*run_jobs([job({unit}())], Units(None, resume=False), workers=2))
    except DriftproofError as error:
        print(error.got)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
@pytest.mark.parametrize(
    ("unit", "told"),
    [("Holds", "all units came"), ("Sends", "a worker process was killed")],
)
def test_a_killed_worker_keeps_no_command_from_its_end(tmp_path, unit, told):
    """Not while it holds the lock of the others' queue, and not with half a result sent."""
    (tmp_path / "killed.py").write_text(KILLED.format(unit=unit))
    ended = subprocess.run(
        [sys.executable, "killed.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ended.stdout.strip() == told
    assert ended.stderr == ""
