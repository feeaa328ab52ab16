r"""FedIHGP: a federated estimate of the inverse Hessian times a gradient."""

from __future__ import annotations

from itertools import repeat
from typing import NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._nested import Nested, fed_ihgp, of_series
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.levels import Levels
from driftproof.toolkit.oracles import Bilevel
from driftproof.toolkit.parameters import PositiveInt


class State(NamedTuple):
    """x, y and the estimate p, [clients, …, replicates] each."""

    x: Tensor
    y: Tensor
    p: Tensor


@algorithm(
    name="fedihgp",
    source="FedNest (2022), slides, FedIHGP",
    statement=r"p_0 = \tfrac{N}{\ell_{g,1}|S_0|}\sum_{i\in S_0}\nabla_y f_i(x, y;\xi_{i,0}),\; "
    r"p_n = \tfrac1{|S_n|}\sum_{i\in S_n}\big(I - \tfrac1{\ell_{g,1}}\nabla^2_y g_i(x, y;"
    r"\zeta_{i,n})\big)p_{n-1}, \quad n \le N' \sim U\{0,\dots,N-1\}",
)
class FedIHGP(Nested):
    r"""One estimate p_{N'} a round, at (x⁰, y⁰).

    Of the fields ``terms``, ``series``, ``batch`` and ``participation`` count.

    Where f = ½y², g = ½y² − xy and (x_0, y_0) = (1, 2), [∇²_yy g]^{-1}∇_y f is 2;
    one term alone would be 2/ℓ_{g,1} = 1.23607:

    >>> from driftproof.synthetic.problems import QuadraticBilevel
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticBilevel(dim=1, lower_dim=1, offset=0.0, target=0.0)
    >>> numbers_after(problem, FedIHGP(terms=50, series="summed"), "p")
    [2.0]
    """

    terms: PositiveInt = 5

    iterate = "p"
    in_mean = True

    @property
    def local_steps(self) -> int:  # type: ignore[override]
        """1: a round is one estimate."""
        return 1

    @classmethod
    def examples(cls) -> list[FedIHGP]:
        """Return members with each series and with some clients sampled."""
        return [cls(terms=3), cls(terms=2, series="summed", participation=0.5, batch=2)]

    def init(self, ctx: Context, oracles: Bilevel, start: Tensor) -> State:
        """Every client is at (x⁰, y⁰), and p = 0."""
        state = super().init(ctx, oracles, start)
        return State(state.x, state.y, torch.zeros_like(state.y))

    def radii(self, around: Around) -> Radii:
        """Keep x and y where they start; p is a series there."""
        if not isinstance(around, Levels):
            return
        at = {"x": around.start, "y": around.start}
        upper = around.upper.shared if self.participation == 1 else around.upper
        yield {**at, "p": 0.0}
        yield from repeat({**at, "p": of_series(self, around) * upper.longest(around.start)})

    def step(self, ctx: Context, oracles: Bilevel, state: State) -> State:
        """Estimate p again, from the same x and y."""
        return state._replace(p=fed_ihgp(self, ctx, oracles, state.x, state.y))
