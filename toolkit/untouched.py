"""Notices where a text writes to a state that is read again: a step to the state before it, say."""

from collections.abc import Iterable
from operator import is_
from typing import Any

from torch import Tensor

from driftproof.toolkit.errors import DriftproofError


def contents(tensors: Iterable[Any]) -> list[Any]:
    """Return what changes when something is written to one of the tensors.

    That is torch's count of what was written; of a tensor that stands for something else than
    doubles, the entries.
    """
    return [
        list(entries.flat) if (entries := getattr(x, "entries", None)) is not None else _count(x)
        for x in tensors
    ]


def written(before: list[Any], tensors: Iterable[Any]) -> bool:
    """Tell whether something was written to tensors since ``contents`` looked at them."""
    return any(
        not all(map(is_, old, new)) if isinstance(old, list) else old != new
        for old, new in zip(before, contents(tensors), strict=True)
    )


def _count(x: Any) -> int:
    return x._version if type(x) is Tensor else 0


def in_place(algorithm: Any) -> DriftproofError:
    """Return the error of an algorithm whose step writes to the state that it begins with."""
    return DriftproofError(
        f"step of {type(algorithm).__name__} writes to the state that it is given",
        "a new state: measures look at the old one too",
        "write w = w - eta * g for w -= eta * g, or begin with w = state.w.clone()",
    )
