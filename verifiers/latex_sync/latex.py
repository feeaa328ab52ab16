r"""LaTeX as tokens that do not depend on how it is laid out.

Comments, spaces, line breaks, ``\left``, braces around one letter, labels and the choice among
``\frac``, ``\tfrac`` and ``\dfrac`` say nothing; commands that the paper defines are expanded. What
is left is the same for two sources exactly if they print the same formulas and words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from pylatexenc.latexwalker import LatexWalker, get_default_latex_context_db
from pylatexenc.macrospec import std_macro

DEFINING = ("newcommand", "renewcommand", "providecommand", "DeclareMathOperator")
FORMULAS = {
    "math",
    "displaymath",
    "equation",
    "align",
    "alignat",
    "flalign",
    "gather",
    "multline",
    "eqnarray",
}
"""Environments that are formulas, also with a star."""
CELLS = re.compile("matrix|array|cases")
"""Environments in which ``&`` and ``\\\\`` part entries."""
SIZES = {f"{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")}
SILENT = SIZES | {
    "left", "right", "middle", "displaystyle", "textstyle", "limits", "nonumber", "notag", "label",
    "driftproof", "allowbreak", "break", "noindent", "smallskip", "medskip", "!", "/", "-",
}  # fmt: skip
"""Commands that change no formula and no word."""
SPACES = {",", ":", ";", ">", " ", "quad", "qquad", "hspace", "thinspace", "enspace"}
WIDE = {"quad", "qquad", "hspace"}
"""Spaces that part formulas wherever they stand; the others do behind a comma."""
ALIKE = {
    "leq": "le", "geq": "ge", "neq": "ne", "to": "rightarrow", "Vert": "|", "lVert": "|",
    "rVert": "|", "lvert": "vert", "rvert": "vert", "tfrac": "frac", "dfrac": "frac",
    "lbrace": "{", "rbrace": "}", "ast": "*", "dots": "ldots",
}  # fmt: skip
"""Commands with two names."""
GOES_ON = re.compile(r"[-+=<>]|\\(le|ge|lesssim|cdot|times|approx|leqslant|geqslant|quad)\b")
"""How a line begins that continues the formula of the line before."""
DEPTH = 20
"""Of commands that are defined by each other."""


class Token(NamedTuple):
    """A letter or a command of a formula, or a word.

    Attributes:
        text: as LaTeX has it.
        line: of the source.
        spacing: whether it is space only, which parts formulas but says nothing.
    """

    text: str
    line: int
    spacing: bool = False


class Definition(NamedTuple):
    """A command of the paper's own (``default``: of its first argument, where that is optional).

    Attributes:
        given: its arguments in pylatexenc's letters ("": ``arguments`` in braces).
    """

    arguments: int
    body: Sequence[Any]
    default: Any = None
    given: str = ""


class Source:
    """One file of LaTeX, parsed.

    Args:
        text: what it holds.
        definitions: the paper's own commands, which are expanded.
    """

    def __init__(self, text: str, definitions: Mapping[str, Definition] | None = None) -> None:
        self._definitions = definitions or {}
        context = get_default_latex_context_db()
        known = [
            std_macro(name, d.given)
            if d.given
            else std_macro(name, d.default is not None, d.arguments - (d.default is not None))
            for name, d in self._definitions.items()
        ]
        fractions = [std_macro(name, False, 2) for name in ("tfrac", "dfrac", "binom")]
        marks = [std_macro("driftproof", True, 1), std_macro("input", False, 1)]
        context.add_context_category("paper", prepend=True, macros=[*fractions, *marks, *known])
        # a mistake elsewhere in a draft is LaTeX's to report
        self._walker = LatexWalker(text, latex_context=context, tolerant_parsing=True)
        self.nodes: Sequence[Any] = self._walker.get_latex_nodes()[0]

    def line(self, node: Any) -> int:
        """Return the number of the line in which a node begins."""
        return int(self._walker.pos_to_lineno_colno(node.pos)[0])

    def definitions(self) -> Iterator[tuple[str, Definition]]:
        r"""Yield the commands that ``\newcommand`` and its like define, and ``\def``."""
        nodes = list(self.nodes)
        for node in nodes:
            nodes += inside(node)
        for members in ([*self.nodes], *(inside(node) for node in nodes)):
            for k, node in enumerate(members):
                name = getattr(node, "macroname", "")
                if name in DEFINING:
                    yield from _defined(node)
                elif name == "DeclarePairedDelimiter":  # \norm{x}, \norm*{x}, \norm[\big]{x}
                    groups = [n for n in members[k + 1 :] if delimiters(n) == ("{", "}")]
                    if len(groups) > 2:
                        said, left, right = map(text_of, groups[:3])
                        bars = Source(f"{left} #3 {right}").nodes
                        yield said.removeprefix("\\"), Definition(1, bars, given="*[{")
                elif name == "def" and k + 1 < len(members):
                    rest = members[k + 1 :]
                    body = next((n for n in rest if delimiters(n) == ("{", "}")), None)
                    arguments = "".join(getattr(n, "chars", "") for n in rest[:2]).count("#")
                    if body is not None and hasattr(rest[0], "macroname"):
                        yield rest[0].macroname, Definition(arguments, body.nodelist)

    def tokens(self, nodes: Sequence[Any], *, formula: bool = False) -> list[Token]:
        """Return what nodes say.

        Args:
            formula: whether they stand in a formula; ``$`` stands around each formula of a text.
        """
        return self._joined(list(self._tokens(nodes, formula, {}, 0)))

    def _tokens(
        self, nodes: Sequence[Any], formula: bool, given: Mapping[int, list[Token]], depth: int
    ) -> Iterator[Token]:
        for node in nodes:
            kind, line = type(node).__name__, 0 if depth else self.line(node)
            if kind == "LatexCharsNode":
                yield from self._chars(node, formula, given, depth)
            elif kind == "LatexSpecialsNode":
                # & and ~ lay out; quotation marks are words
                if node.specials_chars not in "&~":
                    yield Token(node.specials_chars, line)
            elif kind == "LatexMathNode":
                yield from self._formula(node, given, depth)
            elif kind == "LatexGroupNode":
                yield from self._group(node, formula, given, depth)
            elif kind == "LatexEnvironmentNode":
                if node.environmentname.rstrip("*") in FORMULAS:
                    yield from self._formula(node, given, depth)
                else:
                    yield Token(rf"\begin{{{node.environmentname}}}", line)
                    cells = CELLS.search(node.environmentname)
                    for part in node.nodelist:
                        if cells and getattr(part, "specials_chars", "") == "&":
                            yield Token("&", line)
                        elif cells and getattr(part, "macroname", "") == "\\":
                            yield Token(r"\\", line)
                        else:
                            yield from self._tokens([part], formula, given, depth)
                    yield Token(rf"\end{{{node.environmentname}}}", line)
            elif kind == "LatexMacroNode":
                yield from self._command(node, line, formula, given, depth)

    def _chars(
        self, node: Any, formula: bool, given: Mapping[int, list[Token]], depth: int
    ) -> Iterator[Token]:
        for match in re.finditer(r"#(\d)|\S" if formula else r"#(\d)|[^\s#]+", node.chars):
            if match[1] and int(match[1]) in given:
                yield from given[int(match[1])]
                continue
            before = node.chars[: match.start()].count("\n")
            yield Token(match[0], 0 if depth else self.line(node) + before)

    def _formula(self, node: Any, given: Mapping[int, list[Token]], depth: int) -> Iterator[Token]:
        line = 0 if depth else self.line(node)
        yield Token("$", line)
        yield from self._tokens(node.nodelist, True, given, depth)
        yield Token("$", line)

    def _group(
        self, node: Any, formula: bool, given: Mapping[int, list[Token]], depth: int
    ) -> Iterator[Token]:
        inner = list(self._tokens(node.nodelist, formula, given, depth))
        line = 0 if depth else self.line(node)
        opening, closing = node.delimiters
        bare = opening == "{" and formula and len([t for t in inner if not t.spacing]) == 1
        yield from inner if bare else [Token(opening, line), *inner, Token(closing, line)]

    def _command(
        self, node: Any, line: int, formula: bool, given: Mapping[int, list[Token]], depth: int
    ) -> Iterator[Token]:
        name = node.macroname
        arguments = [argument for argument in _arguments(node) if argument is not None]
        if name in self._definitions and depth < DEPTH:
            defined = self._definitions[name]
            values = {
                k: self._argument(argument or defined.default, formula, given, depth)
                for k, argument in enumerate(_arguments(node), start=1)
            }
            for token in self._tokens(defined.body, formula, values, depth + 1):
                yield token._replace(line=token.line or line)
        elif name == "\\":
            yield Token(r"\\", line, spacing=True)
        elif name in SPACES:
            yield Token(r"\quad" if name in WIDE else r"\,", line, spacing=True)
        elif name == "ensuremath" and arguments:
            yield from self._tokens(arguments[0].nodelist, True, given, depth)
        elif name not in SILENT:
            yield Token(f"\\{ALIKE.get(name, name)}", line)
            words = name.startswith("text") or name in ("mbox", "operatorname", "mathrm")
            yield from self._tokens(arguments, formula and not words, given, depth)

    def _argument(
        self, argument: Any, formula: bool, given: Mapping[int, list[Token]], depth: int
    ) -> list[Token]:
        nodes = [] if argument is None else inside(argument) or [argument]
        return list(self._tokens(nodes, formula, given, depth))

    def _joined(self, tokens: list[Token]) -> list[Token]:
        """Leave out the line breaks, and the spaces after them, inside one formula."""
        kept: list[Token] = []
        for k, token in enumerate(tokens):
            if token.text == r"\\" and token.spacing:
                rest = (t for t in tokens[k + 1 :] if not t.spacing)
                if GOES_ON.match(next(rest, Token("", 0)).text):
                    continue
                token = token._replace(text=r"\quad")
            elif token.spacing and kept and tokens[k - 1].text == r"\\":
                continue
            elif token.text == r"\," and token.spacing:
                if not kept or kept[-1].text != ",":
                    continue
                token = token._replace(text=r"\quad")
            kept.append(token)
        return kept


def compact(tokens: Sequence[Token]) -> str:
    """Return tokens as one writes them: with a space where two of them would be read as one."""
    parts = [token.text for token in tokens[:1]]
    for before, token in pairwise(tokens):
        name = re.fullmatch(r"\\[A-Za-z]+", before.text)
        words = len(before.text) > 1 and not before.text.startswith("\\")
        parts.append(" " if (name or words) and token.text[0].isalpha() else "")
        parts.append(token.text)
    return "".join(parts)


def inside(node: Any) -> list[Any]:
    """Return the nodes that a node has, its arguments with them."""
    return [*filter(None, _arguments(node)), *(getattr(node, "nodelist", None) or ())]


def delimiters(node: Any) -> tuple[str, str] | None:
    """Return what stands around a group (None: the node is none)."""
    return node.delimiters if type(node).__name__ == "LatexGroupNode" else None


def text_of(node: Any) -> str:
    """Return an argument as it is written, without its braces."""
    return "".join(part.latex_verbatim() for part in inside(node) or [node]).strip()


def _arguments(node: Any) -> Sequence[Any]:
    given = getattr(node, "nodeargd", None)
    return (given.argnlist or ()) if given is not None else ()


def _defined(node: Any) -> Iterator[tuple[str, Definition]]:
    r"""Yield what ``\newcommand[n][default]`` defines, if both its parts are there."""
    groups = [part for part in _arguments(node) if delimiters(part) == ("{", "}")]
    names = [part.macroname for part in _arguments(node) if hasattr(part, "macroname")]
    options = [part for part in _arguments(node) if delimiters(part) == ("[", "]")]
    names += [text_of(groups.pop(0)).removeprefix("\\")] if len(groups) > 1 else []
    if names and groups:
        number = text_of(options[0]) if options else "0"
        arguments = int(number) if number.isdigit() else 0
        yield (
            names[0],
            Definition(arguments, groups[-1].nodelist, options[1] if options[1:] else None),
        )
