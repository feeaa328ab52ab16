"""``driftproof new``: a working file to start from."""

from __future__ import annotations

import re
from pathlib import Path

import click

from toolkit.discover import Leaf, leaves
from toolkit.errors import DriftproofError, unknown_name

CHOICES = ("claim", "problem", "algorithm")


@click.command()
@click.argument("kind")
@click.argument("name")
def command(kind: str, name: str) -> None:
    """Write a file of KIND (claim, problem, algorithm) called NAME: the shortest real leaf."""
    if kind not in CHOICES:
        raise unknown_name("kind", kind, CHOICES)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)?", name):
        raise DriftproofError(
            f"name {name!r}", "lower-case words and digits, as in mine/drift-bound", "rename it"
        )
    path = Path(name.split("/")[-1].replace("-", "_") + ".py")
    if path.exists():
        raise DriftproofError(f"{path} exists", "a new file", "choose another name, or move it")
    text = renamed(shortest(kind), name)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DriftproofError(
            f"{path}: {error.strerror}", "a folder that can be written to", "change folder"
        ) from error
    click.echo(f"wrote {path}")
    if kind == "claim":
        click.echo(f"now: driftproof verify {path}")
    else:
        symbol = shortest(kind).symbol
        click.echo(f"now: in a claim beside it, from {path.stem} import {symbol}")


def shortest(kind: str) -> Leaf:
    """Return the shortest leaf of a kind: the example to copy.

    Of claims, the shortest bound with a measured left and a right side of its own.
    """
    usual = [leaf for leaf in leaves(kind).values() if kind != "claim" or _whole(leaf)]
    return min(usual, key=lambda leaf: (leaf.lines, leaf.name))


def _whole(leaf: Leaf) -> bool:
    text = leaf.path.read_text(encoding="utf-8")
    bound = leaf.metadata.get("kind") == "bound"
    return bound and "def left(view)" in text and "def right(c)" in text


def renamed(leaf: Leaf, name: str) -> str:
    """Return a leaf's file under another name."""
    text = leaf.path.read_text(encoding="utf-8").replace(f'name="{leaf.name}"', f'name="{name}"', 1)
    return f"# Started from driftproof's {leaf.name}: change what it says and does.\n{text}"
