r"""A composition as a bilevel problem: the lower level tracks the mean of the inner functions.

**Objective.** F(x) = (1/m) Σ h_i(x) + f((1/m) Σ r_i(x)) of ``driftproof.synthetic.problems.
averaged_composition`` (its g_k are the r_i here), posed as in FedNest's compositional case:

* g_i(x, y) = ½‖y − r_i(x)‖², so that y*(x) = (1/m) Σ r_i(x), ∇²_yy g_i = I and
  ∇²_xy g_i v = −∇r_i(x)ᵀv;
* f_i(x, y) = h_i(x) + f(y), and ∇F = (1/m) Σ (∇h_i + ∇r_iᵀ∇f(y*)), the composition's gradient.

**Noise.** That of the composition: ∇_y g_i(·; ζ) = y − r_i(x; ζ), the cross derivative's oracle is
−∇r_i(x; ζ)ᵀ, ∇_x f_i(·; ξ) = ∇h_i(x; ξ); a sample of r_i has one ζ for both.

**Constants**, from those of the composition. With slopes S_i of r_i, S = max S_i:

* μ_g = 1, also of every sample, whose Hessian is I; the Hessian has no noise;
* ∇²g_i = [[∇r_iᵀ∇r_i − Σ_k (y − r_i)_k ∇²r_{i,k}, −∇r_iᵀ], [−∇r_i, I]] is bounded in y only if r_i
  is affine. Then it is [−∇r_i, I]ᵀ[−∇r_i, I], so ℓ_{g,1} = ‖I + ∇r_i∇r_iᵀ‖ = 1 + S², attained, and
  ℓ_{g,2} = 0. For curved r_i neither exists, and neither is declared;
* ℓ_{f,0} = √((sup‖∇h_i‖)² + B_f²) and ℓ_{f,1} = max(L_h, L_f), as x and y are apart; sup‖∇h_i‖ is
  plain_slope + κ for an i with a tilt, approached along its direction;
* σ_f = σ_h; the standard deviation of ∇_y g_i is that of r_i, (v² + a²)^½, of the cross
  derivative a; L is the composition's.

**The series.** FedIHGP divides by ‖∇²_yy g_i‖ = 1: a single term is then p = ∇_y f, as the paper's
compositional method has it. As ℓ_{g,1} would be another number, it is not declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.problems.averaged_composition import (
    EXAMPLE,
    AveragedComposition,
    AveragedParameters,
)
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.draws import Law
from driftproof.toolkit.oracles import Composition, LowerVector, UpperVector, on_every_client
from driftproof.toolkit.parameters import Real
from driftproof.toolkit.problem import Solution, problem


class CompositionalBilevelOracles:
    """A composition's oracles as those of two levels; tensors are [clients, …, replicates]."""

    def __init__(
        self, of: CompositionalBilevel, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        self._parts: Composition = of.composition.oracles(dtype, device, clients)
        self.clients = len(clients)
        self.upper_dim, self.lower_smoothness = of.dim, 1.0

    def upper_law(self, batch: int) -> Law | None:
        """The law of h_i's samples."""
        return self._parts.plain_law(batch)

    def lower_law(self, batch: int) -> Law | None:
        """The law of r_i's samples."""
        return self._parts.inner_law(batch)

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return h_i(x) + f(y), [clients, replicates]."""
        return self._parts.plain_value(x) + self._parts.outer_value(y)

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇h_i(x; ξ)."""
        return self._parts.plain_grad(x, xi)

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇f(y), which no sample changes."""
        return self._parts.outer_grad(y, None)

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return y − r_i(x; ζ)."""
        return y - self._parts.inner(x, zeta)[0]

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return −∇r_i(x)ᵀ(y − r_i(x)), exactly."""
        value, pullback = self._parts.inner(x, None)
        return -pullback(y - value)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return v: the Hessian of ½‖y‖²."""
        return v.clone()

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −∇r_i(x; ζ)ᵀv."""
        return -self._parts.inner(x, zeta)[1](v)


@problem(
    name="compositional-bilevel",
    source="FedNest (2022), slides, the compositional case",
    statement=r"f_i(x, y) = h_i(x) + f(y), \quad g_i(x, y) = \tfrac12\|y - r_i(x)\|^2",
)
class CompositionalBilevel(AveragedParameters, BilevelProblem):
    """The members of AveragedComposition, posed with two levels.

    Its objective is the composition's: f(r(x)) with r(x) = 2x has the curvature 4 of (2x)²/2.

    >>> CompositionalBilevel(inner_slope=2.0).constants["objective_smoothness"]
    4.0

    Args:
        lower_start: y_0 = y*(x_0) + lower_start·e.
        clients: m.
        distance: x_0 = distance·e.
        dim, inner_dim, inner_slope, inner_curvature, inner_heterogeneity, inner_offset,
            outer_slope, outer_curvature, plain_slope, plain_curvature, plain_tilt,
            inner_value_noise, inner_gradient_noise, plain_noise: as there, of r_i (inner),
            f (outer) and h_i (plain).
    """

    lower_start: Real = 1.0

    notation = {"m": "clients", "mu_g": "lower_strong_convexity", "ell_g1": "lower_smoothness"}
    oracle_type = CompositionalBilevelOracles

    @classmethod
    def examples(cls) -> list[CompositionalBilevel]:
        """Return members with affine and with curved inner functions, a plain part, noise."""
        return [
            cls(clients=3, dim=2, inner_dim=2, inner_heterogeneity=0.5, inner_offset=0.7),
            cls(**EXAMPLE),
            cls(clients=2, dim=3, inner_dim=1, inner_value_noise=0.2, plain_tilt=0.3),
        ]

    @cached_property
    def composition(self) -> AveragedComposition:
        """The composition itself."""
        return AveragedComposition(
            **{x.name: getattr(self, x.name) for x in fields(AveragedComposition)}
        )

    @property
    def upper_dim(self) -> int:
        """d, the dimension of x."""
        return self.dim

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        inner = self.composition.constants
        plain = self.plain_slope + inner["plain_gradient_heterogeneity"]
        constants = {
            "lower_strong_convexity": 1.0,
            "lower_sample_convexity": 1.0,
            "lower_sample_smoothness": 1.0,
            "lower_gradient_noise": inner["inner_value_noise"],
            "lower_hessian_noise": 0.0,
            "lower_cross_noise": inner["inner_gradient_noise"],
            "upper_gradient_bound": float(np.hypot(plain, self.outer_slope)),
            "upper_smoothness": max(inner["plain_smoothness"], self.outer_curvature),
            "upper_gradient_noise": self.plain_noise,
            "objective_smoothness": inner["objective_smoothness"],
        }
        if not self.inner_curvature:
            constants["lower_hessian_smoothness"] = 0.0
        return constants

    def lower_solution(self, x: UpperVector) -> LowerVector:
        """Return (1/m) Σ r_i(x)."""
        every = on_every_client(x[: self.dim], self.clients)
        return self.composition.inner_values(every).mean(0)

    @property
    def solution(self) -> Solution:
        """Inf F = 0 at 0, as the composition's."""
        return self.composition.solution

    def start(self) -> np.ndarray:
        """Return (x_0, y_0), [dim + inner_dim]."""
        x = self.composition.start()
        y = self.lower_solution(torch.from_numpy(x)[:, None])[:, 0].numpy()
        y[0] += self.lower_start
        return np.concatenate([x, y])
