r"""Any separable minimax problem with piecewise linear derivatives, which a search looks through.

**Objective.** min_x max_y (1/n) Σ f_i(x, y), f_i = Σ_j [h_i(x_j) + b_i x_j y_j − k_i(y_j)], with
functions and numbers for each client and coordinate. h_i' and k_i' are piecewise linear, given by
points (x, value). Beyond the outermost h_i' is constant, or goes on as its last piece does
(``tails="linear"``: f_i may be strongly convex in x); k_i' rises, and always goes on so.
h_i(0) = k_i(0) = 0. The start is (0, 0): another start is another place of the knots. Nothing is
built in: clients may curve against each other, bend anywhere, differ in any way. As a bilevel
problem it has g_i = −f_i.

**Reduced objective.** y*(x) solves k̄'(y) = b̄x, bars being means, so it is piecewise linear, as is
F'(x) = h̄'(x) + b̄y*(x); F = max_y f̄.

**Noise**: coins of mean 0 and variance 1, the rarer side with probability ``rare``, add σ_x ξ_1 to
the first entry of ∇_x f_i and σ_y ξ_2 to that of ∇_y f_i.

**Constants and optimum**: ``building_blocks.piecewise_levels``, with inf F found cell by cell.
"""

from __future__ import annotations

from typing import Annotated, Literal

from driftproof.synthetic.building_blocks.curves import (
    Curve,
    Curves,
    NoiseSize,
    Number,
    Vectors,
    straight,
)
from driftproof.synthetic.building_blocks.piecewise_levels import PiecewiseLevels
from driftproof.toolkit.minimax import MinimaxProblem
from driftproof.toolkit.parameters import PositiveInt, RarerHalf
from driftproof.toolkit.problem import problem

FROM_TWO = ((0.0, 2.0), (1.0, 3.0))


@problem(
    name="piecewise-minimax",
    source="a family of driftproof's, for the search of counterexamples",
    statement=r"F(x) = \max_y f(x, y) = f(x, y^*(x)),\quad f = \frac1n\sum_{i=1}^n f_i,\quad "
    r"f_i(x, y) = h_i(x) + b_i xy - k_i(y),\quad "
    r"h_i',\,k_i' \text{ piecewise linear}",
)
class PiecewiseMinimax(PiecewiseLevels, MinimaxProblem):
    """A minimax problem with piecewise linear derivatives, strongly concave in y.

    By default k' = y + 2 and b = 1, so that y* = x − 2 and F' = x − 2:

    >>> member = PiecewiseMinimax()
    >>> member.solution.minimiser.tolist(), [round(gap, 9) for gap in member.initial_gap]
    ([2.0], [2.0, 2.0])

    Args:
        clients: n.
        dim: d; x and y are both in R^d.
        plain, lower: h_i' and k_i': ``curves[client][coordinate]`` is a tuple of points; an empty
            tuple is h_i = 0, and the k' of the example.
        coupling: b_i, ``coupling[client][coordinate]`` (empty: 1).
        x_noise, y_noise: σ_x and σ_y.
        rare: q.
        tails: whether h_i' is "flat" or "linear" beyond the outermost points.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 1
    plain: Annotated[
        Curves, Curve(default=straight(0.0), flag="plain", opposed=True, letter="h")
    ] = ()
    lower: Annotated[Curves, Curve(default=FROM_TWO, rises=True, letter="k")] = ()
    coupling: Annotated[Vectors, Number(default=1.0, letter="b")] = ()
    x_noise: NoiseSize = 0.0
    y_noise: NoiseSize = 0.0
    rare: RarerHalf = 0.5
    tails: Literal["flat", "linear"] = "flat"

    notation = {"n": "clients", "mu_g": "lower_strong_convexity", "ell_g1": "lower_smoothness"}

    @classmethod
    def examples(cls) -> list[PiecewiseMinimax]:
        """Return members that bend against each other, with noise, with quadratic k, monotone."""
        valley = ((-1.0, -1.0), (0.5, 0.5), (2.0, 1.0))
        other = ((-0.5, -1.5), (0.0, -1.0), (0.25, 2.0))
        gentle, steep = ((-1.0, 0.0), (0.5, 0.75), (2.0, 4.0)), ((-0.5, -3.0), (0.0, -2.0))
        return [
            cls(),
            cls(
                plain=((valley,), (other,)),
                lower=((gentle,), (steep,)),
                coupling=((2.0,), (-0.5,)),
                x_noise=0.5,
                y_noise=0.25,
                rare=0.25,
            ),
            cls(
                clients=1,
                dim=2,
                lower=((steep, ((0.0, 1.0), (1.0, 1.5))),),
                plain=((valley, other),),
                coupling=((-1.0, 0.75),),
                y_noise=0.5,
            ),
            cls(
                plain=((((0.0, -1.0), (1.0, -0.5)),), (((0.0, 2.0), (1.0, 3.0), (2.0, 6.0)),)),
                lower=((gentle,), (steep,)),
                tails="linear",
            ),
        ]
