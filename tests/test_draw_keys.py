"""Law: seed, claim, case and block are all in the key of a run's draws."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.cases import Case
from driftproof.toolkit.measure import average, each, sq
from driftproof.verifiers.judges.bounds import measure_block
from tests.users import UsersQuadratic, smooth_claim

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
}  # fmt: skip


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
