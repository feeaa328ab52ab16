"""Equation (4): KL-regularised robust learning as a composition.

**Statement.** "An equivalent reformulation of (3)" with D_KL(p, 1/m) = Σ p_i log(p_i m) is
min_x log((1/m) Σ exp(ℓ(x; ζ_i)/λ)), g = (1/m) Σ exp(ℓ/λ), f = log and h = 0.

**Kind.** Identity, read in two ways: the values are equal, or the minimisers are.
"""

import sympy
import torch

from driftproof.synthetic.problems.penalised_dro import PenalisedDRO
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import literal, wider
from driftproof.verifiers.algebra.symbolic import Step, convex_with_minimum, nonnegative, vanishes
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.feddro.claims import _inner_maximum as inner_maximum


def log_mean_exp(losses: inner_maximum.Losses, penalty: Expression) -> Expression:
    """Return log((1/m) Σ exp(ℓ_i/λ)), for tensors or for sympy expressions."""
    if isinstance(losses, torch.Tensor):
        return torch.exp(losses / penalty).mean().log()
    return sympy.log(sum(sympy.exp(loss / penalty) for loss in losses) / len(losses))


def scaled(losses: inner_maximum.Losses, penalty: Expression) -> Expression:
    return penalty * log_mean_exp(losses, penalty)


def steps(right: inner_maximum.Reformulation) -> list[Step]:
    losses = sympy.symbols("ell_1:4", positive=True)
    lam, p, m, x, ell, top = sympy.symbols("lambda p m x ell V", positive=True)
    value = lam * sympy.log(sum(sympy.exp(loss / lam) for loss in losses) / 3)
    if isinstance(right, inner_maximum.Minimisers):
        slopes = [sympy.diff(right.formula(losses, lam), loss) for loss in losses]
        robust = [sympy.diff(value, loss) for loss in losses]
        ratio = sympy.simplify(slopes[0] / robust[0])
        says = r"\partial/\partial\ell_{%d} \text{ of both are proportional}"
        return [
            vanishes(slopes[k] * robust[0] - slopes[0] * robust[k], says % (k + 1)) for k in (1, 2)
        ] + [nonnegative(ratio, r"\text{the factor is not negative}")]
    rho = sympy.exp((ell - top) / lam) / m
    return [
        vanishes(
            right.formula(losses, lam) - value,
            r"V = \lambda\log\tfrac1m\sum_i e^{\ell_i/\lambda},\; m=3",
        ),
        vanishes(
            p * ell - lam * p * sympy.log(m * p) - (p * top - lam * p * sympy.log(p / rho)),
            r"p_i\ell_i-\lambda p_i\log(mp_i) = p_iV-\lambda p_i\log(p_i/\rho_i)",
        ),
        convex_with_minimum(
            x * sympy.log(x) - x + 1, x, 1, 0, r"x\log x-x+1 \ge 0,\; x = p_i/\rho_i"
        ),
    ]


@comparison(
    name="feddro/equation-4",
    source="FedDRO (2023), (4)",
    statement=r"\min_x\max_{p\in P_m}\sum_{i=1}^m p_i\ell(x;\zeta_i)-\lambda\sum_{i=1}^m "
    r"p_i\log(p_im) \;\equiv\; \min_x\log\Big("
    r"\frac1m\sum_{i=1}^m\exp\Big(\frac{\ell(x;\zeta_i)}{\lambda}\Big)\Big)",
    cases=[
        *grid(PenalisedDRO(penalty=sweep(2.0, 1.0, 0.2))),
        *grid(PenalisedDRO(clients=sweep(1, 3), samples=1, dim=1, penalty=0.5, data_seed=4)),
    ],
    full=[
        *grid(PenalisedDRO(penalty=sweep(2.0, 1.0, 0.2), data_seed=1)),
        *grid(PenalisedDRO(clients=sweep(1, 3), samples=1, dim=1, penalty=5.0, data_seed=4)),
    ],
    readings={
        "the same minimisers": literal(inner_maximum.Minimisers(log_mean_exp)),
        "equal values": wider(
            inner_maximum.Values(log_mean_exp),
            why="the print calls the two problems equivalent, and does not say that their values "
            "are equal",
        ),
    },
    corrected=inner_maximum.Values(scaled),
    correction=(
        "With V = λ log((1/m) Σ exp(ℓ_i/λ)) and ρ_i = exp((ℓ_i − V)/λ)/m, which sum to 1, Σ p_i "
        "ℓ_i − λ Σ p_i log(m p_i) = V − λ Σ p_i log(p_i/ρ_i) ≤ V, with equality at p = ρ. So f = "
        "λ log, with g and h as printed."
    ),
    false_siblings=[
        ("divided by λ", inner_maximum.Values(lambda ell, lam: log_mean_exp(ell, lam) / lam)),
        (
            "a sum for the mean",
            inner_maximum.Values(lambda ell, lam: scaled(ell, lam) + lam * sympy.log(len(ell))),
        ),
        (
            "minimisers for half the penalty",
            inner_maximum.Minimisers(lambda ell, lam: log_mean_exp(ell, lam / 2)),
        ),
    ],
    prove=steps,
    explain=(
        "The two problems have the same minimisers. Their values differ: the printed objective is "
        "the inner maximum divided by λ, so FedDRO's step on it is a step on (3) with η/λ for η, "
        "and every constant is that of (3) divided by λ."
    ),
)
def reformulation(
    case: Case[PenalisedDRO, None], right: inner_maximum.Reformulation
) -> list[Comparison]:
    return right.compare(case.problem)
