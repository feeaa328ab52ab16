"""The oracles of ``synthetic.oracles.composed`` for fused loops: one client, all replicates.

Tensors are [rows, replicates], replicates innermost, so that every loop over them vectorises. All
numbers come in arrays of the run's own precision: a run in single precision computes in it, and a
literal such as 0.0, a double for numba, would not.

**Blocked** by client: what one reads and writes in a step, a few rows of 64 replicates, stays in
the first-level cache from g_k to the move of x, where the plain step passes over all clients'
tensors in memory once an operation.

**Numbers** are the plain steps' to a tolerance (``STEP_BY_STEP``), not to the bit: the formulas are
those of ``synthetic.oracles.composed`` term by term, but norms and means over clients are summed in
the order of rows and of clients, and sines are off by two units in the last place at most. No loop
may be reordered (numba's default), so the bits do not depend on how the replicates are dealt to
threads (but where an angle beyond 2¹⁹ sends the row that it is in to libm).
"""

from collections.abc import Callable, Collection
from typing import Any

import numba
import numpy as np
import torch

from driftproof.toolkit.kernels.replicates import over_replicates
from driftproof.toolkit.kernels.sines import sine_and_cosine, sines, small

# places in the array of numbers
(LINE, SINE, RATE, VALUE, BENT, SLOPE, CURVE, KNEE, OUTER, O_SLOPE, O_CURVE, O_KNEE, CENTRE,
 H_SLOPE, H_CURVE, H_KNEE, H_NOISE, ONE, SMALL) = range(19)  # fmt: skip
# rows of the array of the clients' numbers
SCALE, OFFSET, TARGET, OPPOSED, TILT = range(5)


def numbers(oracles: Any, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers [19] and the clients' numbers [5, clients]."""
    of, own = oracles.parts, list(oracles.local)
    ratio = [
        a / b
        for a, b in (
            (of.outer_slope, of.outer_curvature),
            (of.opposition_slope, of.opposition_curvature),
            (of.plain_slope, of.plain_curvature),
        )
    ]
    sine = of.share / of.rate if of.share else 0.0
    values = [
        1 - of.share, sine, of.rate, of.value_noise, of.gradient_noise, of.outer_slope,
        of.outer_curvature, ratio[0], of.outer_noise, of.opposition_slope,
        of.opposition_curvature, ratio[1], of.opposition_centre, of.plain_slope,
        of.plain_curvature, ratio[2], of.plain_noise, 1.0, np.finfo(dtype).eps,
    ]  # fmt: skip
    each = np.stack([of.scales, of.offsets, of.targets, of.opposition, of.tilts])[:, own]
    return np.array(values, dtype), each.astype(dtype, order="C")


def rows(oracles: Any, *, inside: str, outside: tuple[str, ...]) -> dict[str, int]:
    """Return the rows of an estimate of g_k, inner_dim, and of fields like x, dim."""
    return {inside: oracles.parts.inner_dim} | dict.fromkeys(outside, oracles.parts.dim)


def advanced(
    loop: Callable[..., None],
    ctx: Any,
    state: Any,
    own: tuple[Any, ...],
    steps: int,
    period: int,
    *,
    record: str,
    among: Collection[str] | None = None,
    jitter: int = 0,
) -> tuple[Any, float, Any]:
    """Run a loop over some steps from ``ctx.t`` on; return the state, 0.0 and, if asked, the path.

    Args:
        loop: (*fields, *path, *own, first step, steps, period, seed of random rounding, the number
            of the first replicate), moves the fields in place.
    """
    fields, kind = [x.numpy() for x in state], type(state)
    path = path_of(record, among, steps, state._fields, *fields)
    rest = (*own, ctx.t, steps, period, np.array([jitter], np.uint64))
    moved = over_replicates(loop, fields, path, rest, steps, whole=jitter != 0)
    ctx.t += steps - 1
    return tensors(kind, moved), 0.0, tensors(kind, path) if record else None


def path_of(
    record: str,
    among: Collection[str] | None,
    steps: int,
    names: tuple[str, ...],
    *fields: np.ndarray,
) -> list[np.ndarray]:
    """Return room for the states before each step: of every client, their mean, or for none."""
    return [
        np.empty(
            (
                steps if record and (among is None or name in among) else 0,
                1 if record == "mean" else len(x),
                *x.shape[1:],
            ),
            x.dtype,
        )
        for name, x in zip(names, fields, strict=True)
    ]


def tensors(kind: Any, fields: list[np.ndarray]) -> Any:
    """Return arrays as a state."""
    return kind(*(torch.from_numpy(x) for x in fields))


@numba.njit(cache=True)
def copy(x: np.ndarray, out: np.ndarray) -> None:
    """Copy as many clients as there is room for: an assignment of arrays compiles for seconds."""
    clients, rows, replicates = out.shape
    for k in range(clients):
        for i in range(rows):
            for r in range(replicates):
                out[k, i, r] = x[k, i, r]


@numba.njit(cache=True)
def keep(x: np.ndarray, path: np.ndarray, step: int) -> None:
    """Copy [clients, rows, replicates], or its mean over clients where a path has room for one."""
    if len(path) == 0:
        return
    clients, rows, replicates = x.shape
    out = path[step]
    copy(x, out)
    if len(out) == clients:
        return
    for k in range(1, clients):
        for i in range(rows):
            for r in range(replicates):
                out[0, i, r] += x[k, i, r]
    for i in range(rows):
        for r in range(replicates):
            out[0, i, r] /= clients


@numba.njit(cache=True)
def inner(
    x: np.ndarray, xi: np.ndarray, c: np.ndarray, own: np.ndarray, y: np.ndarray, slope: np.ndarray
) -> None:
    """Put g_k(x; ξ) in y, [inner_dim, replicates], and the diagonal of ∇g_k in slope, [rank, …]."""
    rank, replicates = slope.shape
    # numbers in variables: an array might be written to in the loop, for all a compiler knows
    scale, line, sine, rate, nothing = own[SCALE], c[LINE], c[SINE], c[RATE], c[ONE] - c[ONE]
    angle, sines_, cosines = np.empty((3, replicates), x.dtype)
    for i in range(rank):
        if sine != 0 and small(x[i], rate):  # one pass: each value is used as it is made
            for r in range(replicates):
                of_sine, of_cosine = sine_and_cosine(np.float64(rate * x[i, r]))
                y[i, r] = scale * (line * x[i, r] + sine * x.dtype.type(of_sine))
                slope[i, r] = scale * (line + sine * rate * x.dtype.type(of_cosine))
        elif sine != 0:
            for r in range(replicates):
                angle[r] = rate * x[i, r]
            sines(angle, sines_, cosines)
            for r in range(replicates):
                y[i, r] = scale * (line * x[i, r] + sine * sines_[r])
                slope[i, r] = scale * (line + sine * rate * cosines[r])
        else:
            steep = scale * line
            for r in range(replicates):
                y[i, r] = steep * x[i, r]
            for r in range(replicates):
                slope[i, r] = steep
    for i in range(rank, y.shape[0]):
        for r in range(replicates):
            y[i, r] = nothing
    last, value, bend = xi.shape[0] - 1, c[VALUE], c[BENT]
    if last >= 0 and value != 0:
        for r in range(replicates):
            y[0, r] += value * xi[0, r]
    if last >= 0 and bend != 0 and small(x[0], c[ONE]):
        for r in range(replicates):
            of_sine, of_cosine = sine_and_cosine(np.float64(x[0, r]))
            bent = bend * xi[last, r]
            y[0, r] += bent * x.dtype.type(of_sine)
            slope[0, r] += bent * x.dtype.type(of_cosine)
    elif last >= 0 and bend != 0:
        sines(x[0], sines_, cosines)
        for r in range(replicates):
            bent = bend * xi[last, r]
            y[0, r] += bent * sines_[r]
            slope[0, r] += bent * cosines[r]
    offset = own[OFFSET]
    if offset != 0:
        for r in range(replicates):
            y[0, r] += offset


@numba.njit(cache=True)
def huber(
    z: np.ndarray,
    at: float,
    slope: float,
    curve: float,
    knee: float,
    factor: float,
    size: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add factor·∇H(z − at·e) to out, [rows, replicates]; size is room for norms."""
    rows, replicates = z.shape
    for r in range(replicates):
        first = z[0, r] - at
        size[r] = first * first
    for i in range(1, rows):
        for r in range(replicates):
            size[r] += z[i, r] * z[i, r]
    for r in range(replicates):
        norm = np.sqrt(size[r])
        size[r] = factor * (curve if norm <= knee else slope / norm)
    for r in range(replicates):
        out[0, r] += size[r] * (z[0, r] - at)
    for i in range(1, rows):
        for r in range(replicates):
            out[i, r] += size[r] * z[i, r]


@numba.njit(cache=True)
def fill(out: np.ndarray, number: float) -> None:
    """Put a number in all places of [rows, replicates]."""
    for i in range(out.shape[0]):
        for r in range(out.shape[1]):
            out[i, r] = number


@numba.njit(cache=True)
def outer(
    y: np.ndarray,
    zeta: np.ndarray,
    c: np.ndarray,
    own: np.ndarray,
    size: np.ndarray,
    out: np.ndarray,
) -> None:
    """Put ∇f_k(y; ζ) in out, [inner_dim, replicates]."""
    fill(out, c[ONE] - c[ONE])
    huber(y, own[TARGET], c[SLOPE], c[CURVE], c[KNEE], c[ONE], size, out)
    if c[O_SLOPE] != 0:
        huber(y, c[CENTRE], c[O_SLOPE], c[O_CURVE], c[O_KNEE], own[OPPOSED], size, out)
    if zeta.shape[0] > 0:
        noise, last = c[OUTER], zeta.shape[0] - 1
        for r in range(y.shape[1]):
            out[0, r] += noise * zeta[last, r]


@numba.njit(cache=True)
def plain(
    x: np.ndarray, xi: np.ndarray, c: np.ndarray, own: np.ndarray, size: np.ndarray, out: np.ndarray
) -> None:
    """Put ∇h_k(x; ξ) in out, [dim, replicates]."""
    fill(out, c[ONE] - c[ONE])
    if c[H_SLOPE] != 0:
        huber(x, c[ONE] - c[ONE], c[H_SLOPE], c[H_CURVE], c[H_KNEE], c[ONE], size, out)
    tilt, noise = own[TILT], c[H_NOISE]
    if tilt != 0:
        for r in range(x.shape[1]):
            out[0, r] += tilt
    if xi.shape[0] > 0:
        for r in range(x.shape[1]):
            out[0, r] += noise * xi[0, r]


@numba.njit(cache=True)
def share(x: np.ndarray) -> None:
    """Replace [clients, rows, replicates] by its mean over clients."""
    clients, rows, replicates = x.shape
    for i in range(rows):
        for k in range(1, clients):
            for r in range(replicates):
                x[0, i, r] += x[k, i, r]
        for r in range(replicates):
            x[0, i, r] /= clients
        for k in range(1, clients):
            for r in range(replicates):
                x[k, i, r] = x[0, i, r]


@numba.njit(cache=True)
def shake(x: np.ndarray, small: float, seed: np.ndarray) -> None:
    """Move every entry by about a unit in its last place, up or down (Monte Carlo arithmetic)."""
    flat = x.reshape(x.size)
    bits = seed[0]
    for j in range(flat.size):
        bits ^= bits << np.uint64(13)
        bits ^= bits >> np.uint64(7)
        bits ^= bits << np.uint64(17)
        flat[j] += small * flat[j] if bits & np.uint64(1024) else -small * flat[j]
    seed[0] = bits
