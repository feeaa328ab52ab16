"""``driftproof new``: a working file to start from."""

from __future__ import annotations

import re
from pathlib import Path

import click

from toolkit.discover import Leaf, find
from toolkit.errors import DriftproofError, unknown_name

ORIGINS = {
    "claim": "comfedl/lemma-2",
    "problem": "opposed-clients",
    "algorithm": "fedavg",
    "dataset": "mnist",
    "experiment": "worked-example/local-steps",
    "kernel": "nested-fedavg-s",
}
"""The leaf of each kind that a new one starts from: short, and whole in its file."""
NEXT = {
    "claim": "driftproof verify {path}",
    "problem": "in a claim beside it, from {stem} import {symbol}",
    "algorithm": "in a claim beside it, from {stem} import {symbol}",
    "dataset": "from {stem} import {symbol}, and {symbol}.load(folder); in toolkit/datasets/ it is "
    "found by its files",
    "experiment": "driftproof run {path} --profile smoke",
    "kernel": "name your algorithm and your problem in it; in synthetic/kernels/ it is found and "
    "tested",
}
"""What to do with the file."""


@click.command()
@click.argument("kind")
@click.argument("name")
@click.option("--from", "origin", help="Which leaf to start from (default: a short one).")
def command(kind: str, name: str, origin: str | None) -> None:
    """Write a file to start from, into this folder: a real leaf of KIND to change.

    The file is called as NAME ends: mine/drift-bound is written into drift_bound.py.
    KIND is claim, problem, algorithm, dataset, experiment or kernel.
    """
    if kind not in ORIGINS:
        raise unknown_name("kind", kind, ORIGINS)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)?", name):
        raise DriftproofError(
            f"name {name!r}", "lower-case words and digits, as in mine/drift-bound", "rename it"
        )
    path = Path(name.split("/")[-1].replace("-", "_") + ".py")
    chosen = find(kind, origin or ORIGINS[kind])
    text = renamed(chosen, name)
    try:
        with path.open("x", encoding="utf-8") as file:  # never over what is there
            file.write(text)
    except FileExistsError as error:
        raise DriftproofError(
            f"{path.absolute()} exists", "a new file", "choose another name, or move it"
        ) from error
    except OSError as error:
        raise DriftproofError(
            f"{path}: {error.strerror}", "a folder that can be written to", "change folder"
        ) from error
    click.echo(f"wrote {path.absolute()}: the {kind} {name}")
    if name.count("/") and Path(name).parent.is_dir():
        click.echo(
            f"it is not in the folder {Path(name).parent}: a {kind}'s name is no path; "
            "move the file where you like"
        )
    click.echo(f"now: {NEXT[kind].format(path=path, stem=path.stem, symbol=chosen.symbol)}")


def renamed(leaf: Leaf, name: str) -> str:
    """Return a leaf's file under another name."""
    text = leaf.path.read_text(encoding="utf-8").replace(f'name="{leaf.name}"', f'name="{name}"', 1)
    return f"# Started from driftproof's {leaf.name}: change what it says and does.\n{text}"
