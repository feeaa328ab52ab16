"""Identities and counts with known truth: two numbers that are equal, or are not."""

import numpy as np

from driftproof.toolkit.cases import Case
from driftproof.verifiers.claim_types.compared import Comparison, components
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.judges import comparisons
from tests.calibration.line import Line
from tests.calibration.table import Judged

FAMILIES = ("two numbers", "an enclosure", "a vector with components that are 0", "counted rounds")


def _claim(kind):
    decorate = comparison(
        name="calibration/numbers",
        kind=kind,
        source="–",
        statement="x",
        cases=[Case(Line())],
        right=0,
    )
    return decorate(lambda case, right: [])


def identities(statements, seed=0):
    """Judge numbers of sizes from 1e-15 to 1e15, vectors with zeros, enclosures and counts."""
    random = np.random.default_rng([seed, 4])
    for number in range(statements):
        size = 10 ** random.uniform(-15, 15)
        off = float(random.choice([0.0, 1.0, -1.0]) * 10 ** random.uniform(-5.5, 1))
        value = float(random.choice([-1, 1])) * size
        kind, name = "identity", FAMILIES[number % len(FAMILIES)]
        if name == "two numbers":
            compared = [Comparison(name, value, value, value * (1 + off))]
        elif name == "an enclosure":
            wide = size * 10 ** random.uniform(-12, -7)
            compared = [Comparison(name, value - wide, value + wide, value * (1 + off))]
        elif name == "a vector with components that are 0":
            stray = 1e-14 * size * random.standard_normal(3)  # rounding errors of its neighbours
            left = np.array([value, 0.0, value / 3]) + stray
            compared = components("component {}", left, [value * (1 + off), 0.0, value / 3])
        else:
            kind = "complexity"
            steps, local = int(random.integers(1, 10**6)), int(random.integers(1, 50))
            count = local * steps + steps
            off = float(random.choice([0.0, -1e-7 * steps, 1.0, -0.5]))
            compared = [Comparison(name, count, count, count + off)]
        claim = _claim(kind)
        row = comparisons.judge(claim, claim.cases[0], claim.forms[0], compared)
        yield Judged(f"{name}, off by {off:.3g} at size {size:.3g}", off == 0, row.verdict)
