"""Sums, norms, products of matrices and linear systems of balls."""

from functools import partial
from typing import Any

import numpy as np
from flint import arb, arb_mat

from driftproof.toolkit.balls.operations import larger, smaller, square_root
from driftproof.toolkit.balls.tensor import Balls, RefusedError, handles, lift, spend, wrapped


def _axes(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, list | tuple) else dim


def _summed(entries: np.ndarray, dim: Any, keepdim: bool) -> np.ndarray:
    spend(entries.size)
    if not entries.size:
        raise RefusedError("a sum over nothing")
    add: Any = np.add
    return np.asarray(add.reduce(entries, axis=_axes(dim), keepdims=keepdim), object)


@handles("sum")
def _sum(a: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Balls:
    return Balls(_summed(lift(a), dim, keepdim))


@handles("mean")
def _mean(a: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Balls:
    entries = lift(a)
    totals = _summed(entries, dim, keepdim)
    return wrapped(totals / arb(entries.size // max(1, totals.size)))


@handles("prod")
def _prod(a: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Balls:
    multiply: Any = np.multiply
    return wrapped(multiply.reduce(lift(a), _axes(dim), keepdims=keepdim))


@handles("cumsum")
def _cumsum(a: Any, dim: int, **_: Any) -> Balls:
    return wrapped(np.add.accumulate(lift(a), dim))


def _extreme(of: np.ufunc, a: Any, dim: Any = None, keepdim: bool = False) -> Balls:
    entries = lift(a)
    spend(entries.size)
    if isinstance(axes := _axes(dim), tuple):  # numpy reduces over one dimension at a time
        for axis in axes:
            entries = of.reduce(entries, axis=axis, keepdims=True)
        return Balls(entries if keepdim else entries.squeeze(axes))
    return Balls(np.asarray(of.reduce(entries, axis=axes, keepdims=keepdim), object))


handles("max", "amax")(partial(_extreme, larger))
handles("min", "amin")(partial(_extreme, smaller))


@handles("linalg_vector_norm", "norm")
def _norm(a: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Balls:
    if ord not in (2, "fro"):
        raise RefusedError(f"the norm of order {ord} has no version for balls")
    entries = lift(a)
    return square_root(Balls(_summed(entries * entries, dim, keepdim)))


_exp, _log = np.frompyfunc(arb.exp, 1, 1), np.frompyfunc(arb.log, 1, 1)


@handles("softmax")
def _softmax(a: Any, dim: int, **_: Any) -> Balls:
    raised = _exp(lift(a))
    return wrapped(raised / _summed(raised, dim, True))


@handles("logsumexp")
def _logsumexp(a: Any, dim: int, keepdim: bool = False) -> Balls:
    return wrapped(_log(_summed(_exp(lift(a)), dim, keepdim)))


@handles("matmul", "mm", "bmm", "mv", "dot", "__matmul__")
def _matmul(a: Any, b: Any) -> Balls:
    one, two = lift(a), lift(b)
    product = np.asarray(one @ two, dtype=object)
    spend(product.size * one.shape[-1])
    return Balls(product)


@handles("baddbmm")
def _baddbmm(a: Any, b: Any, c: Any, *, beta: Any = 1, alpha: Any = 1) -> Balls:
    return wrapped(lift(a) * lift(beta) + _matmul(b, c).entries * lift(alpha))


@handles("einsum")
def _einsum(formula: str, *operands: Any) -> Balls:
    arrays = [lift(x) for x in operands]
    words = zip(formula.split("->")[0].split(","), arrays, strict=True)
    sizes = {c: n for word, x in words for c, n in zip(word, x.shape, strict=True)}
    spend(int(np.prod(list(sizes.values()))) * len(arrays))
    return Balls(np.asarray(np.einsum(formula, *arrays), dtype=object))


@handles("linalg_solve")
def _solve(a: Any, b: Any) -> Balls:
    """Return the solutions of batches of systems, matrices […, n, n] and sides […, n, m]."""
    left, right = lift(a), lift(b)
    if right.ndim == left.ndim - 1:
        return Balls(_solve(a, Balls(right[..., None])).entries[..., 0])
    lead = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left, right = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (left, right))
    solutions = np.empty(right.shape, dtype=object)
    spend(left.size * left.shape[-1] + right.size * left.shape[-1])
    for at in np.ndindex(*lead):
        solutions[at] = solved(left[at], right[at])
    return Balls(solutions)


def solved(matrix: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Return the enclosure of matrix⁻¹·side; refused where the matrix may be singular."""
    try:
        answer = arb_mat(matrix.tolist()).solve(arb_mat(side.tolist()))
    except ZeroDivisionError as error:
        raise RefusedError("linalg.solve of a matrix that may be singular") from error
    return np.array(answer.tolist(), dtype=object).reshape(side.shape)
