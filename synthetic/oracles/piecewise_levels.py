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

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from driftproof.synthetic.pieces.parts import Parts
from driftproof.synthetic.pieces.piecewise_linear import PiecewiseLinear
from driftproof.toolkit.draws import CoinMean, Law


@dataclass(frozen=True)
class LevelParts(Parts):
    """The numbers of some members.

    Attributes:
        plain: h_i', [clients, dim, knots, members].
        of_y: k_i' of minimax problems, u_i' of bilevel ones.
        coupling: b_i or w_i, [clients, dim, members].
        x_noise, y_noise: σ_x and σ_y, [members].
        curvature, cross, offsets: a_i, c_i and e_i (None: a minimax problem).
        value_noise, curvature_noise, wave, cross_noise: v, n, κ and p, [members] (None: the same).
        rare: the probability of the coins' rarer side.
    """

    plain: PiecewiseLinear
    of_y: PiecewiseLinear
    coupling: Tensor
    x_noise: Tensor
    y_noise: Tensor
    curvature: Tensor | None = None
    cross: Tensor | None = None
    offsets: Tensor | None = None
    value_noise: Tensor | None = None
    curvature_noise: Tensor | None = None
    wave: Tensor | None = None
    cross_noise: Tensor | None = None
    rare: float = 0.5


class LevelOracles:
    """What minimax and bilevel oracles share; tensors are [clients, dim, replicates].

    Args:
        lower_smoothness: ℓ_{g,1}, or each member's, [members].
    """

    def __init__(
        self, parts: LevelParts, lower_smoothness: float | Tensor, dtype: torch.dtype, device: str,
        clients: range,
    ) -> None:  # fmt: skip
        chosen = list(clients)

        def placed(x: Tensor) -> Tensor:
            return (x[chosen] if x.ndim > 1 else x).to(device, dtype)

        self.clients, self.upper_dim = len(chosen), parts.dim
        self.lower_smoothness = lower_smoothness
        self._of = parts.changed(placed)
        zero = torch.zeros_like(self._of.coupling)
        self._starts = self._of.plain.integral(zero), self._of.of_y.integral(zero)
        self._upper = [name for name in ("x_noise", "y_noise") if self._noisy(name)]

    def _noisy(self, name: str) -> bool:
        return bool(getattr(self._of, name).any())

    def _law(self, batch: int, noises: list[str]) -> Law | None:
        return CoinMean(batch, (len(noises),), self._of.rare) if noises else None

    def upper_law(self, batch: int) -> Law | None:
        """One coin for each noise of f_i that there is."""
        return self._law(batch, self._upper)

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return h_i'(x) + b_i y (or w_i y) and the noise."""
        grad = self._of.plain.value(x) + self._of.coupling * y
        return self._with_noise(grad, xi, self._upper, "x_noise")

    def _plain_and_both(self, x: Tensor, y: Tensor) -> Tensor:
        """Return h_i(x) + b_i x y, [clients, dim, replicates]."""
        return self._of.plain.integral(x) - self._starts[0] + self._of.coupling * x * y

    def _value_of_y(self, y: Tensor) -> Tensor:
        return self._of.of_y.integral(y) - self._starts[1]

    def _with_noise(
        self, values: Tensor, draw: Tensor | None, noises: list[str], name: str,
        factor: Callable[[], Tensor] | None = None,
    ) -> Tensor:  # fmt: skip
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

    def __init__(
        self, parts: LevelParts, lower_smoothness: float | Tensor, dtype: torch.dtype, device: str,
        clients: range,
    ) -> None:  # fmt: skip
        super().__init__(parts, lower_smoothness, dtype, device, clients)
        self.client_weights = torch.full(
            (self.clients, 1, 1), 1.0 / parts.clients, dtype=dtype, device=device
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
        grad = self._of.of_y.value(y) - self._of.coupling * x
        return self._with_noise(grad, zeta, self._upper, "y_noise")

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return −∇_x f_i(x, y), exactly."""
        return -self.upper_grad_x(x, y, None)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return k_i''(y) v."""
        return self._of.of_y.slope(y) * v

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −b_i v."""
        return -self._of.coupling * v


class BilevelOracles(LevelOracles):
    """A bilevel problem's oracles."""

    def __init__(
        self, parts: LevelParts, lower_smoothness: float | Tensor, dtype: torch.dtype, device: str,
        clients: range,
    ) -> None:  # fmt: skip
        super().__init__(parts, lower_smoothness, dtype, device, clients)
        self._curvature, self._cross, self._offsets, self._wave = (
            _given(x) for x in (self._of.curvature, self._of.cross, self._of.offsets, self._of.wave)
        )
        below = ("value_noise", "curvature_noise", "cross_noise")
        self._lower = [name for name in below if self._noisy(name)]

    def lower_law(self, batch: int) -> Law | None:
        """One coin for each noise of g_i that there is."""
        return self._law(batch, self._lower)

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        return (self._plain_and_both(x, y) + self._value_of_y(y)).sum(1)

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return u_i'(y) + w_i x and the noise."""
        grad = self._of.of_y.value(y) + self._of.coupling * x
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


def _given(x: Tensor | None) -> Tensor:
    assert x is not None
    return x
