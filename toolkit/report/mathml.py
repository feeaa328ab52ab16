"""LaTeX to MathML, and the font of formulas (STIX Two Math, OFL)."""

from __future__ import annotations

import base64
import re
from functools import cache
from html import escape
from importlib.resources import files
from xml.etree.ElementTree import tostring

FONT = "STIX Two Math"
ENTITY = re.compile("&amp;(?=#x[0-9A-Fa-f]+;)")
"""What latex2mathml writes of a symbol, its number, after the & was escaped."""
LEADING = ("href", "src", "style")
"""Attributes by which a formula would lead somewhere, or fetch something."""
SHORTER = {
    ' xmlns="http://www.w3.org/1998/Math/MathML"': "", ' display="inline"': "",
    "<mo>&#x0002F;</mo>": "<mi>/</mi>",
}  # fmt: skip
"""What HTML takes for granted, on a page of thousands of formulas; and a/b has no room around /."""

SHORT_ROOT = re.compile(r"<msqrt>(?:<mrow>)?(<m[in]>[^<]*</m[in]>)(?:</mrow>)?</msqrt>")
"""The root of one number or letter: Chromium leaves room behind it, as for a tall one."""


@cache
def mathml(latex: str, *, block: bool = False) -> str:
    r"""Return LaTeX as a MathML element; what cannot be converted is shown as escaped source.

    Whatever stands in the formula is text: latex2mathml's own ``convert`` would write the letters
    of ``\text{<script>}`` as they are, and a browser would run them.

    >>> mathml(r"\sqrt5H")
    '<math><mrow><mrow><mi>√</mi><mn>5</mn></mrow><mi>H</mi></mrow></math>'
    >>> mathml(r"\eta^2")[:5], "<mtext>&lt;script&gt;</mtext>" in mathml(r"\text{<script>}")
    ('<math', True)
    """
    from latex2mathml.converter import convert_to_element

    try:
        element = convert_to_element(latex, display="block" if block else "inline")
    except Exception:  # noqa: BLE001 - it raises many kinds, and the source can still be read
        return f"<code>{escape(latex)}</code>"
    for part in element.iter():
        for name in LEADING:
            part.attrib.pop(name, None)
    markup = ENTITY.sub("&", tostring(element, encoding="unicode"))
    for long, short in SHORTER.items():
        markup = markup.replace(long, short)
    return SHORT_ROOT.sub(r"<mrow><mi>√</mi>\1</mrow>", markup)


@cache
def font_face() -> str:
    """Return the @font-face rule of formulas: a data URL, so that a page needs no network.

    ``assets/formulas.woff2`` is STIX Two Math cut to the letters of ``assets/formulas.txt``:
    pyftsubset STIXTwoMath-Regular.ttf --unicodes-file=formulas.txt --flavor=woff2 --no-hinting
    --layout-features= --name-IDs=0,1,2,13,14 --output-file=formulas.woff2
    """
    font = files("driftproof.toolkit.report").joinpath("assets", "formulas.woff2").read_bytes()
    data = base64.b64encode(font).decode()
    return f'@font-face{{font-family:"{FONT}";src:url(data:font/woff2;base64,{data})}}'
