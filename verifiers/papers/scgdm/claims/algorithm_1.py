r"""Algorithm 1, as code: driftproof's Local-SCGDM is the printed pseudo-code.

**Start.** Lines 3–5: u_1 = g(x_0; ζ_0), m_1 = z_0.

**Kind.** Identity, to rounding: the pseudo-code line by line, client by client, against the
federation, with one sample a step as printed and with two as in the proofs.
"""

import numpy as np

from driftproof.synthetic.problems.analytic_maml import AnalyticMAML
from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._pseudo_code import models
from driftproof.verifiers.papers.scgdm.claims._cases import NOISY
from driftproof.verifiers.papers.scgdm.claims._pseudo_code import Lines, steps


def transcribed(
    problem: CompositionProblem, given: LocalSCGDM, rounds: int, lines: Lines
) -> list[np.ndarray]:
    """Return x, u and m of every client after the last step."""
    last = steps(problem, given, rounds, "algorithm-1", lines)[-1]
    return [last.x, last.u, last.m]


@comparison(
    name="scgdm/algorithm-1",
    source="Local-SCGDM (2022), Algorithm 1",
    statement=r"u_{t+1}^{(k)} = (1-\gamma\eta)u_t^{(k)}+\gamma\eta g^{(k)}(x_t^{(k)};\zeta),\; "
    r"z_t^{(k)} = \nabla g^{(k)}(x_t^{(k)};\zeta)^{\top}\nabla_g f^{(k)}(u_{t+1}^{(k)};\zeta),\; "
    r"m_{t+1}^{(k)} = (1-\alpha\eta)m_t^{(k)}+\alpha\eta z_t^{(k)},\; x_{t+1}^{(k)} = x_t^{(k)}-"
    r"\beta\eta m_{t+1}^{(k)};\quad t+1 \bmod p = 0:\; u, m, x \text{ are averaged}",
    cases=[
        *grid(
            NOISY,
            LocalSCGDM(
                local_steps=sweep(2, 5),
                step_size=0.2,
                momentum=0.7,
                inner_momentum=2.0,
                step_factor=1.5,
                samples=sweep("one", "two"),
            ),
            rounds=3,
        ),
        *grid(BiasAmplification(), LocalSCGDM(local_steps=3, step_factor=0.3), rounds=3),
        *grid(
            AnalyticMAML(clients=3, tasks=2, heterogeneity=0.4, task_heterogeneity=0.7, noise=0.2),
            LocalSCGDM(local_steps=3, momentum=4.0),
            rounds=2,
        ),
    ],
    right=Lines(),
    false_siblings=[
        ("u_t where z_t has u_{t+1}", Lines(stale=True)),
        ("m_1 = αηz_0", Lines(first_momentum=False)),
        ("u is kept", Lines(averaged="mx")),
        ("averaged one step late", Lines(late=1)),
    ],
    explain=(
        "The algorithm that the other claims judge is the printed one, to rounding, in u, m and x "
        "of every client. One sample a step is what is printed, two are what the proofs draw; both "
        "are compared."
    ),
)
def pseudo_code(case: Case[CompositionProblem, LocalSCGDM], right: Lines) -> list[Comparison]:
    return models(case, "algorithm-1", transcribed, right, ("x", "u", "m"))
