"""‖∇Φ‖² round by round on ``bias-amplification``: what each way of sharing comes to."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.compositional_fedavg import CompositionalFedAvg
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.cases import Case
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.federation import run
from driftproof.verifiers.experiment.panel import Panel, curve

Method = CompositionalFedAvg | FedDRO
SIZE, ROUNDS = 1 / 16, 300
LOCAL_STEPS = (2, 8)
METHODS: dict[str, Method] = {
    "Case I: models shared": CompositionalFedAvg(sharing="case-1"),
    "Case II: embeddings too": CompositionalFedAvg(sharing="case-2"),
    "modified: embeddings at every step": CompositionalFedAvg(sharing="every-step"),
    "FedDRO, first embedding off by 1": FedDRO(embedding="given", embedding_error=1.0),
}
SHARING = dict(zip(("case-1", "case-2", "every-step", "feddro"), METHODS, strict=True))
LEAST = 1e-12
"""No smaller squared gradient is drawn: there the curves differ by rounding alone."""
NOTE = "η = 1/16, from x̄ = ¼, no noise; drawn down to 10⁻¹²"


def made(name: str, local_steps: int, step_size: float = SIZE) -> Method:
    """Return a method of METHODS with its local steps and step size."""
    return replace(METHODS[name], local_steps=local_steps, step_size=step_size)


def descent(problem: BiasAmplification, method: Algorithm, rounds: int = ROUNDS) -> list[float]:
    """Return ‖∇Φ(x̄)‖² at each round's start and at the end."""
    told: list[float] = []

    def watch(s: int, state: Any) -> None:
        told.append(float(problem.gradient(state.x.mean(0)).square().sum()))

    ctx = NoiselessContext(problem.clients, dtype=torch.float64, device="cpu")
    run(problem, method, ctx, rounds=rounds, watch=watch)
    return told


def drawable(gradients: list[float]) -> list[float]:
    """Return them with 0, which a logarithmic axis leaves out, for what is too small."""
    return [x if x >= LEAST else 0.0 for x in gradients]


def panels(case: Case[BiasAmplification, Method]) -> list[dict[str, Any]]:
    """Return the curve of a case's method for each I, on the plot of its problem."""
    method, of = case.algorithm, case.problem.heterogeneity
    if getattr(method, "decay", 0.0):
        return []
    name = SHARING[getattr(method, "sharing", "feddro")]
    return [
        vars(panel(of, steps, {name: descent(case.problem, made(name, steps))}))
        for steps in LOCAL_STEPS[::-1]
    ]


def panel(heterogeneity: str, steps: int, gradients: Mapping[str, list[float]]) -> Panel:
    """Return the plot of some methods' squared gradients by rounds."""
    curves = [
        curve(name, range(len(values)), np.array([drawable(values)]), "y")
        for name, values in gradients.items()
    ]
    title = f"“{heterogeneity}”, I = {steps}: squared gradient by rounds"
    return Panel(f"{heterogeneity}-{steps}", title, "round", "‖∇Φ(x̄)‖²", curves, "y", NOTE)
