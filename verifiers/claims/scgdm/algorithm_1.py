r"""Algorithm 1, as code: driftproof's Local-SCGDM is the printed pseudo-code.

**Statement.** Algorithm 1, lines 1–17: u_1 = g(x_0; ζ_0), m_1 = z_0; then u_{t+1} = (1 − γη)u_t +
γηg(x_t; ζ_t), z_t = ∇g(x_t; ζ_t)ᵀ∇f(u_{t+1}; ζ_t), m_{t+1} = (1 − αη)m_t + αηz_t, x_{t+1} = x_t −
βηm_{t+1}; if mod(t + 1, p) = 0, u, m and x are averaged.

**Kind.** Identity, to rounding: the pseudo-code line by line, client by client, against the
federation, with one sample a step as printed and with two as in the proofs.

**Source.** Local-SCGDM, Algorithm 1.
"""

from typing import Any

from synthetic.problems.analytic_maml import AnalyticMAML
from synthetic.problems.bias_amplification import BiasAmplification
from synthetic.problems.bounded_composition import BoundedComposition
from toolkit.algorithms.local_scgdm import LocalSCGDM
from toolkit.cases import Case, grid
from toolkit.parameters import sweep
from verifiers.claim_types.comparison import comparison
from verifiers.claims._pseudo_code import models
from verifiers.claims.scgdm._pseudo_code import steps
from verifiers.compared import Comparison

NOISY = BoundedComposition(
    clients=3, dim=2, inner_dim=2, inner_curvature=0.5, heterogeneity=1.0, inner_value_noise=0.2,
    inner_gradient_noise=0.1, outer_gradient_noise=0.3,
)  # fmt: skip
FIELDS = ("x", "u", "m")


def transcribed(problem, given, rounds, right):
    """Return x, u and m of every client after the last step."""
    made = steps(problem, given, rounds, "algorithm-1", **right)
    last = made[-1]
    return [last[name] for name in FIELDS]


@comparison(
    name="scgdm/algorithm-1",
    source="003, Algorithm 1",
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
    right=dict[str, Any](),
    false_siblings=[
        ("u_t where z_t has u_{t+1}", {"stale": True}),
        ("m_1 = αηz_0", {"first": "as any other"}),
        ("u is kept", {"averaged": "mx"}),
        ("averaged one step late", {"late": 1}),
    ],
    explain=(
        "The algorithm that the other claims judge is the printed one, to rounding, in u, m and x "
        "of every client. One sample a step is what is printed, two are what the proofs draw; both "
        "are compared."
    ),
)
def pseudo_code(case: Case, right: Any) -> list[Comparison]:
    return models(case, "algorithm-1", transcribed, right, FIELDS)
