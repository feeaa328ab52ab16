"""Classes of functions and their worst cases: ``from driftproof.classes import smooth, over``."""

from driftproof.synthetic import classes
from driftproof.synthetic.classes import *  # noqa: F403 - all of them are public
from driftproof.verifiers.worst_case.found import Found, worst_case

__all__ = ["Found", "worst_case"]
__all__ += classes.__all__
