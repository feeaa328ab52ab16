"""Compiles the kernels that claims need before any other task, each by one worker.

Left to the tasks, every worker would compile what its tasks need, the same kernel as its neighbour
at the same time, and nobody could say for how long. Here each kernel runs one round of a case, and
is compiled by that; numba keeps the machine code (``toolkit.kernels``), and a note beside it says
that it is there. It is a matter of speed alone: what is not compiled here is compiled by the task
that needs it first.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.environment import processor
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.kernels import machine_code
from driftproof.toolkit.kernels.registry import kernel_of, names
from driftproof.toolkit.workers import pool
from driftproof.verifiers.running.scheduler import Cache, Job, Result, Task, elsewhere, run_jobs

if TYPE_CHECKING:
    from driftproof.toolkit.algorithm import Algorithm
    from driftproof.toolkit.problem import Problem

Pair = tuple["Algorithm", "Problem"]
LONGEST = ("minimax-local-steps",)
"""A loop on all threads, for which numba takes three times as long."""
TRIED = 12
"""Cases at most among which one is looked for that a kernel accepts."""


@dataclass(frozen=True)
class Compile:
    """The task that leaves a kernel's machine code behind."""

    kernel: str
    dtype: str
    pairs: tuple[Pair, ...] = ()
    path: Path | None = None

    @property
    def name(self) -> str:
        """The kernel and the precision."""
        return f"{self.kernel}-{self.dtype}"

    @property
    def effort(self) -> float:
        """The longest are started first."""
        return float(self.kernel in LONGEST)

    def work(self) -> bytes:
        """Run a round, which compiles what it meets, and note that it is there."""
        with suppress(Exception):  # the task that needs it tells what is wrong, and in which case
            if not any(_ran(self.kernel, self.dtype, *pair) for pair in self.pairs):
                return b""
            note = _note(self)
            note.parent.mkdir(parents=True, exist_ok=True)
            note.touch()
        return b""


def compile_for(
    cases: Iterable[Any], workers: int, told: Callable[[str], None] = lambda text: None
) -> None:
    """Compile what these cases need and what has not been compiled on this machine.

    Args:
        cases: those of claims, with ``problem`` and ``algorithm``.
        told: called with a sentence on what is waited for, as the work goes on.
    """
    todo = [] if elsewhere() else list(_missing(cases))
    if not todo:
        return
    done = 0

    def tell() -> None:
        # one kernel takes twelve times as long as another: a count misleads nobody, seconds did
        told(f"compiling kernels, once: {done} of {len(todo)}")

    def came(task: Task, result: Result) -> None:
        nonlocal done
        done += 1
        tell()

    tell()
    if workers > 1:
        pool(workers)
    run_jobs([_all(todo)], Cache(None, resume=False), workers=workers, each=came)


def _all(tasks: Sequence[Task]) -> Job:
    yield tasks


def _missing(cases: Iterable[Any]) -> Iterator[Compile]:
    """Yield a task for each kernel that a case may need, if no note says that it is compiled."""
    found: dict[str, dict[tuple[str, str], list[Pair]]] = {}
    for case in cases:
        pair = getattr(case, "algorithm", None), getattr(case, "problem", None)
        called = tuple(getattr(part, "leaf_name", "") for part in pair)
        for name, leaf in leaves("kernel").items():
            served = (names(leaf.metadata[part]) for part in ("algorithm", "problem"))
            if all(one in many for one, many in zip(called, served, strict=True)):
                alike = found.setdefault(name, {}).setdefault((called[0], called[1]), [])
                if len(alike) < TRIED:
                    alike.append((pair[0], pair[1]))  # type: ignore[arg-type]
    tasks = []
    for name, by_names in found.items():
        pairs = tuple(pair for alike in by_names.values() for pair in alike)
        # rounding errors are bounded by runs in single precision, which rounds' kernels leave out
        single = leaves("kernel")[name].metadata.get("many_rounds")
        for dtype in ("float64", "float32") if single else ("float64",):
            tasks.append(Compile(name, dtype, pairs))
    yield from (task for task in tasks if not _note(task).exists())


def _note(task: Compile) -> Path:
    """Return the empty file that says that this kernel, as it is now, is compiled here."""
    about = hashlib.blake2b(_source(task.kernel), digest_size=8)
    about.update(f"{_numba()} {platform.python_version()} {processor()}".encode())
    return machine_code() / f"compiled-{task.name}-{about.hexdigest()}"


def _numba() -> str:
    try:
        return version("numba")
    except PackageNotFoundError:
        return "none"


def _source(name: str) -> bytes:
    """Return a kernel's own file; what it shares with others names the folder."""
    return leaves("kernel")[name].path.read_bytes()


def _ran(name: str, dtype: str, algorithm: Algorithm, problem: Problem) -> bool:
    """Run one round by this kernel; return whether it is the one that serves the pair."""
    kernel = kernel_of(algorithm, problem)
    if kernel is None or kernel.name != name:
        return False
    ctx = sampled_context(
        problem, ("compiled",), replicates=4, dtype=getattr(torch, dtype)
    )  # fmt: skip
    run(problem, algorithm, ctx, rounds=1)
    return True
