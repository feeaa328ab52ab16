"""A piecewise family as a search sees it: what follows from how its parameters are declared."""

from collections.abc import Callable, Mapping, Set
from functools import cached_property
from typing import Any, ClassVar

import torch

from driftproof.synthetic.building_blocks.curves import Curve, Declared, Noise, Number
from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.synthetic.building_blocks.piecewise_family import Many, PiecewiseFamily, declared
from driftproof.synthetic.building_blocks.piecewise_linear import PiecewiseLinear
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families.decoding import Rows, decoded
from driftproof.verifiers.search.structure import Choices, Structure

BITS = 40
"""Of the clients' gradients at a start that is a stationary point."""


class Family:
    """Base of the families that are searched.

    Attributes:
        problem: the class whose members are made.
        members: from parts, and how many replicates a run has of each, to one problem.
        alike: what a search may draw the same for all clients ((): every curve and number).
        convex: what a structure has whose clients are strongly convex in x (empty: none is).
        fields_at_start: the curves that are the gradients' entries at the start: with means of 0
            there it is a stationary point (empty: a search does not start at one).
    """

    problem: ClassVar[type[PiecewiseFamily]]
    members: ClassVar[Callable[..., Many]]
    alike: ClassVar[tuple[str, ...]] = ()
    convex: ClassVar[Mapping[str, Any]] = {}
    fields_at_start: ClassVar[tuple[str, ...]] = ()

    @property
    def leaf_name(self) -> str:
        """Its name on the command line."""
        return self.problem.leaf_name

    @property
    def asserts(self) -> frozenset[str]:
        """What holds for every member (``toolkit.assertions``)."""
        return self.problem.asserts

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """The parameters that are declared, by their names among the parts."""
        return {one.part or name: name for name, one in declared(self.problem).items()}

    def of_kind(self, *kinds: type[Declared]) -> dict[str, Any]:
        """Return what is declared to be of some kinds, by its name among the parts."""
        every = declared(self.problem)
        named = ((part, every[name]) for part, name in self.fields.items())
        return {part: one for part, one in named if isinstance(one, kinds)}

    def choices(
        self,
        algorithm: Algorithm | None = None,
        problem: Problem | None = None,
        asked: Set[str] = frozenset(),
    ) -> Choices:
        """Return from what structures are drawn.

        Args:
            algorithm, problem: a case of the claim.
            asked: the constants that the claim needs by role.
        """
        curves, numbers = self.of_kind(Curve), self.of_kind(Number)
        choices = Choices(
            self.leaf_name,
            algorithm,
            noises=tuple(self.of_kind(Noise)),
            alike=(() if problem is None else self.alike) or (*curves, *numbers),
            opposed=tuple(name for name, one in curves.items() if one.opposed),
            flags=tuple(one.flag for one in numbers.values() if one.flag),
            rests=bool(self.fields_at_start) and problem is not None,
            fixed=() if problem is None else tuple(self.fixed(problem, asked).items()),
        )
        if algorithm is None or problem is None:
            return choices
        return self.narrowed(choices, algorithm, problem)

    def narrowed(self, choices: Choices, algorithm: Algorithm, problem: Problem) -> Choices:
        """Return what of the choices is left beside a case of the claim."""
        return choices

    def fixed(self, problem: Problem, asked: Set[str]) -> dict[str, Any]:
        """Return what of a structure a claim leaves no choice of."""
        return {"averaged_inside": False}

    def parts(self, rows: Rows, of: Structure) -> Parts:
        """Return the instances that vectors stand for."""
        every = sorted(self.of_kind(Declared).items(), key=lambda item: _turn(item[1]))
        made = {name: decoded(rows, of, name, one) for name, one in every}
        parts = Parts(**made, rare=of.rare, averaged_inside=of.averaged_inside, term=of.term)
        for name in self.fields_at_start if of.at_rest else ():
            _rest(getattr(parts, name))
        self.settle(parts, rows, of)
        return parts

    def settle(self, parts: Parts, rows: Rows, of: Structure) -> None:
        """Change parts in place so that F is bounded below."""

    def member(self, parts: Parts, of: Structure) -> Problem:
        """Return the first of some instances as a problem."""
        given: dict[str, Any] = {
            "clients": of.clients,
            "dim": of.dim,
            "rare": of.rare,
            "averaged_inside": of.averaged_inside,
            "tails": "linear" if of.convex else "flat",
            "term": of.term,
        }
        known = self.problem.__dataclass_fields__  # type: ignore[attr-defined]
        values = {name: value for name, value in given.items() if name in known}
        for part, one in self.of_kind(Declared).items():
            flag = getattr(one, "flag", "")
            left_out = flag and not getattr(of, flag)
            values[self.fields[part]] = () if left_out else one.value(getattr(parts, part))
        return self.problem(**values)


def _rest(curve: PiecewiseLinear) -> None:
    """Move a knot of each function to 0, and values so that their mean is 0 there, exactly."""
    k = (curve.knots.shape[-2] - 1) // 2
    curve.knots.sub_(curve.knots[..., k : k + 1, :].clone())
    own = curve.values[..., k, :] - curve.values[..., k, :].mean(0)
    unit = 2.0 ** (torch.frexp(own.abs().amax(0)).exponent - BITS)
    own = (own / unit).round() * unit  # sums of so few bits have no rounding errors
    own[-1] = -own[:-1].sum(0)
    curve.values.add_((own - curve.values[..., k, :])[..., None, :])
    curve.values[..., k, :] = own
    slopes = curve.changed(torch.clone).slopes  # of a straight line the tails are to go on as it
    for tail, end in ((curve.left, 0), (curve.right, -1)):
        tail.copy_(torch.where(tail != 0, slopes[..., end, :], tail))


def _turn(one: Declared) -> int:
    """Return when its rows are taken: curves first, of these what may be left out."""
    if isinstance(one, Curve):
        return 0 if one.flag else 1
    return 2 if isinstance(one, Number) else 3 if isinstance(one, Noise) else 4
