"""The algorithms, imported when they are used: ``from driftproof.algorithms import ComFedL``."""

from __future__ import annotations

from typing import Any

from driftproof.toolkit.discover import find_symbol, symbols


def __getattr__(symbol: str) -> Any:
    return find_symbol("algorithm", symbol)


def __dir__() -> list[str]:
    return symbols("algorithm")
