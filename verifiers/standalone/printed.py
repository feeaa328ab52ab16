"""The lines of what was noted: names, functions, constants, and loops where steps repeat."""

import ast
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import is_dataclass
from keyword import kwlist
from typing import Any

import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.piecewise_linear import PiecewiseLinear
from driftproof.verifiers.standalone.traced import Node, Number, Scope, shape_text

TAKEN = frozenset({
    "taken", "chance", "index", "left", "right", "start", "clients", "means", "np", "math",
    "random", "s", "t", "j", "draw", "some_of", "one_of", "everywhere", "average", "weighted",
    "put", "sq", "curve", "area", "inf", "nan", *kwlist,
})  # fmt: skip
"""Names of the script's own, and words of Python."""


def free(name: str, taken: Container[str] = TAKEN) -> str:
    """Return a name that is none of the script's own."""
    return name + "_" * (name in taken)


def simplest(expression: str) -> str:
    """Return an expression without brackets that it does not need.

    >>> simplest("((a * (b)) + (-c))")
    'a * b + -c'
    """
    return ast.unparse(ast.parse(expression, mode="eval"))


class Writer:
    """Prints scopes; functions and constants are gathered on the way.

    Attributes:
        functions: a function's text → its name.
        constants: name → value.
        of_round: names of what later steps of a round use; another round has them again.

    Args:
        of: what holds the constants.
        reserved: names that nothing else may have; ``fields``: that no constant may have.
    """

    def __init__(self, of: Any, reserved: Iterable[str], fields: Iterable[str]) -> None:
        self.functions: dict[tuple[str, ...], str] = {}
        self.constants: dict[str, Tensor] = {}
        self._reserved = frozenset(reserved)
        self._names: dict[Any, str] = {}
        self._called: dict[int, str] = {}
        self._assigned: set[str] = set()
        self._kept: dict[Node, str] = {}
        self.of_round: set[str] = set()
        for name, x in _constants(of):
            if _content(x) not in self._names:
                self._names[_content(x)] = free(name, {*fields, *self._names.values()})

    def lines(self, scope: Scope, result: Node | None = None) -> list[str]:
        """Return the lines of a step, which leave its fields behind, or of a function."""
        ends = scope.ends if result is None else {"": result}
        roots = [*ends.values(), *(node for node in scope if node.line or node.kept)]
        needed = _reached(roots, lambda x: x.scope not in (scope, None))
        uses: dict[Node, int] = {}
        for node in needed:
            for x in node.operands:
                uses[x] = uses.get(x, 0) + 1
        made = [
            node
            for node in scope
            if node in needed
            and node.text
            and (node.line or node.kept or node.name or uses.get(node, 0) > 1)
        ]
        has_line = set(made)
        last: dict[Any, int] = {}
        for k, node in enumerate(made):
            last |= dict.fromkeys(_reached(node.operands, has_line.__contains__), k)
        last |= dict.fromkeys(_reached(ends.values(), has_line.__contains__), len(made))
        names = self._given(scope) if result else {x: x.name for x in scope if not x.text}
        holder = {name: node for node, name in names.items()}
        lines: list[str] = []
        for k, node in enumerate(made):
            text = self._text(node, names, whole=True)
            if node.line and not node.name:
                head = "assert " * text.startswith("assert ")
                called = head or text.startswith("taken.")
                lines.append(head + simplest(text.removeprefix(head)) if called else text)
                continue
            name = self._free(node, holder, last, k)
            lines.append(f"{name} = {simplest(text)}")
            holder[name], names[node] = node, name
        texts = {name: simplest(self._text(x, names)) for name, x in ends.items()}
        if result is not None:
            name, _, text = lines[-1].partition(" = ") if lines else ("", "", "")
            return (
                [*lines[:-1], f"return {text}"]
                if name == texts[""]
                else [*lines, f"return {texts['']}"]
            )
        moved = {name: text for name, text in texts.items() if text != name}
        return [*lines, f"{', '.join(moved)} = {', '.join(moved.values())}"] if moved else lines

    def _given(self, scope: Scope) -> dict[Node, str]:
        """Return the arguments of a function, which hide nothing that it reads."""
        taken = {*TAKEN, *self._names.values(), *self._reserved}
        return {node: free(node.name, taken) for node in scope if not node.text}

    def _free(self, node: Node, holder: dict[str, Node], last: dict[Any, int], k: int) -> str:
        """Return a name for a node whose old value nobody asks for later."""
        name = (node.name or node.hint or "part") + "_kept" * node.kept
        while name in self.of_round:
            name += "_"
        taken = TAKEN | {*self.functions.values(), *self._names.values(), *self._reserved}
        while name in taken or (name in holder and last.get(holder[name], -1) > k):
            name += "_"
        self._assigned.add(name)
        if node.kept:
            self.of_round.add(name)
            self._kept[node] = name
        return name

    def _text(self, x: Any, names: dict[Node, str], *, whole: bool = False) -> str:
        """Return an operand, or with ``whole`` what a node's line says."""
        if not isinstance(x, Node):
            return self._constant(x)
        if x in names and not whole:
            return names[x]
        if x.kept and not whole:
            return self._kept[x]
        parts = [self._text(y, names) for y in x.operands if y is not None]
        if x.body is not None:
            return x.text.format(self._function(x), *parts)
        return x.text.format(*parts) if parts else x.text

    def _function(self, call: Node) -> str:
        """Return the name of the function that a call calls."""
        assert call.body is not None
        name, says, scope, result = call.body
        if id(result) not in self._called:
            given = ", ".join(self._given(scope).values())
            says = says.removeprefix("Return ").removesuffix(".")
            head = f"({given}):  # {says}" if says else f"({given}):"
            body = (head, *(f"    {x}" for x in self.lines(scope, result)))
            if body not in self.functions:
                while name in TAKEN | {*self.functions.values(), *self._assigned}:
                    name += "_"
                self.functions[body] = name
            self._called[id(result)] = self.functions[body]
        return self._called[id(result)]

    def _constant(self, x: Any) -> str:
        if not isinstance(x, Tensor):
            return repr(float(x)) if isinstance(x, Number) else repr(x)
        if x.numel() and bool((x == x.flatten()[0]).all()):
            value = repr(x.flatten()[0].item())
            return value if x.ndim == 0 else f"np.full({shape_text(x.shape)}, {value})"
        if x.ndim and x.shape[-1] > 1 and bool((x == x[..., :1]).all()):
            return f"np.broadcast_to({self._constant(x[..., :1])}, {shape_text(x.shape)})"
        name = self._names.setdefault(_content(x), f"c{len(self.constants)}")
        while name in TAKEN or (name in self._reserved):
            name = self._names[_content(x)] = name + "_"
        self.constants[name] = x
        return name


def _reached(roots: Iterable[Any], stops: Callable[[Node], bool]) -> set[Node]:
    """Return the nodes that others are made of, and no further than where it stops."""
    seen: set[Node] = set()
    pending = [x for x in roots if isinstance(x, Node)]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += [x for x in node.operands if isinstance(x, Node)] * (not stops(node))
    return seen


def _content(x: Tensor) -> Any:
    """Return what makes constants the same, but for outcomes beside each other."""
    narrow = x[..., :1] if x.ndim > 1 and bool((x == x[..., :1]).all()) else x
    return tuple(narrow.shape), narrow.contiguous().numpy().tobytes()


def points_of(curve: PiecewiseLinear) -> Tensor | None:
    """Return the points of a curve of each client and coordinate, [clients, dim, points, 2].

    None if it rises beyond them, or is another one for each outcome.
    """
    both = torch.stack([curve.knots, curve.values], -2)  # […, points, 2, replicates]
    if (
        not curve.flat
        or both.ndim != 5
        or not bool((curve.widths > 0).all())
        or not bool((both == both[..., :1]).all())
    ):
        return None
    return both[..., 0]


def _constants(
    x: Any, name: str = "", parent: str = "", depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """Yield the tensors that an object holds, by their attributes."""
    if isinstance(x, Tensor):
        yield f"{parent}_{name}" if parent else name, x
    elif isinstance(x, PiecewiseLinear) and (points := points_of(x)) is not None:
        yield f"{name}_points", points
    elif isinstance(x, dict | tuple | list) and depth < 6:
        for value in x.values() if isinstance(x, dict) else x:
            yield from _constants(value, name, parent, depth + 1)
    elif depth < 6 and (is_dataclass(x) or type(x).__module__.startswith("driftproof")):
        within = name if isinstance(x, PiecewiseLinear) else ""
        for attribute, value in getattr(x, "__dict__", {}).items():
            yield from _constants(value, attribute.strip("_"), within, depth + 1)


def array_text(x: Tensor) -> str:
    """Return an array; axes of one entry are put back by an index."""
    axes = ", ".join("None" if n == 1 else ":" for n in x.shape)
    text = f"np.array({x.squeeze().tolist()})"
    return f"{text}[{axes}]" if 1 in x.shape and x.ndim > 1 else text


def repeated(blocks: list[list[str]], what: str, times: list[int] | None = None) -> list[str]:
    """Return blocks one after another: some that repeat themselves are a loop.

    So are those of which the last only goes on; each block stands for some ``times``.

    >>> repeated([["x += 1"], ["x += 1", "x /= 2"]], "step")
    ['for _ in range(2):  # step', '    x += 1', 'x /= 2']
    """
    blocks = [x for x, n in zip(blocks, times or [1] * len(blocks), strict=True) for _ in range(n)]
    lines: list[str] = []
    k = 0
    while k < len(blocks):
        period = max(
            range(1, LONGEST_PERIOD + 1),
            key=lambda p: (_times(blocks, k, p) > 1) * p * _times(blocks, k, p),
        )
        count, body, rest = _times(blocks, k, period), blocks[k], []
        if period > 1:
            body = [line for of in blocks[k : k + period] for line in (f"# {what}", *of)]
        k += period * count
        if period == 1 and body and k < len(blocks) and blocks[k][: len(body)] == body:
            rest, count, k = blocks[k][len(body) :], count + 1, k + 1
        if count > 1:
            lines += [
                f"for _ in range({count}):  # {what}",
                *(f"    {line}" for line in body),
                *rest,
            ]
        else:
            lines += [f"# {what}", *body]
    return lines


LONGEST_PERIOD = 4
"""Steps that are looked at together, at most, whether they repeat themselves."""


def _times(blocks: list[list[str]], k: int, period: int) -> int:
    """Return how often blocks repeat themselves from the k-th on."""
    count, first = 1, blocks[k : k + period]
    while blocks[k + count * period : k + (count + 1) * period] == first:
        count += 1
    return count
