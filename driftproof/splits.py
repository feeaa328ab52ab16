"""The federated splits, imported when they are used: ``from driftproof.splits import IID``."""

from driftproof.toolkit.splits import __dir__ as __dir__
from driftproof.toolkit.splits import __getattr__ as __getattr__
