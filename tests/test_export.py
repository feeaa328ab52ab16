"""Results as CSV and a frame: nothing is lost. Any text becomes letters that LaTeX prints."""

import csv
import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftproof
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.report.experiment import draw as draw_panel
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.report.results_table import NAMED, csv_of, table_of
from driftproof.verifiers import baseline
from tests.commands import driftproof as command
from tests.users import DRIFT


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_becomes_plain_letters_with_every_brace_closed(text):
    made = latex_text(text)
    assert made.isascii()
    without = re.sub(r"\\[\\{}%$&#_]", "", made)
    depth = 0
    for letter in without:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0
    assert without.count("$") % 2 == 0
    letters = iter(made)
    assert all(x in letters for x in text if x.isalnum() and x.isascii())  # in their order


def test_no_letter_on_record_is_without_a_command():
    made = latex_text(" ".join(form for forms in baseline.read().values() for form in forms))
    assert made.isascii()
    assert "[U+" not in made
    assert latex_text("中") == "[U+4E2D]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("export")
    text = DRIFT.replace("ComFedL()", "ComFedL(local_steps=sweep(1, 3))").replace(
        "sq\n", "sq, sweep\n"
    )
    (made / "mine.py").write_text(text, encoding="utf-8")
    made_by = command("verify", "mine.py", "--workers", "1", "--out", "out", cwd=made)
    assert made_by.returncode == 1, made_by.stderr
    return made / "out"


def rows_of(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))["results"]


def test_the_csv_is_the_results_to_the_last_digit(folder):
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    results = rows_of(folder)
    assert len(read) == len(results) == 2
    for line, entry in zip(read, results, strict=True):
        assert line["claim"] == entry["claim"]
        assert line["verdict"] == entry["verdict"]
        assert float(line["lhs.mean"]) == entry["lhs"]["mean"]
        assert float(line["rhs"]) == entry["rhs"]
        assert line["case_key"] == entry["case"]["key"]
        assert int(line["algorithm.local_steps"]) == entry["case"]["algorithm"]["local_steps"]
        assert float(line["letter.tau"]) == entry["instance"]["tau"]
        assert line["expected"] == ""
    for name in (*(set(results[0]) - set(NAMED)), "case", "rounds"):
        assert name in read[0]


def test_a_column_is_of_one_kind():
    made = table_of(
        [{"claim": "a", "n": 1, "x": 2}, {"claim": "b", "n": 0.5, "x": "two"}, {"x": [1, 2]}]
    )
    assert made == {"claim": ["a", "b", None], "n": [1.0, 0.5, None], "x": ["2", "two", "1; 2"]}
    assert table_of([]) == {}
    assert csv_of({}) == "\n"


def test_each_plot_has_its_data(folder):
    ledger = command("report", "out", cwd=folder.parent)
    assert ledger.returncode == 0, ledger.stderr
    drawn = list((folder / "plots").glob("*.svg"))
    assert drawn
    for path in drawn:
        assert path.with_suffix(".pdf").exists()
        with path.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
            points = list(csv.DictReader(file))
        assert {"x", "mean", "bound"} <= set(points[0])
        assert [float(point["x"]) for point in points] == sorted(float(p["x"]) for p in points)


def test_a_panels_data_are_its_curves(tmp_path):
    curves = [
        {"label": label, "x": [1, 2], "mean": [0.1, None], "low": [0.0, None], "high": [0.2, None]}
        for label in ("one, two", "three")
    ]
    panel = {"title": "", "x_label": "", "y_label": "", "log": "", "curves": curves}
    draw_panel(panel, "it", tmp_path, {"one, two": "C0", "three": "C1"})
    read = list(csv.reader((tmp_path / "it.csv").read_text(encoding="utf-8").splitlines()))
    assert read[0] == ["curve", "x", "mean", "low", "high"]
    assert read[1:3] == [["one, two", "1", "0.1", "0.0", "0.2"], ["one, two", "2", "", "", ""]]
    assert len(read) == 5


def test_a_frame_of_a_folder_and_of_rows(folder):
    pytest.importorskip("pandas", reason="pandas is an extra: driftproof[frames]")
    made = driftproof.frame(folder)
    assert made["algorithm.local_steps"].tolist() == [1, 3]
    assert made.verdict.tolist() == ["SUPPORTED", "REFUTED"]
    assert made["lhs.mean"].tolist() == [entry["lhs"]["mean"] for entry in rows_of(folder)]
    rows = driftproof.verify("comfedl/lemma-2", profile="smoke")
    own = driftproof.frame(rows)
    assert own.verdict.tolist() == [str(one.verdict) for one in rows]


@pytest.mark.parametrize("text", [None, "{", "[]", '{"results": 3}', '{"results": [3]}'])
def test_a_folder_without_results_is_told(tmp_path, text):
    if text is not None:
        (tmp_path / "results.json").write_text(text)
    with pytest.raises(DriftproofError, match="a folder that driftproof verify has written"):
        driftproof.frame(tmp_path)


def test_without_the_extra_its_name_is_told(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingError, match="frames"):
        driftproof.frame(folder)


PAGE = (Path(__file__).parents[1] / "docs" / "results.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S))


def test_the_pages_files_are_those_that_are_written(folder):
    assert command("report", "out", cwd=folder.parent).returncode == 0
    named = re.findall(r"^\| `(.+?)` \|", PAGE, re.M)
    for name in (name for cell in named for name in re.findall(r"[\w.-]+\.\w+", cell)):
        pattern = name.replace("NAME", "*").removeprefix("plots/")
        assert [*folder.glob(f"**/{pattern}")], name


def test_the_pages_frame(capsys):
    pytest.importorskip("pandas", reason="pandas is an extra: driftproof[frames]")
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(block, "results.md", "exec"), {"__name__": "__main__"})
    assert "SUPPORTED" in capsys.readouterr().out
