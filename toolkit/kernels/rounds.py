"""The ways on a GPU of a kernel whose unit is a round."""

from __future__ import annotations

from functools import partial
from typing import Any

from toolkit.engines import graphed
from toolkit.kernels.registry import Fused


def add(
    kernel: Fused, body: graphed.Body | None = None, *, fits: Any = None, bounded: bool = False
) -> None:
    """Add a kernel's variants for a GPU, the fastest first.

    "replayed" is one launch in Triton with the average after it, recorded as a CUDA graph, since
    at small sizes Python takes longer than the GPU; "triton" is the same, launched each time;
    "graph" is the recorded plain steps.

    Args:
        body: a round in Triton (None: there is none).
        fits: (algorithm, problem, ctx) → whether the body serves these sizes.
        bounded: whether the largest norm of an iterate is asked for.
    """

    def long(algorithm: Any, problem: Any, ctx: Any) -> bool:
        return bool(fits(algorithm, problem, ctx)) and graphed.fits(algorithm, problem, ctx)

    if body is not None:
        kernel.variant("replayed", device="cuda", fits=long)(
            partial(graphed.advance, body=body, bounded=bounded)
        )
        kernel.variant("triton", device="cuda", fits=fits)(
            partial(graphed.directly, body=body, bounded=bounded)
        )
    kernel.variant("graph", device="cuda", fits=graphed.fits)(
        partial(graphed.advance, bounded=bounded)
    )
