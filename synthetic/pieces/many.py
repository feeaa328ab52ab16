"""Many members of a piecewise family as one problem, beside each other as replicates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.certificates.piecewise import Functions, Shape, shape_of
from driftproof.synthetic.pieces.piecewise_problem import constants_of_objective
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.problem import Problem, Solution


class Many(Problem):
    """What a batched run and a measure ask of a problem, of many members at once.

    Args:
        parts: the members' numbers.
        copies: how many replicates a run has of each member; they are neighbours.
    """

    def __init__(self, parts: Any, copies: int = 1) -> None:
        self._members, self._copies = parts, copies
        for name, value in (("clients", parts.clients), ("dim", parts.dim)):
            object.__setattr__(self, name, value)

    @abstractmethod
    def functions_of(self, parts: Any) -> Functions:
        """Return F and its derivatives, of these members."""

    @abstractmethod
    def numbers_of(self, parts: Any) -> dict[str, Tensor]:
        """Return the oracles' constants, role → [members]."""

    @cached_property
    def shape(self) -> Shape:
        """What is known of F, of each member once."""
        return shape_of(self.functions_of(self._members))

    def roles(self, of_objective: bool) -> dict[str, np.ndarray]:
        """Return every constant of every member, role → [members].

        Args:
            of_objective: also F's own constants and F(x_0) − inf F, which take longest.
        """
        roles = self.numbers_of(self._members)
        if of_objective:
            start = torch.zeros((self.dim, 1, self._members.members), dtype=torch.float64)
            value = self.functions_of(self._members).value(start)[:, 0].sum(0)
            gap = value - self.shape.infimum + self.shape.error
            roles |= constants_of_objective(self.shape) | {"initial_gap": gap.clamp(min=0.0)}
        return {role: x.numpy() for role, x in roles.items()}

    @property
    def constants(self) -> Mapping[str, Any]:
        """The constants that every member has, role → [replicates]."""
        numbers = self.numbers_of(self._members) | constants_of_objective(self.shape)
        return {role: self._each(x) for role, x in numbers.items() if bool(x.isfinite().all())}

    @property
    def minimiser(self) -> Tensor:
        """A point where F is least, [dim, replicates] (nan: F is unbounded below)."""
        bounded = self.shape.infimum.isfinite()
        return self._each(torch.where(bounded, self.shape.minimiser, torch.nan))

    def gap(self, x: Tensor) -> Tensor:
        """Return F(x) − inf F, and 0 where that is no more than rounding."""
        gap = self.objective(x) - self._each(self.shape.infimum)
        return torch.where(gap.abs() > self._each(self.shape.error), gap, 0.0)

    def _each(self, numbers: Tensor) -> Tensor:
        return numbers.repeat_interleave(self._copies, -1)

    @property
    def solution(self) -> Solution:
        """Raise: there is one a member.

        Raises:
            DriftproofError: always; what asks for it looks at one member after another.
        """
        raise DriftproofError("the solution of many members", "one member", "take one")
