r"""Proves a bound that is above the worst case, for all values of free letters.

Many multipliers do, and those at several points lie on no one function. So a few are chosen, as
polynomials of few terms and short coefficients that leave room in S at several points at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import prod
from typing import Any

import numpy as np
from flint import fmpq

from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case import homogeneous, program, region, scaling, solve
from driftproof.verifiers.worst_case.sdp import WorstCase

INSIDE, NEAR = 14, Fraction(1, 1024)  # points inside; how near to ends that are not of a region
LEAST, SHARE, RANK = 1e-8, 0.1, 1e-4  # room; what has to be left of it; squares that are not 0


def families(case: WorstCase, within: Any, right: Any) -> Iterator[dict[int, Any]]:
    """Yield multipliers that leave room, as functions of a region's letters, the simplest first."""
    scale, zero = homogeneous.units(case, within), 0 * Ratio.letter(next(iter(within.free)))
    forms = [*(of.quantity for of in case.constraints), case.objective]
    bounds = [of.bound - of.quantity.constant for of in case.constraints]
    bounding, used = ({*re.findall(r"\w+", str(of))} for of in (bounds, forms))
    own = [name for name in within.free if name in bounding - used]
    free = [name for name in within.free if name not in {*scale.letters, *own}]
    looked = [*islice(region.points(within), INSIDE), *region.ends_and_middle(within, NEAR)]
    those = {tuple(p[n] for n in free): p for p in map(scale.shared, looked)}
    places = [place | dict.fromkeys(own, Fraction(1)) for place in those.values()]
    raw, rows = [[of.values.get(j, 0) for of in forms] for j in range(len(case.values))], []
    raw.append([*bounds, zero + right - case.objective.constant])
    for k in range(1, len(own) + 3):  # all R and ζ tell the multipliers of R² and ζ²
        some = dict.fromkeys(scale.letters, fmpq(1)) | {n: fmpq(k**j) for j, n in enumerate(own, 1)}
        rows += [[zero + (zero + x).put(some) for x in of] for of in raw]
    programs = [program.matrices(region.at(case, place)) for place in places]
    lengths, left = [scaling.units(of).vectors for of in programs], list(range(len(case.vectors)))

    def part(p: int, degree: int = 0) -> tuple[Any, Any]:
        """Return S and the multipliers ≥ 0 at a point, affine in coefficients of polynomials."""
        line = _times(region.at(lines, places[p]), [places[p][n] for n in free], degree)
        numbers, size = np.array(line, dtype=float), np.outer(lengths[p], lengths[p])
        gram = programs[p].gram.chosen(kept)
        slack = np.array([gram.sum(of) for of in numbers]) * size
        slack[0] -= programs[p].objective[0] * size
        return slack[:, left][:, :, left], numbers[:, ~programs[p].equal[kept]]

    def relative(p: int, degree: int) -> tuple[Any, Any]:
        most = np.tensordot(_room([part(p)], {})[1], part(p)[0], 1)
        root, (slack, signed) = np.linalg.inv(np.linalg.cholesky(most)), part(p, degree)
        return root @ slack @ root.T, signed

    kept, inside = list(range(len(bounds))), range(min(INSIDE, len(places)))
    for first in (True, False):
        if (lines := _solution(rows, kept)) is None or not left:
            return
        full = [_room([part(p)], {}) for p in range(len(places))]
        if first and max(full[p][0] for p in inside) < LEAST and full[0][2] is not None:
            face = [j for j, x in zip(left, np.diag(full[0][2]), strict=True) if x > RANK]
            pairs = [(min(i, j), max(i, j)) for i in left for j in face]  # S is 0 on these
            rows += [[zero + (zero + of.gram.get(x, 0)).put(some) for of in forms] for x in pairs]
            left = [j for j in left if j not in face]
    where = [p for p, (room, *_) in enumerate(full) if room >= LEAST]  # an end may have none
    if not {*inside} <= {*where}:
        return
    for k in sorted(kept[: -len(case.relations) or None], key=region.dropped_first(case)):
        before, kept = (kept, lines), [j for j in kept if j != k]
        lines = _solution(rows, kept)
        if not lines or any(_room([part(p)], {})[0] < SHARE * full[p][0] for p in where):
            kept, lines = before
    for degree in range(1, 5):
        if found := _short([relative(p, degree) for p in where]):
            columns = zip(*_times(lines, [*map(Ratio.letter, free)], degree), strict=True)
            sums = [sum(c * x for c, x in zip(found, of, strict=True)) for of in columns]
            yield {k: scale.in_all_letters(k, x) for k, x in zip(kept, sums, strict=True)}


def _times(lines: Sequence[Any], values: Sequence[Any], degree: int) -> list[Any]:
    """Return the first line, and each other one times each monomial of some values."""
    powers = sorted(region.powers_to(len(values), degree), key=sum)
    factors = [prod(map(pow, values, of), start=Fraction(1)) for of in powers]
    return [lines[0], *([x * m for x in line] for line in lines[1:] for m in factors)]


def _solution(of: Sequence[list[Any]], kept: Sequence[int]) -> Any:
    """Return λ with Σ λ_k row_k = row_{−1} for all rows, and directions in which one λ_k grows."""
    last, pivots = len(kept), dict[int, Any]()
    rows = [[*(row[k] for k in reversed(kept)), -row[-1]] for row in of]
    for n, row in enumerate(rows):
        if (place := next((k for k, x in enumerate(row) if not vanishes(x)), None)) is not None:
            pivots[place], row[:] = row, [x / row[place] for x in row]
            for other in rows[:n] + rows[n + 1 :]:
                if not vanishes(factor := other[place]):
                    other[:] = [x - factor * y for x, y in zip(other, row, strict=True)]
    free, every = [c for c in (last, *range(last)) if c not in pivots], [*reversed(range(last))]
    made = [[-pivots[k][c] if k in pivots else Fraction(k == c) for k in every] for c in free]
    return None if last in pivots else made


def _room(parts: Sequence[Any], given: Mapping[int, Fraction]) -> Any:
    """Return the largest θ ≤ 1 with S ⪰ θI and λ ≥ 0 at all points, (1, numbers), and a dual."""
    import clarabel
    from scipy import sparse

    many, size = len(parts[0][0]), len(parts[0][0][0])
    free = [j for j in range(1, many) if j - 1 not in given]
    found = np.array([1.0, *(float(given.get(j, 0)) for j in range(many - 1))])
    last, (rows, columns, scale) = np.eye(1, len(free) + 1, len(free)), solve.triangle(size)
    matrix, right, cones = [last], [np.ones(1)], [clarabel.NonnegativeConeT(1)]
    for slack, signed in parts:
        flat = np.hstack([signed, slack[:, rows, columns] * scale])
        matrix.append(np.column_stack([-flat[free].T, np.append(0 * signed[0], rows == columns)]))
        right.append(found @ flat)
        cones += [clarabel.NonnegativeConeT(len(signed[0])), clarabel.PSDTriangleConeT(size)]
    sides = sparse.csc_matrix(np.vstack(matrix)), np.concatenate(right)
    sought = solve.Cones(-last[0], *sides, cones, lambda x, dual: (dual[-len(rows) :], x[:-1], x))
    for settings in ({}, solve.REFINED, solve.REGULAR):
        solved = sought.solved(settings, solve.TOLERANCE)
        if solved.status in solve.FINAL:
            found[free] = solved.values
            return solved.value, found, solve.symmetric(solved.gram, size)
    return -np.inf, found, None


def _short(parts: Sequence[Any]) -> list[Fraction] | None:
    """Return 1, and numbers that leave room at all points: many are 0, others short fractions."""
    given: dict[int, Fraction] = {}
    best, found, _ = _room(parts, given)
    for largest in (0, 1, 2, 3, 4, 6, 8, 16, 64, 1024) if best >= SHARE**2 else ():
        for j in sorted({*range(len(found) - 1)} - {*given}, reverse=True):
            x = Fraction(found[j + 1]).limit_denominator(largest) if largest else Fraction(0)
            room, other, _ = _room(parts, given | {j: x})
            if room >= SHARE * best:
                given, found = given | {j: x}, other
    return (
        [Fraction(1), *(given[j] for j in sorted(given))] if len(given) == len(found) - 1 else None
    )
