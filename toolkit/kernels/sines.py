r"""Sine and cosine of a row of angles for fused loops, in one pass that vectorises.

numba calls libm for one angle at a time. Here x = kπ/2 + r with |r| ≤ π/4, π/2 in three parts whose
products with k are exact up to 2²⁰ (Cody and Waite 1980), and sin r and cos r are fdlibm's minimax
polynomials: within two units in the last place. Rows with larger angles go to libm.
"""

from math import pi
from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

LARGEST = 2.0**19
RAISED = 1.5 * 2.0**52
HALF_PI = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21
SINE = (
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
COSINE = (
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
)
_REAL, _WORD = ir.DoubleType(), ir.IntType(64)


@intrinsic
def _sine_and_cosine(_context: Any, x: Any) -> Any:
    of: Any = types
    return of.UniTuple(of.float64, 2)(x), _emit


sine_and_cosine: Any = _sine_and_cosine
"""x → (sin x, cos x) in double precision, for |x| ≤ ``LARGEST``."""


def _emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    flags = ("contract",)  # products and sums may be one operation, in no other order

    def times(a: Any, b: Any, c: Any) -> Any:
        return builder.fadd(builder.fmul(a, b, flags), c, flags)

    def series(terms: tuple[float, ...]) -> Any:
        total = _REAL(terms[0])
        for term in terms[1:]:
            total = times(total, square, _REAL(term))
        return total

    def signed(value: Any, bit: Any) -> Any:
        """Turn a value's sign if the second bit is set."""
        turned = builder.shl(builder.and_(bit, _WORD(2)), _WORD(62))
        return builder.bitcast(builder.xor(builder.bitcast(value, _WORD), turned), _REAL)

    # so large a number has no bits left of its fraction: its last ones are those of k
    raised = times(given[0], _REAL(2 / pi), _REAL(RAISED))
    whole, k, r = builder.fsub(raised, _REAL(RAISED)), builder.bitcast(raised, _WORD), given[0]
    for part in HALF_PI:
        r = times(whole, _REAL(-part), r)
    square = builder.fmul(r, r)
    sine = times(builder.fmul(square, r), series(SINE), r)
    rest = builder.fmul(builder.fmul(square, square), series(COSINE))
    cosine = builder.fadd(times(square, _REAL(-0.5), _REAL(1.0)), rest)
    odd = builder.trunc(k, ir.IntType(1))
    results = [
        signed(builder.select(odd, cosine, sine), k),
        signed(builder.select(odd, sine, cosine), builder.add(k, _WORD(1))),
    ]
    return context.make_tuple(builder, signature.return_type, results)


@numba.njit(cache=True)
def small(x: np.ndarray, rate: float) -> bool:
    """Whether ``sine_and_cosine`` serves all angles rate·x of a row."""
    beyond = 0
    for r in range(len(x)):
        beyond += not abs(rate * x[r]) <= LARGEST  # also of what is no number
    return beyond == 0


@numba.njit(cache=True, fastmath=False)  # it may not be handed a caller's leave to reorder sums
def sines(x: np.ndarray, sine: np.ndarray, cosine: np.ndarray) -> None:
    """Put sin x and cos x of a row in two others."""
    if not small(x, x.dtype.type(1)):
        for r in range(len(x)):
            sine[r], cosine[r] = np.sin(x[r]), np.cos(x[r])
        return
    for r in range(len(x)):
        sine[r], cosine[r] = sine_and_cosine(np.float64(x[r]))
