"""What a constant of each role bounds, as a function of points: what an attack maximises.

A method is called like the role whose constant it attacks (``toolkit.constants.ROLES`` says what
that is) and takes candidate variables, [variables, candidates], to scores, [rows, candidates]. A
row is a client, or a task of one: the constant bounds each of them.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.attacks.bilevel import BilevelScores
from driftproof.synthetic.attacks.outcomes import (
    Draws,
    Outcomes,
    count_outcomes,
    halves,
    norm,
    outcomes,
    quotient,
    spectral,
)
from driftproof.toolkit import at_optimum
from driftproof.toolkit.at_optimum import AT_OPTIMUM, gradients_of_clients, steepness
from driftproof.toolkit.draws import Law
from driftproof.toolkit.oracles import feasible
from driftproof.toolkit.problem import Problem

Oracle = Callable[[Tensor, Tensor | None], Tensor]
"""(points [clients, …, candidates], noise) → values [clients, …, candidates]."""

ROUGHLY = 0.01
"""How far x* may be from the solution's minimiser, where nobody knows, of what both sizes are."""
SAME_EVERYWHERE = AT_OPTIMUM - {"minima_gap"} | {"initial_gradient"}
"""The roles whose score is one number: of the start, or of the minimiser."""


class Scores(BilevelScores):
    """One method a role; ``is_pair`` and ``variables`` say what it takes."""

    def __init__(
        self, problem: Problem, dtype: torch.dtype = torch.float64, draws: Draws = outcomes
    ) -> None:
        self.problem: Any = problem
        self.dtype, self._draws = dtype, draws
        self.oracles = problem.oracles(dtype)
        self.size = len(problem.start())

    def draws(self, law: Law | None, clients: int, width: int) -> Outcomes:
        """Yield the outcomes of a law, in the precision of the oracles."""
        for draw, chance in self._draws(law, clients, width):
            if draw is not None and draw.is_floating_point():
                draw = draw.to(self.dtype)
            yield draw, chance.to(self.dtype)

    def has(self, role: str) -> bool:
        """Say whether the problem's oracles have what the attack on a role asks."""
        needs = {
            "inner": "inner",
            "outer": "outer_grad",
            "lower": "lower_grad_x",
            "upper": "upper_grad_x",
            "plain": "plain_grad",
            "field": "field_grad",
            "task": "task_gradient",
            "loss": "sample_losses",
            "diameter": "linear_minimiser",
            "client": "field_grad",
        }
        if role == "initial_gap":
            return True
        if role in AT_OPTIMUM and (self.problem.solution.minimiser is None or self.error == np.inf):
            return False
        if role in at_optimum.OF_TWO_LEVELS and not self.problem.two_levels:
            return False
        if role == "gradient_dissimilarity":
            return gradients_of_clients(self.problem, self.problem.minimiser) is not None
        if role == "minima_gap":
            own = hasattr(self.problem, "own_values") and not self.problem.inside
            return own or hasattr(self.oracles, "mean_loss")
        if role == "strong_concavity":
            return hasattr(self.oracles, "field_grad") and self.size % 2 == 0
        wanted = needs.get(role.partition("_")[0])
        return hasattr(type(self), role) and (wanted is None or hasattr(self.oracles, wanted))

    def is_pair(self, role: str) -> bool:
        """Say whether a role's score is a difference quotient, between two points."""
        return (role.endswith("_smoothness") and role != "lower_sample_smoothness") or role in (
            "strong_convexity",
            "strong_concavity",
            "client_strong_convexity",
            "field_monotonicity",
            "diameter",
        )

    def anywhere(self, role: str) -> bool:
        """Say whether a role's points are arguments y of an outer function, anywhere."""
        return role.startswith("outer_") and self.problem.outer_everywhere

    def inside(self, role: str) -> bool:
        """Say whether a role's points stay within the problem's radius."""
        return not self.anywhere(role)

    def kept(self, role: str, points: Tensor) -> Tensor:
        """Return points, [size, candidates], drawn to where a role's constant is proven.

        That is the problem's radius, and its set; ends of the set's diameter are directions.
        """
        if not self.inside(role):
            return points
        points = within(points, self.problem.radius)
        of_set = len(points) == self.problem.dim and role != "diameter"
        return feasible(self.problem, points) if of_set else points

    def variables(self, role: str) -> int:
        """Return how many entries a point of a role's score has."""
        if self.anywhere(role):
            return self.inner_dim
        if role == "minima_gap":
            return int(self.problem.clients * self.problem.dim)
        reduced = role in ("objective_smoothness", "strong_convexity", "initial_gap")
        return self.problem.dim if reduced else self.size

    @cached_property
    def inner_dim(self) -> int:
        """The entries of an inner value."""
        at = torch.from_numpy(self.problem.start())[:, None]
        return len(self.oracles.inner(self._every(at), None)[0][0])

    def law(self, role: str) -> Law | None:
        """Return the law of the noise that a role's score enumerates (None: it has none)."""
        exact = ("client_", "objective_", "strong_", "loss_", "initial_", "diameter", "gradient_")
        alone = role in ("field_smoothness", "field_monotonicity", "plain_smoothness")
        if (
            alone
            or role in SAME_EVERYWHERE
            or role.startswith(exact)
            or "_mean_" in role
            or "_heterogeneity" in role
        ):
            return None
        if role.startswith("outer_"):
            law: Law | None = self.oracles.outer_law(1)
            return law or (None if self.problem.outer_everywhere else self.oracles.inner_law(1))
        if role.startswith("lower_"):
            sampled = "_noise" in role or "_sample_" in role
            return self.oracles.lower_law(1) if sampled else None
        if role.startswith("upper_"):
            sampled = "_noise" in role or "_sample_" in role
            return self.oracles.upper_law(1) if sampled else None
        kind = role.partition("_")[0]
        of = getattr(self.oracles, f"{kind}_law" if kind in ("field", "plain") else "inner_law")
        inner_law: Law | None = of(1)
        return inner_law

    def outcomes(self, role: str) -> float:
        """Return how many outcomes of the noise one look at a point takes."""
        return count_outcomes(self.law(role), self.problem.clients)

    def known(self) -> list[Tensor]:
        """Return points that the problem itself names: its start and its minimiser."""
        named = [self.problem.start(), self.problem.start()[: self.problem.dim]]
        if self.problem.solution.minimiser is not None:
            named.append(self.problem.solution.minimiser)
        return [torch.from_numpy(np.array(v, dtype=np.float64)) for v in named]

    def inner_gradient_bound(self, x: Tensor) -> Tensor:
        return self._largest(self.oracles.inner_law(1), x, self._jacobian, spectral)

    def inner_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(self.oracles.inner_law(1), pair, self._jacobian, spectral)

    def inner_gradient_noise(self, x: Tensor) -> Tensor:
        return self._deviation(self.oracles.inner_law(1), x, self._jacobian)

    def inner_value_noise(self, x: Tensor) -> Tensor:
        return self._deviation(
            self.oracles.inner_law(1), x, lambda v, xi: self.oracles.inner(v, xi)[0]
        )

    def inner_gradient_moment(self, x: Tensor) -> Tensor:
        return self._moment(self.oracles.inner_law(1), self._every(x), self._jacobian, spectral)

    def inner_mean_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(None, pair, self._jacobian, spectral)

    def inner_gradient_heterogeneity(self, x: Tensor) -> Tensor:
        jacobians = self._jacobian(self._every(x), None)
        return spectral(jacobians - jacobians.mean(0))

    def plain_gradient_heterogeneity(self, x: Tensor) -> Tensor:
        gradients = self.oracles.plain_grad(self._every(x), None)
        return norm(gradients - gradients.mean(0))

    def outer_gradient_moment(self, x: Tensor) -> Tensor:
        sizes = [
            self._moment(self.oracles.outer_law(1), y, self.oracles.outer_grad, norm)
            for y in self._outer_arguments(x)
        ]
        return torch.stack(sizes).amax(0)

    def outer_mean_smoothness(self, pair: Tensor) -> Tensor:
        return self._outer_slope(pair, None)

    def outer_smoothness(self, pair: Tensor) -> Tensor:
        return self._outer_slope(pair, self.oracles.outer_law(1))

    def outer_gradient_bound(self, x: Tensor) -> Tensor:
        law, grad = self.oracles.outer_law(1), self.oracles.outer_grad
        sizes = [self._largest(law, y, grad, norm, every=False) for y in self._outer_arguments(x)]
        return torch.stack(sizes).amax(0)

    def outer_gradient_noise(self, x: Tensor) -> Tensor:
        law, grad = self.oracles.outer_law(1), self.oracles.outer_grad
        deviations = [self._deviation(law, y, grad, every=False) for y in self._outer_arguments(x)]
        return torch.stack(deviations).amax(0)

    def plain_gradient_bound(self, x: Tensor) -> Tensor:
        return self._largest(self.oracles.plain_law(1), x, self.oracles.plain_grad, norm)

    def plain_gradient_noise(self, x: Tensor) -> Tensor:
        return self._deviation(self.oracles.plain_law(1), x, self.oracles.plain_grad)

    def plain_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(None, pair, self.oracles.plain_grad, norm)

    def field_gradient_bound(self, x: Tensor) -> Tensor:
        return self._largest(self.oracles.field_law(1), x, self.oracles.field_grad, norm)

    def field_gradient_noise(self, x: Tensor) -> Tensor:
        return self._deviation(self.oracles.field_law(1), x, self.oracles.field_grad)

    def field_noise_bound(self, x: Tensor) -> Tensor:
        law, mean = self.oracles.field_law(1), self.oracles.field_grad(self._every(x), None)
        away = self._largest(law, x, lambda at, xi: self.oracles.field_grad(at, xi) - mean, norm)
        if self.problem.offers != "minimax":
            return away
        return torch.maximum(away, self.upper_noise_bound(x))  # the field but for signs

    def field_monotonicity(self, pair: Tensor) -> Tensor:
        x, z = halves(pair)
        one, two = (self.oracles.field_grad(self._every(v), None) for v in (x, z))
        return -quotient(((one - two) * (x - z)).sum(1) / (x - z).norm(dim=0), x, z)

    client_strong_convexity = field_monotonicity

    def field_heterogeneity(self, x: Tensor) -> Tensor:
        fields = self.oracles.field_grad(self._every(x), None)
        return norm(fields - fields.mean(0))

    def field_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(None, pair, self.oracles.field_grad, norm)

    def task_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(None, pair, self._task_gradient, norm)

    def task_hessian_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(None, pair, self._task_hessian, _largest_entry)

    def task_gradient_bound(self, x: Tensor) -> Tensor:
        return self._largest(None, x, self._task_gradient, norm)

    def task_gradient_noise(self, x: Tensor) -> Tensor:
        return self._task_deviation(x, self._task_gradient, norm)

    def task_hessian_noise(self, x: Tensor) -> Tensor:
        return self._task_deviation(x, self._task_hessian, _largest_entry)

    def task_hessian_frobenius_noise(self, x: Tensor) -> Tensor:
        return self._task_deviation(x, self._task_hessian, norm)

    def loss_depth(self, x: Tensor) -> Tensor:
        losses = self.oracles.sample_losses(self._every(x), None)[0].flatten(0, 1)
        depth: Tensor = losses.mean(0) - losses.amin(0)
        return depth[None]

    def initial_gap(self, x: Tensor) -> Tensor:
        start = torch.from_numpy(np.array(self.problem.start()))[: self.problem.dim, None].to(x)
        least = self.problem.objective(feasible(self.problem, x))
        fallen: Tensor = self.problem.objective(start) - least
        return fallen[None]

    @cached_property
    def error(self) -> float:
        """How far the solution's minimiser may be from x*; where nobody knows it is taken for x*.

        Then by ``ROUGHLY``: a problem says of itself that this point is least.
        """
        size = np.linalg.norm(self.problem.solution.minimiser) + np.linalg.norm(
            self.problem.start()
        )
        known = float(self.problem.minimiser_error)
        return known if known < inf else ROUGHLY * float(size)

    def initial_distance(self, x: Tensor) -> Tensor:
        # of the one start, whatever x is
        away = self.problem.start()[: self.problem.dim] - self.problem.solution.minimiser
        return torch.full_like(x[:1], max(float(np.linalg.norm(away)) - self.error, 0.0))

    initial_distance_of_x = initial_distance

    @cached_property
    def _ends(self) -> dict[str, Tensor]:
        return at_optimum.ends_on_two_levels(self.problem, -1, self.error)

    def initial_distance_of_both(self, x: Tensor) -> Tensor:
        return torch.full_like(x[:1], float(self._ends[at_optimum.OF_BOTH]))

    def field_dissimilarity(self, x: Tensor) -> Tensor:
        return torch.full_like(x[:1], float(self._ends[at_optimum.FIELD]))

    def initial_gradient(self, x: Tensor) -> Tensor:
        # of the one start, whatever x is
        start = torch.from_numpy(np.array(self.problem.start()))[: self.problem.dim, None]
        return torch.full_like(x[:1], float(self.problem.gradient(start).norm()))

    def gradient_dissimilarity(self, x: Tensor) -> Tensor:
        # at the one minimiser, whatever x is; this many times its error away, it may be less
        each = gradients_of_clients(self.problem, self.problem.minimiser)
        assert each is not None
        size = float(each.square().sum((1, 2)).mean().sqrt())
        off = steepness(self.problem.constants) * self.error if self.error else 0.0
        return torch.full_like(x[:1], max(size - off, 0.0))

    def minima_gap(self, x: Tensor) -> Tensor:
        # a point of each client, at which its own function may be least
        own = x.reshape(self.problem.clients, self.problem.dim, -1)
        has = hasattr(self.problem, "own_values")
        values = self.problem.own_values(own) if has else self.oracles.mean_loss(own)
        fallen: Tensor = self.problem.solution.low - values.mean(0)
        return fallen[None]

    def diameter(self, ends: Tensor) -> Tensor:
        # the set's extreme points along two directions
        first, second = (self.oracles.linear_minimiser(self._every(g)) for g in halves(ends))
        return norm(first - second)

    def objective_smoothness(self, pair: Tensor) -> Tensor:
        x, z = halves(pair)
        rise = (self.problem.gradient(x) - self.problem.gradient(z)).norm(dim=0)
        return quotient(rise, x, z)[None]

    def strong_convexity(self, pair: Tensor) -> Tensor:
        x, z = halves(pair)
        apart: Tensor = self.problem.gradient(x) - self.problem.gradient(z)
        return -quotient((apart * (x - z)).sum(0) / (x - z).norm(dim=0), x, z)[None]

    def strong_concavity(self, pair: Tensor) -> Tensor:
        # the field's last half is −∇_y; the two points have one x and different y
        x, z = halves(pair)
        half = self.size // 2
        other = torch.cat([x[:half], z[half:]])
        one, two = (self.oracles.field_grad(self._every(v), None)[:, half:] for v in (x, other))
        step = (x - other)[half:]
        rise = ((one - two) * step).sum(1) / step.norm(dim=0)
        return -quotient(rise, x[half:], z[half:])

    def _every(self, x: Tensor) -> Tensor:
        every: Tensor = x.expand(self.problem.clients, *x.shape)
        return every

    def _jacobian(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return each client's Jacobian, [clients, inner_dim, dim, candidates]."""
        value, pullback = self.oracles.inner(x, xi)
        units = torch.eye(value.shape[1], dtype=value.dtype)
        rows = [pullback(unit[:, None].expand_as(value)) for unit in units]
        return torch.stack(rows, 1)

    def _task_gradient(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return each task's gradient, [clients·tasks, dim, candidates]."""
        gradients: Tensor = self.oracles.task_gradient(x[:, None], xi)
        return gradients.flatten(0, 1)

    def _task_hessian(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return the diagonal of each task's Hessian, [clients·tasks, dim, candidates]."""
        hessians: Tensor = self.oracles.task_hessian(x[:, None], xi)
        return hessians.flatten(0, 1)

    def _task_deviation(self, x: Tensor, of: Oracle, size: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the largest task's root mean square distance from its mean, in a norm."""
        at = self._every(x)
        law = self.oracles.inner_law(1)
        mean, total = of(at, None), torch.zeros(at.shape[-1], dtype=at.dtype)
        for draw, chance in self.draws(law, len(at), at.shape[-1]):
            square = size(of(at, draw) - mean) ** 2
            weight = chance.repeat_interleave(len(square) // len(at))[:, None]
            total = total + weight * square
        return total.sqrt()

    def _outer_arguments(self, x: Tensor) -> Iterator[Tensor]:
        """Yield arguments of the outer functions, [clients, inner_dim, candidates].

        The points themselves if the outer constants hold everywhere; else inner values, expected
        and of every outcome of the noise, which is what an algorithm's estimates are made of.
        """
        every = self._every(x)
        if self.problem.outer_everywhere:
            yield every
            return
        yield self.oracles.inner(every, None)[0]
        law = self.oracles.inner_law(1)
        if law is not None:
            for draw, _ in self.draws(law, self.problem.clients, x.shape[-1]):
                yield self.oracles.inner(every, draw)[0]

    def _outer_slope(self, pair: Tensor, law: Law | None) -> Tensor:
        sides = (self._outer_arguments(v) for v in halves(pair))
        slopes = []
        for one, two in zip(*sides, strict=True):
            for zeta, _ in self.draws(law, len(one), one.shape[-1]):
                grad = self.oracles.outer_grad
                rise = norm(grad(one, zeta) - grad(two, zeta))
                slopes.append(quotient(rise, one, two).nan_to_num(-torch.inf))
        return torch.stack(slopes).amax(0)

    def _largest(
        self,
        law: Law | None,
        x: Tensor,
        of: Oracle,
        size: Callable[[Tensor], Tensor],
        *,
        every: bool = True,
    ) -> Tensor:
        at = self._every(x) if every else x
        sizes = [size(of(at, draw)) for draw, _ in self.draws(law, len(at), at.shape[-1])]
        return torch.stack(sizes).amax(0)

    def _steepest(
        self, law: Law | None, pair: Tensor, of: Oracle, size: Callable[[Tensor], Tensor]
    ) -> Tensor:
        x, z = (self._every(point) for point in halves(pair))
        rises = [size(of(x, d) - of(z, d)) for d, _ in self.draws(law, len(x), x.shape[-1])]
        return quotient(torch.stack(rises).amax(0), *halves(pair))

    def _moment(
        self, law: Law | None, at: Tensor, of: Oracle, size: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Return the largest client's root mean square, exactly, from every outcome."""
        total = torch.zeros(len(at), at.shape[-1], dtype=at.dtype)
        for draw, chance in self.draws(law, len(at), at.shape[-1]):
            total = total + chance[:, None] * size(of(at, draw)) ** 2
        return total.sqrt()

    def _deviation(self, law: Law | None, x: Tensor, of: Oracle, *, every: bool = True) -> Tensor:
        """Return the largest client's standard deviation, exactly, from every outcome."""
        at = self._every(x) if every else x
        mean, total = of(at, None), torch.zeros(at.shape[0], at.shape[-1], dtype=at.dtype)
        for draw, chance in self.draws(law, len(at), at.shape[-1]):
            square = ((of(at, draw) - mean) ** 2).flatten(1, -2).sum(1)
            total = total + chance[:, None] * square
        return total.sqrt()


def _largest_entry(diagonals: Tensor) -> Tensor:
    """Return the spectral norm of diagonal matrices, given by their diagonals."""
    norms: Tensor = diagonals.abs().amax(1)
    return norms


def within(points: Tensor, radius: float | None) -> Tensor:
    """Return points, [size, candidates], drawn into a ball."""
    if radius is None:
        return points
    shrunk: Tensor = points * (radius / points.norm(dim=0).clamp(min=radius))
    return shrunk
