r"""Reads formulas as they are printed: rational functions of letters, and products of vectors.

⟨u, v⟩ is read as u·v with symbols that commute: an identity of quadratic forms holds in every inner
product space if and only if it holds so. The arithmetic is sympy's, and nothing of what writes the
text is used.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

NAME = (
    r"(?:\\nabla )?[A-Za-z](?:_\{\w+\})?\(x(?:_\{\w+\}|\^[*+])\)"  # ∇f_0(x_1)
    r"|(?:\\(?!frac|langle|rangle)[A-Za-z]+|[A-Za-z])(?:_\{[^{}]*\}|_[a-z])?(?:\^[*+])?"
)
TOKEN = re.compile(rf"\s*(\\frac|\\langle|\\rangle|\\\||{NAME}|\d+|[-+(){{}},^])")


class UnreadError(ValueError):
    """A printed text that does not say what it should."""


class Formulas:
    r"""Formulas in some names.

    >>> read = Formulas([r"\eta", "x_{0}", "g_{0}"])
    >>> read.define("x_{1}", r"x_{0}-\eta g_{0}")
    >>> read(r"\|x_{1}\|^2+\frac{2}{1} \eta\langle x_{0},g_{0}\rangle-\|x_{0}\|^2")
    \eta**2*g_{0}**2

    Args:
        names: what has no definition: letters, vectors and values.
        alias: what a name is short for.
    """

    def __init__(self, names: Iterable[str], alias: Callable[[str], str] = str) -> None:
        import sympy

        own = list(names)
        if len({*own}) < len(own):
            raise UnreadError(f"two things with one name among {', '.join(own)}")
        self.field = sympy.QQ.frac_field(*map(sympy.Symbol, own))
        self.known: dict[str, Any] = dict(zip(own, self.field.gens, strict=True))
        self._alias = alias

    def define(self, name: str, text: str) -> None:
        """Take a definition; of a name that is known it has to say the same."""
        name, value = self._alias(name.strip()), self(text)
        if self.known.setdefault(name, value) != value:
            raise UnreadError(f"{name} is {text}, and something else")

    def __call__(self, text: str, given: Mapping[str, Any] | None = None) -> Any:
        """Return what a formula is.

        Args:
            given: names that stand for something else here.
        """
        self._tokens, at = list[str](), 0
        while text[at:].strip():
            if (found := TOKEN.match(text, at)) is None:
                raise UnreadError(f"{text[at:]!r} in {text!r}")
            self._tokens.append(found[1])
            at = found.end()
        self._given = given or {}
        value = self._sum()
        if self._tokens:
            raise UnreadError(f"{self._tokens[0]!r} too much in {text!r}")
        return value

    def _next(self, *wanted: str) -> str:
        token = self._tokens.pop(0) if self._tokens else "the end"
        if wanted and token not in wanted:
            raise UnreadError(f"{token!r} where {wanted[0]!r} should be")
        return token

    def _peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _sum(self) -> Any:
        total = self.field.zero
        sign = self._next() if self._peek() in {"-", "+"} else "+"
        while True:
            term = self._product()
            total = total - term if sign == "-" else total + term
            if self._peek() not in {"-", "+"}:
                return total
            sign = self._next()

    def _product(self) -> Any:
        value = self._power()
        while self._peek() not in {"", "-", "+", ")", "}", ",", "\\rangle", self._closing}:
            value = value * self._power()
        return value

    _closing = ""
    """‖ while a norm is open, else nothing."""

    def _power(self) -> Any:
        token = self._next()
        if token == "\\frac":
            top, bottom = self._group("{", "}"), self._group("{", "}")
            if not bottom:
                raise UnreadError("a division by 0")
            value = top / bottom
        elif token == "\\langle":
            value = self._inside(",") * self._inside("\\rangle")
        elif token == "\\|":
            if self._closing:
                raise UnreadError("a norm in a norm")
            self._closing = "\\|"
            try:
                value = self._sum()
            finally:
                self._closing = ""
            self._next("\\|")
            self._next("^")
            self._next("2")
            return value**2
        elif token == "(":
            value = self._inside(")")
        elif token.isdigit():
            value = self.field(int(token))
        else:
            name = self._alias(token)
            if name not in self._given and name not in self.known:
                raise UnreadError(f"{token}, of which nothing is said")
            value = self._given[name] if name in self._given else self.known[name]
        if self._peek() == "^":
            self._next()
            braces = self._peek() == "{"
            power = self._group("{", "}", whole=True) if braces else int(self._next())
            value = value**power
        return value

    def _group(self, start: str, end: str, *, whole: bool = False) -> Any:
        self._next(start)
        value = int(self._next()) if whole else self._sum()
        self._next(end)
        return value

    def _inside(self, end: str) -> Any:
        value = self._sum()
        self._next(end)
        return value
