"""``driftproof.run``: a claim's numbers by another route, and arrays, bands and frames of them."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

import driftproof
from driftproof import States, each, run, sq
from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit import federation
from driftproof.toolkit.algorithms import ComFedL, FedAvg
from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.recorded_run import Recorded
from tests.test_guides import ran
from tests.users import UsersQuadratic

NOISY = BoundedComposition(clients=3, heterogeneity=1.0, distance=3.0, outer_gradient_noise=0.7)
METHOD = ComFedL(local_steps=2, step_size=0.2)


def gradient(view: States):
    return sq(view.gradient(view.mean("w")))


def test_it_measures_what_a_claim_does_in_each_block():
    def left(view: States):
        return each("round", gradient(view))

    made = run(NOISY, METHOD, rounds=3, record={"it": gradient}, replicates=BLOCK + 6, seed=3)
    assert made["it"].values.shape == (4, BLOCK + 6)
    names = ("3", "run", Case(NOISY, METHOD, 3).key)
    for block, own in ((0, made["it"].values[:3, :BLOCK]), (1, made["it"].values[:3, BLOCK:])):
        ctx = federation.sampled_context(NOISY, names, block=block, replicates=own.shape[1])
        measured = federation.run(NOISY, METHOD, ctx, rounds=3, left=left).values
        np.testing.assert_array_equal(own, measured)
    ended = run(NOISY, METHOD, rounds=2, record={"it": gradient}, seed=3)
    assert ended["it"].values.shape == (3, BLOCK)
    assert (made.communications, ended.communications) == (3, 2)


def test_seeds_and_replicates_are_draws_of_their_own():
    def recorded(**more):
        return run(NOISY, METHOD, rounds=3, record={"it": gradient}, **more)["it"].values

    whole = recorded(replicates=70)
    np.testing.assert_array_equal(whole, recorded(replicates=70))
    np.testing.assert_array_equal(whole[:, :5], recorded(replicates=5))
    assert len(np.unique(whole[-1])) > 1
    assert not np.array_equal(whole[-1], recorded(replicates=70, seed=1)[-1])


def test_a_run_without_noise_is_made_once():
    made = run(BoundedComposition(), METHOD, rounds=2, record={"it": gradient})["it"]
    assert made.values.shape == (3, 1)
    assert made.exact
    assert made.band() == (made.mean, made.mean)


def test_bands_are_students():
    import scipy.stats

    recorded = run(NOISY, METHOD, rounds=3, record={"it": gradient}, replicates=7)["it"]
    low, high = recorded.band(0.9)
    for row, at_low, at_high in zip(recorded.values[1:], low[1:], high[1:], strict=True):
        spread = scipy.stats.sem(row)
        expected = (
            scipy.stats.t.interval(0.9, 6, row.mean(), spread) if spread else [row.mean()] * 2
        )
        np.testing.assert_allclose((at_low, at_high), expected, rtol=1e-12)
    alone = run(NOISY, METHOD, rounds=3, record={"it": gradient}, replicates=1)["it"]
    assert np.isnan(alone.band()).all()


def test_a_run_that_diverges_is_a_result():
    made = run(
        UsersQuadratic(noise=0.1),
        FedAvg(step_size=1e150),
        rounds=9,
        record={"it": lambda view: sq(view.mean("w"))},
    )
    assert 0 < len(made["it"].values) < 9
    assert np.isfinite(made["it"].values).all()
    short = replace(made, recorded={"it": Recorded("it", np.ones((2, 3)), exact=False)})
    assert "overflowed" in short._repr_html_()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"record": {}}, "a dictionary"),
        ({"record": gradient}, "a dictionary"),
        ({"record": {"it": 3}}, "a dictionary"),
        ({"record": {"it": lambda view: 3.0}}, "returned float"),
        ({"record": {"it": lambda view: view.mean("w")}}, "[1, 'replicates']"),
        ({"record": {"it": lambda view: each("step", gradient(view))}}, "returned Reduction"),
        ({"record": {"it": lambda view: sq(view.mean("v"))}}, "unknown quantity 'v'"),
        ({"replicates": 0}, "a whole number"),
        ({"rounds": 0}, "rounds"),
        ({"problem": driftproof.problems.BoundedComposition(clients=[1, 2])}, "one value"),
        ({"algorithm": FedAvg()}, "oracles"),
        ({"device": "abacus"}, "abacus"),
    ],
)
def test_what_makes_no_run_is_refused(changed, said):
    given = {"problem": NOISY, "algorithm": METHOD, "rounds": 2, "record": {"it": gradient}}
    with pytest.raises(DriftproofError) as error:
        run(**(given | changed))
    assert said in str(error.value)


def test_an_unknown_measure_is_refused_with_the_nearest():
    with pytest.raises(DriftproofError, match="did you mean gradient"):
        run(NOISY, METHOD, rounds=1, record={"gradient": gradient})["gradint"]


def test_frames_hold_the_arrays():
    pytest.importorskip("pandas", reason="pandas is an extra: driftproof[frames]")
    record = {"it": gradient, "distance": lambda view: sq(view.mean("w"))}
    made = run(NOISY, METHOD, rounds=3, record=record, replicates=4)
    frame, bands = made.frame(), made.bands()
    for name, one in made.items():
        own = frame[frame.measure == name]
        pivoted = own.pivot(index="round", columns="replicate", values="value")
        np.testing.assert_array_equal(pivoted.to_numpy(), one.values)
        own = bands[bands.measure == name]
        assert own["round"].tolist() == [0, 1, 2, 3]
        np.testing.assert_array_equal(own[["mean", "low", "high"]].T, [one.mean, *one.band()])


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    made = run(BoundedComposition(), METHOD, rounds=1, record={"it": gradient})
    with pytest.raises(MissingError, match=re.escape("pip install pandas")):
        made.bands()


def test_the_page_runs_from_top_to_bottom(capsys, tmp_path, monkeypatch):
    pytest.importorskip("pandas", reason="pandas is an extra: driftproof[frames]")
    monkeypatch.chdir(tmp_path)
    ran("run.md", capsys)


def test_torchs_random_numbers_are_left_alone():
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    run(NOISY, METHOD, rounds=1, record={"it": gradient})
    assert torch.equal(before, torch.random.get_rng_state())
