"""Laws over all experiments, each run at smoke size without data."""

import json
import re
from pathlib import Path

import pytest

from docs.generate.pages import MARK, block, written
from docs.generate.runs import copy_plots, runs_in
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
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
    "comfedl/damaml-cifar",
    "comfedl/imbalanced",
    "comfedl/maml-cifar",
    "comfedl/personalised-cifar",
    "feddro/adult-fairness",
    "feddro/imbalanced-cifar",
    "feddro/local-updates",
    "fednest/tuning",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_search_is_on_deals_that_no_sentence_is_judged_on(name):
    """What an experiment asks for first is its search, if it has one: as many runs a method."""
    asked = next(leaves("experiment")[name].load().run(Plan(profile="quick")))
    seeds = {unit.data_seed for unit in asked}
    judged = {one.data_seed for one in asked[0].over(100)}
    assert not seeds & judged if name in SEARCHING else seeds <= judged
    assert all(unit.choosing == (name in SEARCHING) for unit in asked)


# -- the gallery is written from finished runs, and keeps what is written by hand


ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery.md"


@pytest.fixture
def smoke(tmp_path_factory):
    """Return the folder of a run."""
    return experiment(tmp_path_factory, "worked-example/local-steps")[0]


def sections_of(text):
    """Return what a page says of each experiment."""
    return {name: said for kind, name, said in MARK.findall(text) if kind == "figure"}


def test_every_experiment_is_in_the_gallery_with_its_plots():
    text = GALLERY.read_text(encoding="utf-8")
    sections = sections_of(text)
    known = {name for name in leaves("experiment") if not name.startswith("worked-example/")}
    assert set(sections) == known
    for name, section in sections.items():
        assert f"driftproof run {name}" in section
        plots = re.findall(r"!\[[^]]*\]\(([^)]*)\)", section)
        assert plots, name
        for plot in plots:
            assert (GALLERY.parent / plot).is_file()


def test_the_gallery_begins_with_a_figure_of_each_paper_and_the_table_of_its_sections():
    text = GALLERY.read_text(encoding="utf-8")
    table = block("sentences", sections_of(text))
    assert table in text
    before = text[: text.index(table)]
    papers = {name.split("/")[0] for name in sections_of(text)}
    assert sorted(re.findall(r"\]\(figures/gallery/([a-z]+)-", before)) == sorted(papers)
    rows, undecided = table.count("\n| ["), table.count("| undecided |")
    assert f"**{rows} sentences: " in table
    assert f", {undecided} undecided.**" in table


@pytest.mark.parametrize(
    ("rows", "seen"),
    [
        (
            [
                (
                    "undecided",
                    "size: 8 of 32 filters (it would be reproduced: mean difference +0.3)",
                ),
                (
                    "undecided",
                    "early: it gains (it would be not reproduced: mean difference -0.25)",
                ),
            ],
            "| undecided | not reproduced, 1 of 2 | -0.25 (no interval): B",
        ),
        (
            [
                ("undecided", "mean difference -0.1234 [-0.3, +0.1] over 8 seeds, p = 0.3 > 0.02"),
                ("**reproduced**", "mean difference +0.5 [+0.4, +0.6] over 8 seeds, p = 0.004"),
            ],
            "| undecided | no difference shown, 1 of 2 | -0.12 [-0.3, +0.1]: A",
        ),
        (
            [
                ("***not reproduced***", "mean difference +0.1 [+0, +0.2], margin -0.3"),
                ("***not reproduced***", "mean difference +0.0 [-0.1, +0.1], margin -0.3"),
            ],
            "| not reproduced, 2 of 2 | +0 [-0.1, +0.1] (has to exceed 0.3): B",
        ),
        (
            [("undecided", "size: 1 of 2; trivial: a constant (it would be reproduced: …)")],
            "| undecided | trivial models, 1 of 1 | –",
        ),
        (
            [("undecided", "mean difference +0.1 [-0.1, +0.3] over 8 seeds, margin 0.02, p = 0.5")],
            "| undecided | neither shown, 1 of 1 | +0.1 [-0.1, +0.3] (margin 0.02): A",
        ),
        ([("undecided", "no data")], "| undecided | not run | –"),
    ],
)
def test_the_table_says_what_runs_show_where_size_or_time_leaves_it_undecided(rows, seen):
    cells = "\n".join(
        f"| it wins | {where} (diverged on 1 of 8 seeds, in local step 2) | {verdict} | {why} |"
        for where, (verdict, why) in zip("AB", rows, strict=False)
    )
    table = block("sentences", {"a/b": cells})
    assert "| [a/b](#ab) | it wins | " in table
    assert seen in table
    assert "local step" not in table


def test_a_section_is_made_anew_and_the_rest_kept(tmp_path, smoke):
    page = tmp_path / "gallery.md"
    figures = tmp_path / "figures" / "gallery"
    figures.mkdir(parents=True)
    (figures / "old.svg").write_text("<svg/>")
    made = runs_in([smoke])
    first = written("# Mine\n\nBy hand.\n", made)
    assert first.startswith("# Mine\n\nBy hand.\n\n## worked-example/local-steps\n")
    assert "| more local steps a round give a better model" in first
    page.write_text(first, encoding="utf-8")
    copy_plots(page, made)
    names = [path.name for path in figures.iterdir()]
    assert names
    assert "old.svg" not in names
    by_hand = first.replace("| undecided |", "| made up |")
    assert written(by_hand, made) == first
    assert written(by_hand) == by_hand


def test_a_folder_without_a_run_is_told(tmp_path, smoke):
    with pytest.raises(DriftproofError, match=r"no experiment\.json"):
        runs_in([tmp_path])
    with pytest.raises(DriftproofError, match="one run of each"):
        runs_in([smoke, smoke])
