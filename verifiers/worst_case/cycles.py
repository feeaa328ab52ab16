"""A cycle of a method of two steps: its rule, and whether a run from rest comes to it."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

Points = Sequence[tuple[Fraction, Fraction]]  # of a piecewise linear f'
STARTS, ROUNDS = (1, -1, 2, -2), 300
"""Where runs from rest begin, and how many rounds they have."""


def cycle_of(found: Mapping[str, Any], rounds: int) -> tuple[Any, ...] | None:
    """Return a, b, c, the points and what is remembered, its mean being x_{−1}, of a cycle.

    That is x_{t+1} = a x_t + b x_{t−1} + c Σ_i ∇f_i(x_t), if a round is one gradient of each.
    """
    functions = found["functions"]
    at, *others = ([x for x in of["points"] if x != "x*"] for of in functions.values())
    if len(at) != rounds or rounds < 2 or others != [at] * len(others):
        return None
    moved = {**next(iter(functions.values()))["points"][at[1]]["x"]}
    own = [of for of in found["coordinates"] if of[:2] == "c_"]
    used = [at[:1], own or [""], [f"∇{name}({at[0]})" for name in functions]]
    parts = [{Fraction(moved.pop(x, 0)) for x in of} for of in used]
    if moved or max(map(len, parts)) > 1:
        return None
    (a,), (b,), (c,) = parts
    return a, b * len(own), c, at, own


def bend_of(classes: Mapping[str, Any]) -> tuple[Fraction, Fraction] | None:
    """Return the ends of f'' in a class of smooth functions (None: it is another one)."""
    (kind, of), *more = classes.items()
    if more or not kind.startswith("smooth"):
        return None
    most = Fraction(of["L"])
    return Fraction(of.get("mu", -most if kind == "smooth" else 0)), most


def curves_of(found: Mapping[str, Any]) -> dict[str, tuple[Points, Fraction, Fraction]]:
    """Return the points of each f' of one variable, and the ends of f'' (else {})."""
    made = dict[str, tuple[Points, Fraction, Fraction]]()
    if found["fields"] or len(next(iter(found["coordinates"].values()))) > 1:
        return {}
    for name, of in found["functions"].items():
        at = ([_number(p[part], found) for part in "xg"] for p in of["points"].values())
        points, bend = sorted({(x, g) for x, g in at}), bend_of(of["classes"])
        if bend is None or bend[0] < 0 or len(dict(points)) < max(2, len(points)):
            return {}
        slopes = [(g - e) / (x - y) for (y, e), (x, g) in pairwise(points)]
        if not bend[0] <= min(slopes) <= max(slopes) <= bend[1]:
            return {}
        made[name] = points, *bend
    return made


def steep(points: Points, mu: Fraction, L: Fraction) -> Points:
    """Return an f' through points that rises by L near each, so that runs near them stay there."""
    (first, low), (last, high) = points[0], points[-1]
    made = [(first - 1, low - L), points[0]]
    for (x, g), (y, h) in pairwise(points):
        near = ((h - g) - mu * (y - x)) / (2 * (L - mu))
        made += [(x + near, g + L * near), (y - near, h - L * near), (y, h)]
    return list(dict.fromkeys([*made, (last + 1, high + L)]))


def from_rest(
    found: Mapping[str, Any], rounds: int, method: Any, rule: Any = None
) -> tuple[Any, ...] | None:
    """Return y_0 = y_{−1}, n, room, L, p, q, A, B, C of a run y_t that comes to a cycle, if known.

    Let d_t = y_{t+n} − x_t. While |d_t| ≤ room, f'' = L there and d_{t+1} = p d_t + q d_{t−1}, so
    V = A d_t² + 2B d_t d_{t−1} + C d_{t−1}² falls by d_t² + d_{t−1}², and is no less than that. If
    V ≤ room² at t = 0 it stays so, and d_t goes to 0.

    Args:
        rule: it takes x_t and x_{t−1} to x_{t+1} (None: the method does, where f' is ``steep``).
    """
    cycle, curves = cycle_of(found, rounds), [*curves_of(found).values()]
    if not (cycle and in_motion(method) and len(curves) == 1) or curves[0][1] == curves[0][2]:
        return None
    (a, q, c, at, _), (points, mu, L) = cycle, curves[0]
    knots, (function,) = steep(points, mu, L), found["functions"].values()
    x = [_number(function["points"][of]["x"], found) for of in at]

    def step(here: Fraction, before: Fraction) -> Fraction:
        (y, e), (z, h) = next((of for of in pairwise(knots) if here <= of[1][0]), knots[-2:])
        return Fraction(a * here + q * before + c * (e + (h - e) / (z - y) * (here - y)))

    rule, p = rule or step, a + c * L
    room = min(z - y for (y, _), (z, _) in pairwise(knots) if {y, z} & {*x})
    near = [(d * room, e * room) for d, e in ((0, 0), (1, 0), (-1, 0), (0, 1))]
    linear = all(  # f'' ≤ L, so f'' = L up to where f' has risen by L times the distance
        rule(x[j - 1] + d, x[j - 2] + e) == x[j] + p * d + q * e
        for j, (d, e) in product(range(rounds), near)
    )
    if not linear or abs(q) >= 1 or abs(p) >= 1 - q:  # a root of z² = pz + q is not below 1
        return None
    A = 2 / (1 - q**2 - p**2 * (1 + q) / (1 - q))
    B, C = A * p * q / (1 - q), 1 + A * q**2
    for start in STARTS:
        before = here = Fraction(start)
        for t in range(ROUNDS):
            d, e = here - x[0], before - x[-1]
            if A * d**2 + 2 * B * d * e + C * e**2 <= room**2:
                return start, t, room, L, p, q, A, B, C
            before, here = here, rule(here, before)
    return None


def in_motion(method: Any) -> bool:
    """Say whether a state holds x_{−1}, so that it is at rest where that is x_0."""
    return bool(getattr(method, "begins", {}).get("own") == "x_{-1}")


def _number(of: Mapping[str, str], found: Mapping[str, Any]) -> Fraction:
    return sum(
        (Fraction(c) * Fraction(found["coordinates"][x][0]) for x, c in of.items()), Fraction(0)
    )
