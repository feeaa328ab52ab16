"""docs/experiments.md: its network of one's own runs, its tables say what the tests do."""

import json
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from driftproof.experiments import (
    Conclusion,
    Panel,
    Sentence,
    averaged,
    judged_by_seeds,
    run,
    similar_by_seeds,
)
from driftproof.networks import evaluated
from driftproof.toolkit.discover import import_path
from tests.commands import driftproof as command

PAGE = (Path(__file__).parents[1] / "docs" / "experiments.md").read_text(encoding="utf-8")
((NAME, TEXT),) = re.findall(r"In `(\w+\.py)`:\n\n```python\n(.*?)```", PAGE, re.S)
SEEDS = [
    (int(seeds), float(least), int(most))
    for seeds, least, most in re.findall(r"^\| (\d+) \| (0\.\d+) \| (\d+) \|$", PAGE, re.M)
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / NAME
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_the_network_of_ones_own_runs_as_the_page_says(file):
    out = file.parent / "out"
    told = command(
        "run", str(file), "--profile", "smoke", "--workers", "1", "--quiet", "--out", str(out)
    )
    assert told.returncode == 0, told.stdout + told.stderr
    head = json.loads((out / "experiment.json").read_text(encoding="utf-8"))
    (sentence,), (panel,) = head["sentences"], head["panels"]
    assert sentence["verdict"] == "undecided"
    assert "3 seeds cannot decide" in sentence["why"]
    ends = {curve["label"]: curve["mean"][-1] for curve in panel["curves"]}
    starts = {curve["label"]: curve["mean"][0] for curve in panel["curves"]}
    assert starts["FedAvg"] == starts["Ditto"] < 0.3  # one start, and ten classes
    assert 0.5 < ends["FedAvg"] < ends["Ditto"]


def test_states_and_scores_have_the_shapes_of_the_page(file):
    module = import_path(file)
    made = module.PersonalRun(method="Ditto", rounds=2)
    problem = made.problem
    state = run(problem, made.algorithm, made.context(problem), rounds=2).state
    shape = (module.CLIENTS, problem.model.dim, 1)
    assert state.w.shape == state.v.shape == shape
    assert averaged(state.w).shape == shape[1:2]
    assert (state.w == state.w[:1]).all()  # at a round's start
    assert not (state.v == state.v[:1]).all()
    validation = module.dealt(None, made.data_seed)[1]
    scores = evaluated(problem.model, list(state.v[..., 0]), validation.inputs, validation.targets)
    assert scores.loss.shape == scores.accuracy.shape == shape[:1]


def test_the_table_has_3_to_10_seeds():
    assert [seeds for seeds, _, _ in SEEDS] == list(range(3, 11))


@pytest.mark.parametrize(("seeds", "least", "most"), SEEDS)
def test_so_many_seeds_decide_so_many_comparisons(seeds, least, most):
    ahead, nothing = 1.0 + np.arange(seeds) / 100, np.zeros(seeds)

    def judged(comparisons):
        given = {"comparisons": comparisons}
        return {
            judged_by_seeds("", "", ahead, nothing, **given).verdict,
            similar_by_seeds("", "", ahead, nothing, margin=2.0, **given).verdict,
        }

    def against(comparisons):
        return judged_by_seeds("", "", nothing, ahead, comparisons=comparisons).verdict

    def beyond(comparisons):
        given = {"margin": 0.5, "comparisons": comparisons}
        return similar_by_seeds("", "", ahead, nothing, **given).verdict

    assert least == 2.0**-seeds
    for verdicts, wanted, decided in (
        (judged, {"reproduced"}, most),
        (against, "not reproduced", most),
        (beyond, "not reproduced", most // 2),
    ):
        assert decided == 0 or verdicts(decided) == wanted
        assert verdicts(decided + 1) in ("undecided", {"undecided"})


@pytest.mark.parametrize("told", [Conclusion, Sentence, Panel])
def test_every_field_of_what_is_returned_has_a_line(told):
    rows = re.search(rf"\| field of `{told.__name__}` \|.*\n\|---\|---\|\n((?:\|.*\n)+)", PAGE)[1]
    assert re.findall(r"^\| `(\w+)` \|", rows, re.M) == [field.name for field in fields(told)]
