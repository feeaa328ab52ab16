"""What a constant of each role bounds, as a function of points: what an attack maximises.

A method is called like the role whose constant it attacks (``toolkit.constants.ROLES`` says what
that is) and takes candidate variables, [variables, candidates], to scores, [candidates].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from synthetic.attack_bilevel import BilevelScores
from synthetic.outcomes import outcomes, quotient
from toolkit.draws import Law
from toolkit.problem import Problem

Oracle = Callable[[Tensor, Tensor | None], Tensor]
"""(points [clients, …, candidates], noise) → values [clients, …, candidates]."""


class Scores(BilevelScores):
    """One method a role; ``variables`` says how many variables it takes."""

    def __init__(self, problem: Problem) -> None:
        self.problem: Any = problem
        self.oracles = problem.oracles(torch.float64)
        self.size = len(problem.start())

    def variables(self, role: str) -> int:
        """Return how many variables a role's score has: those of one point, or of two."""
        single = (
            "inner_gradient_bound", "plain_gradient_bound", "inner_gradient_moment",
            "task_gradient_bound", "loss_depth", "upper_gradient_bound", "lower_strong_convexity",
            "lower_sample_convexity", "lower_sample_smoothness",
        )  # fmt: skip
        if role in single or role.endswith(("_noise", "_heterogeneity")):
            return self.size
        reduced = role in ("objective_smoothness", "strong_convexity")
        return 2 * (self.problem.dim if reduced else self.size)

    def inner_gradient_bound(self, x: Tensor) -> Tensor:
        return self._largest(self.oracles.inner_law(1), x, self._jacobian, _spectral)

    def inner_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(self.oracles.inner_law(1), pair, self._jacobian, _spectral)

    def inner_gradient_noise(self, x: Tensor) -> Tensor:
        return self._deviation(self.oracles.inner_law(1), x, self._jacobian)

    def inner_value_noise(self, x: Tensor) -> Tensor:
        return self._deviation(
            self.oracles.inner_law(1), x, lambda v, xi: self.oracles.inner(v, xi)[0]
        )

    def inner_gradient_moment(self, x: Tensor) -> Tensor:
        return self._moment(self.oracles.inner_law(1), self._every(x), self._jacobian, _spectral)

    def inner_mean_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(None, pair, self._jacobian, _spectral)

    def inner_gradient_heterogeneity(self, x: Tensor) -> Tensor:
        jacobians = self._jacobian(self._every(x), None)
        return _spectral(jacobians - jacobians.mean(0)).amax(0)

    def plain_gradient_heterogeneity(self, x: Tensor) -> Tensor:
        gradients = self.oracles.plain_grad(self._every(x), None)
        return _norm(gradients - gradients.mean(0)).amax(0)

    def outer_gradient_moment(self, pair: Tensor) -> Tensor:
        y = self._outer_argument(*pair.chunk(2))
        return self._moment(self.oracles.outer_law(1), y, self.oracles.outer_grad, _norm)

    def outer_mean_smoothness(self, pair: Tensor) -> Tensor:
        x, z = pair.chunk(2)
        one, two = self._outer_argument(x, x), self._outer_argument(z, z)
        rise = _norm(self.oracles.outer_grad(one, None) - self.oracles.outer_grad(two, None))
        return quotient(rise, one, two).amax(0)

    def outer_gradient_bound(self, pair: Tensor) -> Tensor:
        y = self._outer_argument(*pair.chunk(2))
        return self._largest(
            self.oracles.outer_law(1), y, self.oracles.outer_grad, _norm, every=False
        )

    def outer_smoothness(self, pair: Tensor) -> Tensor:
        x, z = pair.chunk(2)
        one, two = self._outer_argument(x, x), self._outer_argument(z, z)
        rises = [
            _norm(self.oracles.outer_grad(one, zeta) - self.oracles.outer_grad(two, zeta))
            for zeta, _ in outcomes(self.oracles.outer_law(1), len(one), one.shape[-1])
        ]
        return quotient(torch.stack(rises).amax(0), one, two).amax(0)

    def outer_gradient_noise(self, x: Tensor) -> Tensor:
        y = self._outer_argument(x, x)
        return self._deviation(self.oracles.outer_law(1), y, self.oracles.outer_grad, every=False)

    def plain_gradient_bound(self, x: Tensor) -> Tensor:
        return self._largest(self.oracles.plain_law(1), x, self.oracles.plain_grad, _norm)

    def plain_gradient_noise(self, x: Tensor) -> Tensor:
        return self._deviation(self.oracles.plain_law(1), x, self.oracles.plain_grad)

    def field_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(None, pair, self.oracles.plain_grad, _norm)

    def task_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(None, pair, self._task_gradient, _norm)

    def task_hessian_smoothness(self, pair: Tensor) -> Tensor:
        return self._steepest(None, pair, self._task_hessian, _largest_entry)

    def task_gradient_bound(self, x: Tensor) -> Tensor:
        return self._largest(None, x, self._task_gradient, _norm)

    def task_gradient_noise(self, x: Tensor) -> Tensor:
        return self._task_deviation(x, self._task_gradient, _norm)

    def task_hessian_noise(self, x: Tensor) -> Tensor:
        return self._task_deviation(x, self._task_hessian, _largest_entry)

    def task_hessian_frobenius_noise(self, x: Tensor) -> Tensor:
        return self._task_deviation(x, self._task_hessian, _norm)

    def loss_depth(self, x: Tensor) -> Tensor:
        losses = self.oracles.sample_losses(self._every(x), None)[0].flatten(0, 1)
        depth: Tensor = losses.mean(0) - losses.amin(0)
        return depth

    def objective_smoothness(self, pair: Tensor) -> Tensor:
        x, z = pair.chunk(2)
        return quotient((self.problem.gradient(x) - self.problem.gradient(z)).norm(dim=0), x, z)

    def strong_convexity(self, pair: Tensor) -> Tensor:
        x, z = pair.chunk(2)
        apart: Tensor = self.problem.gradient(x) - self.problem.gradient(z)
        return -quotient((apart * (x - z)).sum(0) / (x - z).norm(dim=0), x, z)

    def strong_concavity(self, pair: Tensor) -> Tensor:
        # the field's last half is −∇_y; the two points have one x and different y
        x, z = pair.chunk(2)
        half = self.size // 2
        other = torch.cat([x[:half], z[half:]])
        one, two = (self.oracles.plain_grad(self._every(v), None)[:, half:] for v in (x, other))
        step = (x - other)[half:]
        rise = ((one - two) * step).sum(1).amin(0) / step.norm(dim=0)
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
        made: Tensor = self.oracles.task_gradient(x[:, None], xi)
        return made.flatten(0, 1)

    def _task_hessian(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return the diagonal of each task's Hessian, [clients·tasks, dim, candidates]."""
        made: Tensor = self.oracles.task_hessian(x[:, None], xi)
        return made.flatten(0, 1)

    def _task_deviation(self, x: Tensor, of: Oracle, size: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the largest task's root mean square distance from its mean, in a norm."""
        at = self._every(x)
        law = self.oracles.inner_law(1)
        mean, total = of(at, None), torch.zeros(at.shape[-1], dtype=at.dtype)
        for draw, chance in outcomes(law, len(at), at.shape[-1]):
            square = size(of(at, draw) - mean) ** 2
            weight = chance.repeat_interleave(len(square) // len(at))[:, None]
            total = total + weight * square
        return total.amax(0).sqrt()

    def _outer_argument(self, x: Tensor, moved: Tensor) -> Tensor:
        """Return inner values, moved anywhere if the outer constants hold everywhere."""
        y: Tensor = self.oracles.inner(self._every(x), None)[0]
        return y + moved[:1] if self.problem.outer_everywhere else y

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
        sizes = [size(of(at, draw)) for draw, _ in outcomes(law, len(at), at.shape[-1])]
        return torch.stack(sizes).amax((0, 1))

    def _steepest(
        self, law: Law | None, pair: Tensor, of: Oracle, size: Callable[[Tensor], Tensor]
    ) -> Tensor:
        x, z = (self._every(point) for point in pair.chunk(2))
        rises = [size(of(x, d) - of(z, d)) for d, _ in outcomes(law, len(x), x.shape[-1])]
        return quotient(torch.stack(rises).amax((0, 1)), *pair.chunk(2))

    def _moment(
        self, law: Law | None, at: Tensor, of: Oracle, size: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Return the largest client's root mean square, exactly, from every outcome."""
        total = torch.zeros(len(at), at.shape[-1], dtype=at.dtype)
        for draw, chance in outcomes(law, len(at), at.shape[-1]):
            total = total + chance[:, None] * size(of(at, draw)) ** 2
        return total.amax(0).sqrt()

    def _deviation(self, law: Law | None, x: Tensor, of: Oracle, *, every: bool = True) -> Tensor:
        """Return the largest client's standard deviation, exactly, from every outcome."""
        at = self._every(x) if every else x
        mean, total = of(at, None), torch.zeros(at.shape[0], at.shape[-1], dtype=torch.float64)
        for draw, chance in outcomes(law, len(at), at.shape[-1]):
            square = ((of(at, draw) - mean) ** 2).flatten(1, -2).sum(1)
            total = total + chance[:, None] * square
        return total.amax(0).sqrt()


def _norm(values: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(values, dim=1)
    return norms


def _largest_entry(diagonals: Tensor) -> Tensor:
    """Return the spectral norm of diagonal matrices, given by their diagonals."""
    norms: Tensor = diagonals.abs().amax(1)
    return norms


def _spectral(jacobians: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.matrix_norm(jacobians.movedim(-1, 1), ord=2)
    return norms
