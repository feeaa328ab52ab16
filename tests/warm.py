"""A process that has imported what the command will import, and forks a child for each command.

``python -m driftproof verify`` spends most of its seconds on importing torch, sympy and
matplotlib. A child of this process has them at hand, but ``sys.modules`` does not show them before
the command imports the first: until then a child looks like a command that has just started, which
is what ``driftproof.cli`` and ``toolkit.supervised`` look at. A child has its own folder,
environment, arguments and pipes, runs ``driftproof`` as ``python -m`` does, and ends as a process
does.

What it does not show is whether results depend on the order of a set of strings: all children
have the same. Tests of what is the same to the bit start new processes.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import socket
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import driftproof.cli  # what every command has loaded as it starts
from driftproof.toolkit.discover import leaves

PRELOADED = (
    "driftproof.verifiers.verify", "numba", "scipy.optimize", "driftproof.verifiers.errata",
    "driftproof.verifiers.controls", "driftproof.toolkit.report.files",
    "driftproof.toolkit.report.mathml", "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_pdf", "fontTools.subset", "cvxpy", "sklearn.datasets",
)  # fmt: skip


class Withheld(MetaPathFinder, Loader):
    """Gives back all modules that were taken from ``sys.modules`` when one of them is imported."""

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        self.modules = modules
        self.specs = {name: module.__spec__ for name, module in modules.items()}

    def find_spec(self, name, path=None, target=None):
        if name not in self.modules:
            return None
        sys.meta_path.remove(self)
        # all but the one that is asked for: Python would run a second copy of it
        sys.modules.update({other: m for other, m in self.modules.items() if other != name})
        return ModuleSpec(name, self)

    def create_module(self, spec):
        return self.modules[spec.name]

    def exec_module(self, module):
        module.__spec__ = self.specs[module.__name__]


def withhold() -> None:
    """Import what commands import, and take it from ``sys.modules`` until one asks for it."""
    before = {*sys.modules}
    for name in PRELOADED:
        importlib.import_module(name)
    for kernel in leaves("kernel").values():
        kernel.load()
    later = [n for n in sys.modules if n not in before]
    later = [n for n in later if n.partition(".")[0] not in sys.stdlib_module_names]
    sys.meta_path.insert(0, Withheld({name: sys.modules.pop(name) for name in later}))
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
    assert driftproof.cli
    withhold()
    serve(socket.socket(fileno=int(sys.argv[1])))
