"""What a processor's arithmetic units do at most, each kind of operation by itself, on all threads.

Loops over registers, or over rows that stay in a first-level cache: what they reach is a ceiling
of the machine, and not of a library. Sines and roots are also taken from torch and numpy, and the
fastest counts.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numba
import numpy as np
import torch
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic

from driftproof.gpu_bench.timer import timed
from driftproof.toolkit.kernels.matrix_tile import BYTES
from driftproof.toolkit.kernels.replicates import spread
from driftproof.toolkit.kernels.sines import sines
from driftproof.toolkit.philox import four_words
from driftproof.toolkit.stream_values import signs_of

ROW = 512
"""Reals of a row: three of them lie in any first-level cache."""
TIMES = 4000
"""How often a thread takes its row in one reading: a few milliseconds."""
CHAINS = 12
"""Sums that are carried on beside each other: more than the units' latency times their number."""
LINKS = 100_000
"""Multiply-adds of each chain in one reading."""
MANY = 2**16
"""Reals of an array that a library is given: torch's threads take parts of it."""


def _chains(typing: Any, one: Any, links: Any) -> Any:
    """Carry on x ← x·a + b in ``CHAINS`` vector registers, and return the sum of their ends."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        real = context.get_data_type(signature.args[0])
        lanes = 8 * BYTES // signature.args[0].bitwidth
        vector = ir.VectorType(real, lanes)
        name = f"llvm.fma.v{lanes}{real.intrinsic_name}"
        kind = ir.FunctionType(vector, [vector] * 3)
        fma = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        spread = ir.Constant(vector, [1.0] * lanes)
        first = builder.insert_element(spread, args[0], ir.Constant(ir.IntType(32), 0))
        before = builder.basic_block
        loop, after = (builder.append_basic_block(part) for part in ("loop", "after"))
        builder.branch(loop)
        builder.position_at_end(loop)
        count = builder.phi(args[1].type)
        count.add_incoming(ir.Constant(args[1].type, 0), before)
        carried = [builder.phi(vector) for _ in range(CHAINS)]
        for number, x in enumerate(carried):
            x.add_incoming(ir.Constant(vector, [float(number)] * lanes), before)
            x.add_incoming(builder.call(fma, [x, first, first]), loop)
        more = builder.add(count, ir.Constant(args[1].type, 1))
        count.add_incoming(more, loop)
        builder.cbranch(builder.icmp_signed("<", more, args[1]), loop, after)
        builder.position_at_end(after)
        total = carried[0]
        for x in carried[1:]:
            total = builder.fadd(total, x)
        return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

    return one(one, links), generate


chains: Any = intrinsic(_chains)


@numba.njit(cache=True, nogil=True)
def _multiply_adds(half: np.ndarray, links: int) -> float:
    total: float = chains(half[0], links)
    return total


@numba.njit(cache=True, nogil=True)
def _sines(angles: np.ndarray, sine: np.ndarray, cosine: np.ndarray, times: int) -> None:
    for _ in range(times):
        sines(angles, sine, cosine)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _roots(x: np.ndarray, out: np.ndarray, times: int) -> None:
    for time in range(times):
        above = x[time % len(x)]
        for r in range(len(x)):
            out[r] = above / np.sqrt(x[r])


@numba.njit(cache=True, nogil=True)
def _signs(words: np.ndarray, atoms: np.ndarray, out: np.ndarray, times: int) -> None:
    for _ in range(times):
        for w in range(len(words)):
            signs_of(words[w], atoms[0], atoms[1], out[w])


@numba.njit(cache=True, nogil=True)
def _words(out: np.ndarray, first: int, step: int) -> None:
    zero, one = np.uint64(0), np.uint64(1)
    for lane in range(len(out) // 4):
        words = four_words(np.uint64(first + lane), np.uint64(step), zero, zero, one)
        for j in range(4):
            out[4 * lane + j] = words[j]


def fill_with_words(out: np.ndarray, step: int) -> None:
    """Fill an array with the random words of a step, on all threads."""
    spread(lambda begin, end: _words(out[begin:end], begin // 4, step), len(out), 4)


def multiply_adds(dtype: str) -> float:
    """Return flops a second of multiply-adds between registers alone."""
    threads = os.cpu_count() or 1
    half = np.full(1, 0.5, dtype)
    flops = 2 * CHAINS * LINKS * threads * 8 * BYTES // np.finfo(dtype).bits
    return flops / _together([partial(_multiply_adds, half, LINKS)] * threads)


def operations(dtype: str) -> dict[str, float]:
    """Return how many a second: sines with their cosines, roots with a quotient, signs of bits."""
    threads = os.cpu_count() or 1
    loops: dict[str, list[Callable[[], Any]]] = {"sines": [], "roots": [], "signs": []}
    for _ in range(threads):
        x, atoms = np.linspace(0.1, 1.5, ROW).astype(dtype), np.array([-1, 1], dtype)
        one, other, signs = np.empty_like(x), np.empty_like(x), np.empty((ROW // 64, 64), dtype)
        words = np.random.default_rng(1).integers(2**63, size=ROW // 64, dtype=np.uint64)
        loops["sines"].append(partial(_sines, x, one, other, TIMES))
        loops["roots"].append(partial(_roots, x, one, TIMES))
        loops["signs"].append(partial(_signs, words, atoms, signs, TIMES))
    rates = {name: threads * TIMES * ROW / _together(parts) for name, parts in loops.items()}
    for name, call in _libraries(np.linspace(0.1, 1.5, MANY).astype(dtype)):
        rates[name] = max(rates[name], MANY / _least(call))
    return rates


def _libraries(x: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield how torch, on all threads, and numpy, on one, do the same to an array."""
    held = torch.from_numpy(x)
    first, second = torch.empty_like(held), torch.empty_like(held)
    one, other = first.numpy(), second.numpy()
    yield "sines", lambda: (torch.sin(held, out=first), torch.cos(held, out=second))
    yield "sines", lambda: (np.sin(x, out=one), np.cos(x, out=other))
    yield "roots", lambda: torch.rsqrt(held, out=first)


def _together(parts: Sequence[Callable[[], Any]]) -> float:
    """Return the seconds that loops take, each on a thread of its own."""
    with ThreadPoolExecutor(len(parts)) as pool:
        return _least(lambda: [running.result() for running in [pool.submit(p) for p in parts]])


def _least(call: Callable[[], Any]) -> float:
    call()  # compiles
    # the best quarter: a ceiling is what the machine can do, not what it was kept from
    return timed(lambda number: call(), budget=0.3, warm_up=3).quartiles[0]
