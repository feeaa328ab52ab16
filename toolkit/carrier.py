"""Tensors whose entries are no doubles: torch's functions, on an array of any objects.

An algorithm's text calls torch. torch hands each function that meets a ``Carrier`` to
``__torch_function__``. A function that only moves entries (``MOVES``) is torch's own, called on
the integers that say which entry stands where. Arithmetic comes from the table of the carrier's
kind: ``toolkit.balls`` encloses real numbers, ``toolkit.gram`` follows unknown vectors. What has
no version is refused by name, so nothing is computed in doubles unseen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from math import prod
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])

_PLAIN = frozenset({
    "dim", "size", "__len__", "numel", "is_floating_point", "is_complex", "stride", "get_device",
    "shape", "dtype", "device", "ndim", "requires_grad", "is_leaf", "layout", "grad_fn", "_base",
    "is_cuda", "is_xpu",
})  # fmt: skip
"""What torch answers from the shape and the type alone."""
MOVES = dict.fromkeys((
    "T", "__getitem__", "_unsafe_view", "alias", "broadcast_to", "cat", "chunk", "clone", "concat",
    "concatenate", "conj_physical", "contiguous", "diagonal", "expand", "expand_as", "flatten",
    "flip", "gather", "hstack", "index", "index_select", "mT", "moveaxis", "movedim", "narrow",
    "permute", "ravel", "repeat", "repeat_interleave", "reshape", "reshape_as", "roll", "select",
    "slice", "split", "squeeze", "stack", "swapaxes", "swapdims", "t", "take_along_dim", "tile",
    "transpose", "unbind", "unflatten", "unsqueeze", "view", "view_as", "vstack",
), 1) | dict.fromkeys(("diagonal_scatter", "select_scatter", "slice_scatter"), 2)  # fmt: skip
"""torch's functions that only move entries → how many arguments hold entries, from the first."""
COMPARISONS = {
    operator.lt: ("lt", "__lt__", "less"),
    operator.le: ("le", "__le__", "less_equal"),
    operator.gt: ("gt", "__gt__", "greater"),
    operator.ge: ("ge", "__ge__", "greater_equal"),
    operator.eq: ("eq", "__eq__"),
    operator.ne: ("ne", "__ne__"),
}
"""Python's comparisons → torch's names for them."""


class Table(dict[str, Callable[..., Any]]):
    """What stands for each of torch's functions, by its name."""

    def handles(self, *names: str) -> Callable[[F], F]:
        """Enter a function under torch's names for it."""

        def decorate(function: F) -> F:
            self.update(dict.fromkeys(names, function))
            return function

        return decorate


@lru_cache(maxsize=1024)
def numbered(shape: tuple[int, ...], width: int = 1, start: int = 0) -> Tensor:
    """Return the places of entries that lie in their order: entry e has the place e·width.

    A width is the length of the last axis but one, along which an entry does not vary: coordinate d
    has the place e·width + d. That axis has size 1 in ``shape``, the entries'.
    """
    with torch._C._DisableFuncTorch():
        count = torch.arange(start * width, (start + prod(shape)) * width, device="cpu")
        if width == 1:
            return count.reshape(shape)
        return count.reshape(*shape[:-2], shape[-1], width).transpose(-1, -2)


def on_places(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function of torch on integers, whatever transforms or carriers are about."""
    with torch._C.DisableTorchFunctionSubclass():
        if torch._C._functorch.peek_interpreter_stack() is None:
            return func(*args, **kwargs)
        with torch._C._DisableFuncTorch():
            return func(*args, **kwargs)


class Carrier(Tensor):
    """A tensor of entries of any kind.

    Attributes:
        entries: an array of objects. A view shares them with what it was taken from, as torch's do.
        pool: all the entries that are shared, in the order of memory.
        places: which of the pool stands where (``numbered``); None: all of it, in its order.
        width: see ``numbered``.
        nonnegative: whether each entry's true value is known to be 0 or more (a norm, say), even
            where its ball reaches below 0.
    """

    entries: np.ndarray
    pool: np.ndarray
    places: Tensor | None
    width: int
    nonnegative: bool = False
    table: ClassVar[Table]
    holds: ClassVar[torch.dtype] = torch.float64
    """What torch takes the entries for."""
    refusal: Callable[[str], Exception]
    """Makes the error for what has no version."""
    joined: Callable[[Sequence[Any]], tuple[Carrier, list[np.ndarray]]]
    """Returns the entries of several operands, and a carrier that is like what they make."""
    made: Callable[[np.ndarray], Any]
    """Returns a carrier like this one of other entries."""
    kind: Any = property(type, doc="The class of what is a part of it.")

    @classmethod
    def carrying(cls, entries: Any, shape: Any = None, width: int = 1, **more: Any) -> Any:
        """Return a carrier with these attributes."""
        entries = np.asarray(entries, object, order="C")
        make: Any = torch.Tensor._make_wrapper_subclass
        tensor = make(cls, entries.shape if shape is None else shape, dtype=cls.holds)
        tensor.__dict__.update(more, entries=entries, pool=entries, places=None, width=width)
        return tensor

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def viewed(self, at: Tensor) -> Any:
        """Return a carrier of other places of the pool."""
        strides, width = at.stride(), self.width
        make: Any = torch.Tensor._make_wrapper_subclass
        tensor = make(self.kind, at.shape, strides, dtype=self.holds)
        shape = at.shape if width == 1 else (*at.shape[:-2], 1, at.shape[-1])
        steps = [8 * (step // width) for step in strides]
        first = 8 * (at.storage_offset() // width)
        entries: Any = np.ndarray(shape, object, self.pool, first, steps)
        tensor.__dict__.update(self.__dict__, places=at, entries=entries)
        return tensor

    def numbers(self, places: Tensor) -> np.ndarray:
        """Return which of the pool stand at places."""
        return places.numpy()

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"{type(self).__name__}({np.vectorize(str, otypes=[object])(self.entries).tolist()})"

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
            raise cls.refusal(f"a tensor of {wanted[0]}")
        return cls.called(name, func, args, named)

    @classmethod
    def called(cls, name: str, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call what stands for a function; of one in place, write the result where it goes."""
        if name in cls.table:
            return cls.table[name](*args, **kwargs)
        if name in MOVES:
            return cls.moved(func, args, kwargs, MOVES[name])
        plain, into = out_of_place(name), args[0]
        if name != "__setitem__" and plain not in cls.table:
            raise cls.refusal(f"torch's {name}")
        if not isinstance(into, Carrier):
            raise cls.refusal(f"torch's {name} into a tensor of doubles")
        if name == "__setitem__":
            into.write(name, *args[1:])
        else:
            into.write(name, ..., cls.table[plain](*args, **kwargs))
        return into

    @classmethod
    def moved(cls, func: Any, args: Sequence[Any], kwargs: dict[str, Any], count: int = 1) -> Any:
        """Call a function that only moves entries: on their places, and then take those.

        Args:
            count: how many arguments hold entries, from the first, where that is no list of them.
        """
        listed = isinstance(args[0], list | tuple)
        given = args[0] if listed else args[:count]
        rest = args[1 if listed else count :]
        cls._check(rest[0] if func is Tensor.__getitem__ else ())
        own = len(given) == 1 and isinstance(given[0], Carrier)
        if own:
            like, pool, places = given[0], given[0].pool, [given[0].all_places]
        else:
            like, parts = cls.joined(given)
            starts = accumulate((part.size for part in parts), initial=0)
            places = [
                numbered(part.shape, like.width, k) for part, k in zip(parts, starts, strict=False)
            ]
            pool = np.concatenate([part.reshape(-1) for part in parts])
        moved = on_places(func, *([places] if listed else places), *rest, **kwargs)

        def taken(at: Tensor) -> Any:
            if own and torch._C._is_alias_of(at, places[0]):  # type: ignore[attr-defined]
                return like.viewed(at)
            return like.made(np.asarray(pool.reshape(-1)[like.numbers(at)], object))

        return taken(moved) if isinstance(moved, Tensor) else tuple(map(taken, moved))

    @classmethod
    def _check(cls, at: Any) -> None:
        if any(isinstance(part, Carrier) for part in (at if isinstance(at, tuple) else (at,))):
            raise cls.refusal("an index that is no integer")

    @property
    def all_places(self) -> Tensor:
        """The places of the entries."""
        return numbered(self.pool.shape, self.width) if self.places is None else self.places

    def write(self, name: str, at: Any, value: Any) -> None:
        """Write to a part of it, as a function of torch of that name does."""
        of = self.entries
        if self.places is not None and any(
            n > 1 and not step for n, step in zip(of.shape, of.strides, strict=True)
        ):
            raise self.refusal(f"torch's {name} into an expanded tensor")
        written, self.nonnegative = self.joined([self, value])[1][1], False
        if at is ...:
            of[...] = written
        else:
            self._check(at)
            numbers = self.numbers(on_places(Tensor.__getitem__, self.all_places, at))
            self.pool.reshape(-1)[np.atleast_1d(numbers)] = written


def out_of_place(name: str) -> str:
    """Return ``add`` of ``add_`` and of ``__iadd__``."""
    if name.startswith("__i") and name.endswith("__"):
        name = name[3:-2] + "_"
    return {"truediv_": "div", "fill_": "full_like"}.get(name, name.removesuffix("_"))


def arithmetic(
    applied: Callable[..., Any], compared: Callable[[Callable[[Any, Any], Any], Any, Any], Any]
) -> Table:
    """Return a table of what follows from a kind's operators.

    Args:
        applied: calls one of Python's operators on the entries of one operand or of two.
        compared: answers one of Python's comparisons of two operands.
    """
    table = Table()
    handles = table.handles
    add, sub, mul, div = (
        partial(applied, of) for of in (operator.add, operator.sub, operator.mul, operator.truediv)
    )
    for of, names in COMPARISONS.items():
        handles(*names)(partial(compared, of))
    handles("neg", "negative")(partial(applied, operator.neg))
    handles("mul", "multiply", "__rmul__")(mul)
    handles("div", "true_divide", "__truediv__")(div)
    handles("__rdiv__", "__rtruediv__")(lambda a, b: div(b, a))
    handles("square")(lambda a: mul(a, a))

    @handles("detach", "double", "cpu", "to", "type_as")
    def same(a: Any, *_: Any, **__: Any) -> Any:
        return a if isinstance(a, Carrier) and a.dtype == torch.float64 else mul(a, 1)

    def times(a: Any, alpha: Any) -> Any:
        return a if type(alpha) is int and alpha == 1 else mul(a, alpha)

    handles("add", "__radd__")(lambda a, b, *, alpha=1: add(a, times(b, alpha)))
    handles("sub", "subtract")(lambda a, b, *, alpha=1: sub(a, times(b, alpha)))
    handles("__rsub__", "rsub")(lambda a, b, *, alpha=1: sub(b, times(a, alpha)))
    handles("addcmul")(lambda a, b, c, *, value=1: add(a, times(mul(b, c), value)))
    return table
