"""A case: one workload at any size, and what the same work is made of for other libraries.

A case is a function under ``@case``, in a file of ``gpu_bench/cases``; the folder is the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError, unknown_name

if TYPE_CHECKING:
    from driftproof.toolkit.algorithm import Algorithm
    from driftproof.toolkit.problem import Problem

Round = Callable[[], np.ndarray]
"""Runs one round from the same start and returns the averaged iterate, [dim, replicates]."""


@dataclass(frozen=True)
class Workload:
    """One workload at one size: one round of an algorithm on a problem.

    Attributes:
        problem, algorithm, replicates: what is run.
        data: (starts [dim, replicates], draws: (name, t) → array) → what a peer needs for the
            identical round, as numpy arrays and numbers (None: no peer has this workload).
        fields: those of the state that a round returns, one below the other.
        law: the oracles → the law that ``draws`` takes from (None: the round draws nothing).
    """

    problem: Problem
    algorithm: Algorithm
    replicates: int
    data: Callable[[np.ndarray, Callable[[str, int], np.ndarray]], Mapping[str, Any]] | None = None
    fields: tuple[str, ...] = ("w",)
    law: Callable[[Any], Any] = lambda oracles: None

    @property
    def client_steps(self) -> int:
        """K·R·τ, the local steps that one round takes."""
        return self.problem.clients * self.replicates * self.algorithm.local_steps


@dataclass(frozen=True)
class Case:
    """A workload at any size.

    Attributes:
        name: on the command line.
        kernel: name of the kernel that it times.
        points: the sizes of the table, the one that stands for the case last.
        build: size → the workload.
        peers: the workload's name for peers ("": none has it).
    """

    name: str
    kernel: str
    points: Sequence[Mapping[str, Any]]
    build: Callable[..., Workload]
    peers: str

    def at(self, **size: Any) -> Workload:
        """Return the workload at one size."""
        return self.build(**size)


def case(
    *, name: str, kernel: str, points: Sequence[Mapping[str, Any]], peers: str = ""
) -> Callable[[Callable[..., Workload]], Case]:
    """Make a function of sizes a case; the arguments are Case's attributes."""
    return lambda build: Case(name, kernel, points, build, peers)


def chosen(names: Sequence[str]) -> list[Case]:
    """Return the cases called by their names or by their kernels', in upper or lower case.

    All of them if none is named.

    Raises:
        DriftproofError: no case has that name, and no kernel that a case times.
    """
    cases = leaves("case")
    if not names:
        return [leaf.load() for leaf in cases.values()]
    by_name: dict[str, Case] = {}
    for wanted in names:
        name = wanted.casefold()
        hits = [
            n
            for n, f in cases.items()
            if name in (n.casefold(), str(f.metadata["kernel"]).casefold())
        ]
        if not hits and name in {kernel.casefold() for kernel in leaves("kernel")}:
            raise DriftproofError(
                f"no case times the kernel {wanted!r}",
                f"one of {', '.join(cases)}",
                "write a case for it: one file in gpu_bench/cases",
            )
        if not hits:
            kernels = [str(leaf.metadata["kernel"]) for leaf in cases.values()]
            raise unknown_name("kernel or case", wanted, [*cases, *kernels])
        by_name |= {name: cases[name].load() for name in hits}
    return list(by_name.values())
