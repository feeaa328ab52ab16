"""What Lemmas 3 and 4 share: the error of the averaged estimator, and the terms of its bound."""

from toolkit import each, sq
from verifiers.claims.comfedl.assumptions import sigma


def error(view):
    """Return ‖ū_{s,t} − U_{s,0}‖² at every local step."""
    start = view.client_gradients(view.round_start("w"))
    return each("round", "local_step", sq(view.mean("u") - view.cohort_mean(start)))


def largest(c):
    """‖ū‖ and ‖U‖ are at most G_gG_f."""
    return (2 * c.G_g * c.G_f) ** 2


def moved(c):
    """Return (G_g²L_f² + G_f⁴L_g²)τ²η²G_g²G_f², the drift's share, before the factor."""
    bend = c.G_g**2 * c.L_f**2 + c.G_f**4 * c.L_g**2
    return bend * (c.tau * c.eta * c.G_g * c.G_f) ** 2


def inner(c):
    """Return the inner noise's share, before the factor."""
    return (c.G_g**2 + c.L_g**2 * c.G_f**2) * sigma(c) ** 2 / c.b


def outer(c):
    """Return the outer noise's share, before the factor."""
    return c.G_f**2 * sigma(c) ** 2 / c.b1
