r"""The verdicts for a paper or a review: a table that runs over pages, and macros to cite them by.

Both are ``\input`` by a document; what that needs stands on top of each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from driftproof.toolkit.report.latex_text import latex_text

HEAD = r"""% \usepackage{array,booktabs,longtable} in the preamble, then \input this file
\begingroup\footnotesize\setlength{\tabcolsep}{3pt}
\begin{longtable}{>{\raggedright\arraybackslash}p{0.21\linewidth}>{\raggedright\arraybackslash}p{0.25\linewidth}l>{\raggedright\arraybackslash}p{0.11\linewidth}r}
\toprule
Statement & Form & Verdict & Evidence & Tightness \\
\midrule
\endhead
\bottomrule
\endfoot"""
FOOT = r"\end{longtable}\endgroup"
COMMANDS = r"""% \input this file in the preamble. Then, for instance,
%   \driftproofverdict{comfedl/lemma-2}             what became of the form "printed"
%   \driftproofverdict[corrected]{comfedl/lemma-2}  and of another
%   \driftproofevidence, \driftproofcases, \driftprooftightness  in the same way
\makeatletter
\def\driftproof@told#1#2#3{%
  \@ifundefined{driftproof:#1:#3:#2}%
    {\PackageError{driftproof}{No form #2 of #3}{The names are in the file of these macros.}}%
    {\@nameuse{driftproof:#1:#3:#2}}}
\newcommand*\driftproofverdict[2][printed]{\driftproof@told{verdict}{#1}{#2}}
\newcommand*\driftproofevidence[2][printed]{\driftproof@told{evidence}{#1}{#2}}
\newcommand*\driftproofcases[2][printed]{\driftproof@told{cases}{#1}{#2}}
\newcommand*\driftprooftightness[2][printed]{\driftproof@told{tightness}{#1}{#2}}
\def\driftproof@form#1#2#3#4#5#6{%
  \@namedef{driftproof:verdict:#1:#2}{#3}\@namedef{driftproof:evidence:#1:#2}{#4}%
  \@namedef{driftproof:cases:#1:#2}{#5}\@namedef{driftproof:tightness:#1:#2}{#6}}"""
END = r"\makeatother"


class Told(NamedTuple):
    """A form's line: what a table or a macro says of it."""

    claim: str
    form: str
    reading: str
    title: str
    verdict: str
    evidence: str
    cases: str
    tightness: str


def latex_table(forms: Iterable[Told]) -> str:
    """Return a longtable with a line for each form of each claim, paper by paper."""
    lines, paper = [], ""
    for told in forms:
        if paper and told.claim.partition("/")[0] != paper:
            lines.append(r"\midrule")
        paper = told.claim.partition("/")[0]
        lines.append(" & ".join([_breakable(told.claim), *_cells(told)]) + r" \\")
    return "\n".join([HEAD, *lines, FOOT])


def latex_macros(forms: Iterable[Told]) -> str:
    """Return commands that print what became of a form: ``printed``, ``printed-2``, ``corrected``.

    A form in a reading has the number of the reading; a comment says which it is. Of two claims
    whose names differ in letters that no macro has, the second has further numbers.
    """
    lines, met = [], Counter[tuple[str, str]]()
    for told in forms:
        claim = key(told.claim)
        met[claim, told.form] += 1
        number = met[claim, told.form]
        form = told.form if number == 1 else f"{told.form}-{number}"
        if told.reading:
            lines.append(f"% {form}: {latex_text(told.reading)}")
        _, verdict, evidence, tightness = _cells(told)
        cells = (claim, form, verdict, evidence, latex_text(told.cases), tightness)
        lines.append(r"\driftproof@form" + "".join(f"{{{cell}}}" for cell in cells))
    return "\n".join([COMMANDS, *lines, END])


def key(name: str) -> str:
    """Return a claim's name as macros have it: other than plain letters become a dash.

    >>> key("mine/η_1")
    'mine/--1'
    """
    return re.sub(r"[^A-Za-z0-9/.-]", "-", name)


def _cells(told: Told) -> list[str]:
    cells = (told.title, told.verdict, told.evidence, told.tightness)
    return [latex_text(cell) for cell in cells]


def _breakable(name: str) -> str:
    return latex_text(name).replace("/", r"/\allowbreak{}")
