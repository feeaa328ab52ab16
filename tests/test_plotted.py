"""``driftproof plot``: one figure, its data beside it."""

import csv
from dataclasses import replace
from types import SimpleNamespace

import pytest

from driftproof import Case, bound, each, grid, sq, sweep
from driftproof.algorithms import FedAvg
from driftproof.problems import PiecewiseLosses
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.report.panels import colours_of, drawn
from driftproof.toolkit.series import Points
from driftproof.verifiers import plotted
from driftproof.verifiers.verification import verify
from driftproof.verifiers.verify import judge
from tests.commands import driftproof


def columns(file):
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    return {key: [float(row[key]) for row in rows if row[key]] for key in rows[0] if key != "curve"}


def test_a_plot_of_a_claim_is_the_reports(tmp_path):
    made = driftproof("plot", "comfedl/lemma-2", "--out", str(tmp_path / "a" / "drift.pdf"))
    assert made.returncode == 0, made.stderr
    assert "\ndrawn: BoundedComposition(" in made.stdout
    assert (tmp_path / "a" / "drift.pdf").read_bytes().startswith(b"%PDF")
    (figure,) = verify("comfedl/lemma-2").figures
    points = columns(tmp_path / "a" / "drift.csv")
    for key in ("x", "mean", "bound"):
        assert points[key] == list(figure.points.columns[key])


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_each_kind_is_written_alike_twice(tmp_path, kind):
    made = plotted.drawn("comfedl/lemma-2", case=5)
    files = [tmp_path / f"{name}.{kind}" for name in ("one", "two")]
    for file in files:
        plotted.write(made, file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_title_is_left_to_the_caption(tmp_path):
    for title in (True, False):
        made = plotted.drawn("comfedl/lemma-2", case=5)
        plotted.write(made, tmp_path / "it.svg", title=title)
        assert ("SUPPORTED" in (tmp_path / "it.svg").read_text(encoding="utf-8")) == title


def test_below_a_bound_stand_rounds_or_a_letter():
    cases = leaves("claim")["comfedl/lemma-2"].load().cases
    number = next(k for k, case in enumerate(cases, 1) if case.algorithm.local_steps > 1)
    (steps,) = plotted.of_claim("comfedl/lemma-2", case=number).values()
    (rounds,) = plotted.of_claim("comfedl/lemma-2", case=number, x="rounds").values()
    per_round = steps.row.case["algorithm"]["local_steps"]
    assert per_round > 1
    assert [x * per_round for x in rounds.points.x] == pytest.approx(steps.points.x)
    (along,) = plotted.of_claim("comfedl/lemma-2", form="printed", x="tau").values()
    rows = [row for row in verify("comfedl/lemma-2") if row.form == "printed" and row.rhs]
    at = dict(zip(along.points.x, along.points.bound, strict=True))
    assert len(at) > 1
    kept = [row for row in rows if at.get(row.instance["tau"]) == row.rhs]
    apart = {"tau", "T", "b", "m"}  # T = τS
    same = [{k: v for k, v in row.instance.items() if k not in apart} for row in kept]
    assert max(sum(one == other for other in same) for one in same) >= len(at)
    assert along.x_label.startswith("τ, local steps")
    assert "all else equal: SUPPORTED" in along.title
    assert steps.title.endswith(f"on case {number}")


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("comfedl/*", {}, "plots of"),
        ("comfedl/lemma-2", {"case": 0}, "1 to"),
        ("comfedl/lemma-2", {"form": "corrected"}, "printed"),
        ("comfedl/lemma-2", {"x": "q"}, "tau"),
        ("comfedl/lemma-99", {}, "comfedl/lemma-2"),
    ],
)
def test_what_there_is_not_is_named_with_what_there_is(name, options, told):
    with pytest.raises(DriftproofError, match=told):
        plotted.of_claim(name, **options)


def test_another_ending_and_another_panel_are_refused(tmp_path):
    made = plotted.drawn("comfedl/lemma-2", case=5)
    with pytest.raises(DriftproofError, match="pdf, pgf, png, svg"):
        plotted.write(made, tmp_path / "it.doc")
    with pytest.raises(DriftproofError, match="slopes-within"):
        plotted.drawn("feddro/bias-amplification", "no-such")
    with pytest.raises(DriftproofError, match="no row has a curve"):
        plotted.drawn("feddro/table-1")


def test_pgf_without_latex_is_a_missing_thing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="LaTeX"):
        plotted.write(plotted.drawn("comfedl/lemma-2", case=5), tmp_path / "it.pgf")


def test_a_panel_of_an_experiment_is_drawn_with_its_curves(tmp_path):
    title, _, points = plotted.drawn("feddro/bias-amplification", "slopes-within")
    assert "slopes" in title
    assert set(points["curve"]) > {"bound, own embeddings", "bound, shared at every step"}
    at = dict(zip(zip(points["curve"], points["x"], strict=True), points["mean"], strict=True))
    assert at["Case I: models shared", 0] == pytest.approx(0.075)
    assert at["Case I: models shared", 8] == pytest.approx(0.271, abs=5e-4)
    for (curve, x), mean in at.items():
        if mean is not None and not curve.startswith("bound"):
            kind = "shared at every step" if curve.startswith("modified") else "own embeddings"
            assert mean <= at[f"bound, {kind}", x]


def test_a_legend_stands_below_the_plot_and_a_curve_of_gaps_is_drawn():
    curves = [
        {"label": f"curve {k}", "x": [0, 1], "mean": mean, "low": mean, "high": mean}
        for k, mean in enumerate(([1.0, 2.0], [None, None], [2.0, 3.0]))
    ]
    panel = {
        "name": "a",
        "title": "t",
        "x_label": "x",
        "y_label": "y",
        "log": "",
        "note": "n",
        "curves": curves,
    }
    sheet = drawn(panel, colours_of([panel]))
    (axes,) = sheet.axes
    sheet.canvas.draw()
    legend, box = axes.get_legend().get_window_extent(), axes.get_window_extent()
    assert legend.y1 < box.y0
    assert legend.y0 > 0


@bound(
    name="tests/at-the-end",
    source="tests",
    statement="x",
    right=lambda c: (1 - c.eta / 2) ** c.T * 2,
    cases=grid(PiecewiseLosses(), FedAvg(step_size=sweep(0.1, 0.2)), rounds=sweep(2, 4, 8)),
)
def at_the_end(view):
    return (
        each("round", "local_step", abs(view.mean("w") - view.minimiser).sum(0))
        if view.last
        else None
    )


def test_a_claim_that_is_measured_once_a_case_is_drawn_over_what_varies(monkeypatch):
    """It had nothing to draw; of as many cases at two step sizes, those that fail by more."""
    judged = verify(at_the_end)
    leaf = SimpleNamespace(name=at_the_end.name, module="mine", typed="mine")
    monkeypatch.setattr(plotted, "select", lambda _: [leaf])
    monkeypatch.setattr(plotted, "loaded", lambda _: at_the_end)
    plots = plotted.of_claim("mine", judged_before={(at_the_end.name, None, "quick"): judged.rows})
    assert list(plots) == ["S", "eta"]
    steps = plots["S"].points
    assert [*steps.x] == [2, 4, 8]
    largest = max(judged.rows, key=lambda row: row.ratio)
    at = {
        row.instance["S"]: row
        for row in judged.rows
        if row.instance["eta"] == largest.instance["eta"]
    }
    assert [*steps.mean] == [at[x].lhs["mean"] for x in steps.x]
    assert [*steps.bound] == [at[x].rhs for x in steps.x]
    assert plots["S"].log == "y", "powers of 1 − η/2: a log axis of rounds would bend them"
    alone = plotted.of_claim(
        "mine", judged_before={(at_the_end.name, None, "quick"): judged.rows[:1]}
    )
    assert [*alone["S"].points.x] == [1, 2]  # of one case, also at fewer rounds
    assert alone["S"].points.mean[-1] == judged.rows[0].lhs["mean"]


def test_the_case_that_refutes_is_drawn(monkeypatch):
    """Of eight cases that hold and a ninth that does not, two that hold were drawn."""
    other = Case(PiecewiseLosses(clients=3), FedAvg(step_size=0.3), 8)

    @bound(
        name="tests/of-two-clients",
        source="tests",
        statement="x",
        right=lambda c: 10 ** (14 - 6 * c.n) / c.T,
        cases=[*at_the_end.cases, other],
    )
    def claim(view):
        return each("round", "local_step", sq(view.mean("w"))) if view.last else None

    leaf = SimpleNamespace(name=claim.name, module="mine", typed="mine")
    monkeypatch.setattr(plotted, "select", lambda _: [leaf])
    monkeypatch.setattr(plotted, "loaded", lambda _: claim)
    monkeypatch.setattr(
        plotted, "judge", lambda given, how: judge([claim] if given == [leaf] else given, how)
    )
    first = next(iter(plotted.of_claim("mine").values()))
    assert first.row.verdict == "REFUTED"
    assert first.points.x[-1] == 8
    assert first.log == "xy", "powers of T"
    _, sheet, _ = plotted.drawn("mine")
    said = " ".join(text.get_text() for text in sheet.texts).replace("\n", " ")
    assert "S = 1, 2, 3, 4, 5, 6, 7, 8" in said
    assert "PiecewiseLosses(clients=3)" in said
    assert "eta = 0.3" in said


def test_a_folder_is_no_plot_and_its_command_is_named(tmp_path):
    with pytest.raises(DriftproofError, match=r"driftproof counterexample .* prints what a search"):
        plotted.drawn(str(tmp_path))


def test_a_claim_without_two_sides_on_cases_has_nothing_along_a_letter():
    with pytest.raises(DriftproofError, match="no letter varies beside two sides"):
        plotted.of_claim("feddro/theorem-4.1", x="eta")


def test_below_a_rate_stands_what_is_flat_if_its_order_is_right():
    (figure,) = plotted.of_claim("feddro/linear-speed-up").values()
    _, sheet, columns = plotted.drawn("feddro/linear-speed-up")
    scaled = [y * x**0.5 for x, y in zip(columns["x"], columns["mean"], strict=True)]
    assert columns["scaled"] == pytest.approx(scaled)
    assert max(scaled) < 1.01 * min(scaled)
    above, below = sheet.axes
    assert above.get_legend() is None
    told = [text.get_text() for text in below.get_legend().get_texts()]
    assert any(text.startswith("fitted slope") and "leave" in text for text in told)
    assert "claimed slope −0.5" in told
    assert (above.get_ylabel(), below.get_ylabel()) == ("𝔼‖∇Φ(x̅^{a(T)})‖²", "left · √K")
    slopes = [float(text.get_text().replace("−", "-")) for text in below.texts]
    assert slopes == pytest.approx([-0.5] * len(slopes), abs=0.02)
    assert figure.lower is not None
    low, high = below.get_ylim()
    assert high - low >= 0.06 * min(scaled)  # noise of a part in a thousand does not look steep


def test_a_bound_has_nothing_below_it():
    (figure, *_) = plotted.of_claim("comfedl/lemma-2").values()
    assert figure.lower is None
    assert len(figure.drawn()[0].axes) == 1


def test_only_what_stands_below_another_plot_leaves_its_legend_to_that():
    """A plot over a logarithmic x alone, as of a class along a letter, has a legend of its own."""
    (rate,) = plotted.of_claim("feddro/linear-speed-up").values()
    points = Points([1.0, 10.0, 100.0], [1.0, 2.0, 3.0], bound=[2.0, 3.0, 4.0])
    alone = replace(rate, points=points, named={}, order=None, log="x")
    (axes,) = alone.drawn()[0].axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["right side", "measured"]


def test_what_was_judged_before_is_not_judged_again(monkeypatch):
    before = {}
    first = plotted.of_claim("comfedl/lemma-2", case=5, judged_before=before)
    monkeypatch.setattr(plotted, "judge", lambda *_: pytest.fail("judged again"))
    again = plotted.of_claim("comfedl/lemma-2", case=5, judged_before=before)
    assert list(again) == list(first)
