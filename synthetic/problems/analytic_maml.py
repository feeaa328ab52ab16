r"""Federated meta-learning on analytic task losses: all constants of Assumption 3.8 are exact.

**Objective.** Task i of client k has the loss L(x) = A Σ_j (1 − cos ω(x_j − c)), j = 1 … d, with
A = amplitude, ω = frequency and its own centre c = c_{k,i}; with λ = adaptation,

    F(x) = (1/K) Σ_k (1/n) Σ_i L_{k,i}(x − λ∇L_{k,i}(x)).

As a composition: inner g_k(x) has one block a task, y_i = (x − λ∇L_i(x))/√n in R^d, and outer
f_k(y) = (1/n) Σ_i L_i(√n y_i). With one task that is (8) of the Local-SCGDM paper; the scale
1/√n keeps every constant independent of n. Centres: c_{k,i} = ±heterogeneity ± task_heterogeneity,
pairs of clients and of tasks on opposite sides.

**Noise.** L(x; ξ) = L(x) + s ξ Σ_j ε_j cos(ωx_j), ξ = ±1 for each task: training noise ξ in g,
test noise ζ in f, drawn apart. ε_j = 1 ("aligned") or (−1)^{j+1} ("alternating").

**Constants of the tasks** (on R^d, all attained): L_1 = Aω², L_2 = Aω³ (∇²L is diagonal, each
entry has the slope Aω³), G = Aω√d, σ_1 = sω√d, σ_2 = sω² (spectral), σ_2√d (Frobenius).

**Constants of the composition.** ∇g_k stacks the n diagonal matrices (I − λ∇²L_i(x; ξ_i))/√n, so
‖∇g_k‖² ≤ max_i ‖I − λ∇²L_i(x; ξ_i)‖²; ∇f_k(y) stacks the ∇L_i(√n y_i; ζ_i)/√n. Hence

* inner gradient ≤ 1 + λL_1 + λσ_2 for every sample. In mean square (1 + λL_1)² + λ²σ_2² if d = 1,
  where ξ averages (a + bξ)² to a² + b²; else (1 + λL_1 + λσ_2)², by Minkowski, and attained: with
  alternating signs, c = 0 and ωx_j = π, ∇g = (1 + λL_1)I + λσ_2 ξ diag(ε), whose spectral norm is
  1 + λL_1 + λσ_2 for either ξ;
* inner Lipschitz constant λL_2, of one sample λ(L_2 + sω³); noise of the Jacobian λσ_2√d, of the
  value λσ_1;
* outer gradient ≤ G + σ_1, in mean square G² + σ_1²; Lipschitz constant L_1, of one sample
  L_1 + σ_2; noise σ_1;
* F = Σ_j Φ(x_j): with ψ the loss in one coordinate and y = u − λψ'(u), the second derivative of
  ψ(y) is (1 − λψ'')²ψ''(y) − λψ'''ψ'(y), at most (1 + λL_1)²L_1 + λL_2 Aω. (Lemma 3.9 has G
  for Aω; they differ by √d.) ∇F has the Lipschitz constant sup |Φ''|, which is less, since no point
  is the worst for every factor: the largest |Φ''| on a grid of step h over a period, plus
  (h/2) sup |Φ'''|. With q = 1 + λL_1 and y' ≤ q, |y''| ≤ λL_2, |y'''| ≤ λωL_2, the chain rule gives
  |Φ'''| ≤ L_2q³ + 3L_1qλL_2 + Aω·λωL_2.

**Optimum.** inf F = d·inf Φ, Φ of period 2π/ω. On a grid of step h over a period, a function lies
above its linear interpolation less h² sup|Φ''|/8: the grid's minimum less that is proven.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.pairs import pair_signs
from driftproof.toolkit.composition import CompositionProblem, NoPlainPart
from driftproof.toolkit.draws import Law, SignMean
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt
from driftproof.toolkit.problem import Solution, problem

GRID = 1 << 17


class AnalyticMAMLOracles(NoPlainPart):
    """The oracles in one dtype; what is of tasks is [clients, tasks, dim, replicates]."""

    def __init__(self, of: AnalyticMAML, dtype: torch.dtype, device: str, clients: range) -> None:
        chosen = list(clients)
        self._of, self.clients = of, len(chosen)
        self._centres = torch.from_numpy(of.centres[chosen]).to(device, dtype)[..., None, None]
        self._signs = torch.from_numpy(of.pattern).to(device, dtype)[:, None]
        self._root = math.sqrt(of.tasks)
        share = torch.full((len(chosen), 1, 1), 1.0 / of.clients, dtype=dtype, device=device)
        self.client_weights = share

    def inner_law(self, batch: int) -> Law | None:
        """Return the law of one sign a task; the outer function's is the same, drawn apart."""
        return SignMean(batch, (self._of.tasks,)) if self._of.noise else None

    outer_law = inner_law

    def task_value(self, at: Tensor) -> Tensor:
        """Return every task's expected loss at its own point, [clients, tasks, replicates]."""
        phase = self._of.frequency * (at - self._centres)
        values: Tensor = self._of.amplitude * (1 - torch.cos(phase)).sum(2)
        return values

    def task_gradient(self, at: Tensor, xi: Tensor | None) -> Tensor:
        """Return every task's gradient at its own point, for signs [clients, tasks, replicates]."""
        of = self._of
        gradients: Tensor = (
            of.amplitude * of.frequency * torch.sin(of.frequency * (at - self._centres))
        )
        if xi is not None:
            moved = of.noise * of.frequency * self._signs * torch.sin(of.frequency * at)
            gradients = gradients - xi[:, :, None] * moved
        return gradients

    def task_hessian(self, at: Tensor, xi: Tensor | None) -> Tensor:
        """Return the diagonal of every task's Hessian (it has no other entries)."""
        of = self._of
        square = of.frequency**2
        hessians: Tensor = of.amplitude * square * torch.cos(of.frequency * (at - self._centres))
        if xi is not None:
            moved = of.noise * square * self._signs * torch.cos(of.frequency * at)
            hessians = hessians - xi[:, :, None] * moved
        return hessians

    def inner(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return the blocks (x − λ∇L_i(x; ξ_i))/√n, and v ↦ Σ_i (I − λ∇²L_i)v_i/√n."""
        at, rate = x[:, None], self._of.adaptation
        moved = (at - rate * self.task_gradient(at, xi)) / self._root
        expansion = (1 - rate * self.task_hessian(at, xi)) / self._root

        def pullback(v: Tensor) -> Tensor:
            return (expansion * self._blocks(v)).sum(1)

        return moved.flatten(1, 2), pullback

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return the blocks ∇L_i(√n y_i; ζ_i)/√n."""
        gradients = self.task_gradient(self._root * self._blocks(y), zeta) / self._root
        return gradients.flatten(1, 2)

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return (1/n) Σ L_i(√n y_i), [clients, replicates]."""
        return self.task_value(self._root * self._blocks(y)).mean(1)

    def _blocks(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[0], self._of.tasks, self._of.dim, y.shape[2])


@problem(
    name="analytic-maml",
    source="Local-SCGDM (2022), problem (8) under Assumption 3.8",
    statement=r"F(x) = \frac1K\sum_{k=1}^K \frac1n\sum_{i=1}^n "
    r"\mathcal{L}^{(k)}_i\big(x - \lambda\nabla\mathcal{L}^{(k)}_i(x)\big)",
)
class AnalyticMAML(CompositionProblem):
    """Cosine tasks after one gradient step, with exact constants.

    The inner gradient is at most 1 + λAω², attained where cos ω(x − c) = −1:

    >>> AnalyticMAML(adaptation=0.5, frequency=2.0).constants["inner_gradient_bound"]
    3.0

    Args:
        clients: K.
        dim: d.
        tasks: n, of each client.
        adaptation: λ.
        amplitude, frequency: A and ω of every task.
        heterogeneity: how far the clients' centres lie from 0, on either side.
        task_heterogeneity: how far a client's tasks lie from its centre, on either side.
        noise: s.
        signs: ε, "aligned" or "alternating".
        distance: every coordinate of the start.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 1
    tasks: PositiveInt = 1
    adaptation: Positive = 0.3
    amplitude: Positive = 1.0
    frequency: Positive = 1.0
    heterogeneity: NonNegative = 0.0
    task_heterogeneity: NonNegative = 0.0
    noise: NonNegative = 0.0
    signs: Literal["aligned", "alternating"] = "aligned"
    distance: NonNegative = 1.0

    notation = {
        "K": "clients",
        "n": "tasks",
        "d": "dim",
        "lambda_": "adaptation",
        "L_1": "task_smoothness",
        "L_2": "task_hessian_smoothness",
        "G": "task_gradient_bound",
        "sigma_1": "task_gradient_noise",
        "sigma_2": "task_hessian_noise",
        "sigma_2F": "task_hessian_frobenius_noise",
    }
    oracle_type = AnalyticMAMLOracles

    @classmethod
    def examples(cls) -> list[AnalyticMAML]:
        """Return members with each feature: one and more coordinates and tasks, noise."""
        return [
            cls(heterogeneity=0.5),
            cls(clients=1, noise=0.2),
            cls(clients=3, dim=2, heterogeneity=0.4, noise=0.3, signs="alternating"),
            cls(dim=2, tasks=2, task_heterogeneity=0.7, frequency=1.5, noise=0.1),
            cls(clients=1, tasks=3, task_heterogeneity=0.5, adaptation=1.2, amplitude=0.7),
        ]

    @cached_property
    def centres(self) -> np.ndarray:
        """c_{k,i}, [clients, tasks]."""
        of_clients = self.heterogeneity * pair_signs(self.clients)[:, None]
        centres: np.ndarray = of_clients + self.task_heterogeneity * pair_signs(self.tasks)
        return centres

    @cached_property
    def pattern(self) -> np.ndarray:
        """ε, [dim]."""
        turns = np.arange(self.dim) % 2 if self.signs == "alternating" else np.zeros(self.dim)
        signs: np.ndarray = 1.0 - 2.0 * turns
        return signs

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        a, w, s, rate = self.amplitude, self.frequency, self.noise, self.adaptation
        root, smooth, third = math.sqrt(self.dim), a * w**2, a * w**3
        steep, value_noise, bend = a * w * root, s * w * root, s * w**2
        expansion, noise = 1 + rate * smooth, rate * bend
        both = expansion + noise
        return {
            "task_smoothness": smooth,
            "task_hessian_smoothness": third,
            "task_gradient_bound": steep,
            "task_gradient_noise": value_noise,
            "task_hessian_noise": bend,
            "task_hessian_frobenius_noise": bend * root,
            "inner_gradient_bound": both,
            "inner_gradient_moment": math.hypot(expansion, noise) if self.dim == 1 else both,
            "inner_mean_smoothness": rate * third,
            "inner_smoothness": rate * (third + s * w**3),
            "inner_gradient_noise": noise * root,
            "inner_value_noise": rate * value_noise,
            "outer_gradient_bound": steep + value_noise,
            "outer_gradient_moment": math.hypot(steep, value_noise),
            "outer_mean_smoothness": smooth,
            "outer_smoothness": smooth + bend,
            "outer_gradient_noise": value_noise,
            "objective_smoothness": self.steepest,
        }

    @cached_property
    def steepest(self) -> float:
        """A proven bound on sup |Φ''|, above it by no more than a ten-thousandth or so."""
        a, w, rate = self.amplitude, self.frequency, self.adaptation
        smooth, third, expansion = a * w**2, a * w**3, 1 + rate * a * w**2
        step = 2 * math.pi / w / GRID
        u, bend = step * np.arange(GRID), np.zeros(GRID)
        for centre in self.centres.ravel():
            at = w * (u - centre)
            after = w * (u - rate * a * w * np.sin(at) - centre)
            bend += (1 - rate * smooth * np.cos(at)) ** 2 * smooth * np.cos(after)
            bend += rate * third * np.sin(at) * a * w * np.sin(after)
        change = (
            third * expansion**3 + 3 * smooth * expansion * rate * third + a * w * rate * w * third
        )
        largest = float(np.abs(bend).max()) / self.centres.size
        return (largest + step / 2 * change) * (1 + 1e-12)

    def coordinate(self, u: np.ndarray) -> np.ndarray:
        """Return Φ at points of one coordinate: F(x) = Σ_j Φ(x_j)."""
        a, w = self.amplitude, self.frequency
        total = np.zeros_like(u)
        for centre in self.centres.ravel():
            moved = u - self.adaptation * a * w * np.sin(w * (u - centre))
            total += a * (1 - np.cos(w * (moved - centre)))
        return total / self.centres.size

    @cached_property
    def solution(self) -> Solution:
        """The optimum on R^d, by a grid and a proven bound on the second derivative."""
        step = 2 * math.pi / self.frequency / GRID
        grid = step * np.arange(GRID)
        values = self.coordinate(grid)
        best = float(grid[int(np.argmin(values))])
        finer = best + step * np.linspace(-1.0, 1.0, 2_001)
        best = float(finer[int(np.argmin(self.coordinate(finer)))])
        slack = step**2 / 8 * self.constants["objective_smoothness"]
        low = self.dim * max(0.0, float(values.min()) - slack)
        point = np.full(self.dim, best)
        high = float(self.objective(torch.from_numpy(point)[:, None]))
        certificate = {"method": "grid over one period", "points": GRID, "gap": high - low}
        return Solution(min(low, high), high, point, certificate)

    def start(self) -> np.ndarray:
        """Return distance in every coordinate."""
        return np.full(self.dim, float(self.distance))
