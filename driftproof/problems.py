"""The problem families, imported when they are used: ``from driftproof.problems import KLDRO``."""

from driftproof.synthetic.problems import __dir__ as __dir__
from driftproof.synthetic.problems import __getattr__ as __getattr__
