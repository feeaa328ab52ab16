r"""Hyperparameters of federated logistic regression: a lower level that is not quadratic.

**Data.** Client i has ``samples`` rows a to train on and ``validation`` others, all ‖a‖ = R =
feature_bound, labelled by the sign of ⟨a, v_i⟩, v_i = v + heterogeneity·δ_i, a share ``flips`` of
the labels turned over. With the signed rows b = l·a and ℓ(s) = log(1 + e^{−s}),

* g_i(x, y) = mean_train ℓ(b·y) + (ν/2)‖y‖² − yᵀC_i x, C_i = (c ± k)UE, clients in pairs with signs
  ± (0 for an odd one out), U orthogonal and E the embedding of the first coordinates;
* f_i(x, y) = mean_validation ℓ(b·y) + (λ/2)‖x‖².

**Noise.** Minibatches of sample numbers, drawn with replacement; one minibatch of training samples
serves a gradient and a Hessian. ∇_x f_i and ∇²_xy g_i are exact.

**Constants.** S_i = mean_train bbᵀ, V_i = mean_validation bbᵀ, S̄, V̄, C̄ the clients' means, λ₊ the
largest eigenvalue; 0 < ℓ'' = σ(1 − σ) ≤ 1/4, |ℓ'''| ≤ 1/(6√3) (at σ = (3 ± √3)/6) and |ℓ'| ≤ 1.

* μ_g = ν: νI ⪯ H_i(y) = ∇²_yy g_i ⪯ νI + S_i/4; the left side is the limit as |b·y| → ∞, the right
  side attained at y = 0. A sample's Hessian has νI ⪯ · ⪯ (ν + R²/4)I.
* ℓ_{g,1} = max_i λ₊(K_i), K_i = [[0, −C_iᵀ], [−C_i, νI + S_i/4]], attained at y = 0. For the
  Hessian [[0, −C_iᵀ], [−C_i, H_i]] increases in H_i, so its spectrum lies between the least
  eigenvalue at H_i = νI, (ν − √(ν² + 4‖C_i‖²))/2 or 0, and λ₊(K_i), which is not smaller in size.
* ℓ_{g,2} = max_i R²√λ₊(S_i)/(6√3), even in the Frobenius norm: along a unit h, ‖mean ℓ'''(b·h)bbᵀ‖
  ≤ R² mean|b·h|/(6√3), and mean|b·h| ≤ (mean (b·h)²)^½. (In the spectral norm: Rλ₊(S_i)/(6√3).)
* ℓ_{f,1} = max_i max(λ₊(V_i)/4, λ), attained at y = 0.
* ℓ_{f,0} = max_i √λ₊(V_i), if λ = 0: along a unit u, |∇f_i·u| ≤ mean|b·u|.
* Standard deviations of a sample: of either gradient at most R, as (E‖ℓ'b‖²)^½; of the Hessian
  at most R²/4, as (E‖ℓ''bbᵀ‖²)^½. A sample's gradient, R long at most,
  is 2R(1 − 1/n) from the mean of n at most.
* L of F = V(y*(x)) + (λ/2)‖x‖², V the mean validation loss: with J = ∇y* = H^{-1}C̄,
  ∇²F = Jᵀ∇²V J − C̄ᵀH^{-1}(D³g[J·])H^{-1}∇V + λI, where ‖J‖ ≤ ‖C̄‖/ν, ‖∇²V‖ ≤ λ₊(V̄)/4,
  ‖∇V‖ ≤ √λ₊(V̄) and ‖D³g[h]‖ ≤ Rλ₊(S̄)‖h‖/(6√3). So
  L = (‖C̄‖²/ν²)(λ₊(V̄)/4 + Rλ₊(S̄)√λ₊(V̄)/(6√3ν)) + λ.

**Solution.** y*(x) by Newton's method; inf F is enclosed (``synthetic.certificates.logistic``), to
rounding if λ = 0 and d_1 ≥ d_2, or if F is convex on a ball that holds its minimisers: with
q = H^{-1}∇V, H ⪰ hI on it and |ℓ'''| ≤ ℓ'' too, the middle term of zᵀ∇²Fz is at most
max|b·q| mean |ℓ'''|(b·Jz)², and (H − ν)H^{-2} ⪯ 1/(4ν), so
∇²F ⪰ λ − R(‖∇V‖/h)‖C̄‖² min(λ₊(S̄)/(6√3h²), 1/(4ν)).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.pairs import pair_signs
from driftproof.synthetic.building_blocks.reflections import reflections
from driftproof.synthetic.certificates.logistic import enclosed, newton, shares
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.draws import Indices, Law
from driftproof.toolkit.oracles import LowerVector, UpperVector
from driftproof.toolkit.parameters import (
    NonNegative,
    NonNegativeInt,
    Positive,
    PositiveInt,
    UnitInterval,
)
from driftproof.toolkit.problem import Solution, problem

THIRD = 1 / (6 * 3**0.5)
"""The largest |ℓ'''|."""


class LogisticBilevelOracles:
    """Oracles of some clients in one dtype; tensors are [clients, …, replicates]."""

    def __init__(
        self, of: LogisticBilevel, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        chosen = list(clients)

        def tensor(part: np.ndarray) -> Tensor:
            return torch.tensor(part[chosen], dtype=dtype, device=device)

        self._of = of
        self.clients = len(chosen)
        self.upper_dim = of.dim
        self.lower_smoothness = float(of.constants["lower_smoothness"])
        self._train, self._validation = (tensor(part) for part in of.data)
        self._cross = tensor(of.cross_maps)

    def upper_law(self, batch: int) -> Law | None:
        """Numbers of validation samples."""
        return self._law(self._of.validation, batch)

    def lower_law(self, batch: int) -> Law | None:
        """Numbers of training samples."""
        return self._law(self._of.samples, batch)

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        away = -_Minibatch(self._validation, None).along(y)
        plain = self._of.regulariser / 2 * (x * x).sum(1)
        return torch.nn.functional.softplus(away).mean(1) + plain

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return λx; no sample has a part in it."""
        return self._of.regulariser * x

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return −mean σ(−b·y) b over the minibatch of validation samples."""
        return _Minibatch(self._validation, xi).slope(y)

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −mean σ(−b·y) b + νy − C_i x."""
        slope = _Minibatch(self._train, zeta).slope(y)
        return slope + self._of.ridge * y - torch.bmm(self._cross, x)

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ∇_x g_i = −C_iᵀy, exactly."""
        return -torch.bmm(self._cross.mT, y)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return mean σ(b·y)σ(−b·y)(b·v) b + νv."""
        minibatch = _Minibatch(self._train, zeta)
        at = minibatch.along(y)
        bend = torch.sigmoid(at) * torch.sigmoid(-at)
        return minibatch.mean(bend * minibatch.along(v)) + self._of.ridge * v

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −C_iᵀv, which no sample changes."""
        return -torch.bmm(self._cross.mT, v)

    def _law(self, samples: int, batch: int) -> Law | None:
        of = self._of
        return Indices((samples,) * of.clients, batch) if of.noise == "samples" else None


@problem(
    name="logistic-bilevel",
    source="FedNest (2022), slides, the assumptions of its theory and its motivating example",
    statement=r"f_i = \tfrac1{n'}\sum_j \log(1+e^{-l'_{ij}a_{ij}'^\top y}) + "
    r"\tfrac\lambda2\|x\|^2, \quad g_i = \tfrac1n\sum_j\log(1+e^{-l_{ij}a_{ij}^\top y}) + "
    r"\tfrac\nu2\|y\|^2 - y^\top C_i x",
)
class LogisticBilevel(BilevelProblem):
    """Training losses below, validation losses above.

    A sample's Hessian is at most ν + R²/4, at y = 0:

    >>> LogisticBilevel(ridge=0.5, feature_bound=1.0).constants["lower_sample_smoothness"]
    0.75

    Args:
        clients: m.
        dim, lower_dim: d_1 and d_2.
        samples, validation: rows a client.
        feature_bound: R.
        heterogeneity: how far the clients' labelling vectors lie apart.
        flips: the probability that a label is turned over.
        ridge: ν.
        cross, cross_heterogeneity: c and k.
        regulariser: λ.
        noise: "samples" (minibatches) or "none".
        distance: x_0 = distance·e_1, y_0 = 0.
        data_seed: the key of the data.
    """

    clients: PositiveInt = 4
    dim: PositiveInt = 3
    lower_dim: PositiveInt = 3
    samples: PositiveInt = 10
    validation: PositiveInt = 10
    feature_bound: Positive = 1.0
    heterogeneity: NonNegative = 0.5
    flips: UnitInterval = 0.25
    ridge: Positive = 0.5
    cross: Positive = 1.0
    cross_heterogeneity: NonNegative = 0.0
    regulariser: NonNegative = 0.0
    noise: Literal["samples", "none"] = "samples"
    distance: NonNegative = 1.0
    data_seed: NonNegativeInt = 0

    notation = {"m": "clients", "mu_g": "lower_strong_convexity", "ell_g1": "lower_smoothness"}
    oracle_type = LogisticBilevelOracles

    @classmethod
    def examples(cls) -> list[LogisticBilevel]:
        """Return members with an enclosed and with an exact inf F, and one without noise."""
        return [
            cls(clients=2, dim=2, lower_dim=2, samples=3, validation=6, data_seed=2),
            cls(
                clients=3,
                dim=2,
                lower_dim=3,
                samples=3,
                validation=2,
                ridge=0.7,
                cross_heterogeneity=0.4,
                regulariser=0.2,
                feature_bound=1.5,
            ),
            cls(clients=2, dim=2, lower_dim=1, samples=4, validation=4, noise="none"),
        ]

    @property
    def upper_dim(self) -> int:
        """d_1."""
        return self.dim

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """The signed rows b to train on and to validate with, [clients, …, lower_dim] each."""
        random = np.random.Generator(np.random.Philox(key=self.data_seed))
        count = self.samples + self.validation
        common = random.standard_normal(self.lower_dim)
        own = random.standard_normal((self.clients, self.lower_dim, 1))
        rows = random.standard_normal((self.clients, count, self.lower_dim))
        rows *= self.feature_bound / np.linalg.norm(rows, axis=2, keepdims=True)
        labels = np.where(rows @ (common[:, None] + self.heterogeneity * own) >= 0, 1.0, -1.0)
        labels *= np.where(random.random(labels.shape) < self.flips, -1.0, 1.0)
        signed = labels * rows
        return signed[:, : self.samples], signed[:, self.samples :]

    @cached_property
    def cross_maps(self) -> np.ndarray:
        """C_i, [clients, lower_dim, dim]."""
        steps = np.arange(1.0, self.lower_dim + 1)
        embedded = reflections(steps, np.cos(steps)) @ np.eye(self.lower_dim, self.dim)
        scales = self.cross + self.cross_heterogeneity * pair_signs(self.clients)
        maps: np.ndarray = scales[:, None, None] * embedded
        return maps

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        reach, ridge, cross = self.feature_bound, self.ridge, -self.cross_maps
        train, validation = (rows.mT @ rows / rows.shape[1] for rows in self.data)
        lower, upper = (np.linalg.eigvalsh(part)[:, -1] for part in (train, validation))
        corner = np.zeros((self.clients, self.dim, self.dim))
        hessians = train / 4 + ridge * np.eye(self.lower_dim)
        blocks = np.block([[corner, cross.mT], [cross, hessians]])
        mean_lower, mean_upper = (
            float(np.linalg.eigvalsh(part.mean(0))[-1]) for part in (train, validation)
        )
        third = THIRD * reach * mean_lower * mean_upper**0.5 / ridge
        response = self._largest_cross / ridge
        noisy = float(self.noise == "samples")
        constants = {
            "lower_strong_convexity": ridge,
            "lower_smoothness": float(np.linalg.eigvalsh(blocks).max()),
            "lower_hessian_smoothness": THIRD * reach**2 * float(lower.max()) ** 0.5,
            "lower_sample_smoothness": ridge + reach**2 / 4,
            "lower_sample_convexity": ridge,
            "upper_smoothness": max(float(upper.max()) / 4, self.regulariser),
            "upper_gradient_noise": reach * noisy,
            "lower_gradient_noise": reach * noisy,
            "lower_hessian_noise": reach**2 / 4 * noisy,
            "lower_cross_noise": 0.0,
            "upper_noise_bound": 2 * reach * (1 - 1 / self.validation) * noisy,
            "lower_noise_bound": 2 * reach * (1 - 1 / self.samples) * noisy,
            "lower_cross_noise_bound": 0.0,
            "objective_smoothness": response**2 * (mean_upper / 4 + third) + self.regulariser,
        }
        if not self.regulariser:
            constants["upper_gradient_bound"] = float(upper.max()) ** 0.5
        return constants

    def lower_solution(self, x: UpperVector) -> LowerVector:
        """Return y*(x) by Newton's method, to rounding."""
        rows = torch.from_numpy(self.data[0].reshape(-1, self.lower_dim)).to(x)
        cross = torch.from_numpy(self.cross_maps.mean(0)).to(x)
        return newton(rows, self.ridge, cross @ x[: self.dim])

    @cached_property
    def solution(self) -> Solution:
        """An enclosure of inf F."""
        centre = self.lower_solution(torch.zeros(self.dim, 1, dtype=torch.float64))
        modulus = self.regulariser * (self.ridge / self._largest_cross) ** 2

        def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
            at = torch.from_numpy(x)[:, None]
            return float(self.objective(at)), self.gradient(at)[:, 0].numpy()

        def reaching(y: np.ndarray) -> np.ndarray:
            """Return the shortest x with ∇_y g(x, y) = 0: y = y*(x), if C̄ is onto."""
            train = self.data[0].reshape(-1, self.lower_dim)
            push = self.ridge * y - train.T @ shares(train, y) / len(train)
            return np.asarray(np.linalg.lstsq(self.cross_maps.mean(0), push, rcond=None)[0])

        rows, middle = self.data[1].reshape(-1, self.lower_dim), centre[:, 0].numpy()
        convexity = partial(self._convexity, middle)
        return enclosed(objective, reaching, rows, middle, modulus, convexity)

    def _convexity(self, centre: np.ndarray, above: float) -> float:
        """Return what ∇²F exceeds where F ≤ inf V + above, so (λ/2)‖x‖² ≤ above, as derived."""
        train, validation = (rows.reshape(-1, self.lower_dim) for rows in self.data)
        bends = [np.linalg.eigvalsh(rows.T @ rows / len(rows)) for rows in (train, validation)]
        # ≥ ‖y*(x) − y*(0)‖
        away = self._largest_cross * (2 * max(above, 0.0) / self.regulariser) ** 0.5 / self.ridge
        fade = np.exp(-self.feature_bound * (float(np.linalg.norm(centre)) + away))
        least = self.ridge + max(float(bends[0][0]), 0.0) * fade / (1 + fade) ** 2
        steep = float(np.linalg.norm(validation.T @ shares(validation, centre)) / len(validation))
        steep = min(float(bends[1][-1]) ** 0.5, steep + float(bends[1][-1]) / 4 * away)
        turn = min(THIRD * float(bends[0][-1]) / least**2, 1 / (4 * self.ridge))
        turn *= self.feature_bound * steep / least * self._largest_cross**2
        return float(self.regulariser - turn)

    def start(self) -> np.ndarray:
        """Return (distance·e_1, 0), [dim + lower_dim]."""
        point = np.zeros(self.dim + self.lower_dim)
        point[0] = self.distance
        return point

    @property
    def _largest_cross(self) -> float:
        """‖C̄‖."""
        return float(np.linalg.norm(self.cross_maps.mean(0), 2))


class _Minibatch:
    """Some of the rows [clients, samples, dim] for each client and replicate, or all of them."""

    def __init__(self, rows: Tensor, drawn: Tensor | None) -> None:
        self._rows = rows
        if drawn is not None:
            client = torch.arange(len(rows), device=rows.device)[:, None, None]
            self._rows = rows[client, drawn].permute(
                0, 1, 3, 2
            )  # [clients, batch, dim, replicates]

    def along(self, v: Tensor) -> Tensor:
        """Return b·v for every row b, [clients, rows, replicates]."""
        if self._rows.ndim == 3:
            return torch.bmm(self._rows, v)
        return (self._rows * v[:, None]).sum(2)

    def mean(self, weights: Tensor) -> Tensor:
        """Return the mean of weight times row, [clients, dim, replicates]."""
        if self._rows.ndim == 3:
            return torch.bmm(self._rows.mT, weights) / weights.shape[1]
        return (self._rows * weights[:, :, None]).mean(1)

    def slope(self, y: Tensor) -> Tensor:
        """Return the gradient of the mean logistic loss."""
        return self.mean(-torch.sigmoid(-self.along(y)))
