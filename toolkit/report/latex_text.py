r"""Text as LaTeX prints it, in ASCII alone, so that every engine compiles it.

Unicode's own data say most of what is needed: é is e and an acute accent, ² is a raised 2, and
η is called eta. What is left is a table of operators.
"""

import unicodedata

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "`": r"\textasciigrave{}", '"': "''",  # \textquotedbl needs another font encoding
    "–": "--", "—": "---", "…": r"\ldots{}", "“": "``", "”": "''", "‘": "`", "’": "'",
    "§": r"\S{}", "ß": r"\ss{}", "æ": r"\ae{}", "ø": r"\o{}", "ł": r"\l{}", "ı": r"\i{}",
    "Æ": r"\AE{}", "Ø": r"\O{}", "Ł": r"\L{}",
}  # fmt: skip
"""What is special to LaTeX, and punctuation."""
OPERATORS = {
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx",
    "≼": r"\preceq", "≽": r"\succeq", "⊗": r"\otimes",
    "∘": r"\circ", "∓": r"\mp", "≪": r"\ll", "≫": r"\gg",
    "∞": r"\infty", "√": r"\surd", "∑": r"\sum", "∏": r"\prod", "∇": r"\nabla", "∂": r"\partial",
    "‖": r"\|", "×": r"\times", "·": r"\cdot", "⋅": r"\cdot", "±": r"\pm", "−": "-",
    "→": r"\to", "←": r"\leftarrow", "↦": r"\mapsto", "⇒": r"\Rightarrow", "∈": r"\in",
    "∉": r"\notin", "∀": r"\forall", "∃": r"\exists", "⊂": r"\subset", "∪": r"\cup", "∩": r"\cap",
    "⌈": r"\lceil", "⌉": r"\rceil", "⌊": r"\lfloor", "⌋": r"\rfloor", "⟨": r"\langle",
    "⟩": r"\rangle", "ℓ": r"\ell", "∝": r"\propto", "⁄": "/", "°": r"^{\circ}", "′": "'",
    "✓": r"\checkmark", "ϕ": r"\phi", "ϵ": r"\epsilon", "ε": r"\varepsilon", "ο": "o",
}  # fmt: skip
"""What stands in formulas and is no letter of a decomposition."""
ACCENTS = {
    "\u0300": ("`", "grave"),
    "\u0301": ("'", "acute"),
    "\u0302": ("^", "hat"),
    "\u0303": ("~", "tilde"),
    "\u0304": ("=", "bar"),
    "\u0305": ("=", "bar"),
    "\u0306": ("u", "breve"),
    "\u0307": (".", "dot"),
    "\u0308": ('"', "ddot"),
    "\u030a": ("r", "mathring"),
    "\u030b": ("H", "acute"),
    "\u030c": ("v", "check"),
    "\u0327": ("c", "underline"),
    "\u0328": ("k", "underline"),
}
"""Combining marks: the accent in text, and in a formula."""
GREEK = {"OMEGA": "omega", "LAMDA": "lambda"}
LATIN = {
    "Alpha": "A",
    "Beta": "B",
    "Epsilon": "E",
    "Zeta": "Z",
    "Eta": "H",
    "Iota": "I",
    "Kappa": "K",
    "Mu": "M",
    "Nu": "N",
    "Omicron": "O",
    "Rho": "P",
    "Tau": "T",
    "Chi": "X",
}
"""Greek capitals that LaTeX takes from the Latin alphabet."""


def latex_text(text: str) -> str:
    r"""Return text as LaTeX would print it; a letter that it cannot print is named by its number.

    >>> print(latex_text("50 % of η² ≤ w̄_t, Poincaré"))
    50 \% of $\eta$$^{2}$ $\le$ \={w}\_t, Poincar\'{e}
    >>> latex_text("1 ≠ 0")
    '1 $\\ne$ 0'
    """
    made: list[tuple[str, bool]] = []  # each letter, and whether it is a formula
    composed = unicodedata.normalize("NFC", text)  # ≠ is one letter, and no = that is crossed out
    parts = (x if x in OPERATORS else unicodedata.normalize("NFD", x) for x in composed)
    for letter in "".join(parts):
        if letter in ACCENTS and made:
            base, formula = made.pop()
            accent, in_formula = ACCENTS[letter]
            made.append(
                (rf"\{in_formula}{{{base}}}" if formula else rf"\{accent}{{{base}}}", formula)
            )
        else:
            made.append(latex_letter(letter))
    return "".join(f"${text}$" if formula else text for text, formula in made)


def latex_letter(letter: str) -> tuple[str, bool]:
    """Return a letter in LaTeX, and whether it has to stand in a formula."""
    if letter in SPECIAL:
        return SPECIAL[letter], False
    if letter in OPERATORS:
        return OPERATORS[letter], True
    if letter.isascii():
        return (letter if letter.isprintable() else " "), False
    if letter.isspace():
        return "~" if letter == "\u00a0" else " ", False
    greek = _greek(letter)
    if greek:
        return greek, True
    kind, _, plain = unicodedata.decomposition(letter).partition("> ")
    parts = [latex_letter(chr(int(code, 16)))[0] for code in plain.split()]
    if kind == "<super" and parts:
        return f"^{{{''.join(parts)}}}", True
    if kind == "<sub" and parts:
        return f"_{{{''.join(parts)}}}", True
    if kind in ("<font", "<compat", "<fraction") and parts:
        return "".join(parts), True
    return f"[U+{ord(letter):04X}]", False


def _greek(letter: str) -> str:
    r"""Return the command of a Greek letter ("": it is none).

    >>> _greek("Σ"), _greek("λ"), _greek("Α")
    ('\\Sigma', '\\lambda', 'A')
    """
    words = unicodedata.name(letter, "").split()
    if words[:1] != ["GREEK"] or len(words) != 4 or words[2] != "LETTER":
        return ""
    name = GREEK.get(words[3], words[3].lower())
    name = name.capitalize() if words[1] == "CAPITAL" else name
    return LATIN.get(name, rf"\{name}")
