"""Shapes that annotations promise, checked while tests run: in every package, in every function.

A function whose annotations name a shape (``Float[Tensor, "clients dim replicates"]``) is checked
in its first calls, by jaxtyping and beartype; later calls go straight through, or the oracles that
claims spend their time in would take three times as long. What numba compiles is no function any
more, and is not checked.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType
from typing import Any

from beartype import beartype
from beartype.door import is_bearable
from beartype.roar import BeartypeException
from jaxtyping import AbstractArray, jaxtyped

CALLS = 100
"""Calls of each function that are checked, in each process."""
checked: dict[str, int] = {}
"""Function → how many calls of it were checked."""


def install() -> None:
    """Check every module of the packages that is imported from now on."""
    sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]


class _Finder:
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.split(".")[0] != "driftproof":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            run: Callable[[ModuleType], None] = spec.loader.exec_module

            def and_check(module: ModuleType) -> None:
                run(module)
                check(module)

            spec.loader.exec_module = and_check  # type: ignore[method-assign]
        return spec


def check(module: ModuleType) -> None:
    """Put checked functions in place of a module's functions and methods."""
    own = [x for x in vars(module).values() if getattr(x, "__module__", "") == module.__name__]
    for holder in [module, *(x for x in own if isinstance(x, type))]:
        for name, value in list(vars(holder).items()):
            kind = type(value) if isinstance(value, staticmethod | classmethod) else None
            function = value.__func__ if kind else value
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                made = _checked(function)
                if made is not function:
                    setattr(holder, name, kind(made) if kind else made)


def _checked(function: FunctionType) -> Any:
    hints = {name: _resolved(text, function) for name, text in function.__annotations__.items()}
    hints = {name: hint for name, hint in hints.items() if _shape(hint)}
    if not hints:
        return function
    twin = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    twin.__kwdefaults__, twin.__annotations__ = function.__kwdefaults__, hints
    twin.__module__, twin.__qualname__ = function.__module__, function.__qualname__
    strict = jaxtyped(twin, typechecker=beartype)
    key = f"{function.__module__}.{function.__qualname__}"
    checked[key] = 0

    @functools.wraps(function)
    def either(*args: Any, **more: Any) -> Any:
        if checked[key] >= CALLS:
            return function(*args, **more)
        checked[key] += 1
        return strict(*args, **more)

    return either


def _resolved(hint: Any, function: FunctionType) -> Any:
    """Return what an annotation means (None: a name that only a type checker knows)."""
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, function.__globals__)
    except (NameError, TypeError):
        return None


def _shape(hint: Any) -> bool:
    """Say whether a shape is named in an annotation, which can be checked."""
    try:
        is_bearable(None, hint)
    except BeartypeException:  # a protocol is among its parts
        return False
    return _array(hint)


def _array(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    return any(_array(part) for part in getattr(hint, "__args__", ()))
