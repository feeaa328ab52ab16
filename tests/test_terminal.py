"""What a person sees on a terminal: whole words, the case of a refutation, totals, the record."""

import re
from dataclasses import replace

import pytest

from driftproof.commands import _shared as shared
from driftproof.commands.verify import on_record, summary
from driftproof.toolkit.groups import Group, grouped
from driftproof.toolkit.report.forms_table import meaning, reasons
from driftproof.toolkit.report.text_table import lay_out
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.baseline import is_news
from tests.commands import driftproof

LONG = "printed: two samples, as in the proofs, with a step size of its own for each client"
COLUMNS = ["claim", "form", "verdict", "evidence", "cases", "tightness", ""]
ROWS = [
    [
        "fednest/theorem-compositional",
        LONG,
        "INAPPLICABLE",
        "exact, sequential",
        "24 of 38",
        "within 1.2e-13",
        "no instance can meet it",
    ],
    ["comfedl/lemma-2", "printed", "SUPPORTED", "exact", "3", "1", "attained"],
]


def shown(width, rows=ROWS, columns=COLUMNS, spare=("evidence", "cases")):
    heads, cells, widths, left_out = lay_out(columns, rows, width, spare)
    lines = [
        " "
        + "".join(
            (cell[k] if k < len(cell) else "").ljust(w) for cell, w in zip(row, widths, strict=True)
        ).rstrip()
        for row in cells
        for k in range(max(map(len, row)))
    ]
    return heads, cells, lines, left_out


@pytest.mark.parametrize("width", [76, 80, 100, 120, 160, 300])
def test_a_table_fits_and_breaks_no_word(width):
    heads, cells, lines, left_out = shown(width)
    assert max(map(len, lines)) <= width
    assert [*heads, *left_out] == sorted(COLUMNS, key=[*heads, *left_out].index)
    for row, made in zip([COLUMNS, *ROWS], cells, strict=True):
        kept = [row[COLUMNS.index(head)] for head in heads]
        for cell, cell_lines in zip(kept, made, strict=True):
            joined = " ".join(cell_lines).replace("/ ", "/")
            assert joined == cell  # no letter is lost, and lines end at spaces or slashes


def test_what_is_wide_enough_is_left_as_it_is():
    _, cells, _, left_out = shown(300)
    assert all(len(cell) == 1 for row in cells for cell in row)
    assert left_out == []
    _, _, lines, left_out = shown(76)
    assert left_out
    assert any("fednest/theorem-compositional" not in line for line in lines)


def test_what_cannot_fit_runs_over_the_edge_whole():
    name = "one-word-" * 12
    _, cells, lines, _ = shown(60, rows=[[name, "REFUTED"]], columns=["claim", "verdict"])
    assert cells[1][0] == [name]
    assert max(map(len, lines)) > 60


def row(claim, verdict, expected=None, **more):
    case = {"key": "k", "label": "Bowl(radius=2.0), Descent(), rounds=3", "problem": {}}
    return Row(
        claim,
        "printed",
        "",
        "",
        "bound",
        case,
        verdict,
        Evidence.EXACT,
        "left exceeds right" if verdict is Verdict.REFUTED else "",
        expected=expected,
        reading_kind="literal",
        **more,
    )


def test_the_summary_names_cases_studies_totals_and_the_record(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    rows = [
        row("one/a", Verdict.REFUTED, "REFUTED"),
        row("one/b", Verdict.SUPPORTED, "SUPPORTED"),
        replace(row("one/b", Verdict.REFUTED, "REFUTED"), reading="on all", reading_kind="wider"),
        replace(
            row("two/c", Verdict.SUPPORTED, "REFUTED"), reading="meant", reading_kind="intended"
        ),
    ]
    head = {"profile": "quick", "union_bound": 0.0, "claims": {}}
    summary(head, rows, tmp_path)
    told = capsys.readouterr().out
    assert told.count("case: Bowl(radius=2.0), Descent(), rounds=3") == 2
    lines = [re.split(r"\s{2,}", line.strip()) for line in told.splitlines()]
    assert ["one/b", "printed: on all", "REFUTED", "exact", "1", "–", "study: wider"] in lines
    assert any(x[:2] == ["two/c", "printed: meant"] and x[-1].startswith("intended") for x in lines)
    head_line = next(x for x in lines if x[0] == "paper")
    assert head_line[1:] == [
        "printed statements",
        "supported",
        "refuted",
        "inconclusive",
        "inapplicable",
        "forms not as on record",
    ]
    assert ["one", "2", "1", "1", "0", "0", "0"] in lines  # the wider reading is not the print
    assert ["two", "1", "1", "0", "0", "0", "1"] in lines
    assert ["all", "3", "2", "1", "0", "0", "1"] in lines
    assert "1 of 4 verdicts on cases differ from the record." in told


def test_a_reason_of_one_case_of_several_names_it():
    several = [replace(row("mine/a", Verdict.SUPPORTED), reason="m ≤ 2·0.5^t")] * 2
    (groups,) = grouped(several).values()
    assert reasons(groups)[1] == "    case: Bowl(radius=2.0), Descent(), rounds=3, one of 2"
    (groups,) = grouped(several[:1]).values()
    assert len(reasons(groups)) == 1


def test_of_many_forms_only_the_news_are_shown_unless_asked_for_all(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    old = [row(f"one/{k}", Verdict.REFUTED, "REFUTED") for k in range(30)]
    news = [row("one/changed", Verdict.SUPPORTED, "REFUTED"), row("mine/new", Verdict.REFUTED)]
    head = {"profile": "quick", "union_bound": 0.0, "claims": {}}
    summary(head, [*old, *news], tmp_path)
    told = capsys.readouterr().out
    assert told.count("one/7") == 1
    refuted = next(line for line in told.splitlines() if line.startswith("Refuted as printed: "))
    assert "one/7" in refuted
    assert "mine/new" in refuted
    assert "errata" not in refuted  # which lists shipped claims alone
    assert "one/changed" in told
    assert "not as on record" in told
    assert told.count("case: Bowl") == told.count("mine/new, printed: left exceeds right") == 1
    assert "30 forms are as on record: --verbose shows them" in told
    lines = [re.split(r"\s{2,}", line.strip()) for line in told.splitlines()]
    assert ["all", "32", "1", "31", "0", "0", "1"] in lines  # mine/new has no record
    summary(head, [*old, *news], tmp_path, verbose=True)
    told = capsys.readouterr().out
    assert "one/7" in told
    assert told.count("case: Bowl") == 31
    assert "--verbose" not in told
    summary(head, old, tmp_path)
    told = capsys.readouterr().out
    assert "evidence" not in told  # no table of forms: there is nothing new
    assert "All 30 verdicts on cases are as on record." in told


def test_what_is_news():
    def of(*rows):
        return is_news(Group("one/a", "printed", "", "", rows))

    supported, refuted = row("one/a", Verdict.SUPPORTED), row("one/a", Verdict.REFUTED)
    as_on_record = replace(supported, expected="SUPPORTED")
    assert of(supported)  # nothing is on record
    assert not of(as_on_record)
    assert of(replace(supported, expected="REFUTED"))
    assert not of(as_on_record, supported)  # a larger profile has more cases
    assert of(as_on_record, refuted)
    assert not of(replace(refuted, expected="REFUTED"), refuted)


def test_what_is_said_of_the_record():
    same, new = row("one/a", Verdict.REFUTED, "REFUTED"), row("mine/a", Verdict.SUPPORTED)
    assert on_record([same]) == "The verdict on one case is as on record."
    assert on_record([same, new]).endswith("1 more have no record.")
    other = row("comfedl/lemma-2", Verdict.SUPPORTED)  # driftproof's, on a case of another record
    assert on_record([other, new]) == "None of these verdicts is on record."
    alone = "This is your own claim: there is no record to compare with."
    assert on_record([new]) == on_record([new, new]) == alone
    assert on_record([new, replace(new, claim="mine/b")]).startswith("These are your own claims")


def test_what_supported_means_is_said_where_a_form_is_supported():
    holds, fails = row("one/a", Verdict.SUPPORTED), row("one/a", Verdict.REFUTED)
    said = ["SUPPORTED means: on these cases."]
    assert meaning([holds], "report") == said
    assert meaning([holds, fails], "report") == []  # the form is refuted, on one of its cases
    assert meaning([holds, fails, replace(holds, claim="one/b")], "report") == said


@pytest.mark.parametrize("width", ["80", "120"])
def test_the_command_fits_its_terminal(tmp_path, width):
    import os

    made = driftproof(
        "verify",
        "comfedl/lemma-1-proof*",
        "comfedl/equation-6*",
        "--profile",
        "smoke",
        "--workers",
        "1",
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": width},
    )
    assert made.returncode == 0, made.stderr
    table = made.stdout.split("\n\n")[0].splitlines()
    assert len(table) > 8
    assert max(map(len, table)) <= int(width)
    whole = made.stdout.replace("\n", " ")
    for word in ("equation-6-estimator", "lemma-1-proof-journal", "minimisers"):
        assert word in whole
    assert "are as on record" in made.stdout


def test_a_terminals_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "97")
    assert shared.terminal_width() == 97
    monkeypatch.setenv("COLUMNS", "none")
    monkeypatch.setattr(shared.sys.stdout, "isatty", lambda: False, raising=False)
    assert shared.terminal_width() == 160


# -- A bound that is met with room to spare on every case is marked, in every output


PLAIN = Row(
    "own/x",
    "printed",
    "–",
    "",
    "bound",
    {"key": "k"},
    Verdict.SUPPORTED,
    None,
    "",
    lhs={"mean": 1.0, "low": 1.0, "high": 1.0},
    rhs=100.0,
)


def group(*rows):
    return Group("own/x", "printed", "", "–", rows)


@pytest.mark.parametrize(
    ("rows", "weak"),
    [
        ([PLAIN], True),  # 1 of 100
        ([PLAIN, replace(PLAIN, rhs=10.0)], False),  # one case is tight enough
        ([replace(PLAIN, rhs=2.0)], False),
        ([replace(PLAIN, rhs=2.0)] + 2 * [replace(PLAIN, rhs=2.0, vacuous=True)], True),
        (2 * [replace(PLAIN, rhs=2.0)] + 2 * [replace(PLAIN, rhs=2.0, vacuous=True)], False),
        ([replace(PLAIN, rhs=0.0, lhs={"mean": 0.0})], False),  # 0 ≤ 0 leaves no room
        ([replace(PLAIN, verdict=Verdict.REFUTED)], False),
        ([replace(PLAIN, kind="identity")], False),
        ([replace(PLAIN, lhs=None)], False),  # a proof
        ([replace(PLAIN, rhs=2.0, vacuous=True), PLAIN], True),
        ([replace(PLAIN, kind="rate", evidence="asymptotic")], True),  # slopes on one family
        ([replace(PLAIN, kind="rate", evidence=x) for x in ("asymptotic", "symbolic")], False),
    ],
)
def test_a_bound_with_room_to_spare_is_weakly_tested(rows, weak):
    assert group(*rows).weakly_tested is weak


def test_it_is_said_on_the_terminal_on_the_page_and_in_the_results(tmp_path, capsys):
    from driftproof.commands.verify import summary
    from driftproof.toolkit.groups import statements
    from driftproof.verifiers.verify import Settings, judge
    from tests.test_claims import make

    loose = make(right=lambda c: 1000 * c.tau**2 * c.G_g**2 * c.G_f**2)
    rows = judge([loose], Settings())
    head = {"profile": "quick", "union_bound": 0.0, "claims": {"own/drift": {"unlike": {}}}}
    summary(head, rows, tmp_path)
    assert "weakly tested" in capsys.readouterr().out
    (found,) = statements(head, rows)
    assert found.weakly_tested
    assert found.public()["weakly_tested"] is True
    (found,) = statements(head, judge([make()], Settings()))  # attained
    assert not found.weakly_tested
