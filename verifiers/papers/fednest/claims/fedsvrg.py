r"""FedSVRG as printed (slide "Gradient-Type Federated Optimization").

x_{i,ν+1} = x_{i,ν} + α h_{i,ν}, and x^{k+1} = (1/m) Σ_i x_{i,τ}.

**Kind.** Identity, to rounding: the slide line by line, client by client, against the federation on
the same draws; on gradient fields with noise, different clients, all or some of them.
"""

from collections.abc import Sequence
from enum import Enum

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.problems.kl_dro import KLDRO
from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.algorithms.fedsvrg import FedSVRG
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.draws import Subset
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._pseudo_code import models

NAME = "fedsvrg"


class Direction(Enum):
    """h_{i,ν} as printed, or what a false sibling takes for it."""

    PRINTED = "as printed"
    SIGN = "with the other sign of the gradient at x^k"
    NO_MEAN = "without the mean gradient"


def transcribed(
    problem: Problem, given: FedSVRG, rounds: int, direction: Direction
) -> list[np.ndarray]:
    """Run the slide. Return every client's x."""
    draws, m = sampled_context(problem, (NAME,), replicates=1), problem.clients
    client: list[GradientField] = [
        problem.oracles(torch.float64, clients=range(i, i + 1)) for i in range(m)
    ]
    law, size = client[0].field_law(given.batch), given.cohort_size(problem.clients)
    sign = -1 if direction is Direction.SIGN else 1

    def gradient(i: int, x: np.ndarray, xi: Tensor | None) -> np.ndarray:
        at = torch.from_numpy(x)[None, :, None]
        own = None if xi is None else xi[i : i + 1]
        value: np.ndarray = client[i].field_grad(at, own)[0, :, 0].numpy()
        return value

    x = problem.start()
    for k in range(rounds):
        draws.t = k * given.local_steps
        chosen: Sequence[int] = range(m)
        if size < m:
            drawn = draws.server_draw(Subset(m, size), "cohort", draws.t)
            chosen = np.flatnonzero(drawn[:, 0].numpy()).tolist()
        xi = draws.draw(law, "xi-shared")
        mean = np.mean([gradient(i, x, xi) for i in chosen], 0)
        own = dict.fromkeys(range(m), x)
        for nu in range(given.local_steps):
            draws.t = k * given.local_steps + nu
            xi = draws.draw(law, "xi")
            for i in own:
                h = -gradient(i, own[i], xi) + sign * gradient(i, x, xi)
                h = h - (0 if direction is Direction.NO_MEAN else mean)
                own[i] = own[i] + given.step_size * h
        x = np.mean([own[i] for i in chosen], 0)
    return [np.tile(x, (m, 1))]


@comparison(
    name="fednest/fedsvrg",
    source="FedNest (2022), slides, Gradient-Type Federated Optimization",
    statement=r"h_{i,\nu}^k = -\nabla f_i(x_{i,\nu}^k;\xi_{i,\nu}^k) + \nabla f_i(x^k;"
    r"\xi_{i,\nu}^k) - \frac1m\sum_{i=1}^m\nabla f_i(x^k;\xi_i^k)",
    cases=[
        *grid(
            QuadraticMinimax(clients=3, heterogeneity=0.5, gradient_noise=0.3),
            FedSVRG(local_steps=3, batch=2, participation=sweep(1.0, 0.34)),
            rounds=4,
        ),
        *grid(KLDRO(form="average", clients=3), FedSVRG(local_steps=2, batch=3), rounds=3),
    ],
    right=Direction.PRINTED,
    false_siblings=[
        ("the other sign", Direction.SIGN),
        ("without the mean gradient", Direction.NO_MEAN),
    ],
)
def pseudo_code(case: Case[Problem, FedSVRG], direction: Direction) -> list[Comparison]:
    return models(case, NAME, transcribed, direction)
