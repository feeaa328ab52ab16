"""What a claim states and how it measures, as code, without importing it.

This is the decorated function, the fields of its decorator that say what is judged, and whatever
they name in the same file or in files beside it. Comments, layout and docstrings do not count, nor
does what says where it is judged, or why.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from driftproof.toolkit.discover import Leaf, parse

JUDGED = {
    "name",
    "statement",
    "kind",
    "assumes",
    "right",
    "readings",
    "range",
    "letters",
    "measured",
    "edition",
}
"""Fields of a claim's decorator that say what is judged; ``cases`` and the like say where."""


def stated(leaf: Leaf) -> str:
    """Return the code of what a claim states, as Python prints it."""
    tree = parse(leaf.path)
    found: dict[tuple[Path, str], str] = {}
    _gather(leaf.path, tree, leaf.symbol, found)
    return "\n".join(found.values())


def _gather(path: Path, tree: ast.Module, name: str, found: dict[tuple[Path, str], str]) -> None:
    """Add the code that gives a name its meaning in a file, and that of the names in it."""
    if (path, name) in found:
        return
    for node in tree.body:
        if name not in _names(node):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            beside = _beside(path, node) if isinstance(node, ast.ImportFrom) else None
            if beside is not None:
                original = next(a.name for a in node.names if name in (a.asname, a.name))
                _gather(beside, parse(beside), original, found)
            continue
        told = _without_words(node)
        found[path, name] = ast.unparse(told)
        for used in ast.walk(told):
            if isinstance(used, ast.Name):
                _gather(path, tree, used.id, found)


def _names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module gives a meaning."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    else:
        yield from (
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        )


def _beside(path: Path, node: ast.ImportFrom) -> Path | None:
    """Return the file in the same folder from which names are imported, if it is one."""
    beside = path.with_name(f"{(node.module or '').rpartition('.')[2]}.py")
    return beside if beside.is_file() and beside != path else None


def _without_words(node: ast.stmt) -> ast.stmt:
    """Return a copy without docstrings, and of a claim's decorator only what is judged."""
    node = ast.parse(ast.unparse(node)).body[0]
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            if ast.get_docstring(part) is not None:
                part.body = part.body[1:] or [ast.Pass()]
            for call in part.decorator_list:
                if isinstance(call, ast.Call) and any(k.arg == "statement" for k in call.keywords):
                    call.keywords = [k for k in call.keywords if k.arg in JUDGED]
    return node
