r"""The piecewise linear functions of a run of terms: their letters, and their pieces.

A family's statement says h_k' of a function, and its parameter has the letter (``Curve.letter``).
"""

import re
from collections.abc import Iterable, Iterator
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

    Raises:
        NoScriptError: the problem is none of these.
    """

    def __init__(self, problem: Any) -> None:
        if not isinstance(problem, PiecewiseFamily):
            raise NoScriptError(
                f"the functions of {type(problem).__name__} have no formula here, as those of "
                "piecewise linear derivatives have"
            )
        self._known = [
            (one.letter, getattr(problem.parts, one.part or name))
            for name, one in declared(type(problem)).items()
            if isinstance(one, Curve)
        ]
        self._of_y = {
            one.letter
            for name, one in declared(type(problem)).items()
            if isinstance(one, Curve) and name == "lower"
        }
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
        """Return where a mean of losses is least, near what a problem says (empty: unknown)."""
        (_, of), *others = self._known
        if others or near is None:
            return []
        made = []
        for i in range(of.knots.shape[1]):
            slopes, losses = self._losses(i)
            x = minimiser_of(sum_of(slopes), sum_of(losses))
            if x is None or abs(x - Fraction(float(near[i]))) > Fraction(STORED) * (1 + abs(x)):
                return []
            made.append(Term(x, "x^{*}" if len(near) == 1 else f"x^{{*}}_{{{i + 1}}}"))
        return made

    def above(self, point: Iterable[Any], least: list[Term]) -> Term:
        """Return F(x) − F(x*) of a mean of losses."""
        (name, of), made = self._known[0], NOTHING
        for i, pair in enumerate(zip(map(term, point), least, strict=True)):
            names = [self._index(name, of, k, i) for k in range(len(of.knots))]
            self.used |= zip(names, self._losses(i)[1], strict=True)
            for sign, x in zip((1, -1), pair, strict=True):
                values = [
                    Term(value_at(self.used[called], x.value), called + bracketed(x.text))
                    for called in names
                ]
                mean = sum(values, NOTHING) / Term(Fraction(len(names)), bare=True)
                made = made + mean if sign > 0 else made - mean
        return made

    def _losses(self, i: int) -> tuple[list[list[Piece]], list[list[Piece]]]:
        """Return the clients' derivatives in a coordinate, and the functions."""
        of = self._known[0][1]
        slopes = [pieces_of(of, k, i) for k in range(len(of.knots))]
        firsts = (decimal(float(x)) for x in of.knots[:, i, 0, 0])
        return slopes, [integral_of(*pair) for pair in zip(slopes, firsts, strict=True)]

    def _index(self, name: str, of: PiecewiseLinear, client: int, coordinate: int) -> str:
        clients, dim = of.knots.shape[:2]
        at = [str(client + 1)] * (clients > 1) + [str(coordinate + 1)] * (dim > 1)
        return letter(name, at)

    def _at(self, of: Any, x: Any, original: Any, *, integral: bool = False) -> Any:
        same = (
            name
            for name, known in self._known
            if known.knots.equal(of.knots) and known.values.equal(of.values)
        )
        name = next(same, None)
        own = isinstance(x, Balls) and any(isinstance(v, Term) for v in lift(x).flat)
        if not own or name is None or x.shape[:2] != of.knots.shape[:2]:
            return original(of, x)  # of no step: Newton's, to y*(x)
        values, areas = np.empty(x.shape, object), np.empty(x.shape, object)
        for k, i, r in np.ndindex(*x.shape):
            called, to = self._index(name, of, k, i), term(lift(x)[k, i, r])
            pieces = self.used.setdefault(f"{called}'", pieces_of(of, k, i))
            short = isinstance(to.value, Fraction) and NUMERIC.fullmatch(to.text)
            text = number_text(to.value) if short else to.text
            values[k, i, r] = Term(value_at(pieces, to.value), f"{called}'{bracketed(text)}")
            if integral:
                first = decimal(float(of.knots[k, i, 0, 0]))
                risen = self.used.setdefault(called, integral_of(pieces, first))
                areas[k, i, r] = Term(value_at(risen, to.value), called + bracketed(text))
        return (Balls(values), Balls(areas)) if integral else Balls(values)


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
                made = on_values(lambda of, c, y, n=n: of + c * y**n, made, c, x)
            return made
        if not on_values(gt, x, end):
            raise RefusedError(f"{number_text(x)} lies on two pieces of a function")
    raise AssertionError("the last piece has no end")
