"""Every file in this folder is one problem family; ``from driftproof.problems import KLDRO``."""

from typing import Any

from driftproof.toolkit.discover import find_symbol, symbols


def __getattr__(symbol: str) -> Any:
    return find_symbol("problem", symbol)


def __dir__() -> list[str]:
    return symbols("problem")
