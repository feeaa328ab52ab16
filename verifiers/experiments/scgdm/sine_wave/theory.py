r"""What Theorem 3.4 speaks of, on the first seed of Local-SCGDM: drift, bias, ‖∇F‖² and its bound.

The constants are estimated: the largest values seen on the way from the start to the last model.
The gradients are over all tasks of all clients, on the even grid of points.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch

from synthetic.network_problems.adapted import AdaptedLosses
from toolkit.algorithms.local_scgdm import LocalSCGDM
from toolkit.engines.batched import BatchedContext
from verifiers.claims.scgdm._theorem import corrected
from verifiers.experiment import averaged
from verifiers.experiment.theory import (
    drift,
    estimated_constants,
    plug_in_bias,
    right_side,
    squared_gradient,
)
from verifiers.experiments.scgdm.sine_wave.run import SineRun

ON_THE_WAY = 5
"""Points between start and end at which constants are looked for."""


class TheoryRun(SineRun):
    """Local-SCGDM on one seed."""

    def recorded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return drift (of the last step, before it was averaged), bias and ‖∇F(x̄)‖²."""
        point, marked = averaged(state.x), ctx.marks.get("x")
        return {
            "drift": 0.0 if marked is None else drift(marked),
            "bias": plug_in_bias(problem, point, (*self.keys, "bias")),
            "left": squared_gradient(problem, point),
        }

    def concluded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return the corrected right side after each moment's steps, and the largest β allowed."""
        assert isinstance(problem, AdaptedLosses)
        assert isinstance(self.algorithm, LocalSCGDM)
        end = averaged(state.x)[:, None]
        begin = torch.from_numpy(problem.start()).to(end)
        share = torch.linspace(0, 1, ON_THE_WAY, dtype=end.dtype, device=end.device)
        keys = (*self.keys, "constants")
        constants = estimated_constants(problem, begin + share * (end - begin), keys)
        return {
            "right": [
                right_side(corrected, problem, self.algorithm, rounds, constants)
                for rounds in self.moments[1:]
            ],
            "largest β": largest_factor(constants, self.algorithm),
        }


def largest_factor(constants: dict[str, float], algorithm: LocalSCGDM) -> float:
    """Return the largest β that Theorem 3.4 admits at estimated constants."""
    c_g, l_f = constants["inner_gradient_moment"], constants["outer_mean_smoothness"]
    smooth = c_g**2 * l_f + constants["outer_gradient_moment"] * constants["inner_mean_smoothness"]
    gamma, alpha = algorithm.inner_momentum, algorithm.momentum
    fourth = c_g**4 * l_f**2
    return sqrt(1 / 8 / (fourth / gamma**2 + fourth / gamma + smooth**2 / alpha**2))
