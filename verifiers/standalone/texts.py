"""Texts of scripts: templates that are filled, definitions that are used, numbers written out."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

WIDEST = 99
"""Characters of a line."""
FOLDER = Path(__file__).parent


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def rendered(name: str, facts: Mapping[str, Any]) -> str:
    """Return the text of a template, with the lines whose conditions hold."""
    return _environment().get_template(name).render(facts, any=any)


def names_in(text: str) -> set[str]:
    """Return the names that a text reads.

    >>> sorted(names_in("a = b + f(c)"))
    ['b', 'c', 'f']
    """
    nodes = ast.walk(ast.parse(text))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def used(text: str) -> str:
    r"""Return a text without the top-level definitions and imports that nothing in it reads.

    >>> print(used("def f():\n    return 1\ndef g():\n    return 2\nx = g()\nprint(x)"))
    def g():
        return 2
    x = g()
    print(x)
    """
    while True:
        body = ast.parse(text).body
        lines = text.splitlines()
        for node in body:
            first, last = node.lineno - 1, node.end_lineno or node.lineno
            rest = "\n".join(lines[:first] + lines[last:])
            if _defined(node) and not _defined(node) & names_in(rest):
                while last < len(lines) and not lines[last].strip():
                    last += 1
                text = "\n".join(lines[:first] + lines[last:])
                break
        else:
            return text


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a top-level statement defines and does nothing else."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.ImportFrom | ast.Import):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.Assign):
        names = [n for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        return {name.id for name in names}
    return set()


def assigned(values: Mapping[str, Any]) -> list[str]:
    """Return lines that give names their values: numbers beside each other, tuples one a line.

    >>> assigned({"a": 1, "b": 0.5, "c": ((1.0, 2.0),)})
    ['a, b = 1, 0.5', 'c = [[1.0, 2.0]]']
    """
    numbers = {name: value for name, value in values.items() if not isinstance(value, tuple)}
    lines: list[str] = []
    beside: list[str] = []
    for name in numbers:
        if beside and len(_beside([*beside, name], numbers)) > WIDEST:
            lines.append(_beside(beside, numbers))
            beside = []
        beside.append(name)
    lines += [_beside(beside, numbers)] if beside else []
    for name, value in values.items():
        if isinstance(value, tuple):
            lines += continued(f"{name} = {_listed(value)}")
    return lines


def _beside(names: list[str], values: Mapping[str, Any]) -> str:
    return f"{', '.join(names)} = {', '.join(repr(values[name]) for name in names)}"


def _listed(value: Any, depth: int = 0) -> str:
    """Return tuples as lists, but for points (x, value)."""
    if not isinstance(value, tuple):
        return repr(value)
    is_point = depth == 3
    inside = ", ".join(_listed(x, depth + 1) for x in value)
    return f"({inside})" if is_point else f"[{inside}]"


def continued(line: str) -> list[str]:
    """Return a line as several, if it is long, broken where it has brackets open."""
    if len(line) <= WIDEST:
        return [line]
    start = len(line) - len(line.lstrip())
    lines = textwrap.wrap(
        line.strip(), WIDEST - start, subsequent_indent="    ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return [" " * start + part for part in lines]
