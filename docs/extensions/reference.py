"""The reference's three directives: public names, leaves of a kind, and the commands' own help.

``.. public:: MODULE`` documents the names in its content, each from its docstring; ``.. leaves::
KIND`` every leaf of a kind, with its formula and what its file says; ``.. commands::`` every
command with what ``--help`` prints. Annotations are shown as they are written.
"""

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterable
from typing import Any

import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext.napoleon import GoogleDocstring
from sphinx.util.docutils import SphinxDirective

from driftproof.cli import cli
from driftproof.toolkit.discover import Leaf, leaves

CODE = re.compile(r"``.*?``|:\w+:`[^`]*`|`[^`]*`_?")
LISTS = {"Args:": "Parameters", "Attributes:": "Attributes"}
ENTRY = 4
WIDTH = 88


class Written(str):
    """An annotation, shown as it stands in the source."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Parsed(SphinxDirective):
    """A directive whose content is made as reStructuredText."""

    has_content = True

    def parsed(self, lines: Iterable[str]) -> list[nodes.Node]:
        """Return what lines of reStructuredText say."""
        made = nodes.container()
        source = f"{self.env.docname}, generated"
        self.state.nested_parse(StringList(list(lines), source), self.content_offset, made)
        return made.children


class Public(Parsed):
    """``.. public:: driftproof``, and names in its content."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the names' entries."""
        module = self.arguments[0]
        names = " ".join(self.content).split()
        return self.parsed(x for name in names for x in public(module, name, self.config))


def public(module: str, name: str, config: Config) -> list[str]:
    """Return the lines that document a public name."""
    thing = getattr(importlib.import_module(module), name)
    head = [f".. py:currentmodule:: {module}", ""]
    if inspect.ismodule(thing):
        raise ValueError(f"{module}.{name} is a module: give it a page")
    if inspect.isclass(thing) and thing.__name__ == name:
        return [*head, f".. autoclass:: {name}", "   :members:", ""]
    if inspect.isfunction(thing) and thing.__name__ == name:
        return [*head, f".. autofunction:: {name}", ""]
    if inspect.isclass(thing):  # a decorator that is a class: bound is BoundClaim
        of_all = inspect.getdoc(thing.__mro__[1]) or ""
        said = [
            *told(inspect.getdoc(thing) or "", config),
            "",
            "*Of every kind of claim*",
            "",
            *told(of_all, config),
        ]
        return [*head, f".. py:function:: {name}{signature(thing)}", "", *indented(said), ""]
    return [*head, f".. autodata:: {name}", "   :no-value:", ""]


def told(docstring: str, config: Config) -> list[str]:
    """Return a docstring as lines of reStructuredText."""
    return GoogleDocstring(readable(docstring), config).lines()


class Leaves(Parsed):
    """``.. leaves:: problem``: every leaf of a kind."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the leaves' entries."""
        found = leaves(self.arguments[0]).values()
        return self.parsed(line for leaf in found for line in of_leaf(leaf, self.config))


OPENED = [".. raw:: html", "", "   <details><summary>In its file</summary>"]
CLOSED = [".. raw:: html", "", "   </details>"]


def of_leaf(leaf: Leaf, config: Config) -> list[str]:
    """Return the lines that document a leaf: name, source, formula, parameters, its file's text."""
    thing, module = leaf.load(), importlib.import_module(str(leaf.module))
    public_module = f"driftproof.{leaf.kind}s"
    statement = str(leaf.metadata.get("statement", ""))
    formula = [".. math::", "", f"   {' '.join(statement.split())}", ""] if statement else []
    source = str(leaf.metadata.get("source", ""))
    own = told(inspect.getdoc(thing) or "", config)
    file = readable(inspect.getdoc(module) or "").splitlines()
    folded = [*OPENED, "", *file, "", *CLOSED] if file else []
    return [
        f".. py:class:: {leaf.symbol}{signature(thing)}",
        f"   :module: {public_module}",
        "",
        f"   ``{leaf.name}``" + (f", {source}" if source else ""),
        "",
        *indented(formula),
        *indented(own),
        "",
        *indented(folded),
        "",
    ]


class Commands(Parsed):
    """``.. commands::``: what each command's ``--help`` prints."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each command."""
        made: list[nodes.Node] = []
        with click.Context(cli, info_name="driftproof") as group:
            for name in cli.list_commands(group):
                command = cli.get_command(group, name)
                assert command is not None
                with click.Context(command, group, name, terminal_width=WIDTH) as context:
                    text = command.get_help(context)
                section = nodes.section(ids=[nodes.make_id(f"driftproof-{name}")])
                title = nodes.title("", "", nodes.literal("", f"driftproof {name}"))
                shown = f"$ driftproof {name} --help\n{text}"
                block = nodes.literal_block(shown, shown, language="console")
                section += [title, block]
                self.state.document.note_explicit_target(section)
                made.append(section)
        return made


def signature(thing: Any) -> str:
    """Return the parameters of a callable with its annotations as written, without its class's."""
    try:
        made = inspect.signature(thing)
    except (TypeError, ValueError):
        return "()"
    inits = {f.name for f in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else ()
    parameters = [
        each.replace(
            annotation=each.empty if each.annotation is each.empty else written(each.annotation),
            default=each.default if plain(each.default) else Written("..."),
        )
        for each in made.parameters.values()
        if not inits or each.name in inits
    ]
    returns = made.return_annotation
    returned = inspect.Signature.empty
    if returns not in (inspect.Signature.empty, None, "None") and not inspect.isclass(thing):
        returned = written(returns)
    return str(made.replace(parameters=parameters, return_annotation=returned))


def written(annotation: Any) -> Any:
    """Return an annotation that is shown as it stands in the source."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return Written(text)


def plain(default: Any) -> bool:
    """Say whether a default is shown as itself: what is longer than a number or a word is not."""
    return default is inspect.Parameter.empty or (
        isinstance(default, bool | int | float | str | tuple | None.__class__)
        and len(repr(default)) < 40
    )


def shown(
    app: Sphinx,
    what: str,
    name: str,
    thing: Any,
    options: Any,
    said: str | None,
    returns: str | None,
) -> tuple[str, str] | None:
    """Give autodoc the signature with annotations as written."""
    if what not in ("class", "function", "method", "decorator"):
        return None
    if what == "class" and (inspect.isabstract(thing) or said is None):
        return None
    if what == "method":
        return None
    return signature(thing), ""


def readable(text: str) -> str:
    """Return a docstring as reStructuredText, but for the sections that napoleon reads.

    ``|`` and ``*`` of formulas are no markup. An entry of a list of parameters may have several
    names, which stay together.
    """
    lines, literal, section = [], None, ""
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if line.strip() and not indent:
            section = LISTS.get(line.strip(), "")
            if section:
                lines += [f"**{section}**", ""]
                continue
        if section:
            lines.append(_of_list(line, indent))
            continue
        if literal is None and not line.lstrip().startswith((">>>", "...", "=", "+-")):
            bullet = indent + 2 * line.lstrip().startswith("* ")
            line = line[:bullet] + _escaped_line(line[bullet:])
        if literal is None and line.endswith("::"):
            literal = indent
        lines.append(line)
    return "\n".join(lines)


def _of_list(line: str, indent: int) -> str:
    """Return a line of a list of parameters; an entry begins at four spaces."""
    if indent != ENTRY:
        return "  " + _escaped_line(line.strip()) if line.strip() else ""
    names, colon, said = line.strip().partition(":")
    return f"* **{_escaped_words(names)}**{colon}{_escaped_line(said)}"


def _escaped_line(line: str) -> str:
    made, end = "", 0
    for code in CODE.finditer(line):
        made += _escaped_words(line[end : code.start()]) + code[0]
        end = code.end()
    return made + _escaped_words(line[end:])


def _escaped_words(text: str) -> str:
    bold = re.compile(r"\*\*([^*]+)\*\*")
    parts = bold.split(text)
    return "".join(
        f"**{part}**" if place % 2 else re.sub(r"([|*]|_(?=[\s),.;:²]|$))", r"\\\1", part)
        for place, part in enumerate(parts)
    )


def read(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape the formulas of a docstring before napoleon reads it."""
    lines[:] = readable("\n".join(lines)).split("\n")


def indented(lines: Iterable[str]) -> list[str]:
    """Return lines as the content of a directive."""
    return [f"   {line}" if line else "" for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives, and how docstrings are read."""
    app.add_directive("public", Public)
    app.add_directive("leaves", Leaves)
    app.add_directive("commands", Commands)
    app.connect("autodoc-process-docstring", read, priority=400)
    app.connect("autodoc-process-signature", shown)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
