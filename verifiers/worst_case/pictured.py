"""Draws the functions of a counterexample, or some on which a certificate's bound is nearly met."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, cycle, pairwise, permutations
from math import inf, isnan, nan
from textwrap import wrap
from typing import Any

import numpy as np

from driftproof.synthetic.classes.conditions import Constraint
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.toolkit.report.canvas import below, canvas, finish
from driftproof.verifiers.worst_case import check_counterexample as refuting
from driftproof.verifiers.worst_case.check import check
from driftproof.verifiers.worst_case.classes import CLASSES, CURVED, curvatures
from driftproof.verifiers.worst_case.counterexample import simple
from driftproof.verifiers.worst_case.digest import sealed
from driftproof.verifiers.worst_case.exact import fraction
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.solve import solve
from driftproof.verifiers.worst_case.statement import CONDITIONS, Combination, Condition, Statement

NEAR = Fraction(1, 10**3)  # how far functions may be below the worst case: near it are many digits
COLOURS = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"
"""Of clients: Okabe and Ito's, which the colour-blind tell apart."""
LOOKS = tuple(zip(COLOURS, ("-", "--", ":", "-.", "-", "--"), "osD^vP", strict=True))
GRID, LEVELS, ROOM, LETTERS, LINE = 81, 9, 0.25, 122, 0.14
"""Places along an axis, contours, what is seen beside the points, letters and inches of a line."""
ROUNDING = 1e-13
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉", "_")


@dataclass(frozen=True)
class Interpolant:
    """The smallest function of a class with g_i and f_i at x_i, or the greatest where μ < 0.

    Let h = f − (μ/2)‖·‖², s_i = ∇h(x_i), c = 1/(L − μ). The smallest convex h with a
    1/c-Lipschitz gradient, which is the Moreau envelope of the largest of affine functions, is

        max over α ≥ 0, Σ α_i = 1 of Σ α_i (h_i + ⟨s_i, x − x_i⟩ + c‖s_i‖²/2) − c‖Σ α_i s_i‖²/2,

    and ∇h = Σ α_i s_i. L may be infinite. The greatest f, which is bounded from below, is minus the
    smallest −f. If L is nan there is no f, and g_i are values. x, g: [points, dim]; f: [points].
    """

    labels: Sequence[str]
    x: np.ndarray
    g: np.ndarray
    f: np.ndarray
    mu: float
    L: float

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values, [places], and gradients, [places, dim], at x, [places, dim]."""
        sign, mu, L = (-1.0, -self.L, -self.mu) if self.mu < 0 else (1.0, self.mu, self.L)
        s, c = sign * self.g - mu * self.x, 1 / (L - mu)
        heights = sign * self.f - (s * self.x).sum(1) - mu / 2 * (self.x**2).sum(1)
        shares, value = _shares(s, heights + c / 2 * (s**2).sum(1) + x @ s.T, c)
        return sign * (value + mu / 2 * (x**2).sum(1)), sign * (shares @ s + mu * x)


def _shares(s: np.ndarray, gains: np.ndarray, c: float) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's α ≥ 0, Σ α_i = 1, with the largest ⟨gains, α⟩ − (c/2)‖Σ α_i s_i‖², and it.

    An i that raises it joins those that α rests on, and of their faces the best is taken.
    """
    alone = gains - c / 2 * (s**2).sum(1)
    shares, values = np.eye(len(s))[alone.argmax(1)], alone.max(1)
    while True:
        before, rise = values.copy(), gains - c * shares @ s @ s.T
        where = rise.max(1) - (shares * rise).sum(1) > ROUNDING * (1 + np.abs(gains).max())
        faces = np.column_stack([shares > 0, rise.argmax(1)])
        for face in np.unique(faces[where], axis=0):
            rows, old = np.flatnonzero((faces == face).all(1) & where), np.flatnonzero(face[:-1])
            for rest in chain.from_iterable(combinations(old, k) for k in range(len(old) + 1)):
                on = [*rest, face[-1]]
                matrix = np.pad(c * s[on] @ s[on].T, (0, 1), constant_values=1.0)
                matrix[-1, -1] = 0.0
                if np.linalg.cond(matrix) > 1 / ROUNDING:  # a smaller face has what it has
                    continue
                right = np.pad(gains[np.ix_(rows, on)].T, ((0, 1), (0, 0)), constant_values=1.0)
                tried = np.linalg.solve(matrix, right)[:-1]
                value = (tried * right[:-1]).sum(0) - c / 2 * ((s[on].T @ tried) ** 2).sum(0)
                better = (tried >= 0).all(0) & (value > values[rows])
                shares[rows[better]] = tried[:, better].T @ np.eye(len(s))[on]
                values[rows[better]] = value[better]
        if (values == before).all():
            return shares, values


def picture(text: str) -> tuple[str, Any, dict[str, list[Any]]]:
    """Return a title, the functions of a file as matplotlib's sheet, and the columns of its data.

    Raises:
        DriftproofError: no functions are known that come near the worst case of a certificate.
        RefusedCertificateError, and what ``check`` raises: the file does not show what it says.
    """
    proved = None if f'"{refuting.COUNTEREXAMPLE}"' in text else check(text)
    shown = refuting.functions_of(_near_worst(proved, json.loads(text)) if proved else text)
    it, made = shown.states, dict[str, Interpolant]()
    right = refuting.short(proved.conclusion.right if proved else it.upper)
    side = f"at most {right} is proved" if proved else f"above the right side {right}"
    note = [f"left side here {refuting.short(shown.left)}, {side}", shown.said[0]]
    for name, points in it.triples.items():
        kinds, (x, g, f) = it.constants[name], zip(*points.values(), strict=True)
        mu, L = 0.0, inf if "convex" in kinds else nan
        if "strongly-convex" in kinds:
            mu, L = float(*kinds["strongly-convex"]), inf
        for kind in {*kinds} & {*CURVED}:
            mu, L = map(float, curvatures(kind, kinds[kind]))
        data = ([*map(shown.at, x)], [*map(shown.at, g)], [*map(shown.value, f)])
        at, slopes, values = (np.array(of, dtype=float) for of in data)
        made[name] = Interpolant([*points], at, slopes, values, mu, L)
        which = f"the {'greatest' if mu < 0 else 'smallest'} with these values and gradients"
        what = "its values" if isnan(L) else which
        note += [f"{line} drawn: {what}" for line in it.said if line.startswith(f"{name} is ")]
    end = [
        shown.at(u)
        for _, u, v in it.conclusion.products
        if u == v and sum(c for name, c in u.items() if "∇" not in name) == 1
    ]
    return note[0], *_drawn(note, made, np.array(end[:1], dtype=float).reshape(-1, shown.dimension))


def _near_worst(it: Statement, file: dict[str, Any]) -> str:
    """Return a counterexample to a bound that is a little below the worst case of a certificate."""

    def vector(of: Combination) -> Vector:
        return Vector({it.vectors.index(v): fraction(c) for v, c in of.items()})

    def constraint(of: Condition) -> Constraint:
        total = GramForm({}, {it.values.index(v): fraction(c) for v, c in of.numbers.items()})
        for c, u, v in of.products:
            total = total + vector(u) * vector(v) * fraction(c)
        return Constraint("", total, fraction(of.right), of.equality)

    found, known = None, all({*kinds} in refuting.SUFFICE for kinds in it.constants.values())
    if known and len(it.spaces) == 1 and not it.numbers.free:
        conditions = [
            CONDITIONS[kind](*constants, *points)
            for name, kinds in it.constants.items()
            for kind, constants in kinds.items()
            for points in permutations(it.triples[name].values(), CLASSES[kind].points)
        ]
        every = tuple(map(constraint, [*conditions, *it.assumptions.values()]))
        aim = constraint(it.conclusion).quantity
        case = WorstCase(tuple(it.vectors), tuple(it.values), (), (), every, aim, {})
        solved = solve(case)
        bound = Fraction(solved.value) - NEAR * abs(Fraction(solved.value))
        found = simple(case, solved, bound)
    if found is None:
        raise DriftproofError(
            "a certificate, which has no points of its own, and no functions that attain its bound",
            "one at numbers, of one space, over a class for which such functions are found",
            "draw a counterexample, or the certificate of the claim at numbers",
        )
    del file["multipliers"]
    where = zip(it.vectors, found.coordinates, strict=True)
    return sealed(
        {
            **file,
            "schema": refuting.COUNTEREXAMPLE,
            "fields": {},
            "conclusion": file["conclusion"] | {"right": str(bound), "letters": {}},
            "coordinates": {name: [*map(str, at)] for name, at in where},
            "numbers": dict(zip(it.values, map(str, found.values), strict=True)),
        }
    )


def _drawn(note: list[str], made: dict[str, Interpolant], end: np.ndarray) -> tuple[Any, Any]:
    """Draw functions as curves, or as contours in a plane, with their points and the last mean."""
    every = np.concatenate([*(f.x for f in made.values()), end])
    dim, basis = every.shape[1], np.eye(min(every.shape[1], 2))
    if dim > 2:
        _, sizes, basis = np.linalg.svd(every)
        basis, share = basis[:2], (sizes[:2] ** 2).sum() / (sizes**2).sum()
        said = f"projected on the points' two principal directions of {dim}, through x* = 0"
        note = [*note, f"{said}: these have {100 * share:.3g} % of their squared lengths"]
    sheet, axes = canvas()
    low, high = (every @ basis.T).min(0), (every @ basis.T).max(0)
    half = (0.5 + ROOM) * (high - low + (high == low).all())
    if plane := dim > 1:  # a length is the same in all directions
        size = axes.get_position().size * sheet.get_size_inches()
        half = (half / size).max() * size
    sides = [np.linspace(m - h, m + h, GRID) for m, h in zip((low + high) / 2, half, strict=True)]
    places = np.stack(np.meshgrid(*sides), -1).reshape(-1, len(basis)) @ basis
    heights, named = dict[str, np.ndarray](), dict[tuple[float, ...], dict[str, None]]()
    for (name, f), (colour, dash, mark) in zip(made.items(), cycle(LOOKS), strict=False):
        at = f.x @ basis.T if plane else np.column_stack([f.x, f.g if isnan(f.L) else f.f])
        if not isnan(f.L):
            heights[name] = f(places)[0].reshape([GRID] * len(basis))
            if plane:
                axes.contour(
                    *sides, heights[name], LEVELS, colors=colour, linestyles=dash, linewidths=0.8
                )
            else:
                axes.plot(*sides, heights[name], dash, color=colour)
        elif plane:
            axes.quiver(*at.T, *(f.g @ basis.T).T, color=colour, width=0.003)
        axes.plot(*at.T, mark, color=colour, ms=5, label=name)
        run = [place for place, label in zip(at, f.labels, strict=True) if "*" not in label]
        for one, other in pairwise([*run, *run[: "recurs()" in note[1]]]):
            axes.annotate("", other, one, arrowprops={"arrowstyle": "->", "color": colour})
        for place, label in zip(at.round(9), f.labels, strict=True):
            named.setdefault(tuple(place), {})[label.translate(SUBSCRIPTS)] = None
    term, said = heights.pop("h", None), "their mean"
    mean = sum(heights.values()) / max(len(heights), 1)
    if term is not None:  # F is the mean of the clients' functions, and the term
        mean = mean + term
        said = f"F = {said if len(heights) > 1 else next(iter(heights), '')} + h"
    if heights and plane:
        axes.contourf(*sides, mean, LEVELS, cmap="Greys", alpha=0.35, zorder=0)
        note = [*note, f"shaded: {said}"]
    elif heights and (term is not None or len(heights) > 1):
        axes.plot(*sides, mean, "k", lw=1, label=said)
    for place in end @ basis.T if plane else ():
        axes.plot(*place, "k*", ms=9, label="x⁺, of the conclusion")
    for k, (place, names) in enumerate(named.items()):  # neighbours may be near
        where = (4, -11 if k % 2 else 5)
        axes.annotate(", ".join(names), place, where, textcoords="offset points", fontsize=8)
    finish(axes, note[0], *(["first axis", "second axis"] if plane else ["x", "value"]))
    remark(sheet, *note[1:])
    columns = zip(*((name, label) for name, f in made.items() for label in f.labels), strict=True)
    numbers = np.concatenate([np.column_stack([f.x, f.g, f.f]) for f in made.values()])
    heads = ["function", "point", *(f"{of}{k + 1}" for of in "xg" for k in range(dim)), "f"]
    return sheet, dict(zip(heads, [*map(list, columns), *numbers.T.tolist()], strict=True))


def remark(sheet: Any, *texts: str) -> None:
    """Write texts below a plot, whose size stays."""
    lines = [line for of in texts for line in wrap(of, LETTERS)]
    below(sheet, LINE * len(lines))
    said = "\n".join(lines).replace("$", r"\$")
    sheet.text(0.01, 0.015, said, fontsize=7, color="0.35")
