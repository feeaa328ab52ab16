"""Hypothesis strategies: members of the piecewise families, whose objective is bounded below.

Numbers are whole ones over a power of ten. Members shrink towards one client, one coordinate, no
noise and the family's defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from driftproof.synthetic.pieces.curves import Curve, Curves, Vectors, straight
from driftproof.synthetic.problems.piecewise_bilevel import PiecewiseBilevel
from driftproof.synthetic.problems.piecewise_composition import PiecewiseComposition
from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.synthetic.problems.piecewise_minimax import PiecewiseMinimax
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families import bilevel, composition, minimax
from driftproof.verifiers.search.structure import Choices

M = TypeVar("M", bound=Problem)

POWERS = (0, 0, 0, -1, -1, 1, -2, 2, -3, 3, -5)
"""Sizes of numbers as powers of ten, the usual ones more often."""
MOST = 20
"""A number is at most so many units."""
CLIENTS, DIMENSIONS, KNOTS = 4, 2, 4
RARE = (0.5, 0.25, 0.1, 0.01)


class Family(NamedTuple):
    """Where members come from: a piecewise family, or (without fields) that of a claim's case.

    Attributes:
        members: a strategy of them.
        plain: the simplest.
        examples: others that show what the family has.
    """

    members: st.SearchStrategy[Any] | None = None
    plain: Problem | None = None
    examples: Sequence[Problem] = ()


def families_of(choices: Choices) -> list[Family]:
    """Return where the members of a space of the search come from."""
    fixed = dict(choices.fixed)
    if choices.family == PiecewiseComposition.leaf_name:
        inside = fixed.get("averaged_inside", False)
        of_them = compositions(inside, choices.noises, fixed.get("plain", True))
        same = [x for x in PiecewiseComposition.examples() if x.averaged_inside == inside]
        return [Family(of_them, PiecewiseComposition(averaged_inside=inside), same)]
    if choices.family == PiecewiseLosses.leaf_name:
        examples = PiecewiseLosses.examples()
        flat, linear = ([x for x in examples if x.tails == y] for y in ("flat", "linear"))
        return [
            Family(losses(False), PiecewiseLosses(), flat),
            Family(losses(True), PiecewiseLosses(tails="linear"), linear),
        ]
    if choices.family == PiecewiseMinimax.leaf_name:
        saddles = minimax_problems("knots" in fixed)
        return [Family(saddles, PiecewiseMinimax(), PiecewiseMinimax.examples())]
    if choices.family == PiecewiseBilevel.leaf_name:
        levels = bilevel_problems(fixed.get("coupled", True))
        return [Family(levels, PiecewiseBilevel(), PiecewiseBilevel.examples())]
    return [Family()]


def sizes(low: int) -> st.SearchStrategy[float]:
    """Return a strategy of numbers of ``low`` units or more, of every size."""
    return st.builds(decimal, st.integers(low, MOST), st.sampled_from(POWERS))


def decimal(units: int, power: int) -> float:
    """Return units·10^power, the nearest double to it.

    >>> decimal(3, -1), decimal(-12, 2)
    (0.3, -1200.0)
    """
    return float(f"{units}e{power}")


@st.composite
def losses(draw: st.DrawFn, convex: bool) -> PiecewiseLosses:
    """Draw losses: bounded gradients, or strongly convex ones (every F_k' rises)."""
    clients, dim = _shape(draw)
    fields: dict[str, Any] = {"clients": clients, "dim": dim}
    if _often(draw):
        gradients = _curves(draw, clients, dim, least=2, rising=convex)
        fields["gradients"] = gradients if convex else _bounded((), gradients, (), False)[1]
    if convex:
        fields["tails"] = "linear"
    if draw(st.booleans()):
        fields |= {"noise": draw(sizes(1)), "rare": draw(st.sampled_from(RARE))}
    return _with_infimum(PiecewiseLosses(**fields))


@st.composite
def compositions(
    draw: st.DrawFn, averaged_inside: bool | None = None,
    noises: Sequence[str] = composition.NOISES, has_plain: bool = True,
) -> PiecewiseComposition:  # fmt: skip
    """Draw a composition whose objective is bounded below.

    Args:
        averaged_inside: whether inner values are averaged (None: drawn).
        noises: which there may be.
        has_plain: whether there may be a part h.
    """
    clients, dim = _shape(draw)
    inside = draw(st.booleans()) if averaged_inside is None else averaged_inside
    inner: Curves = ()
    outer: Curves = ()
    plain: Curves = ()
    if _often(draw):
        inner = _curves(draw, clients, dim)
    if _often(draw):
        outer = _curves(draw, clients, dim, least=2, alike=inside)
    if has_plain and draw(st.integers(0, 3)) == 3:
        plain = _curves(draw, clients, dim)
    inner, outer, plain = _bounded(inner, outer, plain, inside)
    fields: dict[str, Any] = {
        "clients": clients, "dim": dim, "inner": inner, "outer": outer, "plain": plain,
        "averaged_inside": inside,
    }  # fmt: skip
    if draw(st.booleans()):
        fields["offsets"] = _vectors(draw, clients, dim)
    if draw(st.booleans()):
        fields |= _noises(draw, noises, "gradient_noise")
    return _with_infimum(PiecewiseComposition(**fields))


@st.composite
def minimax_problems(draw: st.DrawFn, quadratic: bool = False) -> PiecewiseMinimax:
    """Draw a minimax problem, in which b̄ ≠ 0 or h̄ does not fall at an end.

    Args:
        quadratic: whether every k_i is, so that ∇²g_i has a Lipschitz constant.
    """
    clients, dim = _shape(draw)
    fields: dict[str, Any] = {"clients": clients, "dim": dim}
    if draw(st.integers(0, 3)) == 3:
        fields["plain"] = _curves(draw, clients, dim)
    if _often(draw):
        most = 2 if quadratic else KNOTS
        fields["lower"] = _curves(draw, clients, dim, least=2, most=most, rising=True)
    if _often(draw):
        fields["coupling"] = _vectors(draw, clients, dim)
    if draw(st.booleans()):
        fields |= _noises(draw, minimax.NOISES)
    return _with_infimum(PiecewiseMinimax(**fields))


@st.composite
def bilevel_problems(draw: st.DrawFn, has_coupling: bool = True) -> PiecewiseBilevel:
    """Draw a bilevel problem whose F rises, or stays flat, at both ends.

    Args:
        has_coupling: whether x and y may share a part of f_i, which is not Lipschitz then.
    """
    clients, dim = _shape(draw)
    fields: dict[str, Any] = {"clients": clients, "dim": dim}
    numbers: dict[str, Vectors] = {}
    if draw(st.booleans()):
        numbers["curvature"] = _vectors(draw, clients, dim, least=1)
    if draw(st.booleans()):
        numbers["cross"] = _vectors(draw, clients, dim)
    slopes = _slopes(numbers, clients, dim)
    upper: Curves = ()
    plain: Curves = ()
    if _often(draw):
        upper = _curves(draw, clients, dim, least=2)
    if draw(st.integers(0, 3)) == 3:
        plain = _curves(draw, clients, dim)
    # h_i + u_i(y*(x)) is a composition, and y* is straight
    inner = (tuple(map(straight, slopes)),) * clients
    _, fields["upper"], fields["plain"] = _bounded(inner, upper, plain, False)
    if draw(st.booleans()):
        numbers["offsets"] = _vectors(draw, clients, dim)
    if has_coupling and draw(st.integers(0, 3)) == 3:
        drawn = np.array(_vectors(draw, clients, dim))
        turned = np.where(drawn.sum(0) * slopes < 0, -drawn, drawn) + 0.0  # F'' has 2w̄·dy*/dx
        numbers["coupling"] = tuple(map(tuple, turned.tolist()))
    if draw(st.booleans()):
        fields |= _noises(draw, bilevel.NOISES, "curvature_noise", "cross_noise")
    return _with_infimum(PiecewiseBilevel(**fields | numbers))


def _with_infimum(member: M) -> M:
    """Return a member whose objective is bounded below; others are drawn again."""
    assume(np.isfinite(member.solution.low))
    return member


def _slopes(numbers: Mapping[str, Vectors], clients: int, dim: int) -> list[float]:
    """Return dy*/dx = c̄/ā in each coordinate."""
    ones = ((1.0,) * dim,) * clients
    cross, curvature = (
        [sum(column) for column in zip(*numbers.get(name, ones), strict=True)]
        for name in ("cross", "curvature")
    )
    return [c / a for c, a in zip(cross, curvature, strict=True)]


def _often(draw: st.DrawFn) -> bool:
    """Draw True three times of four; it shrinks to False."""
    return draw(st.integers(0, 3)) > 0


def _shape(draw: st.DrawFn) -> tuple[int, int]:
    """Draw how many clients and coordinates there are."""
    return draw(st.integers(1, CLIENTS)), draw(st.sampled_from((1, 1, 1, DIMENSIONS)))


def _noises(draw: st.DrawFn, names: Sequence[str], *with_waves: str) -> dict[str, float]:
    """Draw which noises are on, and how large they are, in a problem's fields.

    Args:
        names: of the noises.
        with_waves: those of them that have a wave number.
    """
    fields = {name: draw(sizes(1)) for name in names if draw(st.booleans())}
    fields["rare"] = draw(st.sampled_from(RARE))
    if any(name in fields for name in with_waves) and draw(st.booleans()):
        fields["wave"] = draw(sizes(1))
    return fields


def _vectors(draw: st.DrawFn, clients: int, dim: int, least: int = -MOST) -> Vectors:
    """Draw a number for each client and coordinate, all of one size.

    Args:
        least: how many units each has at least.
    """
    power = draw(st.sampled_from(POWERS))
    number = st.integers(least, MOST).map(lambda units: decimal(units, power))
    return tuple(tuple(draw(number) for _ in range(dim)) for _ in range(clients))


def _curves(
    draw: st.DrawFn, clients: int, dim: int, *, least: int = 1, most: int = KNOTS,
    rising: bool = False, alike: bool = False,
) -> Curves:  # fmt: skip
    """Draw a curve for each client and coordinate, all of one width and one height.

    Args:
        least, most: knots of each, at least and at most.
        rising: whether values ascend.
        alike: whether all clients have the same.
    """
    width, height = draw(st.sampled_from(POWERS)), draw(st.sampled_from(POWERS))
    place, gap = st.integers(-MOST, MOST), st.integers(1, MOST)

    def curve() -> Curve:
        knots = draw(st.integers(least, most))
        xs = accumulate([draw(place), *(draw(gap) for _ in range(knots - 1))])
        ys = [draw(place), *(draw(gap if rising else place) for _ in range(knots - 1))]
        heights = accumulate(ys) if rising else ys
        points = zip(xs, heights, strict=True)
        return tuple((decimal(x, width), decimal(y, height)) for x, y in points)

    own = clients if clients > 1 and not alike and _often(draw) else 1
    rows = [tuple(curve() for _ in range(dim)) for _ in range(own)]
    return tuple(rows * (clients // own))


AROUND_TWO: Curve = ((1.0, -1.0), (3.0, 1.0))
"""g_k' where no outer curve is given."""


def _bounded(
    inner: Curves, outer: Curves, plain: Curves, inside: bool
) -> tuple[Curves, Curves, Curves]:
    """Return the curves, changed as little as it takes for F to rise, or stay flat, at both ends.

    In each coordinate signs of the outer functions' last values are changed; if that does not do,
    the plain part is 0 there, and then the inner functions ascend at their ends.
    """
    dim = max((len(curves[0]) for curves in (inner, outer, plain) if curves), default=1)
    columns = [
        next(_changed(_column(inner, d), _column(outer, d), _column(plain, d), inside))
        for d in range(dim)
    ]
    first, second, third = (
        tuple(tuple(row) for row in zip(*(column[k] for column in columns), strict=True))
        for k in range(3)
    )
    return first, second, third


Column = tuple[Curve, ...]
"""A curve for each client, of one coordinate; empty where there are none."""


def _column(curves: Curves, coordinate: int) -> Column:
    return tuple(row[coordinate] for row in curves)


def _changed(
    inner: Column, outer: Column, plain: Column, inside: bool
) -> Iterator[tuple[Column, Column, Column]]:
    """Yield the curves of a coordinate in every way of changing them that makes F rise."""
    for upward, plainly in product((False, True), (False, True)):
        kept = tuple(straight(0.0) for _ in plain) if plainly else plain
        ascending = tuple(map(_ascending, inner)) if upward else inner
        for right, left in product((1.0, -1.0), (1.0, -1.0)):
            turned = tuple(_turned(curve, left, right) for curve in outer)
            if _rises(ascending, turned, kept, inside):
                yield ascending, turned, kept


def _rises(inner: Column, outer: Column, plain: Column, inside: bool) -> bool:
    """Say whether F' ≥ 0 far to the right and F' ≤ 0 far to the left."""
    clients = max(len(inner), len(outer), len(plain), 1)
    inner = inner or (straight(1.0),) * clients
    outer = outer or (AROUND_TWO,) * clients
    for end, sign in ((-1, 1), (0, -1)):
        slopes = [curve[end][1] for curve in inner]
        if inside:
            slopes = [sum(slopes) / clients] * clients
        total = sum(curve[end][1] for curve in plain)
        for slope, curve in zip(slopes, outer, strict=True):
            # where f_k goes to +∞ its g_k' is the last value, where it goes to −∞ the first
            total += slope * curve[-1 if slope * sign > 0 else 0][1]
        if sign * total < 0:
            return False
    return True


def _turned(curve: Curve, left: float, right: float) -> Curve:
    """Return a curve with its end values times ±1 (+ 0.0, for there is no −0 to read)."""
    (x, y), *middle, (z, w) = curve
    return ((x, left * y + 0.0), *middle, (z, right * w + 0.0))


def _ascending(curve: Curve) -> Curve:
    """Return a curve with end values of at least 0."""
    last = len(curve) - 1
    return tuple((x, abs(y) if k in (0, last) else y) for k, (x, y) in enumerate(curve))
