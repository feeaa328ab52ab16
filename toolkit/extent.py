r"""Extents: what is known of a tensor before a run, so that a measure can be asked how large it is.

An ``Extent`` stands for any tensor of a shape with

    ‖v − c‖ ≤ r for each vector v along the last axis but one, and low ≤ each entry ≤ high.

c is a tensor; r, low and high are numbers, and may be infinite. r bounds every outcome (p = ∞), or
the mean: (E‖v − c‖^p)^{1/p} ≤ r. A product of two has half the power (Hölder's inequality); below
p = 2 nothing is kept.

A measure is called with Extents in place of the states, and torch hands each of its functions to
the table below. What an entry returns follows from what is known of the arguments by the triangle
inequality, Cauchy–Schwarz and monotony alone. So the value that a measure returns encloses the
value of every replicate. Of the result of a function without an entry nothing is known but its
shape. A measure that reads a value, to branch on it say, is refused: another replicate may branch
otherwise.

>>> w = Extent.ball(torch.zeros(2, 3, dtype=torch.float64), 0.5)
>>> v = w + 1.0
>>> squares = (v * v).sum(-2)  # between (√2 − ½)² and (√2 + ½)²
>>> round(squares.low, 3), round(squares.high, 3)
(0.836, 3.664)
"""

import inspect
import math
from collections.abc import Callable
from math import inf
from typing import Any, NoReturn

import torch
from torch import Tensor

from driftproof.toolkit.carrier import MOVES
from driftproof.toolkit.rounded import IN_PLACE

PLAIN = frozenset(
    {
        "dim",
        "size",
        "__len__",
        "numel",
        "is_floating_point",
        "is_complex",
        "shape",
        "dtype",
        "device",
        "ndim",
    }
)
"""What torch answers from the shape and the type alone."""
READS = frozenset({
    "__bool__", "__float__", "__int__", "__index__", "__contains__", "__array__", "item", "tolist",
    "numpy", "equal", "allclose", "is_nonzero", "nonzero",
})  # fmt: skip
"""What makes a number of Python, or a shape, of a value."""
KEEPS = frozenset({"expand", "expand_as", "clone", "contiguous"})
"""Of what only moves entries, that which leaves the last axis but one in its place."""
TABLE: dict[str, Callable[..., Any]] = {}


class OpaqueError(Exception):
    """A measure of which nothing follows."""


class UnknownError(OpaqueError, AttributeError):
    """A measure that asks a problem for what nothing is known of."""


class Extent(Tensor):
    """A tensor of which something is known.

    Attributes:
        centre, radius: c and r.
        low, high: bounds of each entry.
        mass: of a product of vectors, bounds of its sum along the last axis but one (None: none).
        p: the power, 2 or more.
        moved: how far the sum of v − c along that axis may be from 0.
    """

    centre: Tensor
    radius: float
    low: float
    high: float
    mass: tuple[float, float] | None
    p: float
    moved: float

    @classmethod
    def ball(
        cls,
        centre: Tensor,
        radius: float,
        low: float = -inf,
        high: float = inf,
        p: float = inf,
        moved: float = inf,
    ) -> Any:
        """Return what lies within ``radius`` of ``centre``, with entries from low to high."""
        with torch._C.DisableTorchFunctionSubclass():
            made: Any = torch.Tensor._make_subclass(cls, torch.empty_like(centre, device="meta"))
            least, most = map(float, centre.aminmax()) if centre.numel() else (-inf, inf)
        radius = inf if math.isnan(radius) or p < 2 else radius
        made.centre, made.radius, made.mass, made.p = centre, radius, None, max(p, 2.0)
        made.moved = min(radius * math.sqrt(_length(centre)), inf if p < 2 else moved)
        made.low, made.high = low, high
        if p == inf or radius == 0:
            made.low, made.high = max(low, least - radius), min(high, most + radius)
        return made

    @classmethod
    def within(cls, like: Tensor, low: float = -inf, high: float = inf) -> Any:
        """Return what has entries from low to high, of the shape of a plain tensor."""
        low, high = (-inf if math.isnan(low) else low), (inf if math.isnan(high) else high)
        bounded = math.isfinite(low) and math.isfinite(high)
        middle, half = ((low + high) / 2, (high - low) / 2) if bounded else (0.0, inf)
        centre = torch.full_like(like, middle, dtype=torch.float64)
        return cls.ball(centre, half * math.sqrt(_length(like)), low, high)

    @property
    def sizes(self) -> tuple[float, float]:
        """Bounds of the norm along the last axis but one, whatever the outcome."""
        c, largest = self.centre, max(abs(self.low), abs(self.high))
        norms, radius = _norms(c), self.radius if self.p == inf else inf
        most = min(float(norms.max()) + radius, largest * math.sqrt(_length(c)))
        return max(0.0, float(norms.min()) - radius), most

    @property
    def root(self) -> float:
        """What (E v²)^{1/2} of each entry is at most."""
        most = float(self.centre.abs().max()) + self.radius
        return min(most, max(abs(self.low), abs(self.high)))

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Return what follows of the arguments."""
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        if name == "__get__":  # an attribute of a tensor: x.shape, x.mT
            name = func.__self__.__name__
        if name in PLAIN:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        plain, changes = None, IN_PLACE.match(name) or "out" in kwargs
        try:
            if name in TABLE:
                return TABLE[name](*args, **kwargs)
            if name not in READS and not changes:
                plain = func(*_centres(args), **_centres(kwargs))
        except OpaqueError:
            raise
        except Exception as error:
            if name not in TABLE or not _takes(TABLE[name], func, args, kwargs):
                raise OpaqueError(name) from error
            raise  # plain tensors would have been taken: it is the table that is wrong
        if not isinstance(plain, Tensor):
            raise OpaqueError(name)
        if name not in MOVES or not isinstance(args[0], Extent):
            return Extent.within(plain)
        x = args[0]
        kept = name in KEEPS or (name == "__getitem__" and _keeps_vectors(x, args[1]))
        return Extent.ball(plain, _spread(x, plain) if kept else inf, x.low, x.high, x.p)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"Extent({list(self.centre.shape)}, ±{self.radius:g}, [{self.low:g}, {self.high:g}])"

    def __iter__(self) -> NoReturn:
        raise OpaqueError("__iter__")


def _takes(entry: Any, func: Any, args: Any, kwargs: Any) -> bool:
    """Tell whether an entry of the table has such arguments, and torch takes plain ones."""
    try:
        inspect.signature(entry).bind(*args, **kwargs)
        func(*_centres(args), **_centres(kwargs))
    except Exception:  # noqa: BLE001 - whatever torch raises
        return False
    return True


def power_of(x: Any) -> float:
    """Return p of a tensor, of which every outcome is known if it is no Extent."""
    return x.p if isinstance(x, Extent) else inf


def extent_of(x: Any) -> Any:
    """Return a number or a plain tensor as an Extent of radius 0."""
    return x if isinstance(x, Extent) else Extent.ball(torch.as_tensor(x, dtype=torch.float64), 0.0)


def _centres(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return type(x)(map(_centres, x))
    if isinstance(x, dict):
        return {key: _centres(value) for key, value in x.items()}
    return x.centre if isinstance(x, Extent) else x


def _norms(c: Tensor) -> Tensor:
    """Return the norm along the last axis but one, of what has no such axis the size."""
    norms: Tensor = c.abs() if c.ndim < 2 else torch.linalg.vector_norm(c, dim=-2)
    return norms


def _length(x: Tensor) -> int:
    return x.shape[-2] if x.ndim > 1 else 1


def _spread(x: Any, like: Tensor) -> float:
    """Return the radius of x once it is broadcast to another shape: an entry may stand often."""
    radius: float = x.radius * math.sqrt(max(1.0, _length(like) / _length(x.centre)))
    return radius


def _keeps_vectors(x: Any, index: Any) -> bool:
    """Say whether an index takes leading axes' entries, or a slice of the last axis but one."""
    parts = index if isinstance(index, tuple) else (index,)
    if not all(type(part) in (int, slice) for part in parts):
        return False
    rest = x.centre.ndim - 1 - len(parts)
    return rest > 0 or (rest == 0 and isinstance(parts[-1], slice))


def _times(a: float, b: float) -> float:
    return 0.0 if 0.0 in (a, b) else a * b


def handles(*names: str) -> Callable[[Any], Any]:
    """Enter a function into the table under torch's names for it."""

    def decorate(function: Any) -> Any:
        TABLE.update(dict.fromkeys(names, function))
        return function

    return decorate


@handles("add", "__add__", "__radd__")
def _add(x: Any, y: Any, *, alpha: float = 1) -> Any:
    x, y = extent_of(x), extent_of(y if alpha == 1 else _mul(y, alpha))
    centre = x.centre + y.centre
    radius = _spread(x, centre) + _spread(y, centre)
    return Extent.ball(centre, radius, x.low + y.low, x.high + y.high, min(x.p, y.p))


@handles("sub", "__sub__", "subtract")
def _sub(x: Any, y: Any, *, alpha: float = 1) -> Any:
    return _add(x, y, alpha=-alpha)


@handles("rsub", "__rsub__")
def _rsub(x: Any, y: Any) -> Any:
    return _sub(y, x)


@handles("neg", "__neg__", "negative")
def _neg(x: Any) -> Any:
    return Extent.ball(-x.centre, x.radius, -x.high, -x.low, x.p)


@handles("mul", "__mul__", "__rmul__", "multiply")
def _mul(x: Any, y: Any) -> Any:
    if x is y:
        return _square(x)
    x, y = extent_of(x), extent_of(y)
    centre = x.centre * y.centre
    corners = [_times(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
    r, q = _spread(x, centre), _spread(y, centre)
    # xy − cd = (x − c)d + c(y − d) + (x − c)(y − d)
    steep, flat = (float(v.centre.abs().max()) for v in (x, y))
    p = 1 / (1 / x.p + 1 / y.p) if x.p < inf or y.p < inf else inf
    radius = _times(r, flat) + _times(steep, q) + _times(r, q)
    if p == inf:
        radius = min(radius, _times(max(abs(x.low), abs(x.high)), q) + _times(r, flat))
    if x.centre.shape != y.centre.shape or centre.ndim < 2:
        return Extent.ball(centre, radius, min(corners), max(corners), p)
    long, wide = (float(_norms(v.centre).max()) for v in (x, y))
    moved = _times(r, wide) + _times(long, q) + _times(r, q)
    made = Extent.ball(centre, radius, min(corners), max(corners), p, moved)
    most = _times(x.sizes[1], y.sizes[1])
    made.mass = -most, most
    return made


@handles("square")
def _square(x: Any) -> Any:
    low, high = (end * end for end in _apart_from_zero(x))
    if x.p == inf:
        made = Extent.within(x.centre, low, high)
    else:  # v² − c² = 2c(v − c) + (v − c)²
        sizes = float(x.centre.abs().max()), float(_norms(x.centre).max())
        radius, moved = (2 * _times(size, x.radius) + x.radius * x.radius for size in sizes)
        made = Extent.ball(x.centre**2, radius, low, high, x.p / 2, moved)
    made.mass = tuple(size * size for size in x.sizes) if x.centre.ndim > 1 else None
    return made


def _apart_from_zero(x: Any) -> tuple[float, float]:
    """Return the ends of |x|, entry by entry."""
    ends = abs(x.low), abs(x.high)
    return (0.0 if x.low <= 0 <= x.high else min(ends)), max(ends)


@handles("pow", "__pow__")
def _pow(x: Any, power: Any) -> Any:
    if isinstance(x, Extent) and isinstance(power, int | float) and power == 2:
        return _square(x)
    ends = [-inf, inf]
    if isinstance(power, int | float) and power > 0 and getattr(x, "low", -1.0) >= 0:
        ends = (torch.tensor([x.low, x.high], dtype=torch.float64) ** power).tolist()
    return Extent.within(_centres(x) ** _centres(power), *ends)


@handles("div", "__truediv__", "true_divide", "divide")
def _div(x: Any, y: Any) -> Any:
    if isinstance(y, int | float) and y:
        return _mul(x, 1.0 / y)
    return Extent.within(_centres(x) / _centres(y))


@handles("abs", "__abs__", "absolute")
def _abs(x: Any) -> Any:
    low, high = _apart_from_zero(x)
    return Extent.ball(x.centre.abs(), x.radius, low, high, x.p)


@handles("sqrt")
def _sqrt(x: Any) -> Any:
    return Extent.within(x.centre, *(math.sqrt(max(end, 0.0)) for end in (x.low, x.high)))


@handles("maximum")
def _maximum(x: Any, y: Any) -> Any:
    x, y = extent_of(x), extent_of(y)
    return Extent.within(x.centre + y.centre, max(x.low, y.low), max(x.high, y.high))


def _axis(x: Any, dim: Any) -> int:
    """Return an axis that is reduced, counted from the last: not that of the replicates."""
    (dim,) = dim if isinstance(dim, list | tuple) and len(dim) == 1 else (dim,)
    if not isinstance(dim, int) or dim % x.centre.ndim == x.centre.ndim - 1:
        raise OpaqueError(f"a sum over {dim}")
    axis: int = dim % x.centre.ndim - x.centre.ndim
    return axis


@handles("sum")
def _sum(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    axis = _axis(x, dim)
    centre, count = x.centre.sum(axis, keepdim=keepdim), x.centre.shape[axis]
    low, high = _times(count, x.low), _times(count, x.high)
    if axis != -2:
        return Extent.ball(centre, count * x.radius, low, high, x.p)
    if x.mass is not None:
        low, high = max(low, x.mass[0]), min(high, x.mass[1])
    # as many such sums stand beside each other as the result is long
    return Extent.ball(centre, x.moved * math.sqrt(_length(centre)), low, high, x.p)


@handles("mean")
def _mean(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _mul(_sum(x, dim, keepdim), 1.0 / x.centre.shape[_axis(x, dim)])


@handles("linalg_vector_norm", "linalg_norm", "norm")
def _norm(x: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, **more: Any) -> Any:
    axis = _axis(x, dim)
    like = torch.linalg.vector_norm(x.centre, dim=axis, keepdim=keepdim)
    euclidean = more.get("ord", p) in (None, 2, "fro") and axis == -2
    if not euclidean:
        return Extent.within(like, 0.0, inf)
    low, high = x.sizes
    return Extent.ball(like, x.radius * math.sqrt(_length(like)), low, high, x.p)
