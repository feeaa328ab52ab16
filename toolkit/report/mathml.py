"""LaTeX to MathML, and the font of formulas (STIX Two Math, OFL)."""

import base64
import re
from functools import cache
from html import escape, unescape
from importlib.resources import files
from xml.etree.ElementTree import Element, tostring

FONT = "STIX Two Math"
LEADING = ("href", "src", "style")
"""Attributes by which a formula would lead somewhere, or fetch something."""
SHORTER = {' xmlns="http://www.w3.org/1998/Math/MathML"': "", ' display="inline"': ""}
"""What HTML takes for granted, on a page of thousands of formulas."""

SHORT_ROOT = re.compile(r"<msqrt>(?:<mrow>)?(<m[in]>[^<]*</m[in]>)(?:</mrow>)?</msqrt>")
"""The root of one number or letter: Chromium leaves room behind it, as for a tall one."""

OPENING, CLOSING, LETTERS = ("(", "[", "{"), (")", "]", "}", "‖", "|"), ("/", "∞", "|")
SCRIPTED, THIN = ("msup", "msub", "msubsup", "munder"), "0.167em"
"""Text of operators, elements with a base, and the space that LaTeX has beside a function."""


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
    for part in reversed([*element.iter()]):  # the inner first
        _mend(part)
    for row in (*element.iter("mrow"), *element.iter("mtd")):
        _space(row)
    markup = tostring(element, encoding="unicode")
    for long, short in SHORTER.items():
        markup = markup.replace(long, short)
    return SHORT_ROOT.sub(r"<mrow><mi>√</mi>\1</mrow>", markup)


def _mend(part: Element) -> None:
    """Mend an element where latex2mathml, or how Chromium sets it, differs from LaTeX."""
    # latex2mathml writes the number of a symbol, and some commands as they stand
    part.text = unescape(part.text or "").replace(r"\|", "‖")
    if part.tag in ("mi", "mo"):
        part.text = part.text.removeprefix("\\")
    for name in LEADING:
        part.attrib.pop(name, None)
    if part.text in LETTERS and part.get("fence") != "true":
        part.tag = "mi"  # no room around it
    elif part.tag == "msup" and part[1].text == "′":
        part.tag = "mrow"  # the font's prime is raised
    elif part.tag in SCRIPTED and part[0].text in CLOSING:
        row = Element("mrow")  # a bracket that is itself the base is set too low
        row.append(part[0])
        part[0] = row


def _space(row: Element) -> None:
    """Set the names of functions off by thin spaces, and a sign close to what it negates."""
    for before, part, after in zip([None, *row], row, [*row[1:], None], strict=False):
        begins = before is None or (before.tag == "mo" and before.text not in CLOSING)
        name = part[0] if part.tag in SCRIPTED else part
        if part.tag == "mo" and part.text == "−" and begins:
            part.set("form", "prefix")
        elif name.tag in ("mi", "mo") and (name.text or "").isalpha() and len(name.text or "") > 1:
            name.tag = "mo"
            name.set("lspace", "0" if begins else THIN)
            name.set("rspace", "0" if after is not None and after.text in OPENING else THIN)


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
