"""``driftproof.verify``: one object of verdicts, as text, as HTML and as a page."""

import fnmatch
import re
import xml.etree.ElementTree as ET
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from driftproof import each, grid, literal, run, sq, sweep, verify
from driftproof.algorithms import ComFedL, FedAvg
from driftproof.problems import BoundedComposition
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.sides import sides
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.claim_types.sources import claims_in
from driftproof.verifiers.judges import attacked
from driftproof.verifiers.verification import Verification
from driftproof.verifiers.verify import Settings, judge
from tests.test_guides import ran
from tests.users import UsersQuadratic, smooth_claim

PAGE = (Path(__file__).parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)> $a_{$ </style>'


def drift(view):
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))


def about_drift(right=lambda c: c.tau * (c.eta * c.G_f * c.G_g) ** 2, **changes):
    """Return a false claim on drift, or with the square of τ a true one."""
    fields = {
        "name": "mine/drift",
        "source": "a draft",
        "statement": r"\|\bar w_{s,t}-\bar w_s\|^2 \le \tau\eta^2G_f^2G_g^2",
        "cases": grid(
            BoundedComposition(clients=sweep(2, 3), distance=20.0),
            ComFedL(local_steps=sweep(1, 5), step_size=0.1),
            rounds=2,
        ),
    }
    if "readings" not in changes:
        fields["right"] = right
    return bound(**fields | changes)(drift)


TRUE = {"right": lambda c: (c.tau * c.eta * c.G_f * c.G_g) ** 2}


@pytest.fixture(scope="module")
def refuted():
    return verify(about_drift())


class Tags(HTMLParser):
    """Collects tags with their attributes, and the text of styles apart from other text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.styles, self.said, self.within = [], "", "", ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.within = tag

    def handle_endtag(self, tag):
        self.within = ""

    def handle_data(self, data):
        if self.within == "style":
            self.styles += data
        else:
            self.said += data

    def images(self):
        sources = [attributes["src"] for tag, attributes in self.tags if tag == "img"]
        assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
        return [b64decode(source.partition(",")[2]).decode() for source in sources]


def test_it_is_a_sequence_of_the_rows_that_are_judged(refuted):
    rows = judge([about_drift()], Settings())
    assert [row.public() | {"seconds": 0} for row in refuted] == [
        row.public() | {"seconds": 0} for row in rows
    ]
    assert len(refuted) == 4
    assert refuted[0] is refuted.rows[0]
    assert refuted[1:3] == refuted.rows[1:3]
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.verdicts == {"mine/drift": Verdict.REFUTED}
    (form,) = refuted.forms
    assert (form.title, form.cases) == ("printed", "4")


def test_it_is_neither_true_nor_false(refuted):
    with pytest.raises(DriftproofError, match="four verdicts"):
        bool(refuted)
    with pytest.raises(DriftproofError, match="assert_claim"):
        assert refuted


def test_a_print_is_read_as_its_author_would_defend_it():
    smoke = verify("comfedl/theorem-1", profile="smoke")  # its first case alone is vacuous
    made = replace(smoke, rows=tuple(replace(row, vacuous=False) for row in smoke))
    by_form = {form.title: form.verdict for form in made.forms}
    assert by_form["printed: the product that is printed"] is Verdict.REFUTED
    assert made.verdict is Verdict.SUPPORTED
    assert "in the best of its admissible readings" in made._repr_html_()


def test_where_nothing_is_printed_every_form_counts():
    def corrected(right):
        return about_drift(right=None, corrected=right, correction="by hand")

    assert verify(corrected(TRUE["right"])).verdict is Verdict.SUPPORTED
    assert verify(corrected(about_drift().right)).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    "name", ["localsgd/bias", "comfedl/equation-11", "fednest/fedihgp-bias", "fednest/inner-drift"]
)
def test_every_way_of_judging_is_shown(name):
    made = verify(name, profile="smoke")
    html = Tags(made._repr_html_())
    assert all(form.title in html.said for form in made.forms)
    assert "math" in {tag for tag, _ in html.tags}
    for image in html.images():
        ET.fromstring(image)
    assert name in repr(made)
    assert ("writes the certificates" in repr(made)) == (name == "localsgd/bias")
    assert made.counterexample() is None


def test_of_several_claims_each_has_its_verdict():
    made = verify(about_drift(), about_drift(name="mine/square", **TRUE))
    assert made.verdicts == {"mine/drift": Verdict.REFUTED, "mine/square": Verdict.SUPPORTED}
    with pytest.raises(DriftproofError, match=r"made\.verdicts"):
        made.verdict  # noqa: B018
    assert made.counterexample("mine/square") is None
    assert made.counterexample() == made.counterexample("mine/drift")


def test_as_text_it_is_the_commands_table(refuted, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    lines = repr(refuted).splitlines()
    assert lines[0].split() == ["claim", "form", "verdict", "evidence", "cases", "tightness"]
    assert lines[2].split() == ["mine/drift", "printed", "REFUTED", "enclosed", "4", "5"]
    assert "left ≥ 0.25 exceeds right = 0.05" in lines[3]
    assert lines[4].strip().startswith("case: BoundedComposition(")
    assert "Chance that sampling made any verdict wrong: none was sampled." in lines


def test_many_forms_are_cut_as_text(refuted):
    (row,) = refuted[:1]
    names = [f"mine/claim-{k}" for k in range(70)]
    many = Verification(tuple(replace(row, claim=name) for name in names), (), Settings())
    assert "10 more forms: made.frame() has them all." in repr(many)
    assert "mine/claim-60" not in repr(many)
    html = Tags(many._repr_html_())
    assert html.images() == []
    assert all(name in html.said for name in names)


def test_as_html_it_has_formula_table_and_plots(refuted):
    html = Tags(refuted._repr_html_())
    names = [tag for tag, _ in html.tags]
    assert names.count("math") == 1
    badges = [a["class"] for tag, a in html.tags if tag == "span"]
    assert badges == ["driftproof-badge REFUTED"] * 2  # the claim's, and its one form's
    both, first, tightest = html.images()
    assert "left = right" in both
    assert "SUPPORTED: 2" in both
    assert "REFUTED: 2" in both
    assert "mine/drift, printed: REFUTED" in first
    assert "mine/drift, printed: SUPPORTED" in tightest
    for image in (both, first, tightest):
        ET.fromstring(image)


def test_a_mean_that_runs_over_steps_is_drawn_as_one_over_rounds():
    for name in ("scgdm/theorem-3.4", "comfedl/theorem-1"):
        logs = {figure.log for figure in verify(name, profile="smoke").figures}
        assert logs == {"xy"}


def test_styles_touch_nothing_outside(refuted):
    styles = Tags(refuted._repr_html_()).styles
    selectors = re.findall(r"([^{}]+)\{", styles)
    assert len(selectors) > 10
    assert all(selector.strip().startswith(".driftproof") for selector in selectors)


def test_hostile_texts_are_shown_as_they_are():
    claim = about_drift(
        source=HOSTILE,
        statement=HOSTILE.replace("$", "").replace("<", r"\lt "),
        readings={HOSTILE: literal(lambda c: c.tau * (c.eta * c.G_f * c.G_g) ** 2)},
    )
    made = verify(claim)
    made = replace(made, rows=tuple(replace(row, reason=HOSTILE) for row in made))
    page = Tags(made._repr_html_())
    assert HOSTILE in page.said  # as text
    measures = {HOSTILE: lambda view: sq(view.mean("w"))}
    recorded = run(BoundedComposition(), ComFedL(), rounds=2, record=measures)
    told = Tags(recorded._repr_html_())
    assert HOSTILE in told.said
    for html in (page, told):
        assert {tag for tag, _ in html.tags} & {"script", "iframe", "object", "link"} == set()
        assert all(not name.startswith("on") for _, a in html.tags for name in a)
        images = html.images()
        assert images
        for image in images:
            named = {part.tag.rpartition("}")[2] for part in ET.fromstring(image).iter()}
            assert not named & {"script", "foreignObject", "image"}


def test_a_profile_that_there_is_not_is_refused():
    with pytest.raises(DriftproofError, match="quick"):
        verify(about_drift(), profile="fast")


def test_a_counterexample_refutes_and_is_simple(refuted):
    case = refuted.counterexample()
    assert str(case) == "BoundedComposition(clients=1), ComFedL(local_steps=2), rounds=1"
    assert verify(about_drift(cases=[case])).verdict is Verdict.REFUTED
    assert verify(about_drift(**TRUE)).counterexample() is None
    assert verify(about_drift(**TRUE)).counterexample("mine/other") is None


def test_no_file_is_written_but_the_page_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = verify(about_drift())
    made._repr_html_()
    made.figures[0].svg()
    assert list(tmp_path.iterdir()) == []
    page = made.page("out")
    assert page == Path("out/index.html")
    text = page.read_text(encoding="utf-8")
    assert "mine/drift" in text
    names = {path.name for path in Path("out").iterdir()}
    assert {"results.json", "results.csv", "plots"} <= names


def test_a_claim_of_driftproofs_is_known_as_an_object_too(tmp_path):
    leaf = leaves("claim")["comfedl/lemma-2"]
    made = verify(leaf.load(), profile="smoke")
    text = made.page(tmp_path / "out").read_text(encoding="utf-8")
    assert "driftproof verify comfedl/lemma-2 --profile smoke" in text
    assert {row.expected for row in made} == {"SUPPORTED"}


def test_both_sides_need_a_few_cases_that_have_them(refuted):
    rows = list(refuted)
    assert sides(rows) is not None
    assert sides(rows[:2]) is None
    assert sides([replace(row, rhs=0.0) for row in rows]) is None
    assert sides([replace(row, kind="rate") for row in rows]) is None


def test_a_run_shows_its_means_and_bands():
    made = run(
        BoundedComposition(clients=8, outer_gradient_noise=0.5),
        ComFedL(local_steps=3, step_size=0.1),
        rounds=4,
        record={"distance": lambda view: sq(view.mean("w"))},
    )
    html = Tags(made._repr_html_())
    low, high = made["distance"].band()
    assert f"{low[-1]:.4g} … {high[-1]:.4g}" in html.said
    (curve,) = html.images()
    assert "round" in curve
    many = {f"measure {k}": lambda view: sq(view.mean("w")) for k in range(7)}
    exactly = Tags(run(BoundedComposition(), ComFedL(), rounds=1, record=many)._repr_html_())
    assert "exact" in exactly.said
    assert "The first 6 of 7 measures are drawn." in exactly.said
    assert len(exactly.images()) == 6


def test_the_page_runs_from_top_to_bottom(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("pandas", reason="pandas is an extra: driftproof[frames]")
    names = ran("python.md", capsys)
    for name in re.findall(r"^\| `(\w+)[(`]", PAGE, re.M):
        assert hasattr(names["made"], name), name
    table = PAGE.partition("| columns |")[2].partition("```")[0]
    patterns = [name.replace(".NAME", ".*") for name in re.findall(r"`([\w.]+)`", table)]
    assert len(patterns) > 10
    for pattern in patterns:
        assert fnmatch.filter(names["columns"], pattern), pattern


def test_constants_are_attacked_once_for_all_algorithms_on_a_problem(monkeypatch):
    tried = []
    monkeypatch.setattr(attacked, "_attacked", {})
    monkeypatch.setattr(attacked, "exceeded", lambda *of: tried.append(of) or attacked.Found({}))
    for step in (0.1, 0.2):
        attacked.look(Case(UsersQuadratic(), FedAvg(step_size=step), 1), effort=1e-3)
    assert len(tried) == 1


LONG = """
import driftproof as dp

@dp.bound(name="mine/long", source="tests", statement="x", right=lambda c: 0 * c.eta - 1,
          cases=dp.grid(
              dp.problems.PiecewiseLosses(noise=1.0), dp.algorithms.FedAvg(), rounds=ROUNDS))
def never(view):
    return dp.average("round", dp.sq(view.mean("w")))
"""


@pytest.mark.parametrize(("rounds", "said"), [(100, []), (200, ["of 200 steps", "fewer rounds"])])
def test_long_work_of_ones_own_is_told_with_its_remedy(rounds, said, tmp_path):
    path, told = tmp_path / "mine.py", []
    path.write_text(LONG.replace("ROUNDS", str(rounds)))
    judge(claims_in(path), Settings(), progress=told.append)
    assert len(told) == bool(said)
    assert all(word in told[0] for word in said)


def test_a_measure_of_no_moment_is_refused_before_constants_are_attacked(monkeypatch):
    monkeypatch.setattr(attacked, "exceeded", lambda *_: pytest.fail("attacked first"))
    monkeypatch.setattr(attacked, "_attacked", {})

    def left(view):
        return each("round", sq(view.mean("w"))) if view.last else None

    of = smooth_claim(UsersQuadratic())
    wrong = {
        "gave no value at any moment": {"left": left},
        "unknown letter 'K'": {"right": lambda c: c.K},
    }
    for said, mistake in wrong.items():
        with pytest.raises(DriftproofError, match=said):
            verify(of, replace(of, name="tests/wrong", **mistake))
