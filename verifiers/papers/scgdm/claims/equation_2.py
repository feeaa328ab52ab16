r"""(2) with γ = 1: whether it is the method of Huang et al., that is of ComFedL.

**Kind.** Identity, to rounding: (2) at γ = 1 line by line, on every client between averages of x,
against ComFedL with minibatches of one sample, on the same draws.
"""

from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.scgdm.claims._cases import NOISY


class Method(NamedTuple):
    """(2), as it is read.

    Attributes:
        used: what z_t is made of; u_0 = g(x_0; ξ_0) where it is not defined.
        gamma: 1, as the section says; false siblings have another.
    """

    used: Literal["u_t", "u_{t+1}"]
    gamma: float = 1.0


def transcribed(case: Case[BoundedComposition, ComFedL], method: Method) -> np.ndarray:
    """Run (2) on every client, x averaged every τ steps; return x̄ after the last round."""
    problem, given = case.problem, case.algorithm
    draws = sampled_context(problem, ("equation-2",), replicates=1)
    everyone = range(problem.clients)
    oracles = [problem.oracles(torch.float64, clients=range(k, k + 1)) for k in everyone]
    laws = oracles[0].inner_law(1), oracles[0].outer_law(1)
    x = [torch.from_numpy(problem.start())[None, :, None] for _ in everyone]
    u: dict[int, Tensor] = {}
    for draws.t in range(case.rounds * given.local_steps):
        xi, zeta = draws.draw(laws[0], "xi"), draws.draw(laws[1], "zeta")
        for k in everyone:
            value, pullback = oracles[k].inner(x[k], None if xi is None else xi[k : k + 1])
            old = u.get(k, value)
            new = u[k] = (1 - method.gamma) * old + method.gamma * value
            at = old if method.used == "u_t" else new
            z = pullback(oracles[k].outer_grad(at, None if zeta is None else zeta[k : k + 1]))
            x[k] = x[k] - given.step_size * z
        if (draws.t + 1) % given.local_steps == 0:
            x = [sum(x[1:], x[0]) / len(x) for _ in everyone]
    mean: np.ndarray = x[0][0, :, 0].numpy()
    return mean


@comparison(
    name="scgdm/equation-2",
    source="Local-SCGDM (2022), (2) and section 2.2",
    statement=r"\gamma=1:\quad u_{t+1} = g(x_t;\xi),\; z_t = \nabla g(x_t;\xi)^{\top}\nabla_g f("
    r"u_t;\zeta) = \nabla g(x_t;\xi)^{\top}\nabla_g f(g(x_t;\xi);\zeta)",
    cases=[
        *grid(BoundedComposition(clients=1, distance=0.5), ComFedL(local_steps=2), rounds=1),
        *grid(NOISY, ComFedL(local_steps=sweep(1, 3)), rounds=4),
    ],
    readings={
        "u_t, as printed": literal(Method("u_t")),
        "u_{t+1}, as in Algorithm 1": intended(
            Method("u_{t+1}"),
            quote="section 2.2 gives the direction ∇g(x_t; ξ)ᵀ∇f(g(x_t; ξ); ζ), and line 8 of "
            "Algorithm 1 has u_{t+1} in this place",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="Read u_{t+1} for u_t in (2). With u_t, γ = 1 uses the value of g one step late.",
        depends="nothing",
    ),
    corrected=Method("u_{t+1}"),
    correction="u_{t+1} = g(x_t; ξ_t) at γ = 1, put into z_t = ∇g(x_t; ξ_t)ᵀ∇f(u_{t+1}; ζ_t).",
    false_siblings=[("γ = 0.9", Method("u_{t+1}", 0.9)), ("u_t and γ = 0.9", Method("u_t", 0.9))],
    explain=(
        "With γ = 1 the printed (2) evaluates ∇f at the inner value of the step before. The text "
        "beside it and Algorithm 1 have u_{t+1}; so read, it is ComFedL with one sample a step."
    ),
)
def model_after_the_run(case: Case[BoundedComposition, ComFedL], right: Method) -> list[Comparison]:
    ctx = sampled_context(case.problem, ("equation-2",), replicates=1)
    state = run(case.problem, case.algorithm, ctx, rounds=case.rounds, kernels=False).state
    ours, theirs = state.w[0, :, 0].numpy(), transcribed(case, right)
    return [
        Comparison(f"component {k + 1} of x", float(a), float(a), float(b), float(k))
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True))
    ]
