r"""Peers: the identical round written with other libraries, to be timed beside driftproof.

A peer is a function under ``@peer`` in a file of ``gpu_bench/peers``; the folder is the registry.
It takes a workload's ``data`` and returns a Round: what a library compiles, and what it copies to a
layout or device of its own, is done before the Round is returned, and so is not timed. It imports
its library inside the function, so that listing peers imports none of them.

``data`` are numpy arrays and numbers, computed with in ``data["dtype"]`` (that of ``starts``, if it
is not given); K clients, R replicates, τ ``local_steps`` of size η from ``starts`` [dim, R], then
the average over clients, [dim, R]:

w1: ``matrices`` A [K, d, d], ``offsets`` b [K, d], ``regulariser`` λ; z = (x, y) in R^{2d} moves by
    x ← x − η(λx − Aᵀy), y ← y − η(y − b + Ax).
w2: ``features`` [K, N, d], ``labels`` ±1 [K, N], ``temperature`` γ, ``chosen`` [τ, K, batch, R],
    the sample numbers of each minibatch B; w moves by w ← w − η ∇exp(f_B(w)/γ), where
    f_B = mean over B of log(1 + exp(−label·featureᵀw)).
fednest-minimax: ``couplings`` [K], ``regulariser`` λ, ``calls``, ``inner_steps``, ``outer_steps``,
    ``rate``; in ``gpu_bench/peers/fednest_public.py``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from driftproof.toolkit.errors import MissingError, unknown_name

if TYPE_CHECKING:
    from driftproof.gpu_bench.workload import Round

REFERENCE = "numpy loop"
"""The peer that the others are compared with: the update as it is printed."""


@dataclass(frozen=True)
class Peer:
    """One workload, written in one way.

    Attributes:
        name: the way: "jax", "numpy loop".
        workload: "w1", "w2", "fednest-minimax".
        extra: the package that it needs beside driftproof's own (None: nothing).
        source: where the way of writing is from.
        build: data → the round, compiled.
    """

    name: str
    workload: str
    extra: str | None
    source: str
    build: Callable[[Mapping[str, Any]], Round]

    @property
    def installed(self) -> bool:
        """Whether the package that it needs is on this machine."""
        return self.extra is None or find_spec(self.extra) is not None

    def load(self, data: Mapping[str, Any]) -> Round:
        """Return the round on ``data``, ready to be timed.

        Raises:
            MissingError: the package that it needs is absent or cannot be imported.
        """
        if not self.installed:
            raise self._missing("is not installed")
        try:
            return self.build(data)
        except ImportError as error:
            raise self._missing(f"cannot be imported: {error}") from error

    def _missing(self, why: str) -> MissingError:
        package = self.extra or "a package"
        return MissingError(
            f"the peer {self.name!r} needs {package}, which {why}",
            f"{package} beside driftproof",
            'PIP_CONSTRAINT=constraints.txt pip install -e ".[peers]"',
        )


def peer(
    *, name: str, workload: str, extra: str | None, source: str
) -> Callable[[Callable[[Mapping[str, Any]], Round]], Peer]:
    """Make a function of a workload's data a peer; the arguments are Peer's attributes."""
    return lambda build: Peer(name, workload, extra, source, build)


@cache
def _every() -> tuple[Peer, ...]:
    """Import the files of the folder, which import no library, and collect their peers."""
    package = importlib.import_module("driftproof.gpu_bench.peers")
    files = [
        importlib.import_module(f"driftproof.gpu_bench.peers.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
    ]
    peers = [x for file in files for x in vars(file).values() if isinstance(x, Peer)]
    return tuple(sorted(peers, key=lambda p: (p.workload, p.name != REFERENCE, p.name)))


def peers_for(workload: str) -> list[Peer]:
    """Return the peers of one workload, installed or not, the reference first.

    Raises:
        DriftproofError: no peer has a workload of that name.
    """
    fitting = [p for p in _every() if p.workload == workload]
    if not fitting:
        raise unknown_name("workload", workload, {p.workload for p in _every()})
    return fitting


def arrays(data: Mapping[str, Any], *names: str) -> tuple[np.ndarray, ...]:
    """Return some of a workload's arrays, contiguous and in the precision to compute in."""
    dtype = np.dtype(data.get("dtype", data["starts"].dtype))
    return tuple(np.ascontiguousarray(data[name], dtype) for name in names)
