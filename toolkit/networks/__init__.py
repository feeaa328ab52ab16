"""Every file in this folder is one network; ``from driftproof.toolkit.networks import ResNet``."""

from typing import Any

from driftproof.toolkit.discover import find_symbol, symbols


def __getattr__(symbol: str) -> Any:
    return find_symbol("network", symbol)


def __dir__() -> list[str]:
    return symbols("network")
