"""The oracles of ``synthetic.problems.compositional_bilevel``, whose docstring has the formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from toolkit.draws import Law

if TYPE_CHECKING:
    from synthetic.problems.compositional_bilevel import CompositionalBilevel


class CompositionalBilevelOracles:
    """A composition's oracles as those of two levels; tensors are [clients, …, replicates]."""

    def __init__(
        self, of: CompositionalBilevel, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        self._parts = of.composition.oracles(dtype, device, clients)
        self.clients = len(clients)
        self.upper_dim, self.lower_smoothness = of.dim, of.series_smoothness

    def upper_law(self, batch: int) -> Law | None:
        """The law of h_i's samples."""
        return self._parts.plain_law(batch)

    def lower_law(self, batch: int) -> Law | None:
        """The law of r_i's samples."""
        return self._parts.inner_law(batch)

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return h_i(x) + f(y), [clients, replicates]."""
        return self._parts.plain_value(x) + self._parts.outer_value(y)

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇h_i(x; ξ)."""
        return self._parts.plain_grad(x, xi)

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇f(y), which no sample changes."""
        return self._parts.outer_grad(y, None)

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return y − r_i(x; ζ)."""
        return y - self._parts.inner(x, zeta)[0]

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return −∇r_i(x)ᵀ(y − r_i(x)), exactly."""
        value, pullback = self._parts.inner(x, None)
        return -pullback(y - value)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return v: the Hessian of ½‖y‖²."""
        return v.clone()

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −∇r_i(x; ζ)ᵀv."""
        return -self._parts.inner(x, zeta)[1](v)
