r"""Model-agnostic meta-learning on quadratic tasks, plain and robust.

**Objective.** Task i: f_i(w) = ½ (w − c_i)ᵀA_i(w − c_i) + e_i. One step of size η = adaptation:

* "average", (7): F(w) = (1/n) Σ f_i(w − η∇f_i(w));
* "exp", (10): F(w) = (1/n) Σ exp(f_i(w − η∇f_i(w))/γ).

As a composition: inner w ↦ w − ηA_i(w − c_i), with the symmetric Jacobian I − ηA_i; outer f_i, or
exp(f_i/γ). Client i's spectrum runs from ``smallest`` to ``largest``, its eigenvectors are turned
by its own reflection; c_i = ±heterogeneity·e plus e; e_i alternates between 0 and ``offset``.

**Noise**, signs ±1: the inner gradient is ∇f_i(w) + s ξ e, the outer function has κ ζ e·y added,
with κ = s, or s/γ in the robust form.

**Constants**, for ‖w‖ ≤ B = ball. An inner value y has y − c_i = (I − ηA_i)(w − c_i) − ηsξe. Let
D_i(p, q) be the most that ‖A_i^p |I − ηA_i|^q (w − c_i)‖ can be (``building_blocks.farthest``). So
‖A_i(y − c_i)‖ ≤ S_i = D_i(1, 1) + largest·ηs and ‖A_i^½(y − c_i)‖ ≤ V_i = D_i(½, 1) +
√largest·ηs; both sets of y are convex, and f_i(y) ≤ V_i²/2 + e_i.

* G_f = max |1 − ηλ|, L_f = 0, σ_1 = 0, σ_2 = ηs (all exact: the Jacobian is constant);
* average: G_g = max S_i + s, L_g = largest, σ_3 = s; L = λmax of (1/n) Σ M_i, M_i =
  (I − ηA_i)A_i(I − ηA_i), exact;
* exp: with T_i = e^{(V_i²/2 + e_i)/γ}/γ, G_g = max T_iS_i + s/γ, L_g = max T_i(largest + S_i²/γ),
  σ_3 = s/γ. In F there is no noise and ∇² exp(q_i/γ) = (e^{q_i/γ}/γ)(M_i + ∇q_i∇q_iᵀ/γ), ∇q_i =
  M_i(w − c_i): L is the mean over i of e^{(D_i(½, 1)²/2 + e_i)/γ}(λmax(M_i) + D_i(1, 2)²/γ)/γ.

**Optimum** on R^d. Average: Σ M_i (w − c_i) = 0, in closed form. Exp: V = γ log F is μ-strongly
convex, μ = min λmin(M_i), so V(w) − min V ≤ ‖∇V(w)‖²/(2μ) at the solver's point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.farthest import farthest
from driftproof.synthetic.building_blocks.pairs import pair_signs
from driftproof.synthetic.certificates.smooth import minimise_smooth_on_ball
from driftproof.toolkit.composition import CompositionProblem, NoPlainPart
from driftproof.toolkit.draws import Law, SignMean
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt
from driftproof.toolkit.problem import Solution, problem


class MAMLOracles(NoPlainPart):
    """The oracles in one dtype; tensors are [clients, dim, replicates]."""

    def __init__(self, of: MAML, dtype: torch.dtype, device: str, clients: range) -> None:
        chosen = list(clients)
        self._of, self.clients = of, len(chosen)

        def tensor(values: np.ndarray) -> Tensor:
            return torch.from_numpy(values[chosen]).to(device, dtype)

        self._a, self._c = tensor(of.curvatures), tensor(of.centres)[..., None]
        self._e = tensor(of.offsets)[:, None]
        self.client_weights = torch.full_like(self._c[:, :1], 1.0 / of.clients)

    def _law(self, batch: int) -> Law | None:
        return SignMean(batch, (1,)) if self._of.gradient_noise else None

    inner_law = outer_law = _law

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return x − η∇f_i(x; ξ) and the symmetric I − ηA_i."""
        rate = self._of.adaptation
        y = x - rate * (self._a @ (x - self._c))
        if xi is not None:
            y = torch.cat([y[:, :1] - rate * self._of.gradient_noise * xi, y[:, 1:]], 1)
        return y, lambda v: v - rate * (self._a @ v)

    def task_value(self, y: InnerVectors) -> Tensor:
        """Return f_i(y), [clients, replicates]."""
        away = y - self._c
        return 0.5 * (away * (self._a @ away)).sum(1) + self._e

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return ∇f_i(y), times exp(f_i(y)/γ)/γ in the robust form, plus the noise κζe."""
        of, grad = self._of, self._a @ (y - self._c)
        if of.form == "exp":
            grad = grad * (torch.exp(self.task_value(y) / of.temperature) / of.temperature)[:, None]
        if zeta is not None:
            grad = torch.cat([grad[:, :1] + of.outer_noise * zeta, grad[:, 1:]], 1)
        return grad

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return f_i(y), or exp(f_i(y)/γ)."""
        value = self.task_value(y)
        return value if self._of.form == "average" else torch.exp(value / self._of.temperature)

    def outer_batch_value(self, y: InnerVectors, zeta: Tensor | None) -> Tensor:
        """Return the outer value plus the noise κζ e·y."""
        value = self.outer_value(y)
        return value if zeta is None else value + self._of.outer_noise * (zeta * y[:, :1])[:, 0]


@problem(
    name="maml",
    source="ComFedL, problems (7) and (10)",
    statement=r"F(w) = \frac1n\sum_{i=1}^n g\big(f_i(w - \eta\nabla f_i(w))\big)",
)
class MAML(CompositionProblem):
    """Quadratic tasks after one gradient step, averaged or KL-robust.

    Two tasks with A = 1 and centres 1 ± ½: inf F = ½·(1 − η)²·(½)², η = 0.3:

    >>> round(MAML(dim=1).solution.high, 5)
    0.06125

    Args:
        clients: n, the number of tasks.
        dim: d.
        form: "average" (7) or "exp" (10).
        adaptation: η of the inner step.
        temperature: γ of the robust form.
        smallest, largest: ends of every task's spectrum.
        heterogeneity: how far the tasks' minimisers lie from e, on either side.
        offset: e_i of every second task.
        gradient_noise: s.
        ball: B.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 2
    form: Literal["average", "exp"] = "average"
    adaptation: Positive = 0.3
    temperature: Positive = 2.0
    smallest: Positive = 0.5
    largest: Positive = 1.0
    heterogeneity: NonNegative = 0.5
    offset: NonNegative = 0.0
    gradient_noise: NonNegative = 0.0
    ball: Positive = 3.0

    notation = {"gamma": "temperature", "n": "clients", "alpha": "adaptation"}
    outer_everywhere = False
    oracle_type = MAMLOracles
    offers = "tasks"

    def validate(self) -> None:
        """Refuse what has no constants or no minimiser."""
        self.require("smallest", f"at most largest = {self.largest}", self.smallest <= self.largest)
        singular = np.any(np.isclose(self.adaptation * self.spectrum, 1.0))
        self.require("adaptation", "not 1/λ for a curvature λ", not singular)
        fits = float(self.highest.max()) < 700 * self.temperature
        self.require("temperature", "above loss/700, or exp overflows", fits)

    @classmethod
    def examples(cls) -> list[MAML]:
        """Return both forms, with noise and without."""
        return [
            cls(),
            cls(clients=3, dim=3, gradient_noise=0.2),
            cls(form="exp", offset=0.5),
            cls(clients=3, dim=2, form="exp", gradient_noise=0.2, adaptation=1.5),
        ]

    @property
    def radius(self) -> float:
        """The ball."""
        return self.ball

    @cached_property
    def spectrum(self) -> np.ndarray:
        """Every task's eigenvalues, [dim]."""
        return np.linspace(self.largest, self.smallest, self.dim)

    def matrices(self, spectrum: np.ndarray) -> np.ndarray:
        """Return every task's function of A_i with these eigenvalues, [clients, dim, dim]."""
        matrices = []
        for client in range(self.clients):
            normal = np.cos(np.arange(1, self.dim + 1) * (client + 1.0))
            turn = np.eye(self.dim) - 2 * np.outer(normal, normal) / (normal @ normal)
            matrices.append(turn @ np.diag(spectrum) @ turn)
        return np.stack(matrices)

    @cached_property
    def curvatures(self) -> np.ndarray:
        """A_i, [clients, dim, dim]."""
        return self.matrices(self.spectrum)

    @cached_property
    def centres(self) -> np.ndarray:
        """c_i, [clients, dim]."""
        centres = np.zeros((self.clients, self.dim))
        centres[:, 0] = 1.0 + self.heterogeneity * pair_signs(self.clients)
        return centres

    @cached_property
    def offsets(self) -> np.ndarray:
        """e_i, [clients]."""
        return self.offset * (np.arange(self.clients) % 2)

    def reaches(self, power: float, shrinks: float) -> np.ndarray:
        """D_i(power, shrinks), [clients]."""
        spectrum = self.spectrum**power * np.abs(1 - self.adaptation * self.spectrum) ** shrinks
        pairs = zip(self.matrices(spectrum), self.centres, strict=True)
        return np.array([farthest(matrix, centre, self.ball) for matrix, centre in pairs])

    @property
    def highest(self) -> np.ndarray:
        """The most that each f_i can be, [clients]."""
        noise = math.sqrt(self.largest) * self.adaptation * self.gradient_noise
        losses: np.ndarray = (self.reaches(0.5, 1.0) + noise) ** 2 / 2 + self.offsets
        return losses

    @property
    def outer_noise(self) -> float:
        """κ."""
        return self.gradient_noise / (self.temperature if self.form == "exp" else 1.0)

    @cached_property
    def adapted(self) -> np.ndarray:
        """M_i = (I − ηA_i)A_i(I − ηA_i), [clients, dim, dim]."""
        turned = np.eye(self.dim) - self.adaptation * self.curvatures
        matrices: np.ndarray = turned @ self.curvatures @ turned
        return matrices

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        s, moved = self.gradient_noise, self.adaptation * self.gradient_noise
        steep = self.reaches(1.0, 1.0) + self.largest * moved
        constants = {
            "inner_gradient_bound": float(np.abs(1 - self.adaptation * self.spectrum).max()),
            "inner_smoothness": 0.0,
            "inner_gradient_noise": 0.0,
            "inner_value_noise": moved,
        }
        if self.form == "average":
            smooth = float(np.linalg.eigvalsh(self.adapted.mean(0)).max())
            outer = (float(steep.max()) + s, self.largest, s, smooth)
        else:
            gamma, top = self.temperature, np.exp(self.highest / self.temperature)
            slope = float((top * steep).max()) / gamma + self.outer_noise
            bend = float((top * (self.largest + steep**2 / gamma)).max()) / gamma
            each = np.exp((self.reaches(0.5, 1.0) ** 2 / 2 + self.offsets) / gamma) / gamma
            largest = np.linalg.eigvalsh(self.adapted).max(1)
            smooth = float((each * (largest + self.reaches(1.0, 2.0) ** 2 / gamma)).mean())
            outer = (slope, bend, self.outer_noise, smooth)
        names = ("outer_gradient_bound", "outer_smoothness", "outer_gradient_noise")
        return constants | dict(zip((*names, "objective_smoothness"), outer, strict=True))

    @cached_property
    def solution(self) -> Solution:
        """The optimum on R^d, in closed form or certified by strong convexity."""
        pull = np.einsum("kij,kj->i", self.adapted, self.centres)
        point = np.linalg.solve(self.adapted.sum(0), pull)
        if self.form == "average":
            value = float(self.objective(torch.from_numpy(point)[:, None]))
            return Solution(value, value, point, {"method": "closed form", "gap": 0.0})
        gamma = self.temperature

        def robust(w: np.ndarray) -> tuple[float, np.ndarray]:
            at = torch.from_numpy(w)[:, None]
            value = float(self.objective(at))
            return gamma * math.log(value), gamma * self.gradient(at)[:, 0].numpy() / value

        radius = 1e3 * float(np.linalg.norm(self.centres, axis=1).max()) + 1e-6  # it cuts nothing
        point = minimise_smooth_on_ball(robust, point, radius)
        value, gradient = robust(point)
        modulus = float(np.linalg.eigvalsh(self.adapted).min())
        gap = float(gradient @ gradient) / (2 * modulus)
        high = math.exp(value / gamma)
        certificate = {"method": "Newton's method", "gap": gap, "strong_convexity": modulus}
        return Solution(math.exp((value - gap) / gamma), high, point, certificate)

    def start(self) -> np.ndarray:
        """Return 0."""
        return np.zeros(self.dim)

    def losses(self, w: Tensor) -> Tensor:
        """Return f_i(w − η∇f_i(w)), [clients, replicates], for w of shape [dim, replicates]."""
        oracles: MAMLOracles = self.oracles(w.dtype, str(w.device))
        return oracles.task_value(oracles.inner(w.expand(self.clients, *w.shape), None)[0])
