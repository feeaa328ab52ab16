"""The oracles of ``synthetic.problems.quadratic_minimax``, whose docstring has the formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from toolkit.draws import Law, SignMean
from toolkit.oracles import ClientVectors

if TYPE_CHECKING:
    from synthetic.problems.quadratic_minimax import QuadraticMinimax


class QuadraticMinimaxOracles:
    """The field of each client, [clients, 2·dim, replicates].

    Attributes:
        matrices, offsets: A_i, [clients, dim, dim], and b_i, [clients, dim].
        regulariser: λ.
        noise: what one sign moves the first entries of ∇_x and ∇_y by.
    """

    def __init__(
        self, of: QuadraticMinimax, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        chosen = list(clients)
        self._of = of
        self.clients = len(chosen)
        a = torch.from_numpy(of.matrices[chosen]).to(device, dtype)
        self._b = torch.from_numpy(of.offsets[chosen]).to(device, dtype)[..., None]
        unit = torch.eye(of.dim, dtype=dtype, device=device).expand_as(a)
        # one product with the block matrix takes fewer passes over memory than two with A and Aᵀ
        above, below = torch.cat([of.regulariser * unit, -a.mT], 2), torch.cat([a, unit], 2)
        self._matrix = torch.cat([above, below], 1)
        self.client_weights = torch.full_like(self._b[:, :1], 1.0 / of.clients)
        self.matrices, self.offsets, self.regulariser = a, self._b[..., 0], of.regulariser
        self.noise = of.gradient_noise / 2**0.5
        self.upper_dim, self.lower_smoothness = of.dim, float(of.constants["lower_smoothness"])
        self.upper_law = self.lower_law = self.plain_law

    def plain_law(self, batch: int) -> Law | None:
        """Two signs, one for x and one for y."""
        return SignMean(batch, (2,)) if self._of.gradient_noise else None

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return (λx − Aᵀy, y − b + Ax) plus the noise."""
        of = self._of
        field = torch.bmm(self._matrix, x)
        field[:, of.dim :] -= self._b
        if xi is not None:
            field[:, :: of.dim] += self.noise * xi
        return field

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        saddle = (y * (self._b - torch.bmm(self.matrices, x))).sum(1)
        return saddle - 0.5 * (y * y).sum(1) + self._of.regulariser / 2 * (x * x).sum(1)

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return λx − A_iᵀy and the noise."""
        grad = torch.baddbmm(x, self.matrices.mT, y, beta=self._of.regulariser, alpha=-1)
        if xi is not None:
            grad[:, 0] += self.noise * xi[:, 0]
        return grad

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇_y f_i = −∇_y g_i, on the same sample."""
        return -self.lower_grad(x, y, xi)

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return y − b_i + A_i x and the noise."""
        grad = torch.baddbmm(y, self.matrices, x) - self._b
        if zeta is not None:
            grad[:, 0] += self.noise * zeta[:, 1]
        return grad

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return A_iᵀy − λx, exactly."""
        return -self.upper_grad_x(x, y, None)

    def lower_hessian(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return v: the Hessian of ½‖y‖²."""
        return v.clone()

    def lower_cross(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return A_iᵀv."""
        return torch.bmm(self.matrices.mT, v)
