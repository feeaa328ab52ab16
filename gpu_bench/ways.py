"""The ways to run one workload's round, each checked before it may be timed."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from driftproof.gpu_bench.peer import Peer
from driftproof.gpu_bench.prepared import PLAIN_STEPS, Prepared
from driftproof.gpu_bench.workload import Workload
from driftproof.toolkit.errors import MissingError

WRONG = "WRONG: not within its tolerance of the plain steps, so not timed"
COUNTED = ("flops", "bytes", "words", "sines", "roots", "signs")
"""What a kernel's cost counts, as it stands in a row."""


@dataclass(frozen=True)
class Way:
    """One way to run a round: what its row says so far, and its call (None: it is not timed)."""

    row: dict[str, Any]
    call: Callable[[int], Any] | None


def ways(
    workload: Workload, dtype: str, *, seed: int, device: str, peers: Sequence[Peer]
) -> Iterator[Way]:
    """Yield driftproof's ways, what the federation takes first, then the peers': checked."""
    prepared = Prepared(workload, seed=seed, dtype=dtype, device=device)
    reference = Prepared(workload, seed=seed, dtype="float64", rotate=False)
    cost, allowed = prepared.cost, tolerance(prepared)
    own: dict[str, Any] = {"peer": False, "rotated": prepared.rotated}
    if cost is not None:
        own |= {name: getattr(cost, name) for name in COUNTED}
    for place, (name, call) in enumerate(prepared.variants().items()):
        itself = name == PLAIN_STEPS and dtype == "float64" and device == "cpu"
        row = {"variant": name, "taken": place == 0, "reference": itself} | own
        yield _way(row, error_of(prepared, name, reference), allowed, call)
    for peer in peers:
        row = {"variant": peer.name, "peer": True, "taken": False, "reference": False}
        yield _beside(row, peer, prepared, reference)


def distance(result: np.ndarray, reference: np.ndarray) -> float:
    """Return max |result − reference| / max |reference|; nan where ``result`` is not finite.

    >>> distance(np.array([1.0, 2.5]), np.array([1.0, 2.0]))
    0.25
    """
    if result.shape != reference.shape or not np.isfinite(result).all():
        return float("nan")
    scale = float(np.abs(reference).max(initial=0.0)) or 1.0
    return float(np.abs(result - reference).max(initial=0.0)) / scale


def error_of(prepared: Prepared, name: str, reference: Prepared) -> float:
    """Return how far a variant's first round is from the plain steps, on poisoned memory.

    ``reference`` is the same workload with the same seed in double precision on the CPU; its start
    is the variant's own, so that rounding of the inputs is no part of the error.
    """
    expected = _plain(prepared, reference)
    prepared.poison()
    result = prepared.variants()[name](0)
    return max(
        distance(a.double().cpu().numpy(), b.numpy()) for a, b in zip(result, expected, strict=True)
    )


def tolerance(prepared: Prepared) -> float:
    """Return the relative error that the kernel allows in this precision."""
    units = prepared.kernel.tolerance if prepared.kernel is not None else 4096.0
    return units * torch.finfo(getattr(torch, prepared.dtype)).eps


def _plain(prepared: Prepared, reference: Prepared) -> Any:
    """Return where the plain steps lead from the start of the first call's round."""
    start = prepared.first_start()
    return reference.plain_from(type(start)(*(x.cpu().double() for x in start)))


def _beside(row: dict[str, Any], peer: Peer, prepared: Prepared, reference: Prepared) -> Way:
    """Return a peer's way: the identical round from the same start, on the same draws."""
    assert prepared.workload.data is not None
    data = dict(prepared.workload.data(prepared.starts(), prepared.draws))
    data["dtype"] = np.dtype(prepared.dtype)
    try:
        call = peer.load(data)
    except MissingError as missing:
        return Way(row | {"note": f"not measured: {missing.got}; {missing.remedy}"}, None)
    error = distance(np.asarray(call()), reference.result(_plain(prepared, reference)))
    return _way(row, error, tolerance(prepared), lambda i: call())


def _way(row: dict[str, Any], error: float, allowed: float, call: Callable[[int], Any]) -> Way:
    """Return a way with its error; one that is wrong (or whose error is no number) has no call."""
    row |= {"error": error if math.isfinite(error) else None, "tolerance": allowed}  # JSON: no nan
    return Way(row, call) if error <= allowed else Way(row | {"note": WRONG}, None)
