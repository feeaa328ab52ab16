r"""Reads the LaTeX of a counterexample, and computes each of its equations once more.

It knows fractions, intervals, powers, roots and piecewise polynomials, and nothing of driftproof:

>>> reading = Reading()
>>> reading.read([r"f'(x) &= \begin{cases} 4 \cdot x & x \le 1 \\ 4 & 1 \le x \end{cases}",
...               r"\eta &= \frac{1}{10}", r"w^{(1)} &= 3 - \eta \cdot f'(3) = \frac{13}{5}"])
>>> reading.value(r"2 w^{(1)}")
Fraction(26, 5)
"""

import operator
import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from driftproof.toolkit.balls.tensor import ball
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.terms import around, on_values, power, root

LEFT, RIGHT = r"\text{left}", r"\text{right}"
"""How the sides are called."""
WORDS = [
    r"\[-?[\d.]+ \\pm \d+ \\cdot 10\^\{-?\d+\}\]",
    r"\d+(?:\.\d+)?",
    r"\\frac",
    r"\\sqrt",
    r"\\cdot",
    r"\\left\|",
    r"\\right\|",
    r"\\left\(",
    r"\\right\)",
    r"\^",
    r"[-+(){},]",
]
"""The words of a formula, besides its letters and functions; the first is an interval."""
BRACKETS = {"(": ")", "{": "}", r"\left(": r"\right)", r"\left|": r"\right|"}
SIGNS = {"+": operator.add, "-": operator.sub}
STRETCH = re.compile(r"for \$([ks]) = (\d+), (\d+), \\dots, (\d+)\$")
"""The remark of a row that stands for several, in which only its number differs."""
ALONE = r"(?<=[({ -])%s(?=[)} ]|$)"
"""Where that number stands, and no letter of a formula."""
TABLE = re.compile(
    r"\\\[ x_\{t\+1\} = (.*), \\\]\n(.*)\n\\\[ \\begin\{array\}\{[c|]*\}([\s\S]*?)\\end\{array\}"
)
"""A rule, where it begins, and a table over t: of x_t, what is computed there, and x_{t+1}."""
EXACT = 10**1000
"""Below it a denominator's number is kept as it was computed, where an interval is written."""
SUM = re.compile(r"\\sum_\{s=(\d+)\}\^\{(\d+)\} M_\{s\}")


class Reading:
    """What has been read: letters and functions.

    Attributes:
        letters: LaTeX → a fraction or a ball.
        functions: LaTeX → its pieces, each a text and the condition that it holds under.
    """

    def __init__(self, letters: Mapping[str, Any] | None = None) -> None:
        self.letters: dict[str, Any] = dict(letters or {})
        self.functions: dict[str, list[tuple[str, str]]] = {}
        self._words: list[str] = []

    def read(self, rows: list[str]) -> None:
        r"""Read rows ``letter &= formula = … = number``: what one row says has to be so.

        A row that ends in ``\le number``, or begins ``letter &\le``, says the most that it is.

        Raises:
            NoScriptError: it is not, or a formula cannot be read.
        """
        for row in rows:
            if stretch := STRETCH.search(row):
                first, second, last = map(int, stretch.groups()[1:])
                same, at = row[: stretch.start()], re.compile(ALONE % stretch[1])
                self.read([at.sub(f"{n}", same) for n in range(first, last + 1, second - first)])
                continue
            subject, _, said = re.split(r" &(=|\\le) ", row.partition(" &&")[0], maxsplit=1)
            if subject.endswith(("(x)", "(y)", "(x, y)")):
                inside = re.sub(r"\\(begin|end)\{cases\}", "", said).split(r" \\ ")
                pieces = [piece.partition(" & ") for piece in inside]
                self.functions[subject.rpartition("(")[0]] = [(p[0], p[2]) for p in pieces]
                continue
            said, below, most = said.partition(r" \le ")
            *computed, last = map(self.value, [*said.split(" = "), *[most] * bool(below)])
            if subject[-1] == ")" and subject.partition("(")[0] in self.functions:  # as f'(x_1)
                computed.append(self.value(subject))
            holds = _below if below else _agree
            if not all(holds(x, last) for x in computed):
                raise NoScriptError(f"its LaTeX does not say what was computed ({row[:80]})")
            exact = [x for x in computed if isinstance(x, Fraction) and x.denominator < EXACT]
            self.letters[subject] = exact[0] if exact and not below else last

    def value(self, text: str) -> Any:
        """Return the value of a formula."""
        for of in SUM.finditer(text):
            terms = " + ".join(f"M_{{{s}}}" for s in range(int(of[1]), int(of[2]) + 1))
            text = text.replace(of[0], f"({terms})")
        known = (name for name in (*self.letters, *self.functions) if name in text)
        names = sorted(known, key=len, reverse=True)
        word = re.compile("|".join([*map(re.escape, names), *WORDS]))
        self._words = word.findall(text)[::-1]
        if word.sub("", text).strip():
            raise NoScriptError(f"its LaTeX cannot be read back: {word.sub('', text).strip()[:40]}")
        made = self._sum()
        if self._words:
            raise NoScriptError(f"its LaTeX cannot be read back from {self._words[-1]} on")
        return made

    def _next(self, *words: str) -> str:
        """Take the next word, if it is one of these (none given: whatever it is)."""
        if self._words and (not words or self._words[-1] in words):
            return self._words.pop()
        return ""

    def _sum(self) -> Any:
        made = self._product()
        while sign := self._next(*SIGNS):
            made = on_values(SIGNS[sign], made, self._product())
        return made

    def _product(self) -> Any:
        if self._next("-"):
            return on_values(operator.neg, self._product())
        made = self._power()
        while self._words and self._words[-1] not in (*SIGNS, *BRACKETS.values(), ","):
            self._next(r"\cdot")
            made = on_values(operator.mul, made, self._power())
        return made

    def _power(self) -> Any:
        made = self._atom()
        while self._next("^"):
            made = power(made, self._group())
        return made

    def _group(self) -> Any:
        """Read what is in brackets."""
        opening = self._next(*BRACKETS)
        made = self._sum()
        if self._next(","):  # f(x, y)
            made = (made, self._sum())
        if not opening or not self._next(BRACKETS[opening]):
            raise NoScriptError("its LaTeX cannot be read back: a bracket is missing")
        return made

    def _atom(self) -> Any:
        word = self._next()
        if word in self.functions and self._words[-1:] in (["("], [r"\left("]):
            return self._at(word, self._group())
        if word in self.letters:
            return self.letters[word]
        if word == r"\frac":
            return on_values(operator.truediv, self._group(), self._group())
        if word == r"\sqrt":
            return root(self._group())
        if word in BRACKETS:
            self._words.append(word)
            return on_values(abs if word == r"\left|" else lambda x: x, self._group())
        if word[:1] == "[":
            middle, times, _, power = re.findall(r"-?[\d.]+", word)
            return around(Fraction(middle), int(times) * Fraction(10) ** int(power))
        if word[:1].isdigit():
            return Fraction(word)
        raise NoScriptError(f"its LaTeX cannot be read back: {word or 'its end'}")

    def _at(self, function: str, x: Any) -> Any:
        """Return a function's value on the one piece that surely has x."""
        words, before = self._words, self.letters
        try:
            for text, where in self.functions[function]:
                self.letters = before | dict(
                    zip("xy", x if isinstance(x, tuple) else (x, x), strict=True)
                )
                ends = [self.value(part) for part in where.split(r"\le")] if where else []
                if all(on_values(operator.le, *pair) for pair in pairwise(ends)):
                    return self.value(text)
        finally:
            self._words, self.letters = words, before
        raise NoScriptError(f"its LaTeX does not say on which piece of {function} an x lies")


def of_table(text: str) -> list[str]:
    r"""Return what a table over t says, as rows: each cell, and that x_{t+1} obeys the rule.

    >>> table = r"\[ \begin{array}{c|cc} t & x_{t} & x_{t+1} \\ \hline 0 & 3 & -2 \\ \end{array}"
    >>> of_table("\\[ x_{t+1} = 1 - x_{t}, \\]\nfrom $x_{0} = 3$:\n" + table)
    ['x_{0} &= 3', 'x_{0} &= x_{0} = 3', 'x_{1} &= 1 - x_{0} = -2', 'x_{1} &= x_{1} = 3']
    """
    if not (found := TABLE.search(text)):
        return []
    rule, begins, body = found.groups()
    lines = [line.replace(r"\hline", "").split("&") for line in body.split(r"\\")[:-1]]
    (_, *head), *rows = ([cell.strip() for cell in line] for line in lines)
    names, last = sorted([*head, "x_{t-1}"], key=len, reverse=True), rows[-1][0]
    begun = [(int(t), x) for t, x in re.findall(r"\$x_\{(-?\d)\} = (.*?)\$", begins)]
    told = [("x_{t}", f"{t}", x, "") for t, x in begun]
    for t, *cells in rows:
        each = zip(head, cells, strict=True)
        told += [(name, t, x, rule * (name == head[-1])) for name, x in each if x]
    told += [("x_{t}", f"{int(last) + 1 + t}", x, "") for t, x in begun]
    made, known = list[str](), set[str]()

    def at(name: str, t: str, j: int) -> str:
        """Return what a name of the head is at t, or at x*, and of that a coordinate."""
        for off in (-1, 0, 1) if t != "*" else ():
            name = name.replace(f"{{t{f'{off:+d}' * (off != 0)}}}", f"{{{int(t) + off}}}")
        name = name.replace("_{t}", "^{*}")
        return f"[{name}]_{{{j}}}" if j else name

    for name, t, cell, formula in told:
        parts = re.sub(r"^(\\left)?\(|(\\right)?\)$", "", cell).split(", ")
        for j, part in enumerate(parts, len(parts) > 1):
            subject = at(name, t, j)
            by = formula or subject * (subject in known)
            for of in names:
                by = by.replace(of, at(of, t, j))
            made.append(f"{subject} &= {f'{by} = ' * bool(by)}{part}")
            known.add(subject)
    return made


def _below(one: Any, other: Any) -> bool:
    return bool(on_values(operator.le, one, other))


def _agree(one: Any, other: Any) -> bool:
    """Say whether a number is what was written of it: equal, or in the interval."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    return bool(ball(other).contains(ball(one)))
