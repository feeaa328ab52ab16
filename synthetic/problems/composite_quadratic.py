r"""Quadratics with a term h that is not smooth, or on a set; the solution is known exactly.

**Objective.** F(x) = (1/n) Σ f_i(x) + h(x), with Hessian H = μI + (L − μ)11ᵀ/d and

    f_i(x) = ½(x − x*)ᵀH(x − x*) − ⟨s + d_i, x − x*⟩,   x* = r e_1,   s = λ e_1,   d_i = ±δ e_d.

h is λ‖x‖₁, or the indicator of the box ‖x‖_∞ ≤ r or of the ball ‖x‖ ≤ r; then D = 2r√d and 2r.
Without a term s = 0, and ``prox`` is of each f_i. Signs of d_i alternate within pairs of clients,
and an odd one out has none, so the mean is exact.

**Optimum.** ∇f(x*) = −s, and s is a subgradient of each h at x*: so x* is the minimiser, and F* is
λr, or 0 on a set. The start is −x*.

**Constants.** H has the eigenvalue L along 1 and μ else (in one dimension L alone). There is no
noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.pairs import pair_signs
from driftproof.toolkit.oracles import ClientVectors, on_every_client
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt
from driftproof.toolkit.problem import Problem, Solution, problem


class CompositeOracles:
    """The oracles; tensors are [clients, dim, replicates]."""

    def __init__(
        self, of: CompositeQuadratic, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        self._of, self.clients = of, len(clients)
        basis = np.eye(of.dim)
        slope = basis[0] * (0.0 if of.term == "none" else of.penalty)
        slopes = slope + np.outer(of.heterogeneity * pair_signs(of.clients), basis[-1])
        self._slopes = torch.from_numpy(slopes[list(clients), :, None]).to(device, dtype)
        self._minimiser = torch.from_numpy(-of.start())[:, None].to(device, dtype)
        weights = torch.full((self.clients, 1, 1), 1.0 / of.clients, dtype=dtype, device=device)
        self.client_weights = weights

    def field_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def _bent(self, x: ClientVectors) -> ClientVectors:
        along = (self._of.smoothness - self._of.strong_convexity) * x.mean(1, keepdim=True)
        return self._of.strong_convexity * x + along

    def field_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return ∇f_i(x)."""
        return self._bent(x - self._minimiser) - self._slopes

    def mean_loss(self, x: ClientVectors) -> Tensor:
        """Return f_i(x), [clients, replicates]."""
        away = x - self._minimiser
        return ((0.5 * self._bent(away) - self._slopes) * away).sum(1)

    def prox(self, x: ClientVectors, t: float) -> ClientVectors:
        """Return the soft threshold, the projection, or each client's (I + tH)⁻¹-step."""
        if self._of.term == "l1":
            level = t * self._of.penalty
            return (x - level).clamp(min=0) + (x + level).clamp(max=0)
        if self._of.term != "none":
            return self.project(x)
        moved = x - self._minimiser + t * self._slopes
        along = moved.mean(1, keepdim=True)
        flat = (moved - along) / (1 + t * self._of.strong_convexity)
        return self._minimiser + flat + along / (1 + t * self._of.smoothness)

    def project(self, x: ClientVectors) -> ClientVectors:
        """Return the nearest points of the box or the ball."""
        size = self._of.size
        if self._of.term == "box":
            return x.clamp(-size, size)
        length = torch.linalg.vector_norm(x, dim=1, keepdim=True)
        return torch.where(length > size, x * size / length.clamp(min=size), x)

    def linear_minimiser(self, g: ClientVectors) -> ClientVectors:
        """Return a corner of the box (where g is 0, either), or −r g/‖g‖ on the ball."""
        if self._of.term == "box":
            corner = torch.ones_like(g) * self._of.size
            return torch.where(g > 0, -corner, corner)
        least = torch.finfo(g.dtype).tiny  # where g is 0 the centre will do
        length = torch.linalg.vector_norm(g, dim=1, keepdim=True).clamp(min=least)
        lowest: Tensor = -self._of.size * g / length
        return lowest


@problem(
    name="composite-quadratic",
    source="a family of driftproof's: a lasso, or least squares in a box or a ball",
    statement=r"F(x) = \frac1n\sum_i f_i(x) + h(x),\quad"
    r" h \in \{\lambda\|x\|_1,\ I_{\|x\|_\infty\le r},\ I_{\|x\|\le r}\}",
)
class CompositeQuadratic(Problem):
    """Quadratics with a term.

    >>> problem = CompositeQuadratic(size=2.0, penalty=0.5)
    >>> problem.solution.minimiser.tolist(), problem.solution.high
    ([2.0, 0.0], 1.0)

    Args:
        clients: n.
        dim: d.
        term: h; "none": F is the clients' mean, and each client has an implicit step of its own.
        size: r.
        penalty: λ; on a set the length of the slope at x*.
        smoothness, strong_convexity: L and μ.
        heterogeneity: δ.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 2
    term: Literal["l1", "box", "ball", "none"] = "l1"
    size: Positive = 1.0
    penalty: NonNegative = 0.5
    smoothness: Positive = 1.0
    strong_convexity: NonNegative = 0.25
    heterogeneity: NonNegative = 0.0

    notation = {"R": "initial_distance", "lambda_": "penalty"}
    oracle_type = CompositeOracles

    def validate(self) -> None:
        """Refuse μ > L."""
        fits = self.strong_convexity <= self.smoothness
        self.require("strong_convexity", "at most smoothness", fits)

    @property
    def offers(self) -> str:
        """A term's oracles; a set's; or implicit steps of each client."""
        return {"l1": "proximal", "none": "implicit"}.get(self.term, "compact-set")

    @classmethod
    def examples(cls) -> list[CompositeQuadratic]:
        """Return a member of each term, one client and several."""
        return [
            cls(),
            cls(term="box", clients=3, dim=3, heterogeneity=0.5, size=0.5),
            cls(term="ball", clients=1, strong_convexity=0.0),
            cls(term="none", heterogeneity=1.0, dim=1),
        ]

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        wide = {"box": 2 * self.size * self.dim**0.5, "ball": 2 * self.size}
        return {
            "objective_smoothness": self.smoothness,
            "field_smoothness": self.smoothness,
            "strong_convexity": self.smoothness if self.dim == 1 else self.strong_convexity,
            "field_heterogeneity": self.heterogeneity if self.clients > 1 else 0.0,
            "initial_distance": 2 * self.size,
            **({"diameter": wide[self.term]} if self.term in wide else {}),
        }

    @cached_property
    def solution(self) -> Solution:
        """F* in closed form."""
        value = self.penalty * self.size if self.term == "l1" else 0.0
        exact = value == 0 or Fraction(value) == Fraction(self.penalty) * Fraction(self.size)
        method = {"method": "closed form", "gap": 0.0}
        return Solution(value, value, -self.start(), method, exact=exact)

    def start(self) -> np.ndarray:
        """Return −r e_1."""
        start: np.ndarray = -self.size * np.eye(self.dim)[0]
        return start

    def objective(self, x: Tensor) -> Tensor:
        """Return F(x), [replicates]; on a set f(x)."""
        f = self.smooth_part(x)
        return f + self.penalty * x.abs().sum(0) if self.term == "l1" else f

    def smooth_part(self, x: Tensor) -> Tensor:
        """Return f(x), the mean of all f_i(x), [replicates]."""
        oracles: CompositeOracles = self.oracles(x.dtype, str(x.device))
        return oracles.mean_loss(on_every_client(x, self.clients)).mean(0)

    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇f(x)."""
        oracles: CompositeOracles = self.oracles(x.dtype, str(x.device))
        return oracles.field_grad(on_every_client(x, self.clients), None).mean(0)
