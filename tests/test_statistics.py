"""Law: the betting test errs at most as often as promised, also when it may stop at any time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from driftproof.toolkit.statistics import (
    exceeds,
    interval,
    log_wealth,
    lower_bound,
    replicates_needed,
)

LEVEL, LENGTH, TRIALS = 0.05, 512, 1000
PEEKS = range(16, LENGTH + 1, 16)


def trials(mean, seed):
    """Bernoulli and Beta samples with a given mean, both at the boundary of H0: μ ≤ mean."""
    random = np.random.default_rng(seed)
    coin = (random.random((TRIALS // 2, LENGTH)) < mean).astype(float)
    beta = random.beta(5 * mean, 5 * (1 - mean), (TRIALS // 2, LENGTH))
    return np.concatenate([coin, beta])


def peeking_z_test(x, mean, alpha):
    """The usual test, wrongly applied after every batch."""
    spread = max(x.std(ddof=1), 1e-12)
    return (x.mean() - mean) / (spread / np.sqrt(len(x))) >= norm.ppf(1 - alpha)


def errors(test, mean, seed):
    return sum(any(test(x[:n], mean, LEVEL) for n in PEEKS) for x in trials(mean, seed))


@pytest.mark.parametrize("mean", [0.05, 0.5, 0.9])
def test_true_means_are_rejected_at_most_as_often_as_promised(mean):
    """At the boundary, under optional stopping: no more errors than alpha, up to 1 in 10⁴."""
    most = binom.ppf(1 - 1e-4, TRIALS, LEVEL)
    assert errors(exceeds, mean, seed=7) <= most


def test_a_peeking_z_test_fails_the_same_check():
    most = binom.ppf(1 - 1e-4, TRIALS, LEVEL)
    assert errors(peeking_z_test, 0.5, seed=7) > most


def test_a_clear_margin_is_found():
    random = np.random.default_rng(1)
    found = [exceeds((random.random(256) < 0.5).astype(float), 0.3, 1e-5) for _ in range(50)]
    assert np.mean(found) > 0.8


@given(
    x=st.lists(st.floats(0, 1), min_size=2, max_size=40),
    means=st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)),
)
def test_wealth_falls_as_the_mean_to_beat_rises(x, means):
    low, high = sorted(means)
    sample = np.array(x)
    assert log_wealth(sample, low) >= log_wealth(sample, high) - 1e-9


@given(x=st.lists(st.floats(0, 1), min_size=5, max_size=60), alpha=st.sampled_from([0.05, 1e-5]))
def test_the_interval_is_the_test_turned_over(x, alpha):
    sample = np.array(x)
    low, high = interval(sample, 1.0, alpha)
    assert 0 <= low <= high <= 1
    assert low <= sample.mean() + 1e-9
    assert high >= sample.mean() - 1e-9
    if low > 0:
        assert exceeds(sample, low * 0.999, alpha)
        assert not exceeds(sample, min(1.0, low * 1.001 + 1e-9), alpha)


def test_a_bound_shrinks_with_the_sample():
    random = np.random.default_rng(0)
    x = random.random(4096) * 0.2
    widths = [np.diff(interval(x[:n], 1.0, 1e-5))[0] for n in (64, 512, 4096)]
    assert widths[0] > widths[1] > widths[2]


def test_how_many_replicates_it_would_take():
    x = np.full(64, 0.31)
    wanted = replicates_needed(x, 0.3, 1e-5)
    assert wanted is not None
    assert wanted > 64
    assert exceeds(np.full(2 * wanted, 0.31), 0.3, 1e-5)
    assert replicates_needed(np.full(64, 0.29), 0.3, 1e-5) is None
    assert lower_bound(np.zeros(10), 1e-5) == 0.0


def test_verdicts_on_simulated_claims_err_no_more_often_than_promised():
    """Over the three samplers 2,000 claims; docs/judges.md has a table of 36,000."""
    from tests.calibration import betting as calibration

    rates = list(calibration.wrong_refutations(calibration.betting, claims=111))
    assert sum(rate.claims for rate in rates) == 1998
    assert {rate.sampler for rate in rates} == set(calibration.SAMPLERS) == {"coin", "beta", "rare"}
    for rate in rates:
        assert rate.wrong <= binom.ppf(1 - 1e-4, rate.claims, calibration.TEST_LEVEL), rate
    peeked = list(calibration.wrong_refutations(calibration.peeking, claims=111))
    for sampler in calibration.SAMPLERS:
        shares = [
            rate.share
            for rate in peeked
            if (rate.sampler, rate.distance) == (sampler, "at the boundary")
        ]
        assert max(shares) > 2 * calibration.TEST_LEVEL, sampler


def test_a_path_of_wealth_ends_where_the_test_does():
    from driftproof.toolkit.statistics import log_wealth_path

    x = np.random.default_rng(3).random(200)
    assert log_wealth_path(x, 0.4)[-1] == pytest.approx(log_wealth(x, 0.4))
    assert log_wealth_path(x, 0.4)[49] == pytest.approx(log_wealth(x[:50], 0.4))
