"""What every problem of a base class is, as data: a search may not leave it.

A statement on minimax problems says nothing of bilevel ones with g ≠ −f. So a family that stands in
for the problems of a claim has to assert what these do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.user_traceback import is_shipped

POINTS, SIZES = 4, (0.1, 1.0, 10.0)
"""Random points at which an assertion is looked at, and how large they are."""
RTOL = 1e-8


@dataclass(frozen=True)
class Assertion:
    """Something that holds for every problem of a kind.

    Attributes:
        words: what, in words.
        offers: the oracles of which it speaks.
        holds: whether it holds for oracles at some points, each client's own.
    """

    words: str
    offers: str
    holds: Callable[[Any, Tensor], bool]

    def of(self, problem: Problem) -> bool:
        """Tell whether it holds for a problem, as far as a few points tell."""
        random, oracles = torch.Generator().manual_seed(0), problem.oracles(torch.float64)
        shape = problem.clients, len(problem.start()), POINTS
        points = torch.randn(shape, generator=random, dtype=torch.float64)
        return self.holds(oracles, torch.cat([size * points for size in SIZES], 2))


def _near(one: Tensor, other: Tensor) -> bool:
    return bool(((one - other).abs() <= RTOL * (1 + one.abs() + other.abs())).all())


def _zero_sum(oracles: Any, z: Tensor) -> bool:
    at = z[:, : oracles.upper_dim], z[:, oracles.upper_dim :]
    return _near(oracles.lower_grad(*at, None), -oracles.upper_grad_y(*at, None)) and _near(
        oracles.lower_grad_x(*at), -oracles.upper_grad_x(*at, None)
    )


def _one_lower_level(oracles: Any, z: Tensor) -> bool:
    z = z[:1].expand_as(z)
    slope = oracles.lower_grad(z[:, : oracles.upper_dim], z[:, oracles.upper_dim :], None)
    return _near(slope, slope[:1].expand_as(slope))


def _convex(oracles: Any, x: Tensor) -> bool:
    y = x.roll(1, -1)
    rise = ((oracles.field_grad(x, None) - oracles.field_grad(y, None)) * (x - y)).sum(1)
    return bool((rise >= -RTOL * (1 + rise.abs())).all())


ASSERTIONS: Mapping[str, Assertion] = {
    "zero-sum": Assertion("g_i = −f_i", "bilevel", _zero_sum),
    "one-lower-level": Assertion("g_i is the same for all clients", "bilevel", _one_lower_level),
    "convex": Assertion("each f_i is convex", "field", _convex),
}


def asserted(problem: Problem) -> frozenset[str]:
    """Return what is asserted of a problem; g_i = −f_i also where its oracles have it."""
    found = set(problem.asserts)
    own = not is_shipped(problem)
    if own and problem.offers == "bilevel" and ASSERTIONS["zero-sum"].of(problem):
        found.add("zero-sum")
    return frozenset(
        found & {name for name, of in ASSERTIONS.items() if of.offers in OFFERS[problem.offers]}
    )
