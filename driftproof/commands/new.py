"""``driftproof new``: a working file to start from."""

from __future__ import annotations

import re
from pathlib import Path

import click

from toolkit.discover import Leaf, find, leaves
from toolkit.errors import DriftproofError, unknown_name

CHOICES = ("claim", "problem", "algorithm")


@click.command()
@click.argument("kind")
@click.argument("name")
@click.option("--from", "origin", help="Which leaf to start from (default: the shortest).")
def command(kind: str, name: str, origin: str | None) -> None:
    """Write a file of KIND (claim, problem, algorithm) called NAME: a real leaf to change."""
    if kind not in CHOICES:
        raise unknown_name("kind", kind, CHOICES)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)?", name):
        raise DriftproofError(
            f"name {name!r}", "lower-case words and digits, as in mine/drift-bound", "rename it"
        )
    path = Path(name.split("/")[-1].replace("-", "_") + ".py")
    if path.exists():
        raise DriftproofError(f"{path} exists", "a new file", "choose another name, or move it")
    chosen = find(kind, origin) if origin else shortest(kind)
    text = renamed(chosen, name)
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
        click.echo(f"now: in a claim beside it, from {path.stem} import {chosen.symbol}")


def shortest(kind: str) -> Leaf:
    """Return the shortest leaf of a kind: the example to copy.

    Of claims, the shortest bound with a measured left and a right side of its own; of algorithms,
    one that is written out, not a variation of others.
    """
    usual = [leaf for leaf in leaves(kind).values() if _whole(leaf, kind)]
    return min(usual, key=lambda leaf: (leaf.lines, leaf.name))


def _whole(leaf: Leaf, kind: str) -> bool:
    text = leaf.path.read_text(encoding="utf-8")
    if kind != "claim":
        alone = "from toolkit.algorithms." not in text
        return kind == "problem" or (alone and "def init(" in text and "def step(" in text)
    bound = leaf.metadata.get("kind") == "bound"
    return bound and "def left(view)" in text and "def right(c)" in text


def renamed(leaf: Leaf, name: str) -> str:
    """Return a leaf's file under another name."""
    text = leaf.path.read_text(encoding="utf-8").replace(f'name="{leaf.name}"', f'name="{name}"', 1)
    return f"# Started from driftproof's {leaf.name}: change what it says and does.\n{text}"
