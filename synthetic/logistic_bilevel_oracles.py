"""The oracles of ``synthetic.problems.logistic_bilevel``, whose docstring has the formulas.

A sample is its signed row b = l·a, with the loss log(1 + e^{−b·y}).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from toolkit.draws import Indices, Law

if TYPE_CHECKING:
    from synthetic.problems.logistic_bilevel import LogisticBilevel


class LogisticBilevelOracles:
    """Oracles of some clients in one dtype; tensors are [clients, …, replicates]."""

    def __init__(
        self, of: LogisticBilevel, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        chosen = list(clients)

        def held(part: np.ndarray) -> Tensor:
            return torch.tensor(part[chosen], dtype=dtype, device=device)

        self._of = of
        self.clients = len(chosen)
        self.upper_dim = of.dim
        self.lower_smoothness = float(of.constants["lower_smoothness"])
        self._train, self._validation = (held(part) for part in of.data)
        self._cross = held(of.cross_maps)

    def upper_law(self, batch: int) -> Law | None:
        """Numbers of validation samples."""
        return self._law(self._of.validation, batch)

    def lower_law(self, batch: int) -> Law | None:
        """Numbers of training samples."""
        return self._law(self._of.samples, batch)

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        away = -_Minibatch(self._validation, None).along(y)
        plain = self._of.regulariser / 2 * (x * x).sum(1)
        return torch.nn.functional.softplus(away).mean(1) + plain

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return λx; no sample has a part in it."""
        return self._of.regulariser * x

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return −mean σ(−b·y) b over the minibatch of validation samples."""
        return _Minibatch(self._validation, xi).slope(y)

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −mean σ(−b·y) b + νy − C_i x."""
        slope = _Minibatch(self._train, zeta).slope(y)
        return slope + self._of.ridge * y - torch.bmm(self._cross, x)

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ∇_x g_i = −C_iᵀy, exactly."""
        return -torch.bmm(self._cross.mT, y)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return mean σ(b·y)σ(−b·y)(b·v) b + νv."""
        minibatch = _Minibatch(self._train, zeta)
        at = minibatch.along(y)
        bend = torch.sigmoid(at) * torch.sigmoid(-at)
        return minibatch.mean(bend * minibatch.along(v)) + self._of.ridge * v

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −C_iᵀv, which no sample changes."""
        return -torch.bmm(self._cross.mT, v)

    def _law(self, samples: int, batch: int) -> Law | None:
        of = self._of
        return Indices((samples,) * of.clients, batch) if of.noise == "samples" else None


class _Minibatch:
    """Some of the rows [clients, samples, dim] for each client and replicate, or all of them."""

    def __init__(self, rows: Tensor, drawn: Tensor | None) -> None:
        self._rows = rows
        if drawn is not None:
            client = torch.arange(len(rows), device=rows.device)[:, None, None]
            self._rows = rows[client, drawn].permute(
                0, 1, 3, 2
            )  # [clients, batch, dim, replicates]

    def along(self, v: Tensor) -> Tensor:
        """Return b·v for every row b, [clients, rows, replicates]."""
        if self._rows.ndim == 3:
            return torch.bmm(self._rows, v)
        return (self._rows * v[:, None]).sum(2)

    def mean(self, weights: Tensor) -> Tensor:
        """Return the mean of weight times row, [clients, dim, replicates]."""
        if self._rows.ndim == 3:
            return torch.bmm(self._rows.mT, weights) / weights.shape[1]
        return (self._rows * weights[:, :, None]).mean(1)

    def slope(self, y: Tensor) -> Tensor:
        """Return the gradient of the mean logistic loss."""
        return self.mean(-torch.sigmoid(-self.along(y)))
