"""The objective that χ²-regularised robust learning has while no weight is 0, in two sizes."""

import sympy

from verifiers.symbolic import vanishes


def variance(losses):
    """Return mean ℓ² − (mean ℓ)²."""
    mean = sum(losses) / len(losses)
    return sum(loss**2 for loss in losses) / len(losses) - mean**2


def composition(losses, penalty):
    """Return h + f(g), h = mean(ℓ + ℓ²/(2λ)), f(g) = −g²/(2λ), g = mean ℓ."""
    m = len(losses)
    plain = sum(loss + loss**2 / (2 * penalty) for loss in losses) / m
    return plain - (sum(losses) / m) ** 2 / (2 * penalty)


def steps(formula):
    """Return the proof that (3) at p is formula − (λm/2) Σ (p_i − p_i*)², for m = 2, 3, 4."""
    lam = sympy.Symbol("lambda", positive=True)
    made = []
    for m in (2, 3, 4):
        losses = sympy.symbols(f"ell_1:{m + 1}", positive=True)
        free = sympy.symbols(f"p_1:{m}", positive=True)
        p = [*free, 1 - sum(free)]
        mean = sum(losses) / m
        best = [sympy.Rational(1, m) + (loss - mean) / (lam * m) for loss in losses]
        value = sum(a * b for a, b in zip(p, losses, strict=True))
        value -= lam * m / 2 * sum((a - sympy.Rational(1, m)) ** 2 for a in p)
        away = lam * m / 2 * sum((a - b) ** 2 for a, b in zip(p, best, strict=True))
        gap = sympy.expand(value - (formula(losses, lam) - away))
        says = (
            r"\sum_ip_i\ell_i-\tfrac{\lambda m}2\sum_i(p_i-\tfrac1m)^2 = "
            rf"V-\tfrac{{\lambda m}}2\sum_i(p_i-p_i^*)^2,\; m={m}"
        )
        made.append(vanishes(gap, says))
    return made
