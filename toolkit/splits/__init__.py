"""Every file in this folder is one federated split; ``from driftproof.splits import Dirichlet``."""

from driftproof.toolkit.discover import symbols_of

__getattr__, __dir__ = symbols_of("split")
