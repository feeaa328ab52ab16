"""Laws over all experiments, each run at smoke size without data."""

import json

import pytest

from driftproof.toolkit.discover import leaves
from driftproof.verifiers.experiment import Plan
from tests.once import experiment

NAMES = sorted(leaves("experiment"))


@pytest.mark.parametrize("name", NAMES)
def test_a_run_judges_its_sentences_and_draws_its_figures(name, tmp_path_factory):
    folder, printed = experiment(tmp_path_factory, name)
    head = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    leaf = leaves("experiment")[name]
    assert head["source"] == leaf.metadata["source"]
    assert head["statement"] == leaf.metadata["statement"]
    assert all(head[part] for part in ("setting", "sentences", "findings", "panels"))
    said = printed.replace("\n", " ")
    for sentence in head["sentences"]:
        assert sentence["verdict"] in ("reproduced", "not reproduced", "undecided")
        assert sentence["why"]
        assert sentence["text"][:15] in said
        # two seeds decide no test
        assert sentence["verdict"] == "undecided" or "p = " not in sentence["why"]
    page = (folder / "index.html").read_text(encoding="utf-8")
    names = [panel["name"] for panel in head["panels"]]
    assert len(set(names)) == len(names)
    for panel in head["panels"]:
        file = f"{name.replace('/', '-')}-{panel['name']}"
        assert all((folder / "plots" / f"{file}.{kind}").exists() for kind in ("svg", "pdf"))
        assert f'data-plot="plot-{file}"' in page
        for curve in panel["curves"]:
            assert len({len(curve[key]) for key in ("x", "mean", "low", "high")}) == 1
            for low, mean, high in zip(curve["low"], curve["mean"], curve["high"], strict=True):
                slack = 0 if mean is None else 1e-6 * abs(mean)
                assert mean is None or low - slack <= mean <= high + slack


SEARCHING = {
    "comfedl/damaml-cifar", "comfedl/imbalanced", "comfedl/maml-cifar",
    "comfedl/personalised-cifar", "feddro/adult-fairness", "feddro/imbalanced-cifar",
    "feddro/local-updates", "fednest/tuning",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_search_is_on_deals_that_no_sentence_is_judged_on(name):
    """What an experiment asks for first is its search, if it has one: as many runs a method."""
    asked = next(leaves("experiment")[name].load().run(Plan(profile="quick")))
    seeds = {unit.data_seed for unit in asked}
    judged = {one.data_seed for one in asked[0].over(100)}
    assert not seeds & judged if name in SEARCHING else seeds <= judged
    assert all(unit.choosing == (name in SEARCHING) for unit in asked)
