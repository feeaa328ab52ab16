"""Tensors that stand for something else than doubles: torch's functions come from a table.

An algorithm's text calls torch. torch hands each function that meets a ``StandIn`` to
``__torch_function__``; ``toolkit.balls`` and ``toolkit.spans`` each have a table of those that they
can do. What has no entry is refused by name, so nothing is computed in doubles unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])

_PLAIN = frozenset({
    "dim", "size", "__len__", "numel", "is_floating_point", "is_complex", "stride", "get_device",
    "shape", "dtype", "device", "ndim", "requires_grad", "is_leaf", "layout", "grad_fn", "_base",
    "is_cuda", "is_xpu",
})  # fmt: skip
"""What torch answers from the shape and the type alone."""


class StandIn(Tensor):
    """Base of the tensors; ``called`` looks a function up in the table of its kind."""

    called: Callable[[str, Sequence[Any], dict[str, Any]], Any]
    refusal: Callable[[str], Exception]
    """Makes the error for what has no version."""

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Call what stands for one of torch's functions."""
        name, named = func.__name__, kwargs or {}
        name = func.__self__.__name__ if name == "__get__" else name.partition(".")[0]
        if name in _PLAIN:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **named)
        wanted = [x for x in (*args, *named.values()) if isinstance(x, torch.dtype)]
        if name in ("to", "type_as"):
            wanted += [x.dtype for x in args[1:] if isinstance(x, Tensor)]
        if set(wanted) - {torch.float64}:  # they are exact: rounding is another operation
            raise cls.refusal(f"numbers as {wanted[0]}")
        return cls.called(name, args, named)


class Table(dict[str, Callable[..., Any]]):
    """What stands for each of torch's functions, by its name."""

    def handles(self, *names: str) -> Callable[[F], F]:
        """Enter a function under torch's names for it."""

        def decorate(function: F) -> F:
            self.update(dict.fromkeys(names, function))
            return function

        return decorate


def out_of_place(name: str) -> str:
    """Return ``add`` of ``add_`` and of ``__iadd__``."""
    if name.startswith("__i") and name.endswith("__"):
        name = name[3:-2] + "_"
    return {"truediv_": "div", "fill_": "full_like"}.get(name, name.removesuffix("_"))
