"""Edits certificates and counterexamples by a grammar, and counts what the checkers accept.

    python -m tests.benchmarks.forged [--edits 100000] [--seed 0] [FOLDER]

Of a file that is accepted though it states something else, another reader makes the semidefinite
program (``tests.certificates``), and a solver finds its worst case: a certificate's must not exceed
the right side, a counterexample's must. The files are those of the tests, or of a run's folder.
"""

import argparse
import json
import random
from collections import Counter
from pathlib import Path

import click

from tests.certificates import RUNS, accepted, counterexamples, edits, made, true


def counted(text: str, number: int, choose: random.Random) -> tuple[Counter[str], list[str]]:
    """Return how many edits of a file end how, and the files that are accepted and false."""
    file, found, false = json.loads(text), Counter[str](), list[str]()
    for changed, _ in zip(edits(file, choose), range(number), strict=False):
        found["edits"] += 1
        shown = accepted(changed)
        if shown is None:
            found["refused"] += 1
        elif not shown.differs_from(file):
            found["the same statement"] += 1
        elif (holds := true(shown)) is None:
            found["the solver gave up"] += 1
        elif holds:
            found["another true statement"] += 1
        else:
            found["FALSE"] += 1
            false.append(shown.text)
    return found, false


def main() -> None:
    """Print a table, and every false file that was accepted."""
    options = argparse.ArgumentParser()
    options.add_argument("--edits", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("folder", nargs="?", type=Path)
    given = options.parse_args()
    if given.folder:
        texts = [path.read_text(encoding="utf-8") for path in sorted(given.folder.glob("*.json"))]
    else:
        texts = [*(made(name).text for name in RUNS), *counterexamples()]
    choose, total = random.Random(given.seed), Counter[str]()
    for text in texts:
        found, false = counted(text, -(-given.edits // len(texts)), choose)
        total += found
        for file in false:
            click.echo(file)
    click.echo(", ".join(f"{number:,} {what}" for what, number in total.items()))


if __name__ == "__main__":
    main()
