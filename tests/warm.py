"""A process that has imported what the command will import, and forks a child for each command.

``python -m driftproof verify`` spends most of its seconds on importing torch, sympy and
matplotlib. A child of this process has them. It has its own folder, environment, arguments and
pipes, runs ``driftproof`` as ``python -m`` does, and ends as a process does.

What it does not show is whether results depend on the order of a set of strings: all children
have the same. Tests of what is the same to the bit start new processes.
"""

import gc
import importlib
import json
import os
import runpy
import socket
import sys

from driftproof.toolkit.discover import leaves

PRELOADED = (
    "driftproof.cli",
    "driftproof.verifiers.verify",
    "driftproof.verifiers.in_print.errata",
    "numba",
    "scipy.optimize",
    "driftproof.verifiers.controls",
    "driftproof.toolkit.report.files",
    "driftproof.toolkit.report.mathml",
    "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_pdf",
    "cvxpy",
    "sklearn.datasets",
)


def preload() -> None:
    """Import what commands import."""
    for name in PRELOADED:
        importlib.import_module(name)
    for kernel in leaves("kernel").values():
        kernel.load()
    gc.freeze()  # a child need not look through it


def serve(requests: socket.socket) -> None:
    """Fork a child for each request; answer with its number, then with how it ended."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)
    while True:
        text, pipes, _, _ = socket.recv_fds(requests, 1 << 20, 2)
        if not text:
            return
        child = os.fork()
        if child == 0:
            requests.close()
            for pipe, number in zip(pipes, (1, 2), strict=True):
                os.dup2(pipe, number)
                os.close(pipe)
            command(*json.loads(text))
        for pipe in pipes:
            os.close(pipe)
        requests.send(json.dumps(child).encode())
        _, ended = os.waitpid(child, 0)
        requests.send(json.dumps(os.waitstatus_to_exitcode(ended)).encode())


def command(words: list[str], folder: str, environment: dict[str, str]) -> None:
    """Run the command in this process and end it."""
    os.setpgid(0, 0)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["driftproof", *words]
    sys.path[0] = folder
    importlib.invalidate_caches()
    runpy.run_module("driftproof", run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    preload()
    serve(socket.socket(fileno=int(sys.argv[1])))
