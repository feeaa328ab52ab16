"""Algorithm 1, as code: driftproof's ComFedL is the printed pseudo-code.

**Kind.** Identity, to rounding: the pseudo-code transcribed line by line, in loops over rounds,
devices and steps, against the federation on the same draws. Line numbers are those of arXiv v1.

**Source.** ComFedL, arXiv v1, Algorithm 1 (both branches); v3, Algorithm 1 (the second branch
only).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.synthetic.problems.maml import MAML
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison, components
from driftproof.verifiers.claim_types.comparison import comparison

NOISY = BoundedComposition(
    clients=4,
    dim=3,
    inner_dim=2,
    inner_curvature=0.5,
    heterogeneity=1.0,
    inner_value_noise=0.2,
    inner_gradient_noise=0.1,
    outer_gradient_noise=0.3,
)
METHOD = ComFedL(
    local_steps=3,
    batch=2,
    outer_batch=3,
    participation=sweep(0.5, 1.0),
    branch=sweep("general", "special"),
)


@dataclass(frozen=True)
class PseudoCode:
    """The pseudo-code as printed; another value of a field is a false relative of it.

    Attributes:
        divide: by what the sum over the cohort is divided: m or n.
        samples: whose minibatch a device uses.
    """

    divide: Literal["m", "n"] = "m"
    samples: Literal["own", "device 0"] = "own"


@comparison(
    name="comfedl/algorithm-1",
    source="ComFedL, arXiv v1 and v3, Algorithm 1",
    statement=r"w^i_{s,t+1} = w^i_{s,t} - \eta\,\nabla g^i_{\tilde{\mathcal{B}}^i_t}\big("
    r"f^i_{\mathcal{B}^i_t}(w^i_{s,t})\big)^{\top}\nabla f^i_{\mathcal{B}^i_t}(w^i_{s,t}),\quad "
    r"\bar w_{s+1} = \frac1m\sum_{i\in\mathcal{C}_s} w^i_{s,\tau}",
    cases=[
        *grid(NOISY, METHOD, rounds=4),
        *grid(MAML(clients=3, gradient_noise=0.2), ComFedL(local_steps=2), rounds=3),
    ],
    right=PseudoCode(),
    false_siblings=[
        ("divided by n instead of m", PseudoCode(divide="n")),
        ("one minibatch for all devices", PseudoCode(samples="device 0")),
    ],
)
def pseudo_code(
    case: Case[BoundedComposition | MAML, ComFedL], lines: PseudoCode
) -> list[Comparison]:
    ctx = sampled_context(case.problem, ("algorithm-1",), replicates=1)
    ours = run(case.problem, case.algorithm, ctx, rounds=case.rounds).state.w[0, :, 0].numpy()
    theirs = _transcribed(case, lines)
    return components("component {} of the output", ours, theirs)


def _transcribed(case: Case[BoundedComposition | MAML, ComFedL], lines: PseudoCode) -> np.ndarray:
    """Run the pseudo-code; the numbers in the comments are its lines."""
    problem, given = case.problem, case.algorithm
    draws = sampled_context(problem, ("algorithm-1",), replicates=1)
    oracles = [
        problem.oracles(torch.float64, clients=range(i, i + 1)) for i in range(problem.clients)
    ]
    m = given.cohort_size(problem.clients)
    laws = oracles[0].inner_law(given.batch), oracles[0].outer_law(given.outer_batch)
    average = problem.start()  # 1
    for s in range(case.rounds):  # 2
        draws.cohort(m, since=s * given.local_steps)  # 3
        chosen = (
            range(problem.clients)
            if draws.mask is None
            else np.flatnonzero(draws.mask[:, 0, 0]).tolist()
        )
        drawn = []
        for draws.t in range(s * given.local_steps, (s + 1) * given.local_steps):
            drawn.append((draws.draw(laws[0], "xi"), draws.draw(laws[1], "zeta")))  # 8, 11
        ends = []
        for i in chosen:  # 4, 5
            w = torch.from_numpy(average)[None, :, None]  # 6
            for xi, zeta in drawn:  # 7
                at = i if lines.samples == "own" else 0
                value, transposed = oracles[i].inner(w, _own(xi, at))  # 9
                second = _own(zeta, at) if given.branch == "general" else None
                u = transposed(oracles[i].outer_grad(value, second))  # 10, or 12 and 13
                w = w - given.step_size * u  # 14
            ends.append(w[0, :, 0].numpy())  # 16
        average = np.sum(ends, 0) / (m if lines.divide == "m" else problem.clients)  # 18
    return average


def _own(draw: Tensor | None, i: int) -> Tensor | None:
    return None if draw is None else draw[i : i + 1]
