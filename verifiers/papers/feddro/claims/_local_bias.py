r"""The bias of the local compositional gradients within one round, as a measure of a run.

After j local steps x̄ is the clients' mean, x_k a client's model and y_k the embedding that it
holds: its own, g_k(x_k), or the clients' mean ȳ where that is shared. The next step goes along
(1/K) Σ_k ∇g_k(x_k)∇f(y_k) = ∇Φ(x̄) + **b_j**.

**The bound** (h = 0, no noise). Let D and δ be the root mean squares over the clients of ‖x_k − x̄‖
and of min(‖y_k − ȳ‖, 2B_f/L_f), and L = B_fL_g + B_g²L_f.

1. ∇g_k(x_k)∇f(y_k) − ∇g_k(x̄)∇f(y_k) is at most B_fL_g‖x_k − x̄‖; ∇f(ȳ) − ∇f(g(x̄)) at most
   L_fB_g·(1/K) Σ ‖x_k − x̄‖. What is left of b_j is β_j = (1/K) Σ ∇g_k(x̄)(∇f(y_k) − ∇f(ȳ)), at
   most B_gL_fδ. So ‖b_j − β_j‖ ≤ LD.
2. ∇g_k(x_k)∇f(y_k) is away from ∇Φ(x̄) by at most those two, B_gL_fδ, and B_fΔ_g for ∇g_k(x̄) in
   place of ∇g(x̄). A step takes D to at most (1 + ηL)D + η(B_fΔ_g + B_gL_fδ), as deviations from
   the mean are no larger than those from −η∇Φ(x̄).
3. So D ≤ (B_fΔ_g + B_gL_fδ)((1 + ηL)^j − 1)/L after j steps.
"""

from dataclasses import replace
from typing import Any

import sympy
import torch
from torch import Tensor

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.toolkit.algorithms.compositional_fedavg import CompositionalFedAvg
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.algebra.symbolic import Step, vanishes

EXACT = Assumption(
    "h = 0, no noise",
    "each client holds g_k(x_k), or the mean of all",
    applies=lambda case: (
        case.problem.constants["plain_gradient_bound"] == 0
        and not any(
            case.problem.constants[role]
            for role in ("inner_gradient_noise", "inner_value_noise", "plain_gradient_noise")
        )
        and not getattr(case.algorithm, "embedding_error", 0.0)
    ),
)
CURVED = AveragedComposition(
    clients=3,
    dim=2,
    inner_dim=2,
    inner_curvature=0.5,
    inner_heterogeneity=0.3,
    inner_offset=0.4,
    distance=0.5,
)
SIZE = 1 / 64
CASES = [
    case
    for problem in (BiasAmplification(heterogeneity=sweep("slopes", "offsets"), at=0.3), CURVED)
    for method in (
        CompositionalFedAvg(
            local_steps=sweep(1, 2, 9),
            step_size=SIZE,
            sharing=sweep("case-1", "case-2", "every-step"),
        ),
        FedDRO(local_steps=9, step_size=SIZE, embedding="given"),
    )
    for case in grid(problem, method, rounds=2)
] + [
    *grid(
        BiasAmplification(at=5.0),  # f' is steepest
        CompositionalFedAvg(local_steps=2, step_size=SIZE, sharing=sweep("case-1", "every-step")),
        rounds=1,
    ),
    *grid(
        replace(CURVED, inner_heterogeneity=0.0),  # the embeddings alone differ
        CompositionalFedAvg(local_steps=9, step_size=SIZE, sharing=sweep("case-1", "case-2")),
        rounds=1,
    ),
]
"""A run of I local steps ends with j = I − 1: every j is the last of some I."""


def norm(x: Tensor) -> Tensor:
    """Return ‖x‖ over the dimension: [dim, replicates] → [replicates]."""
    size: Tensor = torch.linalg.vector_norm(x, dim=-2)
    return size


def bias(view: Steps) -> Tensor:
    """Return the b_j of the step that was just made, [dim, replicates]."""
    made: Tensor = view.cohort_mean(view.client("u")) - view.gradient(view.before.x.mean(0))
    return made


def held_bias(view: Steps) -> Tensor:
    """Return β_j: the bias if all clients were at x̄, with the embeddings that they hold."""
    problem: Any = view.problem
    y = view.client("y")
    everywhere = view.before.x.mean(0).expand_as(view.before.x)
    shared = y.mean(0).expand_as(y)
    apart = problem.gradients_at(everywhere, y) - problem.gradients_at(everywhere, shared)
    made: Tensor = apart.mean(0)
    return made


def spread(view: Steps) -> Tensor:
    """Return δ, the largest of this round up to now, [replicates]."""
    y, constants = view.client("y"), view.problem.constants
    most = 2 * constants["outer_gradient_bound"] / constants["outer_smoothness"]
    apart = norm(y - y.mean(0)).clamp(max=most)
    return view.since_round("delta", (apart * apart).mean(0).sqrt(), largest=True)


def smooth(c: Letters) -> Expression:
    """Return L, with which Φ and each f ∘ g_k are smooth (Lemma 3.5, h = 0)."""
    return c.B_f * c.L_g + c.B_g**2 * c.L_f


def growth(c: Letters) -> Expression:
    """Return (1 + ηL)^(I−1)."""
    return (1 + c.eta * smooth(c)) ** (c.I - 1)


def recursion() -> Step:
    """Return the step that sums the distances of the clients from their mean."""
    eta, L, zeta = sympy.symbols("eta L zeta", positive=True)
    j = sympy.Symbol("j", nonnegative=True, integer=True)
    after = zeta * ((1 + eta * L) ** j - 1) / L
    return vanishes(
        sympy.powsimp(sympy.expand(after.subs(j, j + 1) - (1 + eta * L) * after - eta * zeta)),
        r"D_{j+1} = (1+\eta L)D_j + \eta\zeta:\; D_j = \zeta((1+\eta L)^j-1)/L",
    )
