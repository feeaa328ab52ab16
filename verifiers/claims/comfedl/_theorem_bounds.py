"""The right sides of Theorems 1 and 2: as printed, as meant, and as sharpened term by term."""

from sympy import sqrt

from verifiers.claims.comfedl.assumptions import sigma
from verifiers.terms import Terms


def h(c):
    return sqrt(c.G_g**2 * c.L_f**2 + c.G_f**4 * c.L_g**2)


def initial(c):
    return c.F_gap / (c.T * c.eta)


def outer_noise(c):
    return sqrt(5) * c.G_f * sigma(c) / sqrt(c.b1)


def inner_noise(c):
    return sqrt(5) * (c.G_g + c.L_g * c.G_f) * sigma(c) / sqrt(c.b)


def smoothness(c):
    return c.L * c.tau * c.eta * c.G_g**2 * c.G_f**2 + c.L * c.eta / 2 * c.G_f**2 * c.G_g**2


def product(c):
    drift = sqrt(5) * h(c) * c.tau * c.G_g * c.G_f * c.eta
    return initial(c) + c.G_f * c.G_g * (drift * outer_noise(c) + inner_noise(c)) + smoothness(c)


def plus(c):
    drift = sqrt(5) * h(c) * c.tau * c.G_g * c.G_f * c.eta
    return initial(c) + c.G_f * c.G_g * (drift + outer_noise(c) + inner_noise(c)) + smoothness(c)


def drift_length(c):
    """Return (τ − 1)/2 · ηG_gG_f, how far a client is from the round's start, on average over t."""
    return (c.tau - 1) / 2 * c.eta * c.G_g * c.G_f


def bias(c):
    """Return L_gG_fσ_2/√b, what the plug-in estimator is off by on average."""
    return c.L_g * c.G_f * c.sigma_2 / sqrt(c.b)


sharpened = Terms(
    {
        "the initial gap": initial,
        "the drift through the inner maps": lambda c: (
            c.G_f * c.G_g * c.G_g * c.L_f * drift_length(c)
        ),
        "the drift through the outer functions": lambda c: (
            c.G_f * c.G_g * c.G_f**2 * c.L_g * drift_length(c)
        ),
        "the plug-in bias": lambda c: c.G_f * c.G_g * bias(c),
        "the smoothness term": lambda c: c.L * c.tau * c.eta / 2 * (c.G_f * c.G_g) ** 2,
    }
)
"""The corrected right side of Theorem 1, by its terms."""
