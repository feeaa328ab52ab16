"""Worst cases over classes as lines: against local steps, ζ or rounds, with the bounds beside them.

Each point is a case of its own, with its own certificate. Cases that differ in one letter alone
make a line; with the local steps the step size may change too, so that ητ stays.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from driftproof.toolkit.series import Points
from driftproof.toolkit.verdict import Row, Verdict

LETTERS = {
    "tau": "τ, local steps a round",
    "K": "K, local steps a round",
    "zeta": "ζ, how much the clients differ",
    "S": "S, rounds",
    "R": "R, distance of the start",
    "eta": "η, step size",
}
"""Letters that lines run along, and what is written on the axis."""
LEFT_OUT = ("T", "b", "m", "ell")
"""Letters that follow from others (T = τS), or that a class has no use for (minibatches)."""
FEWEST = 3
"""Points that make a line."""
LOG_SPREAD = 10
"""Largest over smallest number from which an axis is logarithmic."""
CURVES = ("bound", "reference", "fit")
"""The curves that the right sides of a claim's forms are drawn as, in the order of the forms."""


@dataclass(frozen=True)
class Line:
    """Cases along one letter.

    Attributes:
        letter: which one.
        row: the row with the largest share of its right side.
        points: worst cases, and right sides as up to three curves.
        labels: what the curves are called.
        title: what stands above it.
        x_label: what stands on the axis.
        log: which axes are logarithmic.
    """

    letter: str
    row: Row
    points: Points
    labels: Mapping[str, str]
    title: str
    x_label: str
    log: str


def lines(rows: Sequence[Row]) -> list[Line]:
    """Return a claim's lines, the longest along each letter."""
    points = _points(rows)
    letters = sorted({letter for row, *_ in points for letter in row.instance})
    made = []
    for letter in sorted(letters, key=lambda name: [*LETTERS, name].index(name)):
        along = max(_along(points, letter), key=len, default=[])
        if len(along) >= FEWEST and letter in LETTERS:
            made.append(_line(letter, along))
    return made


def longest(rows: Sequence[Row], letter: str) -> list[Row]:
    """Return the cases of the longest line along a letter, all others equal (τ: or ητ is).

    One with a refuted case before others; of several as long, that with the largest left / right.
    """

    def rank(line: list[list[Row]]) -> tuple[bool, int, float]:
        shows = len(line) > 1 and any(row.verdict is Verdict.REFUTED for row, *_ in line)
        return shows, len(line), max(row.ratio or 0.0 for row, *_ in line)

    return [row for row, *_ in max(_along(_points(rows), letter), key=rank, default=[])]


def _points(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each case, the forms that are shown beside each other."""
    cases: dict[str, list[Row]] = {}
    for row in rows:
        known = row.lhs is not None and row.lhs["mean"] is not None and row.rhs is not None
        if known and row.form != "sibling":
            cases.setdefault(str(row.case["key"]), []).append(row)
    return list(cases.values())


def _along(points: Sequence[list[Row]], letter: str) -> Iterator[list[list[Row]]]:
    """Yield the points of each line along a letter, in its order."""
    for kept in (_same_round, dict) if letter == "tau" else (dict,):
        of_others: dict[Any, list[list[Row]]] = {}
        for forms in points:
            others = kept(forms[0].instance)
            x = others.pop(letter, None)
            for name in LEFT_OUT:
                others.pop(name, None)
            if x is not None:
                of_others.setdefault(tuple(sorted(others.items())), []).append(forms)
        for line in of_others.values():
            found = {forms[0].instance[letter]: forms for forms in line}
            yield [found[x] for x in sorted(found)]


def _same_round(instance: Mapping[str, float]) -> dict[str, float]:
    """Return the letters with ητ instead of η."""
    letters = dict(instance)
    if {"eta", "tau"} <= set(letters):
        letters["eta tau"] = float(f"{letters.pop('eta') * letters['tau']:.12g}")
    return letters


def _line(letter: str, along: Sequence[list[Row]]) -> Line:
    x = [forms[0].instance[letter] for forms in along]
    keys = [row.form_key for row in along[0]][: len(CURVES)]
    first = [row.lhs for row, *_ in along]
    worst = [lhs["mean"] for lhs in first if lhs is not None]
    labels = {"mean": "upper bound of the worst case" if any(map(_loose, along)) else "worst case"}
    points = Points(x, worst)
    for curve, key in zip(CURVES, keys, strict=False):
        points = replace(points, **{curve: [_right(forms, key) for forms in along]})
        labels[curve] = key.removeprefix("printed: ") if len(keys) > 1 else "right side"
    sides = [number for curve in ("mean", *CURVES) for number in getattr(points, curve)]
    instance = dict(along[0][0].instance)
    steps = {forms[0].instance.get("eta") for forms in along}
    label = LETTERS[letter]
    if letter == "tau" and len(steps) > 1:
        label += f", with ητ = {_same_round(instance)['eta tau']:g}"
        instance.pop("eta")
    for name in (letter, *LEFT_OUT):
        instance.pop(name, None)
    parts = [row.case["problem"]["conditions"] for row, *_ in along]
    shared = [part for part in parts[0] if all(part in other for other in parts)]
    about = f"{along[0][0].case['algorithm']['name']}, every federation of {', '.join(shared)}"
    chosen = max((row for row, *_ in along), key=lambda row: row.ratio or 0.0)
    row = replace(chosen, case={"label": about}, instance=instance)
    title = f"{labels['mean']} and right side along {label[0]}"
    log = ("x" if _wide(x) and letter != "tau" else "") + ("y" if _wide(sides) else "")
    return Line(letter, row, points, labels, title, label, log)


def _loose(forms: Sequence[Row]) -> bool:
    """Say whether what was computed may be above what functions attain: a proved row says why."""
    return forms[0].verdict is Verdict.SUPPORTED and bool(forms[0].reason)


def _right(forms: Sequence[Row], key: str) -> float | None:
    return next((row.rhs for row in forms if row.form_key == key), None)


def _wide(numbers: Sequence[float | None]) -> bool:
    sizes = [x for x in numbers if x is not None and isfinite(x)]
    return min(sizes) > 0 and max(sizes) > LOG_SPREAD * min(sizes)
