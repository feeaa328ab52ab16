"""Random rounding inside a measure, so that what cancels there is seen in the runs that bound it.

1 − cos(10⁻⁹) is 0 in single and in double precision alike. Two runs that agree on it say nothing
of how far both are off; once cos(10⁻⁹) = 1 moves by a unit in its last place, they no longer agree.
So every term of a sum moves: F may be what far larger numbers leave, and is off by a unit in
*their* last place.
"""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

SUMS = frozenset({
    "add", "sub", "subtract", "rsub", "__add__", "__radd__", "__sub__", "__rsub__", "__iadd__",
    "__isub__", "sum", "mean", "cumsum", "addcmul", "matmul", "__matmul__", "__rmatmul__", "mm",
    "bmm", "mv", "dot", "baddbmm", "einsum", "norm", "linalg_vector_norm",
})  # fmt: skip
"""Operations that add up their arguments, or products of them."""
IN_PLACE = re.compile(r"__(i|set)|.*[^_]_$")
"""Names of those that change their first argument."""
COARSE = 2.0**-23
"""The unit in the last place of a number in single precision."""
OF_SINGLE = 2.0**-23
"""What share of the error of runs in single precision bounds that of doubles: 64 times 2⁻²⁹."""


def stochastic_rounding(
    left: Callable[[Any], Any], move: Callable[[Tensor], Tensor]
) -> Callable[[Any], Any]:
    """Return a measure in which the terms of every sum are moved at random.

    Args:
        move: changes each entry by about a unit in its last place; 0 stays 0.
    """

    @wraps(left)
    def measured(view: Any) -> Any:
        with _Moving(move):
            return left(view)

    return measured


class _Moving(TorchFunctionMode):
    def __init__(self, move: Callable[[Tensor], Tensor], *, every: bool = False) -> None:
        super().__init__()
        self._move, self._every = move, every

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in SUMS or (self._every and name != "__get__"):
            kept = bool(IN_PLACE.match(name))
            args = args[:kept] + tuple(map(self._moved, args[kept:]))
        return func(*args, **(kwargs or {}))

    def _moved(self, x: Any) -> Any:
        floats = type(x) is torch.Tensor and x.is_floating_point()
        return self._move(x) if floats else x


def coarsely(function: Callable[[Any], Any], x: Any, seed: int) -> tuple[Any, bool]:
    """Return a function of doubles at x as single precision would round it, for ``rounding``.

    Each number that numpy or torch is given on the way moves by a unit in the last place of single
    precision, up or down at random; so the function's own data need not be converted.

    Returns:
        The value, and whether anything was moved: what a function does with Python's own numbers
        is not.

    >>> near, followed = coarsely(lambda x: (x - 1.0).sum(), np.array([1.0, 3.0]), 0)
    >>> 0 < abs(float(near) - 2) < 1e-5, followed
    (True, True)
    """
    random, seen = np.random.default_rng(seed), []

    def moved(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(moved, value))
        if getattr(getattr(value, "dtype", None), "kind", "") != "f":
            return value
        plain = np.asarray(value)
        return plain * (1 + COARSE * random.choice([-1.0, 1.0], plain.shape))

    def followed(made: Any) -> Any:
        floats = getattr(getattr(made, "dtype", None), "kind", "") == "f"
        return np.asarray(made).view(Coarse) if floats else made

    class Coarse(np.ndarray):
        def __array_ufunc__(
            self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any
        ) -> Any:
            seen.append(True)
            made = followed(getattr(ufunc, method)(*moved(inputs), **kwargs))
            if out is None:
                return made
            np.asarray(out[0])[...] = made
            return out[0]

        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            seen.append(True)
            return followed(func(*moved(tuple(args)), **kwargs))

        def __getitem__(self, key: Any) -> Any:
            return followed(super().__getitem__(key))

    if isinstance(x, Tensor):
        with _Moving(lambda v: v * v.new_tensor(moved(np.ones(v.shape))), every=True):
            return function(x), True
    made = np.asarray(function(np.asarray(moved(x)).view(Coarse)))
    return made, bool(seen)


def rounding(exact: np.ndarray, shadow: np.ndarray, right: np.ndarray | float) -> np.ndarray:
    """Bound the rounding error of means computed in double precision, [comparisons].

    Monte Carlo arithmetic: the case was run again in single precision, whose rounding errors are
    2²⁹ times as large along the same path, several times, with every state moved at random by a
    unit in its last place after each step (one run alone may hit the exact value by luck). The
    largest distance of these runs from the double run, divided by 2²³ (64 times less than 2²⁹),
    bounds the error of the double run as long as errors grow linearly. Where a run differs by more
    than 10 %, that is in doubt and the whole distance counts. A few units in the last place are
    added for the sums.

    Args:
        exact: the double run's means, [comparisons].
        shadow: the single runs' means, [runs, comparisons]; nan where a run ended earlier.
        right: the right side (or the size of what was subtracted to get ``exact``).
    """
    scale = np.maximum(np.abs(exact), np.abs(right))
    if shadow.shape[1:] != exact.shape:
        return np.full_like(exact, np.inf)
    with np.errstate(invalid="ignore"):
        distance = np.abs(exact - shadow).max(0, initial=0.0)
    linear = np.where(distance <= 0.1 * scale, distance * OF_SINGLE, distance)
    bound: np.ndarray = np.where(np.isfinite(linear), linear, np.inf) + 1e-14 * scale
    return bound
