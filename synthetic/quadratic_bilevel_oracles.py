"""The oracles of ``synthetic.problems.quadratic_bilevel``, whose docstring has the formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from synthetic.huber import huber_gradient, huber_value
from synthetic.reflections import reflections
from toolkit.draws import Law, SignMean

if TYPE_CHECKING:
    from synthetic.problems.quadratic_bilevel import QuadraticBilevel


def arrays_of(of: QuadraticBilevel) -> dict[str, np.ndarray]:
    """Return H, C, e, a, λ ± l and γ ± κ of every client, clients first, and u."""
    d, signs = of.lower_dim, of.signs[:, None, None]
    u = reflections(np.arange(1.0, d + 1), np.cos(np.arange(1.0, d + 1)))
    swap = np.eye(d)
    swap[:2, :2] = swap[:2, :2][::-1]
    flat, column = u @ np.full(d, d**-0.5), signs[..., 0]
    return {
        "H": u @ (np.diag(of.spectrum) + of.hessian_heterogeneity * signs * swap) @ u.T,
        "C": (of.cross + of.cross_heterogeneity * signs) * (u @ np.eye(d, of.dim)),
        "e": of.offset * flat + of.offset_heterogeneity * column * u[:, 0],
        "a": of.target * flat + of.target_heterogeneity * column * u[:, 0],
        "lambda": of.regulariser + of.regulariser_heterogeneity * of.signs,
        "kappa": of.slope + of.tilt * of.signs,
        "u": u[:, 0],
    }


class QuadraticBilevelOracles:
    """Oracles of some clients in one dtype; tensors are [clients, …, replicates]."""

    def __init__(
        self, of: QuadraticBilevel, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        chosen = list(clients)

        def held(letter: str) -> Tensor:
            return torch.tensor(of.parts[letter][chosen], dtype=dtype, device=device)

        self._of = of
        self.clients = len(chosen)
        self.upper_dim = of.dim
        self.lower_smoothness = float(of.constants["lower_smoothness"])
        self._hessian, self._cross = held("H"), held("C")
        self._offset, self._target = held("e")[..., None], held("a")[..., None]
        self._regulariser, self._tilt = held("lambda")[:, None, None], held("kappa")
        self._tilted = torch.zeros((self.clients, of.dim, 1), dtype=dtype, device=device)
        self._tilted[:, 0, 0] = self._tilt
        sizes = {"v": of.lower_value_noise, "a": of.lower_curvature_noise, "b": of.cross_noise}
        self._noises = [letter for letter, size in sizes.items() if size]
        self._along = torch.tensor(of.parts["u"], dtype=dtype, device=device)[None, :, None]
        self._upper_along = of.upper_noise / 2**0.5 * self._along
        self._bent_along = of.lower_curvature_noise * self._along
        self._value_along = of.lower_value_noise * self._along

    def upper_law(self, batch: int) -> Law | None:
        """Two signs, one for x and one for y."""
        return SignMean(batch, (2,)) if self._of.upper_noise else None

    def lower_law(self, batch: int) -> Law | None:
        """One sign for each noise that there is: value, curvature, cross derivative."""
        return SignMean(batch, (len(self._noises),)) if self._noises else None

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        of, away = self._of, y - self._target
        if of.upper_slope:
            value = huber_value(away, of.upper_slope, of.upper_curvature)
        else:
            value = of.upper_curvature / 2 * (away * away).sum(1)
        plain = self._regulariser[..., 0] / 2 * (x * x).sum(1)
        return value + plain + self._tilt[:, None] * x[:, 0]

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return (λ ± l)x + (γ ± κ)e and the noise."""
        grad = torch.addcmul(self._tilted, self._regulariser, x)
        if xi is not None:
            grad[:, 0].add_(xi[:, 0], alpha=self._of.upper_noise / 2**0.5)
        return grad

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇φ(y − a_i) and the noise."""
        of, away = self._of, y - self._target
        if of.upper_slope:
            grad = huber_gradient(away, of.upper_slope, of.upper_curvature)
        else:
            grad = of.upper_curvature * away
        if xi is not None:
            grad = torch.addcmul(grad, xi[:, 1:2], self._upper_along)
        return grad

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return H_i y − C_i x − e_i and the noise."""
        grad = torch.baddbmm(-self._offset - torch.bmm(self._cross, x), self._hessian, y)
        if zeta is not None and self._of.lower_curvature_noise:
            bent = torch.sin(self._share(y)) * self._sign(zeta, "a")
            grad = torch.addcmul(grad, bent, self._bent_along)
        if zeta is not None and self._of.lower_value_noise:
            grad = torch.addcmul(grad, self._sign(zeta, "v"), self._value_along)
        return grad

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ∇_x g_i = −C_iᵀy, exactly."""
        return -torch.bmm(self._cross.mT, y)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return H_i v and the noise."""
        made = torch.bmm(self._hessian, v)
        if zeta is not None and self._of.lower_curvature_noise:
            bent = torch.cos(self._share(y)) * self._sign(zeta, "a")
            made = torch.addcmul(made, bent * self._share(v), self._bent_along)
        return made

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −C_iᵀv and the noise."""
        made = -torch.bmm(self._cross.mT, v)
        if zeta is not None and self._of.cross_noise:
            made[:, :1].addcmul_(self._sign(zeta, "b"), self._share(v), value=self._of.cross_noise)
        return made

    def _sign(self, zeta: Tensor, letter: str) -> Tensor:
        """Return the sign of a noise that there is, [clients, 1, replicates]."""
        at = self._noises.index(letter)
        return zeta[:, at : at + 1]

    def _share(self, v: Tensor) -> Tensor:
        """Return u·v, [clients, 1, replicates]."""
        return (self._along * v).sum(1, keepdim=True)
