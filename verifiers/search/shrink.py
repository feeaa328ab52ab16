"""Makes a counterexample small: few clients, coordinates, rounds and knots, and round numbers.

Greedy: a change is kept if the case still breaks the form by enough. Counts come first, since
they make all else cheaper; numbers are rounded last.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context
from functools import partial
from math import inf
from typing import Any, cast

import numpy as np

from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import constraints
from driftproof.verifiers.search.structure import real

DIGITS = (1, 2, 3, 6)
DOWN = (2, 3, 6)
"""Digits to which a parameter is rounded towards 0 too: one that is as large as is assumed, as
η = 1/L, may not be rounded up."""
FAR = 30
"""Numbers beyond which, or beyond 1 over which, curves are better said in other units."""
STEPS = 200
"""Steps of a run that take as long as everything else that is done with a case, about."""


def shrunk(
    case: Case,
    breaks: Callable[[Case], bool],
    attempts: int,
    kept: Callable[[Case], Case | None] = lambda case: case,
    own: Sequence[Case] = (),
    late: Callable[[], bool] = lambda: False,
) -> Case:
    """Return a case as simple as was found that still ``breaks``.

    Args:
        attempts: how many cases are tried; one of ``STEPS`` steps more counts once more.
        kept: mends a simpler case so that it keeps what is assumed (None: it cannot).
        own: the claim's cases, whose parameters are taken where they do.
        late: whether to stop.
    """
    left = attempts
    changed = True
    while changed:
        changed = False
        for step in (_counts, partial(_plainer, own=own), _rounder, _rescaled):
            for simpler in list(step(case)):
                simple = simpler(case)
                for other in (simple, _in_step(case, simple)):
                    tried = None if other is None else kept(other)
                    if tried is None or tried == case:
                        continue
                    left -= 1 + steps_of(tried) // STEPS
                    if left <= 0 or late():
                        return case
                    if breaks(tried):
                        case, changed = tried, True
                        break
    return case


def _in_step(case: Case, simple: Case | None) -> Case | None:
    """Return a case of a simpler problem with steps as large beside its smoothness as before."""
    if simple is None or simple.problem is case.problem or simple.algorithm is None:
        return None
    with suppress(DriftproofError, ArithmeticError, ValueError, StopIteration):  # nothing proven
        before, now = (of.problem.constants for of in (case, simple))
        smooth = [role for role in before if role.endswith("smoothness")]
        factor = next(before[role] / now[role] for role in smooth if before[role] != now[role])
        numbers = {
            name: rounded(factor * getattr(simple.algorithm, name), DIGITS[-2], down=True)
            for name, of in real(type(simple.algorithm)).items()
            if of.high == inf  # a step size, and no share
        }
        return replace(simple, algorithm=replace(cast(Any, simple.algorithm), **numbers))
    return None


def steps_of(case: Case) -> int:
    """Return how many steps a run of a case has (0: it has no algorithm)."""
    return 0 if case.algorithm is None else case.rounds * int(case.algorithm.local_steps)


Change = Callable[[Case], Case | None]
"""What may make a case simpler; None where it does not fit any more."""


def _counts(case: Case) -> Iterator[Change]:
    """Fewer rounds, clients, coordinates, local steps, and smaller whole numbers."""
    for rounds in sorted({1, 2, case.rounds // 4, case.rounds // 2, case.rounds - 1}):
        if 1 <= rounds < case.rounds:
            yield partial(_with_rounds, rounds=rounds)
    if hasattr(case.problem, "without_client"):
        for client in reversed(range(case.problem.clients)):
            yield partial(_without, what="client", number=client)
        for coordinate in reversed(range(case.problem.dim)):
            yield partial(_without, what="coordinate", number=coordinate)
    for part, of in _parts(case):
        ranges = constraints(type(of))
        for name, value in of.values().items():
            whole = isinstance(value, int) and not isinstance(value, bool) and name in ranges
            if whole and ranges[name].integer:
                low = int(max(ranges[name].low, 0))
                for fewer in sorted({low, 1, value // 2, value - 1}):
                    if low <= fewer < value:
                        yield partial(_smaller, part=part, name=name, value=fewer)


def _plainer(case: Case, own: Sequence[Case]) -> Iterator[Change]:
    """What the claim's cases have, defaults, zeros and ones instead of numbers; fewer knots."""
    for part, of in _parts(case):
        alike = [x for x in (getattr(one, part) for one in own) if type(x) is type(of)]
        defaults = {f.name: f.default for f in fields(of)}
        ranges = constraints(type(of))
        for name, value in of.values().items():
            if part == "algorithm" and name in ranges and ranges[name].choices:
                continue  # another variant may be one of which the claim does not speak
            if isinstance(value, int) and not isinstance(value, bool):
                continue  # of counts the smallest is the plainest, not the default
            plainest = [*dict.fromkeys(getattr(one, name) for one in alike), defaults[name]]
            plainest += [0.0, 1.0] if isinstance(value, float) else []
            for place, plain in enumerate(plainest):
                yield partial(
                    _plain, part=part, name=name, value=plain, before=plainest[: place + 1]
                )
            for path in _curves(value):
                for knot in range(len(_at(value, path))):
                    yield partial(_without_knot, name=name, path=path, knot=knot)


def _rescaled(case: Case) -> Iterator[Change]:
    """Curves of very large or small numbers from −1 to 1: in other units, with fewer digits."""
    curves = {name: of for name, of in case.problem.values().items() if any(_curves(of))}
    points = [p for of in curves.values() for path in _curves(of) for p in _at(of, path)]
    x, y = (max((abs(point[axis]) for point in points), default=0.0) for axis in (0, 1))
    far = any(unit and not 1 / FAR <= unit <= FAR for unit in (x, y))
    for digits in DIGITS[:-1] if x and y and far else ():
        yield partial(_in_units, names=list(curves), units=(x, y), digits=digits)


def _in_units(
    case: Case, names: Sequence[str], units: tuple[float, float], digits: int
) -> Case | None:
    fields: dict[str, Any] = {}
    for name in names:
        value = fields[name] = getattr(case.problem, name)
        for path in _curves(value):
            points = [(p[0] / units[0], p[1] / units[1]) for p in _at(value, path)]
            fields[name] = _put(fields[name], path, rounded(tuple(points), digits))
    try:
        simpler = replace(case, problem=replace(cast(Any, case.problem), **fields))
    except (DriftproofError, ArithmeticError, ValueError):
        return None
    sizes = [sum(map(str.isdigit, str(of.problem))) for of in (simpler, case)]
    return simpler if sizes[0] < sizes[1] else None


def _rounder(case: Case) -> Iterator[Change]:
    """Fewer digits: of all numbers of a parameter, then of each."""
    for part, of in _parts(case):
        for name, value in of.values().items():
            for digits in DIGITS:
                yield partial(_round, part=part, name=name, digits=digits, path=None)
                if digits in DOWN:
                    yield partial(_round, part=part, name=name, digits=digits, path=None, down=True)
            if isinstance(value, tuple):
                for path in _leaves(value):
                    for digits in (0, *DIGITS):
                        yield partial(_round, part=part, name=name, digits=digits, path=path)


def _parts(case: Case) -> list[tuple[str, Any]]:
    """Return what has parameters: the problem, and the algorithm if there is one."""
    parts = [("problem", case.problem), ("algorithm", case.algorithm)]
    return [(name, part) for name, part in parts if part is not None]


def rounded(value: Any, digits: int, down: bool = False) -> Any:
    """Return a value, its numbers with so many significant digits (0: 0), or no larger with them.

    >>> rounded(0.01234, 2), rounded((-1234.0, 5), 1), rounded(5.0, 0), rounded(0.77, 1, down=True)
    (0.012, (-1000.0, 5), 0.0, 0.7)
    """
    if isinstance(value, tuple):
        return tuple(rounded(x, digits, down) for x in value)
    if not isinstance(value, float):
        return value
    if digits == 0 or value == 0 or not np.isfinite(value):
        return 0.0 if digits == 0 else value
    rounding = ROUND_DOWN if down else ROUND_HALF_EVEN
    return float(Context(prec=digits, rounding=rounding).create_decimal(repr(float(value))))


def _set(case: Case, part: str, name: str, value: Any) -> Case | None:
    try:
        return replace(case, **{part: replace(getattr(case, part), **{name: value})})
    except (DriftproofError, ArithmeticError, ValueError):
        return None


def _with_rounds(case: Case, rounds: int) -> Case | None:
    return replace(case, rounds=rounds) if rounds < case.rounds else None


def _smaller(case: Case, part: str, name: str, value: int) -> Case | None:
    return _set(case, part, name, value) if value < getattr(getattr(case, part), name) else None


def _plain(case: Case, part: str, name: str, value: Any, before: list[Any]) -> Case | None:
    """Return the case with a plain value, unless it has that or a plainer one."""
    now = getattr(getattr(case, part), name)
    return None if now in before else _set(case, part, name, value)


def _round(
    case: Case, part: str, name: str, digits: int, path: tuple[int, ...] | None, down: bool = False
) -> Case | None:
    now = getattr(getattr(case, part), name)
    if path is None:
        return _set(case, part, name, rounded(now, digits, down))
    try:
        number = _at(now, path)
    except (IndexError, TypeError):
        return None
    if not isinstance(number, float):
        return None
    return _set(case, part, name, _put(now, path, rounded(number, digits)))


def _without(case: Case, what: str, number: int) -> Case | None:
    """Return the case without a client or a coordinate, and with as many clients in a cohort."""
    of = case.problem
    if number >= (of.clients if what == "client" else of.dim):
        return None
    try:
        problem = getattr(of, f"without_{what}")(number)
        algorithm = case.algorithm
        if problem is None or algorithm is None or algorithm.participation == 1.0:
            return problem if problem is None else replace(case, problem=problem)
        size = min(algorithm.cohort_size(of.clients), problem.clients)
        fewer: Any = replace(algorithm, participation=size / problem.clients)
        return replace(case, problem=problem, algorithm=fewer)
    except DriftproofError:
        return None


def _is_curve(value: Any) -> bool:
    """Whether a value is a tuple of points (x, y)."""
    return (
        isinstance(value, tuple)
        and len(value) > 0
        and all(isinstance(p, tuple) and len(p) == 2 for p in value)
        and all(isinstance(x, float) for p in value for x in p)
    )


def _curves(value: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield the paths of the curves inside nested tuples."""
    if _is_curve(value):
        yield path
    elif isinstance(value, tuple):
        for k, inside in enumerate(value):
            yield from _curves(inside, (*path, k))


def _leaves(value: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield the paths of the numbers inside nested tuples."""
    if isinstance(value, tuple):
        for k, inside in enumerate(value):
            yield from _leaves(inside, (*path, k))
    elif isinstance(value, float):
        yield path


def _at(value: Any, path: tuple[int, ...]) -> Any:
    for k in path:
        value = value[k]
    return value


def _put(value: Any, path: tuple[int, ...], new: Any) -> Any:
    """Return nested tuples with one entry changed."""
    if not path:
        return new
    k, *rest = path
    return (*value[:k], _put(value[k], tuple(rest), new), *value[k + 1 :])


def _without_knot(case: Case, name: str, path: tuple[int, ...], knot: int) -> Case | None:
    value = getattr(case.problem, name)
    try:
        curve = _at(value, path)
    except (IndexError, TypeError):
        return None
    if not _is_curve(curve) or len(curve) < 2 or knot >= len(curve):
        return None
    return _set(case, "problem", name, _put(value, path, curve[:knot] + curve[knot + 1 :]))
