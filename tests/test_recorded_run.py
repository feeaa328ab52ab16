"""``driftproof.run``: a claim's numbers by another route, and arrays, bands and frames of them."""

from __future__ import annotations

import re
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

import driftproof
from driftproof import States, Steps, average, each, given_past, run, sq
from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL, FedAvg
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.verifiers.judges import bounds
from tests.users import UsersQuadratic

PAGE = (Path(__file__).parents[1] / "docs" / "run.md").read_text(encoding="utf-8")
NOISY = BoundedComposition(clients=3, heterogeneity=1.0, distance=3.0, outer_gradient_noise=0.7)
METHOD = ComFedL(local_steps=2, step_size=0.2)


def gradient(view: States):
    return sq(view.gradient(view.mean("w")))


def drift(view: Steps):
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))


def test_a_claims_sampled_left_side_to_the_bit():
    compared = 0
    for name in ("comfedl/lemma-3", "comfedl/theorem-2"):
        claim = leaves("claim")[name].load()
        for case in claim.cases_for("quick"):
            if bounds.measure_exactly(claim, case).kind == "exact":
                continue
            blocks = [bounds.measure_block(claim, case, 3, block) for block in (0, 1)]
            made = run(
                case.problem, case.algorithm, rounds=case.rounds, record={"left": claim},
                replicates=BLOCK + 10, seed=3, draws=name,
            )  # fmt: skip
            values = np.concatenate([blocks[0].values, blocks[1].values[:, :10]], 1)
            np.testing.assert_array_equal(made["left"].values, values)
            compared += 1
            break
    assert compared == 2


def test_a_claims_exact_left_side_to_the_bit():
    claim = leaves("claim")["comfedl/lemma-3"].load()
    measured = {}
    for case in claim.cases_for("quick"):
        measured = bounds.measure_exactly(claim, case)
        if measured.kind == "exact" and len(measured.weights) > 1:
            break
    made = run(
        case.problem, case.algorithm, rounds=case.rounds, record={"left": claim}, replicates=None
    )
    np.testing.assert_array_equal(made["left"].values, measured.values)
    np.testing.assert_array_equal(made["left"].weights, measured.weights)
    assert made["left"].band() == (made["left"].mean, made["left"].mean)


def moments_of(measure, rounds=3):
    made = run(NOISY, METHOD, rounds=rounds, record={"it": measure}, replicates=2)["it"]
    return {name: numbers.tolist() for name, numbers in made.moments.items()}, made.values.shape


def of_states(measure):
    measure.__annotations__["view"] = States
    return measure


@pytest.mark.parametrize("kind", [of_states, lambda measure: measure])
def test_moments_are_those_that_the_measure_names(kind):
    steps = [*product(range(3), (1, 2))]

    def at(*axes):
        return kind(lambda view: each(*axes, sq(view.mean("w"))))

    assert moments_of(at("round")) == ({"round": [0, 1, 2]}, (3, 2))
    within = {"round": [s for s, _ in steps], "local_step": [j for _, j in steps]}
    assert moments_of(at("round", "local_step")) == (within, (6, 2))
    assert moments_of(at("step")) == ({"step": [*range(6)]}, (6, 2))
    assert moments_of(at("transition")) == ({"step": [*range(6)]}, (6, 2))
    by_client = kind(lambda view: each("step", "client", sq(view.client("w"))))
    told, shape = moments_of(by_client, 1)
    assert told == {"step": [0, 0, 0, 1, 1, 1], "client": [0, 1, 2, 0, 1, 2]}
    assert shape == (6, 2)
    assert moments_of(kind(lambda view: average("step", sq(view.mean("w"))))) == ({}, (1, 2))


def test_a_measure_that_is_silent_at_some_moments_is_told_by_the_others():
    def every_second(view):
        return each("transition", sq(view.mean("w"))) if view.t % 2 else None

    assert moments_of(every_second)[0] == {"step": [1, 3, 5]}
    past, _ = moments_of(lambda view: given_past(sq(view.mean("w"))))
    assert past == {"step": [*range(6)]}


def test_what_a_right_side_names_is_recorded_beside_the_value():
    made = run(
        NOISY, METHOD, rounds=2, replicates=3,
        record={"it": lambda view: each("step", sq(view.mean("w")), half=sq(view.mean("w")) / 2)},
    )  # fmt: skip
    assert list(made) == ["it", "it.half"]
    np.testing.assert_array_equal(made["it.half"].values, made["it"].values / 2)


def test_seeds_and_replicates_are_draws_of_their_own():
    def recorded(**more):
        return run(NOISY, METHOD, rounds=3, record={"it": gradient}, **more)["it"].values

    whole = recorded(replicates=70)
    assert whole.shape == (4, 70)
    np.testing.assert_array_equal(whole, recorded(replicates=70))
    np.testing.assert_array_equal(whole[:, :5], recorded(replicates=5))
    assert len(np.unique(whole[-1])) > 1
    assert not np.array_equal(whole[-1], recorded(replicates=70, seed=1)[-1])
    assert not np.array_equal(whole[-1], recorded(replicates=70, draws="other")[-1])


def test_a_run_without_noise_is_made_once():
    made = run(BoundedComposition(), METHOD, rounds=2, record={"it": gradient})
    assert made["it"].values.shape == (3, 1)
    assert made["it"].exact


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


def test_all_outcomes_are_weighed_by_their_probability():
    made = run(NOISY, METHOD, rounds=1, record={"it": gradient}, replicates=None)["it"]
    assert made.weights.sum() == pytest.approx(1.0)
    assert made.values.shape[1] == 2**6  # a sign for each of three clients in each of two steps
    sampled = run(NOISY, METHOD, rounds=1, record={"it": gradient}, replicates=6400)["it"]
    low, high = sampled.band(1 - 1e-6)
    assert np.all(low - 1e-12 <= made.mean)
    assert np.all(made.mean <= high + 1e-12)


def test_a_run_that_diverges_is_a_result():
    made = run(
        UsersQuadratic(noise=0.1), FedAvg(step_size=1e150), rounds=9,
        record={"it": lambda view: sq(view.mean("w"))},
    )  # fmt: skip
    assert made.bad_step is not None
    assert 0 < len(made["it"].values) < 9
    assert np.isfinite(made["it"].values).all()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"record": {}}, "a dictionary"),
        ({"record": gradient}, "a dictionary"),
        ({"record": {"it": 3}}, "a function of a view"),
        ({"record": {"it": "lemma-2"}}, "did you mean comfedl/lemma-2"),
        ({"record": {"it": "comfedl/equation-6-journal"}}, "a claim with a left side"),
        ({"record": {"it": lambda view: 3.0}}, "returned float"),
        ({"record": {"it": lambda view: view.mean("w")}}, "[1, 'replicates']"),
        ({"record": {"it": lambda view: None}}, "None at every moment"),
        ({"record": {"it": lambda view: sq(view.mean("v"))}}, "unknown quantity 'v'"),
        ({"replicates": 0}, "a whole number"),
        ({"replicates": None, "rounds": 20}, "more than 4096 outcomes"),
        ({"rounds": 0}, "rounds"),
        ({"problem": driftproof.problems.BoundedComposition(clients=[1, 2])}, "one value"),
        ({"algorithm": FedAvg()}, "oracles"),
        ({"device": "abacus"}, "abacus"),
    ],
)
def test_what_makes_no_run_is_told(changed, said):
    given = {"problem": NOISY, "algorithm": METHOD, "rounds": 2, "record": {"it": gradient}}
    with pytest.raises(DriftproofError) as error:
        run(**(given | changed))
    assert said in str(error.value)


def test_an_unknown_measure_is_told_with_the_nearest():
    with pytest.raises(DriftproofError, match="did you mean gradient"):
        run(NOISY, METHOD, rounds=1, record={"gradient": gradient})["gradint"]


def test_frames_hold_the_arrays():
    pytest.importorskip("pandas", reason="pandas is an extra: driftproof[frames]")
    made = run(NOISY, METHOD, rounds=3, record={"it": gradient, "drift": drift}, replicates=4)
    frame = made.frame()
    assert list(frame.columns) == [
        "measure", "round", "local_step", "replicate", "value"
    ]  # fmt: skip
    own = frame[frame.measure == "drift"]
    np.testing.assert_array_equal(own.value.to_numpy().reshape(6, 4), made["drift"].values)
    assert own.local_step.tolist() == [j for _ in range(3) for j in (1, 2) for _ in range(4)]
    bands = made.bands()
    low, high = made["it"].band()
    np.testing.assert_array_equal(bands[bands.measure == "it"][["low", "high"]].T, [low, high])
    pivoted = frame[frame.measure == "it"].pivot(index="round", columns="replicate", values="value")
    np.testing.assert_array_equal(pivoted.to_numpy(), made["it"].values)
    exactly = run(NOISY, METHOD, rounds=1, record={"it": gradient}, replicates=None).frame()
    assert exactly[exactly["round"] == 1].weight.sum() == pytest.approx(1.0)


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    made = run(BoundedComposition(), METHOD, rounds=1, record={"it": gradient})
    with pytest.raises(MissingError, match=re.escape("pip install 'driftproof[frames]'")):
        made.frame()
    with pytest.raises(MissingError):
        made.bands()


def test_the_page_runs_from_top_to_bottom(capsys, tmp_path, monkeypatch):
    blocks = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.S)
    names, told = {"__name__": "__main__"}, []
    monkeypatch.chdir(tmp_path)
    for language, text in blocks:
        if language == "python" and ("pandas" in text or "frame()" in text or "bands()" in text):
            pytest.importorskip("pandas", reason="pandas is an extra: driftproof[frames]")
        if language == "python":
            exec(compile(text, "run.md", "exec"), names)
            told = capsys.readouterr().out.splitlines()
        else:
            assert [line.rstrip() for line in text.splitlines()] == [x.rstrip() for x in told]
    assert sum(language == "python" for language, _ in blocks) >= 4


def test_torchs_random_numbers_are_left_alone():
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    run(NOISY, METHOD, rounds=1, record={"it": gradient})
    assert torch.equal(before, torch.random.get_rng_state())
