r"""Texts of claims as HTML: escaped, with raised and lowered letters, and code as code.

Statements are LaTeX and become MathML. Prose has its formulas in Unicode, as a terminal shows them:
"‖x̄_t − x*‖² ≤ (1 − ημ)^t". Nobody guesses what is a formula: what follows ``_`` or ``^`` is set
lower or higher, and all else stays.
"""

import re
import unicodedata
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from driftproof.toolkit.constants import LATEX
from driftproof.toolkit.report.lines import fitting
from driftproof.toolkit.report.mathml import mathml

GREEK = re.compile(r"^(alpha|beta|gamma|delta|Delta|eta|lambda|mu|sigma|tau|zeta|ell)(?=_|$)")
MARKS = re.compile(r"``([^`]+)``|(?<!\S)\*\*(?=\S)([^*]+)(?<=\S)\*\*(?!\w)")
"""Code, and what is strong."""
SHIFTED = re.compile(
    r"(?<=[^\s_^])(?P<sign>(?<![A-Za-z]{3})_|\^)"  # not in FedNest_SGD
    r"(?:\{(?P<braced>(?:[^{}]|\{[^{}]*\})*)\}|\((?P<bracketed>[^()]*)\)"
    r"|(?P<plain>[-−+]?(?:[a-z]{3,}|[xy]{2}|[^\W\d_](?:,\d+)?|\d+(?:\.\d+)?|[*½])[\u0300-\u036f']*))"
)
"""What is raised or lowered: a group in brackets, a number, a letter, or a word of three."""


def inline(latex: str) -> Any:
    """Return LaTeX as a formula in a line."""
    return safe(mathml(latex))


def displayed(latex: str) -> Any:
    """Return LaTeX as a formula on lines of its own, on several if it is wide."""
    return safe(mathml(fitting(latex), block=True))


def typeset(text: str) -> Any:
    """Return prose as HTML: its formulas typeset, its ``**words**`` strong and its code as code.

    >>> typeset("**Noise.** ``x < 2`` and a**2 * b**2")
    Markup('<strong>Noise.</strong> <code>x &lt; 2</code> and a**2 * b**2')
    """
    made, place = "", 0
    for mark in MARKS.finditer(text):
        made += formulas(text[place : mark.start()])
        code, strong = mark.groups()
        made += f"<code>{_escaped(code)}</code>" if code else f"<strong>{typeset(strong)}</strong>"
        place = mark.end()
    return safe(made + formulas(text[place:]))


def described(docstring: str) -> Any:
    r"""Return a docstring as paragraphs, lists and displayed formulas.

    >>> print(described("Two cases.\n\n* one\n* two\n  more"))
    <p>Two cases.</p>
    <ul><li>one</li><li>two more</li></ul>
    """
    made = []
    for block in re.split(r"\n\s*\n", docstring.strip("\n")):
        if block.startswith("    "):
            lines = (typeset(line) for line in dedent(block).splitlines())
            made += [f'<div class="math">{line}</div>' for line in lines]
            continue
        before, *items = re.split(r"^ *[*-] ", block, flags=re.MULTILINE)
        if before.strip():
            made.append(f"<p>{typeset(' '.join(before.split()))}</p>")
        if items:
            listed = (f"<li>{typeset(' '.join(item.split()))}</li>" for item in items)
            made.append(f"<ul>{''.join(listed)}</ul>")
    return safe("\n".join(made))


def letter(name: str) -> Any:
    """Return a letter of an instance, by its name in Python, as a formula."""
    return inline(LATEX.get(name, GREEK.sub(r"\\\1", name)))


def letters(instance: Mapping[str, float]) -> str:
    """Return an instance in plain letters, for a line of a table.

    >>> letters({"mu": 0.1, "L": 1.0, "sigma_g": 2})
    'μ = 0.1, L = 1, σ_g = 2'
    """
    return ", ".join(f"{_plain(name)} = {value:.6g}" for name, value in instance.items())


def spelled(text: str) -> str:
    """Return words that a check's own letters are written in with the letters: λ for lambda.

    >>> spelled("at ell_1 = 3/2, lambda = 9/5, for all beta; a cell, alphabet")
    'at ℓ_1 = 3/2, λ = 9/5, for all β; a cell, alphabet'
    """
    return re.sub(r"(?<!\w)[A-Za-z]+(?=_|\b)", lambda word: _plain(word[0]), text)


def _plain(name: str) -> str:
    def letter_of(found: re.Match[str]) -> str:
        size = "CAPITAL" if found[0][0].isupper() else "SMALL"
        spelling = "LAMDA" if found[0] == "lambda" else found[0].upper()
        return unicodedata.lookup(f"GREEK {size} LETTER {spelling}")

    return GREEK.sub(letter_of, re.sub(r"(?<![a-z])ell(?![a-z])", "ℓ", name))


def formulas(text: str) -> str:
    """Return a text escaped, its raised and lowered letters as such.

    >>> formulas("x_t^(k) ≤ T^(-1/2) < p_{N'}")
    'x<sub>t</sub><sup>(k)</sup> ≤ T<sup>-1/2</sup> &lt; p<sub>N&#39;</sub>'
    """
    made, place = "", 0
    for found in SHIFTED.finditer(text):
        inner = found["braced"] or found["plain"] or found["bracketed"] or ""
        # x^(k) is the k-th x, T^(-1/2) a power
        if found["bracketed"] and (found["sign"] == "_" or re.fullmatch("[A-Za-z]'*", inner)):
            inner = f"({inner})"
        tag = "sub" if found["sign"] == "_" else "sup"
        made += f"{_escaped(text[place : found.start()])}<{tag}>{formulas(inner)}</{tag}>"
        place = found.end()
    return made + _escaped(text[place:])


def _escaped(text: str) -> str:
    from markupsafe import escape

    return str(escape(text))


def safe(text: str) -> Any:
    """Return HTML as what Jinja does not escape."""
    from markupsafe import Markup

    return Markup(text)
