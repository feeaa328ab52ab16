r"""Remark 2.1: ComFedL and Local-SCGDM cannot solve (2).

**Kind.** Existence, on ``bias-amplification``, by the fixed point of a round in closed form and
its limit for small steps. x_Φ = −1 solves (2); x_F = 1/5 solves the clients' own (1/K) Σ f(g_k).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

import sympy
import torch

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.algorithms.local_bsgd import LocalBSGD
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import Assumption, Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.federation import run
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Stated, Undecided, literal, wider
from driftproof.verifiers.algebra.symbolic import Step, differs, vanishes
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.feddro.claims import _limits as limits

Method: TypeAlias = ComFedL | LocalBSGD | LocalSCGDM

SCGDM = Assumption(
    "Local-SCGDM",
    "the algorithm of Local-SCGDM (2022)",
    applies=lambda case: isinstance(case.algorithm, LocalSCGDM),
)
PLUG_IN = Assumption(
    "ComFedL",
    "the algorithm of ComFedL (2021)",
    applies=lambda case: not isinstance(case.algorithm, LocalSCGDM),
)


class Rest(NamedTuple):
    """Where x̄ stands still, an expression in η and β, and whether that is said to solve (2)."""

    point: Callable[[], Expression]
    solves: bool


COMFEDL_FAILS = Rest(limits.plug_in, solves=False)
SCGDM_FAILS = Rest(partial(limits.local_scgdm, "umx"), solves=False)
"""As printed, u being averaged too."""
OWN_ESTIMATES_FAIL = Rest(partial(limits.local_scgdm, "mx"), solves=False)
"""With u kept on the clients."""


def fixed_point(method: Method) -> Expression:
    """Return where x̄ stands still, as an expression in η."""
    if isinstance(method, LocalSCGDM):
        return limits.local_scgdm(method.averaged).subs(limits.beta, method.step_factor)
    return limits.plug_in()


def steps(right: Rest) -> list[Step]:
    point = sympy.limit(right.point().subs(limits.beta, sympy.Rational(1, 4)), limits.eta, 0)
    own = vanishes(
        sympy.Rational(5, 2) * sympy.Rational(1, 5) - sympy.Rational(1, 2),
        r"F'(x_F) = (5x_F-1)/2 = 0 \text{ at } x_F=\tfrac15;\; \Phi'=0 \text{ at } -1",
    )
    sign = "=" if right.solves else r"\ne"
    says = rf"\lim_{{\eta\to0}}\hat x(\eta) {sign} x_\Phi = -1"
    return [own, (vanishes if right.solves else differs)(point + 1, says)]


READINGS: Mapping[str, Stated[Rest] | Stated[Undecided]] = {
    "Huang et al.: ComFedL": literal(
        Stated(COMFEDL_FAILS, assumes=(PLUG_IN,)), part="Huang et al."
    ),
    "Gao et al.: Local-SCGDM": literal(
        Undecided(
            "on the instance below Local-SCGDM comes to the solution of (2) as its steps "
            "become small; that it does so on every problem is not proven",
            by="a problem on which it does not, with the averages of u as printed, or a proof",
        ),
        part="Gao et al.",
    ),
    "Gao et al.: not even on this instance": wider(
        Stated(SCGDM_FAILS, assumes=(SCGDM,)),
        why="'cannot solve' needs one problem on which it fails, not that it fails on this one",
    ),
}


@comparison(
    name="feddro/remark-2.1",
    kind="existence",
    source="FedDRO (2023), Remark 2.1",
    statement=r"\text{The algorithms of Huang et al. (2021) and Gao et al. (2022) cannot solve } "
    r"\min_x h(x)+f\Big(\tfrac1K\textstyle\sum_k g_k(x)\Big)",
    cases=[
        *grid(BiasAmplification(), ComFedL(local_steps=2, branch="special"), rounds=1),
        *grid(BiasAmplification(), LocalBSGD(local_steps=2), rounds=1),
        *grid(
            BiasAmplification(), LocalSCGDM(step_factor=0.25, averaged=sweep("umx", "mx")), rounds=1
        ),
    ],
    readings=READINGS,
    corrected=Stated(OWN_ESTIMATES_FAIL, assumes=(SCGDM,)),
    correction=(
        "Local-SCGDM with u kept on its clients cannot: x' = −βm, u_k' = γ(g_k(x) − u_k) and m' ="
        " α((1/K) Σ ∇g_kᵀ∇f(u_k) − m) in the time ηt rest where ∇F = 0. As printed, with u "
        "averaged, it can: u' = γ(ḡ(x) − u), and the rest points are those of Φ."
    ),
    false_siblings=[
        ("ComFedL can", Stated(COMFEDL_FAILS._replace(solves=True), assumes=(PLUG_IN,))),
        (
            "Local-SCGDM with u kept on its clients can",
            Stated(OWN_ESTIMATES_FAIL._replace(solves=True), assumes=(SCGDM,)),
        ),
    ],
    prove=steps,
    explain=(
        "True of ComFedL. Local-SCGDM averages its inner estimates, and so, for small steps and on "
        "this instance, comes to the solution of (2) and not of the problem it was made for."
    ),
)
def other_problems(case: Case[BiasAmplification, Method], right: Rest) -> list[Comparison]:
    compared = []
    time = 300 if isinstance(case.algorithm, LocalSCGDM) else 40  # until x̄ stands still
    for size in (0.1, 0.03):
        method = replace(case.algorithm, step_size=size)
        ctx = NoiselessContext(case.problem.clients, dtype=torch.float64, device="cpu")
        state = run(case.problem, method, ctx, rounds=int(time / size)).state
        end = getattr(state, method.iterate).mean().item()
        stated = float(fixed_point(method).subs(limits.eta, sympy.Rational(size)))
        compared.append(Comparison(f"x̄ that stands still, η = {size}", end, end, stated, size))
    return compared
