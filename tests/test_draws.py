"""Law: a draw is a function of names, block, step and client, and has its law's moments."""

import dataclasses
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import BLOCK, Indices, SignMean, Subset, Words
from driftproof.toolkit.measure import average, each, sq
from driftproof.verifiers.judges.bounds import measure_block
from tests.users import UsersQuadratic, smooth_claim

LAWS = [SignMean(1, (3,)), SignMean(5, (2, 2)), Indices((7, 4, 9), 6)]


@pytest.mark.parametrize("law", LAWS)
@given(
    start=st.integers(0, 2), steps=st.permutations([0, 1, 5]), block=st.sampled_from([0, 1, 1000])
)
def test_a_draw_does_not_depend_on_order_or_on_the_other_clients(law, start, steps, block):
    whole, part = Words("seed", "case"), Words("seed", "case")
    everyone, some = range(3), range(start, 3)
    first = {t: whole.draw(law, "xi", block=block, step=t, clients=everyone) for t in (0, 1, 5)}
    for t in steps:
        alone = part.draw(law, "xi", block=block, step=t, clients=some)
        np.testing.assert_array_equal(alone, first[t][start:])
        np.testing.assert_array_equal(
            law.sample(alone, some, 9), law.sample(first[t], everyone, 9)[start:]
        )


def test_draws_of_other_names_blocks_steps_and_cases_differ():
    law, everyone = SignMean(1, (8,)), range(2)
    drawn = [
        Words(seed, case).draw(law, name, block=block, step=step, clients=everyone).tobytes()
        for seed, case, name, block, step in product("01", "ab", ("xi", "zeta"), (0, 1), (0, 1))
    ]
    assert len(set(drawn)) == len(drawn)


@given(batch=st.integers(1, 12))
def test_sign_mean_is_the_law_of_a_mean_of_signs(batch):
    """Two routes: the binomial formula, and counting all 2^batch outcomes."""
    values, chances = SignMean(batch, (1,)).support(0)
    counted = dict.fromkeys(values.tolist(), 0.0)
    for signs in product((-1, 1), repeat=batch):
        counted[min(counted, key=lambda v: abs(v - sum(signs) / batch))] += 2.0**-batch
    np.testing.assert_allclose(chances, list(counted.values()), rtol=1e-14)
    assert values @ chances == pytest.approx(0.0, abs=1e-15)
    assert values**2 @ chances == pytest.approx(1 / batch, rel=1e-13)


@pytest.mark.parametrize("batch", [1, 2, 64, 4096])
def test_sampled_sign_means_have_mean_zero_and_variance_one_over_batch(batch):
    law, words = SignMean(batch, (4,)), Words("moments", str(batch))
    drawn = np.concatenate(
        [
            law.sample(words.draw(law, "x", block=0, step=t, clients=range(5)), range(5), BLOCK)
            for t in range(40)
        ]
    ).ravel()
    n = drawn.size
    assert n == 51_200
    # five standard errors; of the square, a mean of signs has a fourth moment of at most 3/batch²
    assert abs(drawn.mean()) < 5 / np.sqrt(n * batch)
    assert abs((drawn**2).mean() * batch - 1) <= 5 * np.sqrt(2 / n)
    assert np.abs(drawn).max() <= 1


def test_large_batches_keep_a_proper_law():
    values, chances = SignMean(20_000, (1,)).support(0)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    assert values**2 @ chances == pytest.approx(1 / 20_000, rel=1e-10)


def test_indices_are_uniform_on_each_clients_own_samples():
    law, words = Indices((3, 10), 50), Words("indices")
    drawn = np.stack(
        [
            law.sample(words.draw(law, "x", block=0, step=t, clients=range(2)), range(2), BLOCK)
            for t in range(20)
        ]
    )
    for client, count in enumerate((3, 10)):
        found = np.bincount(drawn[:, client].ravel(), minlength=count)
        n = found.sum()
        assert len(found) == count
        spread = np.sqrt(n * (1 / count) * (1 - 1 / count))
        assert np.abs(found - n / count).max() < 5 * spread


@given(clients=st.integers(1, 6), data=st.data())
def test_subsets_have_their_size_and_every_mask_is_possible(clients, data):
    size = data.draw(st.integers(1, clients))
    law, words = Subset(clients, size), Words("subset", str(clients), str(size))
    seen = set()
    for t in range(30):
        mask = law.sample(words.draw(law, "c", block=0, step=t, clients=range(1)), range(1), BLOCK)
        assert mask.shape == (1, clients, BLOCK)
        np.testing.assert_array_equal(mask.sum(1), size)
        seen |= {tuple(column) for column in mask[0].T.tolist()}
    masks, chances = law.support(0)
    assert seen == {tuple(mask) for mask in masks.tolist()}
    assert chances.sum() == pytest.approx(1.0)


@given(
    clients=st.integers(1, 9),
    data=st.data(),
    replicates=st.integers(1, BLOCK),
    distinct=st.sampled_from([2, 5, 2**63]),
)
def test_a_subset_is_the_clients_of_the_smallest_keys(clients, data, replicates, distinct):
    """Two routes: sorting; of equal keys the first client's goes first."""
    size = data.draw(st.integers(0, clients))
    seed = data.draw(st.integers(0, 2**32 - 1))
    words = np.random.default_rng(seed).integers(distinct, size=(1, clients * BLOCK), dtype="u8")
    mask = Subset(clients, size).sample(words, range(1), replicates)[0]
    keys = words.reshape(clients, BLOCK).tolist()
    for r in range(replicates):
        ranked = sorted(range(clients), key=lambda k: keys[k][r])
        assert set(np.flatnonzero(mask[:, r])) == set(ranked[:size])


# -- law: seed, claim, case and block are all in the key of a run's draws


PROBLEM, METHOD = UsersQuadratic(noise=0.5), FedAvg(local_steps=2, step_size=0.1)
CLAIM = dataclasses.replace(
    smooth_claim(PROBLEM), left=lambda view: each("step", sq(view.state.w.mean(0)))
)
CASE = Case(PROBLEM, METHOD, 3)


def drawn(claim=CLAIM, case=CASE, seed=0, block=0):
    """The model after the first two steps, which only the draws tell apart."""
    return measure_block(claim, case, seed, block).values[1:3]


# parameters that the first steps do not see
OTHERS = {
    "seed": {"seed": 1},
    "block": {"block": 1},
    "claim": {"claim": dataclasses.replace(CLAIM, name="user/other")},
    "horizon": {"case": Case(PROBLEM, METHOD, 4)},
    "problem": {"case": Case(UsersQuadratic(noise=0.5, declared=2.0), METHOD, 3)},
    "algorithm": {"case": Case(PROBLEM, dataclasses.replace(METHOD, weighting="samples"), 3)},
}


def test_the_same_names_give_the_same_draws():
    np.testing.assert_array_equal(drawn(), drawn())
    with_other_rights = dataclasses.replace(CLAIM, right=smooth_claim(PROBLEM, factor=9.0).right)
    np.testing.assert_array_equal(drawn(), drawn(with_other_rights))


@pytest.mark.parametrize("change", OTHERS)
def test_another_name_gives_other_draws(change):
    """Not one of the 64 replicates has the same numbers, nor those of another replicate."""
    one, two = drawn(), drawn(**OTHERS[change])
    assert one.shape == two.shape == (2, 64)
    assert np.mean(one == two) < 0.9
    assert not np.array_equal(np.sort(one), np.sort(two))


def test_all_of_them_differ_from_each_other():
    """Two that are swapped are not the same key: (seed 1, block 0) is not (seed 0, block 1)."""
    every = [drawn(**change).tobytes() for change in OTHERS.values()] + [drawn().tobytes()]
    assert len(set(every)) == len(every)


def test_a_measure_does_not_move_the_draws():
    averaged = dataclasses.replace(
        CLAIM, left=lambda view: average("step", sq(view.state.w.mean(0)))
    )
    moments = measure_block(CLAIM, CASE, 0, 0).values
    np.testing.assert_allclose(measure_block(averaged, CASE, 0, 0).values[0], moments.mean(0))
