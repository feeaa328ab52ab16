r"""How near the series come to the hypergradient, at the start x⁰ and y*(x⁰).

The exact ∇F is had by conjugate gradients. Compared with it are, without noise and with all
clients, −∇²_xy g p for

* p = (1/ℓ) Σ_{n<N} (I − H/ℓ)^n ∇_y f, the mean of what the slides sample (H the mean ∇²_yy g), and
* p = ∇_y f + Σ_{n≤N} (1/n)(1/m) Σ_i (I − ηH_i)^n ∇_y f, the public code's.

Lengths are a matter of the step size α; directions are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from toolkit.oracles import ClientVectors, on_every_client
from verifiers.experiment import Computed
from verifiers.experiments.fednest.tuning.public_code import PublicFedNest
from verifiers.experiments.fednest.tuning.run import TuningRun

TERMS = (1, 3, 10, 30, 100, 300)


@dataclass(frozen=True)
class Series(Computed):
    """The comparison on one split."""

    of: TuningRun

    def measured(self) -> dict[str, Any]:
        """Return the cosine and the ratio of lengths for each N, and for the public code's p."""
        problem = self.of.problem
        oracles = problem.oracles(torch.float64)
        start = torch.from_numpy(problem.start()[: problem.upper_dim])[:, None]
        solved = problem.lower_solution(start)
        x, y = (on_every_client(part, problem.clients) for part in (start, solved))
        exact = problem.hypergradient(start, solved)

        def compared(p: ClientVectors) -> dict[str, float]:
            h = -oracles.lower_cross(x, y, p, None).mean(0)
            length = float(h.norm())
            return {
                "cosine": float((h * exact).sum()) / length / float(exact.norm()),
                "length": length / float(exact.norm()),
            }

        def mean(v: ClientVectors) -> ClientVectors:
            return on_every_client(v.mean(0), problem.clients)

        gradient = mean(oracles.upper_grad_y(x, y, None))
        step = 1 / oracles.lower_smoothness
        power, total = gradient, torch.zeros_like(gradient)
        series: dict[str, Any] = {}
        for n in range(1, max(TERMS) + 1):
            total = total + step * power
            if n in TERMS:
                series[str(n)] = compared(total)
            power = mean(power - step * oracles.lower_hessian(x, y, power, None))
        terms, eta = self.of.size.terms, PublicFedNest().series_step
        counter: Tensor = gradient
        total = gradient
        for n in range(1, terms + 1):
            counter = counter - eta * oracles.lower_hessian(x, y, counter, None)
            total = total + mean(counter) / n
        series["public"] = compared(total)
        series["length of ∇F"] = float(exact.norm())
        return series
