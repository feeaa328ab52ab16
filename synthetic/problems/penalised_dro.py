r"""Divergence-penalised robust learning over all samples, as the compositions that FedDRO solves.

**Data.** m = K·samples rows a_i, ‖a_i‖ = R = feature_bound, labels multiplied in, on K clients;
ℓ_i(x) = log(1 + e^{−⟨a_i, x⟩}) on ‖x‖ ≤ B = ball.

**Problem** (3): min_x R(x), R(x) = max_p Σ p_i ℓ_i(x) − λD(p), λ = penalty, D = Σ p_i log(m p_i)
("kl") or (m/2) Σ (p_i − 1/m)² ("chi-square"). ``robust`` encloses it (``penalised``).

**Composition** Φ = h + f(g), with means over all samples (equally many a client):

* kl: g = mean exp(ℓ_i/λ), f(y) = λ log y, h = 0: Φ = R;
* chi-square: g = ℓ̄ = mean ℓ_i, f(y) = −y²/(2λ), h = mean(ℓ_i + ℓ_i²/(2λ)), so
  Φ = ℓ̄ + Var(ℓ_i)/(2λ) ≥ R, with equality where p_i = 1/m + (ℓ_i − ℓ̄)/(λm) ≥ 0 for all i.

**Constants**, with S = R/(1 + e^{−RB}) ≥ ‖∇ℓ‖, H = R²/4 ≥ ‖∇²ℓ‖ and ℓ in [l, M], M − l = RB:

* kl: ∇g ≤ G = e^{M/λ}S/λ, its Lipschitz constant e^{M/λ}(H/λ + S²/λ²); f' ≤ λe^{−l/λ}, with the
  Lipschitz constant λe^{−2l/λ}; Φ: H + S²/λ (the Hessian is Σ p_i∇²ℓ_i + Cov_p(∇ℓ)/λ);
* chi-square: ∇g ≤ S, Lipschitz H; f' ≤ M/λ, Lipschitz 1/λ; ∇h ≤ (1 + M/λ)S, Lipschitz
  (1 + M/λ)H + S²/λ; Φ: cH + S²/λ with c = mean |1 + (ℓ_i − ℓ̄)/λ| ≤ 1 + RB/λ, and c = 1 if λ is
  at least the depth;
* noise of a value: half its range (Popoviciu); of a gradient: its bound (0 with one sample);
  heterogeneity: 2(1 − 1/K) times the bound, as ∇g_k − ∇g = (1/K) Σ_j (∇g_k − ∇g_j);
* depth = sup ℓ̄ − min ℓ_i: at most (1 − 1/m)RB, one summand being 0, and at most
  max_j mean_i ‖a_i − a_j‖·B/(1 + e^{−RB}), as ℓ_i − ℓ_j is a difference of one Lipschitz function.

**Optimum.** min R by cvxpy and Newton's method, enclosed by the Frank–Wolfe gap. inf Φ = min R for
kl, and for chi-square if λ is at least the depth; else Φ need not be convex, inf Φ ≥ min R, and a
point of the ball is above it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.certificates.penalised import inner_maximum
from driftproof.synthetic.certificates.robust_logistic import logistic_optimum
from driftproof.synthetic.oracles.penalised import PenalisedOracles
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.draws import Indices, Law
from driftproof.toolkit.oracles import ClientVectors, Pullback
from driftproof.toolkit.parameters import NonNegative, NonNegativeInt, Positive, PositiveInt
from driftproof.toolkit.problem import Solution, problem


class LogisticOracles(PenalisedOracles):
    """The oracles in one dtype; losses of samples are [clients, samples, replicates]."""

    def __init__(self, of: PenalisedDRO, dtype: torch.dtype, device: str, clients: range) -> None:
        chosen = list(clients)
        self._of, self.clients = of, len(chosen)
        self.divergence, self.penalty = of.divergence, of.penalty
        self._rows = torch.from_numpy(of.rows[chosen]).to(device, dtype)
        self._number = torch.arange(len(chosen), device=device)[:, None, None]
        share = torch.full((len(chosen), 1, 1), 1.0 / of.clients, dtype=dtype, device=device)
        self.client_weights = share
        self.sample_weights = torch.full_like(self._rows[..., :1], 1.0 / of.samples)

    def field_law(self, batch: int) -> Law | None:
        """Return the law of a minibatch: sample numbers, with replacement."""
        return Indices((self._of.samples,) * self._of.clients, batch)

    def sample_losses(self, x: ClientVectors, xi: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return the losses of all samples or of some, and v ↦ Σ v_i ∇ℓ_i."""
        if xi is None:
            scores = self._rows @ x
        else:
            taken = self._rows[self._number, xi]  # [clients, batch, replicates, dim]
            scores = torch.einsum("kbrd,kdr->kbr", taken, x)
        slopes = -torch.sigmoid(-scores)

        def pullback(v: Tensor) -> Tensor:
            if xi is None:
                return self._rows.mT @ (v * slopes)
            return torch.einsum("kbr,kbrd->kdr", v * slopes, taken)

        return torch.nn.functional.softplus(-scores), pullback

    def batch_loss(self, x: ClientVectors, xi: Tensor | None) -> Tensor:
        """Return the mean of ℓ."""
        return self.sample_losses(x, xi)[0].mean(1)

    def mean_loss(self, x: ClientVectors) -> Tensor:
        """Return the mean of ℓ over all samples."""
        return self.batch_loss(x, None)

    def field_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return the mean of ∇ℓ."""
        losses, pull = self.sample_losses(x, xi)
        return pull(torch.full_like(losses, 1.0 / losses.shape[1]))


@problem(
    name="penalised-dro",
    source="FedDRO (2023), problem (3) in the form (2)",
    statement=r"\min_x\max_{p\in P_m}\sum_{i=1}^m p_i\ell(x;\zeta_i) - \lambda D(p,\mathbf{1}/m)",
)
class PenalisedDRO(CompositionProblem):
    """Robust logistic regression over samples, as h + f(g).

    At x = 0 every loss is log 2, and no p changes their mean:

    >>> import torch
    >>> round(float(PenalisedDRO().objective(torch.zeros(2, 1, dtype=torch.float64))), 5)
    0.69315

    Args:
        clients: K.
        dim: d, the number of features.
        samples: of each client.
        divergence: "kl" or "chi-square".
        penalty: λ.
        feature_bound: R.
        ball: B.
        heterogeneity: how far the clients' labelling vectors lie apart.
        data_seed: of the data.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 2
    samples: PositiveInt = 3
    divergence: Literal["kl", "chi-square"] = "kl"
    penalty: Positive = 1.0
    feature_bound: Positive = 1.0
    ball: Positive = 2.0
    heterogeneity: NonNegative = 0.5
    data_seed: NonNegativeInt = 0

    notation = {
        "lambda_": "penalty",
        "K": "clients",
        "R": "feature_bound",
        "B": "ball",
        "D_ell": "loss_depth",
    }
    outer_everywhere = False
    oracle_type = LogisticOracles
    inside = True
    offers = "composition-of-samples"

    def validate(self) -> None:
        """Refuse what overflows."""
        top = self.loss_range[1] / self.penalty
        self.require("penalty", "above loss/300, or exp overflows", top < 300)

    @classmethod
    def examples(cls) -> list[PenalisedDRO]:
        """Return both divergences, on either side of the depth, and one sample a client."""
        return [
            cls(),
            cls(clients=3, samples=2, penalty=0.5),
            cls(divergence="chi-square", penalty=2.0),
            cls(divergence="chi-square", penalty=0.2, clients=3, dim=1, samples=1, data_seed=4),
        ]

    @property
    def radius(self) -> float:
        """The ball."""
        return self.ball

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows a_i, labels multiplied in, [clients, samples, dim]."""
        random = np.random.Generator(np.random.Philox(self.data_seed))
        common = random.standard_normal(self.dim)
        rows = random.standard_normal((self.clients, self.samples, self.dim))
        rows = self.feature_bound * (rows / np.linalg.norm(rows, axis=2, keepdims=True))
        own = common + self.heterogeneity * random.standard_normal((self.clients, self.dim))
        labels = np.where(np.einsum("ksd,kd->ks", rows, own) >= 0, 1.0, -1.0)
        flips = np.where(random.random(labels.shape) < 0.25, -1.0, 1.0)
        signed: np.ndarray = rows * (labels * flips)[..., None]
        return signed

    @cached_property
    def every_row(self) -> np.ndarray:
        """The rows of all clients, [m, dim]."""
        return self.rows.reshape(-1, self.dim)

    @property
    def loss_range(self) -> tuple[float, float]:
        """[l, M], attained at the ends of a ray along a row."""
        largest = self.feature_bound * self.ball
        return math.log1p(math.exp(-largest)), largest + math.log1p(math.exp(-largest))

    @cached_property
    def depth(self) -> float:
        """A bound on sup ℓ̄ − min ℓ_i."""
        apart = np.linalg.norm(self.every_row[:, None] - self.every_row, axis=2).mean(0).max()
        largest = self.feature_bound * self.ball
        by_rows = float(apart) * self.ball / (1 + math.exp(-largest))
        return min((1 - 1 / len(self.every_row)) * largest, by_rows)

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        (low, high), penalty, bound = self.loss_range, self.penalty, self.feature_bound
        slope, bend = bound / (1 + math.exp(-bound * self.ball)), bound**2 / 4
        apart = 2 * (1 - 1 / self.clients)
        noisy = float(self.samples > 1)
        width = high - low
        if self.divergence == "kl":
            top, base = math.exp(high / penalty), math.exp(-low / penalty)
            inner = (top * slope / penalty, top * (bend / penalty + slope**2 / penalty**2))
            outer = (penalty * base, penalty * base**2)
            plain, spread, factor = (0.0, 0.0), top - math.exp(low / penalty), 1.0
        else:
            inner, outer, spread = (slope, bend), (high / penalty, 1 / penalty), width
            steep = 1 + high / penalty
            plain = (steep * slope, steep * bend + slope**2 / penalty)
            factor = 1.0 if penalty >= self.depth else 1 + width / penalty
        return {
            "inner_gradient_bound": inner[0],
            "inner_gradient_moment": inner[0],
            "inner_smoothness": inner[1],
            "inner_mean_smoothness": inner[1],
            "inner_gradient_noise": noisy * inner[0],
            "inner_value_noise": noisy * spread / 2,
            "inner_gradient_heterogeneity": apart * inner[0],
            "outer_gradient_bound": outer[0],
            "outer_gradient_moment": outer[0],
            "outer_smoothness": outer[1],
            "outer_mean_smoothness": outer[1],
            "outer_gradient_noise": 0.0,
            "plain_gradient_bound": plain[0],
            "plain_gradient_noise": noisy * plain[0],
            "plain_gradient_heterogeneity": apart * plain[0],
            "plain_smoothness": plain[1],
            "objective_smoothness": factor * bend + slope**2 / penalty,
            "loss_depth": self.depth,
        }

    @cached_property
    def solution(self) -> Solution:
        """The optimum on the ball, enclosed by that of (3), which the certificate has beside it."""
        found, same = self.robust_optimum, self.divergence == "kl" or self.penalty >= self.depth
        value = float(self.objective(torch.from_numpy(found.minimiser)[:, None]))
        said = {"convex": same, "optimum_of_3": (found.low, found.high)}
        if not same:
            said["note"] = (
                f"λ = {self.penalty:g} is less than the depth of the losses, {self.depth:.3g}: Φ "
                "need not be convex, and may exceed (3), so inf Φ is known by this enclosure alone"
            )
        high = found.high if same else max(value, found.low)
        return Solution(found.low, high, found.minimiser, {**found.certificate, **said})

    @cached_property
    def robust_optimum(self) -> Solution:
        """The certified optimum of (3) on the ball, which is convex for every λ."""
        shares = np.eye(len(self.every_row))
        return logistic_optimum(
            self.every_row,
            shares,
            ball=self.ball,
            penalty=self.penalty,
            divergence="kl" if self.divergence == "kl" else "chi2",
        )

    def losses(self, x: np.ndarray) -> np.ndarray:
        """Return every sample's loss at x, [m]."""
        return np.asarray(np.logaddexp(0.0, -self.every_row @ x))

    def robust(self, x: np.ndarray) -> tuple[float, float]:
        """Return an enclosure of R at x: the inner maximum, by cvxpy and weak duality."""
        return inner_maximum(self.losses(x), self.penalty, self.divergence)

    def start(self) -> np.ndarray:
        """Return 0."""
        return np.zeros(self.dim)
