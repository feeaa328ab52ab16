r"""stocBiO: stochastic bilevel optimisation on one machine."""

from __future__ import annotations

from itertools import repeat
from typing import Annotated, Any, NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.algorithms._nested import levels
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.levels import Levels
from driftproof.toolkit.oracles import Bilevel
from driftproof.toolkit.parameters import (
    Constraint,
    NonNegative,
    NonNegativeInt,
    Positive,
    PositiveInt,
)


class State(NamedTuple):
    """x and y, [clients, …, replicates], the same on every client."""

    x: Tensor
    y: Tensor


@algorithm(
    name="stocbio",
    source="Ji, Yang & Liang 2021, Algorithm 2 (stocBiO) with (6); a reference of FedNest",
    statement=r"y^{t} = y^{t-1} - \beta\nabla_y g(x^k, y^{t-1}), \quad v = \eta\sum_{q=0}^{Q}"
    r"\prod_{j\le q}(I-\eta\nabla^2_y g(\zeta_j))\nabla_y f, \quad x^{k+1} = x^k -"
    r"\alpha\big(\nabla_x f - \nabla^2_{xy}g\,v\big)",
)
class StocBiO(Algorithm):
    r"""stocBiO on the means of all clients' functions: what one machine with all data does.

    One step is one k. The clients' answers are averaged whenever the machine asks, so the rounds
    that are counted are what it would cost a federation to follow this machine.

    One round where f = ½y², g = ½y² − xy and (x_0, y_0) = (1, 2): y = 2 − 0.1, and
    the series comes to [∇²_yy g]^{-1}∇_y f = 1.9:

    >>> from driftproof.synthetic.problems import QuadraticBilevel
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticBilevel(dim=1, lower_dim=1, offset=0.0, target=0.0)
    >>> numbers_after(problem, StocBiO(terms=50), "y", "x")
    [1.9, 0.81]

    Args:
        local_steps: 1, as a round is one k.
        inner_calls: D, steps on y from where the last k left it.
        inner_step_size, outer_step_size: β and α.
        terms: Q, matrix products of the series.
        series_step: η; 0 is 1/ℓ_{g,1}.
        batch: samples of each draw.
    """

    local_steps: Annotated[int, Constraint(1, 1, integer=True, why="there is one machine")] = 1
    inner_calls: PositiveInt = 1
    inner_step_size: Positive = 0.1
    outer_step_size: Positive = 0.1
    terms: NonNegativeInt = 5
    series_step: NonNegative = 0.0
    batch: PositiveInt = 1

    needs = "bilevel"
    iterate = "x"
    notation = {
        "K": "rounds",
        "D": "inner_calls",
        "Q": "terms",
        "beta": "inner_step_size",
        "alpha": "outer_step_size",
        "eta": "series_step",
        "b": "batch",
        "m": "clients",
        "mu_g": "lower_strong_convexity",
        "ell_g1": "lower_smoothness",
        "L": "objective_smoothness",
        "F_gap": "initial_gap",
    }
    in_mean = True

    @classmethod
    def examples(cls) -> list[StocBiO]:
        """Return members with the two steps of the series."""
        return [cls(inner_calls=3, terms=2), cls(series_step=0.2, batch=2)]

    def init(self, ctx: Context, oracles: Bilevel, start: Tensor) -> State:
        """Start at (x⁰, y⁰)."""
        return State(*levels(ctx, oracles, start))

    def radii(self, around: Around) -> Radii:
        """Bound y by steps of the mean field at one x, and x by hypergradients."""
        if not isinstance(around, Levels):
            return
        factor = around.of_series(self.terms, summed=True, step=self.series_step)
        x = y = around.start
        while True:
            yield {"x": x, "y": y}
            steps = repeat(self.inner_step_size, self.inner_calls + 1)
            *_, y = around.below(x, y, shared=True).descent(steps)
            x += self.outer_step_size * around.hypergradient(x, y, factor, shared=True)

    def in_use(self, oracles: Bilevel) -> dict[str, Any]:
        """Return its values, η for 0 too."""
        given = _given_or(self.series_step, 1.0 / oracles.lower_smoothness)
        return self.values() | {"series_step": given}

    def step(self, ctx: Context, oracles: Bilevel, state: State) -> State:
        """D steps on y, the series, and one step on x."""
        x, y = state
        lower, upper = oracles.lower_law(self.batch), oracles.upper_law(self.batch)
        for t in range(self.inner_calls):
            (q,) = ctx.average(oracles.lower_grad(x, y, ctx.draw(lower, f"zeta-{t}")))
            y = y - self.inner_step_size * q
        step = self.in_use(oracles)["series_step"]
        xi = ctx.draw(upper, "xi")
        of_x, p = ctx.average(oracles.upper_grad_x(x, y, xi), oracles.upper_grad_y(x, y, xi))
        p = total = step * p
        for n in range(1, self.terms + 1):
            zeta = ctx.draw(lower, f"zeta-series-{n}")
            (p,) = ctx.average(p - step * oracles.lower_hessian_product(x, y, p, zeta))
            total = total + p
        (of_y,) = ctx.average(oracles.lower_cross_product(x, y, total, ctx.draw(lower, "chi")))
        return State(x - self.outer_step_size * (of_x - of_y), y)


def _given_or(given: float | Tensor, otherwise: float) -> float | Tensor:
    """Return a number that is given, and the other where it is 0 (a search gives many at once)."""
    if isinstance(given, Tensor):
        return torch.where(given > 0, given, otherwise)
    return given or otherwise
