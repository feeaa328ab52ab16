"""Classes of functions, worst cases and potentials: ``from driftproof.classes import over``."""

from driftproof.synthetic import classes
from driftproof.synthetic.classes import *  # noqa: F403 - all of them are public
from driftproof.verifiers.worst_case.found import Found, worst_case
from driftproof.verifiers.worst_case.potential import Potential, potential

__all__ = ["Found", "Potential", "potential", "worst_case"]
__all__ += classes.__all__
