"""Prose as HTML: raised and lowered letters, and no letter of the text is lost on the way."""

import re
import unicodedata
from functools import cache
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.report.typeset import typeset


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
    """Return the letters and digits of a text."""
    plain = unicodedata.normalize("NFKD", text)
    return [c for c in plain if c.isalnum() and not unicodedata.combining(c)]


def shown(markup):
    return unescape(re.sub(r"<[^>]*>", "", str(markup)))


def test_what_claims_say_loses_no_letter_when_it_is_typeset():
    assert len(texts()) > 200
    for name, text in texts():
        assert letters(shown(typeset(text))) == letters(text), (name, text)


def test_no_sign_of_a_shift_is_left_in_what_claims_say():
    left = {}
    for name, text in texts():
        code = re.sub("<code>.*?</code>", "", str(typeset(text)))
        for word in shown(code).split():
            if re.search(r"[_^]", word):
                left.setdefault(word, name)
    # the name of a program, and a quotation that is LaTeX
    assert set(left) <= {"FedNest_SGD", r"\sum_{i=1}m"}, left


@pytest.mark.parametrize(
    ("notation", "shifted"),
    [
        ("ℓ_f,0/μ_g", "ℓ<sub>f,0</sub>/μ<sub>g</sub>"),
        ("∇²_xy g, ∇g_B̃", "∇²<sub>xy</sub> g, ∇g<sub>B̃</sub>"),
        ("(1 − βμ_g)^(2τ)", "(1 − βμ<sub>g</sub>)<sup>2τ</sup>"),
        ("‖v‖_H² = x_new^*", "‖v‖<sub>H</sub>² = x<sub>new</sub><sup>*</sup>"),
        ("b1 = T^{2/3}, e_i", "b1 = T<sup>2/3</sup>, e<sub>i</sub>"),
    ],
)
def test_what_is_raised_and_lowered(notation, shifted):
    assert str(typeset(notation)) == shifted


def test_words_are_left_alone():
    for text in (
        "A step of FedNest_SGD, as in (20), at Theorem 3.4 of arXiv v1 (2021); see lemma-2.",
        "It is 5 % off, and/or 12 times as much, or a**2 * b**2, i.e. __init__",
    ):
        assert str(typeset(text)) == text


@given(st.text(st.sampled_from("x̄tη²_^{}()*'−,½\\<&$% \nab`")))
def test_any_text_keeps_its_letters_and_closes_its_elements(text):
    markup, open_elements = str(typeset(text)), []
    for closing, name in re.findall(r"<(/?)(\w+)[^>]*>", markup):
        if closing:
            assert open_elements.pop() == name
        else:
            open_elements.append(name)
    assert open_elements == []
    assert set(re.findall(r"<(\w+)", markup)) <= {"sub", "sup", "code", "strong"}
    assert letters(shown(markup)) == letters(text)
