"""The verdicts as a LaTeX table, to paste into a paper or a review."""

from __future__ import annotations

from collections.abc import Iterable

HEAD = r"""% needs \usepackage{booktabs}
\begin{tabular}{llllr}
\toprule
Statement & Form & Verdict & Evidence & Tightness \\
\midrule"""
FOOT = r"""\bottomrule
\end{tabular}"""
SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "–": "--", "Δ": r"$\Delta$", "Σ": r"$\Sigma$", "η": r"$\eta$", "γ": r"$\gamma$",
}  # fmt: skip


def latex_table(rows: Iterable[tuple[str, ...]]) -> str:
    r"""Return a tabular of (claim, form, verdict, evidence, tightness).

    >>> print(latex_table([("own/a_b", "printed", "SUPPORTED", "exact", "0.9")]).splitlines()[5])
    own/a\_b & printed & SUPPORTED & exact & 0.9 \\
    """
    lines = [" & ".join(map(escaped, row)) + r" \\" for row in rows]
    return "\n".join([HEAD, *lines, FOOT])


def escaped(text: str) -> str:
    """Return text as LaTeX would print it."""
    return "".join(SPECIAL.get(c, c) for c in text)
