"""Hypothesis strategies: cases inside a claim's assumptions, members of families, algorithms.

Numbers are whole ones over a power of ten, so that what a test fails on can be read and typed.
Everything shrinks: towards one client, one knot, one step, no noise and the defaults. Where a drawn
case is outside the assumptions, hyperparameters are moved to round numbers inside them; if that
does not do, parameters go back to plain ones, one after another, until the case is inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, product
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

try:
    from hypothesis import assume
    from hypothesis import strategies as st
except ImportError:
    from toolkit.errors import MissingError

    raise MissingError(
        "driftproof.strategies without Hypothesis",
        "the package hypothesis",
        "pip install 'driftproof[testing]'",
    ) from None

from synthetic.pieces.curves import Curve, Curves, straight
from synthetic.problems.piecewise_composition import PiecewiseComposition
from synthetic.problems.piecewise_losses import PiecewiseLosses
from toolkit.algorithm import Algorithm
from toolkit.cases import Case
from toolkit.errors import DriftproofError, unknown_name
from toolkit.parameters import Constraint, Parameters, constraints
from toolkit.problem import Problem
from toolkit.readings import ByProof, Undecided
from verifiers.claim_types.bound import BoundClaim
from verifiers.claim_types.claim import Claim, Form
from verifiers.claim_types.comparison import ComparisonClaim
from verifiers.search.families.composition import NOISES
from verifiers.search.inside import is_quick, moved_inside
from verifiers.search.search import Space, spaces_of
from verifiers.search.structure import altered
from verifiers.search.units import judged

P = TypeVar("P", bound=Parameters)
A = TypeVar("A", bound=Algorithm)
POWERS = (0, 0, 0, -1, -1, 1, -2, 2, -3, 3, -5)
"""Sizes of numbers as powers of ten, the usual ones more often."""
SMALL = (-2, -3, -5)
MOST = 20
"""A number is at most so many units."""
CLIENTS, DIMENSIONS, KNOTS = 4, 2, 4
STEPS = (1, 2, 3, 5, 10)
HORIZONS = (1, 2, 3, 5, 10)
RARE = (0.5, 0.25, 0.1, 0.01)


def instances(claim: Claim[Any]) -> st.SearchStrategy[Case]:
    """Return a strategy of cases that meet what a claim assumes.

    From the piecewise family of the oracles that the algorithm asks for, if there is one, and from
    the families of the claim's own cases. Numbers are anything that annotations and assumptions
    allow, whatever the cases have; words and flags (``branch="special"``) are those of a case.

    Args:
        claim: a bound or a comparison.

    Raises:
        DriftproofError: the claim is a rate or a proof, or no family has a member inside its
            assumptions.
    """
    forms = [form for form in claim.forms if decides(form)]
    if not forms or not isinstance(claim, BoundClaim | ComparisonClaim):
        raise DriftproofError(
            f"instances of {claim.name}, a {claim.way} with {len(forms)} right sides for cases",
            "a @bound or a @comparison",
            "assert_claim judges rates and proofs",
        )
    drawn = [
        strategy
        for space in spaces_of(claim)
        for form in forms
        if (strategy := _instances(claim, form, space)) is not None
    ]
    if not drawn:
        row = judged(claim, forms[0], claim.cases_for("smoke")[0], seed=0)
        raise DriftproofError(
            f"no instance of {claim.name}; on its first case the judge says: {row.reason}",
            "a case that meets every assumption",
            "add one to cases; driftproof verify tells what each lacks",
        )
    return st.one_of(drawn)


def problems(kind: str) -> st.SearchStrategy[Problem]:
    """Return a strategy of members of the piecewise family of one kind.

    Args:
        kind: "field" (gradient fields) or "composition", as ``toolkit.oracles.OFFERS`` calls them.

    Raises:
        DriftproofError: there is no such kind, or no piecewise family of it.
    """
    families: dict[str, st.SearchStrategy[Any]] = {
        "field": st.one_of(_losses(False), _losses(True)),
        "composition": _compositions(),
    }
    if kind not in families:
        raise unknown_name("kind of piecewise problems", kind, families)
    return families[kind]


def hyperparameters(algorithm: A | type[A]) -> st.SearchStrategy[A]:
    """Return a strategy of one algorithm with parameters inside their annotations' ranges.

    Args:
        algorithm: its class; or a member, whose fields without a range are kept.
    """
    start: Any = algorithm() if isinstance(algorithm, type) else algorithm
    return _redrawn(start)


def decides(form: Form) -> bool:
    """Say whether a form is judged on cases, and a print or a correction stands and falls by it."""
    if form.form == "sibling" or isinstance(form.right, ByProof | Undecided):
        return False
    return form.reading_kind is None or form.reading_kind.admissible


# -- cases


def _instances(claim: Claim[Any], form: Form, space: Space) -> st.SearchStrategy[Case] | None:
    """Return the cases of one space (None: none of its examples is inside the assumptions)."""
    family = space.choices.family
    every = [claim.cases_for("full")[k] for k in space.templates]
    # those of the full profile take long
    templates = [case for case in every if case in claim.cases] or every
    families: list[Family]
    if family == PiecewiseComposition.leaf_name:
        fixed = dict(space.choices.fixed)
        inside = fixed.get("averaged_inside", False)
        members = _compositions(inside, space.choices.noises, fixed.get("plain", True))
        same = [x for x in PiecewiseComposition.examples() if x.averaged_inside == inside]
        families = [Family(members, PiecewiseComposition(averaged_inside=inside), same)]
    elif family == PiecewiseLosses.leaf_name:
        losses = PiecewiseLosses.examples()
        families = [
            Family(_losses(False), PiecewiseLosses(), [x for x in losses if x.tails == "flat"]),
            Family(
                _losses(True), PiecewiseLosses(tails="linear"),
                [x for x in losses if x.tails == "linear"],
            ),
        ]  # fmt: skip
    else:
        families = [Family()]
    drawn = []
    for one in families:
        examples = [*one.examples, *([one.plain] if one.plain is not None else [])]
        starts = [replace(case, problem=x) for case in templates for x in examples] or templates
        if any(moved_inside(claim, form, case, in_ball=False) is not None for case in starts):
            drawn.append(_cases(claim, form, templates, one))
    return st.one_of(drawn) if drawn else None


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


def _cases(
    claim: Claim[Any], form: Form, templates: Sequence[Case], family: Family
) -> st.SearchStrategy[Case]:
    """Return cases: a member, hyperparameters and a horizon, moved into the assumptions."""

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        template = templates[draw(st.integers(0, len(templates) - 1))]
        members = family.members
        if members is None:
            members = _redrawn(template.problem, options=False)
        problem = draw(members)
        case = Case(problem)
        if template.algorithm is not None:
            algorithm = draw(_redrawn(template.algorithm, options=False))
            if "participation" in constraints(type(algorithm)):
                left_out = draw(st.integers(0, problem.clients - 1))
                share = (problem.clients - left_out) / problem.clients
                algorithm = altered(algorithm, {"participation": share}) or algorithm
            case = Case(problem, algorithm, draw(st.sampled_from(HORIZONS)))
        start = template
        if family.plain is not None:
            shaped = altered(family.plain, {"clients": problem.clients, "dim": problem.dim})
            start = replace(template, problem=shaped or family.plain)
        settled = None
        for tried in _plainer(case, start):
            settled = moved_inside(claim, form, tried)
            if settled is not None and (tried == start or is_quick(claim, form, settled)):
                break
        assume(settled is not None)
        return cast(Case, settled)

    return cases()  # without arguments, which Hypothesis would write out: claims are long


def _plainer(case: Case, start: Case) -> Iterator[Case]:
    """Yield a case, then ones with more and more parameters as in another, and that one."""
    yield case
    for part in ("algorithm", "problem"):
        end = getattr(start, part)
        for name in reversed(list(end.values() if end is not None else ())):
            now = getattr(case, part)
            changed = altered(now, {name: getattr(end, name)})
            if changed is not None and changed != now:
                case = replace(case, **{part: changed})
                yield case
    yield start


# -- parameters by their annotations


@st.composite
def _redrawn(draw: st.DrawFn, part: P, options: bool = True) -> P:
    """Draw every parameter that has a range, one after another; what does not fit stays.

    Args:
        options: whether words and flags are drawn too.
    """
    for name, constraint in constraints(type(part)).items():
        if options or not constraint.choices:
            value = draw(_values(constraint, getattr(part, name), name))
            part = altered(part, {name: value}) or part
    return part


def _values(constraint: Constraint, now: Any, name: str) -> st.SearchStrategy[Any]:
    """Return what a parameter may be: counts from the smallest, all else from what it is now."""
    if constraint.choices:
        others = [choice for choice in constraint.choices if choice != now]
        return st.sampled_from([now, *others])
    if constraint.integer:
        low = int(constraint.low) if np.isfinite(constraint.low) else 0
        counts = {*range(low, low + 4), *(STEPS if name == "local_steps" else ())}
        allowed = sorted(count for count in counts if constraint.allows(count))
        return st.sampled_from(allowed or [now])
    return st.one_of(st.just(now), _numbers(constraint))


def _numbers(constraint: Constraint) -> st.SearchStrategy[float]:
    """Return real numbers in a range, whole ones over a power of ten above its lower end."""
    low, high = constraint.low, constraint.high
    first = 0 if constraint.allows(low) else 1
    if np.isfinite(low) and np.isfinite(high):
        tenths = st.integers(first, 10).map(lambda k: round(low + (high - low) * k / 10, 12))
        parts = st.builds(decimal, st.integers(first, MOST), st.sampled_from(SMALL))
        small = parts.map(lambda share: round(low + (high - low) * share, 12))
        return st.one_of(tenths, small).filter(constraint.allows)
    if np.isfinite(low):
        return _sizes(first).map(lambda x: low + x).filter(constraint.allows)
    return _sizes(-MOST).filter(constraint.allows)


def _sizes(low: int) -> st.SearchStrategy[float]:
    return st.builds(decimal, st.integers(low, MOST), st.sampled_from(POWERS))


def decimal(units: int, power: int) -> float:
    """Return units·10^power, the nearest double to it.

    >>> decimal(3, -1), decimal(-12, 2)
    (0.3, -1200.0)
    """
    return float(f"{units}e{power}")


# -- the piecewise families


@st.composite
def _losses(draw: st.DrawFn, convex: bool) -> PiecewiseLosses:
    """Draw losses: bounded gradients, or strongly convex ones (every F_k' rises)."""
    clients, dim = _shape(draw)
    fields: dict[str, Any] = {"clients": clients, "dim": dim}
    if _often(draw):
        gradients = _curves(draw, clients, dim, least=2, rising=convex)
        fields["gradients"] = gradients if convex else _bounded((), gradients, (), False)[1]
    if convex:
        fields["tails"] = "linear"
    if draw(st.booleans()):
        fields |= {"noise": draw(_sizes(1)), "rare": draw(st.sampled_from(RARE))}
    member = PiecewiseLosses(**fields)
    assume(np.isfinite(member.solution.low))
    return member


@st.composite
def _compositions(
    draw: st.DrawFn, averaged_inside: bool | None = None, noises: Sequence[str] = NOISES,
    has_plain: bool = True,
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
        power = draw(st.sampled_from(POWERS))
        offset = st.integers(-MOST, MOST).map(lambda units: decimal(units, power))
        fields["offsets"] = tuple(tuple(draw(offset) for _ in range(dim)) for _ in range(clients))
    if draw(st.booleans()):
        for name in noises:
            if draw(st.booleans()):
                fields[name] = draw(_sizes(1))
        fields |= {"rare": draw(st.sampled_from(RARE))}
        if "gradient_noise" in fields and draw(st.booleans()):
            fields["wave"] = draw(_sizes(1))
    member = PiecewiseComposition(**fields)
    assume(np.isfinite(member.solution.low))
    return member


def _often(draw: st.DrawFn) -> bool:
    """Draw True three times of four; it shrinks to False."""
    return draw(st.integers(0, 3)) > 0


def _shape(draw: st.DrawFn) -> tuple[int, int]:
    """Draw how many clients and coordinates there are."""
    return draw(st.integers(1, CLIENTS)), draw(st.sampled_from((1, 1, 1, DIMENSIONS)))


def _curves(
    draw: st.DrawFn, clients: int, dim: int, *, least: int = 1, rising: bool = False,
    alike: bool = False,
) -> Curves:  # fmt: skip
    """Draw a curve for each client and coordinate, all of one width and one height.

    Args:
        least: knots of each, at least.
        rising: whether values ascend.
        alike: whether all clients have the same.
    """
    width, height = draw(st.sampled_from(POWERS)), draw(st.sampled_from(POWERS))
    place, gap = st.integers(-MOST, MOST), st.integers(1, MOST)

    def curve() -> Curve:
        knots = draw(st.integers(least, KNOTS))
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
