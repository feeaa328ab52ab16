r"""The values of a ``Stream``, made in loops; no word is stored beyond a tile's.

A bit, a look-up or a product with half a word costs little beside the word: a word costs about 1.4
ns on one thread of the machine of docs/performance.md, its value 1.5 to 2 ns with the word.
"""

import numba
import numpy as np

from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.philox import four_words
from driftproof.toolkit.streams import GUIDED, LOOKED_UP, NUMBERS, SIGNS, STORED, Stream

TILE = 2048
"""Values that a loop over steps draws ahead: half of a first-level cache."""
COUNTERS = BLOCK // 4
"""Counters of an element that has a word for each replicate."""
_ONE, _LOWER, _HALF = np.uint64(1), np.uint64(11), np.uint64(32)


@numba.njit(cache=True)
def tile_for(stream: Stream, like: np.ndarray) -> np.ndarray:
    """Return room for the values of some steps of clients that hold [clients, rows, replicates]."""
    clients, _, replicates = like.shape
    steps = TILE // max(1, clients * stream.elements * replicates) + 1
    return np.empty((steps, clients, stream.elements, replicates), like.dtype)


@numba.njit(cache=True)
def of_step(
    stream: Stream, first: int, step: int, steps: int, replicate: int, tile: np.ndarray
) -> np.ndarray:
    """Return the values of step ``first + step``, [clients, elements, replicates].

    Steps are taken one after the other from 0 to ``steps``; a tile of them is drawn at a time.

    Args:
        replicate: the first one that the tile has.
    """
    place = step % len(tile)
    if place == 0 and stream.elements > 0:
        draw(stream, first + step, 0, replicate, tile[: min(len(tile), steps - step)])
    values: np.ndarray = tile[place]
    return values


@numba.njit(cache=True)
def draw(stream: Stream, step: int, client: int, replicate: int, out: np.ndarray) -> None:
    """Fill a tile with the values from a step, a client and a replicate on.

    Larger tiles are faster, up to the size of a cache: a call costs as much as some ten counters.

    Args:
        client: its place among those held.
        replicate: a multiple of 4.
        out: [steps, clients, elements, replicates]; of integers for ``Indices``.
    """
    steps, clients, elements, replicates = out.shape
    kind, atoms, numbers = stream.kind, stream.atoms, stream.numbers
    if kind == STORED:
        _copy(stream.values, step - stream.first, client, replicate, out)
        return
    k0, k1, block, lanes = stream.key0, stream.key1, stream.block, stream.lanes
    skipped, one = replicate // 4, stream.start + client
    if kind in (LOOKED_UP, GUIDED):
        _means(
            k0,
            k1,
            block,
            step,
            one,
            lanes,
            skipped,
            kind == LOOKED_UP,
            atoms,
            stream.shift,
            numbers,
            stream.guide,
            out,
        )
        return
    rows, room = elements, (replicates + 3) // 4 * 4
    if kind == SIGNS:  # every replicate's bit is in the one word
        rows, room, skipped = 1, (elements + 3) // 4 * 4, 0
    words = np.empty((steps, clients, rows, room), np.uint64)
    _words(k0, k1, block, step, one, lanes, skipped, words)
    if kind == SIGNS:
        _signs(words, atoms, replicate, out)
    elif kind == NUMBERS:
        _scale(words, numbers[client:], out)
    else:
        _keep(words, out)


@numba.njit(cache=True)
def _copy(values: np.ndarray, step: int, client: int, replicate: int, out: np.ndarray) -> None:
    """Copy given values: an assignment of arrays would take seconds to compile."""
    steps, clients, elements, replicates = out.shape
    for t in range(steps):
        for k in range(clients):
            for i in range(elements):
                for r in range(replicates):
                    out[t, k, i, r] = values[step + t, client + k, i, replicate + r]


@numba.njit(cache=True)
def _words(
    k0: np.uint64,
    k1: np.uint64,
    block: int,
    step: int,
    client: int,
    stride: int,
    skipped: int,
    out: np.ndarray,
) -> None:
    """Fill [steps, clients, rows, 4·lanes] from rows of ``COUNTERS``, the first ``skipped`` not."""
    steps, clients, rows, length = out.shape
    c2 = np.uint64(block)
    for t in range(steps):
        c1 = np.uint64(step + t)
        for k in range(clients):
            c0 = np.uint64((client + k) * stride + skipped + 1)
            for i in range(rows):
                for lane in range(length // 4):
                    four = four_words(c0 + np.uint64(lane), c1, c2, k0, k1)
                    for j in range(4):
                        out[t, k, i, 4 * lane + j] = four[j]
                c0 += np.uint64(COUNTERS)


@numba.njit(cache=True)
def _signs(words: np.ndarray, atoms: np.ndarray, replicate: int, out: np.ndarray) -> None:
    """A bit a replicate."""
    steps, clients, elements, _ = out.shape
    minus, one = atoms
    for t in range(steps):
        for k in range(clients):
            for i in range(elements):
                signs_of(words[t, k, 0, i] >> np.uint64(replicate), minus, one, out[t, k, i])


@numba.njit(cache=True)
def signs_of(word: np.uint64, minus: float, one: float, out: np.ndarray) -> None:
    """Turn the lowest bits of a word, as many as out has places, into one of two numbers."""
    for r in range(len(out)):
        out[r] = one if word >> np.uint64(r) & _ONE else minus


@numba.njit(cache=True)
def _means(
    k0: np.uint64,
    k1: np.uint64,
    block: int,
    step: int,
    client: int,
    stride: int,
    skipped: int,
    exact: bool,
    atoms: np.ndarray,
    shift: np.uint64,
    last_below: np.ndarray,
    guide: np.ndarray,
    out: np.ndarray,
) -> None:
    """Look words up as they are made: it fills the time that their products take."""
    steps, clients, elements, replicates = out.shape
    c2, lanes, more = np.uint64(block), replicates // 4, replicates % 4
    for t in range(steps):
        c1 = np.uint64(step + t)
        for k in range(clients):
            c0 = np.uint64((client + k) * stride + skipped + 1)
            for i in range(elements):
                for lane in range(lanes):
                    words = four_words(c0 + np.uint64(lane), c1, c2, k0, k1)
                    for j in range(4):
                        at = words[j] >> shift
                        if not exact:
                            at = np.uint64(guide[at])
                            while words[j] > last_below[at]:
                                at += _ONE
                        out[t, k, i, 4 * lane + j] = atoms[at]
                if more:
                    words = four_words(c0 + np.uint64(lanes), c1, c2, k0, k1)
                    for j in range(more):
                        at = words[j] >> shift
                        if not exact:
                            at = np.uint64(guide[at])
                            while words[j] > last_below[at]:
                                at += _ONE
                        out[t, k, i, 4 * lanes + j] = atoms[at]
                c0 += np.uint64(COUNTERS)


@numba.njit(cache=True)
def _scale(words: np.ndarray, samples: np.ndarray, out: np.ndarray) -> None:
    """Half a word times the client's number of samples."""
    steps, clients, elements, replicates = out.shape
    for t in range(steps):
        for k in range(clients):
            count = samples[k]
            for i in range(elements):
                for r in range(replicates):
                    out[t, k, i, r] = (words[t, k, i, r] >> _HALF) * count >> _HALF


@numba.njit(cache=True)
def _keep(words: np.ndarray, out: np.ndarray) -> None:
    """Keep the upper 53 bits."""
    steps, clients, elements, replicates = out.shape
    for t in range(steps):
        for k in range(clients):
            for i in range(elements):
                for r in range(replicates):
                    out[t, k, i, r] = (words[t, k, i, r] >> _LOWER) * 2.0**-53
