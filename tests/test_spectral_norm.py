"""The variance of a mean of matrices, in the two norms that ComFedL's lemmas may be read in."""

from __future__ import annotations

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
