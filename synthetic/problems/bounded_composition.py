r"""A composition with bounded gradients on all of R^d: A1–A4 of ComFedL hold with exact constants.

**Objective.** F(w) = (1/n) Σ_i g^i(f^i(w)) with, for r = min(d, p) and the embeddings
Q: R^r → R^d, P: R^r → R^p of the first r coordinates (ComFedL commutes with rotations, so nothing
is lost by not turning them),

* inner f^i(w) = P ψ_i(Qᵀw), ψ_i(u) = s_i[(1 − c)u + (c/k) sin(ku)] by coordinates, c = ½,
  k = 2·inner_curvature/inner_slope (c = 0 if the curvature is 0): ψ' ∈ [0, s_i], |ψ''| ≤ s_i c k;
* outer g^i(y) = H(y − b_i) ± O(y − a e), H and O radial Huber functions (``synthetic.huber``) and e
  the first unit vector. Clients come in pairs with equal s, opposite targets ±b and opposite signs
  of O; an odd client out has b = 0 and no O. Hence O cancels from F: clients may curve much more
  than their average.

**Noise**, signs ±1: f^i(w; ξ) = f^i(w) + v ξ_1 e + a ξ_2 sin(e·w) e; g^i(y; ζ) = g^i(y) + σ_3 ζ e·y.

**Constants** (all proven on R^d; H' and O' bounded by their slopes, Lipschitz by their curvatures):

* G_f = s + a (the Jacobian is P diag(ψ') Qᵀ + aξ cos(e·w) e eᵀ); attained at w = 0;
* L_f = s c k + a;  G_g = slope + opposition slope + σ_3;  L_g = the two curvatures summed;
* L = slope·inner curvature + s²·curvature (O is gone from F);
* σ_1 = a, σ_2 = (v² + a²)^½, σ_3 as given (a variance of a rank-one Jacobian: any norm).

**Optimum.** In y = ψ_1(Qᵀw), a bijection of R^r, F is convex and even: inf F = (1/n) Σ H(b_i),
attained at w = 0.

With inner curvature 0, noise 0 and a start far out, every gradient is (s·slope) e: ComFedL's
client drift then equals the bound of Lemma 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from synthetic.huber import huber_gradient, huber_value
from synthetic.pairs import pair_signs
from toolkit.composition import CompositionProblem, NoPlainPart
from toolkit.draws import Law, SignMean
from toolkit.oracles import ClientVectors, InnerVectors, Pullback
from toolkit.problem import Solution, problem


@problem(
    name="bounded-composition",
    source="000/001, problem (1) under Assumptions 1–4",
    statement=r"F(w) = \frac1n\sum_{i=1}^n g^i(f^i(w))",
)
class BoundedComposition(CompositionProblem):
    """A client-wise composition whose every constant is a parameter.

    Args:
        clients: n.
        dim, inner_dim: d and p.
        inner_slope: s, bound on the mean Jacobian's norm.
        inner_curvature: its Lipschitz constant (0: the inner maps are linear).
        outer_slope, outer_curvature: constants of H.
        heterogeneity: h; the targets are ±h e.
        inner_heterogeneity: ρ in [0, 1); the last pair has the slope (1 − ρ)s, the first s.
        opposition_slope, opposition_curvature, opposition_centre: O, and its centre a.
        inner_value_noise, inner_gradient_noise, outer_gradient_noise: v, a and σ_3.
        distance: the start is distance·e.
    """

    clients: int = 2
    dim: int = 1
    inner_dim: int = 1
    inner_slope: float = 1.0
    inner_curvature: float = 0.0
    outer_slope: float = 1.0
    outer_curvature: float = 1.0
    heterogeneity: float = 0.0
    inner_heterogeneity: float = 0.0
    opposition_slope: float = 0.0
    opposition_curvature: float = 1.0
    opposition_centre: float = 0.0
    inner_value_noise: float = 0.0
    inner_gradient_noise: float = 0.0
    outer_gradient_noise: float = 0.0
    distance: float = 2.0

    def validate(self) -> None:
        """Refuse constants that are not finite and of the right sign."""
        self.whole("clients", "dim", "inner_dim")
        self.positive("inner_slope", "outer_slope", "outer_curvature", "opposition_curvature")
        self.non_negative(
            "inner_curvature", "heterogeneity", "opposition_slope", "opposition_centre",
            "inner_value_noise", "inner_gradient_noise", "outer_gradient_noise", "distance",
        )  # fmt: skip
        self.require("inner_heterogeneity", "in [0, 1)", 0 <= self.inner_heterogeneity < 1)

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
        }

    @cached_property
    def solution(self) -> Solution:
        """Inf F = (1/n) Σ H(b_i), in closed form, at w = 0."""
        knee = self.outer_slope / self.outer_curvature
        h = self.heterogeneity
        inside = 0.5 * self.outer_curvature * h**2
        each = inside if h <= knee else self.outer_slope * (h - 0.5 * knee)
        value = each * float(np.abs(self.signs).mean())
        return Solution(value, value, np.zeros(self.dim), {"method": "closed form", "gap": 0.0})

    def start(self) -> np.ndarray:
        """Return distance·e."""
        point = np.zeros(self.dim)
        point[0] = self.distance
        return point

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> _Oracles:
        """Return the oracles of some clients."""
        return _Oracles(self, dtype, device, clients or range(self.clients))


class _Oracles(NoPlainPart):
    """The oracles in one dtype; tensors are [clients, …, replicates]."""

    def __init__(
        self, of: BoundedComposition, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        def column(values: np.ndarray) -> Tensor:
            return torch.tensor(values[list(clients)], dtype=dtype, device=device)[:, None, None]

        self._of = of
        self.clients = len(clients)
        self.client_weights = column(np.full(of.clients, 1.0 / of.clients))
        self._scale, self._sign = column(of.scales), column(of.signs)
        self._rank = min(of.dim, of.inner_dim)
        self._share = 0.5 if of.inner_curvature else 0.0  # c
        self._rate = 2.0 * of.inner_curvature / of.inner_slope  # k
        self._first = torch.zeros((1, of.inner_dim, 1), dtype=dtype, device=device)
        self._first[0, 0, 0] = 1.0

    def inner_law(self, batch: int) -> Law | None:
        """Two signs: of the value and of the gradient."""
        noisy = self._of.inner_value_noise or self._of.inner_gradient_noise
        return SignMean(batch, (2,)) if noisy else None

    def outer_law(self, batch: int) -> Law | None:
        """One sign."""
        return SignMean(batch, (1,)) if self._of.outer_gradient_noise else None

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return f^i_B(x) and v ↦ ∇f^i_B(x)ᵀv."""
        u = x[:, : self._rank]
        value, slope = (1 - self._share) * u, torch.full_like(u, 1 - self._share)
        if self._share:
            value = value + self._share / self._rate * torch.sin(self._rate * u)
            slope = slope + self._share * torch.cos(self._rate * u)
        value, slope = self._scale * value, self._scale * slope
        if xi is not None:
            of, at = self._of, x[:, :1]
            bent = of.inner_gradient_noise * xi[:, 1:]
            moved = of.inner_value_noise * xi[:, :1] + bent * torch.sin(at)
            value = torch.cat([value[:, :1] + moved, value[:, 1:]], 1)
            slope = torch.cat([slope[:, :1] + bent * torch.cos(at), slope[:, 1:]], 1)

        def pullback(v: Tensor) -> Tensor:
            return _padded(v[:, : self._rank] * slope, self._of.dim)

        return _padded(value, self._of.inner_dim), pullback

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return ∇g^i_B̃(y)."""
        of = self._of
        target = self._sign * of.heterogeneity * self._first
        grad = huber_gradient(y - target, of.outer_slope, of.outer_curvature)
        if of.opposition_slope:
            away = y - of.opposition_centre * self._first
            opposed = huber_gradient(away, of.opposition_slope, of.opposition_curvature)
            grad = grad + self._sign * opposed
        if zeta is not None:
            grad = grad + of.outer_gradient_noise * zeta * self._first
        return grad

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return g^i(y), [clients, replicates]."""
        of = self._of
        target = self._sign * of.heterogeneity * self._first
        value = huber_value(y - target, of.outer_slope, of.outer_curvature)
        if of.opposition_slope:
            away = y - of.opposition_centre * self._first
            opposed = huber_value(away, of.opposition_slope, of.opposition_curvature)
            value = value + self._sign[..., 0] * opposed
        return value


def _padded(x: Tensor, rows: int) -> Tensor:
    """Append zero rows: the embedding of the first coordinates."""
    if x.shape[1] == rows:
        return x
    return torch.nn.functional.pad(x, (0, 0, 0, rows - x.shape[1]))
