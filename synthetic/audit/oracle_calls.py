"""Everything that the protocols of ``toolkit.oracles`` ask of a problem's oracles, as a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.problem import Problem

REPLICATES = 5


@dataclass(frozen=True)
class Points:
    """Where oracles are asked; every client and replicate has a point of its own.

    Attributes:
        x: what the algorithm moves, [clients, size, replicates].
        y: arguments of the outer function, [clients, inner_dim, replicates] (a composition's).
        v: directions for pullbacks or Hessians.
    """

    x: Tensor
    y: Tensor
    v: Tensor

    def of(self, clients: slice) -> Points:
        """Return those of some clients."""
        return Points(self.x[clients], self.y[clients], self.v[clients])


@dataclass(frozen=True)
class Asked:
    """One value that an oracle gives.

    Attributes:
        method: what to look at, as the protocol calls it.
        law: the method that gives the law of its noise (empty: it has none).
        entries: the entries between clients and replicates: (dim,) of a vector, () of a number.
        value: from oracles, points and a draw (None: without noise).
    """

    method: str
    law: str
    entries: tuple[int, ...]
    value: Callable[[Any, Points, Tensor | None], Tensor]


def points(problem: Problem, oracles: Any, *, seed: int = 0) -> Points:
    """Return random points, inside the region on which the constants are proven."""
    random = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64)

    x = normal(problem.clients, len(problem.start()), REPLICATES)
    if problem.radius is not None:
        x = x * (problem.radius / x.norm(dim=1, keepdim=True).clamp(min=problem.radius))
    wide = getattr(problem, "upper_dim", 0)
    y, rows = x, x.shape[1] - wide
    if "composition" in OFFERS.get(problem.offers, ()):
        y = oracles.inner(x, None)[0]
        rows = y.shape[1] if isinstance(y, Tensor) and y.dim() == 3 else 1
    return Points(x, y, normal(problem.clients, rows, REPLICATES))


def asked(problem: Problem, at: Points) -> Iterator[Asked]:
    """Yield every value that algorithms, measures and attacks ask of a problem's oracles.

    Raises:
        DriftproofError: if ``offers`` is no such word, or the start has no lower level.
    """
    if problem.offers not in OFFERS:
        raise unknown_name("word for offers", problem.offers, OFFERS)
    needs, size = OFFERS[problem.offers] | {problem.offers}, at.x.shape[1]
    if needs & {"field", "proximal"}:
        yield Asked("field_grad", "field_law", (size,), lambda o, p, d: o.field_grad(p.x, d))
    if "losses" in needs:
        yield Asked("mean_loss", "", (), lambda o, p, d: o.mean_loss(p.x))
        yield Asked("batch_loss", "field_law", (), lambda o, p, d: o.batch_loss(p.x, d))
    if needs & {"implicit", "proximal"}:
        yield Asked("prox", "", (size,), lambda o, p, d: o.prox(p.x, 0.5))
    if "implicit" in needs:
        yield Asked("mean_loss", "", (), lambda o, p, d: o.mean_loss(p.x))
    if "set" in needs:
        yield Asked("project", "", (size,), lambda o, p, d: o.project(p.x))
    if "compact-set" in needs:
        yield Asked("linear_minimiser", "", (size,), lambda o, p, d: o.linear_minimiser(p.x))
    if "samples" in needs:
        yield Asked("sample_losses", "field_law", (), lambda o, p, d: _mean_of_samples(o, p, d)[0])
        yield Asked(
            "sample_losses", "field_law", (size,), lambda o, p, d: _mean_of_samples(o, p, d)[1]
        )
    if "outer-losses" in needs:
        yield Asked(
            "outer_batch_value", "outer_law", (), lambda o, p, d: o.outer_batch_value(p.y, d)
        )
    if "composition" in needs:
        yield from _composition(size, at.v.shape[1])
    if "bilevel" in needs:
        yield from _bilevel(problem, size)


def _mean_of_samples(oracles: Any, at: Points, xi: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the mean loss of the samples and its gradient, from what is given one by one."""
    losses, pullback = oracles.sample_losses(at.x, xi)
    share = oracles.sample_weights if xi is None else 1.0 / losses.shape[1]
    weights = (share * torch.ones_like(losses)).to(losses)
    return (weights * losses).sum(1), pullback(weights)


def _composition(size: int, inner: int) -> Iterator[Asked]:
    yield Asked("plain_grad", "plain_law", (size,), lambda o, p, d: o.plain_grad(p.x, d))
    yield Asked("plain_value", "", (), lambda o, p, d: o.plain_value(p.x))
    yield Asked("inner", "inner_law", (inner,), lambda o, p, d: o.inner(p.x, d)[0])
    yield Asked("inner", "inner_law", (size,), lambda o, p, d: o.inner(p.x, d)[1](p.v))
    yield Asked("outer_grad", "outer_law", (inner,), lambda o, p, d: o.outer_grad(p.y, d))
    yield Asked("outer_value", "", (), lambda o, p, d: o.outer_value(p.y))


def _bilevel(problem: Problem, size: int) -> Iterator[Asked]:
    of_x: int = problem.upper_dim  # type: ignore[attr-defined]
    of_y = size - of_x
    if of_y < 1:
        raise DriftproofError(
            f"{problem.leaf_name}: start() of {size} entries, where upper_dim = {of_x}",
            "(x_0, y_0): upper_dim entries, and those of y after them",
            "mend start",
        )

    def both(p: Points) -> tuple[Tensor, Tensor]:
        return p.x[:, :of_x], p.x[:, of_x:]

    yield Asked("upper_value", "", (), lambda o, p, d: o.upper_value(*both(p)))
    yield Asked("upper_grad_x", "upper_law", (of_x,), lambda o, p, d: o.upper_grad_x(*both(p), d))
    yield Asked("upper_grad_y", "upper_law", (of_y,), lambda o, p, d: o.upper_grad_y(*both(p), d))
    yield Asked("lower_grad", "lower_law", (of_y,), lambda o, p, d: o.lower_grad(*both(p), d))
    yield Asked("lower_grad_x", "", (of_x,), lambda o, p, d: o.lower_grad_x(*both(p)))
    yield Asked(
        "lower_hessian_product",
        "lower_law",
        (of_y,),
        lambda o, p, d: o.lower_hessian_product(*both(p), p.v, d),
    )
    yield Asked(
        "lower_cross_product",
        "lower_law",
        (of_x,),
        lambda o, p, d: o.lower_cross_product(*both(p), p.v, d),
    )
