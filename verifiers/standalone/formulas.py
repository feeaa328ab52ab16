r"""The piecewise linear functions of a run of terms: their letters, and their pieces.

A family's statement says h_k' of a function, and its parameter has the letter (``Curve.letter``).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from operator import gt, le
from typing import Any

import numpy as np
import sympy

from driftproof.synthetic.building_blocks.curves import Curve
from driftproof.synthetic.building_blocks.piecewise_family import PiecewiseFamily, declared
from driftproof.synthetic.building_blocks.piecewise_linear import PiecewiseLinear
from driftproof.toolkit.balls import Balls, RefusedError
from driftproof.toolkit.balls.tensor import lift
from driftproof.toolkit.constants import latex
from driftproof.toolkit.oracles import has_term
from driftproof.toolkit.rationals import decimal
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.tolerances import STORED
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.terms import (
    NOTHING,
    Term,
    bracketed,
    number_text,
    on_values,
    power,
    term,
)

NUMERIC = re.compile(r"(\\(frac|cdot|pm|left|right)|[^A-Za-z\\])*")
"""A text without a letter or a function."""
LETTER = re.compile(r"[A-Za-z]|\\[A-Za-z]+(\{\w\})?")
"""One letter, in any alphabet, with an accent at most."""
Piece = tuple[Fraction | None, tuple[Fraction, ...]]
"""Up to which x (None: there is no end), and the coefficients of 1, x, x²."""


def letter(name: str, at: list[str]) -> str:
    r"""Return what a field is called, with an index.

    >>> print(letter("eta", ["1"]), letter("own_control", ["1", "2"]))
    \eta_{1} \text{own\_control}_{1,2}
    """
    called = latex(sympy.Symbol(name))
    if not LETTER.fullmatch(called):  # a word of the state's, which has no index of its own
        called = rf"\text{{{latex_text(name)}}}"
    return f"{called}_{{{','.join(at)}}}" if at else called


class Curves:
    """The piecewise linear functions of a problem, by their letters.

    Attributes:
        used: name → its pieces, of those that a run has called.
        best: x*, and y* of a minimax problem, once ``least`` has found it.

    Raises:
        NoScriptError: the problem is none of these.
    """

    def __init__(self, problem: Any) -> None:
        if not isinstance(problem, PiecewiseFamily):
            raise NoScriptError(
                f"the functions of {type(problem).__name__} have no formula here, as those of "
                "piecewise linear derivatives have"
            )
        curves = {x: of for x, of in declared(type(problem)).items() if isinstance(of, Curve)}
        parts = problem.parts
        self._known = [(of.letter, getattr(parts, of.part or x)) for x, of in curves.items()]
        self._of_y = {of.letter for x, of in curves.items() if x in ("lower", "upper")}
        self._clients, self._dim = problem.clients, problem.dim
        self._coupling = [list[Term]()] * problem.clients  # b_i, of a minimax problem
        if problem.offers == "minimax":
            numbers = parts.coupling[..., 0].tolist()
            self._coupling = [[Term(decimal(b), bare=True) for b in row] for row in numbers]
        elif len(curves) > 1 or has_term(problem):
            self._coupling = []  # F is no mean of these alone
        elif problem.clients == 1:
            self._known = [("F", self._known[0][1])]
        rows = [[(k, i) for i in range(problem.dim)] for k in range(problem.clients)]
        self._pieces = [[[pieces_of(x, *at) for at in row] for row in rows] for _, x in self._known]
        self.best: list[Term] = []
        self.used: dict[str, list[Piece]] = {}

    def variable(self, name: str) -> str:
        """Return the variable of a function: y on the lower level."""
        return "y" if name.rstrip("'").partition("_")[0] in self._of_y else "x"

    @contextmanager
    def named(self) -> Iterator[None]:
        """Call the functions by their letters."""
        originals = PiecewiseLinear.value, PiecewiseLinear.value_and_integral

        def value(of: Any, x: Any) -> Any:
            return self._at(of, x, originals[0])

        def both(of: Any, x: Any) -> Any:
            return self._at(of, x, originals[1], integral=True)

        kind: Any = PiecewiseLinear
        kind.value, kind.value_and_integral = value, both
        try:
            yield
        finally:
            kind.value, kind.value_and_integral = originals

    def least(self, near: Any) -> list[Term]:
        """Return x*, and y* of a minimax problem, near what a problem says (empty: unknown)."""
        for i in range(self._dim if self._coupling and near is not None else 0):
            slope, y = self._means(i)
            value, known = integral_of(slope, Fraction(0)), Fraction(float(near[i]))
            x = minimiser_of(slope, value)
            off = 0 if x is None else abs(x - known) > Fraction(STORED) * (1 + abs(x))
            if x is None or (off and value_at(value, x) < value_at(value, known)):
                self.best.clear()  # where both are least, F is flat between them
                break
            names = [f"{of}^{{*}}" + f"_{{{i + 1}}}" * (self._dim > 1) for of in "xy"]
            self.best.insert(i, Term(x, names[0]))
            self.best += [Term(value_at(y, x), names[1])] if y else []
        return self.best

    def _means(self, i: int) -> tuple[list[Piece], list[Piece]]:
        """Return F' of a coordinate, times the number of clients, and y*(x) (empty: no y)."""
        slope, *rising = (sum_of([row[i] for row in of]) for of in self._pieces)
        by = sum((b.value for row in self._coupling for b in row[i : i + 1]), Fraction(0))
        y = solution_of(rising[0], by) if rising else []
        risen: list[Piece] = [(end, (by * a, by * b)) for end, (a, b) in y]
        return sum_of([slope, risen or [(None, (by, by))]]), y

    def lower(self, x: Any) -> Balls:
        """Return y*(x) of a minimax problem."""
        known = {of.text: y for of, y in zip(self.best, self.best[self._dim :], strict=False)}
        made = np.frompyfunc(term, 1, 1)(lift(x[: self._dim]))
        for i, r in np.ndindex(*made.shape):
            name, at = "y^{*}" + f"_{{{i + 1}}}" * (self._dim > 1), made[i, r]
            pieces = self.used.setdefault(name, self._means(i)[1])
            y = Term(value_at(pieces, at.value), name + bracketed(at.text))
            made[i, r] = known.get(at.text, y)
        return Balls(made)

    def slopes(self) -> list[list[Term]]:
        """Return each client's partial derivatives at x*: by x, and by y of a minimax problem."""
        made = []
        for k in range(self._clients):
            made.append([self._called(0, k, i, self.best[i]) for i in range(self._dim)])
            for i, b in enumerate(self._coupling[k]):
                made[k][i] += b * (y := self.best[self._dim + i])
                made[k].append(b * self.best[i] - self._called(1, k, i, y))
        return made

    def mean(self, at: list[list[Term]]) -> Term:
        """Return the mean of what the clients' functions are at a point each (none: at x*)."""
        total, at = NOTHING, at or [self.best] * self._clients
        for k, i in np.ndindex(self._clients, self._dim):
            total += self._called(0, k, i, at[k][i], risen=True)
            for b, y in zip(self._coupling[k][i : i + 1], at[k][self._dim + i :], strict=False):
                total = total + b * at[k][i] * y - self._called(1, k, i, y, risen=True)
        return total / Term(Fraction(self._clients), bare=True)

    def above(self, x: Any) -> Balls:
        """Return F(x) − F*."""
        xs = np.frompyfunc(lambda of: shortened(term(of)), 1, 1)(lift(x[: self._dim]))
        ys = self.lower(Balls(xs)).entries if len(self.best) > self._dim else xs[:0]
        least, points = Term(self.mean([]).value, "F^{*}"), np.concatenate([xs, ys]).T
        made = [self.mean([[*point]] * self._clients) - least for point in points]
        return Balls(np.array(made, dtype=object))

    def minima_gap(self) -> Term | None:
        """Return F* less the mean of the clients' minima (None: one has none)."""
        of = self._pieces[0]
        at = [[minimiser_of(x, integral_of(x, Fraction(0))) for x in row] for row in of]
        if any(None in row for row in at):
            return None
        return Term(self.mean([]).value, "F^{*}") - self.mean([[*map(Term, row)] for row in at])

    def apart(self) -> Fraction | None:
        """Return the largest |f_k'(x) − F'(x)| over x in one dimension (None: none is known)."""
        if self._dim > 1 or any(self._coupling or [[None]]):
            return None
        n, each = self._clients, [row[0] for row in self._pieces[0]]
        less = [[(end, tuple(-c for c in of)) for end, of in pieces] for pieces in each]
        off = [sum_of([*[pieces] * n, *less]) for pieces in each]
        tails = [of[k][1] for of in off for k in (0, -1)]
        inner = (value_at(of, end) for of in off for end, _ in of if end is not None)
        far = max(map(abs, [*inner, *(a for a, _ in tails)])) / n
        return far if not any(b for _, b in tails) else None

    def _called(self, which: int, k: int, i: int, x: Term, *, risen: bool = False) -> Term:
        """Return a function's derivative at x, or with ``risen`` its value."""
        name, of = self._known[which]
        called, pieces = self._index(name, of, k, i) + "'" * (not risen), self._pieces[which][k][i]
        if risen:
            pieces = integral_of(pieces, Fraction(0))
        value = value_at(self.used.setdefault(called, pieces), x.value)
        return Term(value, called + bracketed(shortened(x).text))

    def _index(self, name: str, of: PiecewiseLinear, client: int, coordinate: int) -> str:
        clients, dim = of.knots.shape[:2]
        at = [str(client + 1)] * (clients > 1) + [str(coordinate + 1)] * (dim > 1)
        return letter(name, at)

    def _at(self, of: Any, x: Any, original: Any, *, integral: bool = False) -> Any:
        which = next((n for n, (_, known) in enumerate(self._known) if _equal(known, of)), None)
        balls = isinstance(x, Balls)
        own = balls and any(isinstance(v, Term) for v in lift(x).flat)
        at_0 = balls and integral and not own and all(v == 0 for v in lift(x).flat)
        if not (own or at_0) or which is None or x.shape[:2] != of.knots.shape[:2]:
            return original(of, x)  # of no step: Newton's, to y*(x)
        values, areas = np.full(x.shape, NOTHING), np.empty(x.shape, object)
        for k, i, r in np.ndindex(*x.shape):
            to, pieces = term(lift(x)[k, i, r]), self._pieces[which][k][i]
            if integral:  # an oracle begins at the first knot
                first = decimal(float(self._known[which][1].knots[k, i, 0, 0]))
                at_zero = value_at(integral_of(pieces, first), Fraction(0))
            if at_0:
                areas[k, i, r] = Term(at_zero, bare=True)
                continue
            values[k, i, r] = self._called(which, k, i, to)
            if integral:
                areas[k, i, r] = self._called(which, k, i, to, risen=True).moved_by(at_zero)
        return (Balls(values), Balls(areas)) if integral else Balls(values)


def _equal(one: PiecewiseLinear, two: PiecewiseLinear) -> bool:
    """Say whether two functions have the same points, in doubles or in balls."""
    pairs = (one.knots, two.knots), (one.values, two.values)
    return all(a.shape == b.shape and bool((a == b).all()) for a, b in pairs)


def shortened(x: Term) -> Term:
    """Return a fraction that was computed of others as what it comes to."""
    return Term(x.value) if isinstance(x.value, Fraction) and NUMERIC.fullmatch(x.text) else x


def pieces_of(of: PiecewiseLinear, client: int, coordinate: int) -> list[Piece]:
    """Return the pieces of one function, from the left."""
    xs, ys = (
        [decimal(x) for x in part[client, coordinate, :, 0].tolist()]
        for part in (of.knots, of.values)
    )
    points = list(dict(zip(xs, ys, strict=True)).items())
    tails = [
        decimal(float(of.left[client, coordinate, 0])),
        decimal(float(of.right[client, coordinate, 0])),
    ]
    inner = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]
    # that of the outermost piece was rounded: it goes on as it is
    slopes = [tails[0], *inner, tails[1]]
    for tail, beside in ((0, 1), (-1, -2)) if inner else ():
        if abs(slopes[tail] - slopes[beside]) <= Fraction(STORED) * abs(slopes[beside]):
            slopes[tail] = slopes[beside]
    made: list[Piece] = []
    for slope, (x, y), end in zip(
        slopes, [points[0], *points], [*(x for x, _ in points), None], strict=True
    ):
        piece = end, (y - slope * x, slope)
        if made and made[-1][1] == piece[1]:
            made.pop()  # it goes on
        made.append(piece)
    return made


def integral_of(pieces: list[Piece], first: Fraction) -> list[Piece]:
    """Return the integral of a piecewise linear function from ``first`` on."""
    made: list[Piece] = []
    for end, (a, b) in pieces:
        constant = Fraction(0)
        if made:
            x = made[-1][0]
            constant = value_at(made[-1:], x) - value_at([(None, (Fraction(0), a, b / 2))], x)
        made.append((end, (constant, a, b / 2)))
    zero = value_at(made, first)
    return [(end, (c - zero, a, b)) for end, (c, a, b) in made]


def sum_of(functions: list[list[Piece]]) -> list[Piece]:
    """Return the pieces of a sum, of functions of as many coefficients each."""
    ends = sorted({end for of in functions for end, _ in of if end is not None})
    made: list[Piece] = []
    for end in (*ends, None):
        parts = [
            next(c for e, c in of if e is None or (end is not None and end <= e))
            for of in functions
        ]
        made.append((end, tuple(sum(of, Fraction(0)) for of in zip(*parts, strict=True))))
    return made


def solution_of(rising: list[Piece], by: Fraction) -> list[Piece]:
    """Return the y(x) at which a rising function is ``by``·x."""
    if not by:
        return [(None, (minimiser_of(rising, integral_of(rising, by)) or by, by))]
    ends = [value_at(rising, end) / by for end, _ in rising[:-1] if end is not None]
    parts = [(-a / b, by / b) for _, (a, b) in rising]
    turn = 1 if by > 0 else -1
    return [*zip([*ends[::turn], None], parts[::turn], strict=True)]


def minimiser_of(slope: list[Piece], value: list[Piece]) -> Fraction | None:
    """Return where a function is least: at a knot, or where its derivative is 0 (None: nowhere)."""
    (first, down), (last, up) = slope[0][1], slope[-1][1]
    if down < 0 or up < 0 or (down == 0 and first > 0) or (up == 0 and last < 0):
        return None
    knots = [end for end, _ in slope if end is not None]
    candidates, low = knots or [Fraction(0)], None
    for end, (a, b) in slope:
        zero = -a / b if b else low
        if zero is not None and (low is None or low <= zero) and (end is None or zero <= end):
            candidates = [*candidates, zero]
        low = end
    return min(candidates, key=lambda x: value_at(value, x))


def value_at(pieces: list[Piece], x: Any) -> Any:
    """Return the value at a fraction or a ball; pieces that meet agree.

    Raises:
        RefusedError: a ball lies on two pieces.
    """
    for end, (first, *others) in pieces:
        if end is None or on_values(le, x, end):
            made: Any = first
            for n, c in enumerate(others, 1):
                made = on_values(lambda of, c, y, n=n: of + c * power(y, Fraction(n)), made, c, x)
            return made
        if not on_values(gt, x, end):
            raise RefusedError(f"{number_text(x)} lies on two pieces of a function", open=True)
    raise AssertionError("the last piece has no end")
