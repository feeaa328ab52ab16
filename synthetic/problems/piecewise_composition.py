r"""Any composition whose derivatives are piecewise linear: the family that a search looks through.

**Objective.** F(x) = (1/K) Σ_k [h_k(x) + g_k(f_k(x))], or (1/K) Σ_k [h_k(x) + g_k((1/K) Σ_j
f_j(x))] with ``averaged_inside``. h_k', f_k' and g_k' are piecewise linear in each coordinate,
given by points (x, value), and constant beyond the outermost; h_k(0) = g_k(0) = 0 and f_k(0) is an
offset. The start is 0: another start is another place of the knots. Nothing is built in: clients
may curve against each other, bend anywhere and differ in any way.

**Noise**: coins of mean 0 and variance 1, the rarer side with probability ``rare``;
f_k(x; ξ) = f_k(x) + ξ(v + (a/κ) sin κx_1) e, g_k(y; ζ) = g_k(y) + σζy_1 and
h_k(x; ξ) = h_k(x) + σ_h ξx_1.

**Constants and optimum**: ``building_blocks.piecewise_problem``, with inf F found cell by cell.
"""

from __future__ import annotations

from typing import Annotated

from driftproof.synthetic.building_blocks.curves import (
    AROUND_TWO,
    Curve,
    Curves,
    NoiseSize,
    Number,
    Vectors,
    Wave,
    straight,
)
from driftproof.synthetic.building_blocks.piecewise_problem import PiecewiseProblem
from driftproof.toolkit.parameters import Flag, Positive, PositiveInt, RarerHalf
from driftproof.toolkit.problem import problem


@problem(
    name="piecewise-composition",
    source="a family of driftproof's, for the search of counterexamples",
    statement=r"F(x) = \frac1K\sum_{k=1}^K \big[h_k(x) + g_k(f_k(x))\big],\quad "
    r"h_k',\,f_k',\,g_k' \text{ piecewise linear}",
)
class PiecewiseComposition(PiecewiseProblem):
    """A composition with piecewise linear derivatives.

    By default F is a Huber function around 2, seen from 0, where F' = −1:

    >>> member = PiecewiseComposition()
    >>> numbers = [member.solution.low, *member.initial_gap]
    >>> numbers.append(member.constants["objective_smoothness"])
    >>> [round(number, 9) for number in numbers]
    [-1.5, 1.5, 1.5, 1.0]

    Args:
        clients: K.
        dim: d; the inner values have as many coordinates.
        inner, outer, plain: f_k', g_k' and h_k': ``curves[client][coordinate]`` is a tuple of
            points; an empty tuple is f_k(x) = x, the outer one of the example, and h_k = 0.
        offsets: f_k(0), ``offsets[client][coordinate]`` (empty: 0).
        value_noise, gradient_noise, wave: v, a and κ.
        outer_noise, plain_noise: σ and σ_h.
        rare: q.
        averaged_inside: whether the inner values are averaged before the outer function.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 1
    inner: Annotated[Curves, Curve(default=straight(1.0), opposed=True, letter="f")] = ()
    outer: Annotated[Curves, Curve(default=AROUND_TWO, opposed=True, letter="g")] = ()
    plain: Annotated[Curves, Curve(default=straight(0.0), flag="plain", letter="h")] = ()
    offsets: Annotated[Vectors, Number(default=0.0)] = ()
    value_noise: NoiseSize = 0.0
    gradient_noise: NoiseSize = 0.0
    wave: Annotated[Positive, Wave(of=("gradient_noise",))] = 1.0
    outer_noise: NoiseSize = 0.0
    plain_noise: NoiseSize = 0.0
    rare: RarerHalf = 0.5
    averaged_inside: Flag = False

    @classmethod
    def examples(cls) -> list[PiecewiseComposition]:
        """Return members that bend against each other, with noise, with h, averaged inside."""
        bump = ((-1.0, 0.5), (0.5, 2.0), (1.5, 1.0))
        dip = ((0.0, 1.5), (0.75, 0.25))
        valley = ((-1.0, -1.0), (0.5, 0.5), (2.0, 1.0))
        other = ((-0.5, -1.5), (0.0, -1.0), (0.25, 2.0))
        inner, outer = ((bump,), (dip,)), ((valley,), (other,))
        return [
            cls(),
            cls(inner=inner, outer=outer, offsets=((0.25,), (-1.0,))),
            cls(
                inner=inner,
                outer=outer,
                plain=((other,), (valley,)),
                value_noise=0.25,
                gradient_noise=0.5,
                outer_noise=0.5,
                plain_noise=0.25,
                rare=0.25,
            ),
            cls(clients=1, dim=2, inner=((bump, dip),), outer=((valley, other),)),
            cls(inner=inner, outer=((valley,), (valley,)), averaged_inside=True, value_noise=0.5),
        ]
