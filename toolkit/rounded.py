"""Random rounding inside a measure, so that what cancels there is seen in the runs that bound it.

1 − cos(10⁻⁹) is 0 in single and in double precision alike. Two runs that agree on it say nothing
of how far both are off; once cos(10⁻⁹) = 1 moves by a unit in its last place, they no longer agree.

In double precision every term of every sum is moved: F may be the difference of numbers that are
far larger, and is then off by a unit in *their* last place.
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
    "__isub__",
})  # fmt: skip
"""Operations that drop a small number beside a large one."""
CURVED = frozenset({
    "cos", "sin", "tan", "cosh", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt",
    "pow", "__pow__", "__rpow__", "tanh", "sigmoid", "logsumexp", "logaddexp", "softmax",
    "log_softmax", "softplus",
})  # fmt: skip
"""Operations that round a small change of their argument away."""
TERMS = SUMS | {
    "sum", "mean", "cumsum", "addcmul", "matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "mv",
    "dot", "baddbmm", "einsum", "norm", "linalg_vector_norm",
}  # fmt: skip
"""Operations that add up their arguments, or products of them."""


def shaken(
    left: Callable[[Any], Any], move: Callable[[Tensor], Tensor], *, terms: bool = False
) -> Callable[[Any], Any]:
    """Return a measure whose intermediate numbers are moved at random after they were rounded.

    Moved is what a curved function gave, and what a sum gave that is one number for each replicate
    or has a number among its terms. Sums of vectors are left as they are: iterates were moved.

    Args:
        move: changes each entry by about a unit in its last place; 0 stays 0.
        terms: move the terms of each sum instead, of vectors too.
    """

    @wraps(left)
    def measured(view: Any) -> Any:
        with _Moving(move, terms):
            return left(view)

    return measured


class _Moving(TorchFunctionMode):
    def __init__(self, move: Callable[[Tensor], Tensor], terms: bool) -> None:
        super().__init__()
        self._move, self._terms = move, terms

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if self._terms and name in TERMS:
            kept = 1 if name.startswith("__i") else 0  # what is added to in place
            args = args[:kept] + tuple(map(self._moved, args[kept:]))
        result = func(*args, **(kwargs or {}))
        if name in CURVED or (not self._terms and name in SUMS and _of_numbers(result, args)):
            return self._moved(result)
        return result

    def _moved(self, x: Any) -> Any:
        return self._move(x) if _real(x) else x


def _real(result: Any) -> bool:
    return type(result) is torch.Tensor and result.is_floating_point()


def _of_numbers(result: Any, args: tuple[Any, ...]) -> bool:
    one_each = isinstance(result, Tensor) and result.ndim <= 1
    return one_each or any(isinstance(x, int | float) for x in args[:2])
