"""The left side of a script: a claim's own function of a view, and what it asks of the view."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from driftproof.toolkit import measure
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.texts import continued

SHIMS = {
    "sq": "def sq(x):  # ‖x‖²\n    return (x * x).sum(-2)\n",
}
REDUCTIONS = (measure.each, measure.average, measure.given_past)
NUMPY = {
    "sqrt", "exp", "log", "sin", "cos", "sign", "square", "maximum", "minimum", "where", "abs",
    "zeros_like", "ones_like",
}  # fmt: skip
"""Functions of torch that numpy has with the same name and meaning."""
ARRAY = {"mean", "sum"}
"""Methods of a tensor that an array has too."""
KEYWORDS = {"dim": "axis", "keepdim": "keepdims"}


@dataclass(frozen=True)
class Shown:
    """What a script shows of a run at the moments of a claim's function.

    Attributes:
        fields, marks: the names of the algorithm's state, and of what it marks.
        when: "start" of a round, "step" (before one) or "after" one.
        of_states: whether the function sees states alone.
        partial: whether some clients only take part.
        defined: the functions of the texts.
        round_steps, rounds: how many local steps a round has, and how many rounds there are.
    """

    fields: frozenset[str]
    marks: frozenset[str]
    when: str
    of_states: bool
    partial: bool
    defined: frozenset[str]
    round_steps: int
    rounds: int

    def mean(self, name: str) -> str:
        """Return view.mean(name) as text."""
        of_state = self.of_states or name in self.fields
        value = f"state.{name}" if of_state else self.client(name)
        return f"{value}.mean(0)" if self.of_states else self.cohort_mean(value)

    def cohort_mean(self, value: str) -> str:
        """Return view.cohort_mean(value) as text."""
        if self.partial and self.when == "step":
            raise NoScriptError("its function takes means over a cohort before a step")
        if self.partial and self.when == "after":
            return f"of_cohort({value})"
        return f"({value}).mean(0)" if " " in value else f"{value}.mean(0)"

    def client(self, name: str) -> str:
        """Return view.client(name) as text."""
        if name in self.marks and not self.of_states and self.when != "start":
            seen = f"marks['{name}']"
            if self.when == "after":
                return seen
            return f"({seen} if t % {self.round_steps} else state.{name})"
        if name not in self.fields:
            raise NoScriptError(f"the algorithm's text has no {name}")
        return f"state.{name}"

    def round_start(self, name: str) -> str:
        """Return view.round_start(name) as text."""
        return f"{'state' if self.when == 'start' else 'begun'}.{name}.mean(0)"

    def function(self, name: str) -> str:
        """Return the function of the problem's text that is view.<name>."""
        if FUNCTIONS[name] not in self.defined:
            raise NoScriptError(f"its function uses view.{name}, which the problem's text has not")
        return FUNCTIONS[name]

    def value(self, name: str) -> str:
        """Return view.t, view.round, … as text."""
        tau = self.round_steps
        at = {"start": (f"s * {tau}", "s", "0"), "step": ("t", f"t // {tau}", f"t % {tau}"),
              "after": ("t - 1", f"(t - 1) // {tau}", f"(t - 1) % {tau} + 1")}  # fmt: skip
        t, s, j = at[self.when]
        texts = {"t": t, "round": s, "local_step": j, "local_steps": str(tau),
                 "horizon": str(self.rounds)}  # fmt: skip
        if name not in texts:
            raise NoScriptError(f"its function uses view.{name}")
        return texts[name]


@dataclass
class Given:
    """What a function asks of its view, where the script has the answers and not the run.

    Attributes:
        texts: the expressions, each of which asks the view for something.
    """

    texts: list[str] = field(default_factory=list)

    def find(self, node: ast.AST) -> None:
        """Note the largest expressions that ask the view."""
        if _asks_view(node):
            self.texts += [text for text in [ast.unparse(node)] if text not in self.texts]
            return
        for child in ast.iter_child_nodes(node):
            self.find(child)

    def number(self, node: ast.AST) -> int | None:
        """Return which of the expressions this is (None: none)."""
        return self.texts.index(ast.unparse(node)) if _asks_view(node) else None


def _asks_view(node: ast.AST) -> bool:
    """Say whether an expression is a part of the view, or a call with it."""
    if isinstance(node, ast.Call):
        return any(_is(x, "view") for x in node.args) or _asks_view(node.func)
    return isinstance(node, ast.Attribute) and (_is(node.value, "view") or _asks_view(node.value))


FUNCTIONS = {
    "gradient": "gradient", "client_gradients": "gradients", "own_gradients": "own_gradients",
    "inner_values": "inner", "objective": "objective", "lower_solution": "lower_solution",
}  # fmt: skip
"""What a view asks the problem for, and the function of the problem's text."""
ASKED = {*FUNCTIONS, "last", "minimiser", "gap", "round_start", "client", "cohort_mean"}
RESERVED = {"gradient", "state", "marks", "cohort", "before", "previous", "begun", "gradients", "inner",
            "objective", "own_gradients", "s", "t", "np", "of_cohort", "start"}  # fmt: skip
"""Names of a script that a function's own variables must not hide."""


def measured_text(
    left: Callable[..., Any], means: Sequence[str], shown: Shown | Given
) -> tuple[str, str]:
    """Return the claim's function as text, and the expression of what it measures.

    Args:
        means: the measured means that the right side names. If there are any, the function gives a
            list of its value and of these; else its value alone.

    Raises:
        NoScriptError: it uses something that numpy has not.
    """
    copied = _Copied(means, shown)
    copied.add(left, "measured")
    one = ast.parse(copied.functions["measured"]).body[0]
    assert isinstance(one, ast.FunctionDef)
    expression = "measured()"
    if isinstance(one.body[0], ast.Return) and one.body[0].value is not None:
        expression = ast.unparse(one.body[0].value)
        del copied.functions["measured"]
    texts = [*(SHIMS[name] for name in sorted(copied.shims)), *copied.functions.values()]
    return "".join(texts), expression


def moments(left: Callable[..., Any]) -> tuple[str, tuple[str, ...]]:
    """Return how a claim's function reduces what it measures, and at which moments.

    Raises:
        NoScriptError: that cannot be read off its text, or those of the functions that it calls.
    """
    pending, looked = [left], set()
    while pending:
        function = pending.pop()
        looked.add(function)
        calls = [n for n in ast.walk(source_of(function)) if isinstance(n, ast.Call)]
        for call in calls:
            called = _resolved(function, ast.unparse(call.func))
            if called is measure.given_past:
                return "given past", ("transition",)
            if called in (measure.each, measure.average):
                words = [a.value for a in call.args if isinstance(a, ast.Constant)]
                axes = tuple(word for word in words if isinstance(word, str) and word != "client")
                return str(getattr(called, "__name__", "")), axes
            if inspect.isfunction(called) and called not in looked:
                pending.append(called)
    raise NoScriptError("where it calls each(…) or average(…) cannot be read off its text")


def followed(left: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a claim's function hands its view to, if it does nothing else."""
    body = [x for x in source_of(left).body if not isinstance(x, ast.Expr)]
    match body:
        case [ast.Return(ast.Call(name, [ast.Name("view")], []))]:
            called = _resolved(left, ast.unparse(name))
            return followed(called) if inspect.isfunction(called) else left
    return left


class _Copied:
    """Functions as texts, in terms of numpy.

    Attributes:
        functions: by name, those that others call first.
        shims: which of ``SHIMS`` they use.
    """

    def __init__(self, means: Sequence[str], shown: Shown | Given) -> None:
        self.means, self.shown = means, shown
        self.functions: dict[str, str] = {}
        self.shims: set[str] = set()

    def add(self, function: Callable[..., Any], name: str) -> None:
        """Add a function, and those that it calls."""
        node = source_of(function)
        of = node.args
        if of.kwonlyargs or of.vararg or of.kwarg or of.defaults:
            raise NoScriptError(f"{node.name}() has arguments by name, or with defaults")
        arguments = [a.arg + "_" * (a.arg in RESERVED) for a in of.args if a.arg != "view"]
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)
                  and isinstance(n.ctx, ast.Store)}  # fmt: skip
        translated = _Translated(self, function, stored | {a.arg for a in of.args})
        lines = [f"def {name}({', '.join(arguments)}):"]
        for statement in body:
            text = ast.unparse(ast.fix_missing_locations(translated.visit(statement)))
            lines += [x for line in text.splitlines() for x in continued(f"    {line}")]
        self.functions[name] = "\n".join(lines) + "\n"


class _Translated(ast.NodeTransformer):
    """Names and methods of ours and of torch as numpy's."""

    def __init__(self, to: _Copied, function: Callable[..., Any], local: set[str]) -> None:
        self._to, self._function, self._local = to, function, local

    def visit(self, node: ast.AST) -> Any:
        """Change an expression whose answers are given, or look into it."""
        shown = self._to.shown
        number = shown.number(node) if isinstance(shown, Given) else None
        return super().visit(node) if number is None else _parsed(f"answer[{number}]")

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Change view.mean(…), each(…), x.abs(), and keywords that numpy calls otherwise."""
        of, shown = node.func, self._to.shown
        asks = isinstance(of, ast.Attribute) and (_is(of.value, "view") or _asks_problem(of.value))
        if isinstance(shown, Shown) and isinstance(of, ast.Attribute) and asks:
            name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            if of.attr in ("mean", "client", "round_start") and isinstance(name, str):
                return _parsed(getattr(shown, of.attr)(name))
            if len(node.args) == 1 and of.attr in (*FUNCTIONS, "cohort_mean"):
                value = ast.unparse(self.visit(node.args[0]))
                if of.attr == "cohort_mean":
                    return _parsed(shown.cohort_mean(f"({value})"))
                return _parsed(f"{shown.function(of.attr)}({value})")
            raise NoScriptError(f"its function uses view.{of.attr}")
        node.args = [argument for argument in node.args if not _is(argument, "view")]
        outside = ast.unparse(of).split(".")[0] not in self._local
        if outside and _resolved(self._function, ast.unparse(of)) in REDUCTIONS:
            return self._reduced(node)
        for keyword in node.keywords:
            keyword.arg = KEYWORDS.get(keyword.arg or "", keyword.arg)
        if (
            isinstance(of, ast.Attribute)
            and not _is(of.value, "torch", "view")
            and of.attr in NUMPY - {"where"}
        ):
            function = ast.Attribute(ast.Name("np", ast.Load()), of.attr, ast.Load())
            return ast.Call(function, [self.visit(of.value), *map(self.visit, node.args)], [])
        return self.generic_visit(node)

    def _reduced(self, node: ast.Call) -> ast.AST:
        value: ast.expr = self.visit(node.args[-1])
        if not self._to.means:
            return value
        parts = {keyword.arg: self.visit(keyword.value) for keyword in node.keywords}
        if not set(self._to.means) <= set(parts):
            raise NoScriptError("its function hands over measured means without their names")
        return ast.List([value, *(parts[name] for name in self._to.means)], ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Refuse what numpy or the script's view has not."""
        of = node.value
        if _is(of, "torch"):
            if node.attr not in NUMPY:
                raise NoScriptError(f"its function uses torch.{node.attr}")
            return ast.Attribute(ast.Name("np", ast.Load()), node.attr, node.ctx)
        if _is(of, "view"):
            if node.attr in ("state", "before", "previous"):
                return ast.Name(node.attr, node.ctx)
            assert isinstance(self._to.shown, Shown)
            return _parsed(self._to.shown.value(node.attr))
        outside = isinstance(of, ast.Name) and of.id not in self._local
        if outside and _resolved(self._function, ast.unparse(node)) is measure.sq:  # dp.sq
            self._to.shims.add("sq")
            return ast.Name("sq", node.ctx)
        a_state = isinstance(of, ast.Attribute) and of.attr in ("state", "before", "previous")
        if isinstance(of, ast.Name) and of.id in self._local and node.attr in ASKED:
            raise NoScriptError(f"its function calls the view {of.id}: name that argument view")
        if node.attr not in ARRAY and not a_state:
            raise NoScriptError(f"its function uses .{node.attr}")
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Bring along what a name from outside of the function stands for."""
        if node.id in self._local:
            hides = node.id in RESERVED
            return ast.Name(f"{node.id}_", node.ctx) if hides else node
        value = _resolved(self._function, node.id)
        if value is measure.sq:
            self._to.shims.add("sq")
            return ast.Name("sq", node.ctx)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return ast.Constant(value)
        if inspect.isfunction(value):
            if node.id not in self._to.functions:
                self._to.add(value, node.id)
            return node
        if getattr(value, "__module__", None) != "builtins":
            raise NoScriptError(f"its function uses {node.id}")
        return node


def _asks_problem(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "problem" and _is(node.value, "view")


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _is(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _resolved(function: Callable[..., Any], name: str) -> Any:
    """Return what a name, or a name of a package, stands for outside of a function (None: nothing)."""
    known = inspect.getclosurevars(function)
    name, _, part = name.partition(".")
    scopes = (known.nonlocals, known.globals, known.builtins, getattr(function, "__globals__", {}))
    found = next((scope[name] for scope in scopes if name in scope), None)
    return getattr(found, part, None) if part and inspect.ismodule(found) else found


def source_of(function: Callable[..., Any]) -> ast.FunctionDef:
    """Return a function's definition."""
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        raise NoScriptError("the text of its function cannot be read") from None
    if not isinstance(node, ast.FunctionDef):
        raise NoScriptError("its function has no name")
    return node
