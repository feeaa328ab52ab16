"""Hypothesis strategies for tests of your own: ``from driftproof.strategies import instances``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftproof.verifiers.search.strategies import hyperparameters, instances, problems

__all__ = ["hyperparameters", "instances", "problems"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'driftproof.strategies' has no attribute {name!r}")
    import driftproof.verifiers.search.strategies as defined

    return getattr(defined, name)


def __dir__() -> list[str]:
    return __all__
