r"""Scalar compositions on which averaging models alone, or models and embeddings, goes astray.

**Objective.** g_k(x) = a_k x + c_k and f = the Huber function of curvature 1 and slope B, so that
f'(y) = clip(y, ±B). ``objective_of`` "averaged" is FedDRO's Φ = f((1/K) Σ g_k), "client-wise"
Local-SCGDM's F = (1/K) Σ f(g_k); the oracles are the same.

* "slopes" (gradient heterogeneity): K = 2, a = (2, −1), c = (0, 1), B = 3. Φ' = (x + 1)/4 and
  x_Φ = −1; F' = (5x − 1)/2 and x_F = 1/5. The clients' own minimisers are 0 and 1, and x_Φ is not
  between them: no average of local steps on f(g_k) leads to it.
* "offsets" (Δ_g = 0): K = 3, a = 1, c = (2, −1, −1), B = 1. Φ' = clip(x, ±1) and x_Φ = 0; F' =
  (1 + 2(x − 1))/3 on [0, 1] and x_F = ½. The gradients of all g_k agree; f' is not affine.

**Constants** (proven on R): B_f = B, L_f = 1, B_g = max |a_k|, L_g = 0, no noise; Δ_g is
max |a_k − ā| = 3/2 or 0; L_Φ = ā² and L_F = (1/K) Σ a_k².

**Optimum.** inf Φ = 0. inf F = F(x_F) = 1/5 ("slopes") or 3/4 ("offsets").
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import numpy as np

from driftproof.synthetic.oracles.composed import BoundedOracles, Parts, parts_of
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.parameters import NonNegativeInt, One, Real
from driftproof.toolkit.problem import Solution, problem

SLOPES = {"slopes": (2.0, -1.0), "offsets": (1.0, 1.0, 1.0)}
OFFSETS = {"slopes": (0.0, 1.0), "offsets": (2.0, -1.0, -1.0)}
OUTER_SLOPE = {"slopes": 3.0, "offsets": 1.0}
MINIMUM = {
    ("slopes", "averaged"): (-1.0, 0.0),
    ("slopes", "client-wise"): (0.2, 0.2),
    ("offsets", "averaged"): (0.0, 0.0),
    ("offsets", "client-wise"): (0.5, 0.75),
}


@problem(
    name="bias-amplification",
    source="FedDRO (2023), Theorem 4.1; a construction of driftproof's",
    statement=r"\Phi(x) = f\Big(\frac1K\sum_k (a_kx+c_k)\Big),\quad f'(y) = "
    r"\mathrm{clip}(y,\pm B)",
)
class BiasAmplification(CompositionProblem):
    """Scalar, without noise.

    Φ and F of the same oracles have their minima apart:

    >>> [float(BiasAmplification(objective_of=o).solution.minimiser[0])
    ...  for o in ("averaged", "client-wise")]
    [-1.0, 0.2]

    Args:
        clients: 2 ("slopes") or 3 ("offsets"); 0 stands for that number.
        dim: 1.
        heterogeneity: "slopes" or "offsets".
        objective_of: "averaged" or "client-wise".
        at: the start.
    """

    clients: NonNegativeInt = 0
    dim: One = 1
    heterogeneity: Literal["slopes", "offsets"] = "slopes"
    objective_of: Literal["averaged", "client-wise"] = "averaged"
    at: Real = 0.25

    oracle_type = BoundedOracles

    def validate(self) -> None:
        """Refuse another number of clients."""
        wanted = len(SLOPES[self.heterogeneity])
        self.require("clients", f"{wanted} (or 0 for it)", self.clients in (0, wanted))
        object.__setattr__(self, "clients", wanted)

    @classmethod
    def examples(cls) -> list[BiasAmplification]:
        """Return both heterogeneities and both objectives."""
        return [
            cls(),
            cls(heterogeneity="offsets"),
            cls(objective_of="client-wise"),
            cls(heterogeneity="offsets", objective_of="client-wise"),
        ]

    @property
    def inside(self) -> bool:
        """Whether the objective is Φ."""
        return self.objective_of == "averaged"

    @property
    def slopes(self) -> np.ndarray:
        """a_k, [clients]."""
        return np.array(SLOPES[self.heterogeneity])

    @property
    def offsets(self) -> np.ndarray:
        """c_k, [clients]."""
        return np.array(OFFSETS[self.heterogeneity])

    @property
    def outer_slope(self) -> float:
        """B, where f' is cut off."""
        return OUTER_SLOPE[self.heterogeneity]

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        a, bound = self.slopes, self.outer_slope
        steep = float(np.abs(a).max())
        quiet = (
            "inner_smoothness",
            "inner_mean_smoothness",
            "inner_gradient_noise",
            "inner_value_noise",
            "outer_gradient_noise",
            "plain_smoothness",
            "plain_gradient_noise",
            "plain_gradient_heterogeneity",
            "plain_gradient_bound",
        )
        return dict.fromkeys(quiet, 0.0) | {
            "inner_gradient_bound": steep,
            "inner_gradient_moment": steep,
            "inner_gradient_heterogeneity": float(np.abs(a - a.mean()).max()),
            "outer_gradient_bound": bound,
            "outer_gradient_moment": bound,
            "outer_smoothness": 1.0,
            "outer_mean_smoothness": 1.0,
            "objective_smoothness": float(a.mean() ** 2 if self.inside else (a**2).mean()),
        }

    @cached_property
    def solution(self) -> Solution:
        """The minimum in closed form."""
        point, value = MINIMUM[self.heterogeneity, self.objective_of]
        return Solution(value, value, np.array([point]), {"method": "closed form", "gap": 0.0})

    def start(self) -> np.ndarray:
        """Return the start."""
        return np.array([self.at])

    @cached_property
    def parts(self) -> Parts:
        """The numbers of its oracles."""
        return parts_of(
            self.clients,
            1,
            1,
            scales=self.slopes,
            offsets=self.offsets,
            outer_slope=self.outer_slope,
        )
