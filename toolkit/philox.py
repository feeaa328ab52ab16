r"""Philox4x64-10 in numba: the words of ``toolkit.draws.Words``, to the bit, inside a fused loop.

A counter (c0, c1, c2, 0) and a key (k0, k1) give four words by ten rounds of

    (x0, x1, x2, x3) ← (hi(M1·x2) ⊕ x1 ⊕ k0, lo(M1·x2), hi(M0·x0) ⊕ x3 ⊕ k1, lo(M0·x0)),

after each of which the key moves by the Weyl constants (Salmon et al. 2011). Along a row of words
only c0 moves, so a compiler takes two of the twenty products out of the loop; the other eighteen
bound it, at one product a cycle: 4.5 cycles a word. Products of vectors, made of 32-bit or of
52-bit parts, need as many cycles, and share an execution port with the scalar ones.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

import driftproof.toolkit.kernels  # noqa: F401 - says where machine code is kept

ROUNDS = 10
MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
WEYL = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B

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
