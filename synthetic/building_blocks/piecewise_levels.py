r"""What the piecewise minimax and bilevel families share: constants, optimum, many members at once.

**Constants**, all attained or approached. In one coordinate, h'', k'' and u'' take the slopes of
their pieces and tails, and x and y move apart from each other. Gradients are continuous and
piecewise linear, so their Lipschitz constant is the largest spectral norm of a piece's symmetric
matrix,

    ‖[[s, q], [q, t]]‖ = (|s + t| + √((s − t)² + 4q²))/2,

which is convex in (s, t), hence largest at extreme slopes. What follows is of the largest over
clients and coordinates, and r is the largest size of a coin.

* minimax: ∇f_i, ∇g_i and the field (∇_x f_i, −∇_y f_i), whose rows are those of ∇f_i up to a sign,
  have s = h'', t = −k'', q = b. The modulus of g_i and of −f_i in y is the least k''; the largest
  k'' is ‖∇²_yy g_i‖; noise adds constants, so samples have the same. Where k'' is constant,
  ℓ_{g,2} = 0; else ∇²g_i jumps. f_i itself is not Lipschitz, as k' has no bound.
* bilevel: ∇f_i has s = h'', t = u'', q = w; ∇g_i has s = 0, t = a, q = −c. μ_g is the least a, and
  ℓ_{g,2} = 0. A sample's Hessian is a_1 + nξ cos κy_1 in the first coordinate, within a_1 ± rn.
  f_i is Lipschitz if w = 0, with the root sum of squares of sup|h_i'| and sup|u_i'| over the
  coordinates.
* noises: √(σ_x² + σ_y²) of ∇f_i; σ_y of a minimax ∇_y g_i; of a bilevel problem
  √(v² + (n² + p²)/κ²), n and p, of ∇_y g_i, ∇²_yy g_i and ∇²_xy g_i.
* of F: ``synthetic.certificates.piecewise_levels``.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.synthetic.building_blocks.piecewise_family import Many, PiecewiseFamily
from driftproof.synthetic.certificates.piecewise_levels import LevelFunctions
from driftproof.synthetic.oracles.piecewise_levels import level_oracles
from driftproof.toolkit.balls.tensor import Balls
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.draws import coin_mean
from driftproof.toolkit.oracles import LowerVector, UpperVector


class PiecewiseLevels(PiecewiseFamily, BilevelProblem):
    """Base of the two families."""

    oracle_type = staticmethod(level_oracles)

    @property
    def upper_dim(self) -> int:
        """The number of coordinates; y has as many."""
        return self.dim

    def functions_of(self, parts: Parts) -> LevelFunctions:
        """Return y*, F and its derivatives, of these members."""
        return LevelFunctions(parts)

    def numbers_of(self, parts: Parts) -> dict[str, Tensor]:
        """Return the oracles' constants, role → [members]."""
        return constants_of_levels(parts)

    @cached_property
    def lower_smoothness(self) -> float | Tensor:
        """ℓ_{g,1}, or each replicate's, [replicates]."""
        each = self.numbers_of(self.parts)["lower_smoothness"]
        return each if len(each) > 1 else float(each)

    def exact_oracles(self, x: Tensor) -> Any:
        """Return the oracles for balls, with the ℓ_{g,1} of doubles."""
        assert self.lower_smoothness is not None  # the copy keeps what is known
        return super().exact_oracles(x)

    def lower_solution(self, x: UpperVector) -> LowerVector:
        """Return y*(x), which is piecewise linear."""
        if isinstance(x, Balls):
            return self.enclosed_solution(x[: self.dim])
        key = ("functions", x.dtype, str(x.device))
        if key not in self._held:
            parts = self.parts.changed(lambda numbers: numbers.to(x.device, x.dtype))
            self._held[key] = LevelFunctions(parts)
        functions: LevelFunctions = self._held[key]
        return functions.lower_solution(x[: self.dim])

    def start(self) -> np.ndarray:
        """Return (0, 0), [2·dim]."""
        return np.zeros(2 * self.dim)


class LevelMembers(Many, PiecewiseLevels):
    """Many minimax or bilevel problems as one."""

    leaf_name = "piecewise-level-members"

    def __init__(self, parts: Parts, copies: int = 1) -> None:
        super().__init__(parts, copies)
        self._held["looked"] = True  # y* of each member is tested; rounding of the largest is not

    @property
    def offers(self) -> str:
        """A minimax or a bilevel problem's oracles."""
        return "minimax" if self.parts.curvature is None else "bilevel"


def constants_of_levels(parts: Parts) -> dict[str, Tensor]:
    """Return the oracles' constants, role → [members]; infinite where there is none."""
    bent, coupling = parts.plain.extremes, parts.coupling
    both = torch.hypot(parts.x_noise, parts.y_noise)
    least, most = parts.of_y.extremes
    steepest = parts.plain.steepest.amax((0, 1))
    coin = float(np.abs(coin_mean(1, parts.rare)[0]).max())
    if parts.curvature is None:
        own = _largest(bent, (-least, -most), coupling)
        modulus, largest = least.amin((0, 1)), most.amax((0, 1))
        constant = (most == least).all(0).all(0)
        monotone = torch.minimum(bent[0].amin((0, 1)), modulus)  # x and y are coupled by ±b_i
        return {
            "strong_concavity": modulus,
            "field_smoothness": own,
            "field_gradient_noise": both,
            "field_noise_bound": coin * both,
            "field_monotonicity": torch.where(monotone < 0, torch.inf, monotone),
            "lower_strong_convexity": modulus,
            "lower_smoothness": own,
            "lower_hessian_smoothness": torch.where(constant, 0.0, torch.inf).to(own),
            "lower_sample_convexity": modulus,
            "lower_sample_smoothness": largest,
            "lower_gradient_noise": parts.y_noise,
            "lower_hessian_noise": torch.zeros_like(both),
            "lower_cross_noise": torch.zeros_like(both),
            "upper_smoothness": own,
            "upper_sample_smoothness": steepest,
            "upper_gradient_noise": both,
            "upper_noise_bound": coin * both,
            "lower_noise_bound": coin * parts.y_noise,
            "lower_cross_noise_bound": torch.zeros_like(both),
        }
    a, none = parts.curvature, torch.zeros_like(parts.curvature)
    widest = torch.zeros_like(a)
    widest[:, 0] = coin * parts.curvature_noise
    waves = torch.hypot(parts.curvature_noise, parts.cross_noise)
    apart = (coupling == 0).all(0).all(0)
    squares = (parts.plain.largest**2 + parts.of_y.largest**2).sum(1)
    return {
        "lower_strong_convexity": a.amin((0, 1)),
        "lower_smoothness": _largest((none, none), (a, a), parts.cross),
        "lower_hessian_smoothness": torch.zeros_like(both),
        "lower_sample_convexity": (a - widest).amin((0, 1)),
        "lower_sample_smoothness": (a + widest).amax((0, 1)),
        "lower_gradient_noise": torch.hypot(parts.value_noise, waves / parts.wave),
        "lower_hessian_noise": parts.curvature_noise,
        "lower_cross_noise": parts.cross_noise,
        "lower_noise_bound": coin
        * (parts.value_noise + (parts.curvature_noise + parts.cross_noise) / parts.wave),
        "lower_cross_noise_bound": coin * parts.cross_noise,
        "upper_noise_bound": coin * both,
        "upper_smoothness": _largest(bent, (least, most), coupling),
        "upper_sample_smoothness": steepest,
        "upper_gradient_bound": torch.where(apart, torch.sqrt(squares).amax(0), torch.inf),
        "upper_gradient_noise": both,
    }


def _largest(s: tuple[Tensor, Tensor], t: tuple[Tensor, Tensor], q: Tensor) -> Tensor:
    """Return the largest ‖[[s, q], [q, t]]‖ over extreme slopes, clients and coordinates."""
    norms = [0.5 * ((one + two).abs() + torch.hypot(one - two, 2 * q)) for one in s for two in t]
    return torch.stack(norms).amax((0, 1, 2))
