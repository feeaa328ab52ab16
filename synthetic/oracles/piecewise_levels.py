r"""Oracles of two levels whose derivatives are piecewise linear, of one member or of many.

The levels are separable; in each coordinate, for client i, either (minimax)

    f_i(x, y) = h_i(x) + b_i x y − k_i(y) and g_i = −f_i,

or (bilevel)

    f_i(x, y) = h_i(x) + u_i(y) + w_i x y,   g_i(x, y) = (a_i/2) y² − (c_i x + e_i) y,

with h_i', k_i' and u_i' piecewise linear and h_i(0) = k_i(0) = u_i(0) = 0. Coins ξ of mean 0 and
variance 1, which may show one side rarely, add to the first coordinate of

    ∇_x f_i: σ_x ξ_1,   ∇_y f_i: σ_y ξ_2,

and of bilevel problems, v, n and p being sizes, to

    ∇_y g_i: v ξ_3 + (n/κ) ξ_4 sin κy + (p/κ) ξ_5 sin κx,   ∇²_yy g_i: n ξ_4 cos κy,
    ∇²_xy g_i: p ξ_5 cos κx.

Many members lie beside each other in the last axis, [..., members]: then a run has a replicate
for each of them. One member may have any number of replicates.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.toolkit.draws import CoinMean, Law


class LevelOracles:
    """What minimax and bilevel oracles share; tensors are [clients, dim, replicates]."""

    def __init__(self, of: Any, dtype: torch.dtype, device: str, clients: range) -> None:
        self.clients, self.upper_dim = len(clients), of.dim
        self.lower_smoothness = of.lower_smoothness
        self._of: Parts = of.parts.of_clients(clients, dtype, device)
        self._coupling: Tensor = self._of.coupling
        zero = torch.zeros_like(self._coupling)
        self._starts: tuple[Tensor, Tensor] = (
            self._of.plain.integral(zero),
            self._of.of_y.integral(zero),
        )
        self._upper = [name for name in ("x_noise", "y_noise") if self._of.noisy(name)]

    def _law(self, batch: int, noises: list[str]) -> Law | None:
        return CoinMean(batch, (len(noises),), self._of.rare) if noises else None

    def upper_law(self, batch: int) -> Law | None:
        """One coin for each noise of f_i that there is."""
        return self._law(batch, self._upper)

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return h_i'(x) + b_i y (or w_i y) and the noise."""
        grad = self._of.plain.value(x) + self._coupling * y
        return self._with_noise(grad, xi, self._upper, "x_noise")

    def _plain_and_both(self, x: Tensor, y: Tensor) -> Tensor:
        """Return h_i(x) + b_i x y, [clients, dim, replicates]."""
        return self._of.plain.integral(x) - self._starts[0] + self._coupling * x * y

    def _value_of_y(self, y: Tensor) -> Tensor:
        return self._of.of_y.integral(y) - self._starts[1]

    def _with_noise(
        self,
        values: Tensor,
        draw: Tensor | None,
        noises: list[str],
        name: str,
        factor: Callable[[], Tensor] | None = None,
    ) -> Tensor:
        """Return values [clients, dim, replicates] with a noise on the first coordinate.

        Args:
            draw: of the noises, one coin each (None: there is no noise).
            name: whose coin it is; if that is not among the noises, nothing is added.
            factor: gives what the noise is multiplied by, [clients, 1, replicates].
        """
        if draw is None or name not in noises:
            return values
        at = noises.index(name)
        added = getattr(self._of, name) * draw[:, at : at + 1]
        if factor is not None:
            added = added * factor()
        return torch.cat([values[:, :1] + added, values[:, 1:]], 1)


class SaddleOracles(LevelOracles):
    """A minimax problem's oracles: its field, and f_i above −f_i as levels."""

    def __init__(self, of: Any, dtype: torch.dtype, device: str, clients: range) -> None:
        super().__init__(of, dtype, device, clients)
        self.client_weights = torch.full(
            (self.clients, 1, 1), 1.0 / of.clients, dtype=dtype, device=device
        )
        self.lower_law = self.field_law = self.upper_law

    def field_grad(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return (∇_x f_i, −∇_y f_i) at z = (x, y), [clients, 2·dim, replicates]."""
        x, y = x[:, : self.upper_dim], x[:, self.upper_dim :]
        return torch.cat([self.upper_grad_x(x, y, xi), self.lower_grad(x, y, xi)], 1)

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        return (self._plain_and_both(x, y) - self._value_of_y(y)).sum(1)

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇_y f_i = −∇_y g_i, on the same sample."""
        return -self.lower_grad(x, y, xi)

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return k_i'(y) − b_i x and the noise."""
        grad = self._of.of_y.value(y) - self._coupling * x
        return self._with_noise(grad, zeta, self._upper, "y_noise")

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return −∇_x f_i(x, y), exactly."""
        return -self.upper_grad_x(x, y, None)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return k_i''(y) v."""
        return self._of.of_y.slope(y) * v

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −b_i v."""
        return -self._coupling * v


class BilevelOracles(LevelOracles):
    """A bilevel problem's oracles."""

    def __init__(self, of: Any, dtype: torch.dtype, device: str, clients: range) -> None:
        super().__init__(of, dtype, device, clients)
        own = self._of
        self._curvature: Tensor = own.curvature
        self._cross: Tensor = own.cross
        self._offsets: Tensor = own.offsets
        self._wave: Tensor = own.wave
        below = ("value_noise", "curvature_noise", "cross_noise")
        self._lower = [name for name in below if self._of.noisy(name)]

    def lower_law(self, batch: int) -> Law | None:
        """One coin for each noise of g_i that there is."""
        return self._law(batch, self._lower)

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        return (self._plain_and_both(x, y) + self._value_of_y(y)).sum(1)

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return u_i'(y) + w_i x and the noise."""
        grad = self._of.of_y.value(y) + self._coupling * x
        return self._with_noise(grad, xi, self._upper, "y_noise")

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return a_i y − c_i x − e_i and the noise."""
        grad = self._curvature * y - self._cross * x - self._offsets
        grad = self._with_noise(grad, zeta, self._lower, "value_noise")
        for name, at in (("curvature_noise", y), ("cross_noise", x)):
            grad = self._with_noise(grad, zeta, self._lower, name, partial(self._sine, at))
        return grad

    def _sine(self, at: Tensor) -> Tensor:
        return torch.sin(self._wave * at[:, :1]) / self._wave

    def _cosine(self, at: Tensor, v: Tensor) -> Tensor:
        return torch.cos(self._wave * at[:, :1]) * v[:, :1]

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return −c_i y, exactly."""
        return -self._cross * y

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return a_i v and the noise."""
        product = self._curvature * v
        factor = partial(self._cosine, y, v)
        return self._with_noise(product, zeta, self._lower, "curvature_noise", factor)

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −c_i v and the noise."""
        product = -self._cross * v
        factor = partial(self._cosine, x, v)
        return self._with_noise(product, zeta, self._lower, "cross_noise", factor)


def level_oracles(
    of: Any, dtype: torch.dtype, device: str, clients: range
) -> SaddleOracles | BilevelOracles:
    """Return the oracles of two levels: of a minimax problem, which has no curvature below."""
    kind = SaddleOracles if of.parts.curvature is None else BilevelOracles
    return kind(of, dtype, device, clients)
