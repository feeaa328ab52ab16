r"""A named draw as a fused loop takes it: how its words become values.

``toolkit.stream_values`` makes them from (key, counter) where they are used, to the bit what
``Law.sample`` makes. The mean of b signs is a word's place among the values of the binomial
distribution function, which are multiples of 2⁻ᵇ: for few signs the word's upper b bits are looked
up in a table of 2ᵇ atoms. For more, a guide table (Chen and Asau 1974) leads from the upper bits to
the first atom that the word may stand for.
"""

from functools import cache
from math import ceil, prod
from typing import NamedTuple

import numpy as np

from driftproof.toolkit.draws import Indices, Law, SignMean, Uniforms, sign_mean

TABLE_BITS = 10
"""The largest batch that is looked up directly: 2¹⁰ atoms stay in the first-level cache."""
GUIDE_BITS = 12
STORED, SIGNS, LOOKED_UP, GUIDED, NUMBERS, UNIFORMS = range(6)


class Stream(NamedTuple):
    """One named draw in one block of replicates, for kernels (a tuple that numba understands).

    Attributes:
        kind: how words become values; STORED: they are given.
        elements: what a client draws in one replicate (0: there is no such draw).
        key0, key1, block: the key and the last counter.
        start, lanes: the first client held, and counters a client and step.
        atoms: of a mean of signs, in the precision of the run; LOOKED_UP: by a word's upper bits.
        shift: which bits of a word are the upper ones.
        numbers: GUIDED: the largest word below each threshold between atoms, then the largest
            word; NUMBERS: each client's number of samples.
        guide: the atom of the smallest word with given upper bits.
        values, first: given values [steps, clients, elements, replicates], and the first step.
    """

    kind: int
    elements: int
    key0: np.uint64
    key1: np.uint64
    block: int
    start: int
    lanes: int
    atoms: np.ndarray
    shift: np.uint64
    numbers: np.ndarray
    guide: np.ndarray
    values: np.ndarray
    first: int


def keyed(
    law: Law, key: tuple[int, int], block: int, clients: range, dtype: np.dtype
) -> Stream | None:
    """Return the stream of a law whose values are made from words here (None: another law)."""
    shift, numbers, guide = np.uint64(0), np.empty(0, np.uint64), np.empty(0, np.uint32)
    atoms = np.empty(0)
    if type(law) is SignMean and law.batch == 1:
        kind, atoms = SIGNS, sign_mean(1)[0]
    elif type(law) is SignMean and law.batch <= TABLE_BITS:
        kind, shift, atoms = LOOKED_UP, np.uint64(64 - law.batch), table(law.batch)
    elif type(law) is SignMean:
        kind, shift, atoms = GUIDED, np.uint64(64 - GUIDE_BITS), sign_mean(law.batch)[0]
        numbers, guide = guided(law.batch)
    elif type(law) is Indices:
        kind, numbers = NUMBERS, np.array([law.samples[k] for k in clients], np.uint64)
    elif type(law) is Uniforms:
        kind = UNIFORMS
    else:
        return None
    nothing = np.empty((0, 0, 0, 0), np.int64 if kind == NUMBERS else dtype)
    return Stream(
        kind,
        prod(law.shape),
        np.uint64(key[0]),
        np.uint64(key[1]),
        block,
        clients.start,
        -(-law.words // 4),
        atoms.astype(dtype),
        shift,
        numbers,
        guide,
        nothing,
        0,
    )


def stored(values: np.ndarray, first: int, dtype: np.dtype) -> Stream:
    """Return the stream of given values, [steps, clients, elements, replicates]."""
    zero = np.uint64(0)
    return Stream(
        STORED,
        values.shape[2],
        zero,
        zero,
        0,
        0,
        0,
        np.empty(0, dtype),
        zero,
        np.empty(0, np.uint64),
        np.empty(0, np.uint32),
        values,
        first,
    )


@cache
def nothing(dtype: np.dtype) -> Stream:
    """Return the stream without elements."""
    return stored(np.empty((0, 0, 0, 0), dtype), 0, dtype)


def table(batch: int) -> np.ndarray:
    """Return the atom of every value of a word's upper ``batch`` bits."""
    atoms, _, cumulative = sign_mean(batch)
    uniform = np.arange(2**batch) * 2.0**-batch
    drawn: np.ndarray = atoms[np.searchsorted(cumulative, uniform, side="right")]
    return drawn


@cache
def guided(batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest words below the thresholds, and the guide to them.

    A word w stands for the uniform ⌊w/2¹¹⌋/2⁵³, which is below c if and only if w is at most
    ⌈2⁵³c⌉·2¹¹ − 1. So whole words are compared, and a threshold that rounds to 1 is never passed;
    one that underflows to 0 lies before the guide's first place.
    """
    cumulative = sign_mean(batch)[2]
    below = [max(0, (ceil(c * 2.0**53) << 11) - 1) for c in cumulative]
    smallest = np.arange(2**GUIDE_BITS) * 2.0**-GUIDE_BITS
    guide = np.searchsorted(cumulative, smallest, side="right").astype(np.uint32)
    return np.array([*below, 2**64 - 1], np.uint64), guide
