"""What ``@problem`` and ``@algorithm`` refuse: a class that would fail later, or silently."""

import dataclasses
import difflib
import inspect
import re
from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from inspect import getattr_static, isfunction
from numbers import Real
from typing import Any, ClassVar, ParamSpec, TypeVar, get_origin, get_type_hints

from driftproof.toolkit.errors import DriftproofError, unknown_name

Q = ParamSpec("Q")
R = TypeVar("R")
C = TypeVar("C")


def with_words_alone(decorator: Callable[Q, R]) -> Callable[Q, R]:
    """Make a decorator that takes keywords say what it wants where it is given something else.

    Raises:
        DriftproofError: it stands without brackets, or lacks a word, or is given an unknown one.
    """
    parameters = inspect.signature(decorator).parameters
    needed = [word for word, one in parameters.items() if one.default is one.empty]

    @wraps(decorator)
    def checked(*args: Q.args, **words: Q.kwargs) -> R:
        check_words(decorator.__name__, args, words, list(parameters), needed)
        return decorator(*args, **words)

    return checked


def check_words(
    decorator: str,
    args: tuple[Any, ...],
    words: dict[str, Any],
    known: list[str],
    needed: list[str],
) -> None:
    """Raise DriftproofError unless a decorator is called with keywords that it has."""
    form = f"@{decorator}({', '.join(f'{word}=…' for word in needed)})"
    for name in words:
        if name not in known:
            error = unknown_name(f"field of @{decorator}", name, known)
            raise DriftproofError(error.got, f"one of {', '.join(known)}", error.remedy)
    if args and not words and (inspect.isclass(args[0]) or inspect.isfunction(args[0])):
        raise DriftproofError(
            f"@{decorator} without brackets, above {args[0].__name__}", form, f"write {form}"
        )
    if args:
        raise DriftproofError(
            f"@{decorator}({args[0]!r}, …)", form, "write the name of each field before its value"
        )
    lacking = [word for word in needed if word not in words]
    if lacking:
        raise DriftproofError(
            f"@{decorator} without {', '.join(lacking)}",
            form,
            f"add {'=…, '.join(lacking)}=…, written out as a string",
        )


def declared(decorator: str, base: type, name: str, cls: type[C]) -> type[C]:
    """Return a class as a frozen dataclass of parameters, if it is what its base asks for."""
    check_class(decorator, cls, base)
    cls.__annotations__ = _of_plain_bases(cls) | inspect.get_annotations(cls)
    decorated: Any = dataclasses.dataclass(frozen=True, kw_only=True)(cls)
    check_declared(decorated)
    decorated.leaf_name = name
    return decorated  # type: ignore[no-any-return]


def _of_plain_bases(cls: type) -> dict[str, Any]:
    """Return the parameters that a user's own bases without a decorator have, with annotations."""
    found: dict[str, Any] = {}
    for parent in reversed(cls.__mro__[1:]):
        ours = parent.__module__.partition(".")[0] in ("driftproof", "builtins", "abc", "typing")
        if ours or "__dataclass_fields__" in vars(parent):
            continue
        hints = get_type_hints(parent, include_extras=True)
        own = {name: hints[name] for name in inspect.get_annotations(parent)}
        found |= {
            name: hint
            for name, hint in own.items()
            if name in vars(parent) and get_origin(hint) is not ClassVar and hint is not ClassVar
        }
    return found


def check_class(decorator: str, cls: Any, base: type) -> None:
    """Raise DriftproofError unless a class can be a leaf whose fields are all parameters.

    Args:
        base: what it has to derive from.
    """
    if not (inspect.isclass(cls) and issubclass(cls, base)):
        name = getattr(cls, "__name__", repr(cls))
        raise DriftproofError(
            f"@{decorator} above {name}, which does not derive from {base.__name__}",
            f"class {name}({base.__name__})",
            f"write class {name}({base.__name__}): and import {base.__name__} from driftproof",
        )
    for name, value in vars(cls).items():
        if _looks_like_a_parameter(cls, name, value):
            kind = "Flag" if isinstance(value, bool) else _annotation(value)
            raise DriftproofError(
                f"{_where(cls, name)}{name} = {value!r} of {cls.__name__}, which is no parameter: "
                "it has no annotation",
                f"{name}: {kind} = {value!r} (the annotation says what it may be)",
                f"add the annotation; ClassVar[{type(value).__name__}] if it is a constant",
            )


def check_declared(cls: type) -> None:
    """Raise DriftproofError if a leaf's class lacks a default, or what its base class asks for."""
    bare = [
        field.name
        for field in dataclasses.fields(cls)
        if field.default is field.default_factory is dataclasses.MISSING
    ]
    if bare:
        raise DriftproofError(
            f"{_where(cls, bare[0])}{', '.join(bare)} of {cls.__name__} without a default",
            "a default for every parameter: a case is named by what differs from it",
            f"write {bare[0]}: … = a value that is good to start from",
        )
    asked = {name: _asked_by(cls, name) for name in sorted(_abstract(cls.__mro__))}
    for name, base in asked.items():
        member, wanted = getattr_static(cls, name), vars(base)[name]
        if isfunction(member) and isinstance(wanted, property):
            raise DriftproofError(
                f"{_where(cls, name)}{name} of {cls.__name__} is a method",
                f"a property: {base.__name__} reads {name}, and does not call it",
                f"write @property above def {name}",
            )
        if isfunction(wanted) and isinstance(member, property | cached_property):
            raise DriftproofError(
                f"{_where(cls, name)}{name} of {cls.__name__} is a {type(member).__name__}",
                f"a method: {base.__name__} calls {name}",
                f"write def {name}{_signature(wanted)}, with no @property above it",
            )
    lacking = sorted(_abstract((cls,)))
    if lacking:
        own = [name for name in vars(cls) if not name.startswith("__") and name not in asked]
        near = difflib.get_close_matches(lacking[0], own, n=1, cutoff=0.7)
        base = asked[lacking[0]]
        wanted = vars(base)[lacking[0]]
        read = isinstance(wanted, property)
        line = f"def {lacking[0]}{'(self)' if read else _signature(wanted)}"
        raise DriftproofError(
            f"{cls.__name__} has no {' and no '.join(lacking)}",
            f"what every {base.__name__} has: {', '.join(sorted(_abstract((base,))))}",
            f"rename {near[0]} to {lacking[0]}"
            if near
            else f"add {line}{', with @property above it' if read else ''}",
        )


def _abstract(classes: Iterable[type]) -> set[str]:
    """Return what some classes leave to those that derive from them."""
    return {name for cls in classes for name in getattr(cls, "__abstractmethods__", ())}


def _asked_by(cls: type, name: str) -> type:
    """Return the class that asks for an attribute: the last one on the way up that has it."""
    return next(parent for parent in reversed(cls.__mro__) if name in vars(parent))


def _looks_like_a_parameter(cls: type, name: str, value: Any) -> bool:
    """Say whether an attribute without an annotation was perhaps meant as a parameter."""
    if name.startswith("_") or name.isupper() or name in inspect.get_annotations(cls):
        return False
    if not isinstance(value, Real | str | list):
        return False
    parents = [parent for parent in cls.__mro__[1:] if dataclasses.is_dataclass(parent)]
    inherited = {field.name for parent in parents for field in dataclasses.fields(parent)}
    return name in inherited or not any(name in vars(parent) for parent in cls.__mro__[1:])


def _where(cls: type, name: str) -> str:
    """Return "file:line: " of the line that gives an attribute of a class ("": not to be told)."""
    try:
        lines, first = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls)
    except (OSError, TypeError):
        return ""
    numbers = (k for k, line in enumerate(lines) if re.match(rf"\s+(def )?{name}\s*[:=(]", line))
    at = next(numbers, None)
    return "" if at is None else f"{file}:{first + at}: "


def _annotation(value: Any) -> str:
    if isinstance(value, Real):
        whole, positive = isinstance(value, int), value > 0  # type: ignore[operator]
        kinds = ("PositiveInt", "NonNegativeInt") if whole else ("Positive", "Real")
        return kinds[not positive]
    return "str" if isinstance(value, str) else "Positive"


def _signature(function: Any) -> str:
    return f"({', '.join(inspect.signature(function).parameters)})"
