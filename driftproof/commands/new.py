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
    "kernel": "minimax-local-steps",
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
    """Write a file called NAME to start from: a real leaf of KIND to change.

    KIND is claim, problem, algorithm, dataset, experiment or kernel.
    """
    if kind not in ORIGINS:
        raise unknown_name("kind", kind, ORIGINS)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)?", name):
        raise DriftproofError(
            f"name {name!r}", "lower-case words and digits, as in mine/drift-bound", "rename it"
        )
    path = Path(name.split("/")[-1].replace("-", "_") + ".py")
    if path.exists():
        raise DriftproofError(f"{path} exists", "a new file", "choose another name, or move it")
    chosen = find(kind, origin or ORIGINS[kind])
    text = renamed(chosen, name)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DriftproofError(
            f"{path}: {error.strerror}", "a folder that can be written to", "change folder"
        ) from error
    click.echo(f"wrote {path}")
    click.echo(f"now: {NEXT[kind].format(path=path, stem=path.stem, symbol=chosen.symbol)}")


def renamed(leaf: Leaf, name: str) -> str:
    """Return a leaf's file under another name."""
    text = leaf.path.read_text(encoding="utf-8").replace(f'name="{leaf.name}"', f'name="{name}"', 1)
    return f"# Started from driftproof's {leaf.name}: change what it says and does.\n{text}"
