"""Random rounding inside a measure, so that what cancels there is seen in the runs that bound it.

1 − cos(10⁻⁹) is 0 in single and in double precision alike. Two runs that agree on it say nothing
of how far both are off; once cos(10⁻⁹) = 1 moves by a unit in its last place, they no longer agree.
So every term of a sum moves: F may be what far larger numbers leave, and is off by a unit in
*their* last place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

SUMS = frozenset({
    "add", "sub", "subtract", "rsub", "__add__", "__radd__", "__sub__", "__rsub__", "__iadd__",
    "__isub__", "sum", "mean", "cumsum", "addcmul", "matmul", "__matmul__", "__rmatmul__", "mm",
    "bmm", "mv", "dot", "baddbmm", "einsum", "norm", "linalg_vector_norm",
})  # fmt: skip
"""Operations that add up their arguments, or products of them."""


def shaken(left: Callable[[Any], Any], move: Callable[[Tensor], Tensor]) -> Callable[[Any], Any]:
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
    def __init__(self, move: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._move = move

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in SUMS:
            kept = 1 if name.startswith("__i") else 0  # what is added to in place
            args = args[:kept] + tuple(map(self._moved, args[kept:]))
        return func(*args, **(kwargs or {}))

    def _moved(self, x: Any) -> Any:
        floats = type(x) is torch.Tensor and x.is_floating_point()
        return self._move(x) if floats else x
