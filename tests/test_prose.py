"""Formulas inside prose: found, converted, and no letter of the text is lost on the way."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.report.prose import latex_of, pieces
from driftproof.toolkit.report.typeset import typeset

FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
SIGNS = re.compile(r"[\u0370-\u03ff‖√∇²³⁻ᵀ₁₂ᵢ≤≥∞∈]|\w[_^][{\w(]")
"""What stands in a formula alone."""


@cache
def texts():
    """Return what claims say in words: explanations, derivations, quotes, errata."""
    found = []
    for name, leaf in leaves("claim").items():
        claim = leaf.load()
        notes = [text for form in claim.forms for text in (form.note, form.quote) if text]
        changes = [claim.erratum.changes] if claim.erratum else []
        found += [(name, text) for text in (claim.explain, *notes, *changes) if text]
    return found


def letters(text):
    """Return the letters and digits of a text, whatever marks and raises them."""
    plain = unicodedata.normalize("NFKD", text).replace("Σ", "")  # the sign of a sum: ∑
    return [c for c in plain if c.isalnum() and not unicodedata.combining(c)]


def shown(markup):
    return unescape(re.sub(r"<[^>]*>", "", str(markup)))


def test_what_claims_say_loses_no_letter_when_it_is_typeset():
    assert len(texts()) > 200
    for name, text in texts():
        before, after = letters(text), letters(shown(typeset(text)))
        assert sorted(after) == sorted(before), (name, text)


def test_no_formula_of_what_claims_say_is_left_in_the_prose():
    left = {}
    for name, text in texts():
        words = shown(FORMULA.sub(" ", str(typeset(text))))
        for word in words.split():
            if SIGNS.search(word):
                left.setdefault(word, name)
    # the name of a program, a word that is squared, and a quotation that is LaTeX
    assert set(left) <= {"FedNest_SGD", "bias²,", r"\sum_{i=1}^m"}, left


def test_words_are_not_taken_for_formulas():
    for text in (
        "A step of FedNest_SGD, as in (20), at Theorem 3.4 of arXiv v1 (2021); see lemma-2.",
        "It is 5 % off, and/or 12 times as much, e.g. https://a.org/x_y or i.e. that's it",
        "a statement a paper made",
    ):
        assert [piece.formula for piece in pieces(text)] == [False], pieces(text)


@pytest.mark.parametrize(
    ("notation", "latex"),
    [
        ("T^(-1/3)", "T^{-1/3}"),
        ("x_t^(k)", "x_{t}^{(k)}"),
        ("√5G_gσ/√b_1", r"\sqrt{5}G_{g}\sigma/\sqrt{b_{1}}"),
        ("ℓ_f,0/μ_g", r"\ell_{f,0}/\mu_{g}"),
        ("(1 − βμ_g)^(2τ)", r"(1-\beta\mu_{g})^{2\tau}"),
        ("E‖p_{N'} − E p_{N'}‖²", r"E\|p_{N'}-Ep_{N'}\|^{2}"),
        ("∇²_xy g + (dy*/dx)ᵀ", r"\nabla^{2}_{xy}g+(dy^{*}/dx)^{T}"),
        ("j = t mod p", r"j=t\bmod p"),
        ("∇g_B̃", r"\nabla g_{\tilde{B}}"),
        ("{0, …, N − 1}", r"\{0,\ldots{},N-1\}"),
        ("γη·noise", r"\gamma\eta\cdot\text{noise}"),
        ("‖v‖_H² = ½vᵀHv", r"\|v\|_{H}^{2}=\tfrac{1}{2}v^{T}Hv"),
        ("b1 = T^{2/3}", "b_{1}=T^{2/3}"),
    ],
)
def test_the_notation_becomes_latex(notation, latex):
    assert latex_of(notation) == latex


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_keeps_its_letters_and_closes_its_elements(text):
    markup = str(typeset(text))
    open_elements = []
    markup = markup.replace("<wbr>", "")
    for closing, name, single in re.findall(r"<(/?)(\w+)[^>]*?(/?)>", markup):
        if closing:
            assert open_elements.pop() == name
        elif not single:
            open_elements.append(name)
    assert open_elements == []
    assert set(re.findall(r"<(\w+)", markup)) <= {
        "math", "mrow", "mi", "mo", "mn", "mtext", "msub", "msup", "msubsup", "mover", "mfrac",
        "msqrt", "mstyle", "mspace", "munder", "munderover", "code", "strong",
    }  # fmt: skip


SIGNS_AND_WORDS = ["x̄_t", "η²", "the", "a", "mod", "log", *"()[}{√^_‖*'−,Σ½\\<&$%"]


@given(st.lists(st.sampled_from(SIGNS_AND_WORDS)))
def test_any_row_of_signs_becomes_latex_with_every_brace_closed(signs):
    for text in (" ".join(signs), "".join(signs)):
        for piece in pieces(text):
            if piece.formula:
                plain = re.sub(r"\\[\\{}%$&#_]", "", piece.text)
                assert plain.count("{") == plain.count("}")
                assert plain.isascii()
