"""Functions of one variable that break a bound over a class, and the run on them, line by line."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

STAR = "x*"
"""The origin, at which every function is 0."""
HEAD = """\
from fractions import Fraction
from math import exp, log, pi, sqrt
Abs, Max, Min = abs, max, min

def curve(slope, below, above, knot, mu, L):  # f' and f: f(0) = 0, f'' below and above the knot
    assert mu <= below <= L and mu <= above <= L, "it is not of its class"
    df = lambda x: slope + below * min(x, knot) + above * max(x - knot, 0)
    def f(x):
        at = min(x, knot)  # f' is linear up to it, and from it on
        return (at * (slope + df(at)) + (x - at) * (df(at) + df(x))) * Fraction(1, 2)
    return df, f
"""


def script(found: Mapping[str, Any]) -> list[str]:
    """Return lines that make the functions and the run, check what is assumed, and say ``left``."""
    lines = []
    for name, field in found["fields"].items():
        (of,) = found["functions"][name]["classes"].values()
        numbers = [*field.values(), of.get("mu", "0"), of["L"]]
        bent = (
            "{1} min(x, {3}) + {2} max(x - {3}, 0)" if field["below"] != field["above"] else "{1} x"
        )
        lines.append(f"# {name}'(x) = {bent} + {{0}}".format(*numbers))
        lines.append(f"d{name}, {name} = curve({', '.join(map(_number, numbers))})")
    for subject, text, sign, limit in steps(found):
        said = f'assert {text} {sign} {limit}, "not met: {subject}"'
        lines.append(said if sign else f"{subject} = {text}")
    return lines


def steps(found: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the run, what is assumed, and the left side: name, formula; a sign and a right side."""
    functions, points = found["functions"], {STAR: dict[str, str]()}

    def vector(of: Mapping[str, str]) -> str:
        """Write a combination as a step from the point that it is the fewest terms away from."""
        base, rest = nearest(of, points)
        return _sum(rest, base.removeprefix(STAR))

    def quantity(of: Mapping[str, Any]) -> str:
        products = [
            (f"({vector(u)})" + ("**2" if u == v else f" * ({vector(v)})"), c)
            for c, u, v in of["products"]
        ]
        return _sum([*products, *of["values"].items()])

    yield "x_star", "0", "", ""
    for name, of in found["coordinates"].items():  # in the order in which they were asked for
        function, _, at = name.strip("∇)").partition("(")
        if (at or name) not in points:
            x = functions[function]["points"][at]["x"] if at else {name: "1"}
            yield at or name, vector(x) if at else _number(*of), "", ""
            points[at or name] = x
    for function, of in functions.items():  # what follows from the others, as in a cycle
        for at, point in of["points"].items():
            if at not in points:
                yield at, vector(point["x"]), "", ""
                points[at] = point["x"]
            if at != STAR and (own := f"∇{function}({at})") not in found["coordinates"]:
                yield own, _sum([(own, 1)]), "==", _sum(point["g"].items())
    for name, of in functions.items():
        others = [(g, -Fraction(c)) for g, c in of["points"][STAR]["g"].items()]
        if (own := f"∇{name}({STAR})") not in dict(others):
            yield "gradients at x*", _sum([(own, 1), *others]), "==", "0"
    for name, of in found["numbers"].items():
        if "(" not in name:  # no value of a function: what a measure is, as the smallest of rounds
            yield name, _number(of), "", ""
    for name, of in found["assumptions"].items():
        sign, limit = ("<=", of["at_most"]) if "at_most" in of else ("==", of["equals"])
        yield name, quantity(of), sign, _number(limit)
    ending = found["conclusion"]
    yield "left", f"{quantity(ending)} + {_number(ending['constant'])}".removesuffix(" + 0"), "", ""


def nearest(
    of: Mapping[str, str], points: Mapping[str, Mapping[str, str]]
) -> tuple[str, list[tuple[str, Fraction]]]:
    """Return the point that a combination is the fewest terms away from, and these."""
    moved = {}
    for at, x in points.items():
        away = {n: Fraction(of.get(n, 0)) - Fraction(x.get(n, 0)) for n in {**x, **of}}
        moved[at] = [(name, c) for name, c in away.items() if c]
    base = min(moved, key=lambda at: len(moved[at]) + (at[1:] != STAR[1:]))
    return base, moved[base]


def _sum(terms: Iterable[tuple[str, Any]], text: str = "") -> str:
    """Return a sum; what is multiplied with the same number is added first."""
    alike: dict[Fraction, list[str]] = {}
    for name, c in terms:
        alike.setdefault(Fraction(c), []).append(name.replace("∇", "d").replace(STAR, "x_star"))
    for c, names in alike.items():
        times = f"{_number(abs(c))} * " * (abs(c) != 1)
        these = names[0] if len(names) == 1 else f"({' + '.join(names)})"
        text += f" {'-' if c < 0 else '+'} {times}{these}"
    return text.removeprefix(" + ").strip() or "0"


def _number(of: Any) -> str:
    x = Fraction(of)
    return f"Fraction({x.numerator}, {x.denominator})" if x.denominator > 1 else str(x)
