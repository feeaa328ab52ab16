"""The federated splits, imported when they are used: ``from driftproof.splits import IID``."""

from __future__ import annotations

from typing import Any

from driftproof.toolkit.discover import find_symbol, symbols


def __getattr__(symbol: str) -> Any:
    return find_symbol("split", symbol)


def __dir__() -> list[str]:
    return symbols("split")
