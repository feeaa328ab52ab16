r"""Philox4x64-10 in Triton: the draws of ``toolkit.draws``, to the bit, inside a kernel.

A counter (c0, c1, c2, 0) and a key (k0, k1) give four words by ten rounds of

    (x0, x1, x2, x3) ← (hi(M1·x2) ⊕ x1 ⊕ k0, lo(M1·x2), hi(M0·x0) ⊕ x3 ⊕ k1, lo(M0·x0)),

after each of which the key moves by the Weyl constants (Salmon et al. 2011). numpy counts before it
generates, so word w of client k, of which each has ``lanes`` counters, is word w mod 4 of the
counter (k·lanes + ⌊w/4⌋ + 1, step, block, 0).

Products are made of halves. Of ``a * b`` beside ``umulhi(a, b)`` ptxas 12.8 makes wrong code where
a whole warp shares a: it adds the wrong half, and a kernel drew other signs on an H200 at some
sizes, wherever the block was not 0. ``tests/test_triton.py`` looks for such products.
"""

import triton
import triton.language as tl

BLOCK = tl.constexpr(64)


@triton.jit
def product(a: tl.tensor, HIGH: tl.constexpr, LOW: tl.constexpr) -> tl.tensor:
    """Return the upper and the lower word of a·(HIGH·2³² + LOW), as uint64."""
    mask = 0xFFFFFFFF
    high, low = a >> 32, a & mask
    least, one, other = low * LOW, low * HIGH, high * LOW
    middle = (least >> 32) + (one & mask) + (other & mask)
    upper = high * HIGH + (one >> 32) + (other >> 32) + (middle >> 32)
    return upper, (middle << 32) | (least & mask)


@triton.jit
def four_words(c0: tl.tensor, stream: tl.tensor, step: tl.tensor) -> tl.tensor:
    """Return the four words of each counter (c0, step, block, 0), as uint64.

    Args:
        c0: integers, of any shape.
        stream: pointer to the two words of the key and the block of replicates, as int64
            (``device.stream_of``).
    """
    x0 = c0.to(tl.uint64)
    k0 = tl.load(stream).to(tl.uint64, bitcast=True)
    k1 = tl.load(stream + 1).to(tl.uint64, bitcast=True)
    block = tl.load(stream + 2)
    zero = tl.zeros_like(x0)
    x1, x2, x3 = zero + tl.cast(step, tl.uint64), zero + tl.cast(block, tl.uint64), zero
    for _ in tl.static_range(10):
        high0, low0 = product(x0, 0xD2E7470E, 0xE14C6C93)
        high1, low1 = product(x2, 0xCA5A8263, 0x95121157)
        x0, x1 = high1 ^ x1 ^ k0, low1
        x2, x3 = high0 ^ x3 ^ k1, low0
        k0, k1 = k0 + 0x9E3779B97F4A7C15, k1 + 0xBB67AE8584CAA73B
    return x0, x1, x2, x3


@triton.jit
def uniform(word: tl.tensor) -> tl.tensor:
    """Return the upper 53 bits of a word as a float64 in [0, 1)."""
    return (word >> 11).to(tl.int64).to(tl.float64) * 1.1102230246251565e-16


@triton.jit
def sign_mean(
    stream: tl.tensor,
    step: tl.tensor,
    clients: tl.tensor,
    first: tl.tensor,
    cumulative: tl.tensor,
    ELEMENT: tl.constexpr,
    ELEMENTS: tl.constexpr,
    BATCH: tl.constexpr,
    REPLICATES: tl.constexpr,
) -> tl.tensor:
    """Return one element of SignMean(BATCH, (ELEMENTS,)), float64 of [clients, REPLICATES].

    Args:
        stream: pointer to key, block and the number of the first client here.
        clients: their numbers from that one on, [clients].
        first: the first replicate, a multiple of 4, as REPLICATES is.
        cumulative: pointer to the law's distribution function (read for BATCH > 1).
    """
    clients = tl.load(stream + 3) + clients
    if BATCH == 1:  # a word an element, a bit a replicate
        tl.static_assert(ELEMENTS <= 4, "one counter has four words")
        words = four_words(clients[:, None] + 1, stream, step)
        place = (first + tl.arange(0, REPLICATES))[None, :].to(tl.uint64)
        mean = ((words[ELEMENT] >> place) & 1).to(tl.float64) * 2.0 - 1.0
    else:
        fours = tl.arange(0, REPLICATES // 4)[None, :] + (ELEMENT * BLOCK + first) // 4 + 1
        count = clients[:, None] * (ELEMENTS * BLOCK // 4) + fours
        a, b, c, d = four_words(count, stream, step)
        drawn = uniform(tl.interleave(tl.interleave(a, c), tl.interleave(b, d)))
        above = tl.zeros_like(drawn)
        for j in range(BATCH):
            above += (drawn >= tl.load(cumulative + j)).to(tl.float64)
        mean = (2.0 * above - BATCH) / BATCH
    return mean


@triton.jit
def sample_numbers(
    stream: tl.tensor,
    step: tl.tensor,
    client: tl.tensor,
    places: tl.tensor,
    replicate: tl.tensor,
    count: tl.tensor,
    batch: tl.tensor,
) -> tl.tensor:
    """Return the numbers at some places of an Indices(…, batch), int64 of the places' shape.

    Args:
        stream: pointer to key, block and the number of the first client here.
        client: its number from that one on.
        replicate: its number.
        count: how many samples the client has.
    """
    client = tl.load(stream + 3) + client
    lane = client * (batch * (BLOCK // 4)) + places * (BLOCK // 4) + replicate // 4
    a, b, c, d = four_words(lane + 1, stream, step)
    which = replicate % 4
    word = tl.where(which == 0, a, tl.where(which == 1, b, tl.where(which == 2, c, d)))
    return (((word >> 32) * tl.cast(count, tl.uint64)) >> 32).to(tl.int64)
