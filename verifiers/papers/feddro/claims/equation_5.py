"""Equation (5): χ²-regularised robust learning as a composition.

**Statement.** "An equivalent reformulation of (3)" with D_χ²(p, 1/m) = (m/2) Σ (p_i − 1/m)² is
min_x −(1/(2λm)) Σ ℓ_i² + (1/(2λ))((1/m) Σ ℓ_i)², so g = (1/m) Σ ℓ_i, f(g) = g²/(2λ) and
h = −(1/(2λm)) Σ ℓ_i².

**Kind.** Identity, read in two ways: the values are equal, or the minimisers are.
"""

import numpy as np
import sympy
import torch

from driftproof.synthetic.problems.penalised_dro import PenalisedDRO
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, literal, wider
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.feddro.claims._inner_maximum import (
    Losses,
    Minimisers,
    Reformulation,
    Values,
)
from driftproof.verifiers.papers.feddro.claims._interior import FEW_SAMPLES


def mean(values: Losses) -> Expression:
    """Return the mean, of a tensor or of sympy expressions."""
    return values.mean() if isinstance(values, torch.Tensor) else sum(values) / len(values)


def squares(losses: Losses) -> Losses:
    return losses**2 if isinstance(losses, torch.Tensor) else [loss**2 for loss in losses]


def printed(losses: Losses, penalty: Expression) -> Expression:
    """Return −(1/(2λm)) Σ ℓ_i² + (1/(2λ))((1/m) Σ ℓ_i)²."""
    return -mean(squares(losses)) / (2 * penalty) + mean(losses) ** 2 / (2 * penalty)


def dual(losses: Losses, penalty: Expression) -> float:
    """Return min over ν of ν + (λ/2)(mean (1 + (ℓ_i − ν)/λ)₊² − 1), by its stationary point.

    The derivative in ν is 1 − mean (1 + (ℓ_i − ν)/λ)₊, increasing and, between losses plus λ,
    linear: with the k largest losses above ν − λ, it vanishes at their mean less λ(m − k)/k.
    """
    given = np.sort(np.array([float(loss) for loss in losses]))[::-1]
    m, lam = len(given), float(penalty)
    for k in range(m, 0, -1):
        shift = given[:k].mean() - lam * (m - k) / k
        if given[k - 1] > shift - lam:
            break
    scaled = np.maximum(1 + (given - shift) / lam, 0.0)
    return float(shift + lam / 2 * ((scaled**2).mean() - 1))


def without_clipping(losses: Losses, penalty: Expression) -> Expression:
    return mean(losses) - printed(losses, penalty)


def steps(right: Reformulation) -> list[Step]:
    """Two samples: the maximum is at p_2 = ½ + (ℓ_2 − ℓ_1)/(4λ) or at an end."""
    low, gap, lam = sympy.symbols("ell_1 t lambda", positive=True)
    losses = [low, low + gap]
    if right.formula is dual:
        return _dual_steps()
    inside = low + gap / 2 + gap**2 / (8 * lam)
    value = right.formula(losses, lam)
    if isinstance(right, Minimisers):
        slopes = [sympy.diff(value, v) for v in (low, gap)]
        robust = [sympy.diff(inside, v) for v in (low, gap)]
        return [
            vanishes(
                slopes[0] * robust[1] - slopes[1] * robust[0],
                r"\text{the derivatives in } \ell_1, \ell_2 \text{ are proportional, } m=2",
            )
        ]
    return [vanishes(value - inside, r"\ell_1+\tfrac t2+\tfrac{t^2}{8\lambda},\; m=2")]


@comparison(
    name="feddro/equation-5",
    source="FedDRO (2023), (5)",
    statement=r"\min_x\max_{p\in P_m}\sum_{i=1}^m p_i\ell(x;\zeta_i)-\lambda\frac m2\sum_{i=1}^m"
    r"\Big(p_i-\frac1m\Big)^2 \;\equiv\; \min_x "
    r"-\frac{1}{2\lambda m}\sum_{i=1}^m(\ell(x;\zeta_i))^2 + "
    r"\frac{1}{2\lambda}\Big(\frac1m\sum_{i=1}^m\ell(x;\zeta_i)\Big)^2",
    cases=[
        *grid(FEW_SAMPLES),
        *grid(PenalisedDRO(divergence="chi-square", penalty=sweep(2.0, 0.1))),
    ],
    full=grid(PenalisedDRO(divergence="chi-square", penalty=sweep(2.0, 0.1), data_seed=1)),
    readings={
        "the same minimisers": literal(Minimisers(printed)),
        "equal values": wider(
            Values(printed),
            why="the print calls the two problems equivalent, and does not say that their values "
            "are equal",
        ),
    },
    erratum=Erratum(
        "false",
        changes="Do not minimise the printed objective: it makes the losses as unequal as "
        "possible. Add the mean loss, and reverse the signs of h and f; that form equals (3) only "
        "where λ is at least ℓ̄ − min ℓ_i.",
        depends="theorem",
    ),
    corrected=Values(dual),
    correction=(
        "The Lagrangian Σ p_i(ℓ_i − ν) + ν − (λm/2) Σ (p_i − 1/m)² is maximised over p_i ≥ 0 at "
        "p_i = (1 + (ℓ_i − ν)/λ)₊/m, where it is ν + (λ/2)((1/m) Σ (1 + (ℓ_i − ν)/λ)₊² − 1); "
        "strong duality holds on the simplex, so (3) is the minimum of that over ν. It is ℓ̄ + "
        "Var(ℓ_i)/(2λ) where λ ≥ ℓ̄ − min ℓ_i."
    ),
    false_siblings=[
        ("the mean less the variance", Values(lambda ell, lam: mean(ell) + printed(ell, lam))),
        ("the mean and the variance, for every λ", Values(without_clipping)),
        ("the mean loss", Values(lambda ell, lam: mean(ell))),
        ("minimisers of the mean loss", Minimisers(lambda ell, lam: mean(ell))),
    ],
    prove=steps,
    explain=(
        "(5) is −Var(ℓ)/(2λ): minimising it makes the losses as unequal as possible, the "
        "opposite of robust learning, and the mean loss is missing. (3) is the composition with "
        "h = mean(ℓ + ℓ²/(2λ)) and f(g) = −g²/(2λ), but only where no weight is clipped at 0."
    ),
)
def reformulation(case: Case[PenalisedDRO, None], right: Reformulation) -> list[Comparison]:
    return right.compare(case.problem)


def _dual_steps() -> list[Step]:
    """Return why the minimum over ν is the maximum: one coordinate of the Lagrangian, and m = 2."""
    lam, u = sympy.symbols("lambda u", positive=True)
    q = sympy.Symbol("q", positive=True)  # q = m·p_i, and u = (ℓ_i − ν)/λ
    best = q * lam * u - lam / 2 * (q - 1) ** 2
    steps = [
        vanishes(
            lam / 2 * ((1 + u) ** 2 - 1) - best - lam / 2 * (q - 1 - u) ** 2,
            r"qu\lambda-\tfrac\lambda2(q-1)^2 = \tfrac\lambda2((1+u)^2-1)-\tfrac\lambda2(q-1-u)^2",
        )
    ]
    low, gap = sympy.symbols("ell_1 t", positive=True)
    shift = low + gap / 2
    at = shift + lam / 2 * (((1 - gap / (2 * lam)) ** 2 + (1 + gap / (2 * lam)) ** 2) / 2 - 1)
    says = (
        r"m=2,\; t\le2\lambda:\; \nu=\bar\ell \text{ gives } \ell_1+\tfrac t2+\tfrac{t^2}{8\lambda}"
    )
    steps.append(vanishes(at - (low + gap / 2 + gap**2 / (8 * lam)), says))
    shift = low + gap - lam
    at = shift + lam / 2 * (sympy.Integer(2) ** 2 / 2 - 1)
    says = r"m=2,\; t>2\lambda:\; \nu=\ell_2-\lambda \text{ gives } \ell_2-\tfrac\lambda2"
    steps.append(vanishes(at - (low + gap - lam / 2), says))
    return steps
