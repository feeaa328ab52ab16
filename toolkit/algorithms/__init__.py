"""Every file in this folder is one algorithm; ``from driftproof.algorithms import ComFedL``."""

from driftproof.toolkit.discover import symbols_of

__getattr__, __dir__ = symbols_of("algorithm")
