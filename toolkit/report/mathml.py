"""LaTeX to MathML, and the subset of a maths font that a page needs (STIX Two Math, OFL)."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable
from functools import cache
from html import escape, unescape
from importlib.util import find_spec
from pathlib import Path
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


def font_face(pages: Iterable[str]) -> str:
    """Return an @font-face rule, a data URL, with the glyphs that the MathML in some HTML needs."""
    from fontTools import subset

    elements = "".join("".join(re.findall(r"<math.*?</math>", page, re.S)) for page in pages)
    text = set(unescape(re.sub(r"<[^>]*>", "", elements)))
    options = subset.Options()
    options.flavor, options.layout_features, options.hinting = "woff2", ["ssty"], False
    # ziamath carries the font; only its folder is wanted, so it is not imported
    spec = find_spec("ziamath")
    assert spec is not None
    assert spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0], "fonts", "STIXTwoMath-Regular.ttf")
    with path.open("rb") as source:
        font = subset.load_font(source, options)
        cutter = subset.Subsetter(options)
        cutter.populate(text="".join(text | {italic(c) for c in text} | set("()[]{}|‖√−+=")))
        cutter.subset(font)
        buffer = io.BytesIO()
        subset.save_font(font, buffer, options)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'@font-face{{font-family:"{FONT}";src:url(data:font/woff2;base64,{data})}}'


def italic(letter: str) -> str:
    """Return the mathematical italic of a letter, which browsers substitute in <mi>.

    >>> italic("w"), italic("h"), italic("η"), italic("1")
    ('𝑤', 'ℎ', '𝜂', '1')
    """
    if letter == "h":
        return "ℎ"
    for first, last, start in (("A", "Z", 0x1D434), ("a", "z", 0x1D44E), ("Α", "Ω", 0x1D6E2)):
        if first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    if "α" <= letter <= "ω":
        return chr(0x1D6FC + ord(letter) - ord("α"))
    return letter
