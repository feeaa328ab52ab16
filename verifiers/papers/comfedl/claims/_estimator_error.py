"""What Lemmas 3 and 4 share: the error of the averaged estimator, and the terms of its bound."""

from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.verifiers.claim_types.terms import Term, Terms
from driftproof.verifiers.papers.comfedl.claims.assumptions import sigma


def error(view: Steps) -> Reduction:
    """Return ‖ū_{s,t} − U_{s,0}‖² at every local step."""
    start = view.client_gradients(view.round_start("w"))
    return each("round", "local_step", sq(view.mean("u") - view.cohort_mean(start)))


def largest(c: Letters) -> Expression:
    """‖ū‖ and ‖U‖ are at most G_gG_f."""
    return (2 * c.G_g * c.G_f) ** 2


def drift(c: Letters) -> Expression:
    """Return τ²η²G_g²G_f², the bound of Lemma 2 on the square of the drift."""
    return (c.tau * c.eta * c.G_g * c.G_f) ** 2


def terms(factor: int, *, outer: bool) -> Terms:
    """Return the terms of the bound, each ``factor`` times a square that the proof names."""
    squares: dict[str, Term] = {
        "the drift through the inner maps": lambda c: factor * c.G_g**2 * c.L_f**2 * drift(c),
        "the drift through the outer functions": lambda c: factor * c.G_f**4 * c.L_g**2 * drift(c),
        "the Jacobian's noise": lambda c: factor * c.G_g**2 * sigma(c) ** 2 / c.b,
        "the plug-in bias": lambda c: factor * c.L_g**2 * c.G_f**2 * sigma(c) ** 2 / c.b,
    }
    if outer:
        squares["the outer noise"] = lambda c: factor * c.G_f**2 * sigma(c) ** 2 / c.b1
    return Terms(squares)
