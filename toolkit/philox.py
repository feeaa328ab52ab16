r"""Philox4x64-10 in numba: the words of ``toolkit.draws.Words``, to the bit, inside a fused loop.

A counter (c0, c1, c2, 0) and a key (k0, k1) give four words by ten rounds of

    (x0, x1, x2, x3) ← (hi(M1·x2) ⊕ x1 ⊕ k0, lo(M1·x2), hi(M0·x0) ⊕ x3 ⊕ k1, lo(M0·x0)),

after each of which the key moves by the Weyl constants (Salmon et al. 2011). Along a row of words
only c0 moves, so a compiler takes two of the twenty products out of the loop; the other eighteen
bound it, at one product a cycle: 4.5 cycles a word. Products of vectors, made of 32-bit or of
52-bit parts, need as many cycles, and share an execution port with the scalar ones.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

import toolkit.kernels  # noqa: F401 - says where machine code is kept

ROUNDS = 10
MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
WEYL = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B

MANY = 2**15
"""Words from which on all threads make them: waking them costs as much as some thousand words."""
PART = 4096
"""Words that a thread makes before it takes others: they fill the first-level cache."""

_WORD, _WIDE = ir.IntType(64), ir.IntType(128)


@intrinsic
def _four_words(_context: Any, c0: Any, c1: Any, c2: Any, k0: Any, k1: Any) -> Any:
    of: Any = types
    return of.UniTuple(of.uint64, 4)(c0, c1, c2, k0, k1), _emit


four_words: Any = _four_words
"""(c0, c1, c2, k0, k1) → the four words of the counter (c0, c1, c2, 0); all are uint64.

The rounds are written out where it is called: a call would hide from the compiler that c1 and c2
stay as they are along the caller's loop, which costs twice the time.
"""


def _emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    x0, x1, x2, *key = given
    x3 = _WORD(0)
    for rounds in range(ROUNDS):
        k0, k1 = (
            builder.add(k, _WORD(rounds * weyl % 2**64)) for k, weyl in zip(key, WEYL, strict=True)
        )
        high0, low0 = _product(builder, x0, MULTIPLIERS[0])
        high1, low1 = _product(builder, x2, MULTIPLIERS[1])
        x0, x1 = builder.xor(builder.xor(high1, x1), k0), low1
        x2, x3 = builder.xor(builder.xor(high0, x3), k1), low0
    return context.make_tuple(builder, signature.return_type, [x0, x1, x2, x3])


def _product(builder: Any, x: Any, multiplier: int) -> tuple[Any, Any]:
    """Return the high and the low word of a product."""
    product = builder.mul(builder.zext(x, _WIDE), _WIDE(multiplier))
    return builder.trunc(builder.lshr(product, _WIDE(64)), _WORD), builder.trunc(product, _WORD)


def many(
    key: tuple[int, int], *, block: int, steps: range, clients: range, lanes: int
) -> np.ndarray:
    """Return the words of many steps, [steps, clients, 4·lanes].

    Args:
        key: ``Words.key``.
        lanes: counters a client and step.
    """
    words = np.empty((len(steps), len(clients) * lanes * 4), np.uint64)
    fill = _fill if words.size < MANY else _fill_in_parallel
    k0, k1 = (np.uint64(word) for word in key)
    fill(words, k0, k1, block, steps.start, steps.step, clients.start * lanes)
    return words.reshape(len(steps), len(clients), lanes * 4)


@numba.njit(cache=True)
def _fill_row(
    out: np.ndarray, k0: np.uint64, k1: np.uint64, block: int, step: int, first: int
) -> None:
    """Fill a row with the words of the counters after ``first``: numpy counts, then generates."""
    c1, c2 = np.uint64(step), np.uint64(block)
    for lane in range(len(out) // 4):
        words = four_words(np.uint64(first + lane + 1), c1, c2, k0, k1)
        for j in range(4):
            out[4 * lane + j] = words[j]


@numba.njit(cache=True)
def _fill(
    out: np.ndarray, k0: np.uint64, k1: np.uint64, block: int, step: int, by: int, first: int
) -> None:
    for t in range(len(out)):
        _fill_row(out[t], k0, k1, block, step + t * by, first)


@numba.njit(parallel=True, cache=True)
def _fill_in_parallel(
    out: np.ndarray, k0: np.uint64, k1: np.uint64, block: int, step: int, by: int, first: int
) -> None:
    rows, length = out.shape
    parts = (length + PART - 1) // PART  # of a row: one step may be all that there is
    for task in numba.prange(rows * parts):
        t, start = task // parts, task % parts * PART
        part = out[t, start : min(length, start + PART)]
        _fill_row(part, k0, k1, block, step + t * by, first + start // 4)
