r"""Remark 2.1: the algorithms of 000/001 and 003 cannot solve (2).

**Statement.** "Algorithms developed in Huang et al. (2021); Gao et al. (2022) cannot solve problem
(2)", because their compositional function is local to each client.

**Kind.** Existence, on ``bias-amplification``, by the fixed point of a round in closed form and
its limit for small steps. x_Φ = −1 solves (2); x_F = 1/5 solves the clients' own (1/K) Σ f(g_k).

**Finding.** True of ComFedL (and Local-BSGD): the limit is x_F. Local-SCGDM as printed averages u,
so that as η → 0, p fixed, u estimates (1/K) Σ g_k, and the limit is x_Φ, the solution of (2), not
of the problem that the algorithm was made for. With u kept on the clients it is x_F. So on this
problem Local-SCGDM can solve (2), with small steps. Whether it can on every problem is not proven
here, so the sentence about it is undecided: "cannot" would be refuted by a proof for all problems.
"""

from dataclasses import replace
from typing import Any

import sympy
import torch

from synthetic.problems.bias_amplification import BiasAmplification
from toolkit.algorithms.comfedl import ComFedL
from toolkit.algorithms.local_bsgd import LocalBSGD
from toolkit.algorithms.local_scgdm import LocalSCGDM
from toolkit.cases import Assumption, Case, grid
from toolkit.engines.enumerated import NoiselessContext
from toolkit.federation import run
from toolkit.parameters import sweep
from toolkit.readings import Stated, Undecided, literal, wider
from verifiers.claim_types.comparison import comparison
from verifiers.claims.feddro import _limits as limits
from verifiers.compared import Comparison
from verifiers.symbolic import Step, differs, vanishes

SCGDM = Assumption(
    "Local-SCGDM", "the algorithm of 003", applies=lambda case: hasattr(case.algorithm, "averaged")
)
PLUG_IN = Assumption(
    "ComFedL", "the algorithm of 000/001",
    applies=lambda case: not hasattr(case.algorithm, "averaged"),
)  # fmt: skip


def fixed_point(method):
    """Return where x̄ stands still, as an expression in η."""
    if hasattr(method, "averaged"):
        return limits.local_scgdm(method.averaged).subs(limits.beta, method.step_factor)
    return limits.plug_in()


def steps(right: Any) -> list[Step]:
    form, given, solves = right
    point = sympy.limit(form(*given).subs(limits.beta, sympy.Rational(1, 4)), limits.eta, 0)
    own = vanishes(
        sympy.Rational(5, 2) * sympy.Rational(1, 5) - sympy.Rational(1, 2),
        r"F'(x_F) = (5x_F-1)/2 = 0 \text{ at } x_F=\tfrac15;\; \Phi'=0 \text{ at } -1",
    )
    sign = "=" if solves else r"\ne"
    says = rf"\lim_{{\eta\to0}}\hat x(\eta) {sign} x_\Phi = -1"
    return [own, (vanishes if solves else differs)(point + 1, says)]


@comparison(
    name="feddro/remark-2.1",
    kind="existence",
    source="004, Remark 2.1",
    statement=r"\text{The algorithms of Huang et al. (2021) and Gao et al. (2022) cannot solve } "
    r"\min_x h(x)+f\Big(\tfrac1K\textstyle\sum_k g_k(x)\Big)",
    cases=[
        *grid(BiasAmplification(), ComFedL(local_steps=2, branch="special"), rounds=1),
        *grid(BiasAmplification(), LocalBSGD(local_steps=2), rounds=1),
        *grid(
            BiasAmplification(), LocalSCGDM(step_factor=0.25, averaged=sweep("umx", "mx")), rounds=1
        ),
    ],
    readings={
        "Huang et al.: ComFedL": literal(
            Stated((limits.plug_in, (), False), assumes=(PLUG_IN,)), part="Huang et al."
        ),
        "Gao et al.: Local-SCGDM": literal(
            Undecided(
                "on the instance below Local-SCGDM comes to the solution of (2) as its steps "
                "become small; that it does so on every problem is not proven"
            ),
            part="Gao et al.",
        ),
        "Gao et al.: not even on this instance": wider(
            Stated((limits.local_scgdm, ("umx",), False), assumes=(SCGDM,)),
            why="'cannot solve' needs one problem on which it fails, not that it fails on this one",
        ),
    },
    corrected=Stated((limits.local_scgdm, ("mx",), False), assumes=(SCGDM,)),
    correction=(
        "Local-SCGDM with u kept on its clients cannot: x' = −βm, u_k' = γ(g_k(x) − u_k) and m' ="
        " α((1/K) Σ ∇g_kᵀ∇f(u_k) − m) in the time ηt rest where ∇F = 0. As printed, with u "
        "averaged, it can: u' = γ(ḡ(x) − u), and the rest points are those of Φ."
    ),
    false_siblings=[
        ("ComFedL can", Stated((limits.plug_in, (), True), assumes=(PLUG_IN,))),
        (
            "Local-SCGDM with u kept on its clients can",
            Stated((limits.local_scgdm, ("mx",), True), assumes=(SCGDM,)),
        ),
    ],
    prove=steps,
    explain=(
        "True of ComFedL. Local-SCGDM averages its inner estimates, and so, for small steps and on "
        "this instance, comes to the solution of (2) and not of the problem it was made for."
    ),
)
def other_problems(case: Case, right: Any) -> list[Comparison]:
    made = []
    time = 300 if hasattr(case.algorithm, "averaged") else 40  # until x̄ stands still
    for size in (0.1, 0.03):
        method = replace(case.algorithm, step_size=size)
        ctx = NoiselessContext(case.problem.clients, dtype=torch.float64, device="cpu")
        state = run(case.problem, method, ctx, rounds=int(time / size)).state
        end = getattr(state, method.iterate).mean().item()
        stated = float(fixed_point(method).subs(limits.eta, sympy.Rational(size)))
        made.append(Comparison(f"x̄ that stands still, η = {size}", end, end, stated, size))
    return made
