r"""The quadratic minimax family of FedNest, with an exact spectrum.

**Objective.** min_x max_y (1/n) Σ f_i(x, y), f_i = −[½‖y‖² − b_iᵀy + yᵀA_i x] + (λ/2)‖x‖², with
A_i = U diag(s ± h) Vᵀ, U and V products of two Householder reflections, s equally spaced from
``smallest`` to ``largest`` and b_i = b̄ ± h c. Signs alternate within pairs of clients, an odd one
out has none, so the mean Ā = U diag(s) Vᵀ and b̄ are known exactly.

**Reduced objective.** Φ(x) = max_y (1/n) Σ f_i = ½‖b̄ − Āx‖² + (λ/2)‖x‖²; here ``objective`` and
``gradient`` are Φ and ∇Φ, of x in R^d. What an algorithm moves is z = (x, y) in R^{2d}, along the
field (∇_x f_i, −∇_y f_i): FedAvg on it is local gradient descent-ascent. As a bilevel problem it
has g_i = −f_i and y*(x) = b̄ − Āx.

**Saddle point.** (x*, y*(x*)) is the minimax point for λ > −smallest². It is a saddle point,
f(x*, y) ≤ f(x*, y*) ≤ f(x, y*), if and only if λ ≥ 0: f(·, y*) is quadratic with Hessian λI.

**Constants** (proven on R^{2d}): Φ is (largest² + λ)-smooth and (smallest² + λ)-strongly convex, f
is 1-strongly concave in y; each client's field is Lipschitz with the largest singular value of
[[λ, −s], [s, 1]] at s = largest + h, which increases in s; ∇f_i and ∇g_i with that of
[[λ, −s], [−s, −1]], (|1 − λ| + √((1 + λ)² + 4s²))/2. The noise has variance σ².

**Optimum.** x* = V diag(s/(s² + λ)) Uᵀb̄ and Φ* = ½ Σ λβ_j²/(s_j² + λ), β = Uᵀb̄.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from synthetic.oracles.quadratic_minimax import QuadraticMinimaxOracles
from synthetic.pieces.pairs import pair_signs
from synthetic.pieces.reflections import reflections
from toolkit.balls.tensor import Balls
from toolkit.bilevel import BilevelProblem
from toolkit.oracles import LowerVector, UpperVector
from toolkit.parameters import NonNegative, Positive, PositiveInt, Real
from toolkit.problem import Solution, problem


@problem(
    name="quadratic-minimax",
    source="FedNest (2022), slides, minimax example",
    statement=r"\min_x\max_y \frac1n\sum_i -\Big[\tfrac12\|y\|^2 - b_i^\top y + y^\top A_i x\Big]"
    r" + \tfrac{\lambda}{2}\|x\|^2",
)
class QuadraticMinimax(BilevelProblem):
    """Strongly concave in y, quadratic in x.

    In one dimension x* = s/(s² + λ) and Φ* = ½λ/(s² + λ):

    >>> solution = QuadraticMinimax(dim=1, largest=1.0, regulariser=1.0).solution
    >>> float(solution.minimiser[0]), solution.high
    (0.5, 0.25)

    Args:
        clients: n.
        dim: d; x and y are both in R^d.
        smallest, largest: the extreme singular values of Ā (in one dimension, ``largest`` alone).
        regulariser: λ.
        heterogeneity: h.
        gradient_noise: σ, the standard deviation of a sample of the field.
        distance: ‖x_0‖ (and y_0 = 0).
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 2
    smallest: NonNegative = 0.5
    largest: Positive = 1.0
    regulariser: Real = 0.1
    heterogeneity: NonNegative = 0.0
    gradient_noise: NonNegative = 0.0
    distance: NonNegative = 1.0

    notation = {"lambda_": "regulariser", "n": "clients"}

    def validate(self) -> None:
        """Refuse a reduced objective that is not strongly convex."""
        self.require("smallest", "at most largest", self.smallest <= self.largest)
        modulus = float(self.spectrum.min()) ** 2 + self.regulariser
        self.require("regulariser", "above −smallest² (in one dimension −largest²)", modulus > 0)

    @classmethod
    def examples(cls) -> list[QuadraticMinimax]:
        """Return members with equal and with different clients, noiseless and noisy."""
        return [
            cls(clients=1, dim=1),
            cls(clients=3, dim=3, heterogeneity=0.3, gradient_noise=0.2),
            cls(clients=2, dim=2, smallest=0.0, regulariser=0.5, gradient_noise=0.1),
        ]

    @property
    def offers(self) -> str:
        """The oracles of a minimax problem: bilevel ones, and the field of both gradients."""
        return "minimax"

    @property
    def upper_dim(self) -> int:
        """d, the dimension of x."""
        return self.dim

    @cached_property
    def signs(self) -> np.ndarray:
        """+1 and −1 within a pair, 0 for an odd client out, [clients]."""
        return pair_signs(self.clients)

    @cached_property
    def spectrum(self) -> np.ndarray:
        """s, the singular values of Ā, [dim]."""
        if self.dim == 1:
            return np.array([self.largest])
        return np.linspace(self.smallest, self.largest, self.dim)

    @cached_property
    def bases(self) -> tuple[np.ndarray, np.ndarray]:
        """U and V, orthogonal, [dim, dim] each."""
        steps = np.arange(1.0, self.dim + 1)
        return reflections(steps, np.cos(steps)), reflections(np.sqrt(steps), np.sin(steps))

    @cached_property
    def matrices(self) -> np.ndarray:
        """A_i, [clients, dim, dim]."""
        u, v = self.bases
        scales = self.spectrum + self.heterogeneity * self.signs[:, None]
        matrices: np.ndarray = np.einsum("ij,kj,lj->kil", u, scales, v)
        return matrices

    @cached_property
    def offsets(self) -> np.ndarray:
        """b_i, [clients, dim]."""
        u, _ = self.bases
        mean = u @ np.full(self.dim, 1.0 / np.sqrt(self.dim))
        shift = u @ np.cos(np.arange(self.dim))
        offsets: np.ndarray = mean + self.heterogeneity * self.signs[:, None] * shift
        return offsets

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        lam, s = self.regulariser, self.largest + self.heterogeneity
        spread = np.hypot(lam**2 - 1, 2 * s * (1 - lam))
        own = float(abs(1 - lam) + np.hypot(1 + lam, 2 * s)) / 2
        return {
            "objective_smoothness": self.largest**2 + lam,
            "strong_convexity": float(self.spectrum.min()) ** 2 + lam,
            "strong_concavity": 1.0,
            "field_smoothness": float(np.sqrt((lam**2 + 1 + 2 * s**2 + spread) / 2)),
            "field_gradient_noise": self.gradient_noise,
            "lower_strong_convexity": 1.0,
            "lower_smoothness": own,
            "upper_smoothness": own,
            "upper_sample_smoothness": abs(lam),
            "lower_hessian_smoothness": 0.0,
            "lower_sample_convexity": 1.0,
            "lower_sample_smoothness": 1.0,
            "upper_gradient_noise": self.gradient_noise,
            "lower_gradient_noise": self.gradient_noise / 2**0.5,
        }

    @cached_property
    def solution(self) -> Solution:
        """Φ* in closed form."""
        u, v = self.bases
        beta = u.T @ np.mean(self.offsets, 0)
        shrunk = self.spectrum**2 + self.regulariser
        value = float(0.5 * np.sum(self.regulariser * beta**2 / shrunk))
        minimiser = v @ (self.spectrum * beta / shrunk)
        return Solution(value, value, minimiser, {"method": "closed form", "gap": 0.0})

    def lower_solution(self, x: UpperVector) -> LowerVector:
        """Return y*(x) = b̄ − Āx, [dim, replicates]."""
        if isinstance(x, Balls):  # the mean matrix is rounded, the clients' own are not
            return self.enclosed_solution(x[: self.dim])
        a, b = self._means(x)
        return b - a @ x[: self.dim]

    def start(self) -> np.ndarray:
        """Return (x_0, y_0), [2·dim]."""
        x = np.full(self.dim, self.distance / np.sqrt(self.dim))
        return np.concatenate([x, np.zeros(self.dim)])

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> QuadraticMinimaxOracles:
        """Return the oracles of some clients."""
        return QuadraticMinimaxOracles(
            self.matrices, self.offsets, regulariser=self.regulariser,
            gradient_noise=self.gradient_noise,
            lower_smoothness=float(self.constants["lower_smoothness"]),
            dtype=dtype, device=device, clients=clients or range(self.clients),
        )  # fmt: skip

    def objective(self, x: Tensor) -> Tensor:
        """Return Φ(x), [replicates]; of z = (x, y), only x counts."""
        if isinstance(x, Balls):  # the mean matrix is rounded, the clients' own are not
            return super().objective(x)
        x = x[: self.dim]
        a, b = self._means(x)
        return 0.5 * ((b - a @ x) ** 2).sum(0) + 0.5 * self.regulariser * (x**2).sum(0)

    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇Φ(x), [dim, replicates]; of z = (x, y), only x counts."""
        if isinstance(x, Balls):  # the mean matrix is rounded, the clients' own are not
            return super().gradient(x)
        x = x[: self.dim]
        a, b = self._means(x)
        return a.T @ (a @ x - b) + self.regulariser * x

    def _means(self, x: Tensor) -> tuple[Tensor, Tensor]:
        u, v = self.bases
        a = torch.from_numpy(u @ np.diag(self.spectrum) @ v.T).to(x)
        return a, torch.from_numpy(np.mean(self.offsets, 0)).to(x)[:, None]
