"""Results as CSV, a frame and LaTeX: nothing is lost, and LaTeX compiles what it gets."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftproof
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.report.experiment import draw as draw_panel
from driftproof.toolkit.report.latex_table import key, latex_macros, latex_table
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.report.page import told
from driftproof.toolkit.report.results_table import NAMED, csv_of, table_of
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers import record
from tests.commands import driftproof as command
from tests.users import DRIFT

LATEX = next((name for name in ("pdflatex", "tectonic") if shutil.which(name)), None)
needs_latex = pytest.mark.skipif(LATEX is None, reason="neither pdflatex nor tectonic is installed")
DOCUMENT = r"""\documentclass{article}
\usepackage{array,booktabs,longtable}
\input{verdicts-macros}
\begin{document}
%s
\input{verdicts-table}
\end{document}
"""


def row(claim, form="printed", reading="", verdict=Verdict.SUPPORTED, **more):
    case = {"key": "k", "label": "Bowl()", "problem": {"name": "bowl", "clients": 2}}
    return Row(claim, form, "", reading, "bound", case, verdict, Evidence.EXACT, "", **more)


def on_record():
    """Return a row for each form that is on record."""
    rows = []
    for claim, forms in record.read().items():
        for form, cases in forms.items():
            lead, _, reading = form.partition(": ")
            rows.append(row(claim, lead, reading, Verdict(next(iter(cases.values())))))
    return rows


NASTY = [
    "100 % & more #1 $x$ _y_ {z} ~ ^ \\ <a> |b| \"c\" `d' -- %%",
    "Poincaré, Łojasiewicz, Erdős, Ångström, Čech, ﬁnite",
    "w̄_t ≤ η²‖∇F‖ + Σσ₁ − ½·10⁻³, η̄, ∈ ℝ, 𝔼, ∞ → 0 ⇒ ℓ² ∘ 中",
    "\\end{document}", "\\input{/etc/passwd}", "]", "{", "}", "a\u0304\u0301", "\u0304", "“so” – …",
]  # fmt: skip


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
    claims = told(on_record())
    for text in (latex_table(claims), latex_macros(claims)):
        assert text.isascii()
        assert "[U+" not in text
    lines = [line for line in latex_table(claims).splitlines() if line.endswith(r" \\")]
    assert len(lines) == 1 + sum(map(len, record.read().values()))  # and the head
    assert {line.replace(r"\&", "").count("&") for line in lines} == {4}
    assert latex_text("中") == "[U+4E2D]"


def test_macros_tell_readings_apart_and_every_form_has_one():
    readings = [
        row("one/a", "printed", "as it is"),
        row("one/a", "printed", "as meant", Verdict.REFUTED),
    ]
    made = latex_macros(told([*readings, row("one/a", "corrected"), row("two/η_1")]))
    assert r"\driftproof@form{one/a}{printed}{SUPPORTED}{exact}{1}{--}" in made
    assert r"\driftproof@form{one/a}{printed-2}{REFUTED}{exact}{1}{--}" in made
    assert "% printed-2: as meant" in made
    assert r"\driftproof@form{two/--1}{printed}" in made
    assert key("two/η_1") == key("two/γ_1") == "two/--1"
    twins = latex_macros(told([row("two/η"), row("two/γ", verdict=Verdict.REFUTED)]))
    assert r"\driftproof@form{two/-}{printed}{SUPPORTED}" in twins
    assert r"\driftproof@form{two/-}{printed-2}{REFUTED}" in twins


def compiled(folder, claims, text):
    """Compile a document that inputs the two files, and return its log."""
    (folder / "verdicts-table.tex").write_text(latex_table(claims), encoding="ascii")
    (folder / "verdicts-macros.tex").write_text(latex_macros(claims), encoding="ascii")
    (folder / "it.tex").write_text(DOCUMENT % text, encoding="utf-8")
    words = {
        "pdflatex": ["-interaction=nonstopmode", "-halt-on-error"],
        "tectonic": ["--keep-logs"],
    }
    made = subprocess.run(
        [LATEX, *words[LATEX], "it.tex"], cwd=folder, capture_output=True, text=True, timeout=300,
        errors="replace",
    )  # fmt: skip
    log = (folder / "it.log").read_text(encoding="utf-8", errors="replace")
    return made.returncode, "".join(log.splitlines())


@needs_latex
def test_the_table_of_all_that_is_on_record_compiles(tmp_path):
    text = r"\typeout{<\driftproofverdict{comfedl/lemma-2}><\driftproofcases[corrected]{%s}>}"
    corrected = next(c for c, forms in record.read().items() if "corrected" in forms)
    status, log = compiled(tmp_path, told(on_record()), text % corrected)
    assert status == 0, log[-2000:]
    assert "Overfull" not in log
    assert "Missing character" not in log
    assert (tmp_path / "it.pdf").stat().st_size > 20_000


@needs_latex
def test_macros_print_what_became_of_a_form(tmp_path):
    claims = told([row("one/a_b", lhs={"mean": 0.5}, rhs=1.0), row("one/a_b", "corrected")])
    cited = r"\setbox0\hbox{\driftproofverdict{one/a-b}}\typeout{width \the\wd0}"
    cited += r"\makeatletter\typeout{<\@nameuse{driftproof:tightness:one/a-b:printed}>}\makeatother"
    status, log = compiled(tmp_path, claims, cited)
    assert status == 0, log[-2000:]
    assert "<0.5>" in log
    assert float(re.search(r"width ([\d.]+)pt", log)[1]) > 30
    status, log = compiled(tmp_path, claims, r"\driftproofverdict[corrcted]{one/a-b}")
    assert status != 0
    assert "No form corrcted of one/a-b" in log


@needs_latex
def test_nasty_names_and_readings_compile(tmp_path):
    rows = [row(f"mine/{text}", "printed", other) for text in NASTY for other in ("", text)]
    status, log = compiled(tmp_path, told(rows), "nothing")
    assert status == 0, log[-2000:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("export")
    (made / "mine.py").write_text(DRIFT, encoding="utf-8")
    made_by = command(
        "verify", "mine.py", "-a", "local_steps=1,3", "--workers", "1", "--out", "out", cwd=made
    )
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
    drawn = list((folder / "plots").glob("*.svg"))
    assert drawn
    ledger = command("report", "out", cwd=folder.parent)
    assert ledger.returncode == 0, ledger.stderr
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


def test_the_pages_blocks_are_of_kinds_that_are_run_here():
    assert set(BLOCKS) == {"console", "python", "latex"}
    assert len(re.findall(r"^```\w+$", PAGE, re.M)) == 3


@pytest.fixture(scope="module")
def as_on_the_page(tmp_path_factory):
    made = tmp_path_factory.mktemp("page")
    words = BLOCKS["console"].splitlines()[0].removeprefix("$ driftproof ").split()
    return made, command(*words, "--workers", "1", cwd=made)


def test_the_pages_command_prints_what_is_shown(as_on_the_page):
    _, told = as_on_the_page
    assert told.returncode == 0, told.stderr
    printed = [" ".join(line.split()) for line in told.stdout.splitlines()]
    for line in BLOCKS["console"].splitlines()[1:]:
        assert " ".join(line.split()) in printed


def test_the_pages_files_are_those_that_are_written(as_on_the_page):
    folder, _ = as_on_the_page
    named = re.findall(r"^\| `(.+?)` \|", PAGE, re.M)
    for name in (name for cell in named for name in re.findall(r"[\w.-]+\.\w+", cell)):
        pattern = name.replace("NAME", "*").removeprefix("plots/")
        assert [*folder.glob(f"report/**/{pattern}")], name


def test_the_pages_frame(capsys):
    pytest.importorskip("pandas", reason="pandas is an extra: driftproof[frames]")
    exec(compile(BLOCKS["python"], "results.md", "exec"), {"__name__": "__main__"})
    assert "SUPPORTED" in capsys.readouterr().out


@needs_latex
def test_the_pages_document_compiles(as_on_the_page):
    folder, _ = as_on_the_page
    (folder / "it.tex").write_text(BLOCKS["latex"], encoding="utf-8")
    words = ["-interaction=nonstopmode", "-halt-on-error"] if LATEX == "pdflatex" else []
    made = subprocess.run([LATEX, *words, "it.tex"], cwd=folder, capture_output=True, timeout=300)
    assert made.returncode == 0, made.stdout[-2000:]
