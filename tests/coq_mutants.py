"""Changed theorems of Coq, by a grammar of edits: a false one must not be accepted.

``python -m tests.coq_mutants --count 1000 --seed 0`` prints what Coq does with them.

A mutant is of a certificate of which ``edits`` changes one to three parts. Its theorem is written
without asking driftproof's checker: with its own certificate and proof, or as a forgery, the
changed statement above the first one's. Every second time a number of the proof is changed as well.
Whether the statement is false a solver says, by another reader's program, at several points of a
region; or an optimum that is known exactly, if only the right side is changed.
"""

import json
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle, islice, product
from types import SimpleNamespace
from typing import Any

import click

from driftproof.synthetic.classes import for_all, smooth_strongly_convex
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.worst_case import check_counterexample, coqc
from driftproof.verifiers.worst_case.machine_checked import theorem_of
from driftproof.verifiers.worst_case.refutation import Refutation
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.statement import number
from driftproof.verifiers.worst_case.theorem import Theorem
from tests import certificates as ours
from tests import test_theorems as over_regions

SUPPORTED = ("convex", "strongly convex", "nonconvex", "local steps", "fixed point", "contraction")
STATED = re.compile(r"(?:Lemma points_of_the_certificate|Theorem \w+) : .*?\nProof\.", re.S)
NUMBER = re.compile(r"(?<![\w.])[1-9]\d*(?!\w)")
SHARES = (Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000))
"""Where in a region, as shares of each letter's range, a statement is tried."""
Mutant = tuple[str, str, bool]
"""Kind, text, and whether its statement is false."""


def certificates() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield kinds, names and files: supported, of regions, refutations."""
    descent = over_regions.claim(over_regions.descent, 1, L=for_all("0 < L"))
    contraction = over_regions.claim(
        lambda c: (1 - c.eta * c.mu) ** 2,
        1,
        "0 < eta <= 2/(1 + mu)",
        left=over_regions.distance,
        of=smooth_strongly_convex(1, for_all("0 < mu < 1")),
    )
    texts = {
        "supported": {name: ours.made(name).text for name in SUPPORTED},
        "region": {
            str(of): over_regions.theorem_of(over_regions.row_of(of))
            for of in (descent, contraction)
        },
        "refuted": dict(enumerate(ours.counterexamples()[:4])),
    }
    for kind, those in texts.items():
        yield from ((kind, str(name), json.loads(text)) for name, text in those.items())


def theorem(file: dict[str, Any]) -> Any:
    """Return what writes a file's theorem, right or wrong."""
    if file["schema"] != check_counterexample.COUNTEREXAMPLE:
        return theorem_of(file)
    where = {name: [number(c) for c in of] for name, of in file["coordinates"].items()}
    numbers = {name: number(of) for name, of in file["numbers"].items()}
    shown: Any = SimpleNamespace(
        where=where, numbers=numbers, dimension=len(next(iter(where.values())))
    )
    return Refutation(Theorem(file), shown)


def bare(file: dict[str, Any]) -> Any:
    """Return what a file states, but the right side."""
    ending = {**file["conclusion"], "right": "", "letters": {}}
    return [file[part] for part in ("vectors", "values", "functions", "assumptions")], ending


def false(file: dict[str, Any], name: str, first: dict[str, Any]) -> bool:
    """Tell whether a file states what is certainly not so."""
    files = [file]
    if "region" in file:
        region = Region(file["region"])
        cube = product(SHARES, repeat=len(region.free))
        shares = (dict(zip(region.free, at, strict=True)) for at in cube)
        points = ({n: of.at(at) for n, of in region.maps.items()} for at in shares)
        files = [ours.at_point(file, point) for point in points]
    elif name in ours.KNOWN and bare(file) == bare(first):
        return ours.KNOWN[name] > ours.read(json.dumps(file))[1]
    sides = [(ours.worst(text := json.dumps(of)), ours.read(text)[1]) for of in files]
    if file["schema"] == check_counterexample.COUNTEREXAMPLE:
        return any(value is not None and value <= side - ours.room(side) for value, side in sides)
    return any(value is not None and value > side + ours.room(side) for value, side in sides)


def mutants(seed: int) -> Iterator[Mutant]:
    """Yield mutants of all certificates in turn, without end."""
    choose, sources = random.Random(seed), []
    for kind, name, first in certificates():
        sources.append((kind, name, first, theorem(first).text([]), ours.edits(first, choose)))
    for kind, name, first, original, changes in cycle(sources):
        changed, forged, also = next(changes), choose.random() < 0.6, choose.random() < 0.5
        try:
            of = theorem(changed)
            text = with_statements(original, of.statements()) if forged else of.text([])
            wrong = false(changed, name, first)
        except (DriftproofError, *ours.UNREADABLE):
            continue
        if text != original:
            kind = f"{kind}, {'forged' if forged else 'with its own proof'}"
            yield kind, another_number(text, choose) if also else text, wrong


def with_statements(text: str, those: list[list[str]]) -> str:
    """Return a file with other statements above its proofs."""
    stated = iter("\n".join(lines) for lines in those)
    return STATED.sub(lambda old: next(stated, old[0]), text)


def another_number(text: str, choose: random.Random) -> str:
    """Return a file with another number in its certificate or proof: a multiplier, a square."""
    stated = [m.span() for m in STATED.finditer(text)]
    places = [
        m
        for m in NUMBER.finditer(text, text.index("*)"))
        if not any(a <= m.start() < b for a, b in stated)
    ]
    at = choose.choice(places)
    value = int(at[0]) + choose.choice((-1, 1))
    return f"{text[: at.start()]}{value}{text[at.end() :]}"


def accepted(texts: list[str]) -> list[bool]:
    """Tell which files Coq accepts, in one run that goes on after an error."""
    lines = ["From Driftproof Require reading witnesses.", "Set Silent. Set Default Timeout 20."]
    for text in texts:
        last = text.split()[-1].removesuffix(".")
        own = re.sub(rf"\b(Theorem|Assumptions) {last}\b", r"\1 mutant", text)
        lines += [
            "Lemma mark : True. Proof. exact I. Qed.",
            own,
            "Abort All.",
            "Reset mark.",
            "Eval compute in tt.",
        ]
    said = subprocess.run(
        ["coqtop", "-q", "-R", str(coqc.compiled()), "Driftproof"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
    return ["Axioms:" in part or "Closed under" in part for part in said.split("= tt\n")[:-1]]


@click.command()
@click.option("--count", default=1000, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(count: int, seed: int) -> None:
    """Print what Coq does with mutants; status 1 if it accepts a false one."""
    found, those = Counter[str](), islice(mutants(seed), count)
    while batch := list(islice(those, 50)):
        held = accepted([text for _, text, _ in batch])
        for (kind, text, wrong), holds in zip(batch, held, strict=True):
            is_so = f"{'false' if wrong else 'not false'}, {'accepted' if holds else 'refused'}"
            found[f"{kind}: {is_so}"] += 1
            if wrong and holds:
                click.echo(text)
    click.echo("\n".join(f"{n:5} {what}" for what, n in sorted(found.items())))
    raise SystemExit(any(": false, accepted" in what for what in found))


if __name__ == "__main__":
    main()
