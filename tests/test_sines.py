"""Law: sines and cosines of fused loops are those of numpy, for small and for large angles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftproof.toolkit.kernels.sines import LARGEST, sines

PRECISIONS = [np.float64, np.float32]


def made_of(x):
    sine, cosine = np.empty_like(x), np.empty_like(x)
    sines(x, sine, cosine)
    return sine, cosine


@pytest.mark.parametrize("kind", PRECISIONS)
@given(data=st.data(), count=st.integers(1, 70), size=st.sampled_from([1.0, 100.0, LARGEST]))
def test_sines_and_cosines_are_within_two_units(kind, data, count, size):
    of = st.floats(-size, size, width=np.finfo(kind).bits)
    x = data.draw(arrays(kind, count, elements=of))
    exact = x.astype(np.longdouble)
    for made, expected in zip(made_of(x), (np.sin(exact), np.cos(exact)), strict=True):
        unit = np.finfo(kind).eps * np.abs(expected) + np.finfo(kind).smallest_subnormal
        assert np.all(np.abs(made - expected) <= 2 * unit)


@pytest.mark.parametrize("quarter", range(-9, 10))
def test_beside_multiples_of_a_quarter_turn(quarter):
    """There one of the two is next to 0, and its sign changes."""
    x = quarter * np.pi / 2 + np.array([-1e-3, -1e-9, 0.0, 1e-9, 1e-3])
    exact = x.astype(np.longdouble)
    sine, cosine = made_of(x)
    np.testing.assert_allclose(sine, np.sin(exact).astype(float), rtol=1e-15, atol=2e-32)
    np.testing.assert_allclose(cosine, np.cos(exact).astype(float), rtol=1e-15, atol=2e-32)


@pytest.mark.parametrize("beyond", [4 * LARGEST, -1e300, np.inf, np.nan])
def test_one_angle_too_large_leaves_the_row_to_libm(beyond):
    """Negative control: the polynomials alone are wrong there."""
    x = np.array([0.5, beyond, -2.0])
    with np.errstate(invalid="ignore"):
        expected = np.sin(x), np.cos(x)
    for made, wanted in zip(made_of(x), expected, strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-15)
