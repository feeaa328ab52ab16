"""Spreads a fused loop over threads, by replicates: no replicate knows of another one.

The loop gives up Python's lock and is compiled once, for one thread: threads of Python's own do,
where numba's parallel loops would compile it a second time. The values do not depend on the parts.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numba
import numpy as np

LEAST = 2**17
"""Entries of the fields, times steps, from which on it is worth while to wake other threads."""
TOGETHER = 8
"""Replicates that a vector holds: parts are multiples of it."""


def over_replicates(
    loop: Callable[..., None],
    fields: Sequence[np.ndarray],
    path: Sequence[np.ndarray],
    rest: tuple[Any, ...],
    steps: int,
    *,
    whole: bool,
) -> list[np.ndarray]:
    """Return moved copies of fields, and fill their path in place.

    Args:
        loop: (*fields, *path, *rest, the number of their first replicate), moves them in place.
        fields: [clients, rows, replicates] each, of any strides.
        path: [steps, clients or 1, rows, replicates] each.
        whole: whether the replicates must stay together.
    """
    replicates = fields[0].shape[2]
    if (
        whole
        or _width(replicates, TOGETHER) >= replicates
        or steps * sum(x.size for x in fields) < LEAST
    ):
        moved = [np.array(x, order="C") for x in fields]
        loop(*moved, *path, *rest, 0)
        return moved
    ends = [np.empty(x.shape, x.dtype) for x in fields]

    def part(first: int, end: int) -> None:
        here = slice(first, end)
        own = [np.array(x[..., here], order="C") for x in fields]
        passed = [np.empty_like(x[..., here], order="C") for x in path]
        loop(*own, *passed, *rest, first)
        for x, made in zip([*ends, *path], [*own, *passed], strict=True):
            x[..., here] = made

    spread(part, replicates, TOGETHER)
    return ends


def spread(part: Callable[[int, int], None], number: int, together: int = 1) -> None:
    """Call ``part(begin, end)`` for neighbours among a number, on all threads.

    Args:
        together: a multiple of it is in each part but the last one.
    """
    threads, width = numba.get_num_threads(), _width(number, together)
    first, *others = range(0, number, width)
    working = [_pool(threads).submit(part, begin, min(begin + width, number)) for begin in others]
    part(first, min(first + width, number))
    for one in working:
        one.result()


def _width(number: int, together: int) -> int:
    """Return how many a thread takes of a number: a multiple of those that stay together."""
    width = -(-number // numba.get_num_threads())
    return width + -width % together


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads - 1, thread_name_prefix="replicates")
