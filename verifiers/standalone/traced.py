"""Tensors that write numpy: each operation of a run computes its value and notes its text.

torch hands every operation that meets a ``Traced`` to ``__torch_dispatch__``, those beneath
``torch.func`` too. ``TEXTS`` has the text of each, with a place for each operand; what is not there
is taken apart by torch's own decompositions, or refused by name.
"""

from __future__ import annotations

import operator
import sys
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch.utils._pytree import tree_leaves, tree_map

from driftproof.toolkit.carrier import Table, out_of_place
from driftproof.verifiers.standalone.refusal import NoScriptError


class Scope(list["Node"]):
    """The nodes of a step, or of a function, in their order.

    Attributes:
        ends: what a step leaves behind under which name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ends: dict[str, Any] = {}


SCOPES: list[Scope] = []
"""The step that is run, and the functions that it is in."""
OUTCOMES = [1]
"""How many outcomes the draws of the run have."""
FIXED = "{}"
"""The text of a constant."""


class Outside(Exception):  # noqa: N818 - a signal, never shown
    """A function uses something of its caller's that it was not given."""


class Node:
    """A piece of numpy.

    Attributes:
        text: it, with ``{}`` for each operand: a node, a number, or a constant tensor.
        name: what the run's own text calls it; ``hint``: what it may be called if it needs a name.
        line: whether it is a statement: a draw, or what is measured.
        kept: whether a later step uses it.
        marked: whether a claim knows it by its name.
        wide: of a broadcast, what it is made of, and its shape.
        body: of a call: the function's name, what it says, its scope and its result.
        scope: the step or function that it is part of (None: it can be written anywhere).
    """

    def __init__(self, text: str, *operands: Any, name: str = "", line: bool = False) -> None:
        self.text, self.operands, self.name, self.line = text, operands, name, line
        self.hint, self.kept, self.marked = "part", False, False
        self.wide: tuple[Any, torch.Size] | None = None
        self.body: tuple[str, str, Scope, Node] | None = None
        anywhere = (
            bool(text)
            and not line
            and all(
                x.scope is None if isinstance(x, Node) else not isinstance(x, Tensor)
                for x in operands
            )
        )
        self.scope: Scope | None = None if anywhere or not SCOPES else SCOPES[-1]
        for x in operands:
            if isinstance(x, Node) and x.scope is not None and x.scope is not self.scope:
                if len(SCOPES) > 1:
                    raise Outside
                x.kept = True
        if self.scope is not None:
            self.scope.append(self)


class Number(float):
    """A hyperparameter, or a number of the problem's: what is computed of it knows how."""

    node: Node


class Count(int):
    """The number of a step or round, likewise."""

    node: Node


def number(value: Any, text: str, *operands: Any) -> Any:
    """Return a number with its text."""
    made = (Count if isinstance(value, int) else Number)(value)
    made.node = Node(text, *map(operand, operands))
    return made


def _arithmetic(word: str, sign: str, *, flip: bool) -> Any:
    function = getattr(operator, word)

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return function(_as_tensor(self), other)
        if not isinstance(other, int | float):
            return NotImplemented
        a, b = (other, self) if flip else (self, other)
        return number(function(plain(a), plain(b)), f"({{}} {sign} {{}})", a, b)

    return method


for _kind in (Number, Count):
    for _word, _sign in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**"}.items():
        setattr(_kind, f"__{_word}__", _arithmetic(_word, _sign, flip=False))
        setattr(_kind, f"__r{_word}__", _arithmetic(_word, _sign, flip=True))
    _kind.__neg__ = lambda self: number(-plain(self), "(-{})", self)  # type: ignore[method-assign]


def plain(x: Any) -> Any:
    """Return an argument without its text."""
    if isinstance(x, Traced):
        return x.value
    return float(x) if isinstance(x, Number) else int(x) if isinstance(x, Count) else x


def operand(x: Any) -> Any:
    """Return what stands for an argument in a text."""
    return x.node if isinstance(x, Traced | Number | Count) else x


class Traced(Tensor):
    """A tensor with its value and its node.

    Attributes:
        base: of a part, the whole, and how it is taken (None: it is no part).
    """

    value: Tensor
    node: Node
    base: tuple[Any, ...] | None = None

    @staticmethod
    def __new__(cls, value: Tensor, node: Node) -> Traced:
        """Return a tensor of which torch sees the shape alone."""
        made = Tensor._make_wrapper_subclass(cls, value.shape, dtype=value.dtype)
        made.value, made.node = value, node
        return made

    def __init__(self, value: Tensor, node: Node) -> None:
        super().__init__()

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"Traced({self.value}, {self.node.text})"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Hand on what torch would take for plain numbers as tensors, with their texts."""
        named = dict(kwargs or {})
        if isinstance(named.get("alpha"), Number):
            args = (args[0], named.pop("alpha") * args[1], *args[2:])
        args, named = tree_map(_as_tensor, (args, named))
        with torch._C.DisableTorchFunctionSubclass():
            made = func(*args, **named)
        if type(made) is Tensor and not torch._C._functorch.is_functorch_wrapped_tensor(made):
            return Traced(made, Node(FIXED, made))  # of its shape alone; it may be written to
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Compute one of torch's operations, and note its text."""
        return _noted(func, args, kwargs or {})


def _as_tensor(x: Any) -> Any:
    named = isinstance(x, Number | Count)
    return Traced(torch.tensor(plain(x), dtype=torch.float64), x.node) if named else x


TEXTS = Table()
"""torch's operation → the node of it, made of the result and the arguments."""
FILLED = frozenset(
    {
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_empty",
        "new_empty_strided",
        "_new_zeros_with_same_feature_meta",
    }
)
"""What asks for a shape alone."""
ALIKE = dict.fromkeys(
    ("_has_compatible_shallow_copy_type", "_has_same_storage_numel", "is_same_size"), True
) | {"_linalg_check_errors": None}
"""What torch asks of tensors beneath its functions, and the answer."""


def _noted(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    name = func._schema.name.partition("::")[2]
    values, named = tree_map(plain, (tuple(args), kwargs))
    if name == "_local_scalar_dense":
        return _chosen(args[0])
    if name in ALIKE:
        return ALIKE[name]
    given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Traced)]
    fixed = name in FILLED or all(x.node.text == FIXED for x in given)
    into = args[0] if name not in TEXTS and name.endswith("_") else None
    text = name if into is None else out_of_place(name)
    if text not in TEXTS and not fixed:
        if func in decomposition_table:
            return decomposition_table[func](*args, **kwargs)
        raise NoScriptError(f"torch's {name} has no text in numpy")
    if into is not None:
        if not isinstance(into, Traced):
            raise NoScriptError(f"torch's {name} writes into a constant")
        values = (into.value.clone(), *values[1:])
    of_shape = name in ("view", "_unsafe_view")  # a view of memory is no concern of a script
    value = values[0].reshape(values[1]) if of_shape else func(*values, **named)
    if isinstance(value, Tensor) and value.is_meta:  # torch asks for its shape alone
        return value
    made = TEXTS[text](value, *args, **kwargs) if not fixed else None
    node = made if made is not None else tree_map(lambda x: Node(FIXED, x), value)
    if into is not None:
        if into.shape != value.shape:  # squeeze_, of a product that torch has just made
            with torch._C.DisableTorchFunctionSubclass():
                into.data = Traced(value, node)
        into.value, into.node = value, node
        _write_back(into)
        return into
    if isinstance(value, tuple | list):
        return type(value)(map(Traced, value, node))
    traced = Traced(value, node)
    traced.base = (args[0], func, values[1:]) if name in ("slice", "select") else None
    return traced


def _write_back(part: Traced) -> None:
    """Put a part that was written to into the whole."""
    if part.base is None:
        return
    whole, taken, how = part.base
    value = whole.value.clone()
    taken(value, *how).copy_(part.value)
    if {part.node.text, whole.node.text} == {FIXED}:
        node = Node(FIXED, value)
    elif part.shape == whole.shape:
        node = part.node
    else:
        name = taken._schema.name.partition("::")[2]
        at = TEXTS[name](part.value, whole, *how).text.removeprefix(FIXED)
        node = Node(f"put({{}}, np.s_{at}, {{}})", whole.node, part.node)
    whole.value, whole.node = value, node
    _write_back(whole)


def _chosen(x: Traced) -> Any:
    """Return a value that the run's text looked at, and note that the script is to check it."""
    value = x.value.item()
    if x.node.scope is not None:
        same = (
            "{}" if value is True else "not {}" if value is False else f"np.isclose({{}}, {value})"
        )
        Node(f"assert {same}", x.node, line=True)
    return value


def shape_text(sizes: Any) -> str:
    """Return a shape as text; the outcomes of the draws are the last axis of most."""
    *first, last = map(str, sizes or (1,))
    last = "OUTCOMES" if first and last == str(OUTCOMES[0]) != "1" else last
    return f"({', '.join([*first, last])}{',' * (not first)})"


# What works entry by entry: constants and broadcasts are as narrow as the others allow


def _entrywise(text: str, made: Tensor, *xs: Any) -> Node:
    shapes = [x.shape if isinstance(x, Tensor) else torch.Size() for x in xs]
    operands = []
    for k, x in enumerate(xs):

        def suffices(shape: Any, k: int = k) -> bool:
            """Say whether a shape of this operand still makes the result's, and keep it if so."""
            others = (*shapes[:k], *shapes[k + 1 :])
            if torch.broadcast_shapes(shape, *others) != made.shape:  # type: ignore[no-untyped-call]
                return False
            shapes[k] = torch.Size(shape)
            return True

        value = x.value if isinstance(x, Traced) and x.node.text == FIXED else x
        if isinstance(value, Traced):
            wide = value.node.wide
            operands.append(wide[0] if wide and suffices(wide[1]) else value.node)
        elif isinstance(value, Tensor) and value.numel():
            same = value == value[..., :1] if value.ndim else torch.tensor(True)
            if bool((value == value.flatten()[0]).all()) and suffices(()):
                value = value.flatten()[0].item()
            elif bool(same.all()) and suffices((*value.shape[:-1], 1)):
                value = value[..., :1]
            operands.append(value)
        else:
            operands.append(operand(value))
    return Node(text, *operands)


_TABLE = """\
div true_divide: ({} / {})
neg: (-{})
abs: abs({})
reciprocal: (1 / {})
lt: ({} < {})
le: ({} <= {})
gt: ({} > {})
ge: ({} >= {})
eq: ({} == {})
ne: ({} != {})
bitwise_and logical_and: ({} & {})
bitwise_or logical_or: ({} | {})
bitwise_not logical_not: (~{})
maximum clamp_min: np.maximum({}, {})
minimum clamp_max: np.minimum({}, {})
relu: np.maximum({}, 0)
where: np.where({}, {}, {})
hypot: np.hypot({}, {})
sigmoid: (1 / (1 + np.exp(-{})))
rsqrt: (1 / np.sqrt({}))
sgn: np.sign({})
addcmul: ({} + {} * {})"""
_SAME = "sqrt exp expm1 log log1p sin cos tan tanh sinh cosh sign floor ceil"
for _line in [*_TABLE.splitlines(), *(f"{_name}: np.{_name}({{}})" for _name in _SAME.split())]:
    _names, _, _text = _line.partition(": ")
    TEXTS.handles(*_names.split())(
        lambda made, *xs, text=_text, **_: _entrywise(text, made, *xs[: text.count("{}")])
    )


def _is(x: Any, value: float) -> bool:
    return isinstance(x, int | float) and not isinstance(x, Number | Count) and x == value


def _without(value: float, node: Node) -> Node:
    """Return a sum without a 0, or a product without a 1."""
    rest = [x for x in node.operands if not _is(x, value)]
    return rest[0] if len(rest) == 1 and isinstance(rest[0], Node) else node


TEXTS.handles("mul")(lambda made, a, b: _without(1, _entrywise("({} * {})", made, a, b)))


@TEXTS.handles("pow")
def _power(made: Tensor, a: Any, b: Any) -> Any:
    return operand(a) if _is(b, 1) else _entrywise("({} ** {})", made, a, b)


@TEXTS.handles("add")
def _add(made: Tensor, a: Any, b: Any, *, alpha: Any = 1) -> Any:
    if not _is(alpha, 1):
        return _entrywise("({} + {} * {})", made, a, alpha, b)
    return _without(0, _entrywise("({} + {})", made, a, b))


@TEXTS.handles("sub")
def _sub(made: Tensor, a: Any, b: Any, *, alpha: Any = 1) -> Any:
    if not _is(alpha, 1):
        return _entrywise("({} - {} * {})", made, a, alpha, b)
    node = _entrywise("({} - {})", made, a, b)
    return _without(0, node) if _is(node.operands[1], 0) else node


TEXTS.handles("rsub")(lambda made, a, b, alpha=1: _sub(made, b, a, alpha=alpha))


@TEXTS.handles("clamp")
def _clamp(made: Tensor, a: Any, low: Any = None, high: Any = None, **named: Any) -> Any:
    low, high = named.get("min", low), named.get("max", high)
    if low is not None and high is not None:
        return _entrywise("np.clip({}, {}, {})", made, a, low, high)
    return TEXTS["minimum" if low is None else "maximum"](made, a, high if low is None else low)


# Sums and products


def _reduced(numpy: str, a: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Node:
    dims = tuple(dim) if isinstance(dim, list | tuple) else () if dim is None else (dim,)
    axis = "" if not dims else str(dims[0] if len(dims) == 1 else dims)
    of = operand(a)
    squared = of.text == "({} * {})" and of.operands[0] is of.operands[1]
    if (numpy, axis, keepdim) == ("sum", "-2", False) and squared:
        return Node("sq({})", of.operands[0])
    return Node(f"{{}}.{numpy}({axis}{', keepdims=True' * bool(keepdim and axis)})", of)


for _name in ("sum", "mean", "prod", "max", "min", "any", "all"):
    TEXTS.handles(_name, f"a{_name}")(
        lambda made, *xs, numpy=_name, **named: _reduced(numpy, *xs, **named)
    )
TEXTS.handles("mm", "bmm", "mv", "dot")(
    lambda made, a, b: Node("({} @ {})", operand(a), operand(b))
)
TEXTS.handles("_linalg_solve_ex")(
    lambda made, a, b, **_: [_called("linalg.solve", a, b), *(Node(FIXED, x) for x in made[1:])]
)


def _called(numpy: str, *args: Any) -> Node:
    """Return a call of numpy with the same arguments as torch's."""
    texts = [
        f"[{', '.join([FIXED] * len(x))}]"
        if isinstance(x, list) and isinstance(x[0], Tensor)
        else FIXED
        if isinstance(x, Tensor)
        else repr(tuple(x) if isinstance(x, list) else x)
        for x in args
    ]
    given = [operand(x) for x in tree_leaves(args) if isinstance(x, Tensor)]
    return Node(f"np.{numpy}({', '.join(texts)})", *given)


for _name, _numpy in {
    "cat": "concatenate",
    "stack": "stack",
    "repeat": "tile",
    "flip": "flip",
    "cumsum": "cumsum",
    "permute": "transpose",
    "transpose": "swapaxes",
    "t": "transpose",
    "linalg_vector_norm": "linalg.norm",
}.items():
    TEXTS.handles(_name)(lambda made, *xs, numpy=_numpy, **_: _called(numpy, *xs))


# Shapes


@TEXTS.handles("clone", "detach", "alias", "to", "_to_copy", "lift_fresh", "contiguous")
def _copied(made: Tensor, a: Any, *_: Any, **__: Any) -> Any:
    as_number = a.dtype == torch.bool != made.dtype
    return Node("({} * 1.0)", operand(a)) if as_number else operand(a)


@TEXTS.handles("view", "_unsafe_view", "squeeze")
def _reshaped(made: Tensor, a: Any, *_: Any) -> Any:
    text = f"{{}}.reshape({shape_text(made.shape)})"
    return operand(a) if made.shape == a.shape else Node(text, operand(a))


@TEXTS.handles("expand", "copy")
def _expanded(made: Tensor, a: Any, *more: Any, **_: Any) -> Any:
    a = more[0] if more and isinstance(more[0], Tensor) else a  # copied into another
    if prod(made.shape) == prod(a.shape):
        return _reshaped(made, a)
    node = Node(f"np.broadcast_to({{}}, {shape_text(made.shape)})", operand(a))
    node.wide = (isinstance(a, Traced) and a.node.wide) or (operand(a), a.shape)
    return node


def _indexed(a: Any, dim: int, at: str) -> Node:
    return Node(f"{{}}[{':, ' * dim}{at}]", operand(a))


@TEXTS.handles("select")
def _selected(made: Tensor, a: Any, dim: int, at: int) -> Node:
    of = operand(a)
    if dim % a.ndim == 0 == at and of.text == "{}.mean(0, keepdims=True)":
        return Node("{}.mean(0)", *of.operands)
    return _indexed(a, dim % a.ndim, str(int(at)))


@TEXTS.handles("slice")
def _sliced(
    made: Tensor, a: Any, dim: int = 0, start: Any = None, end: Any = None, by: int = 1
) -> Any:
    ends = ["" if not start else str(start), "" if end is None or end >= a.shape[dim] else str(end)]
    at = ":".join(ends) + (f":{by}" if by != 1 else "")
    return operand(a) if made.shape == a.shape else _indexed(a, dim % a.ndim, at)


TEXTS.handles("unsqueeze")(lambda made, a, dim: _indexed(a, dim % made.ndim, "None"))


@TEXTS.handles("split", "split_with_sizes", "tensor_split")
def _split(made: Any, a: Any, sizes: Any, dim: int = 0) -> list[Node]:
    ends = [0, *accumulate(part.shape[dim] for part in made)]
    return [_indexed(a, dim % a.ndim, f"{i}:{j}") for i, j in pairwise(ends)]


@TEXTS.handles("index")
def _index(made: Tensor, a: Any, at: Any) -> Node:
    places = ", ".join(":" if x is None else "{}" for x in at)
    return Node(f"{{}}[{places}]", operand(a), *(operand(x) for x in at if x is not None))


@TEXTS.handles("constant_pad_nd")
def _padded(made: Tensor, a: Any, by: Any, value: Any = 0) -> Node:
    pairs = [*zip(by[::2], by[1::2], strict=True)][::-1]  # torch's are of the last axis first
    return Node(f"np.pad({{}}, {[(0, 0)] * (a.ndim - len(pairs)) + pairs})", operand(a))


# Names


MACHINERY = ("/torch/", "/lib/python", "/standalone/", "toolkit/measure", "toolkit/engines")
"""Files whose own variables are no concern of a script."""


def naming(on: bool) -> None:
    """Begin or end to note how the run's text calls what it computes."""
    sys.setprofile(_known_as if on else None)


def _known_as(frame: Any, event: str, _: Any) -> None:
    """Give what is traced the names of a function's variables, as it returns."""
    code = frame.f_code
    machinery = any(map(code.co_filename.__contains__, MACHINERY))
    if event != "return" or code.co_name[0] == "<" or not SCOPES or machinery:
        return
    given = code.co_varnames[: code.co_argcount]
    for name, value in frame.f_locals.items():
        node = value.node if isinstance(value, Traced) and name not in given else None
        if node and node.text and node.scope is SCOPES[-1] and not node.marked:
            node.name = name.strip("_")  # whoever returns last is nearest to the reader
