"""The algorithms, imported when they are used: ``from driftproof.algorithms import ComFedL``."""

from driftproof.toolkit.algorithms import __dir__ as __dir__
from driftproof.toolkit.algorithms import __getattr__ as __getattr__
