r"""A note in Markdown as a LaTeX article of its own: what the errata's notes use of Markdown.

It needs amsmath, amssymb, array, tabularx, geometry and hyperref alone: any TeX compiles it.
"""

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.dollarmath import dollarmath_plugin

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
SHORT = 26
"""The letters of a cell up to which a table's column is as narrow as it can be."""
FRAMES = {
    "h1": "{\\Large\\bfseries %s}\\par\n",
    "h2": "\\heading{%s}\n",
    "li": r"\par\textbullet\ %s",
    "strong": r"\textbf{%s}",
    "em": r"\emph{%s}",
}
"""What stands around an element, by its tag in HTML."""


def tex(note: str) -> str:
    r"""Return a note as LaTeX.

    >>> print(tex(r"**Why** $x_1$ is η, `a_b`, [here](https://a.b/c_d), \*")[len(HEAD):])
    \textbf{Why} $x_1$ is $\eta$, \texttt{a\_b}, \href{https://a.b/c_d}{here}, *
    <BLANKLINE>
    \end{document}
    <BLANKLINE>
    """
    parser = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
    return f"{HEAD}{_latex(SyntaxTreeNode(parser.parse(note)))}\\end{{document}}\n"


def _latex(node: SyntaxTreeNode) -> str:
    inside = "" if node.type == "table" else "".join(map(_latex, node.children))
    following = None if node.is_root else node.next_sibling
    # a formula ends no paragraph
    end = "\n" if following and following.type == "fence" and following.info == "math" else "\n\n"
    match node.type:
        case "root":
            return inside
        case "text":
            return latex_text(node.content)
        case "softbreak":
            return "\n"
        case "code_inline":
            return rf"\texttt{{{latex_text(node.content)}}}"
        case "math_inline":
            return f"${node.content}$"
        case "link" if str(node.attrs["href"]).startswith("http"):  # another note is another file
            return rf"\href{{{node.attrs['href']}}}{{{inside}}}"
        case "paragraph":
            return inside + end
        case "blockquote":
            return f"{{\\leftskip=1em\\rightskip=1em {inside.strip()}\\par}}{end}"
        case "fence" if node.info == "math":
            return rf"\[{node.content.strip()}\]{end}"
        case "fence":
            return f"{{\\scriptsize\\begin{{verbatim}}\n{node.content}\\end{{verbatim}}}}\n"
        case "table":
            return _table([row.children for part in node.children for row in part.children])
    return FRAMES.get(node.tag, "%s").replace("%s", inside)


def _table(rows: list[list[SyntaxTreeNode]]) -> str:
    long = [
        max(len(cell.children[0].content) for cell in column) > SHORT
        for column in zip(*rows, strict=True)
    ]
    head, *body = (" & ".join(map(_latex, row)) + r" \\" for row in rows)
    made = "\n".join(["\\hline", head, "\\hline", *body, "\\hline"])
    columns = "".join("L" if is_long else "l" for is_long in long)
    kind, width = ("tabularx", r"{\linewidth}") if any(long) else ("tabular", "")
    return f"\\par\\begin{{{kind}}}{width}{{{columns}}}\n{made}\n\\end{{{kind}}}\\par\n"
