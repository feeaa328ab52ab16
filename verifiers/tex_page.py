r"""A note in Markdown as a LaTeX article of its own: what the errata's notes use of Markdown.

Headings, paragraphs with formulas between dollars, formulas by themselves, quotations, lists,
tables, code, bold, italics and links. It needs amsmath, amssymb, array, tabularx, geometry and
hyperref alone, so that any TeX compiles it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftproof.toolkit.report.latex_text import latex_text

HEAD = r"""\documentclass[10pt,a4paper]{article}
\usepackage{amsmath,amssymb,array,tabularx}
\usepackage[margin=1.8cm,top=1cm,bottom=1cm]{geometry}
\usepackage[hidelinks]{hyperref}
\pagestyle{empty}
\setlength{\parindent}{0pt}\setlength{\parskip}{1pt plus 2pt}
\newcolumntype{L}{>{\raggedright\arraybackslash}X}
\newcommand{\heading}[1]{\par\vspace{1pt}{\bfseries #1}\par}
\emergencystretch=3em
\begin{document}
\small
\setlength{\abovedisplayskip}{3pt}\setlength{\belowdisplayskip}{3pt}
"""
INLINE = re.compile(r"\$([^$]+)\$|`([^`]+)`|\*\*(.+?)\*\*|\*([^*\s][^*]*)\*|\[([^]]+)\]\(([^)]+)\)")
SHORT = 26
"""The letters of a cell up to which a table's column is as narrow as it can be."""


def tex(note: str) -> str:
    """Return a note as LaTeX."""
    note = re.sub(r"<!--.*?-->\n?", "", note)
    note = re.sub(r"\n(> ?)?\n(?=(> )?```math)", "\n", note)  # a formula ends no paragraph
    return HEAD + "\n".join(_blocks(note.splitlines())) + "\n\\end{document}\n"


def _blocks(lines: list[str]) -> Iterator[str]:
    """Yield the LaTeX of each block of a note."""
    at = 0
    while at < len(lines):
        line, start = lines[at], at
        if line.startswith("```"):
            at = next(k for k in range(at + 1, len(lines)) if lines[k].startswith("```"))
            inside = "\n".join(lines[start + 1 : at])
            verbatim = (
                rf"{{\scriptsize\begin{{verbatim}}{chr(10)}{inside}{chr(10)}\end{{verbatim}}}}"
            )
            yield rf"\[{inside}\]" if line == "```math" else verbatim
        elif line[:1] in (">", "|"):
            while at + 1 < len(lines) and lines[at + 1].startswith(line[0]):
                at += 1
            block = lines[start : at + 1]
            if line[0] == "|":
                yield _table(block)
            else:
                quoted = "\n".join(_blocks([text[1:].removeprefix(" ") for text in block]))
                yield rf"{{\leftskip=1em\rightskip=1em {quoted}\par}}"
        elif match := re.match(r"(#+) (.*)", line):
            kind = r"{\Large\bfseries %s}\par" if match[1] == "#" else r"\heading{%s}"
            yield kind % _inline(match[2])
        elif line.startswith("- "):
            yield rf"\par\textbullet\ {_inline(line[2:])}"
        else:
            yield _inline(line)
        at += 1


def _table(lines: list[str]) -> str:
    rows = [
        [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines
    ]
    del rows[1]  # what Markdown draws below the heads
    wide = [max(map(len, column)) > SHORT for column in zip(*rows, strict=True)]
    columns = "".join("L" if is_wide else "l" for is_wide in wide)
    head, *body = (" & ".join(map(_inline, row)) + r" \\" for row in rows)
    made = "\n".join(["\\hline", head, "\\hline", *body, "\\hline"])
    kind, width = ("tabularx", r"{\linewidth}") if "L" in columns else ("tabular", "")
    return f"\\par\\begin{{{kind}}}{width}{{{columns}}}\n{made}\n\\end{{{kind}}}\\par"


def _inline(text: str) -> str:
    r"""Return a line of text in LaTeX.

    >>> print(_inline(r"**Why** $x_1$ is η, `a_b`, [here](https://a.b/c_d), \*"))
    \textbf{Why} $x_1$ is $\eta$, \texttt{a\_b}, \href{https://a.b/c_d}{here}, *
    """
    text = re.sub(r"\\([*<])", lambda escaped: KEPT[escaped[1]], text)
    made, place = "", 0
    for mark in INLINE.finditer(text):
        made += latex_text(text[place : mark.start()])
        formula, code, strong, emphasis, said, target = mark.groups()
        if formula:
            made += f"${formula}$"
        elif code:
            made += rf"\texttt{{{latex_text(code)}}}"
        elif said:
            web = target.startswith("http")  # another note is another file
            made += rf"\href{{{target}}}{{{_inline(said)}}}" if web else _inline(said)
        else:
            made += rf"\{'textbf' if strong else 'emph'}{{{_inline(strong or emphasis)}}}"
        place = mark.end()
    made += latex_text(text[place:])
    for letter, kept in KEPT.items():
        made = made.replace(latex_text(kept), latex_text(letter))
    return made


KEPT = {"*": "\ue000", "<": "\ue001"}
"""What stands meanwhile for a letter that Markdown would take for markup."""
