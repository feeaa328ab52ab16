r"""A composition with bounded gradients on R^d: the constants of ComFedL and Local-SCGDM, exactly.

**Objective.** F(w) = (1/n) Σ_i g^i(f^i(w)) with, for r = min(d, p) and the embeddings
Q: R^r → R^d, P: R^r → R^p of the first r coordinates (ComFedL commutes with rotations, so nothing
is lost by not turning them),

* inner f^i(w) = P ψ_i(Qᵀw), ψ_i(u) = s_i[(1 − c)u + (c/k) sin(ku)] by coordinates, c = ½,
  k = 2·inner_curvature/inner_slope (c = 0 if the curvature is 0): ψ' ∈ [0, s_i], |ψ''| ≤ s_i c k;
* outer g^i(y) = H(y − b_i) ± O(y − a e), H and O radial Huber functions
  (``building_blocks.huber``) and e the first unit vector. Clients come in pairs with equal s,
  opposite targets ±b and opposite signs of O; an odd client out has b = 0 and no O. Hence O
  cancels from F: clients may curve much more than their average. An ``inner_offset`` o adds ±o e
  to the inner map of a pair: in F it moves the targets to ±(b − o), so that with o = b all F^i
  are one function, though no f^i and g^i agree.

**Noise**, signs ±1: f^i(w; ξ) = f^i(w) + v ξ_1 e + a ξ_2 sin(e·w) e and
g^i(y; ζ) = g^i(y) + σ_3 ζ e·y.

**Constants** (all proven on R^d; H' and O' bounded by their slopes, Lipschitz by their curvatures):

* G_f = s + a (the Jacobian is P diag(ψ') Qᵀ + aξ cos(e·w) e eᵀ); attained at w = 0;
* L_f = s c k + a;  G_g = slope + opposition slope + σ_3;  L_g = the two curvatures summed;
* L = slope·inner curvature + s²·curvature (O is gone from F);
* σ_1 = a, σ_2 = (v² + a²)^½, σ_3 as given (a variance of a rank-one Jacobian: any norm);
* for Local-SCGDM: the expected functions' Lipschitz constants s c k and the two curvatures; root
  mean squares of the gradients, for the outer one (E|G + σ_3 ζ|²)^½ = (G² + σ_3²)^½, for the inner
  one (s² + a²)^½ if r = 1, else ((s + a)²/2 + max(s, |s − a|)²/2)^½, since the other singular
  values may be s (both increase in ψ' ≤ s and in |cos| ≤ 1).

**Optimum.** In y = ψ_1(Qᵀw), a bijection of R^r, F is convex and even: attained at w = 0, inf F is
(1/n) Σ H(b_i − o_i).

With inner curvature 0, noise 0 and a start far out, every gradient is (s·slope) e: ComFedL's
client drift then equals the bound of Lemma 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from driftproof.synthetic.building_blocks.pairs import pair_signs
from driftproof.synthetic.oracles.composed import BoundedOracles, Parts, parts_of
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.parameters import BelowOne, NonNegative, Positive, PositiveInt
from driftproof.toolkit.problem import Solution, problem


@problem(
    name="bounded-composition",
    source="ComFedL, problem (1) under Assumptions 1–4",
    statement=r"F(w) = \frac1n\sum_{i=1}^n g^i(f^i(w))",
)
class BoundedComposition(CompositionProblem):
    """A client-wise composition whose every constant is a parameter.

    Targets ±1 give inf F = H(1) = ½:

    >>> BoundedComposition(heterogeneity=1.0).solution.high
    0.5

    Args:
        clients: n.
        dim, inner_dim: d and p.
        inner_slope: s, bound on the mean Jacobian's norm.
        inner_curvature: its Lipschitz constant (0: the inner maps are linear).
        outer_slope, outer_curvature: constants of H.
        heterogeneity: h; the targets are ±h e.
        inner_offset: o; the inner maps are moved by ±o e.
        inner_heterogeneity: ρ in [0, 1); the last pair has the slope (1 − ρ)s, the first s.
        opposition_slope, opposition_curvature, opposition_centre: O, and its centre a.
        inner_value_noise, inner_gradient_noise, outer_gradient_noise: v, a and σ_3.
        distance: the start is distance·e.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 1
    inner_dim: PositiveInt = 1
    inner_slope: Positive = 1.0
    inner_curvature: NonNegative = 0.0
    outer_slope: Positive = 1.0
    outer_curvature: Positive = 1.0
    heterogeneity: NonNegative = 0.0
    inner_heterogeneity: BelowOne = 0.0
    opposition_slope: NonNegative = 0.0
    opposition_curvature: Positive = 1.0
    opposition_centre: NonNegative = 0.0
    inner_value_noise: NonNegative = 0.0
    inner_gradient_noise: NonNegative = 0.0
    outer_gradient_noise: NonNegative = 0.0
    distance: NonNegative = 2.0
    inner_offset: NonNegative = 0.0

    oracle_type = BoundedOracles

    def validate(self) -> None:
        """Refuse an opposition that does not cancel."""
        cancels = self.opposition_slope == 0 or self.inner_offset == 0
        self.require("inner_offset", "0 beside an opposition, which else does not cancel", cancels)

    @classmethod
    def examples(cls) -> list[BoundedComposition]:
        """Return members with each feature: curvature, heterogeneity, opposition, noise."""
        return [
            cls(clients=1),
            cls(clients=3, dim=3, inner_dim=2, heterogeneity=1.0, inner_heterogeneity=0.5),
            cls(
                clients=2,
                dim=2,
                inner_dim=3,
                inner_curvature=0.7,
                inner_value_noise=0.1,
                inner_gradient_noise=0.2,
                outer_gradient_noise=0.3,
                heterogeneity=0.5,
            ),
            cls(clients=2, opposition_slope=1.0, opposition_curvature=3.0, opposition_centre=1.5),
            cls(clients=3, heterogeneity=1.0, inner_offset=0.4, inner_gradient_noise=0.3),
        ]

    @cached_property
    def scales(self) -> np.ndarray:
        """s_i of each client, [clients]; clients 2j and 2j + 1 are a pair."""
        pairs = (self.clients + 1) // 2
        shares = np.linspace(0.0, self.inner_heterogeneity, pairs) if pairs > 1 else np.zeros(1)
        return self.inner_slope * (1.0 - np.repeat(shares, 2)[: self.clients])

    @cached_property
    def signs(self) -> np.ndarray:
        """+1 and −1 within a pair, 0 for an odd client out, [clients]."""
        return pair_signs(self.clients)

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        bend = self.inner_curvature / self.inner_slope
        noise = self.inner_gradient_noise
        opposed = self.opposition_slope if self.clients > 1 else 0.0
        curved = self.opposition_curvature if opposed else 0.0
        smooth = self.outer_slope * bend * self.scales + self.outer_curvature * self.scales**2
        return {
            "inner_gradient_bound": self.inner_slope + noise,
            "inner_smoothness": self.inner_curvature + noise,
            "outer_gradient_bound": self.outer_slope + opposed + self.outer_gradient_noise,
            "outer_smoothness": self.outer_curvature + curved,
            "objective_smoothness": float(smooth.mean()),
            "inner_gradient_noise": noise,
            "inner_value_noise": float(np.hypot(self.inner_value_noise, noise)),
            "outer_gradient_noise": self.outer_gradient_noise,
            "inner_mean_smoothness": self.inner_curvature,
            "outer_mean_smoothness": self.outer_curvature + curved,
            "inner_gradient_moment": self._inner_moment,
            "outer_gradient_moment": float(
                np.hypot(self.outer_slope + opposed, self.outer_gradient_noise)
            ),
        }

    @property
    def _inner_moment(self) -> float:
        s, a = self.inner_slope, self.inner_gradient_noise
        if min(self.dim, self.inner_dim) == 1:
            return float(np.hypot(s, a))
        return float(np.hypot(s + a, max(s, abs(s - a))) / np.sqrt(2))

    @cached_property
    def solution(self) -> Solution:
        """Inf F = (1/n) Σ H(b_i), in closed form, at w = 0."""
        knee = self.outer_slope / self.outer_curvature
        h = abs(self.heterogeneity - self.inner_offset)
        inside = 0.5 * self.outer_curvature * h**2
        each = inside if h <= knee else self.outer_slope * (h - 0.5 * knee)
        value = each * float(np.abs(self.signs).mean())
        return Solution(
            value, value, np.zeros(self.dim), {"method": "closed form", "gap": 0.0}, exact=True
        )

    def start(self) -> np.ndarray:
        """Return distance·e."""
        start: np.ndarray = self.distance * np.eye(self.dim)[0]
        return start

    @cached_property
    def parts(self) -> Parts:
        """The numbers of its oracles."""
        return parts_of(
            self.clients,
            self.dim,
            self.inner_dim,
            scales=self.scales,
            offsets=self.inner_offset * self.signs,
            targets=self.heterogeneity * self.signs,
            opposition=self.signs,
            inner_slope=self.inner_slope,
            inner_curvature=self.inner_curvature,
            outer_slope=self.outer_slope,
            outer_curvature=self.outer_curvature,
            opposition_slope=self.opposition_slope,
            opposition_curvature=self.opposition_curvature,
            opposition_centre=self.opposition_centre,
            value_noise=self.inner_value_noise,
            gradient_noise=self.inner_gradient_noise,
            outer_noise=self.outer_gradient_noise,
        )
