r"""Formulas inside prose: found by their letters, and turned from the project's notation to LaTeX.

Derivations are written as a terminal shows them: "‖x̄_t − x*‖² ≤ (1 − ημ)^t". A page typesets that.
What is a formula is told from each word: Greek letters, operators, raised and lowered letters and
single letters are, English words are not. A wrong guess costs the slant of a letter, no more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from driftproof.toolkit.report.latex_text import ACCENTS, latex_letter

RELATIONS = frozenset("=≠<>≤≥≪≫≈∝∈∉⊂≼≽≡→←↦⇒~") | {":="}
"""Words that make a formula of the words beside them."""
SIGNS = frozenset("+-−±∓·×/⊗∘∪∩|‖…*") | {"mod"}
"""Words that belong to a formula if there is one beside them."""
NAMED = ("log", "exp", "min", "max", "sup", "inf", "lim", "sin", "cos")
"""Functions that LaTeX has a command for."""
OPERATORS = (*NAMED, "Var", "vec", "diag", "tr", "sgn", "mean")
FUNCTIONS = frozenset(OPERATORS) - {"mean"} | set("EΣ∏√")
"""What is read together with the word after it."""
SPEAKS = re.compile(r"[√‖∇∂∞∑Σ∏𝔼ℝ𝒞𝒪ℓ°]|[_^](?=[\w{(*½−+])|(?<=\w)\*(?![\w*])|[≤≥≠≈−×·±≼≽↦→⇒]")
"""Signs that no English word has."""
NUMBER = re.compile(r"[\d\W]*\d[\d\W]*")
PLAIN = re.compile(r"[A-Za-z\d'()\[\]{}/+*|=,-]*")
"""Words that may be formulas without a sign that no English word has: x', f(x), T/p, 2L, m(1."""
CALLED = re.compile(rf"(?:{'|'.join(OPERATORS)})\(")
NO_FORMULA = re.compile(r"v\d+|.*\\.*|.*\*\*.*|.*``.*|.*://.*|[A-Za-z]{3,}_.*|[aA]")
"""An edition, LaTeX, code, an address, a name in a program, and the article."""
WORD = re.compile(r"[A-Za-z]+")
GRAMMAR = re.compile(r"-[A-Za-z]{3,}$|'s$")
"""What English adds to a formula."""
BREAKS = ("=", "<", ">", "le", "ge", "approx", "ll", "gg", "sim", "to", "in")
BEFORE, AFTER = ("(", "[", "{", "langle"), (")", "]", "}", "rangle")
OPEN, CLOSE = "([{⟨⌈⌊", ")]}⟩⌉⌋"
TAIL = '.,;:?!”’"'


OWN = {"Σ": r"\sum", "{": r"\{", "}": r"\}", "<": "<", ">": ">", "|": "|", "~": r"\sim"}
"""Signs that mean something else in a formula than in a text."""


class Piece(NamedTuple):
    """A part of a text.

    Attributes:
        text: words, or a formula in LaTeX.
        formula: which of the two.
    """

    text: str
    formula: bool


def pieces(text: str) -> list[Piece]:
    r"""Return a text as words and formulas, in order.

    >>> for piece in pieces("At most τ²η², or (1 − ημ)^t."):
    ...     print(*piece)
    At most  False
    \tau^{2}\eta^{2} True
    , or  False
    (1-\eta\mu)^{t} True
    . False
    """
    made: list[Piece] = []
    for part, formula in _runs(text):
        latex = latex_of(part) if formula else part
        if made and not formula and not made[-1].formula:
            made[-1] = Piece(made[-1].text + latex, False)
        elif part:
            made.append(Piece(latex, formula))
    return made


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield stretches of words that make one formula, and what lies between them."""
    words = re.findall(r"\s+|\S+", text)
    place = 0
    while place < len(words):
        end, depth = place, 0
        for k in range(place, len(words), 2):
            if words[k].isspace() or not _joins(words, k, inside=depth > 0):
                break
            depth += _depth(words[k])
            end = k + 1
            if words[k][-1] in TAIL and (depth <= 0 or words[k][-1] not in ",;"):
                break
        while end > place and not _says(words[place:end]):
            end = place
        if end == place:
            yield words[place], False
            place += 1
            continue
        yield from _trimmed("".join(words[place:end]))
        place = end


def _bare(word: str) -> str:
    """Return a word without what surrounds it in a sentence: "(τ's" and "ℓ-smooth" are τ and ℓ."""
    bare = GRAMMAR.sub("", word.rstrip(TAIL + CLOSE)).strip(TAIL + "“‘" + OPEN + CLOSE)
    return bare.strip("'") if bare.startswith("'") else bare


def _depth(word: str) -> int:
    return sum((letter in OPEN) - (letter in CLOSE) for letter in word)


def _is_formula(word: str) -> bool:
    """Say whether a word is a formula by itself."""
    bare = _bare(word)
    if CALLED.match(bare):
        return True
    if not bare or NO_FORMULA.fullmatch(bare):
        return False
    letters = WORD.findall(bare)
    if PLAIN.fullmatch(bare) and letters and all(map(_single, letters)):
        return bare not in OPERATORS
    if _english(bare):
        return False
    spoken = any(_greek(letter) or unicodedata.combining(letter) for letter in _apart(bare))
    raised = any(_raised(letter) for letter in bare)
    return spoken or raised or bool(SPEAKS.search(bare))


def _single(letters: str) -> bool:
    """Say whether letters are one, or the name of a function."""
    return len(letters) == 1 or letters in OPERATORS


def _english(word: str) -> bool:
    """Say whether a word has English in it: more plain letters in a row than a product has."""
    without = re.sub(r"[_^]\{[^}]*\}?|[_^]\w+", "", word)
    parts = [part for part in WORD.findall(without) if part not in OPERATORS]
    return any(len(part) > 3 and not part.isupper() for part in parts) and "·" not in word


def _joins(words: list[str], k: int, *, inside: bool) -> bool:
    """Say whether a word may be part of a formula with those beside it."""
    word = words[k]
    if word in RELATIONS or word in SIGNS or _is_formula(word):
        return True
    bare = _bare(word)
    beside = [words[n] for n in (k - 2, k + 2) if 0 <= n < len(words)]
    if bare in RELATIONS or bare in SIGNS or NUMBER.fullmatch(bare) or bare in ("a", "A"):
        # "(20)" is a display; "a" is a letter only where it is compared or added
        return inside or any(other in RELATIONS | SIGNS for other in beside)
    after = words[k + 2] if k + 2 < len(words) else ""
    return word.lstrip(OPEN) in FUNCTIONS and bool(after) and (_is_formula(after))


def _says(words: list[str]) -> bool:
    """Say whether words that might be a formula are one."""
    if words[0] in RELATIONS | SIGNS or words[-1] in RELATIONS | SIGNS:
        return len(words) > 1 and any(map(_is_formula, words))
    return any(_is_formula(word) or word in RELATIONS for word in words)


def _trimmed(run: str) -> Iterator[tuple[str, bool]]:
    """Yield a run without the marks of the sentence before and after it."""
    start, end = 0, len(run)
    while start < end and (
        run[start] in "“‘'\"" or (run[start] in OPEN and _depth(run[start:end]) > 0)
    ):
        start += 1
    while end > start and (
        run[end - 1] in TAIL or (run[end - 1] in CLOSE and _depth(run[start:end]) < 0)
    ):
        end -= 1
    tail = GRAMMAR.search(run[start:end])
    if tail:
        end -= len(tail[0])
    yield run[:start], False
    yield run[start:end], start < end
    yield run[end:], False


def _greek(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("GREEK")


def _raised(letter: str) -> bool:
    kind = unicodedata.decomposition(letter).partition("> ")[0]
    return kind in ("<super", "<sub", "<font", "<fraction")


def _apart(text: str) -> str:
    return unicodedata.normalize("NFD", text)


ATOM = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<root>√)"
    r"|(?P<shift>[_^])"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
    r"|(?P<mark>[\u0300-\u036f])"
    r"|(?P<prime>'+)"
    r"|(?P<star>\*)"
    r"|(?P<sign>.)",
    re.DOTALL,
)


def latex_of(formula: str) -> str:
    r"""Return a formula in the project's notation as LaTeX.

    >>> print(latex_of("E‖x̄_t^(k) − x*‖² ≤ √(2/T) + ½σ_2²"))
    E\|\bar{x}_{t}^{(k)}-x^{*}\|^{2}\le\sqrt{2/T}+\tfrac{1}{2}\sigma_{2}^{2}
    """
    return _Reader(_apart(formula)).read()


def broken(latex: str, longest: int = 40) -> list[str]:
    r"""Return a formula in parts that a line may break between: before its relations, and sums.

    Args:
        longest: a part of as many letters is not broken.

    >>> broken(r"a\le b+c=d", longest=5), broken(r"(a=b)", longest=1)
    (['a\\le b', '{}+c', '{}=d'], ['(a=b)'])
    """
    parts, depth, start = [""], 0, 0
    for found in re.finditer(r"\\[A-Za-z]+|\\.|.", latex):
        sign = found[0].removeprefix("\\")
        depth += (sign in BEFORE) - (sign in AFTER)
        long_enough = found.start() - start > longest * (0.3 if sign in BREAKS else 1)
        if depth == 0 and sign in (*BREAKS, "+", "-") and long_enough:
            parts.append("{}")
            start = found.start()
        parts[-1] += found[0]
    return parts


def joined(parts: list[str]) -> str:
    r"""Return parts of a formula in a row, with a space where a command would run into a letter.

    >>> joined([r"\eta", "L", "_{F}"])
    '\\eta L_{F}'
    """
    made = ""
    for part in parts:
        apart = part[:1].isalpha() and re.search(r"\\[A-Za-z]+$", made)
        made += " " * bool(apart) + part
    return made


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0

    def read(self, until: str = "") -> str:
        made: list[str] = []
        while self.place < len(self.text):
            if self.text[self.place] == until:
                break
            made.extend(self.atoms(made))
        return joined(made)

    def atoms(self, before: list[str]) -> list[str]:
        found = ATOM.match(self.text, self.place)
        assert found is not None
        self.place = found.end()
        kind, text = str(found.lastgroup), found[0]
        if kind == "space":
            return []
        if kind == "root":
            return [rf"\sqrt{{{self.group()}}}"]
        if kind == "shift":
            return [f"{text}{{{self.shifted(text)}}}"]
        if kind == "word":
            return self.word(text)
        if kind == "mark":
            accent = ACCENTS.get(text)
            if accent is None or not before:
                return []
            return [rf"\{accent[1]}{{{before.pop()}}}"]
        if kind == "star" and before and not re.match(r"\s*[\w(]", self.text[self.place :]):
            return ["^{*}"]
        if kind == "star" and before and re.match(r"\(", self.text[self.place :]):
            return ["^{*}"]
        if kind == "number" and self.text[found.start() - 1 : found.start()].isalpha():
            return [f"_{{{text}}}"]  # α1, b1
        if kind == "sign":
            return [self.sign(text)]
        return [text]

    def word(self, text: str) -> list[str]:
        if text in OPERATORS:
            return ["\\" + text] if text in NAMED else [rf"\operatorname{{{text}}}"]
        if text == "mod":
            return [r"\bmod"]
        if len(text) > 3 and not text.isupper():
            return [rf"\text{{{text}}}"]
        return list(text)

    def sign(self, text: str) -> str:
        kind, _, plain = unicodedata.decomposition(text).partition("> ")
        if kind in ("<super", "<sub"):
            letters = [text]
            while self.place < len(self.text):
                following = self.text[self.place]
                if not unicodedata.decomposition(following).startswith(kind):
                    break
                letters.append(following)
                self.place += 1
            inner = "".join(unicodedata.normalize("NFKD", letter) for letter in letters)
            return f"{'^' if kind == '<super' else '_'}{{{latex_of(inner)}}}"
        if kind == "<fraction":
            above, below = unicodedata.normalize("NFKD", text).split("⁄")
            return rf"\tfrac{{{above}}}{{{below}}}"
        if kind == "<font":
            name, letter = unicodedata.name(text), chr(int(plain.split()[0], 16))
            for word, style in (("SCRIPT CAPITAL", "mathcal"), ("DOUBLE-STRUCK", "mathbb")):
                if word in name and letter.isascii():
                    return rf"\{style}{{{letter}}}"
        if text in OWN:
            return OWN[text]
        return latex_letter(text)[0]

    def group(self) -> str:
        """Return what a root is over: brackets without them, a number, or a letter."""
        following = self.text[self.place : self.place + 1]
        if following in ("(", "{"):
            return self.bracketed(following)
        under = self.single()
        if self.text[self.place : self.place + 1] == "_":
            self.place += 1
            return f"{under}_{{{self.shifted('_')}}}"
        return under

    def shifted(self, sign: str) -> str:
        """Return what is raised or lowered."""
        following = self.text[self.place : self.place + 1]
        if following == "{":
            return self.bracketed("{")
        if following == "(":
            inner = self.bracketed("(")
            # x^(k) is the k-th x, T^(-1/2) is a power
            return f"({inner})" if sign == "_" or re.fullmatch(r"[a-zA-Z]'*", inner) else inner
        if sign == "_":
            word = re.match(r"[a-z]{3,}|[xy]{2}", self.text[self.place :])
            listed = re.match(r"[A-Za-z],\d+", self.text[self.place :])
            found = listed or word
            if found:
                self.place = found.end() + self.place
                return found[0] if listed else self.named(found[0])
        minus = re.match(r"[-−+]", self.text[self.place :])
        if minus:
            self.place += 1
            return "-" * (minus[0] != "+") + self.single()
        return self.single()

    @staticmethod
    def named(letters: str) -> str:
        """Return what is lowered: x_new is a word, ∇²_xy are two letters."""
        return rf"\text{{{letters}}}" if len(letters) > 2 else letters

    def single(self) -> str:
        found = re.match(r"\d+|.", self.text[self.place :], re.DOTALL)
        if found is None:
            return ""
        self.place += found.end()
        plain = found[0] == "*" or (found[0].isalnum() and found[0].isascii())
        single = found[0] if plain else self.sign(found[0])
        accent = ACCENTS.get(self.text[self.place : self.place + 1])
        if accent is None:
            return single
        self.place += 1
        return rf"\{accent[1]}{{{single}}}"

    def bracketed(self, opening: str) -> str:
        """Return what stands between the bracket at this place and its partner."""
        closing = CLOSE[OPEN.index(opening)]
        start, depth = self.place + 1, 0
        for k in range(self.place, len(self.text)):
            depth += (self.text[k] == opening) - (self.text[k] == closing)
            if depth == 0:
                self.place = k + 1
                return _Reader(self.text[start:k]).read()
        self.place = len(self.text)
        return _Reader(self.text[start:]).read()
