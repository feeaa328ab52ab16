"""Many losses or compositions with piecewise linear derivatives as one problem."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from driftproof.synthetic.certificates.piecewise import CompositionFunctions
from driftproof.synthetic.oracles.piecewise import PiecewiseParts
from driftproof.synthetic.pieces.many import Many
from driftproof.synthetic.pieces.piecewise_problem import PiecewiseProblem, constants_of_oracles


class PiecewiseMembers(Many, PiecewiseProblem):
    """Members whose oracles repeat them for as many replicates as a run has."""

    leaf_name = "piecewise-members"

    @property
    def offers(self) -> str:
        """A composition's oracles, or a gradient field."""
        return "field" if self.parts.inner is None else "composition"

    @property
    def parts(self) -> PiecewiseParts:
        """The numbers of every member."""
        parts: PiecewiseParts = self._members
        return parts

    def functions_of(self, parts: Any) -> CompositionFunctions:
        """Return F and its derivatives, of these members."""
        return CompositionFunctions(parts)

    def numbers_of(self, parts: Any) -> dict[str, Tensor]:
        """Return the oracles' constants, role → [members]."""
        return constants_of_oracles(parts)
