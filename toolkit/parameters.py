"""What problems and algorithms share: named parameters, checked once, swept by lists."""

from __future__ import annotations

import dataclasses
import itertools
import math
import numbers
from collections.abc import Iterable
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Self, TypeVar, cast

from toolkit.errors import DriftproofError

T = TypeVar("T")
_REQUIRED: ContextVar[dict[str, str] | None] = ContextVar("required signs", default=None)
"""What ``validate`` asks of the parameters' signs, while ``required_signs`` listens."""


def sweep(*values: T) -> T:
    """Return several values for one parameter, of which ``grid`` makes a case each.

    It stands where one value would, and has the type of one.

    >>> from synthetic.problems import BoundedComposition
    >>> from toolkit import grid
    >>> [case.problem.clients for case in grid(BoundedComposition(clients=sweep(1, 2, 5)))]
    [1, 2, 5]
    """
    return cast(T, list(values))


class Parameters:
    """Base of the frozen dataclasses that ``@problem`` and ``@algorithm`` make.

    A field given as a list stands for a sweep: ``grid`` expands it, and only the members of the
    sweep are checked by ``validate``.
    """

    leaf_name: str = ""

    def __post_init__(self) -> None:
        if not self.swept():
            self.validate()

    def validate(self) -> None:
        """Raise DriftproofError if a parameter is out of its range. Overridden by leaves."""

    def swept(self) -> list[str]:
        """Return the names of the fields that hold a list of values."""
        return [name for name, value in self.values().items() if isinstance(value, list)]

    @cached_property
    def required_signs(self) -> dict[str, str]:
        """Return what ``validate`` requires of the parameters' signs, by name.

        A letter that names a parameter is as positive, or as whole, as its class requires; one of
        which nothing is required may be any real number.

        >>> from toolkit.algorithms import ComFedL
        >>> ComFedL().required_signs["step_size"], ComFedL().required_signs["batch"]
        ('positive', 'positive integer')
        """
        listening = _REQUIRED.set({})
        try:
            self.validate()
            return _REQUIRED.get() or {}
        finally:
            _REQUIRED.reset(listening)

    def values(self) -> dict[str, Any]:
        """Return the parameters by name, in the order of their declaration."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    def expand(self) -> list[Self]:
        """Return every member of the sweep, the first-named field varying slowest."""
        axes = [v if isinstance(v, list) else [v] for v in self.values().values()]
        names = list(self.values())
        return [
            type(self)(**dict(zip(names, chosen, strict=True)))
            for chosen in itertools.product(*axes)
        ]

    def changed(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults."""
        return {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)  # type: ignore[arg-type]
            if getattr(self, f.name) != f.default
        }

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value}" for name, value in self.changed().items())
        return f"{type(self).__name__}({inside})"

    def require(self, name: str, wanted: str, holds: bool) -> None:
        """Raise unless ``holds``; the message names the field, its value and what it may be."""
        if not holds:
            raise DriftproofError(
                f"{type(self).__name__}: {name} = {getattr(self, name)!r}",
                f"{name} {wanted}",
                f"change {name} where {type(self).__name__} is built",
            )

    def positive(self, *names: str) -> None:
        """Require finite numbers above zero."""
        _note("positive", names)
        for name in names:
            value = getattr(self, name)
            self.require(name, "a finite number above 0", _real(value) and value > 0)

    def non_negative(self, *names: str) -> None:
        """Require finite numbers at or above zero."""
        _note("nonnegative", names)
        for name in names:
            value = getattr(self, name)
            self.require(name, "a finite number, 0 or more", _real(value) and value >= 0)

    def real(self, *names: str) -> None:
        """Require finite numbers."""
        for name in names:
            self.require(name, "a finite number", _real(getattr(self, name)))

    def share(self, *names: str) -> None:
        """Require numbers above 0, at most 1."""
        _note("positive", names)
        for name in names:
            value = getattr(self, name)
            self.require(name, "in (0, 1]", _real(value) and 0 < value <= 1)

    def flag(self, *names: str) -> None:
        """Require True or False."""
        for name in names:
            self.require(name, "True or False", isinstance(getattr(self, name), bool))

    def whole(self, *names: str, least: int = 1) -> None:
        """Require whole numbers of at least ``least``."""
        sign = "positive " if least >= 1 else "nonnegative " if least == 0 else ""
        _note(f"{sign}integer", names)
        for name in names:
            value = getattr(self, name)
            is_int = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            self.require(name, f"a whole number, {least} or more", is_int and value >= least)

    def one_of(self, name: str, choices: Iterable[str]) -> None:
        """Require one of a few words."""
        words = list(choices)
        self.require(name, f"one of {', '.join(map(repr, words))}", getattr(self, name) in words)


def _real(value: object) -> bool:
    return isinstance(value, numbers.Real) and math.isfinite(float(value))


def _note(sign: str, names: Iterable[str]) -> None:
    required = _REQUIRED.get()
    if required is not None:
        required.update(dict.fromkeys(names, sign))
