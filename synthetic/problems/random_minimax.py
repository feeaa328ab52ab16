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

from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import torch

from driftproof.synthetic.oracles.quadratic_minimax import QuadraticMinimaxProblem
from driftproof.toolkit.parameters import NonNegative, NonNegativeInt, Positive, PositiveInt
from driftproof.toolkit.problem import Solution, problem

STREAMS = {"couplings": 0, "sizes": 1, "offsets": 2}


@problem(
    name="random-minimax",
    source="FedNest (2022), slides, minimax experiment",
    statement=r"\min_x\max_y \frac1m\sum_i -\Big[\tfrac12\|y\|^2 - b_i^\top y + y^\top A_i x\Big]"
    r" + \tfrac{\lambda}{2}\|x\|^2, \quad A_i = t_i I,\ b_i \sim N(0, s_i^2 I)",
)
class RandomMinimax(QuadraticMinimaxProblem):
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
                clients=2,
                dim=2,
                matrices_drawn="general",
                coupling=1.0,
                regulariser=0.5,
                centring="none",
                form="halved",
                entry=1.0,
            ),
            cls(clients=4, dim=1, centring="clients", partition=1, entry=1.0),
        ]

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
    def solution(self) -> Solution:
        """Φ* in closed form; below it by at most ‖∇Φ‖²/2μ."""
        at = torch.from_numpy(self.saddle[0])[:, None]
        value, slope = float(self.objective(at)), float(self.gradient(at).norm())
        gap = slope**2 / (2 * self.constants["strong_convexity"])
        return Solution(value - gap, value, self.saddle[0], {"method": "closed form", "gap": gap})

    def start(self) -> np.ndarray:
        """Return (x_0, y_0), [2·dim]."""
        return np.full(2 * self.dim, self.entry)

    def _stream(self, name: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=[self.partition, STREAMS[name]]))
