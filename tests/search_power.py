"""The power of the search by kind of change: ``python -m tests.search_power``.

Slips are put into the right sides of shipped claims that are not refuted: a term left out, a
constant halved, an exponent off by one, a sign changed, one local step less. Of each kind some are
drawn at random, and of identities and bounds some of the negative controls that were written by
hand. Each is searched as ``driftproof falsify`` does. A slip that survives need not be false.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np
import sympy

from driftproof.toolkit.constants import MEASURED
from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.readings import Stated
from driftproof.verifiers.baseline import refuted_on_record
from driftproof.verifiers.in_print.formulas import right_sides_of
from driftproof.verifiers.search.finding import CANDIDATE, NOT_SEARCHED
from driftproof.verifiers.search.search import Effort, falsify
from driftproof.verifiers.verify import select

COUNTS = {"local_steps", "inner_steps", "outer_steps"}
"""The roles that count local steps."""


@dataclass(frozen=True)
class InLetters:
    """A right side that is an expression in the letters of one case, in those of any."""

    expression: Any

    def __call__(self, c):
        letters = {
            s: c.measured(s.name.removeprefix(MEASURED))
            if s.name.startswith(MEASURED)
            else getattr(c, s.name)
            for s in self.expression.free_symbols
        }
        return self.expression.xreplace(letters)


def slips(right, notation):
    """Yield a kind and a right side with one thing changed."""
    for node in sympy.preorder_traversal(right):
        if isinstance(node, sympy.Add):
            for term in node.args:
                yield "a term left out", right.xreplace({node: node - term})
                yield "a sign changed", right.xreplace({node: node - 2 * term})
                yield "a constant halved", right.xreplace({node: node - term / 2})
    for letter in sorted(right.free_symbols, key=str):
        if notation.get(letter.name) in COUNTS:
            yield "one local step less", right.xreplace({letter: letter - 1})
        for power in sorted(
            {
                node
                for node in right.atoms(sympy.Pow, sympy.Symbol)
                if node.as_base_exp()[0] == letter
            },
            key=str,
        ):
            for step in (-1, 1):
                yield "an exponent off by one", right.xreplace({power: power * letter**step})


def is_smaller(slip, right):
    """Whether a slip is smaller than the right side for some positive letters: else it is true."""
    if slip.has(sympy.zoo, sympy.nan, sympy.oo):
        return False
    symbols = sorted(right.free_symbols | slip.free_symbols, key=str)
    numbers = np.exp(np.random.default_rng(0).uniform(-2, 2, (len(symbols), 64)))
    with np.errstate(all="ignore"):
        one, two = (np.real(sympy.lambdify(symbols, x, "numpy")(*numbers)) for x in (slip, right))
    return bool(np.any(one < two * (1 - 1e-9)))


@dataclass(frozen=True)
class OfAnother(Leaf):
    """A claim with one slip, or one control, for its right side."""

    number: int = 0

    def load(self):
        """Return the changed claim."""
        claim = super().load()
        return replace(
            claim,
            right=changed(claim)[self.number][1],
            readings={},
            corrected=None,
            correction="",
            false_siblings=(),
            erratum=None,
            prove=None,
        )


@cache
def changed(claim):
    """Return the kind and the right side of every slip and control of a claim."""
    made, refuted = [], refuted_on_record()
    for form in claim.forms:
        stated = Stated(form.right, left=form.left, range=form.range, assumes=form.assumes)
        if form.form == "sibling" and claim.kind in ("bound", "identity"):
            made.append((f"by hand, {claim.kind}", stated))
    for form, right in right_sides_of(claim):
        if (claim.name, form.key) not in refuted:
            stated = Stated(None, left=form.left, range=form.range, assumes=form.assumes)
            for kind, slip in slips(right, claim.notation(claim.judged_on[0])):
                if is_smaller(slip, right):
                    made.append((kind, replace(stated, right=InLetters(slip))))
    return made


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--budget", type=float, default=30.0)
    parser.add_argument("--workers", type=int, default=2)
    given, drawn = parser.parse_args(), {}
    for leaf in select(["*"]):
        own = {field.name: getattr(leaf, field.name) for field in fields(leaf)}
        for number, (kind, _) in enumerate(changed(leaf.load())):
            drawn.setdefault(kind, []).append(OfAnother(**own, number=number))
    lines = ["| kind | there are | searched | found out | candidates |", "|---|---|---|---|---|"]
    for kind, leaves in sorted(drawn.items()):
        met = Counter()
        for leaf in random.Random(0).sample(leaves, len(leaves)):
            (finding,) = falsify([leaf], Effort(given.budget), workers=given.workers)
            met[finding.status] += finding.status != NOT_SEARCHED
            if met.total() == given.each:
                break
        found = met["verified"] + met["confirmed"]
        lines.append(f"| {kind} | {len(leaves)} | {met.total()} | {found} | {met[CANDIDATE]} |")
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    from tests import search_power  # workers look functions up in a module that has a name

    search_power.main()
