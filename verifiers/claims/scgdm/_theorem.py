"""The right sides of Theorem 3.4 and Corollary 3.5 of 003: as printed, and corrected."""

from sympy import Rational

from verifiers.claims.scgdm.assumptions import smooth


def printed(c):
    """Return (6)."""
    values = c.C_g**2 * c.L_f**2 * c.delta_g**2
    gradients = c.C_g**2 * c.sigma_f**2 + c.C_f**2 * c.sigma_g**2
    third = 16 * values + c.C_g**2 * c.sigma_f**2 + 3 * c.C_f**2 * c.sigma_g**2
    return (
        2 * c.F_gap / (c.beta * c.eta * c.T)
        + 6 * (gradients + values) / (c.alpha * c.eta * c.T)
        + 4 * c.C_g**2 * c.L_g**2 * c.delta_g**2 / (c.gamma * c.eta * c.T)
        + 2 * c.gamma * c.eta * values
        + 2 * c.alpha * c.eta * gradients
        + 2 * c.gamma**2 * c.eta**2 * values
        + 32 * c.p**2 * c.beta**2 * c.eta**2 * smooth(c) ** 2 * third
    )


def corrected(c, drift=1, first=1, gap=1, steady=1):
    """Return the corrected right side; the controls scale its terms."""
    values = c.C_g**2 * c.L_f**2 * c.delta_g**2
    gradients = c.C_g**2 * c.sigma_f**2 + 2 * c.C_f**2 * c.sigma_g**2
    staying = gradients + 2 * c.gamma**2 * c.eta**2 * values
    moved = (c.p - 1) * (2 * c.p - 1) * (c.beta * c.eta * smooth(c) * c.C_g * c.C_f) ** 2
    return (
        gap * 2 * c.F_gap / (c.beta * c.eta * c.T)
        + first * (gradients + 2 * values) / (c.alpha * c.eta * c.T)
        + first * 2 * values / (c.gamma * c.eta * c.T)
        + 2 * (c.gamma * c.eta + c.gamma**2 * c.eta**2) * values
        + steady * c.alpha * c.eta / c.K * staying
        + drift * Rational(4, 3) * moved
    )
