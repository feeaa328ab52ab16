"""Formulas on as many lines as a column has room for."""

import re
from collections.abc import Iterator

COLUMN = 72
"""The letters that a line of the site has room for, operators and their room included."""
BREAK = re.compile(r"\+|\\quad|(?<=;)\\;|\\equiv(?![A-Za-z])")
"""Where a formula may be broken: before a sum's next term, and between statements."""
UNSEEN = re.compile(
    r"\\(?:left|right|big|Big|bigg|Bigg|mathbb|mathcal|mathrm|text|bar|tilde|hat|begin|end|[,;:!])"
    r"(?![A-Za-z])|[{}_^&\s]"
)


def fitting(formula: str, column: int = COLUMN) -> str:
    r"""Return a formula on as many lines as it needs.

    >>> fitting(r"x \le a + b", 3)
    '\\begin{split}&x \\le a \\\\\n&\\quad + b\\end{split}'
    >>> fitting(r"x \le a + b")
    'x \\le a + b'
    """
    if width(formula) <= column:
        return formula
    lines = [""]
    for piece in _pieces(formula):
        if lines[-1] and width(lines[-1] + piece) > column:
            piece = re.sub(r"^\\(?:quad|;)\s*", "", piece)
            lines.append("")
        lines[-1] += piece
    if len(lines) == 1:
        return formula
    return r"\begin{split}&" + "\\\\\n&\\quad ".join(lines) + r"\end{split}"


def width(formula: str) -> int:
    r"""Return about how many letters wide a formula is: of a fraction its wider part.

    >>> width(r"\frac{a+b}{c}"), width(r"\alpha_1 \le \left(x\right)")
    (3, 6)
    """
    wider = re.compile(r"\\[dt]?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))")
    inner = re.compile(r"(?<!frac)(?<!\})\{([^{}]*)\}")
    before = ""
    while before != formula:
        before = formula
        formula = wider.sub(
            lambda m: max(m[1] or m[2] or "", m[3] or m[4] or "", key=lambda x: len(_seen(x))),
            formula,
        )
        if formula == before:
            formula = inner.sub(r"\1", formula, count=1)
    return len(_seen(formula))


def _seen(formula: str) -> str:
    return re.sub(r"\\[A-Za-z]+|\\.", "x", UNSEEN.sub("", formula))


def _pieces(formula: str) -> Iterator[str]:
    """Yield a formula in parts, each of which may begin a line."""
    start = depth = 0
    breaks = {match.start() for match in BREAK.finditer(formula)}
    for place, letter in enumerate(formula):
        depth += (letter in "{(") - (letter in "})")
        if place in breaks and depth == 0 and formula[start:place].strip():
            yield formula[start:place]
            start = place
    yield formula[start:]
