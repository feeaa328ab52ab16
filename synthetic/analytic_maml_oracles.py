"""The oracles of ``synthetic.problems.analytic_maml``, where the formulas stand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from toolkit.composition import NoPlainPart
from toolkit.draws import Law, SignMean
from toolkit.oracles import ClientVectors, InnerVectors, Pullback

if TYPE_CHECKING:
    from synthetic.problems.analytic_maml import AnalyticMAML


class AnalyticMAMLOracles(NoPlainPart):
    """The oracles in one dtype; what is of tasks is [clients, tasks, dim, replicates]."""

    def __init__(self, of: AnalyticMAML, dtype: torch.dtype, device: str, clients: range) -> None:
        chosen = list(clients)
        self._of, self.clients = of, len(chosen)
        self._centres = torch.from_numpy(of.centres[chosen]).to(device, dtype)[..., None, None]
        self._signs = torch.from_numpy(of.pattern).to(device, dtype)[:, None]
        self._root = math.sqrt(of.tasks)
        share = torch.full((len(chosen), 1, 1), 1.0 / of.clients, dtype=dtype, device=device)
        self.client_weights = share

    def inner_law(self, batch: int) -> Law | None:
        """Return the law of one sign a task; the outer function's is the same, drawn apart."""
        return SignMean(batch, (self._of.tasks,)) if self._of.noise else None

    outer_law = inner_law

    def task_value(self, at: Tensor) -> Tensor:
        """Return every task's expected loss at its own point, [clients, tasks, replicates]."""
        phase = self._of.frequency * (at - self._centres)
        made: Tensor = self._of.amplitude * (1 - torch.cos(phase)).sum(2)
        return made

    def task_gradient(self, at: Tensor, xi: Tensor | None) -> Tensor:
        """Return every task's gradient at its own point, for signs [clients, tasks, replicates]."""
        of = self._of
        made: Tensor = of.amplitude * of.frequency * torch.sin(of.frequency * (at - self._centres))
        if xi is not None:
            moved = of.noise * of.frequency * self._signs * torch.sin(of.frequency * at)
            made = made - xi[:, :, None] * moved
        return made

    def task_hessian(self, at: Tensor, xi: Tensor | None) -> Tensor:
        """Return the diagonal of every task's Hessian (it has no other entries)."""
        of = self._of
        square = of.frequency**2
        made: Tensor = of.amplitude * square * torch.cos(of.frequency * (at - self._centres))
        if xi is not None:
            moved = of.noise * square * self._signs * torch.cos(of.frequency * at)
            made = made - xi[:, :, None] * moved
        return made

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return the blocks (x − λ∇L_i(x; ξ_i))/√n, and v ↦ Σ_i (I − λ∇²L_i)v_i/√n."""
        at, rate = x[:, None], self._of.adaptation
        moved = (at - rate * self.task_gradient(at, xi)) / self._root
        stretch = (1 - rate * self.task_hessian(at, xi)) / self._root

        def pullback(v: Tensor) -> Tensor:
            return (stretch * self._blocks(v)).sum(1)

        return moved.flatten(1, 2), pullback

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return the blocks ∇L_i(√n y_i; ζ_i)/√n."""
        made = self.task_gradient(self._root * self._blocks(y), zeta) / self._root
        return made.flatten(1, 2)

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return (1/n) Σ L_i(√n y_i), [clients, replicates]."""
        return self.task_value(self._root * self._blocks(y)).mean(1)

    def _blocks(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[0], self._of.tasks, self._of.dim, y.shape[2])
