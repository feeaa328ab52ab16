"""What the piecewise families share: their parameters, optimum, and many members as one problem."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, ClassVar, Self, get_type_hints

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.curves import Curve, Declared, Tensors, doubles
from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.synthetic.certificates.piecewise import Functions, Shape, shape_of, solution_of
from driftproof.toolkit.at_optimum import constants_at_optimum
from driftproof.toolkit.balls.solutions import enclosing
from driftproof.toolkit.balls.tensor import Balls, RefusedError, lift
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import has_term
from driftproof.toolkit.problem import Problem, Solution, with_overrides


@cache
def declared(family: type) -> Mapping[str, Declared]:
    """Return what the annotations of a family's parameters say they are, in their order."""
    hints = get_type_hints(family, include_extras=True)
    every = ((name, getattr(hint, "__metadata__", ())) for name, hint in hints.items())
    return {name: one for name, said in every for one in said if isinstance(one, Declared)}


class PiecewiseFamily(Problem):
    """Base of the piecewise families; the start is 0.

    A subclass has curves, numbers and noises as parameters (``building_blocks.curves``).
    """

    unique_if: ClassVar[str] = "an F' that nowhere falls, and rises where it is 0,"

    def validate(self) -> None:
        """Refuse parameters that are not what they are declared to be."""
        for name, one in declared(type(self)).items():
            one.check(self, name)

    def without_client(self, client: int) -> Self | None:
        """Return the member without one of its clients (None: there is one only)."""
        if self.clients == 1:
            return None
        fewer = {name: v[:client] + v[client + 1 :] for name, v in self._nested().items()}
        return replace(self, clients=self.clients - 1, **fewer)  # type: ignore[type-var]

    def without_coordinate(self, coordinate: int) -> Self | None:
        """Return the member without one of its coordinates (None: there is one only)."""
        if self.dim == 1:
            return None
        fewer = {
            name: tuple(row[:coordinate] + row[coordinate + 1 :] for row in v)
            for name, v in self._nested().items()
        }
        return replace(self, dim=self.dim - 1, **fewer)  # type: ignore[type-var]

    def _nested(self) -> dict[str, tuple[tuple[Any, ...], ...]]:
        """Return the parameters that have an entry for each client and coordinate."""
        return {name: v for name, v in self.values().items() if isinstance(v, tuple) and v}

    @cached_property
    def parts(self) -> Parts:
        """The numbers, as tensors of one member."""
        return self._parts(doubles)

    def _parts(self, of_curves: Tensors) -> Parts:
        """Return the numbers; those of curves, whose slopes follow, as tensors of another kind."""
        values, kinds = self.values(), declared(type(self))
        shape = (values.pop("clients"), values.pop("dim")), values.get("tails") == "linear"
        for name, one in kinds.items():
            number = of_curves if isinstance(one, Curve) else doubles
            values[one.part or name] = one.tensors(values.pop(name), *shape, number)
        return Parts(**values)

    def exact_oracles(self, x: Tensor) -> Any:
        """Return the oracles for balls, whose slopes and values at 0 are balls: none is rounded."""
        exact = with_overrides(self, parts=self._parts(Balls.of))
        return exact.oracles(x.dtype)

    @abstractmethod
    def functions_of(self, parts: Parts) -> Functions:
        """Return F and its derivatives, of these members."""

    @abstractmethod
    def numbers_of(self, parts: Parts) -> dict[str, Tensor]:
        """Return the oracles' constants, role → [members]; infinite where there is none."""

    @cached_property
    def shape(self) -> Shape:
        """What is known of F."""
        return shape_of(self.functions_of(self.parts))

    @cached_property
    def solution(self) -> Solution:
        """Inf F, by bisection on each piece on which F' is monotone."""
        return solution_of(self.shape)

    @cached_property
    def minimiser_error(self) -> Any:
        """0 if ∇F(x̂) is 0 exactly; else from where each F_j' changes its sign. F is convex."""
        known, x = super().minimiser_error, lift(self.minimiser)
        if "strong_convexity" not in self.constants:
            return known
        size = float(self.minimiser.abs().max() + self.parts.plain.knots.abs().max())
        slopes = self._subgradient if has_term(self) else enclosing(self).gradient
        with suppress(RefusedError):  # of two levels, ∇F is not for balls beside a knot
            if all(slope == 0 for slope in lift(slopes(Balls(x))).flat):
                return 0.0
            for away in (size * 2.0**-k for k in range(52, 20, -2)):
                falls, rises = (lift(slopes(Balls(x + step))).flat for step in (-away, away))
                if all(slope < 0 for slope in falls) and all(slope > 0 for slope in rises):
                    return min(known, away * self.dim**0.5)
        return known

    def _subgradient(self, x: Tensor) -> Tensor:
        return self.functions_of(self._parts(Balls.of)).derivative(x[:, None])[:, 0]

    @cached_property
    def constants(self) -> Mapping[str, Any]:
        """The constants as derived for the family, and those of F."""
        numbers = self.numbers_of(self.parts) | constants_of_objective(self.shape)
        return {role: float(x[0]) for role, x in numbers.items() if np.isfinite(float(x[0]))}


def constants_of_objective(shape: Shape) -> dict[str, Tensor]:
    """Return the constants of F, role → [members]; what is not convex has no modulus."""
    return {
        "objective_smoothness": shape.smoothness,
        "strong_convexity": torch.where(shape.modulus < 0, torch.inf, shape.modulus),
    }


class Many(PiecewiseFamily):
    """What a batched run and a measure ask of a problem, of many members at once.

    Args:
        parts: the members' numbers.
        copies: how many replicates a run has of each member; they are neighbours.
    """

    def __init__(self, parts: Parts, copies: int = 1) -> None:
        self._members, self._copies = parts, copies
        for name, value in (("clients", parts.clients), ("dim", parts.dim)):
            object.__setattr__(self, name, value)

    @cached_property
    def parts(self) -> Parts:
        """The numbers of every replicate."""
        return self._members.repeated(self._copies)

    @cached_property
    def shape(self) -> Shape:
        """What is known of F, of each member once."""
        return shape_of(self.functions_of(self._members))

    def roles(self, of_objective: bool, at_optimum: bool = False) -> dict[str, np.ndarray]:
        """Return every constant of every member, role → [members].

        Args:
            of_objective: also F's own constants and F(x_0) − inf F, which take longest.
            at_optimum: also those that follow from a minimiser.
        """
        roles = self.numbers_of(self._members)
        if of_objective:
            start = torch.zeros((self.dim, 1, self._members.members), dtype=torch.float64)
            value = self.functions_of(self._members).value(start)[:, 0].sum(0)
            gap = value - self.shape.infimum + self.shape.error
            roles |= constants_of_objective(self.shape) | {"initial_gap": gap.clamp(min=0.0)}
        if at_optimum:
            roles |= constants_at_optimum(type(self)(self._members))
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

    @property
    def minimiser_error(self) -> Tensor:
        """0 where F is convex, as if x̂ were x*: the judge of one member looks closer."""
        return self._each(torch.where(self.shape.modulus >= 0, 0.0, torch.inf))

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
