"""Every file in this folder is one network; ``from driftproof.toolkit.networks import ResNet``."""

from driftproof.toolkit.discover import symbols_of

__getattr__, __dir__ = symbols_of("network")
