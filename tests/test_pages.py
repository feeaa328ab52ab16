"""The papers' pages say of a claim what the claim says, and both GitHub and our page can set it."""

import re
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftproof.toolkit.report as report
from docs.generate import pages
from docs.generate.pages import block, named, written
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.lines import COLUMN, fitting, width
from driftproof.toolkit.report.mathml import mathml
from driftproof.verifiers.in_print.comparison import _same
from driftproof.verifiers.in_print.formulas import as_written, right_sides_of, unevaluated

DOCS = Path(__file__).parents[1] / "docs"
PAPERS = sorted({name.partition("/")[0] for name in leaves("claim")})


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_is_up_to_date_and_has_every_claim_once(paper):
    page = (DOCS / f"{paper}.md").read_text(encoding="utf-8")
    assert written(page) == page, "python -m docs.generate"
    own = sorted(name for name in leaves("claim") if name.startswith(f"{paper}/"))
    assert sorted(named(page, "claim")) == own
    assert block("errata", paper) in page
    for formula in re.findall(r"```math\n(.*?)```", page, re.S):
        assert "$" not in formula
        assert r"\operatorname" not in formula  # GitHub refuses it
        assert "<math" in mathml(formula.strip())


def test_each_letter_of_a_formula_is_in_the_font_and_no_command_is_shown():
    known = {" ", "\n"}
    for line in (Path(report.__file__).parent / "assets/formulas.txt").read_text().split():
        first, _, last = line.removeprefix("U+").partition("-")
        known |= {chr(k) for k in range(int(first, 16), int(last or first, 16) + 1)}
    for page in DOCS.rglob("*.md"):
        for formula in re.findall(r"```math\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            made = mathml(formula.strip(), block=True)
            assert {*unescape(re.sub("<[^>]*>", "", made))} <= known, (page, formula)
            assert not re.search(r"<m[io][^>]*>\\", made), (page, formula)
    assert "\\" not in mathml(r"\max\Big\{\arg\|x\|\Big\}")


def test_a_block_has_statement_forms_verdicts_and_erratum():
    said = block("claim", "comfedl/theorem-1")
    assert r"\frac1S\sum_{s=0}^{S-1}" in said
    assert "printed: the product that is printed, literal: REFUTED" in said
    assert "printed: a plus sign is missing, intended: SUPPORTED" in said
    assert said.count("```math") == 5  # the statement's two lines, and three right sides
    assert "**Erratum, misprint.** Use the sum" in said
    assert "10 % smaller" not in block("claim", "comfedl/lemma-2")  # a false sibling


def test_a_right_side_on_a_page_is_the_one_that_is_judged():
    count = 0
    for leaf in leaves("claim").values():
        claim = leaf.load()
        written = unevaluated(claim)
        for form, right in right_sides_of(claim):
            count += 1
            assert _same(written[form.key].doit(), right), (claim.name, form.key)
    assert count > 100


def test_terms_stand_in_their_order_and_are_not_expanded():
    drift = as_written(leaves("claim")["scgdm/theorem-3.4"].load())["corrected"]
    assert drift.startswith(r"\frac{2 \left(F_0-F^*\right)}{\beta \eta T} + ")
    assert r"\left(p - 1\right) \left(2 p - 1\right)" in drift
    assert drift.index(r"\gamma \eta T") < drift.index(r"\left(2 p - 1\right)")


@given(
    st.lists(
        st.sampled_from([r"\frac{a+b}{c}", "x_1", r"\|u\|^2", r"(a + b)"]), min_size=1, max_size=40
    )
)
def test_a_formula_of_any_length_fits_and_is_the_same(terms):
    formula = " + ".join(terms)
    made = fitting(formula)
    lines = re.sub(r"\\(begin|end)\{split\}", "", made).split("\\\\\n")
    assert all(width(line) <= COLUMN for line in lines)
    assert re.sub(r"\s|&|\\quad", "", "".join(lines)) == formula.replace(" ", "")


def test_what_was_changed_by_hand_is_made_anew():
    made = written("a\n<!-- claim: comfedl/lemma-2 -->\nby hand\n<!-- end -->\nb")
    assert "by hand" not in made
    assert block("claim", "comfedl/lemma-2") in made
    assert written(made) == made


def test_a_claim_that_is_not_on_record_is_named(monkeypatch):
    monkeypatch.setattr(pages, "on_record", dict)
    with pytest.raises(DriftproofError, match="driftproof verify comfedl/lemma-2 --record"):
        block("claim", "comfedl/lemma-2")


def test_a_claim_without_a_mark_gets_one_at_the_end():
    page = (DOCS / "comfedl.md").read_text(encoding="utf-8")
    without = re.sub("<!-- claim: comfedl/lemma-2 -->.*?<!-- end -->", "", page, flags=re.S)
    made = written(without)
    assert made.endswith(f"{block('claim', 'comfedl/lemma-2')}\n<!-- end -->\n")
    assert sorted(named(made, "claim")) == sorted(named(page, "claim"))


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("<!-- claim: comfedl/lemma-22 -->\n<!-- end -->", "comfedl/lemma-2"),
        ("<!-- errata: comfedll -->\n<!-- end -->", "comfedl"),
        ("<!-- claim: comfedl/lemma-2 -->\n", "pair"),
        ("<!-- claim: comfedl/lemma-2 -->\n<!-- claim: comfedl/lemma-3 -->\n<!-- end -->", "pair"),
    ],
)
def test_a_wrong_mark_is_named(page, says):
    with pytest.raises(DriftproofError, match=says):
        written(page)
