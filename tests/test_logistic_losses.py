"""Law: losses, sines and cosines of fused loops are those of numpy, in their own precision."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftproof.synthetic.kernels import _logistic as logistic
from driftproof.toolkit.kernels.sines import LARGEST, sines

PRECISIONS = [np.float64, np.float32]


@numba.njit
def exponentials(y, out):
    for i in range(len(y)):
        out[i] = logistic.exponential(y[i])


@pytest.mark.parametrize("kind", PRECISIONS)
@given(data=st.data(), count=st.integers(1, 40))
def test_exponentials_are_within_a_unit(kind, data, count):
    most = -float(logistic.LEAST[kind])
    of = st.floats(-most, 0.0, width=np.finfo(kind).bits)
    y = data.draw(arrays(kind, count, elements=of))
    made, exact = np.empty_like(y), np.exp(y.astype(np.longdouble))
    exponentials(y, made)
    assert np.all(np.abs(made - exact) <= np.finfo(kind).eps * exact)


@pytest.mark.parametrize("kind", PRECISIONS)
def test_below_the_least_argument_there_is_next_to_nothing(kind):
    made = np.empty(3, kind)
    exponentials(np.array([0.0, -1e6, -np.inf], kind), made)
    assert made[0] == 1.0
    assert np.all(made[1:] > 0)
    assert np.all(made[1:] < 4 * np.finfo(kind).tiny)


@pytest.mark.parametrize("kind", PRECISIONS)
@given(
    size=st.floats(0.1, 300.0),
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 3 * logistic.CHUNK),
)
def test_losses_and_their_derivatives(kind, size, seed, count):
    random = np.random.default_rng(seed)
    scores = (size * random.standard_normal(count)).astype(kind)
    labels = random.choice([-1.0, 1.0], count).astype(kind)
    margin = (scores * labels).astype(float)
    value = logistic.losses(scores, labels, kind(1))
    unit = float(np.finfo(kind).eps)
    expected = np.logaddexp(0, -margin)
    # every factor of a product and every term of a sum may round once
    assert abs(value - expected.sum()) <= 2 * unit * (count + count * expected.sum())
    share = labels / (1 + np.exp(np.minimum(margin, 700)))
    np.testing.assert_allclose(scores, share, rtol=6 * unit, atol=1e-35)


def test_losses_far_on_the_wrong_side_do_not_overflow():
    """Negative control: the plain product Π(1 + e^{−s}) does."""
    count = 2000
    scores, labels = np.full(count, -500.0), np.ones(count)
    value = logistic.losses(scores, labels, np.float64(1))
    assert value == pytest.approx(500.0 * count, rel=1e-12)
    with np.errstate(over="ignore"):
        assert np.isinf(np.prod(1 + np.exp(np.full(count, 500.0))))
    near = np.zeros(count)
    assert logistic.losses(near, labels, np.float64(1)) == pytest.approx(count * np.log(2))


# -- law: sines and cosines of fused loops are those of numpy, for small and for large angles


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
