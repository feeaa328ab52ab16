r"""The logistic loss of many scores for fused loops, in the precision of the scores.

numba calls libm's exp and log1p one score at a time, which is most of the time of a step of W2.
Here e^{−|s|} is a polynomial that vectorises, and the logarithms of a minibatch are one:

    Σ log(1 + e^{−s_j}) = Σ max(−s_j, 0) + log Π (1 + e^{−|s_j|}),

a product of factors in (1, 2], taken ``CHUNK`` at a time so that it stays below 2⁶⁴. It is off by
at most (number of scores)·ε, that is the mean loss by ε beside what the scores' own rounding does.
"""

from math import factorial, log
from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

CHUNK = 64
TERMS = {np.float64: 14, np.float32: 8}
"""Of the exponential series on |r| ≤ log(2)/2: what follows is below a tenth of a unit."""
LOG_2 = {
    np.float64: (6.93147180369123816490e-01, 1.90821492927058770002e-10),
    np.float32: (0.693359375, -2.12194440e-4),
}
"""log 2 in two parts, the first of so few bits that its product with any exponent is exact."""
LEAST = {np.float64: -708.0, np.float32: -87.0}
"""Arguments are raised to this: e to its power is about the smallest normal number."""


@intrinsic
def _exponential(_context: Any, y: Any) -> Any:
    kind: Any = np.float32 if y == types.float32 else np.float64
    bits, bias, fraction = (32, 127, 23) if kind is np.float32 else (64, 1023, 52)

    def emit(_of: Any, builder: Any, _signature: Any, given: Any) -> Any:
        real, whole = given[0].type, ir.IntType(bits)
        flags = ("contract",)  # products and sums may be one operation, in no other order

        def times(a: Any, b: Any, c: Any) -> Any:
            return builder.fadd(builder.fmul(a, b, flags), c, flags)

        least, (upper, lower) = real(LEAST[kind]), (real(-part) for part in LOG_2[kind])
        above = builder.fcmp_ordered(">", given[0], least)
        capped = builder.select(above, given[0], least)
        # so large a number has no bits left of its fraction: its last ones are those of k
        raised = times(capped, real(1 / log(2)), real(1.5 * 2.0**fraction))
        k = builder.fsub(raised, real(1.5 * 2.0**fraction))
        r = times(k, lower, times(k, upper, capped))
        total = real(1 / factorial(TERMS[kind] - 1))
        for n in reversed(range(TERMS[kind] - 1)):
            total = times(total, r, real(1 / factorial(n)))
        power = builder.add(builder.bitcast(raised, whole), whole(bias))
        power = builder.shl(power, whole(fraction))
        return builder.fmul(total, builder.bitcast(power, real))

    return y(y), emit


_raw: Any = _exponential


@numba.njit(cache=True, fastmath=False)
def exponential(y: float) -> float:
    """Return e^y for y ≤ 0, within a unit in the last place where that is a normal number.

    A function of its own that says ``fastmath=False``, or numba would hand it the caller's leave to
    reorder sums, which takes what is rounded off above back again.
    """
    value: float = _raw(y)
    return value


@numba.njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def losses(scores: np.ndarray, labels: np.ndarray, one: float) -> float:
    """Return Σ log(1 + e^{−s}), s = label·score, and put label/(1 + e^s) in scores.

    Args:
        one: 1 in the precision of the scores, in which all is computed.
    """
    nothing = one - one
    value = nothing
    for first in range(0, len(scores), CHUNK):
        product, above = one, nothing
        part, signs = scores[first : first + CHUNK], labels[first : first + CHUNK]
        for j in range(len(part)):
            s = part[j] * signs[j]
            small = exponential(-abs(s))
            product *= one + small
            above += max(-s, nothing)
            part[j] = signs[j] * (small if s > nothing else one) / (one + small)
        value += above + np.log(product)
    return value
