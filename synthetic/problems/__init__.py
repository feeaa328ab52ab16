"""Every file in this folder is one problem family; ``from driftproof.problems import KLDRO``."""

from driftproof.toolkit.discover import symbols_of

__getattr__, __dir__ = symbols_of("problem")
