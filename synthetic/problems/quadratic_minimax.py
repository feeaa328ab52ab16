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
[[λ, −s], [−s, −1]], (|1 − λ| + √((1 + λ)² + 4s²))/2. The field's symmetric part is diag(λ, 1), so
it is min(λ, 1)-monotone. The noise is ±σ/√2 in two entries: its size is σ, its variance σ².

**Optimum.** x* = V diag(s/(s² + λ)) Uᵀb̄ and Φ* = ½ Σ λβ_j²/(s_j² + λ), β = Uᵀb̄.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from driftproof.synthetic.building_blocks.pairs import pair_signs
from driftproof.synthetic.building_blocks.reflections import reflections
from driftproof.synthetic.oracles.quadratic_minimax import QuadraticMinimaxProblem
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt, Real
from driftproof.toolkit.problem import Solution, problem
from driftproof.toolkit.tolerances import CANCELLED


@problem(
    name="quadratic-minimax",
    source="FedNest (2022), slides, minimax example",
    statement=r"\min_x\max_y \frac1n\sum_i -\Big[\tfrac12\|y\|^2 - b_i^\top y + y^\top A_i x\Big]"
    r" + \tfrac{\lambda}{2}\|x\|^2",
)
class QuadraticMinimax(QuadraticMinimaxProblem):
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
        size = self.largest**2 + abs(self.regulariser)  # what cancels keeps its rounding errors
        kept = self.regulariser >= 0 or modulus >= CANCELLED * size
        self.require("regulariser", "so large that s² + λ keeps 1 % of what is added", kept)

    @classmethod
    def examples(cls) -> list[QuadraticMinimax]:
        """Return members with equal and with different clients, noiseless and noisy."""
        return [
            cls(clients=1, dim=1),
            cls(clients=3, dim=3, heterogeneity=0.3, gradient_noise=0.2),
            cls(clients=2, dim=2, smallest=0.0, regulariser=0.5, gradient_noise=0.1),
        ]

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
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Ā [dim, dim] and b̄ [dim]."""
        u, v = self.bases
        return u @ np.diag(self.spectrum) @ v.T, self.offsets.mean(0)

    @cached_property
    def curvatures(self) -> tuple[float, float, float]:
        """The least and the largest s, and the largest of any client, ``largest`` + h."""
        return float(self.spectrum.min()), self.largest, self.largest + self.heterogeneity

    @cached_property
    def solution(self) -> Solution:
        """Φ* in closed form."""
        u, v = self.bases
        beta = u.T @ np.mean(self.offsets, 0)
        shrunk = self.spectrum**2 + self.regulariser
        value = float(0.5 * np.sum(self.regulariser * beta**2 / shrunk))
        minimiser = v @ (self.spectrum * beta / shrunk)
        return Solution(value, value, minimiser, {"method": "closed form", "gap": 0.0})

    def start(self) -> np.ndarray:
        """Return (x_0, y_0), [2·dim]."""
        x = np.full(self.dim, self.distance / np.sqrt(self.dim))
        return np.concatenate([x, np.zeros(self.dim)])
