r"""Remark 2.1: the algorithms of 000/001 and 003 cannot solve (2).

**Statement.** "Algorithms developed in Huang et al. (2021); Gao et al. (2022) cannot solve problem
(2)", because their compositional function is local to each client.

**Kind.** Existence, on ``bias-amplification``: the limit of x̄ for ever smaller step sizes. The point
that solves (2) is x_Φ = −1; the clients' own problem, F = (1/K) Σ f(g_k), is solved by x_F = 1/5.

**Finding.** True of ComFedL (and of Local-BSGD): their limit is x_F. False of Local-SCGDM as printed:
it averages u, and as η → 0 with p fixed its u estimates (1/K) Σ g_k, so its limit is x_Φ, the solution
of (2), and not x_F, the solution of its own problem. Only with u kept on the clients it is x_F.
"""

from dataclasses import replace

import torch

from synthetic.problems import BiasAmplification
from toolkit import claim, grid
from toolkit.algorithms import ComFedL, LocalBSGD, LocalSCGDM
from toolkit.engines.enumerated import NoiselessContext
from toolkit.federation import run
from verifiers.ground_truth import Comparison

OWN, SHARED = 0.2, -1.0


def cannot(method):
    """Return the limit that the statement implies: the solution of the clients' own problem."""
    return OWN


def limit(method):
    """Return the limit: what u estimates decides which problem is solved."""
    return SHARED if "u" in getattr(method, "averaged", "") else OWN


def ends(problem, method, size):
    """Return x̄ when it stands still, with step size ``size``."""
    rounds = int(600 / (size * method.local_steps))
    ctx = NoiselessContext(problem.clients, dtype=torch.float64, device="cpu")
    made = run(problem, replace(method, step_size=size), ctx, rounds=rounds)
    return getattr(made.state, method.iterate).mean().item()


@claim(
    name="feddro/remark-2.1",
    kind="existence",
    source="004, Remark 2.1",
    statement=r"\text{The algorithms of Huang et al. (2021) and Gao et al. (2022) cannot solve } "
    r"\min_x h(x)+f\Big(\tfrac1K\textstyle\sum_k g_k(x)\Big)",
)
class OtherProblems:
    cases = [
        *grid(BiasAmplification(), ComFedL(local_steps=2, branch="special"), rounds=1),
        *grid(BiasAmplification(), LocalBSGD(local_steps=2), rounds=1),
        *grid(
            BiasAmplification(), LocalSCGDM(step_factor=0.3, averaged=["umx", "mx"]), rounds=1
        ),
    ]  # fmt: skip
    right = cannot
    corrected = limit
    correction = (
        "As η → 0 with p fixed all clients' u come together, and x' = −βm, u' = γ(ḡ(x) − u), m' ="
        " α((1/K) Σ ∇g_kᵀ∇f(u) − m) in the time ηt: its rest points are those of Φ, where f is "
        "common. Without the average of u each follows its own g_k, and the rest points are those"
        " of F."
    )
    false_siblings = [("all solve (2)", lambda method: SHARED)]

    def compare(case, right):
        sizes = (0.004, 0.002, 0.001)
        one, two, three = (ends(case.problem, case.algorithm, size) for size in sizes)
        zero = (8 * three - 6 * two + one) / 3  # Richardson: the first two orders in η are gone
        return [Comparison("lim x̄ as η → 0", zero, zero, right(case.algorithm))]

    explain = (
        "Local-SCGDM averages its inner estimates, and so, for small steps, solves problem (2) "
        "and not the problem it was made for."
    )
