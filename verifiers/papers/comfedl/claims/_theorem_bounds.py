"""What Theorems 1 and 2 bound, and their right sides: as printed, as meant, and as sharpened."""

from sympy import sqrt

from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, States, average, sq
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.papers.comfedl.claims.assumptions import sigma


def squared_gradient(view: States) -> Reduction:
    """Measure (1/S) Σ_s ‖∇F(w̄_s)‖²."""
    return average("round", sq(view.gradient(view.mean("w"))))


def largest(c: Letters) -> Expression:
    """‖∇F‖ is at most G_gG_f."""
    return (c.G_f * c.G_g) ** 2


def h(c: Letters) -> Expression:
    return sqrt(c.G_g**2 * c.L_f**2 + c.G_f**4 * c.L_g**2)


def initial(c: Letters) -> Expression:
    return c.F_gap / (c.T * c.eta)


def outer_noise(c: Letters) -> Expression:
    return sqrt(5) * c.G_f * sigma(c) / sqrt(c.b1)


def inner_noise(c: Letters) -> Expression:
    return sqrt(5) * (c.G_g + c.L_g * c.G_f) * sigma(c) / sqrt(c.b)


def smoothness(c: Letters) -> Expression:
    return c.L * c.tau * c.eta * c.G_g**2 * c.G_f**2 + c.L * c.eta / 2 * c.G_f**2 * c.G_g**2


def product(c: Letters) -> Expression:
    drift = sqrt(5) * h(c) * c.tau * c.G_g * c.G_f * c.eta
    return initial(c) + c.G_f * c.G_g * (drift * outer_noise(c) + inner_noise(c)) + smoothness(c)


def plus(c: Letters) -> Expression:
    drift = sqrt(5) * h(c) * c.tau * c.G_g * c.G_f * c.eta
    return initial(c) + c.G_f * c.G_g * (drift + outer_noise(c) + inner_noise(c)) + smoothness(c)


def drift_length(c: Letters) -> Expression:
    """Return (τ − 1)/2 · ηG_gG_f, how far a client is from the round's start, on average over t."""
    return (c.tau - 1) / 2 * c.eta * c.G_g * c.G_f


def bias(c: Letters) -> Expression:
    """Return L_gG_fσ_2/√b, what the plug-in estimator is off by on average."""
    return c.L_g * c.G_f * c.sigma_2 / sqrt(c.b)


sharpened = Terms(
    {
        "the initial gap": initial,
        # (τ − 1)/2 · ηG_gG_f is how far a client is from the round's start, on average over t
        "the drift through the inner maps": lambda c: (
            (c.tau - 1) / 2 * c.eta * c.G_f**2 * c.G_g**3 * c.L_f
        ),
        "the drift through the outer functions": lambda c: (
            (c.tau - 1) / 2 * c.eta * c.G_f**4 * c.G_g**2 * c.L_g
        ),
        "the plug-in bias": lambda c: c.G_f**2 * c.G_g * c.L_g * c.sigma_2 / sqrt(c.b),
        "the smoothness term": lambda c: c.L * c.tau * c.eta / 2 * (c.G_f * c.G_g) ** 2,
    }
)
"""The corrected right side of Theorem 1, by its terms."""
