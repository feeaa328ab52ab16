"""What a bilevel problem's constants bound, as functions of points (see ``scores``)."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from driftproof.synthetic.attacks.outcomes import Draws, halves, norm, quotient, spectral
from driftproof.toolkit.draws import Law

Oracle = Callable[[Tensor, Tensor | None], Tensor]


class BilevelScores:
    """One method a role; a point is z = (x, y), one above the other."""

    problem: Any
    oracles: Any
    draws: Draws

    def lower_strong_convexity(self, z: Tensor) -> Tensor:
        return -_extremes(self._hessian(z, None))[0]

    def lower_sample_convexity(self, z: Tensor) -> Tensor:
        return -self._over_samples(z, 0)

    def lower_sample_smoothness(self, z: Tensor) -> Tensor:
        return self._over_samples(z, 1)

    def lower_smoothness(self, pair: Tensor) -> Tensor:
        return self._slope(pair, self._lower_gradient)

    def lower_hessian_smoothness(self, pair: Tensor) -> Tensor:
        return self._slope(
            pair,
            lambda z: torch.cat([self._hessian(z, None).flatten(1, 2), self._cross(z, None)], 1),
        )

    def upper_smoothness(self, pair: Tensor) -> Tensor:
        return self._slope(pair, self._upper_gradient)

    def upper_sample_smoothness(self, pair: Tensor) -> Tensor:
        one, two = halves(pair)
        d = self.problem.upper_dim
        other = torch.cat([two[:d], one[d:]])  # another x, the same y
        drawn = self.draws(self.oracles.upper_law(1), self.problem.clients, one.shape[-1])
        rises = [
            torch.linalg.vector_norm(
                self.oracles.upper_grad_x(*self._parts(one), draw)
                - self.oracles.upper_grad_x(*self._parts(other), draw),
                dim=1,
            )
            for draw, _ in drawn
        ]
        return quotient(torch.stack(rises).amax(0), one[:d], two[:d])

    def upper_gradient_bound(self, z: Tensor) -> Tensor:
        return norm(self._upper_gradient(z))

    def upper_gradient_noise(self, z: Tensor) -> Tensor:
        return self._spread(self.oracles.upper_law(1), z, self._upper_gradient)

    def lower_gradient_noise(self, z: Tensor) -> Tensor:
        return self._spread(
            self.oracles.lower_law(1), z, lambda at, d: self.oracles.lower_grad(*self._parts(at), d)
        )

    def lower_hessian_noise(self, z: Tensor) -> Tensor:
        return self._spread(
            self.oracles.lower_law(1), z, lambda at, d: self._hessian(at, d).flatten(1, 2)
        )

    def lower_cross_noise(self, z: Tensor) -> Tensor:
        return self._spread(self.oracles.lower_law(1), z, self._cross)

    def upper_noise_bound(self, z: Tensor) -> Tensor:
        return self._farthest(self.oracles.upper_law(1), z, self._upper_gradient, norm)

    def lower_noise_bound(self, z: Tensor) -> Tensor:
        return self._farthest(
            self.oracles.lower_law(1),
            z,
            lambda at, d: self.oracles.lower_grad(*self._parts(at), d),
            norm,
        )

    def lower_cross_noise_bound(self, z: Tensor) -> Tensor:
        return self._farthest(self.oracles.lower_law(1), z, self._crosses, spectral)

    def _parts(self, z: Tensor) -> tuple[Tensor, Tensor]:
        every = z.expand(self.problem.clients, *z.shape)
        return every[:, : self.problem.upper_dim], every[:, self.problem.upper_dim :]

    def _lower_gradient(self, z: Tensor) -> Tensor:
        x, y = self._parts(z)
        of_x, of_y = self.oracles.lower_grad_x(x, y), self.oracles.lower_grad(x, y, None)
        return torch.cat([of_x, of_y], 1)

    def _upper_gradient(self, z: Tensor, draw: Tensor | None = None) -> Tensor:
        x, y = self._parts(z)
        of_x, of_y = (f(x, y, draw) for f in (self.oracles.upper_grad_x, self.oracles.upper_grad_y))
        return torch.cat([of_x, of_y], 1)

    def _hessian(self, z: Tensor, draw: Tensor | None) -> Tensor:
        """Return ∇²_yy g_i(z; ζ), [clients, lower_dim, lower_dim, candidates]."""
        return self._columns(z, lambda x, y, v: self.oracles.lower_hessian_product(x, y, v, draw))

    def _cross(self, z: Tensor, draw: Tensor | None) -> Tensor:
        return self._crosses(z, draw).flatten(1, 2)

    def _crosses(self, z: Tensor, draw: Tensor | None) -> Tensor:
        """Return ∇²_xy g_i(z; ζ), [clients, upper_dim, lower_dim, candidates]."""
        return self._columns(z, lambda x, y, v: self.oracles.lower_cross_product(x, y, v, draw))

    def _columns(self, z: Tensor, of: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Tensor:
        x, y = self._parts(z)
        columns = []
        for j in range(y.shape[1]):
            unit = torch.zeros_like(y)
            unit[:, j] = 1.0
            columns.append(of(x, y, unit))
        return torch.stack(columns, 2)

    def _over_samples(self, z: Tensor, end: int) -> Tensor:
        law = self.oracles.lower_law(1)
        drawn = self.draws(law, self.problem.clients, z.shape[-1])
        extremes = torch.stack([_extremes(self._hessian(z, draw))[end] for draw, _ in drawn])
        return extremes.amin(0) if end == 0 else extremes.amax(0)

    def _slope(self, pair: Tensor, of: Callable[[Tensor], Tensor]) -> Tensor:
        one, two = halves(pair)
        rise = torch.linalg.vector_norm(of(one) - of(two), dim=1)
        return quotient(rise, one, two)

    def _farthest(
        self, law: Law | None, z: Tensor, of: Oracle, size: Callable[[Tensor], Tensor]
    ) -> Tensor:
        drawn, mean = self.draws(law, self.problem.clients, z.shape[-1]), of(z, None)
        return torch.stack([size(of(z, draw) - mean) for draw, _ in drawn]).amax(0)

    def _spread(self, law: Law | None, z: Tensor, of: Oracle) -> Tensor:
        mean, total = of(z, None), torch.zeros(self.problem.clients, z.shape[-1]).to(z)
        for draw, chance in self.draws(law, self.problem.clients, z.shape[-1]):
            total = total + chance[:, None] * ((of(z, draw) - mean) ** 2).sum(1)
        return total.sqrt()


def _extremes(hessians: Tensor) -> tuple[Tensor, Tensor]:
    """Return the least and the largest eigenvalue, [clients, candidates] each."""
    values = torch.linalg.eigvalsh(hessians.movedim(-1, 1))
    return values[..., 0], values.abs().amax(-1)
