"""A counterexample over a class as a script: functions that exceed a bound, in fractions.

It shares nothing with ``verifiers.worst_case``: one inequality serves its three classes, the
interpolation condition of Taylor, Hendrickx & Glineur (2017) with μ = −L for functions that need
not be convex.
"""

from __future__ import annotations

import json
import re
import textwrap
from typing import Any

WIDTH = 100
"""Letters of a line."""

TEXT = """\
SAID
from fractions import Fraction
from itertools import permutations

FOUND = DATA


def vector(combined):  # the coordinates of a combination of the unknown vectors
    parts = [(Fraction(c), FOUND["coordinates"][name]) for name, c in combined.items()]
    dimension = range(len(next(iter(FOUND["coordinates"].values()))))
    return [sum((c * Fraction(of[k]) for c, of in parts), Fraction(0)) for k in dimension]


def value(combined):
    return sum(Fraction(c) * Fraction(FOUND["numbers"][name]) for name, c in combined.items())


def dot(u, v):
    return sum(a * b for a, b in zip(u, v))


def left_of(condition):
    products = (Fraction(c) * dot(vector(u), vector(v)) for c, u, v in condition["products"])
    return sum(products) + value(condition["values"])


for name, function in FOUND["functions"].items():
    ((kind, letters),) = function["classes"].items()
    L = Fraction(letters["L"])
    least = {"smooth": -L, "smooth-convex": 0}  # how much a function may bend down
    mu = Fraction(letters["mu"]) if "mu" in letters else least[kind]
    points = [(vector(p["x"]), vector(p["g"]), value(p["f"])) for p in function["points"].values()]
    for (x, g, f), (y, h, e) in permutations(points, 2):
        dx, dg = [a - b for a, b in zip(x, y)], [a - b for a, b in zip(g, h)]
        more = dot(dg, dg) / L + mu * dot(dx, dx) - 2 * mu / L * dot(dg, dx)
        assert f >= e + dot(h, dx) + more / (2 - 2 * mu / L), f"{name} is not {kind}"
for name, condition in FOUND["assumptions"].items():
    over = left_of(condition) - Fraction(condition.get("at_most", condition.get("equals")))
    assert over == 0 or (over < 0 and "at_most" in condition), f"not met: {name}"
left, right = left_of(FOUND["conclusion"]), Fraction(FOUND["conclusion"]["at_most"])
assert left > right
print("REFUTED", FORM + f": left = {float(left)} > right = {float(right)}")
"""


def script_of_class(claim: str, form: str, counterexample: str) -> str:
    """Return a script of Python alone that checks a counterexample over a class.

    Args:
        counterexample: its file, as ``driftproof check`` takes it.
    """
    found = json.loads(counterexample)
    said = (
        f"{claim}, {form}: functions of the class on which it is false, in exact fractions.",
        f"Of {found['about']}.",
        "What is not checked: that each point x is the algorithm's, as one can read off below.",
    )
    kept = ("functions", "assumptions", "conclusion", "coordinates", "numbers")
    parts = {
        "SAID": "\n".join(line for part in said for line in _comment(part)),
        "DATA": _written({name: found[name] for name in kept}),
        "FORM": json.dumps(form, ensure_ascii=False),
    }
    return re.sub("|".join(parts), lambda at: parts[at[0]], TEXT)


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(" ".join(text.split()), WIDTH - 2)]


def _written(data: Any, inset: str = "", before: int = 8) -> str:
    """Return a literal, on one line if it fits."""
    line = json.dumps(data, ensure_ascii=False)
    if len(inset) + before + len(line) < WIDTH or not isinstance(data, dict | list):
        return line
    deeper = inset + "    "
    if isinstance(data, list):
        rows = [_written(part, deeper, 1) for part in data]
    else:
        names = [json.dumps(name, ensure_ascii=False) + ": " for name in data]
        parts = zip(names, data.values(), strict=True)
        rows = [name + _written(part, deeper, len(name) + 1) for name, part in parts]
    opening, closing = "{}" if isinstance(data, dict) else "[]"
    return f"{opening}\n{''.join(f'{deeper}{row},' + chr(10) for row in rows)}{inset}{closing}"
