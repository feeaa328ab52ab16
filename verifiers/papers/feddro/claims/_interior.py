"""The objective that χ²-regularised robust learning has while no weight is 0, in two sizes."""

import sympy

from driftproof.synthetic.problems.penalised_dro import PenalisedDRO
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.papers.feddro.claims._inner_maximum import Formula, Losses

FEW_SAMPLES = PenalisedDRO(
    divergence="chi-square",
    dim=1,
    samples=sweep(1, 2),
    ball=1.0,
    penalty=sweep(1.0, 0.1),
    data_seed=4,
)


def mean(losses: Losses) -> Expression:
    return sum(losses) / len(losses)


def variance(losses: Losses) -> Expression:
    """Return mean ℓ² − (mean ℓ)²."""
    return sum(loss**2 for loss in losses) / len(losses) - mean(losses) ** 2


def composition(losses: Losses, penalty: Expression) -> Expression:
    """Return h + f(g), h = mean(ℓ + ℓ²/(2λ)), f(g) = −g²/(2λ), g = mean ℓ."""
    m = len(losses)
    plain = sum(loss + loss**2 / (2 * penalty) for loss in losses) / m
    return plain - mean(losses) ** 2 / (2 * penalty)


def steps(formula: Formula) -> list[Step]:
    """Return the proof that (3) at p is formula − (λm/2) Σ (p_i − p_i*)², for m = 2, 3, 4."""
    lam = sympy.Symbol("lambda", positive=True)
    steps = []
    for m in (2, 3, 4):
        losses = sympy.symbols(f"ell_1:{m + 1}", positive=True)
        free = sympy.symbols(f"p_1:{m}", positive=True)
        p = [*free, 1 - sum(free)]
        best = [sympy.Rational(1, m) + (loss - mean(losses)) / (lam * m) for loss in losses]
        value = sum(a * b for a, b in zip(p, losses, strict=True))
        value -= lam * m / 2 * sum((a - sympy.Rational(1, m)) ** 2 for a in p)
        away = lam * m / 2 * sum((a - b) ** 2 for a, b in zip(p, best, strict=True))
        gap = sympy.expand(value - (formula(losses, lam) - away))
        says = (
            r"\sum_ip_i\ell_i-\tfrac{\lambda m}2\sum_i(p_i-\tfrac1m)^2 = "
            rf"V-\tfrac{{\lambda m}}2\sum_i(p_i-p_i^*)^2,\; m={m}"
        )
        steps.append(vanishes(gap, says))
    return steps
