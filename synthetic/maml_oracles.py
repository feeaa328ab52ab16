"""The oracles of ``synthetic.problems.maml``, where the formulas stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from toolkit.composition import NoPlainPart
from toolkit.draws import Law, SignMean
from toolkit.oracles import ClientVectors, InnerVectors, Pullback

if TYPE_CHECKING:
    from synthetic.problems.maml import MAML


class MAMLOracles(NoPlainPart):
    """The oracles in one dtype; tensors are [clients, dim, replicates]."""

    def __init__(self, of: MAML, dtype: torch.dtype, device: str, clients: range) -> None:
        chosen = list(clients)
        self._of, self.clients = of, len(chosen)

        def tensor(values: np.ndarray) -> Tensor:
            return torch.from_numpy(values[chosen]).to(device, dtype)

        self._a, self._c = tensor(of.curvatures), tensor(of.centres)[..., None]
        self._e = tensor(of.offsets)[:, None]
        self.client_weights = torch.full_like(self._c[:, :1], 1.0 / of.clients)

    def _law(self, batch: int) -> Law | None:
        return SignMean(batch, (1,)) if self._of.gradient_noise else None

    inner_law = outer_law = _law

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return x − η∇f_i(x; ξ) and the symmetric I − ηA_i."""
        rate = self._of.adaptation
        y = x - rate * (self._a @ (x - self._c))
        if xi is not None:
            y = torch.cat([y[:, :1] - rate * self._of.gradient_noise * xi, y[:, 1:]], 1)
        return y, lambda v: v - rate * (self._a @ v)

    def task_value(self, y: InnerVectors) -> Tensor:
        """Return f_i(y), [clients, replicates]."""
        away = y - self._c
        return 0.5 * (away * (self._a @ away)).sum(1) + self._e

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return ∇f_i(y), times exp(f_i(y)/γ)/γ in the robust form, plus the noise κζe."""
        of, grad = self._of, self._a @ (y - self._c)
        if of.form == "exp":
            grad = grad * (torch.exp(self.task_value(y) / of.temperature) / of.temperature)[:, None]
        if zeta is not None:
            grad = torch.cat([grad[:, :1] + of.outer_noise * zeta, grad[:, 1:]], 1)
        return grad

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return f_i(y), or exp(f_i(y)/γ)."""
        value = self.task_value(y)
        return value if self._of.form == "average" else torch.exp(value / self._of.temperature)
