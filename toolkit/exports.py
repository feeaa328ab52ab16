"""Modules for users: their names are imported when they are first used.

A module states its names once, for type checkers, as imports under ``TYPE_CHECKING``; they are read
from its file here, too: ``from driftproof.toolkit.cases import grid as grid``.
"""

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def exports(
    module: str, file: str, leaves: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a module for users.

    Args:
        module: its name.
        file: it, with the imports that state what it offers.
        leaves: a package whose leaves it offers besides.
    """
    stated = {
        alias.name: str(node.module)
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }

    def get(name: str) -> Any:
        if name not in stated and not leaves:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = stated.get(name, leaves)
        if home == module:
            return importlib.import_module(f"{module}.{name}")
        return getattr(importlib.import_module(home), name)

    def names() -> list[str]:
        return [*stated, *(dir(importlib.import_module(leaves)) if leaves else ())]

    return get, names, sorted(name for name in stated if not name.startswith("_"))
