"""The page: complete, self-contained, escaped, and drawn from the same numbers as the files."""

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from driftproof.toolkit.groups import NOTHING, distance, equates, over_class, statements
from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.report.claim_view import ClaimView, Reference, views
from driftproof.toolkit.report.class_lines import lines
from driftproof.toolkit.report.figures import draw, headline
from driftproof.toolkit.report.figures import draw as draw_figure
from driftproof.toolkit.report.files import write_report
from driftproof.toolkit.report.mathml import mathml
from driftproof.toolkit.report.page import render
from driftproof.toolkit.report.papers import by_paper, findings, references
from driftproof.toolkit.report.typeset import letters
from driftproof.toolkit.series import Curve, Points, Slope
from driftproof.toolkit.statements import ReadingVerdict, statement
from driftproof.toolkit.verdict import Evidence, Row, Verdict, overall, row_from
from driftproof.verifiers.verify import Settings, header, judge, select
from tests.once import every_claim


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    verified, folder = every_claim(tmp_path_factory), tmp_path_factory.mktemp("report")
    assert not (verified / "plots").exists()
    with Ledger(verified / "ledger.sqlite", create=False) as ledger:
        head, kept = ledger.latest()
    rows = [row_from(row) for row in kept]
    head |= {"profile": "quick"}  # a page that may list errata
    write_report(folder, head, rows, plots=True)
    return folder, head, rows, (folder / "index.html").read_text(encoding="utf-8")


class Tags(HTMLParser):
    """Collects tags and attributes, and checks that elements are closed in order."""

    VOID = {"meta", "link", "br", "input", "img", "hr", "mspace", "mprescripts", "none", "wbr"}

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open, f"</{tag}> closes nothing"
            assert self.open.pop() == tag


def parse(page):
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags.seen


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(report):
    _, head, rows, page = report
    papers = {one.link for one in references(views(head, rows).values())} - {""}
    for tag, attributes in parse(page):
        for key in ("src", "href", "data-src"):
            target = attributes.get(key) or ""
            if tag == "a" and target in papers:
                continue  # a link to a paper loads nothing
            assert not re.match(r"(https?:)?//", target), (tag, target)
    assert not re.search(r"url\((?!data:)", page)
    assert "@import" not in page
    assert "fetch(" not in page


def test_every_claim_form_assumption_and_command_stands_on_it(report):
    _, head, rows, page = report
    for claim, about in head["claims"].items():
        assert f'id="{claim.replace("/", "-")}"' in page
        assert about["command"] in page
        refuted = any(row.verdict == "REFUTED" for row in rows if row.claim == claim)
        if about["counterexample"]:
            assert (f"<code>{about['counterexample']}</code>" in page) == refuted
        for title, _, _ in about["assumes"]:
            assert title in unescape(page)
    for row in rows:
        assert row.reading in unescape(page)
    assert "It does not mean proved" in page
    assert page.count("<math") > 20


def test_a_smoke_run_claims_no_erratum_that_it_does_not_see(report):
    _, head, rows, page = report
    assert "not the verdicts on record" not in page
    name = "comfedl/theorem-1"
    open_ = [
        replace(row, verdict=Verdict.INCONCLUSIVE) if row.claim == name else row for row in rows
    ]
    made = render({**head, "profile": "smoke"}, [row for row in open_ if row.claim == name])
    assert "these are not the verdicts on record" in made
    assert made.count("not seen in this run") == 1
    assert "by the erratum on record (misprint), which this run does not show" in made
    summary = re.search(r"<summary><span class=\"badge INCONCLUSIVE.*?</summary>", made, re.S)[0]
    assert "severity" not in summary


def test_each_plot_stands_on_the_page_with_its_files(report):
    folder, _, rows, page = report
    names = re.findall(r'data-plot="plot-([^"]+)"', page)
    assert len(names) == len(set(names))
    drawn = [row for row in rows if isinstance(row.series, Points) and row.series.x]
    # what is equal to the last digit on every case has nothing to draw, and one point is no plot
    told = {row.claim for row in drawn if not equates([row]) or distance(row) > NOTHING}
    by_claim = {c: headline([row for row in rows if row.claim == c]) for c in told}
    assert all(by_claim.values())
    claims = {c for c, figures in by_claim.items() if any(f.is_line for f in figures)}
    assert 10 < len(claims) < len(told)
    slugs = {c.replace("/", "-") for c in claims}
    assert all(any(name.startswith(f"{slug}-") for slug in slugs) for name in names)
    assert all(any(name.startswith(f"{slug}-") for name in names) for slug in slugs)
    assert page.count('<p class="point">') == sum(
        not f.is_line for figures in by_claim.values() for f in figures
    )
    for name in {name.removesuffix("-scaled") for name in names}:  # two axes, in one file
        assert (folder / "plots" / f"{name}.svg").stat().st_size > 1000
        assert (folder / "plots" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (folder / "plots" / f"{name}.csv").read_text(encoding="utf-8").count("\n") > 1


def test_the_plots_data_are_the_rows(report):
    _, _, rows, page = report
    embedded = {
        name: json.loads(data)
        for name, data in re.findall(
            r'<script type="application/json" data-plot="plot-([^"]+)">(.*?)</script>', page, re.S
        )
    }
    for claim in {row.claim for row in rows}:
        for figure in headline([row for row in rows if row.claim == claim]):
            if figure.panel is not None:
                assert embedded[figure.name]["curves"] == figure.panel["curves"]
                continue
            if not figure.is_line:
                assert figure.name not in embedded
                continue
            shown = embedded[figure.name]["series"]
            for key in shown:
                assert shown[key] == list(figure.points.columns[key])


def test_an_instance_is_told_without_the_marks_of_its_docstring(report):
    page = report[-1]
    told = re.findall(
        r'the instance in full</summary>.*?<div class="about">(.*?)</details>', page, re.S
    )
    assert any("<strong>Optimum.</strong>" in one for one in told)
    assert any("<sub>" in one for one in told)
    for one in told:
        assert "**" not in one
        assert "``" not in one


def rate_row():
    mean = [1.0, 0.8, 0.7]
    points = Slope(
        [2, 3, 4],
        mean,
        [0.9, 0.7, 0.6],
        [1.1, 0.9, 0.8],
        fit=mean,
        reference=mean,
        order=[-0.5, 0.0],
    )
    return Row(
        "a/rate",
        "printed",
        "",
        "",
        "rate",
        {"key": "k", "label": "l"},
        Verdict.SUPPORTED,
        Evidence.ASYMPTOTIC,
        "",
        lhs={"mean": -0.508, "low": -0.505, "high": -0.48},
        rhs=-0.5,
        series=points,
    )


def test_a_rates_plot_tells_its_slopes(tmp_path):
    (figure,) = headline([rate_row()])
    assert figure.labels["fit"] == "fitted slope −0.508, the data leave −0.505 to −0.480"
    assert figure.labels["reference"] == "claimed slope −0.5"
    draw_figure(figure, tmp_path)
    drawn = (tmp_path / f"{figure.name}.svg").read_text(encoding="utf-8")
    assert figure.labels["fit"] in drawn


def test_a_plot_of_whole_numbers_has_whole_ticks(tmp_path):
    steps = Curve([1, 2], [1.0, 2.0], bound=[1.0, 2.0])
    row = replace(rate_row(), kind="bound", series=steps)
    (figure,) = headline([row])
    draw_figure(figure, tmp_path)
    drawn = (tmp_path / f"{figure.name}.svg").read_text(encoding="utf-8")
    (axis,) = re.findall(r'<g id="matplotlib.axis_1">(.*?)<g id="matplotlib.axis_2">', drawn, re.S)
    ticks = re.findall(r'<g id="xtick_\d+">.*?<text[^>]*>([^<]+)</text>', axis, re.S)
    assert ticks
    assert all(float(tick).is_integer() for tick in ticks)


def test_the_wider_line_is_below_the_measured_one(tmp_path):
    """Where both sides agree the bound would hide what was measured, or be hidden by it."""
    row = replace(rate_row(), kind="bound", series=Curve([1, 2], [1, 2], bound=[1, 2]))
    (figure,) = headline([row])
    draw_figure(figure, tmp_path)
    drawn = (tmp_path / f"{figure.name}.svg").read_text(encoding="utf-8")
    widths = re.findall(r"stroke: (#d62728|#1f77b4); stroke-width: ([\d.]+)", drawn)
    wide, narrow = widths[0], next(one for one in widths if one[0] == "#1f77b4")
    assert wide[0] == "#d62728"
    assert float(wide[1]) > 2 * float(narrow[1])


def test_claims_are_grouped_by_paper_with_a_line_each(report):
    _, head, rows, page = report
    names = dict.fromkeys(row.claim.partition("/")[0] for row in rows)
    papers = by_paper(views(head, rows).values())
    assert [paper.name for paper in papers] == list(names)
    for paper in papers:
        assert page.count(paper.line) == 2  # at a glance, and over its claims
        # statements of many papers: none of them is its title
        assert (paper.reference is None) == (paper.name in ("localsgd", "literature"))
        place = page.index(f'id="paper-{paper.name}"')
        articles = re.findall(r'<article id="([^"]+)"', page[place:])[: len(paper.claims)]
        assert articles == [claim.name.replace("/", "-") for claim in paper.claims]
    tiles = re.findall(r'class="tile (\w+)(?: ours)?" href="#([^"]+)"', page)
    assert len(tiles) == len({row.claim for row in rows})
    counts = Counter(verdict for verdict, _ in tiles)
    told = Counter(str(one.verdict) for one in statements(head, rows))
    assert all(counts[verdict] >= told[verdict] for verdict in told)


def test_the_line_of_a_paper_counts_statements_and_not_forms():
    readings = [ReadingVerdict(name, "literal", "", Verdict.REFUTED) for name in ("one", "two")]
    printed = statement("p/a", readings, {"severity": "false", "changes": "all"})
    (paper,) = by_paper([ClaimView("p/a", {}, [], printed), ClaimView("p/b", {}, [], None)])
    assert paper.line == "1 printed statement: 1 refuted; errata: 1 false; 1 of our own."


def test_findings_come_the_worst_first_and_heirs_with_what_they_inherit():
    def one(name, severity, same_as=""):
        erratum = {"severity": severity, "changes": "it", "same_as": same_as}
        refuted = ReadingVerdict("as printed", "literal", "", Verdict.REFUTED)
        return statement(name, [refuted], erratum)

    made = findings(
        [
            one("p/a", "misprint"),
            one("p/b", "false"),
            one("p/c", "false"),
            one("p/d", "false", "p/c"),
            one("p/e", "false", "elsewhere/x"),
        ]
    )
    assert [one.claim for one, _ in made] == ["p/c", "p/b", "p/e", "p/a"]
    assert [[heir.claim for heir in heirs] for _, heirs in made] == [["p/d"], [], [], []]


def test_a_reference_is_told_as_a_list_of_references_has_it():
    entry = """@misc{huang,
  title         = {{C}ompositional Federated Learning: Applications in Distributionally Robust
                   Averaging},
  author        = {Huang, Feihu and Li, Junyi and Huang, Heng},
  year          = {2021},
  eprint        = {2106.11264v1},
  archiveprefix = {arXiv},
}"""
    made = Reference("arXiv v1", "the preprint", entry)
    assert made.citation == (
        "Feihu Huang, Junyi Li and Heng Huang. Compositional Federated Learning: Applications in "
        "Distributionally Robust Averaging. arXiv:2106.11264v1. 2021."
    )
    assert made.link == "https://arxiv.org/abs/2106.11264v1"


def test_entries_and_references_stand_on_the_page_and_bibtex_is_folded(report):
    _, head, rows, page = report
    every = references(views(head, rows).values())
    assert len(every) > 3
    for one in every:
        assert one.title
        assert one.citation in unescape(page)
    for place in (found.start() for found in re.finditer(r">@\w+\{", page)):
        assert "<summary>BibTeX</summary>" in page[place - 150 : place]


def test_a_row_over_a_class_tells_its_letters(report):
    _, _, rows, page = report
    of_classes = [row for row in rows if over_class(row)]
    assert len(of_classes) > 20
    for row in of_classes:
        assert letters(row.instance)
        assert f'<span class="letters">{letters(row.instance)}</span>' in page


def test_latex_that_is_none_is_shown_as_text():
    made = mathml(r"\frac{1}{")
    assert "<script" not in made
    assert made.startswith(("<math", "<code"))


def test_numbers_that_are_not_finite_are_null(tmp_path):
    row = Row(
        claim="a/b",
        form="printed",
        edition="",
        reading="",
        kind="bound",
        case={"key": "k", "label": "l"},
        verdict=Verdict.INCONCLUSIVE,
        evidence=None,
        reason="diverged",
        lhs={"mean": float("inf"), "low": float("nan"), "high": None},
        rhs=float("inf"),
    )
    public = row.public()
    assert public["lhs"] == {"mean": None, "low": None, "high": None}
    assert public["rhs"] is None
    head = header([], Settings()) | {"claims": {}, "union_bound": 0.0}
    head["claims"] = {
        "a/b": {
            "kind": "bound",
            "source": "",
            "statement": "x",
            "assumes": [],
            "forms": {},
            "notes": {},
            "explain": "",
            "command": "c",
        }
    }
    write_report(tmp_path, head, [row], plots=True)
    json.loads((tmp_path / "results.json").read_text())


def test_equal_rows_make_equal_pages():
    (leaf,) = select(["comfedl/lemma-2"])
    settings = Settings(profile="smoke")
    head = header([leaf], settings) | {"union_bound": 0.0}
    pages = {
        render(head, [replace(r, seconds=0.0) for r in judge([leaf], settings)]) for _ in range(2)
    }
    assert len(pages) == 1


@pytest.mark.parametrize(
    ("verdicts", "vacuous", "expected"),
    [
        ("SS", "..", Verdict.SUPPORTED),
        ("SS", "vv", Verdict.INCONCLUSIVE),
        ("SS", "v.", Verdict.SUPPORTED),
        ("RI", "v.", Verdict.REFUTED),
    ],
)
def test_a_claims_verdict_follows_from_its_rows(verdicts, vacuous, expected):
    """Of rows that are not vacuous it is ``together``, whose table is in tests/test_recorded.py."""
    names = {"S": "SUPPORTED", "R": "REFUTED", "I": "INCONCLUSIVE"}
    rows = [
        Row("a", "printed", "", "", "bound", {}, Verdict(names[v]), None, "", vacuous=w == "v")
        for v, w in zip(verdicts, vacuous, strict=True)
    ]
    assert overall(rows) is expected


def test_every_paper_that_a_claim_names_is_cited_and_linked():
    from driftproof.toolkit.discover import leaves
    from driftproof.verifiers.in_print.citations import cited

    authors = r"[A-Z][a-z]+(?: and [A-Z][a-z]+| et al\.)?"
    paper = re.compile(rf"arXiv v1|\bv3|(?:FedNest|Local-SCGDM|FedDRO|\b{authors}) \(20\d\d\)")
    for leaf in leaves("claim").values():
        source = leaf.load().source
        found = cited(leaf.path, source)
        assert {tag for tag, _, _ in found} == set(paper.findall(source)), source
        for _, what, entry in found:
            assert "\n" not in what
            assert entry.count("@") == 1
            assert entry.count("{") == entry.count("}")


def test_an_entry_is_found_by_its_tag_and_by_no_part_of_another_word(tmp_path):
    from driftproof.verifiers.in_print.citations import cited

    entry = "@misc{{{0},\n  year = {{2021}},\n}}"
    entries = {"arXiv v1": "preprint", "v3": "journal", "Other (2023)": "other"}
    texts = [f"% {tag}: the {key}\n{entry.format(key)}" for tag, key in entries.items()]
    text = "\n\n".join([*texts, "% no tag\n" + entry.format("untagged")])
    (tmp_path / "papers.bib").write_text(text, encoding="utf-8")
    for source, expected in {
        "ComFedL, arXiv v1 and v3, Lemma 2": ["arXiv v1", "v3"],
        "ComFedL, arXiv v3, (6)": ["v3"],
        "ComFedL, arXiv v1, (27); v3, (22)": ["arXiv v1", "v3"],
        "ComFedL, arXiv v12, as in v34": [],
        "Other (2023), Theorem 1": ["Other (2023)"],
        "Another (2023), as Other 2023": [],
        "my notes, Lemma 1": [],
    }.items():
        found = cited(tmp_path / "claim.py", source)
        assert [tag for tag, _, _ in found] == expected, source
    assert cited(tmp_path / "elsewhere" / "claim.py", "Other (2023)") == []
    ((_, what, bibtex),) = cited(tmp_path / "claim.py", "Other (2023)")
    assert (what, bibtex) == ("the other", entry.format("other"))


def test_differences_are_told_in_the_order_of_their_weight():
    from driftproof.toolkit.report.difference import difference

    def row(key, verdict, mean=1.0, claim="a/b"):
        return {
            "claim": claim,
            "form": "printed",
            "reading": "",
            "verdict": verdict,
            "case": {"key": key, "label": f"case {key}"},
            "lhs": {"mean": mean},
            "rhs": 2.0,
        }

    before = [
        row("1", "SUPPORTED"),
        row("2", "SUPPORTED"),
        row("3", "REFUTED"),
        row("4", "SUPPORTED"),
    ]
    after = [
        row("1", "SUPPORTED", 1.004),
        row("2", "SUPPORTED", 1.2),
        row("3", "SUPPORTED"),
        row("5", "REFUTED"),
    ]
    told = [
        (change.what, change.case, change.before, change.after)
        for change in difference(before, after)
    ]
    assert told == [
        ("verdict", "case 3", "REFUTED", "SUPPORTED"),
        ("only in the first", "case 4", "SUPPORTED", "–"),
        ("only in the second", "case 5", "–", "REFUTED"),
        ("tightness", "case 2", "0.5", "0.6"),
    ]
    assert difference(before, before) == []


# -- worst cases over classes as lines: which cases make one, and what stands on it


def row(right=1.0, reason="", reading="", verdict=Verdict.SUPPORTED, form="printed", **letters):
    """Return a row whose left side tells its case."""
    letters = {
        "L": 1.0,
        "n": 2.0,
        "b": 1.0,
        "tau": 1.0,
        "eta": 0.1,
        "zeta": 1.0,
        "S": 1.0,
    } | letters
    letters["T"] = letters["tau"] * letters["S"]
    conditions = ["smooth-convex(L = 1)", f"similar(zeta = {letters['zeta']:g})"]
    left = letters["tau"] + 100 * letters["zeta"] + 10_000 * letters["S"]
    return Row(
        claim="mine/bound",
        form=form,
        edition="",
        reading=reading,
        kind="bound",
        case={
            "key": repr(sorted(letters.items())),
            "problem": {"name": "class", "conditions": conditions},
            "algorithm": {"name": "fedavg"},
        },
        verdict=verdict,
        evidence=Evidence.CLASS,
        reason=reason,
        instance=letters,
        lhs={"mean": left, "low": None, "high": left},
        rhs=right * left,
    )


def along(letter, rows):
    (line,) = (line for line in lines(rows) if line.letter == letter)
    return line


def test_cases_that_differ_in_one_letter_make_a_line_in_its_order():
    rows = [row(zeta=z) for z in (4, 1, 2)]
    line = along("zeta", rows)
    assert line.points.x == [1, 2, 4]
    assert line.points.mean == [row(zeta=z).lhs["mean"] for z in (1, 2, 4)]
    assert line.points.bound == line.points.mean
    assert line.x_label.startswith("ζ")
    # what all have in common is said, what varies or means nothing is not
    assert line.row.case["label"] == "fedavg, every federation of smooth-convex(L = 1)"
    assert set(line.row.instance) == {"L", "n", "tau", "eta", "S"}


def test_along_local_steps_the_length_of_a_round_stays():
    rows = [row(tau=t, eta=0.3 / t) for t in (1, 2, 3)] + [row(tau=5, eta=0.7)]
    line = along("tau", rows)
    assert line.points.x == [1, 2, 3]
    assert line.x_label == "τ, local steps a round, with ητ = 0.3"
    assert "eta" not in line.row.instance
    same = along("tau", [row(tau=t) for t in (1, 2, 5, 7)])
    assert same.x_label == "τ, local steps a round"
    assert same.row.instance["eta"] == 0.1


def test_the_longest_line_is_drawn_and_two_points_are_none():
    rows = [row(S=s) for s in (1, 2, 4)] + [row(S=s, eta=0.2) for s in (1, 2, 4, 8)]
    assert [line.letter for line in lines(rows)] == ["S"]
    assert along("S", rows).points.x == [1, 2, 4, 8]
    assert lines(rows[:2]) == []
    assert lines([]) == []


def test_every_form_has_its_right_side():
    rows = [
        row(r, reading=name, zeta=z) for z in (1, 2, 3) for r, name in ((5, "book"), (2, "ours"))
    ]
    rows += [row(0.5, form="sibling", reading="half", zeta=z) for z in (1, 2, 3)]
    line = along("zeta", rows)
    assert line.labels == {"mean": "worst case", "bound": "book", "reference": "ours"}
    assert line.points.bound == pytest.approx([5 * x for x in line.points.mean])
    assert line.points.reference == pytest.approx([2 * x for x in line.points.mean])
    assert "fit" not in line.points.columns


def test_an_upper_bound_is_called_one():
    rows = [row(zeta=z, reason="conditions are necessary" if z > 2 else "") for z in (1, 2, 3)]
    assert along("zeta", rows).title == "upper bound of the worst case and right side along ζ"
    refuted = [row(zeta=z, reason="exceeds", verdict=Verdict.REFUTED) for z in (1, 2, 3)]
    assert along("zeta", refuted).title == "worst case and right side along ζ"


def test_axes_of_more_than_a_decade_are_logarithmic():
    assert along("zeta", [row(zeta=z) for z in (1, 2, 3)]).log == ""
    assert along("zeta", [row(zeta=z) for z in (1, 2, 30)]).log == "x"
    assert along("zeta", [row(20, zeta=z) for z in (1, 2, 3)]).log == "y"
    assert along("tau", [row(tau=t) for t in (1, 2, 30)]).log == ""


def test_what_was_not_computed_is_left_out_and_cases_are_no_lines():
    rows = [row(zeta=z) for z in (1, 2, 3)]
    unknown = Row(**{**vars(row(zeta=4)), "lhs": None})
    assert along("zeta", [*rows, unknown]).points.x == [1, 2, 3]
    case = Row(**{**vars(rows[0]), "case": {"key": "a", "problem": {"name": "bowls"}}})
    assert over_class(rows[0])
    assert not over_class(case)
    assert not over_class(Row(**{**vars(rows[0]), "case": {"key": "open"}}))


def test_a_line_is_drawn_with_a_tick_and_a_mark_at_each_case(tmp_path):
    (figure,) = headline([row(20, zeta=z) for z in (1, 2, 4)])
    assert figure.name == "mine-bound-zeta"
    draw(figure, tmp_path)
    drawn = (tmp_path / "mine-bound-zeta.svg").read_text(encoding="utf-8")
    assert "mine/bound: worst case and right side along ζ" in drawn
    assert {"1", "2", "4"} <= set(re.findall(r">([\d.]+)</text>", drawn))
