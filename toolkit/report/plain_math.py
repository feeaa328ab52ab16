"""LaTeX as a terminal can show it: the letters of Unicode, with brackets around fractions."""

import re
from functools import cache
from typing import Any

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db
from pylatexenc.latexwalker import LatexGroupNode

SIGNS = {
    "|": "‖", "left": "", "right": "", "le": " ≤ ", "leq": " ≤ ", "ge": " ≥ ", "geq": " ≥ ",
    "to": " → ", "ne": " ≠ ", "bmod": " mod ", "quad": "  ", "qquad": "  ", ",": " ", ";": " ",
    "mid": " | ", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉",
}  # fmt: skip
"""What pylatexenc leaves out, or sets without a space."""
SMALL = {
    "_": str.maketrans("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"),
    "^": str.maketrans("0123456789ikn", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁱᵏⁿ"),
}
"""Indices and powers that Unicode has."""


def plain_math(latex: str) -> str:
    r"""Return a formula as one reads it in a terminal; indices and powers keep their braces.

    >>> plain_math(r"\tfrac1S\sum_{s<S}\|\nabla F(\bar w_s)\|^2\le\frac{F_0-F^*}{T\eta}+\sqrt{2b}")
    '1/S ∑_{s<S}‖∇F(w̅_s)‖^2 ≤ (F_0-F^*)/(Tη) +√(2b)'
    """
    text = _converter().latex_to_text(re.sub(r"\\[dt]frac", r"\\frac", latex))
    return "\n".join(re.sub(" +", " ", line).strip() for line in text.strip().splitlines())


def short_math(latex: str) -> str:
    r"""Return a formula for a plot's axis: sums without their ends, small indices.

    >>> short_math(r"\frac1S\sum_{s=0}^{S-1}\mathbb{E}\|\nabla F(\bar w_s)\|^2")
    '1/S ∑ 𝔼‖∇F(w̅ₛ)‖²'
    """
    text = plain_math(re.sub(r"\\[Bb]igg?[lr]?", "", latex)).replace("\n", " ")
    text = re.sub(r"∑(_\{[^}]*\}|_\w)?(\^\{[^}]*\}|\^\w)?", "∑ ", text)
    return re.sub(
        r"([_^])(\w)",
        lambda x: x[2].translate(SMALL[x[1]]) if ord(x[2]) in SMALL[x[1]] else x[0],
        text,
    )


@cache
def _converter() -> LatexNodes2Text:
    known = get_default_latex_context_db()
    macros = [MacroTextSpec(name, sign) for name, sign in SIGNS.items()]
    macros += [MacroTextSpec("frac", _fraction), MacroTextSpec("operatorname", "%s")]
    known.add_context_category("driftproof", macros=macros, prepend=True)
    return LatexNodes2Text(
        known, math_mode="text", keep_braced_groups=True, keep_braced_groups_minlen=2
    )


def _fraction(node: Any, l2tobj: LatexNodes2Text) -> str:
    parts = (x.nodelist if isinstance(x, LatexGroupNode) else [x] for x in node.nodeargs)
    above, below = map(l2tobj.nodelist_to_text, parts)
    return "/".join(x if len(x) == 1 or x.isdecimal() else f"({x})" for x in (above, below)) + " "
