"""Every file in this folder is one federated split; ``from driftproof.splits import Dirichlet``."""

from typing import Any

from driftproof.toolkit.discover import find_symbol, symbols


def __getattr__(symbol: str) -> Any:
    return find_symbol("split", symbol)


def __dir__() -> list[str]:
    return symbols("split")
