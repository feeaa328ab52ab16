"""The right sides of Theorem 3.4 and Corollary 3.5 of Local-SCGDM: as printed, and corrected."""

from sympy import Rational

from verifiers.claims.scgdm.assumptions import smooth
from verifiers.terms import Terms


def printed(c, curvature="L_g"):
    """Return (6); its third term has L_g, and L_f in the reading that the potential shows."""
    values = c.C_g**2 * c.L_f**2 * c.delta_g**2
    gradients = c.C_g**2 * c.sigma_f**2 + c.C_f**2 * c.sigma_g**2
    third = 16 * values + c.C_g**2 * c.sigma_f**2 + 3 * c.C_f**2 * c.sigma_g**2
    return (
        2 * c.F_gap / (c.beta * c.eta * c.T)
        + 6 * (gradients + values) / (c.alpha * c.eta * c.T)
        + 4 * c.C_g**2 * getattr(c, curvature) ** 2 * c.delta_g**2 / (c.gamma * c.eta * c.T)
        + 2 * c.gamma * c.eta * values
        + 2 * c.alpha * c.eta * gradients
        + 2 * c.gamma**2 * c.eta**2 * values
        + 32 * c.p**2 * c.beta**2 * c.eta**2 * smooth(c) ** 2 * third
    )


def mended(c):
    """Return (6) with L_f in its third term, as the potential (14), (39) has it."""
    return printed(c, "L_f")


def _values(c):
    return c.C_g**2 * c.L_f**2 * c.delta_g**2


corrected = Terms(
    {
        "the gap": lambda c: 2 * c.F_gap / (c.beta * c.eta * c.T),
        "the first noise of ∇f": lambda c: (c.C_g * c.sigma_f) ** 2 / (c.alpha * c.eta * c.T),
        "the first noise of ∇g": lambda c: 2 * (c.C_f * c.sigma_g) ** 2 / (c.alpha * c.eta * c.T),
        "the first estimate in m": lambda c: 2 * _values(c) / (c.alpha * c.eta * c.T),
        "the first estimate in u": lambda c: 2 * _values(c) / (c.gamma * c.eta * c.T),
        "the noise of g": lambda c: 2 * c.gamma * c.eta * _values(c),
        "the noise of g, second order": lambda c: 2 * (c.gamma * c.eta) ** 2 * _values(c),
        "the noise of ∇f": lambda c: c.alpha * c.eta / c.K * (c.C_g * c.sigma_f) ** 2,
        "the noise of ∇g": lambda c: 2 * c.alpha * c.eta / c.K * (c.C_f * c.sigma_g) ** 2,
        "the noise of g in m": lambda c: (
            2 * c.alpha * c.eta / c.K * (c.gamma * c.eta) ** 2 * _values(c)
        ),
        "the drift": lambda c: (
            Rational(4, 3) * (c.p - 1) * (2 * c.p - 1)
            * (c.beta * c.eta * smooth(c) * c.C_g * c.C_f) ** 2
        ),
    }
)  # fmt: skip
"""The corrected right side; docs/scgdm.md derives it."""
