"""Proofs on paper of the certificates in ``docs/proofs``, as they stand in a page."""

import re
from functools import cache
from pathlib import Path

from driftproof.verifiers.worst_case.on_paper.pattern import pattern
from driftproof.verifiers.worst_case.on_paper.printed import on_paper

CERTIFICATES = Path(__file__).parents[1] / "proofs"
MARKDOWN = {
    "\\begin{theorem}\n": "**Theorem.** ",
    "\\end{theorem}\n": "",
    "\\begin{proof}\n": "\n*Proof.* ",
    "\n\\end{proof}": " ∎",
    "\\[ ": "\n```math\n",
    " \\]": "\n```\n",
    "\\begin{align*}\n": "\n```math\n\\begin{align*}\n",
    "\\end{align*}\n": "\\end{align*}\n```\n\n",
}
INLINE = {"\\|": "\\Vert ", "*": "\\ast "}
"""What Markdown would take for an escape, or for emphasis, in a line of text."""


@cache
def proof(name: str) -> str:
    """Return the theorem and the proof of a certificate, or of a folder of them, as Markdown."""
    files = [path.read_text(encoding="utf-8") for path in CERTIFICATES.glob(f"{name}/*.json")]
    single = CERTIFICATES / f"{name}.json"
    text = pattern(files) if files else on_paper(single.read_text(encoding="utf-8"))
    text = re.sub(r"^%.*\n", "", text)
    for latex, written in MARKDOWN.items():
        text = text.replace(latex, written)
    return re.sub(r"\$[^$]+\$", _inline, text).strip()


def _inline(formula: re.Match[str]) -> str:
    text = formula[0]
    for latex, written in INLINE.items():
        text = text.replace(latex, written)
    return text
