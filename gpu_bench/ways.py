"""The ways to run one workload's round, each checked before it may be timed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_bench.correctness import Agreement, checked, distance, tolerance
from gpu_bench.peer import Peer
from gpu_bench.prepared import STEPS, Prepared
from gpu_bench.workload import Workload
from toolkit.errors import MissingError

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
    cost = prepared.cost
    own: dict[str, Any] = {"peer": False, "rotated": prepared.rotated}
    if cost is not None:
        own |= {name: getattr(cost, name) for name in COUNTED}
    for place, (name, call) in enumerate(prepared.variants().items()):
        itself = name == STEPS and dtype == "float64" and device == "cpu"
        row = {"variant": name, "taken": place == 0, "reference": itself} | own
        yield _way(row, checked(prepared, name, reference), call)
    for peer in peers:
        row = {"variant": peer.name, "peer": True, "taken": False, "reference": False}
        yield _beside(row, peer, prepared, reference)


def _beside(row: dict[str, Any], peer: Peer, prepared: Prepared, reference: Prepared) -> Way:
    """Return a peer's way: the identical round from the same start, on the same draws."""
    workload = prepared.workload
    assert workload.data is not None
    data = dict(workload.data(prepared.starts(), prepared.draws))
    data["dtype"] = np.dtype(prepared.dtype)
    try:
        call = peer.load(data)
    except MissingError as missing:
        return Way(row | {"note": f"not measured: {missing.got}; {missing.remedy}"}, None)
    start = prepared.first_start()
    state = type(start)(*(x.cpu().double() for x in start))
    expected = reference.result(reference.plain_from(state))
    agreement = Agreement(distance(np.asarray(call()), expected), tolerance(prepared))
    return _way(row, agreement, lambda i: call())


def _way(row: dict[str, Any], agreement: Agreement, call: Callable[[int], Any]) -> Way:
    """Return a way with its error; one that is wrong is not to be timed."""
    error = agreement.error if math.isfinite(agreement.error) else None  # JSON has no nan
    row |= {"error": error, "tolerance": agreement.tolerance}
    return Way(row, call) if agreement.holds else Way(row | {"note": WRONG}, None)
