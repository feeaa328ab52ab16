"""−[½‖y‖² − b_iᵀy + yᵀA_i x] + (λ/2)‖x‖² as a minimax and as a bilevel problem.

The formulas stand in ``synthetic.problems.quadratic_minimax``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.balls.tensor import Balls
from driftproof.toolkit.draws import Law, SignMean
from driftproof.toolkit.minimax import MinimaxProblem
from driftproof.toolkit.oracles import ClientVectors, LowerVector, UpperVector


class QuadraticMinimaxOracles:
    """The field of each client, [clients, 2·dim, replicates].

    Attributes:
        matrices, offsets: A_i and b_i of the clients held here, as tensors.
        noise: what one sign moves the first entries of ∇_x and ∇_y by.
    """

    def __init__(
        self, of: QuadraticMinimaxProblem, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        chosen = list(clients)
        self.clients, self.upper_dim = len(chosen), of.dim
        a = torch.from_numpy(of.matrices[chosen]).to(device, dtype)
        self._b = torch.from_numpy(of.offsets[chosen]).to(device, dtype)[..., None]
        unit = torch.eye(self.upper_dim, dtype=dtype, device=device).expand_as(a)
        # one product with the block matrix takes fewer passes over memory than two with A and Aᵀ
        above, below = torch.cat([of.regulariser * unit, -a.mT], 2), torch.cat([a, unit], 2)
        self._matrix = torch.cat([above, below], 1)
        self.client_weights = torch.full_like(self._b[:, :1], 1.0 / of.clients)
        self.matrices, self.offsets, self.noise = a, self._b[..., 0], of.gradient_noise / 2**0.5
        self.regulariser = of.regulariser
        self.lower_smoothness = float(of.constants["lower_smoothness"])
        self.upper_law = self.lower_law = self.field_law

    def field_law(self, batch: int) -> Law | None:
        """Two signs, one for x and one for y."""
        return SignMean(batch, (2,)) if self.noise else None

    def field_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return (λx − Aᵀy, y − b + Ax) plus the noise."""
        field = torch.bmm(self._matrix, x)
        field[:, self.upper_dim :] -= self._b
        if xi is not None:
            field[:, :: self.upper_dim] += self.noise * xi
        return field

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        saddle = (y * (self._b - torch.bmm(self.matrices, x))).sum(1)
        return saddle - 0.5 * (y * y).sum(1) + self.regulariser / 2 * (x * x).sum(1)

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return λx − A_iᵀy and the noise."""
        grad = torch.baddbmm(x, self.matrices.mT, y, beta=self.regulariser, alpha=-1)
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

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return v: the Hessian of ½‖y‖²."""
        return v.clone()

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return A_iᵀv."""
        return torch.bmm(self.matrices.mT, v)


class QuadraticMinimaxProblem(MinimaxProblem):
    """What the families with these oracles share; each has its own A_i and b_i."""

    dim: int
    regulariser: float
    oracle_type = QuadraticMinimaxOracles

    @property
    @abstractmethod
    def gradient_noise(self) -> float:
        """σ, the standard deviation of a sample of the field."""

    @property
    @abstractmethod
    def matrices(self) -> np.ndarray:
        """A_i, [clients, dim, dim]."""

    @property
    @abstractmethod
    def offsets(self) -> np.ndarray:
        """b_i, [clients, dim]."""

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Ā [dim, dim] and b̄ [dim]."""
        return self.matrices.mean(0), self.offsets.mean(0)

    @cached_property
    def curvatures(self) -> tuple[float, float, float]:
        """The least and the largest singular value of Ā, and the largest of any A_i."""
        mean = np.linalg.svd(self.means[0], compute_uv=False)
        own = float(np.linalg.norm(self.matrices, 2, (1, 2)).max())
        return float(mean[-1]), float(mean[0]), own

    @property
    def upper_dim(self) -> int:
        """d, the dimension of x."""
        return self.dim

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived in ``synthetic.problems.quadratic_minimax``."""
        least, largest, s = self.curvatures
        lam = self.regulariser
        spread = np.hypot(lam**2 - 1, 2 * s * (1 - lam))
        own = float(abs(1 - lam) + np.hypot(1 + lam, 2 * s)) / 2
        return {
            "objective_smoothness": largest**2 + lam,
            "strong_convexity": least**2 + lam,
            "strong_concavity": 1.0,
            "field_smoothness": float(np.sqrt((lam**2 + 1 + 2 * s**2 + spread) / 2)),
            "field_gradient_noise": self.gradient_noise,
            "field_noise_bound": self.gradient_noise,
            **({"field_monotonicity": min(lam, 1.0)} if lam >= 0 else {}),
            "lower_strong_convexity": 1.0,
            "lower_smoothness": own,
            "upper_smoothness": own,
            "upper_sample_smoothness": abs(lam),
            "lower_hessian_smoothness": 0.0,
            "lower_sample_convexity": 1.0,
            "lower_sample_smoothness": 1.0,
            "upper_gradient_noise": self.gradient_noise,
            "lower_gradient_noise": self.gradient_noise / 2**0.5,
            "upper_noise_bound": self.gradient_noise,
            "lower_noise_bound": self.gradient_noise / 2**0.5,
            "lower_cross_noise_bound": 0.0,
        }

    @cached_property
    def saddle(self) -> tuple[np.ndarray, np.ndarray]:
        """(x*, y*), [dim] each."""
        a, b = self.means
        x = np.linalg.solve(a.T @ a + self.regulariser * np.eye(self.dim), a.T @ b)
        return x, b - a @ x

    def lower_solution(self, x: UpperVector) -> LowerVector:
        """Return y*(x) = b̄ − Āx, [dim, replicates]."""
        if isinstance(x, Balls):  # the means are rounded, the clients' own numbers are not
            return self.enclosed_solution(x[: self.dim])
        a, b = (torch.from_numpy(mean).to(x) for mean in self.means)
        return b[:, None] - a @ x[: self.dim]

    def objective(self, x: Tensor) -> Tensor:
        """Return Φ(x), [replicates]; of z = (x, y), only x counts."""
        if isinstance(x, Balls):  # the mean matrix is rounded, the clients' own are not
            return super().objective(x)
        x = x[: self.dim]
        return 0.5 * (self.lower_solution(x) ** 2).sum(0) + 0.5 * self.regulariser * (x**2).sum(0)

    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇Φ(x), [dim, replicates]; of z = (x, y), only x counts."""
        if isinstance(x, Balls):  # the mean matrix is rounded, the clients' own are not
            return super().gradient(x)
        x = x[: self.dim]
        a = torch.from_numpy(self.means[0]).to(x)
        return self.regulariser * x - a.T @ self.lower_solution(x)
