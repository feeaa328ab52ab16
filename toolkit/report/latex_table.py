r"""The verdicts for a paper or a review: a table that runs over pages, and macros to cite them by.

Both are ``\input`` by a document; what that needs stands on top of each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toolkit.report.latex_text import latex_text

if TYPE_CHECKING:
    from toolkit.report.page import Group

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


def latex_table(claims: Mapping[str, Sequence[Group]]) -> str:
    """Return a longtable with a line for each form of each claim, paper by paper."""
    lines, paper = [], ""
    for name, groups in claims.items():
        if paper and name.partition("/")[0] != paper:
            lines.append(r"\midrule")
        paper = name.partition("/")[0]
        lines += [" & ".join([_breakable(name), *_cells(group)]) + r" \\" for group in groups]
    return "\n".join([HEAD, *lines, FOOT])


def latex_macros(claims: Mapping[str, Sequence[Group]]) -> str:
    """Return commands that print what became of a form: ``printed``, ``printed-2``, ``corrected``.

    A form in a reading has the number of the reading; a comment says which it is.
    """
    lines, taken = [], set()
    for name, groups in claims.items():
        for group in groups:
            forms = [other for other in groups if other.form == group.form]
            number = f"-{forms.index(group) + 1}" if group is not forms[0] else ""
            claim, form = key(name), f"{group.form}{number}"
            if (claim, form) in taken:
                continue  # of two names that differ in letters no macro has, the first
            taken.add((claim, form))
            if group.reading:
                lines.append(f"% {form}: {latex_text(group.reading)}")
            _, verdict, evidence, tightness = _cells(group)
            cells = (claim, form, verdict, evidence, latex_text(group.cases), tightness)
            lines.append(r"\driftproof@form" + "".join(f"{{{cell}}}" for cell in cells))
    return "\n".join([COMMANDS, *lines, END])


def key(name: str) -> str:
    """Return a claim's name as macros have it: other than plain letters become a dash.

    >>> key("mine/η_1")
    'mine/--1'
    """
    return re.sub(r"[^A-Za-z0-9/.-]", "-", name)


def _cells(group: Group) -> list[str]:
    told = (group.title, str(group.verdict), group.evidence or "–", group.tightness)
    return [latex_text(cell) for cell in told]


def _breakable(name: str) -> str:
    return latex_text(name).replace("/", r"/\allowbreak{}")
