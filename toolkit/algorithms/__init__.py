"""Every file in this folder is one algorithm; ``from driftproof.algorithms import ComFedL``."""

from typing import Any

from driftproof.toolkit.discover import find_symbol, symbols


def __getattr__(symbol: str) -> Any:
    return find_symbol("algorithm", symbol)


def __dir__() -> list[str]:
    return symbols("algorithm")
