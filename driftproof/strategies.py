"""Hypothesis strategies for tests of your own: ``from driftproof.strategies import instances``."""

from typing import TYPE_CHECKING

from driftproof.toolkit.exports import exports

if TYPE_CHECKING:
    from driftproof.verifiers.search.strategies import hyperparameters as hyperparameters
    from driftproof.verifiers.search.strategies import instances as instances
    from driftproof.verifiers.search.strategies import problems as problems

__getattr__, __dir__, __all__ = exports(__name__, __file__)
