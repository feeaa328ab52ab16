r"""Any separable bilevel problem, quadratic below and piecewise above: a search looks through it.

**Levels**, with functions and numbers for each client and coordinate:

* g_i(x, y) = Σ_j [(a_i/2) y_j² − (c_i x_j + e_i) y_j], a_i > 0;
* f_i(x, y) = Σ_j [h_i(x_j) + u_i(y_j) + w_i x_j y_j], with h_i' and u_i' piecewise linear, given by
  points (x, value), and constant beyond the outermost. h_i(0) = u_i(0) = 0.

The start is (0, 0): another start is another place of the knots and other e_i. Nothing is built in:
clients may curve against each other, bend anywhere and differ in any way.

**Reduced objective.** y*(x) = (c̄x + ē)/ā, bars being means, and F(x) = (1/m) Σ f_i(x, y*(x)) has a
piecewise linear derivative.

**Noise**: coins of mean 0 and variance 1, the rarer side with probability ``rare``, add to the
first entry of ∇_x f_i: σ_x ξ_1; of ∇_y f_i: σ_y ξ_2; of ∇_y g_i: v ξ_3 + (n/κ) ξ_4 sin κy_1 +
(p/κ) ξ_5 sin κx_1, the gradient of a sample of g_i: its Hessian has n ξ_4 cos κy_1 more, its cross
derivative p ξ_5 cos κx_1.

**Constants and optimum**: ``building_blocks.piecewise_levels``, with inf F found cell by cell.
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
from driftproof.synthetic.building_blocks.piecewise_levels import PiecewiseLevels
from driftproof.toolkit.parameters import Positive, PositiveInt, RarerHalf
from driftproof.toolkit.problem import problem


@problem(
    name="piecewise-bilevel",
    source="a family of driftproof's, for the search of counterexamples",
    statement=r"f_i = h_i(x) + u_i(y) + w_i xy,\quad g_i = \tfrac{a_i}2y^2 - (c_ix + e_i)y,\quad "
    r"h_i',\,u_i' \text{ piecewise linear}",
)
class PiecewiseBilevel(PiecewiseLevels):
    """A bilevel problem: quadratic below, piecewise linear derivatives above.

    By default y* = x and F is a Huber function around 2, seen from 0:

    >>> member = PiecewiseBilevel()
    >>> numbers = [member.solution.low, *member.initial_gap]
    >>> numbers.append(member.constants["upper_gradient_bound"])
    >>> [round(number, 9) for number in numbers]
    [-1.5, 1.5, 1.5, 1.0]

    Args:
        clients: m.
        dim: d; x and y are both in R^d.
        plain, upper: h_i' and u_i': ``curves[client][coordinate]`` is a tuple of points; an empty
            tuple is h_i = 0, and the Huber function of the example.
        curvature, cross, offsets: a_i, c_i and e_i, ``numbers[client][coordinate]`` (empty: 1, 1
            and 0).
        coupling: w_i (empty: 0). f_i is Lipschitz without.
        x_noise, y_noise, value_noise, curvature_noise, wave, cross_noise: σ_x, σ_y, v, n, κ and p.
        rare: q.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 1
    plain: Annotated[Curves, Curve(default=straight(0.0), flag="plain", letter="h")] = ()
    upper: Annotated[Curves, Curve(default=AROUND_TWO, opposed=True, letter="u")] = ()
    curvature: Annotated[Vectors, Number(default=1.0, positive=True, letter="a")] = ()
    cross: Annotated[Vectors, Number(default=1.0, letter="c")] = ()
    offsets: Annotated[Vectors, Number(default=0.0, letter="e")] = ()
    coupling: Annotated[Vectors, Number(default=0.0, middle=1.0, flag="coupled", letter="w")] = ()
    x_noise: NoiseSize = 0.0
    y_noise: NoiseSize = 0.0
    value_noise: NoiseSize = 0.0
    curvature_noise: NoiseSize = 0.0
    wave: Annotated[Positive, Wave(of=("curvature_noise", "cross_noise"))] = 1.0
    cross_noise: NoiseSize = 0.0
    rare: RarerHalf = 0.5

    notation = {"m": "clients", "mu_g": "lower_strong_convexity", "ell_g1": "lower_smoothness"}

    @classmethod
    def examples(cls) -> list[PiecewiseBilevel]:
        """Return members that bend against each other, with every noise, with a coupling."""
        valley = ((-1.0, -1.0), (0.5, 0.5), (2.0, 1.0))
        other = ((-0.5, -1.5), (0.0, -1.0), (0.25, 2.0))
        return [
            cls(),
            cls(
                plain=((valley,), (other,)), upper=((other,), (valley,)),
                curvature=((0.5,), (2.0,)), cross=((-1.0,), (-0.5,)), offsets=((0.25,), (1.0,)),
                x_noise=0.5, y_noise=0.25, value_noise=0.125, curvature_noise=0.25, wave=2.0,
                cross_noise=0.25, rare=0.25,
            ),
            cls(
                clients=1, dim=2, plain=((valley, other),), curvature=((1.5, 0.75),),
                cross=((1.0, 2.0),), coupling=((0.5, 0.25),), value_noise=0.25,
                curvature_noise=0.25,
            ),
        ]  # fmt: skip
