r"""A composition whose inner functions are averaged inside: every constant of FedDRO, exactly.

**Objective.** Φ(x) = (1/K) Σ_k h_k(x) + f((1/K) Σ_k g_k(x)), with r = min(d, p), Q and P the
embeddings of the first r coordinates, e the first unit vector and clients in pairs with signs ±
(0 for an odd one out):

* g_k(x) = P ψ_k(Qᵀx) ± o e, ψ_k(u) = (1 ± ρ)s[(1 − c)u + (c/k) sin(ku)] by coordinates, with c = ½
  and k = 2·inner_curvature/((1 + ρ)s) (c = 0 if the curvature is 0);
* f(y) = H(y), the radial Huber function (``building_blocks.huber``) of outer slope and curvature;
* h_k(x) = H_h(x) ± κ e·x, H_h of plain slope and curvature (slope 0: h_k is the tilt alone).

**Noise**, signs ±1: g_k(x; ζ) = g_k(x) + v ζ_1 e + a ζ_2 sin(e·x) e and
h_k(x; ξ) = h_k(x) + σ_h ξ e·x.

**Constants** (all proven on R^d; a client's curvature is at most inner_curvature):

* B_f, L_f: outer slope and curvature; L_h = plain curvature (0 without H_h), σ_h, Δ_h = κ, and
  ‖∇h_k(x; ξ)‖ ≤ plain slope + κ + σ_h;
* L_g = inner_curvature of the expected map; Δ_g = ρ s: ∇g_k − ∇g = ±ρ s P diag(1 − c + c cos) Qᵀ;
* B_g: mean-squared Lipschitz constant, bounded by the root mean square of ∇g_k(x; ζ), which is
  (S² + a²)^½ with S = (1 + ρ)s if r = 1, else ((S + a)²/2 + max(S, |S − a|)²/2)^½;
* variances of ∇g: a², of g: v² + a²; σ_g is the larger one's root;
* L_Φ = L_h + s̄²·L_f + B_f·curv: the mean map is ψ with scale s̄ (s; of an odd K as computed) and
  curvature its mean's.

**Optimum.** The mean map is odd and increasing, offsets and tilts cancel: inf Φ = 0 at x = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from driftproof.synthetic.building_blocks.pairs import pair_signs
from driftproof.synthetic.oracles.composed import BoundedOracles, Parts, parts_of
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.parameters import BelowOne, NonNegative, Parameters, Positive, PositiveInt
from driftproof.toolkit.problem import Solution, problem

EXAMPLE: Mapping[str, Any] = {
    "clients": 2,
    "dim": 2,
    "inner_dim": 3,
    "inner_curvature": 0.7,
    "inner_heterogeneity": 0.3,
    "plain_slope": 0.5,
    "plain_tilt": 0.2,
    "inner_value_noise": 0.1,
    "inner_gradient_noise": 0.2,
    "plain_noise": 0.3,
}
"""A member that is curved, has a plain part and noise."""


@dataclass(frozen=True, kw_only=True)
class AveragedParameters(Parameters):
    """The parameters of ``AveragedComposition``, which one with two levels has as well."""

    clients: PositiveInt = 2
    dim: PositiveInt = 1
    inner_dim: PositiveInt = 1
    inner_slope: Positive = 1.0
    inner_curvature: NonNegative = 0.0
    inner_heterogeneity: BelowOne = 0.0
    inner_offset: NonNegative = 0.0
    outer_slope: Positive = 1.0
    outer_curvature: Positive = 1.0
    plain_slope: NonNegative = 0.0
    plain_curvature: Positive = 1.0
    plain_tilt: NonNegative = 0.0
    inner_value_noise: NonNegative = 0.0
    inner_gradient_noise: NonNegative = 0.0
    plain_noise: NonNegative = 0.0
    distance: NonNegative = 2.0


@problem(
    name="averaged-composition",
    source="FedDRO (2023), problem (2) under Assumptions 3.2–3.4",
    statement=r"\Phi(x) = \frac1K\sum_{k=1}^K h_k(x) + f\Big(\frac1K\sum_{k=1}^K g_k(x)\Big)",
)
class AveragedComposition(AveragedParameters, CompositionProblem):
    """A composition with the clients' inner functions averaged inside; each constant a parameter.

    From x = 2, Φ − inf Φ = H(2) = 2 − ½:

    >>> AveragedComposition().initial_gap
    (1.5, 1.5)

    Args:
        clients: K.
        dim, inner_dim: d and d_g.
        inner_slope: s.
        inner_curvature: L_g.
        inner_heterogeneity: ρ in [0, 1); Δ_g = ρ s.
        inner_offset: o, how far the inner values differ (no constant of FedDRO bounds it).
        outer_slope, outer_curvature: B_f and L_f.
        plain_slope, plain_curvature: of H_h (slope 0: none).
        plain_tilt: κ = Δ_h.
        inner_value_noise, inner_gradient_noise, plain_noise: v, a and σ_h.
        distance: the start is distance·e.
    """

    oracle_type = BoundedOracles
    inside = True

    @classmethod
    def examples(cls) -> list[AveragedComposition]:
        """Return members with each feature: heterogeneity, curvature, a plain part, noise."""
        return [
            cls(clients=1),
            cls(clients=3, dim=3, inner_dim=2, inner_heterogeneity=0.5, inner_offset=0.7),
            cls(**EXAMPLE),
        ]

    @cached_property
    def signs(self) -> np.ndarray:
        """+1 and −1 within a pair, 0 for an odd client out, [clients]."""
        return pair_signs(self.clients)

    @cached_property
    def scales(self) -> np.ndarray:
        """(1 ± ρ)s, [clients]."""
        return self.inner_slope * (1.0 + self.inner_heterogeneity * self.signs)

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        largest, a = float(self.scales.max()), self.inner_gradient_noise
        spread = float(np.abs(self.scales - self.scales.mean()).max())
        bend = self.inner_curvature / largest  # of a map of unit scale
        if min(self.dim, self.inner_dim) == 1:
            moment = float(np.hypot(largest, a))
        else:
            moment = float(np.hypot(largest + a, max(largest, abs(largest - a))) / np.sqrt(2))
        plain = self.plain_curvature if self.plain_slope else 0.0
        mean = float(self.scales.mean())
        tilt = self.plain_tilt * float(np.abs(self.signs).max())
        return {
            "outer_gradient_bound": self.outer_slope,
            "outer_smoothness": self.outer_curvature,
            "inner_gradient_moment": moment,
            "inner_gradient_bound": largest + a,
            "inner_mean_smoothness": self.inner_curvature,
            "inner_smoothness": self.inner_curvature + a,
            "inner_gradient_noise": a,
            "inner_value_noise": float(np.hypot(self.inner_value_noise, a)),
            "outer_gradient_noise": 0.0,
            "inner_gradient_heterogeneity": spread,
            "plain_smoothness": plain,
            "plain_gradient_bound": self.plain_slope + tilt + self.plain_noise,
            "plain_gradient_noise": self.plain_noise,
            "plain_gradient_heterogeneity": tilt,
            "objective_smoothness": plain
            + mean**2 * self.outer_curvature
            + self.outer_slope * mean * bend,
        }

    @property
    def solution(self) -> Solution:
        """Inf Φ = 0 at 0, in closed form."""
        return Solution(
            0.0, 0.0, np.zeros(self.dim), {"method": "closed form", "gap": 0.0}, exact=True
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
            tilts=self.plain_tilt * self.signs,
            inner_slope=float(self.scales.max()),
            inner_curvature=self.inner_curvature,
            outer_slope=self.outer_slope,
            outer_curvature=self.outer_curvature,
            value_noise=self.inner_value_noise,
            gradient_noise=self.inner_gradient_noise,
            plain_slope=self.plain_slope,
            plain_curvature=self.plain_curvature,
            plain_noise=self.plain_noise,
        )
