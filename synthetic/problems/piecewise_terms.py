r"""Convex piecewise losses with a term, from any start: what a search of f + h looks through.

**Objective.** F = f + h: f that of ``piecewise-losses``, of f_i' that nowhere fall, and h a sum of
kinks w_k|x − t_k|, one of each client in each coordinate; or the indicator of the smallest box that
holds all t_k and 0. The start is 0, so knots and kinks say where it lies. L and μ are those of f.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, Self

import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.curves import Number, Vectors
from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.synthetic.building_blocks.piecewise_family import Many
from driftproof.synthetic.building_blocks.piecewise_problem import PiecewiseProblem
from driftproof.synthetic.certificates.piecewise import CompositionFunctions, by_coordinate
from driftproof.synthetic.oracles.piecewise import PiecewiseOracles
from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.problem import problem

TERMS = {"proximal": "kinks", "set": "box", "compact-set": "box", "implicit": "none"}
"""What a problem offers → what h is; "none": ``prox`` is of each F_k."""


def _ends(parts: Parts) -> Tensor:
    """Return the box's two corners, [2, dim, members]."""
    return torch.stack([parts.kinks.amin(0).clamp(max=0.0), parts.kinks.amax(0).clamp(min=0.0)])


class TermFunctions(CompositionFunctions):
    """Those of f + h; F'' is that of f."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._box = parts.term == "box"
        self._kinks = (_ends(parts) if self._box else parts.kinks).unsqueeze(-2)
        self._weights = parts.weights.unsqueeze(-2)

    @cached_property
    def breakpoints(self) -> Tensor:
        """Those of f, and the kinks."""
        return torch.cat([super().breakpoints, by_coordinate(self._kinks)], 1)

    def value(self, x: Tensor) -> Tensor:
        """Return F, infinite outside a box."""
        if self._box:
            outside = (x < self._kinks[0]) | (x > self._kinks[1])
            return super().value(x).masked_fill(outside, torch.inf)
        value: Tensor = super().value(x) + (self._weights * (x - self._kinks).abs()).sum(0)
        return value

    def derivative(self, x: Tensor) -> Tensor:
        """Return F', at a kink that before it."""
        slope = super().derivative(x)
        steep = slope.abs() + 1 if self._box else self._weights
        return slope + torch.where(x > self._kinks, steep, -steep).sum(0)

    def sizes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what bounds the numbers that are added up in F(x), and in F''(x)."""
        size, curved = super().sizes(x)
        return size + (self._weights * (x.abs() + self._kinks.abs().amax(0))).sum(0), curved


class TermOracles(PiecewiseOracles):
    """The oracles of f, and those of h, which every client knows."""

    def __init__(self, of: Any, dtype: torch.dtype, device: str, clients: range) -> None:
        super().__init__(of, dtype, device, clients)
        whole = of.parts.changed(lambda x: x.to(device, dtype))
        self._box, (kinks, order) = _ends(whole), whole.kinks.sort(0)
        self.kinks = list(zip(kinks, whole.weights.gather(0, order), strict=True))

    mean_loss = PiecewiseOracles.plain_value

    def prox(self, x: Tensor, t: Any) -> Tensor:
        """Return the implicit step of h, or of each client's own F_k."""
        if self._parts.term != "kinks":
            box = self._parts.term == "box"
            return self.project(x) if box else self._parts.plain.resolvent(x, t)
        for _, w in self.kinks:
            x = x + t * w
        for at, w in self.kinks:  # ascending: across each h' rises by 2w
            x = torch.minimum(x, torch.maximum(x - t * (2 * w), at))
        return x

    def project(self, x: Tensor) -> Tensor:
        """Return the nearest points of the box."""
        return torch.minimum(torch.maximum(x, self._box[0]), self._box[1])

    def linear_minimiser(self, g: Tensor) -> Tensor:
        """Return a corner of the box (where g is 0, either)."""
        return torch.where(g > 0, self._box[0], self._box[1])


class TermProblem(PiecewiseProblem):
    """Base of one and of many; what h is stands among the parts."""

    oracle_type = TermOracles
    notation = {"R": "initial_distance"}
    asserts = frozenset({"convex"})

    @property
    def offers(self) -> str:
        """A term's oracles; a set's; or implicit steps of each client."""
        return {"kinks": "proximal", "box": "compact-set"}.get(self.parts.term, "implicit")

    def functions_of(self, parts: Parts) -> CompositionFunctions:
        """Return F and its derivatives, of these members."""
        return (CompositionFunctions if parts.term == "none" else TermFunctions)(parts)

    def numbers_of(self, parts: Parts) -> dict[str, Tensor]:
        """Return the oracles' constants, role → [members]; of a box its diameter too."""
        low, high = _ends(parts)
        wide = {"diameter": torch.linalg.vector_norm(high - low, dim=0)}
        return super().numbers_of(parts) | (wide if parts.term == "box" else {})

    def objective(self, x: Tensor) -> Tensor:
        """Return F(x), [replicates]; on a box f(x)."""
        value = self.smooth_part(x)
        for at, w in self.oracles_for(x).kinks if self.parts.term == "kinks" else ():
            value = value + (w * (x - at).abs()).sum(0)
        return value

    def smooth_part(self, x: Tensor) -> Tensor:
        """Return f(x), [replicates]."""
        return super().objective(x)


class TermMembers(Many, TermProblem):
    """Many losses with a term as one problem."""

    leaf_name = "piecewise-term-members"


@problem(
    name="piecewise-terms",
    source="a family of driftproof's, for the search of counterexamples",
    statement=r"F(x) = \frac1n\sum_{i=1}^n f_i(x) + h(x),\quad f_i' \text{ piecewise linear},\quad "
    r"h(x) = \sum_k w_k|x - t_k| \text{ or } I_{[\min t_k, \max t_k]}(x)",
)
class PiecewiseTerms(TermProblem, PiecewiseLosses):  # type: ignore[override]
    """Losses with piecewise linear derivatives, and a term.

    >>> PiecewiseTerms(clients=1, weights=((0.5,),)).solution.minimiser.tolist()
    [1.5]

    Args:
        term: h; "none": each client has an implicit step of its own.
        kinks, weights: t_k and w_k, by client and coordinate (empty: 1).
    """

    tails: Literal["flat", "linear"] = "linear"
    term: Literal["kinks", "box", "none"] = "kinks"
    kinks: Annotated[Vectors, Number(default=1.0, middle=0.0)] = ()
    weights: Annotated[Vectors, Number(default=1.0, positive=True)] = ()

    def validate(self) -> None:
        """Refuse losses that are not convex."""
        super().validate()
        rise = bool((self.parts.plain.extremes[0] >= 0).all())
        self.require("gradients", "values that nowhere fall", rise)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return a member of each term, one client and several."""
        bent = ((-1.0, -1.0), (0.5, 0.25), (2.0, 0.25), (3.0, 4.0))
        one, two = ((bent,), (bent,)), ((-0.5,), (0.75,))
        kinds = [cls(term=t, gradients=one, kinks=two) for t in ("kinks", "box", "none")]
        return [cls(), *kinds]
