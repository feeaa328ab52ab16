"""Many members of a piecewise family as one problem, beside each other as replicates."""

from __future__ import annotations

import numpy as np
import torch

from synthetic.oracles.piecewise import PiecewiseParts
from synthetic.pieces.piecewise_problem import (
    PiecewiseProblem,
    constants_of_objective,
    constants_of_oracles,
)
from toolkit.errors import DriftproofError
from toolkit.problem import Solution


class PiecewiseMembers(PiecewiseProblem):
    """What a batched run and a measure ask of a problem, for many members at once.

    A run has a multiple of ``parts.members`` replicates; those of one member are neighbours.
    """

    leaf_name = "piecewise-members"

    def __init__(self, parts: PiecewiseParts) -> None:
        self._parts = parts
        for name, value in (("clients", parts.clients), ("dim", parts.dim)):
            object.__setattr__(self, name, value)

    @property
    def offers(self) -> str:
        """A composition's oracles, or a gradient field."""
        return "field" if self._parts.inner is None else "composition"

    @property
    def parts(self) -> PiecewiseParts:
        """The numbers of every member."""
        return self._parts

    def roles(self, of_objective: bool) -> dict[str, np.ndarray]:
        """Return every constant of every member, role → [members].

        Args:
            of_objective: also F's own constants and F(x_0) − inf F, which take longest.
        """
        roles = constants_of_oracles(self._parts)
        if of_objective:
            start = torch.zeros((self.dim, self._parts.members), dtype=torch.float64)
            gap = self.objective(start) - self.shape.infimum + self.shape.error
            roles |= constants_of_objective(self.shape) | {"initial_gap": gap.clamp(min=0.0)}
        return {role: x.numpy() for role, x in roles.items()}

    @property
    def solution(self) -> Solution:
        """Raise: there is one a member.

        Raises:
            DriftproofError: always; what asks for it looks at one member after another.
        """
        raise DriftproofError("the solution of many members", "one member", "take one")
