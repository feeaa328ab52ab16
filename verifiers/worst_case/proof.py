r"""Finds multipliers in fractions that prove a bound, given the space on which S has to be 0.

They solve linear equations: Σ λ_k a_k = a_0, and S V = 0 on the kernel V. Of all solutions the
solver takes, in doubles, the one for which S on the other vectors is farthest from singular. Most
multipliers are rounded to few digits; the heaviest are solved for, exactly. Whether the result
proves the bound is decided in fractions: the margin is what rounding may use up, and no accuracy of
the solver's is relied on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, nmod_mat

from driftproof.verifiers.worst_case.check import positive_semidefinite
from driftproof.verifiers.worst_case.exact import Exact, fraction, rational
from driftproof.verifiers.worst_case.face import Kernel, Optimum, ray, spanned
from driftproof.verifiers.worst_case.program import Solved
from driftproof.verifiers.worst_case.solve import triangle

DIGITS = range(16)
"""Digits after the point that multipliers are rounded to, the fewest first."""
LEAST = (0.0, 0.01)
"""What multipliers are at least, in units of the margin; the second leaves them room as well."""
SINGULAR = 1e-8
"""Margins that are taken for 0."""
SMALL = 1e-6
"""Eigenvalues of S that are taken for 0, relative to the largest."""
REPEATED = 1e-11
"""Singular values of the equations that are taken for 0, relative to the largest."""
IDLE = 1e-7
"""Multipliers that are taken for 0, relative to the largest."""
NEGLIGIBLE = fmpq(1, 10**60)
"""How far below 0 a multiplier of an optimum may be, by rounding."""
PRIME = 2**63 - 25
"""Modulo which is told what equations determine; what is solved so is checked in fractions."""
INWARDS = (60, 30, 14, 12, 10, 9, 8, 7, 6, 5, 4)
"""Digits after which the multipliers of an optimum are changed, so that S has a margin."""
DOUBLES = 15
"""Digits that an optimum has which is known in doubles only."""


@dataclass(frozen=True)
class Proof:
    """Multipliers that prove a bound.

    Attributes:
        bound: what the measure is at most.
        multipliers: λ_k by the condition's number, those that are not 0; in the case's own units.
    """

    bound: Fraction
    multipliers: dict[int, fmpq]


class Equations:
    """Σ λ_k a_k = a_0 and S V = 0 for the multipliers of some conditions, the others being 0."""

    def __init__(self, exact: Exact, kernel: Kernel, conditions: Sequence[int]) -> None:
        self._exact, self.kernel = exact, kernel
        self._listed = (exact.listed * kernel.basis).tolist()
        self.conditions = list(conditions)
        self.columns = [self._column(k) for k in self.conditions]
        self.right = self._column(-1)

    def _column(self, k: int) -> list[fmpq]:
        row = self._exact.rows[k] if k >= 0 else self._exact.objective
        values = [row.values.get(j, fmpq(0)) for j in range(self._exact.count)]
        return [*values, *self._exact.times(k, self.kernel.basis, self._listed)]

    def solve_for(self, weights: np.ndarray) -> bool:
        """Choose the heaviest conditions that the others determine; tell if there is a solution."""
        order = sorted(range(len(weights)), key=lambda place: -abs(weights[place]))
        columns, rows = [*(self.columns[at] for at in order), self.right], range(len(self.right))
        entries = [column[row] for row in rows for column in columns]
        self._order, self._every = order, fmpq_mat(len(rows), len(columns), entries)
        modulo = nmod_mat(self._every.numer_denom()[0], PRIME)
        self._heavy = heavy = _leading(modulo)
        turned = [int(modulo[row, place]) for place in heavy for row in rows]
        self._rows = _leading(nmod_mat(len(heavy), len(rows), turned, PRIME))
        square = [self._every[row, place] for row in self._rows for place in heavy]
        self._square = fmpq_mat(len(heavy), len(heavy), square)
        return len(order) not in heavy

    def completed(self, given: Sequence[fmpq]) -> dict[int, fmpq] | None:
        """Return a solution with the multipliers given of those that are free.

        None: one that has to be at least 0 is not.
        """
        numbers = [*(given[at] for at in self._order), fmpq(-1)]  # the right side's is −1
        for place in self._heavy:
            numbers[place] = fmpq(0)
        left = self._every * fmpq_mat(len(numbers), 1, numbers)
        wanted = fmpq_mat(len(self._rows), 1, [-left[row, 0] for row in self._rows])
        solved = self._square.solve(wanted).entries()
        for place, x in zip(self._heavy, solved, strict=True):
            numbers[place] = x
        if any(x != 0 for x in (self._every * fmpq_mat(len(numbers), 1, numbers)).entries()):
            return None  # they are solved modulo the prime, not in fractions
        equal, of = self._exact.doubles.equal, zip(self._order, numbers, strict=False)
        made = {self.conditions[at]: x for at, x in of if x != 0}
        return None if any(x < 0 and not equal[k] for k, x in made.items()) else made


def _leading(of: nmod_mat) -> list[int]:
    """Return the columns that are no combinations of those before them."""
    reduced, rank = of.rref()
    return [next(j for j in range(of.ncols()) if int(reduced[row, j])) for row in range(rank)]


def prove(
    exact: Exact, kernel: Kernel, conditions: Sequence[int], at_most: fmpq | None
) -> Proof | None:
    """Return a proof by some conditions, or None where none was found.

    Args:
        at_most: the largest bound that will do, in the units of ``exact`` (None: any; the kernel is
            that of an optimum, and every solution proves the optimum itself).
    """
    for least in LEAST:  # first with as few multipliers as the solver likes
        found = _with_margin(exact, kernel, conditions, at_most, least)
        if found is None:
            return None
        equations, inside = found
        large = np.abs(inside).max(initial=0.0)
        inside = np.where(np.abs(inside) > IDLE * large, inside, 0.0)
        for digits in DIGITS:
            unit = Fraction(1, 10**digits)
            rounded = [rational(round(Fraction(float(x)) / unit) * unit) for x in inside]
            made = _decided(exact, equations.completed(rounded), at_most)
            if made is not None:
                return made
    return None


def approach(exact: Exact, at: Optimum, near: Solved) -> Proof | None:
    """Return a proof of nearly the optimum: multipliers a small step inwards from those of one.

    Args:
        near: a solver's answer, for where the optimum is not known better.
    """
    conditions, equal = range(len(exact.rows)), exact.doubles.equal
    known = at.solved and all(x > -NEGLIGIBLE or equal[k] for k, x in at.multipliers.items())
    solved = {k: rational(x) for k, x in enumerate(near.multipliers)}
    multipliers = at.multipliers if known else solved
    value = sum((x * exact.rows[k].bound for k, x in multipliers.items()), fmpq(0))
    nothing = Kernel(fmpq_mat(exact.size, 0), ())
    found = _with_margin(exact, nothing, conditions, value + abs(value) / 2, LEAST[-1])
    if found is None:
        return None
    equations, inside = found
    for digits in INWARDS if known else [d for d in INWARDS if d < DOUBLES]:
        step, zero = fmpq(1, 10**digits), fmpq(0)
        mixed = [
            (1 - step) * multipliers.get(k, zero) + step * rational(x)
            for k, x in zip(conditions, inside, strict=True)
        ]
        unit = Fraction(1, 10 ** (digits + 8))
        rounded = [rational(round(fraction(x) / unit) * unit) for x in mixed]
        made = _decided(exact, equations.completed(rounded), None)
        if made is not None:
            return made
    return None


def _with_margin(
    exact: Exact, kernel: Kernel, conditions: Sequence[int], at_most: fmpq | None, least: float
) -> tuple[Equations, np.ndarray] | None:
    """Return the equations, solved for the heaviest multipliers, and multipliers with a margin.

    Where S is 0 on further vectors for all multipliers, these join the kernel.
    """
    equations = Equations(exact, kernel, conditions)
    inside, margin = _inside(exact, equations, at_most, least)
    if margin >= SINGULAR:
        return (equations, inside) if equations.solve_for(inside) else None
    program = exact.doubles
    slack = program.gram.chosen(conditions).sum(inside) - program.objective[0]
    sizes, directions = np.linalg.eigh(slack)
    small = directions[:, sizes < SMALL * max(sizes[-1], 1.0)]
    if small.shape[1] <= len(kernel.pivots):
        return None
    wider = None
    if small.shape[1] == 1:
        used = [k for k, x in zip(conditions, inside, strict=True) if abs(x) > IDLE]
        wider = next(ray(exact, used, small[:, 0]), None)
    wider = wider or next(spanned(small), None)
    return None if wider is None else _with_margin(exact, wider, conditions, at_most, least)


def _decided(
    exact: Exact, multipliers: dict[int, fmpq] | None, at_most: fmpq | None
) -> Proof | None:
    """Return multipliers that solve the equations as a proof, if they are one."""
    if multipliers is None:
        return None
    bound = exact.bound(multipliers)
    if at_most is not None and exact.value(bound) > at_most:
        return None
    if not positive_semidefinite(exact.slack(multipliers).tolist()):
        return None
    return Proof(bound, exact.unscaled(multipliers))


def _inside(
    exact: Exact, equations: Equations, at_most: fmpq | None, least: float
) -> tuple[np.ndarray, float]:
    """Return multipliers, in doubles, for which S has the largest margin ε off the kernel, and ε.

    Args:
        least: what the multipliers are at least, in units of ε.
    """
    import clarabel
    from scipy import sparse

    program, free, conditions = exact.doubles, equations.kernel.free, equations.conditions
    gram = program.gram.chosen(conditions, free).svec()
    target = program.objective[0][np.ix_(free, free)]
    count, size = len(conditions), len(free)
    columns = [[float(x) for x in column] for column in equations.columns]
    linear = np.array(columns).reshape(count, len(equations.right)).T
    right = np.array([float(x) for x in equations.right])
    # equations that say the same twice are no help to a solver
    left, sizes, directions = np.linalg.svd(linear, full_matrices=False)
    many = int((sizes > REPEATED * sizes.max(initial=0.0)).sum())
    linear, right = directions[:many], (left.T @ right)[:many] / sizes[:many]
    signed = np.flatnonzero(~program.equal[conditions])
    rows, places, scale = triangle(size)

    def with_margin(part: Any, of_margin: Any) -> Any:
        column = np.broadcast_to(of_margin, part.shape[0])[:, None]
        return sparse.hstack([part, sparse.csr_matrix(column, dtype=float)], format="csr")

    below = [with_margin(-sparse.eye(count, format="csr")[signed], least)]
    limits = [np.zeros(len(signed)), np.ones(1)]  # ε ≤ 1: else it may be as large as one likes
    below.append(with_margin(np.zeros((1, count)), 1.0))
    if at_most is not None:
        below.append(with_margin(program.bounds[conditions][None], 0.0))
        limits.append(np.array([float(at_most)]))
    cone = with_margin(-gram.T, rows == places)
    matrix = sparse.vstack([with_margin(linear, 0.0), *below, cone], format="csc")
    vector = np.concatenate([right, *limits, -target[rows, places] * scale])
    cones = [clarabel.ZeroConeT(many), clarabel.NonnegativeConeT(sum(len(part) for part in limits))]
    if size:
        cones.append(clarabel.PSDTriangleConeT(size))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    largest = np.append(np.zeros(count), -1.0)
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((count + 1, count + 1)), largest, matrix, vector, cones, settings
    )
    found = np.array(solver.solve().x)
    return found[:-1], float(found[-1])
