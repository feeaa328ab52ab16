"""How processes start: forked only where no thread or GPU can be lost."""

import subprocess
import sys

import torch

from toolkit import workers
from toolkit.discover import import_path
from toolkit.workers import APART, context


def test_a_process_of_somebody_elses_is_not_forked():
    assert not workers.forkable()  # this one, whose tests have computed on threads
    assert context().get_start_method() == APART


def test_a_command_forks_until_a_gpu_is_held(monkeypatch):
    monkeypatch.setattr(workers, "_forkable", sys.platform == "linux")
    if sys.platform == "linux":
        assert context().get_start_method() == "fork"
    assert context(computed=True).get_start_method() == APART  # it is no worker
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    assert context().get_start_method() == APART


INSIDE = """
import multiprocessing, sys
from toolkit.workers import context, may_fork
from verifiers.running.scheduler import _pool

def told():
    from toolkit.workers import context
    import torch, numba
    threads = torch.get_num_threads(), numba.get_num_threads()
    assert numba.njit(lambda x: x + 1)(1) == 2  # it compiles, and minds no environment
    import numpy, scipy.linalg, threadpoolctl
    blas = {of["num_threads"] for of in threadpoolctl.threadpool_info() if of["user_api"] == "blas"}
    assert blas == {1}, blas  # of what was loaded before and of what is loaded here
    loaded = "verifiers.running.preloaded" in sys.modules
    return context(computed=True).get_start_method(), threads, loaded

if __name__ == "__main__":
    may_fork()
    with _pool(2) as pool:
        print(pool.submit(told).result())
"""


def test_a_worker_computes_on_one_thread_and_forks_what_it_starts(tmp_path):
    (tmp_path / "inside.py").write_text(INSIDE)
    ended = subprocess.run(
        [sys.executable, "inside.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    method = "fork" if sys.platform == "linux" else APART
    assert ended.stdout.strip() == str((method, (1, 1), sys.platform == "linux"))


def test_once_a_users_file_was_loaded_nothing_is_forked(monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "_forkable", sys.platform == "linux")
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own.py").write_text(
        "import torch\n(torch.ones(900, 900) @ torch.ones(900)).sum()\n"
    )
    import_path(tmp_path / "own.py")
    assert context().get_start_method() == APART
