r"""The minimax problem of FedNest with the random data of its public code.

**Objective.** min_x max_y (1/m) Σ f_i(x, y), f_i = −[½‖y‖² − b_iᵀy + yᵀA_i x] + (λ/2)‖x‖², the
slides' ("printed"). The public notebook (ucr-optml/FedNest, minmax_synthetic.ipynb) follows the
gradients of −½[‖y‖² − b_iᵀy + yᵀA_i x] + (λ/2)‖x‖² ("halved"): c = ½ before b_i and A_i, else 1.

**Data**, drawn by Philox from ``partition``: A_i = t_i I, t_i ~ U(0, a), as in the notebook, or a
matrix of entries U(0, a) ("general": the slides do not restrict A_i); b_i ~ N(0, s_i² I),
s_i ~ U(0, 2s), less the mean of its own entries (centring "entries", the notebook's), or less the
mean of all clients' (centring "clients", which puts the saddle point at 0), or as drawn ("none").
t_i and b_i/s do not depend on each other's parameters.

**Reduced objective**, saddle point: with Ā, b̄ the means (c included), y*(x) = b̄ − Āx,
Φ(x) = ½‖b̄ − Āx‖² + (λ/2)‖x‖², x* = (ĀᵀĀ + λI)⁻¹Āᵀb̄, and (x*, y*(x*)) is a saddle point of the
mean as λ > 0.

**Constants** as those of ``quadratic_minimax``, with the largest singular value of any A_i and the
extreme ones of Ā.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from synthetic.oracles.quadratic_minimax import QuadraticMinimaxOracles
from toolkit.balls.tensor import Balls
from toolkit.bilevel import BilevelProblem
from toolkit.oracles import LowerVector, UpperVector
from toolkit.parameters import NonNegative, NonNegativeInt, Positive, PositiveInt
from toolkit.problem import Solution, problem

STREAMS = {"couplings": 0, "sizes": 1, "offsets": 2}


@problem(
    name="random-minimax",
    source="FedNest (2022), slides, minimax experiment",
    statement=r"\min_x\max_y \frac1m\sum_i -\Big[\tfrac12\|y\|^2 - b_i^\top y + y^\top A_i x\Big]"
    r" + \tfrac{\lambda}{2}\|x\|^2, \quad A_i = t_i I,\ b_i \sim N(0, s_i^2 I)",
)
class RandomMinimax(BilevelProblem):
    """Strongly concave in y, quadratic in x, with random A_i and b_i.

    Without a coupling Φ is (λ/2)‖x‖² + ½‖b̄‖², and b̄ = 0 where the b_i sum to 0:

    >>> problem = RandomMinimax(coupling=0.0, centring="clients")
    >>> problem.constants["strong_convexity"], round(problem.solution.high, 12)
    (0.1, 0.0)

    Args:
        clients: m.
        dim: d; x and y are both in R^d.
        spread: s, half the largest standard deviation of a client's b_i (0: every b_i = 0).
        coupling: a, the largest t_i or entry of A_i.
        matrices_drawn: "multiples" of I, or "general".
        centring: what is taken off b_i: the mean of its "entries", of the "clients", or "none".
        regulariser: λ.
        form: "printed" or "halved".
        entry: every entry of x_0 and of y_0.
        partition: the seed of the data.
    """

    clients: PositiveInt = 4
    dim: PositiveInt = 2
    spread: NonNegative = 1.0
    coupling: NonNegative = 0.1
    matrices_drawn: Literal["multiples", "general"] = "multiples"
    centring: Literal["entries", "clients", "none"] = "entries"
    regulariser: Positive = 0.1
    form: Literal["printed", "halved"] = "printed"
    entry: NonNegative = 10.0
    partition: NonNegativeInt = 0

    notation = {"lambda_": "regulariser", "m": "clients"}
    gradient_noise: ClassVar[float] = 0.0
    """The oracles are exact."""

    @classmethod
    def examples(cls) -> list[RandomMinimax]:
        """Return members with either kind of matrices, each centring and each form."""
        return [
            cls(clients=3, dim=3, entry=1.0),
            cls(
                clients=2, dim=2, matrices_drawn="general", coupling=1.0, regulariser=0.5,
                centring="none", form="halved", entry=1.0,
            ),
            cls(clients=4, dim=1, centring="clients", partition=1, entry=1.0),
        ]  # fmt: skip

    @property
    def offers(self) -> str:
        """The oracles of a minimax problem: bilevel ones, and the field of both gradients."""
        return "minimax"

    @property
    def upper_dim(self) -> int:
        """d, the dimension of x."""
        return self.dim

    @property
    def _factor(self) -> float:
        """The c before A_i and b_i."""
        return 0.5 if self.form == "halved" else 1.0

    @cached_property
    def matrices(self) -> np.ndarray:
        """c·A_i, [clients, dim, dim]."""
        random, unit = self._stream("couplings"), np.eye(self.dim)
        if self.matrices_drawn == "general":
            unit = np.ones_like(unit)
            drawn = random.uniform(0, 1, (self.clients, self.dim, self.dim))
        else:
            drawn = random.uniform(0, 1, (self.clients, 1, 1))
        matrices: np.ndarray = self._factor * self.coupling * drawn * unit
        return matrices

    @cached_property
    def offsets(self) -> np.ndarray:
        """c·b_i, [clients, dim]."""
        sizes = self._stream("sizes").uniform(0, 2, (self.clients, 1))
        drawn = sizes * self._stream("offsets").standard_normal((self.clients, self.dim))
        if self.centring == "entries":
            drawn -= drawn.mean(1, keepdims=True)
        elif self.centring == "clients":
            drawn -= drawn.mean(0)
        offsets: np.ndarray = self._factor * self.spread * drawn
        return offsets

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived in ``quadratic_minimax``."""
        lam = self.regulariser
        s = float(np.linalg.norm(self.matrices, 2, (1, 2)).max())
        mean = np.linalg.svd(self._means[0], compute_uv=False)
        block = np.linalg.norm(np.array([[lam, -s], [s, 1.0]]), 2)
        own = float(abs(1 - lam) + np.hypot(1 + lam, 2 * s)) / 2
        return {
            "objective_smoothness": float(mean[0]) ** 2 + lam,
            "strong_convexity": float(mean[-1]) ** 2 + lam,
            "strong_concavity": 1.0,
            "field_smoothness": float(block),
            "field_gradient_noise": 0.0,
            "lower_strong_convexity": 1.0,
            "lower_smoothness": own,
            "upper_smoothness": own,
            "upper_sample_smoothness": abs(lam),
            "lower_hessian_smoothness": 0.0,
            "lower_sample_convexity": 1.0,
            "lower_sample_smoothness": 1.0,
            "upper_gradient_noise": 0.0,
            "lower_gradient_noise": 0.0,
        }

    @cached_property
    def saddle(self) -> tuple[np.ndarray, np.ndarray]:
        """(x*, y*), [dim] each."""
        a, b = self._means
        x = np.linalg.solve(a.T @ a + self.regulariser * np.eye(self.dim), a.T @ b)
        return x, b - a @ x

    @cached_property
    def solution(self) -> Solution:
        """Φ* in closed form; below it by at most ‖∇Φ‖²/2μ."""
        at = torch.from_numpy(self.saddle[0])[:, None]
        value, slope = float(self.objective(at)), float(self.gradient(at).norm())
        gap = slope**2 / (2 * self.constants["strong_convexity"])
        return Solution(
            value - gap, value, self.saddle[0], {"method": "closed form", "gap": gap}
        )  # fmt: skip

    def lower_solution(self, x: UpperVector) -> LowerVector:
        """Return y*(x) = b̄ − Āx, [dim, replicates]."""
        a, b = (torch.from_numpy(v).to(x) for v in self._means)
        return b[:, None] - a @ x[: self.dim]

    def start(self) -> np.ndarray:
        """Return (x_0, y_0), [2·dim]."""
        return np.full(2 * self.dim, self.entry)

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> QuadraticMinimaxOracles:
        """Return the oracles of some clients: the other quadratic family's, on these data."""
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
        return 0.5 * (self.lower_solution(x) ** 2).sum(0) + 0.5 * self.regulariser * (x**2).sum(0)

    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇Φ(x), [dim, replicates]; of z = (x, y), only x counts."""
        if isinstance(x, Balls):  # the mean matrix is rounded, the clients' own are not
            return super().gradient(x)
        x = x[: self.dim]
        a = torch.from_numpy(self._means[0]).to(x)
        return self.regulariser * x - a.T @ self.lower_solution(x)

    @cached_property
    def _means(self) -> tuple[np.ndarray, np.ndarray]:
        """Ā [dim, dim] and b̄ [dim]."""
        return self.matrices.mean(0), self.offsets.mean(0)

    def _stream(self, name: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=[self.partition, STREAMS[name]]))
