r"""Any losses whose derivatives are piecewise linear: the family that a search looks through.

**Objective.** F(x) = (1/n) Σ_i f_i(x), separable, with f_i' piecewise linear in each coordinate,
given by points (x, value). Beyond the outermost it is constant (gradients are bounded), or goes on
with the slope of its last piece (``tails="linear"``: strongly convex losses, quadratics).
f_i(0) = 0, and the start is 0: another start is another place of the knots.

**Noise**: ∇f_i(x; ξ) = ∇f_i(x) + σξe with a coin ξ of mean 0 and variance 1, whose rarer side has
probability ``rare``.

**Constants and optimum**: ``building_blocks.piecewise_problem``, with inf F found cell by cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

from driftproof.synthetic.building_blocks.curves import AROUND_TWO, Curve, Curves, Noise
from driftproof.synthetic.building_blocks.piecewise_problem import PiecewiseProblem
from driftproof.synthetic.certificates.piecewise import CompositionFunctions, cells, spread_out
from driftproof.toolkit.parameters import NonNegative, PositiveInt, RarerHalf
from driftproof.toolkit.problem import problem


@problem(
    name="piecewise-losses",
    source="a family of driftproof's, for the search of counterexamples",
    statement=r"F(x) = \frac1n\sum_{i=1}^n f_i(x),\quad f_i' \text{ piecewise linear}",
)
class PiecewiseLosses(PiecewiseProblem):
    """Losses with piecewise linear derivatives.

    Two quadratics of curvature 1 around 1 and 3:

    >>> around_one, around_three = ((0.0, -1.0), (1.0, 0.0)), ((0.0, -3.0), (1.0, -2.0))
    >>> member = PiecewiseLosses(gradients=((around_one,), (around_three,)), tails="linear")
    >>> member.solution.minimiser.tolist(), [round(gap, 9) for gap in member.initial_gap]
    ([2.0], [2.0, 2.0])

    Args:
        clients: n.
        dim: d.
        gradients: ``gradients[client][coordinate]``, a tuple of points of f_i' (empty: that of a
            Huber function around 2).
        tails: whether f_i' is "flat" or "linear" beyond the outermost points.
        noise: σ.
        rare: q.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 1
    gradients: Annotated[
        Curves, Curve(default=AROUND_TWO, part="plain", opposed=True, letter="f")
    ] = ()
    tails: Literal["flat", "linear"] = "flat"
    noise: Annotated[NonNegative, Noise(part="plain_noise")] = 0.0
    rare: RarerHalf = 0.5

    offers = "field"
    unique_if = "gradients whose mean nowhere falls, and rises where it is 0,"

    @classmethod
    def examples(cls) -> list[Self]:
        """Return bounded gradients that bend against each other, quadratics, and noise."""
        valley = ((-1.0, -1.0), (0.5, 0.5), (2.0, 1.0))
        other = ((-0.5, -1.5), (0.0, -1.0), (0.25, 2.0))
        near, far = ((0.0, -1.0), (1.0, 0.0)), ((0.0, -3.0), (1.0, -2.5))
        return [
            cls(),
            cls(gradients=((valley,), (other,)), noise=0.5, rare=0.125),
            cls(clients=1, dim=2, gradients=((valley, other),)),
            cls(gradients=((near,), (far,)), tails="linear", noise=0.25),
        ]

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants; F'' is a mean of slopes on each cell, and exact where that is a double."""
        low, high, *_ = cells(CompositionFunctions(self.parts))
        slopes = spread_out(self.parts.plain).slope((low + high) / 2).flatten(1)
        sums = [sum(map(Fraction, of_cell), Fraction()) for of_cell in slopes.T.tolist()]
        bends = [total / self.clients for total in sums]
        exact = {"objective_smoothness": max(map(abs, bends)), "strong_convexity": min(bends)}
        near = {role: float(x) for role, x in exact.items() if float(x) == x >= 0}
        return {**super().constants, **near}
