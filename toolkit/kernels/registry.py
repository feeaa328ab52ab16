"""Which fused kernel, if any, may replace repeated steps.

A kernel is a function under ``@fused`` whose law is: ``advance`` equals ``step`` repeated. It is
used where draws are sampled on the device it is written for and no measure looks inside the round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolkit.discover import leaves

if TYPE_CHECKING:
    from toolkit.algorithm import Algorithm
    from toolkit.engines.batched import BatchedContext
    from toolkit.problem import Problem

Advance = Callable[..., Any]


@dataclass(frozen=True)
class Fused:
    """A kernel and the pairs it serves.

    Attributes:
        algorithm: name of the algorithm's leaf.
        problem: names of the problems' leaves.
        device: "cpu" or "cuda".
        accepts: whether it serves this member of the two families.
        advance: (ctx, oracles, algorithm, state, steps) → (state, largest norm of an iterate).
        spans: whether ``advance`` runs over any number of rounds, counts their communication, and
            returns third the states before each step, [steps, …] each, if it is called with
            record="all", or their means over clients, [steps, 1, …], with record="mean".
    """

    name: str
    algorithm: str
    problem: str | tuple[str, ...]
    device: str
    accepts: Callable[[Any, Any], bool]
    advance: Advance
    spans: bool = False


def fused(
    *,
    name: str,
    algorithm: str,
    problem: str | tuple[str, ...],
    device: str,
    accepts: Callable[[Any, Any], bool] = lambda algorithm, problem: True,
    spans: bool = False,
) -> Callable[[Advance], Fused]:
    """Make an ``advance`` function a kernel leaf, for every member of its families unless told."""

    def decorate(advance: Advance) -> Fused:
        return Fused(name, algorithm, problem, device, accepts, advance, spans)

    return decorate


def fused_for(algorithm: Algorithm, problem: Problem, ctx: BatchedContext) -> Fused | None:
    """Return the kernel for this pair on this device, or None: then steps run one by one."""
    if not ctx.fusable:
        return None
    for leaf in leaves("kernel").values():
        meta = leaf.metadata
        served = meta["problem"]
        served = (served,) if isinstance(served, str) else served
        pair = (meta["algorithm"], meta["device"])
        if pair == (algorithm.leaf_name, ctx.device) and problem.leaf_name in served:
            kernel: Fused = leaf.load()
            if kernel.accepts(algorithm, problem):
                return kernel
    return None
