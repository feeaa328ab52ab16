"""A term of ComFedL's proof of Lemma 3, in the two norms that a matrix may be read in, exactly."""

from fractions import Fraction
from itertools import product

import numpy as np


def mean_square(batch, norm):
    """Return E‖(1/batch) Σ X_j‖² over every outcome of diagonal matrices of two signs, exactly."""
    signs = list(product((-1, 1), repeat=2))
    outcomes = list(product(signs, repeat=batch))
    squares = [norm(np.sum(outcome, 0)) for outcome in outcomes]
    return Fraction(sum(squares), len(outcomes) * batch**2)


def spectral(diagonal):
    return int(max(diagonal**2))


def frobenius(diagonal):
    return int(sum(diagonal**2))


def test_a_minibatch_does_not_divide_the_spectral_variance_by_its_size():
    assert mean_square(1, spectral) == 1
    assert mean_square(2, spectral) == Fraction(3, 4)  # more than 1/2


def test_it_divides_the_frobenius_variance():
    for batch in (1, 2, 3):
        assert mean_square(batch, frobenius) == Fraction(2, batch)


def third_term(tilt):
    """Return E‖∇g(f_B(w))ᵀ(∇f_B(w) − ∇f(w))‖² over every minibatch of two, exactly.

    f(w; ξ) = w + δ(ξ_1 sin(w_1/δ), ξ_2 sin(w_2/δ)) with two signs, so the Jacobian's noise is
    diag(ξ_k cos(w_k/δ)), of spectral norm at most 1: σ_1 = 1, and σ_2² ≤ 2δ² is as small as δ is.
    At w_1 = w_2 both sines are ``tilt``. g(y) = ‖y − f(w)‖, rounded at 0 below the size that the
    noise of f_B has, so ∇g(f_B(w)) is the unit vector along f_B(w) − f(w), and G_g = 1.
    """
    cosine2 = 1 - tilt**2
    signs = list(product((-1, 1), repeat=2))
    total = Fraction(0)
    for first, second in product(signs, repeat=2):
        mean = [Fraction(a + b, 2) for a, b in zip(first, second, strict=True)]
        length2 = sum(entry**2 for entry in mean)  # of f_B(w) − f(w), in units of δ·tilt
        if length2:
            total += cosine2 * sum(entry**4 for entry in mean) / length2
    return total / len(signs) ** 2


def test_the_third_term_of_lemma_3s_display_exceeds_what_one_reads_off():
    tilt = Fraction(1, 10)
    bound = Fraction(1, 2)  # G_g²σ²/b, σ = σ_1 = 1 and b = 2
    assert third_term(tilt) == Fraction(3, 4) * Fraction(99, 100)
    assert third_term(tilt) > bound
    # in the Frobenius norm σ_1² = 2cos² at this w, at most 2, and the bound is 1
    assert third_term(tilt) <= 2 * bound
