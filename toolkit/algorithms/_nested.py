r"""What FedNest and its relatives share: FedInn, FedIHGP and FedOut, step by step.

One round is one k of Algorithm FedNest: T inner calls of ``inner_steps`` local steps each, then one
outer call of ``outer_steps`` local steps; ``step`` makes one local step.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar, Literal, NamedTuple, Self

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Collective, Context
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.draws import Indices
from driftproof.toolkit.levels import Levels
from driftproof.toolkit.oracles import Bilevel
from driftproof.toolkit.parameters import NonNegativeInt, Positive, PositiveInt, Share

NOTATION = {
    "K": "rounds", "m": "clients", "S": "cohort_size", "T": "inner_calls", "N": "terms",
    "tau": "inner_steps", "tau_x": "outer_steps", "beta": "inner_step_size",
    "alpha": "outer_step_size", "b": "batch", "mu_g": "lower_strong_convexity",
    "ell_g1": "lower_smoothness", "ell_g2": "lower_hessian_smoothness",
    "ell_f0": "upper_gradient_bound", "ell_f1": "upper_smoothness",
    "ell_fx": "upper_sample_smoothness",
    "sigma_f": "upper_gradient_noise", "sigma_gy": "lower_gradient_noise",
    "sigma_g2": "lower_hessian_noise", "L": "objective_smoothness", "F_gap": "initial_gap",
    "mu": "strong_convexity",
}  # fmt: skip


class State(NamedTuple):
    """What each client holds, [clients, upper_dim or lower_dim, replicates] each.

    Attributes:
        x, y: its iterates.
        x_start, y_start: x^k and y^{k,t}, where its local steps began.
        x_direction, y_direction: the shared h(x^k) and q(y^{k,t}) that variance reduction adds.
    """

    x: Tensor
    y: Tensor
    x_start: Tensor
    y_start: Tensor
    x_direction: Tensor
    y_direction: Tensor


@dataclass(frozen=True, kw_only=True)
class Nested(Algorithm):
    r"""The hyperparameters of FedNest and its relatives.

    Args:
        inner_calls: T, calls of FedInn a round.
        inner_steps, outer_steps: τ, local steps of a call of FedInn and of FedOut.
        inner_step_size, outer_step_size: β and α.
        terms: N of the Neumann series, the matrix products of a sum of N + 1 terms; 0
            leaves all of the indirect part out, p_0 = ∇_y f/ℓ too, as FedNest's method for
            minimax problems does, where ∇_y f = 0 at y*(x).
        series: "sampled" (N' uniform on {0, …, N − 1} and one product, as printed) or "summed"
            (the partial sum of N matrix products, as the paper's public code has it).
        batch: samples a draw.
        participation: the share of clients sampled (uniformly) for each call, and for each term of
            the series.
    """

    inner_calls: PositiveInt = 1
    inner_steps: PositiveInt = 1
    outer_steps: PositiveInt = 1
    inner_step_size: Positive = 0.1
    outer_step_size: Positive = 0.1
    terms: NonNegativeInt = 5
    series: Literal["sampled", "summed"] = "sampled"
    batch: PositiveInt = 1
    participation: Share = 1.0

    needs = "bilevel"
    iterate = "x"
    notation = NOTATION
    in_mean = True
    reduces_inner: ClassVar[bool] = True
    """Whether the local steps on y are variance reduced (FedSVRG), or plain (SGD)."""
    local_hypergradient: ClassVar[bool] = False
    """Whether a client takes its own hypergradient, and plain steps on x."""

    @classmethod
    def examples(cls) -> list[Self]:
        """Return members with all clients and with some."""
        return [
            cls(inner_calls=2, inner_steps=2, outer_steps=2, terms=3),
            cls(inner_steps=2, terms=2, participation=0.5),
        ]

    @property
    def local_steps(self) -> int:  # type: ignore[override]  # a sum here, not a field
        """The local steps of one round."""
        return self.inner_calls * self.inner_steps + self.outer_steps

    def init(self, ctx: Context, oracles: Bilevel, start: Tensor) -> Any:
        """Every client starts at the same (x⁰, y⁰)."""
        x, y = levels(ctx, oracles, start)
        return State(x, y, x, y, torch.zeros_like(x), torch.zeros_like(y))

    def radii(self, around: Around) -> Radii:
        """Each call of FedInn and FedOut by its own bounds, with the other level's radius."""
        return nested_radii(self, around, inner=self.inner_calls, outer=1)

    def step(self, ctx: Context, oracles: Bilevel, state: Any) -> Any:
        """One local step: of FedInn in the first T·τ steps of a round, then of FedOut."""
        step = ctx.t % self.local_steps
        inner = self.inner_calls * self.inner_steps
        if step < inner:
            return fed_inn(self, ctx, oracles, state, step % self.inner_steps)
        if self.local_hypergradient:
            return local_fed_out(self, ctx, oracles, state, step - inner)
        return fed_out(self, ctx, oracles, state, step - inner)


def levels(ctx: Context, oracles: Bilevel, start: Tensor) -> tuple[Tensor, Tensor]:
    """Return x⁰ and y⁰ of a start (x⁰, y⁰) as every client holds them."""
    return ctx.everywhere(start[: oracles.upper_dim]), ctx.everywhere(start[oracles.upper_dim :])


def fed_inn(of: Nested, ctx: Context, oracles: Bilevel, state: State, nu: int) -> State:
    """FedInn: local step ν on y at fixed x, around the shared q (or without it)."""
    cohort = ctx.cohort(of.cohort_size(ctx.clients), since=ctx.t - nu)
    law = oracles.lower_law(of.batch)
    start, shared = state.y_start, state.y_direction
    if nu == 0:
        start = state.y
        if of.reduces_inner:
            q = oracles.lower_grad(state.x, start, ctx.draw(law, "zeta-shared"))
            (shared,) = cohort.average(q)
    zeta = ctx.draw(law, "zeta")
    q = oracles.lower_grad(state.x, state.y, zeta)
    if of.reduces_inner:
        q = q - oracles.lower_grad(state.x, start, zeta) + shared
    y = state.y - of.inner_step_size * q
    ctx.mark("q", q)
    ctx.mark("y", y)
    if nu == of.inner_steps - 1:
        (y,) = cohort.average(y)
    return state._replace(y=y, y_start=start, y_direction=shared)


def fed_out(of: Nested, ctx: Context, oracles: Bilevel, state: State, nu: int) -> State:
    """FedOut: local step ν on x at fixed y, around the shared hypergradient h."""
    cohort = ctx.cohort(of.cohort_size(ctx.clients), since=ctx.t - nu)
    law = oracles.upper_law(of.batch)
    start, shared = state.x_start, state.x_direction
    if nu == 0:
        start = state.x
        h = oracles.upper_grad_x(start, state.y, ctx.draw(law, "xi-shared"))
        if of.terms:
            p = fed_ihgp(of, ctx, oracles, start, state.y)
            chi = ctx.draw(oracles.lower_law(of.batch), "chi")
            h = h - oracles.lower_cross_product(start, state.y, p, chi)
        (shared,) = cohort.average(h)
    xi = ctx.draw(law, "xi")
    moved = oracles.upper_grad_x(state.x, state.y, xi)
    h = moved - oracles.upper_grad_x(start, state.y, xi) + shared
    x = state.x - of.outer_step_size * h
    ctx.mark("h", h)
    ctx.mark("x", x)
    if nu == of.outer_steps - 1:
        (x,) = cohort.average(x)
    return state._replace(x=x, x_start=start, x_direction=shared)


def nested_radii(of: Nested, around: Around, *, inner: int, outer: int) -> Radii:
    """Yield the radii of rounds of so many calls of FedInn and of FedOut."""
    if not isinstance(around, Levels):
        return
    x = y = around.start
    yield {"x": x, "y": y}
    while True:
        for _ in range(inner):
            moved, y = inner_radii(of, around, x, y)
            yield from ({"x": x, "y": far} for far in moved)
        for _ in range(outer):
            moved = outer_radii(of, around, x, y)
            yield from ({"x": far, "y": y} for far in moved)
            x = moved[-1]


def inner_radii(of: Nested, levels: Levels, x: float, y: float) -> tuple[list[float], float]:
    """Bound ‖y − y_z‖ after each local step of FedInn, and after the average.

    Args:
        x, y: bounds of ‖x − x_z‖ and of ‖y − y_z‖ as the call begins.
    """
    lower, steps, beta = levels.below(x, y, shared=False), of.inner_steps, of.inner_step_size
    if not of.reduces_inner:
        moved = [*lower.descent(repeat(beta, steps + 1))][1:]
        return moved, moved[-1]
    seen = levels.below(x, y, shared=of.participation == 1)
    apart, off = lower.reduced(beta, steps, seen.longest(y))
    moved = [y + far for far, _ in apart]
    return moved, min(moved[-1], seen.stepped(y, beta * steps) + beta * off)


def outer_radii(of: Nested, levels: Levels, x: float, y: float) -> list[float]:
    """Bound ‖x − x_z‖ after each local step of FedOut (``levels.hypergradient``)."""
    factor = of_series(of, levels)
    if of.local_hypergradient:
        moved = [x]
        for _ in range(of.outer_steps):
            h = levels.hypergradient(moved[-1], y, factor, shared=False)
            moved.append(moved[-1] + of.outer_step_size * h)
        return moved[1:]
    h = levels.hypergradient(x, y, factor, shared=of.participation == 1)
    return [x + far for far, _ in levels.upper.reduced(of.outer_step_size, of.outer_steps, h)[0]]


def of_series(of: Nested, levels: Levels) -> float:
    """Bound ‖p‖/‖∇_y f‖ of FedIHGP."""
    return levels.of_series(of.terms, summed=of.series == "summed") if of.terms else 0.0


def local_fed_out(of: Nested, ctx: Context, oracles: Bilevel, state: State, nu: int) -> State:
    """LFedNest's outer step: a client's own hypergradient at its own x, nothing shared."""
    cohort = ctx.cohort(of.cohort_size(ctx.clients), since=ctx.t - nu)
    h = oracles.upper_grad_x(state.x, state.y, ctx.draw(oracles.upper_law(of.batch), "xi"))
    if of.terms:
        p = fed_ihgp(of, ctx, oracles, state.x, state.y, alone=True)
        chi = ctx.draw(oracles.lower_law(of.batch), "chi")
        h = h - oracles.lower_cross_product(state.x, state.y, p, chi)
    x = state.x - of.outer_step_size * h
    ctx.mark("h", h)
    ctx.mark("x", x)
    if nu == of.outer_steps - 1:
        (x,) = cohort.average(x)
    return state._replace(x=x)


def fed_ihgp(
    of: Nested, ctx: Context, oracles: Bilevel, x: Tensor, y: Tensor, *, alone: bool = False
) -> Tensor:
    """FedIHGP: p_{N'} (or the partial sum), with a cohort of its own for each term.

    Replicates differ in N': the series is run to the longest of them, and each keeps the term that
    it drew. The rounds counted are then those of the longest.

    Args:
        alone: whether every client keeps its own series, so that nothing is communicated.
    """
    step = 1.0 / oracles.lower_smoothness
    cohorts = _Alone() if alone else _Cohorts(ctx, of.cohort_size(ctx.clients))
    p = cohorts.average(
        0, oracles.upper_grad_y(x, y, ctx.draw(oracles.upper_law(of.batch), "xi-series"))
    )
    law = oracles.lower_law(of.batch)
    if of.series == "summed":
        p = total = step * p
        for n in range(1, of.terms + 1):
            zeta = ctx.draw(law, f"zeta-series-{n}")
            p = cohorts.average(n, p - step * oracles.lower_hessian_product(x, y, p, zeta))
            total = total + p
        return total
    # drawn from the far end: the first outcome that a context meets is the longest series
    left_out = ctx.server_draw(Indices((of.terms,), 1), "left-out", since=ctx.t)
    last = of.terms - 1 - left_out
    p = of.terms * step * p
    for n in range(1, int(last.max()) + 1):
        zeta = ctx.draw(law, f"zeta-series-{n}")
        product = p - step * oracles.lower_hessian_product(x, y, p, zeta)
        p = torch.where(n <= last, cohorts.average(n, product), p)
    return p


class _Cohorts:
    """The cohorts S_0, S_1, … of a series; each average is a round of communication."""

    def __init__(self, ctx: Context, size: int) -> None:
        self._ctx, self._size = ctx, size

    def average(self, n: int, value: Tensor) -> Tensor:
        """Return |S_n|^{-1} Σ over S_n."""
        cohort: Collective = self._ctx.cohort(self._size, since=self._ctx.t, name=f"series-{n}")
        return cohort.average(value)[0]


class _Alone:
    """A client on its own."""

    def average(self, n: int, value: Tensor) -> Tensor:
        """Return the client's own value."""
        return value
