"""A counterexample over a class as a script: functions that exceed a bound, in fractions.

It shares nothing with ``verifiers.worst_case``: one inequality serves all smooth functions, the
interpolation condition of Taylor, Hendrickx & Glineur (2017) with μ = −L where they need not be
convex; operators are linear fields that turn and pull, or meet their condition in pairs.
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
from math import exp, log, pi, sqrt

FOUND, Abs, Max, Min = DATA, abs, max, min


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


def conditions(kind, L=0, mu=0, G=0, D=0):  # what is at most 0 for every two points of a class
    def curved(dx, dg, h, f, e):
        least = {"smooth": -L, "smooth-convex": 0}.get(kind, mu)  # how much it may bend down
        more = dot(dg, dg) / L + least * dot(dx, dx) - 2 * least / L * dot(dg, dx)
        return e + dot(h, dx) + more / (2 - 2 * least / L) - f

    others = {
        "bounded-gradients": lambda dx, dg, h, f, e: dot(h, h) - G * G,
        "convex": lambda dx, dg, h, f, e: e + dot(h, dx) - f,
        "normal-cone": lambda dx, dg, h, f, e: dot(h, dx),
        "diameter": lambda dx, dg, h, f, e: dot(dx, dx) - D * D,
        "cocoercive": lambda dx, dg, h, f, e: dot(
            [a - mu * b for a, b in zip(dg, dx)], [a - L * b for a, b in zip(dg, dx)]),
    }
    return others.get(kind, curved)


for name, function in FOUND["functions"].items():
    points = [(vector(p["x"]), vector(p["g"]), value(p["f"])) for p in function["points"].values()]
    field = FOUND["fields"].get(name)
    if field:  # x ↦ Mx + b in the plane: pulls by m, turns by n
        (m, n), below = [[Fraction(c) for c in row] for row in field["matrix"]]
        of = {c: Fraction(x) for letters in function["classes"].values() for c, x in letters.items()}
        assert below == [-n, m] and m >= of["mu"] and m * m + n * n <= of["L"] ** 2, name
        p, q = map(Fraction, field["shift"])
        assert all(g == [m * x + n * y + p, m * y - n * x + q] for (x, y), g, _ in points), name
        continue
    for kind, letters in function["classes"].items():
        bound = conditions(kind, **{c: Fraction(x) for c, x in letters.items()})
        for (x, g, f), (y, h, e) in permutations(points, 2):
            dx, dg = [a - b for a, b in zip(x, y)], [a - b for a, b in zip(g, h)]
            assert bound(dx, dg, h, f, e) <= 0, f"{name} is not {kind}"
for name, condition in FOUND["assumptions"].items():
    over = left_of(condition) - Fraction(condition.get("at_most", condition.get("equals")))
    assert over == 0 or (over < 0 and "at_most" in condition), f"not met: {name}"
LETTERS
left, right = left_of(FOUND["conclusion"]) + Fraction(FOUND["conclusion"]["constant"]), RIGHT
assert left > right
print("REFUTED", FORM + f": left = {float(left)} > right = {float(right)}")
"""


def script_of_class(claim: str, form: str, counterexample: str) -> str:
    """Return a script of Python alone that checks a counterexample over a class.

    Args:
        counterexample: its file, as ``driftproof check`` takes it.
    """
    found = json.loads(counterexample)
    ending = found["conclusion"]
    letters = [f"{name} = Fraction({value!r})" for name, value in ending.pop("letters").items()]
    said = (
        f"{claim}, {form}: functions of the class on which it is false, in exact fractions.",
        f"Of {found['about']}.",
        "What is not checked: that each point x is the algorithm's, as one can read off below.",
    )
    kept = ("functions", "assumptions", "conclusion", "coordinates", "numbers", "fields")
    parts = {
        "SAID": "\n".join(line for part in said for line in _comment(part)),
        "DATA": _written({name: found[name] for name in kept}),
        "FORM": json.dumps(form, ensure_ascii=False),
        "LETTERS": "\n".join(letters),
        "RIGHT": re.sub(r"\b\d+\b", lambda n: f"Fraction({n[0]})", ending.pop("right")),
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
