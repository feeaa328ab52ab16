r"""The theorems of a paper that ``\driftproof{claim}`` marks, as their source has them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from driftproof.toolkit.discover import text_of as text_of_file
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.latex_sync.latex import (
    FORMULAS,
    Definition,
    Source,
    Token,
    compact,
    inside,
    text_of,
)

READING = ("input", "include", "subfile")
COMMAND = re.compile(r"\\([A-Za-z]+)")
OTHERWISE = re.compile(
    r"\\(?:[gex]def|let|DeclareRobustCommand|(?:New|Renew|Provide|Declare)DocumentCommand"
    r"|DeclarePairedDelimiterXP{0,2})"
    r"\s*\*?\s*\{?\s*\\([A-Za-z]+)"
)
"""Commands that are defined in another way than ``Source.definitions`` reads."""
LESS = re.compile(r"\\le(?:q|qslant)?(?![A-Za-z])|≤")


class Formula(NamedTuple):
    """A formula of a theorem.

    Attributes:
        labels: those in it.
        display: whether it stands on lines of its own.
        line: of its first ≤, or in which it begins.
    """

    latex: str
    labels: frozenset[str]
    display: bool
    line: int


@dataclass(frozen=True)
class Theorem:
    r"""What stands between ``\begin`` and ``\end`` around a mark.

    Attributes:
        label: the theorem's, or the claim's name where it has none.
        right: the label of the formula whose right side is the claim's ("": any of them).
        file, line: where it begins.
        tokens: what it says.
        formulas: its formulas, without the words between them.
        opaque: commands in it that are not expanded, since the paper defines them twice or in a way
            that is not read; and the text of their definitions.
    """

    claim: str
    label: str
    right: str
    file: Path
    line: int
    tokens: tuple[Token, ...]
    formulas: tuple[Formula, ...]
    opaque: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """What it says, however it is laid out: tokens with a space between them."""
        words = (token.text for token in self.tokens if not token.spacing)
        return " ".join([*words, *self.opaque.values()])

    @property
    def statement(self) -> str:
        """Its formulas as one line of LaTeX, without the inequalities that are conditions.

        The bound is the formula that has the label, or else those on lines of their own.
        """
        parts = [
            part.strip(" .,;")
            for formula in self.formulas
            for part in formula.latex.split(r",\quad")
            if not LESS.search(part) or formula in self._bounds
        ]
        return r",\quad ".join(parts)

    @property
    def bound_at(self) -> int:
        """The line of the bound's ≤."""
        return next((formula.line for formula in self._bounds), self.line)

    @property
    def _bounds(self) -> list[Formula]:
        every = [formula for formula in self.formulas if LESS.search(formula.latex)]
        if self.right:
            return [formula for formula in every if self.right in formula.labels]
        return [formula for formula in every if formula.display] or every


def theorems(main: Path) -> list[Theorem]:
    """Return the marked theorems of a paper, in the order of its source.

    Raises:
        DriftproofError: a file cannot be read, a mark stands in no environment, or two marks have
            one label.
    """
    texts = _texts(main)
    definitions: dict[str, Definition] = {}
    unclear: dict[str, str] = {}
    for text in (*_packages(main, texts[main]), *texts.values()):
        for name, definition in Source(text).definitions():
            before = _body(definitions.setdefault(name, definition))
            if before != _body(definition):
                unclear[name] = f"{unclear.get(name, before)} {_body(definition)}"
            definitions[name] = definition
        for match in OTHERWISE.finditer(text):
            unclear[match[1]] = f"{unclear.get(match[1], '')} {_definition(text[match.start() :])}"
    definitions = {name: of for name, of in definitions.items() if name not in unclear}
    found = [
        replace(theorem, opaque=_opaque(theorem, definitions, unclear))
        for path, text in texts.items()
        for theorem in _marked(path, Source(text, definitions))
    ]
    for label, times in Counter(theorem.label for theorem in found).items():
        if times > 1:
            where = [f"{t.file}:{t.line}" for t in found if t.label == label]
            raise DriftproofError(
                f"{' and '.join(where)}: {times} marked theorems are called {label}",
                "a label of its own for each",
                r"write \label{thm:name} after \begin{theorem}",
            )
    return found


def _body(of: Definition) -> str:
    return "".join(node.latex_verbatim() for node in of.body)


def _definition(text: str) -> str:
    """Return the line with which a text begins, and those on which its braces close."""
    kept = ""
    for line in text.splitlines():
        kept += f" {line}"
        if kept.count("{") <= kept.count("}"):
            break
    return kept


def _opaque(
    theorem: Theorem, definitions: Mapping[str, Definition], unclear: Mapping[str, str]
) -> dict[str, str]:
    """Return the commands of a theorem of which it is not clear here what they print.

    Those that their definitions use are with them, so that no change of one goes unseen.
    """
    said: dict[str, str] = {}
    waiting = {token.text.removeprefix("\\") for token in theorem.tokens} & unclear.keys()
    while waiting:
        name = waiting.pop()
        said[name] = unclear[name] if name in unclear else _body(definitions[name])
        waiting |= {*COMMAND.findall(said[name])} & (unclear.keys() | definitions.keys()) - {*said}
    return {name: " ".join(of.split()) for name, of in sorted(said.items())}


def _texts(main: Path) -> dict[Path, str]:
    """Return the texts of a paper's files, those that others read in after them."""
    texts, waiting = dict[Path, str](), [main]
    while waiting:
        path = waiting.pop(0)
        if path in texts:
            continue
        texts[path] = text = _read(path)
        named = re.findall(rf"^[^%\n]*?\\(?:{'|'.join(READING)})\s*\{{([^}}]+)\}}", text, re.M)
        for name in named:
            one = main.parent / name.strip()
            tries = [one, one.with_name(f"{one.name}.tex")]
            # what is not there is LaTeX's to report, and need not be the author's file
            waiting += [path for path in tries if path.is_file()][:1]
    return texts


def _packages(main: Path, text: str) -> Iterator[str]:
    """Yield the texts of the packages that lie beside the paper: they may define commands."""
    for names in re.findall(r"^[^%\n]*?\\usepackage(?:\[[^]]*\])?\{([^}]+)\}", text, re.M):
        for name in names.split(","):
            path = main.parent / f"{name.strip()}.sty"
            if path.is_file() and path.name != "driftproof.sty":
                yield _read(path)


def _read(path: Path) -> str:
    try:
        return text_of_file(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DriftproofError(
            f"{path}: {reason}", "a readable LaTeX file, in UTF-8", "check the path"
        ) from error


def _marked(path: Path, source: Source) -> Iterator[Theorem]:
    for mark, around in _marks(source.nodes, ()):
        line = source.line(mark)
        claim, right = _of_mark(mark)
        if not around or around[-1].environmentname == "document":
            raise DriftproofError(
                rf"{path}:{line}: \driftproof{{{claim}}} stands in no theorem",
                r"the mark between \begin and \end of what it speaks of",
                r"write it behind \begin{theorem}\label{…}",
            )
        theorem = around[-1]
        labels = [text_of(node) for node in _labels(theorem.nodelist)]
        direct = (node for node in theorem.nodelist if getattr(node, "macroname", "") == "label")
        own = [text_of(label) for node in direct for label in _labels([node])]
        formulas = tuple(_formulas(source, theorem))
        if right and not any(right in formula.labels for formula in formulas):
            raise DriftproofError(
                f"{path}:{line}: no formula of {claim} has the label {right}",
                f"one of {', '.join(label for label in labels if label not in own) or 'none'}",
                r"write \label{…} into the formula, or leave out […]",
            )
        tokens = source.tokens(inside(theorem))
        yield Theorem(
            claim,
            next(iter(own or labels), claim),
            right,
            path,
            source.line(theorem),
            tuple(tokens),
            formulas,
        )


def _marks(nodes: Sequence[Any], around: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    for node in nodes:
        if getattr(node, "macroname", "") == "driftproof":
            yield node, around
        elif getattr(node, "environmentname", ""):
            yield from _marks(node.nodelist, (*around, node))
        elif getattr(node, "macroname", "") not in ("newcommand", "providecommand"):
            yield from _marks(inside(node), around)


def _of_mark(mark: Any) -> tuple[str, str]:
    arguments = mark.nodeargd.argnlist
    right = text_of(arguments[0]) if arguments[0] is not None else ""
    return text_of(arguments[1]), right


def _labels(nodes: Sequence[Any]) -> Iterator[Any]:
    for node in nodes:
        if getattr(node, "macroname", "") == "label":
            yield node.nodeargd.argnlist[0]
        else:
            yield from _labels(inside(node))


def _formulas(source: Source, theorem: Any) -> Iterator[Formula]:
    for node in _math(theorem.nodelist):
        tokens = source.tokens(node.nodelist, formula=True)
        yield Formula(
            compact(tokens),
            frozenset(map(text_of, _labels(node.nodelist))),
            getattr(node, "displaytype", "display") == "display",
            next((t.line for t in tokens if LESS.match(t.text)), source.line(node)),
        )


def _math(nodes: Sequence[Any]) -> Iterator[Any]:
    for node in nodes:
        name = getattr(node, "environmentname", "").rstrip("*")
        if type(node).__name__ == "LatexMathNode" or name in FORMULAS:
            yield node
        else:
            yield from _math(inside(node))
