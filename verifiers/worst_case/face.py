r"""Finds the face on which a worst case is taken: exactly, from a solver's answer.

At an optimum S = Σ λ_k Q_k − Q_0 and the Gram matrix G = LLᵀ meet S L = 0, Σ λ_k a_k = a_0, and the
conditions with λ_k > 0 hold with equality. A solver's answer, wrong by 1e-9 or by 1e-5, tells which
those are and the rank of G. Gauss and Newton's method then solves these equations to a hundred
digits: the Jacobian stays in doubles, the residual is exact. What counts is not L, which may turn,
but the space that its columns span, the kernel of S: where it is rational, its fractions are read
off. All multipliers that prove the worst case itself then solve linear equations (``proof``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from driftproof.verifiers.worst_case.exact import Exact, fraction, rational, rationals
from driftproof.verifiers.worst_case.program import Matrices, Solved

CUT = 1e-9
"""Singular values of the Jacobian that are taken for 0, relative to the largest."""
MOVES = 12
"""Steps in doubles; then come those with exact residuals."""
EPSILON = 1e-13
"""Residuals at which steps in doubles end."""
DIVERGED = 1e3
"""Residuals at which they are given up."""
SMALLEST = 1e-120
"""Residuals at which the equations count as solved."""
FEW = 100
"""Steps with exact residuals at most; each gains up to 14 digits."""
DENOMINATOR = 2**150
"""The largest denominator of a kernel's entries that the digits can tell."""
HALVINGS = 30
"""Steps towards a ray: a component of 1e-4 is below 1e-13 then; doubles tell no more."""
NEAR = 1e-2
"""How far a ray may be from where it was sought."""
RAYS = 100, 10_000, 10**6
"""Largest denominators of a ray's entries."""
EXACT = 1e-14
"""How near a ray's entries are to fractions."""
SIMPLE = (10_000, 1000, 100, 30)
"""Largest denominators of entries that are known in doubles only."""


@dataclass(frozen=True)
class Optimum:
    """A solution of the equations, in the units of ``Exact``.

    Attributes:
        multipliers: λ_k of the conditions that count.
        factor: L.
        values: the unknown numbers.
        solved: whether the residual is below ``SMALLEST``; else all is as good as doubles are.
    """

    multipliers: dict[int, fmpq]
    factor: fmpq_mat
    values: list[fmpq]
    solved: bool = False

    def moved(self, step: np.ndarray) -> Optimum:
        """Return what lies a step away: of multipliers, of L row by row, of values."""
        many, size = len(self.multipliers), self.factor.nrows() * self.factor.ncols()
        steps = rationals(step)
        return Optimum(
            {k: x + dx for (k, x), dx in zip(self.multipliers.items(), steps, strict=False)},
            self.factor
            + fmpq_mat(self.factor.nrows(), self.factor.ncols(), steps[many : many + size]),
            [x + dx for x, dx in zip(self.values, steps[many + size :], strict=True)],
        )


@dataclass(frozen=True)
class Kernel:
    """A space on which S has to be 0.

    Attributes:
        basis: vectors as columns, the unit matrix in the rows ``pivots``.
        free: the other rows: there S has to be definite.
    """

    basis: fmpq_mat
    pivots: tuple[int, ...]

    @property
    def free(self) -> list[int]:
        """The rows that are no pivots."""
        return [j for j in range(self.basis.nrows()) if j not in self.pivots]


def optimum(exact: Exact, near: Solved, *, digits: bool = True) -> Optimum:
    """Return the optimum near a solver's answer, which is in the units of ``exact``.

    Args:
        digits: whether to go on from doubles to many digits.
    """
    program = exact.doubles
    room = program.bounds - program.gram.on(near.gram) - program.values @ near.values
    counted = np.flatnonzero(program.equal | (near.multipliers > np.maximum(room, 0.0)))
    slack = program.gram.sum(near.multipliers) - program.objective[0]
    sizes, directions = np.linalg.eigh((near.gram + near.gram.T) / 2)
    # of S and G one is 0 in each direction
    large = sizes > np.abs(np.einsum("ji,jk,ki->i", directions, slack, directions))
    factor = directions[:, large] * np.sqrt(sizes[large])
    start = at = _Point(near.multipliers[counted], factor, near.values)
    for _ in range(MOVES):
        residual, *slopes = _equations(program, counted, at)
        if np.abs(residual).max(initial=0.0) < EPSILON:
            break
        at = at.moved(-_least(*slopes)(residual))
        if np.abs(residual).max() > DIVERGED:  # the solver's answer does not tell what counts
            return start.in_fractions(counted)
    return _digits(exact, counted, at) if digits else at.in_fractions(counted)


@dataclass(frozen=True)
class _Point:
    multipliers: np.ndarray
    factor: np.ndarray
    values: np.ndarray

    def in_fractions(self, counted: np.ndarray) -> Optimum:
        """Return the same numbers as an optimum."""
        multipliers = dict(zip(counted.tolist(), rationals(self.multipliers), strict=True))
        size, width = self.factor.shape
        factor = fmpq_mat(size, width, rationals(self.factor))
        return Optimum(multipliers, factor, rationals(self.values))

    def moved(self, step: np.ndarray) -> _Point:
        parts = np.split(step, np.cumsum([self.multipliers.size, self.factor.size]))
        return _Point(
            self.multipliers + parts[0],
            self.factor + parts[1].reshape(self.factor.shape),
            self.values + parts[2],
        )


def _equations(
    program: Matrices, counted: np.ndarray, at: _Point
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the residual of the equations, and its derivative for multipliers in a basis.

    The equations are where the derivative of Σ λ_k (b_k − ⟨Q_k, LLᵀ⟩ − a_k·F) + ⟨Q_0, LLᵀ⟩ + a_0·F
    by λ, L and F is 0, but for signs and factors 2. λ takes part by B = (Q_k L, a_k)_k alone, of
    which there are far fewer columns than conditions: the basis spans them.
    """
    gram, values = program.gram.chosen(counted), program.values[counted]
    (size, width), many = at.factor.shape, len(counted)
    slack = gram.sum(at.multipliers) - program.objective[0]
    products = gram.times(at.factor)
    residual = np.concatenate(
        [
            (products * at.factor).sum((1, 2)) + values @ at.values - program.bounds[counted],
            (slack @ at.factor).ravel(),
            at.multipliers @ values - program.objective[1],
        ]
    )
    basis, upper = np.linalg.qr(np.hstack([products.reshape(many, size * width), values]))
    first, second = slice(len(upper)), slice(len(upper), len(upper) + size * width)
    jacobian = np.zeros([len(upper) + upper.shape[1]] * 2)
    jacobian[len(upper) :, first] = upper.T
    jacobian[first, len(upper) :] = upper
    jacobian[first, second] *= 2
    jacobian[second, second] = np.kron(slack, np.eye(width))
    return residual, jacobian, basis


def _digits(exact: Exact, counted: np.ndarray, at: _Point) -> Optimum:
    """Return the solution near a point to many digits, or the point if they do not come."""
    solver = _least(*_equations(exact.doubles, counted, at)[1:])
    best = found = at.in_fractions(counted)
    least = np.inf
    for step in range(FEW):
        excess = exact.on(found.factor, found.values)
        slack = exact.slack(found.multipliers) * found.factor
        balance = [-exact.objective.values.get(j, fmpq(0)) for j in range(exact.count)]
        for k, x in found.multipliers.items():
            for j, a in exact.rows[k].values.items():
                balance[j] += x * a
        wrong = [*(excess[k] for k in found.multipliers), *slack.entries(), *balance]
        residual = np.array([float(x) for x in wrong])
        error = np.abs(residual).max(initial=0.0)
        if error < SMALLEST:
            return replace(found, solved=True)
        if error > (least if step < MOVES else least / 4):  # no more than doubles tell
            break
        least, best = error, found
        found = found.moved(-solver(residual))
    return best


def _least(jacobian: np.ndarray, basis: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return what gives the shortest step that takes a residual away, in least squares.

    By QR with pivots, whose rows of full rank are made a triangle from the other side.
    """
    from scipy.linalg import qr, solve_triangular

    left, upper, order = qr(jacobian, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(upper))
    rank = int((sizes > CUT * sizes.max(initial=0.0)).sum())
    right, lower = qr(upper[:rank].T, mode="economic")
    many, inner = basis.shape

    def solve(residual: np.ndarray) -> np.ndarray:
        reduced = left[:, :rank].T @ np.append(basis.T @ residual[:many], residual[many:])
        step = np.empty(len(order))
        step[order] = right @ solve_triangular(lower, reduced, trans="T")
        return np.append(basis @ step[:inner], step[inner:])

    return solve


def kernels(at: Optimum, *, told: bool = True, guessed: bool = True) -> Iterator[Kernel]:
    """Yield the space that the columns of L span, if it is rational; what comes is not checked.

    First comes the one that many digits tell, then those of small fractions that are near.
    """
    size, width = at.factor.nrows(), at.factor.ncols()
    doubles = np.array([float(x) for x in at.factor.entries()]).reshape(size, width)
    pivots = _independent(doubles)
    if told and at.solved and len(pivots) == width:
        chosen = fmpq_mat(width, width, [at.factor[j, r] for j in pivots for r in range(width)])
        basis = [fraction(x) for x in (at.factor * chosen.inv()).entries()] if width else []
        yield from _near(basis, (size, width), pivots, DENOMINATOR, SMALLEST**0.75)
    if guessed:
        yield from spanned(doubles)


def spanned(columns: np.ndarray) -> Iterator[Kernel]:
    """Yield the space that some columns nearly span, as fractions of ever smaller denominators."""
    pivots = _independent(columns)
    basis = columns @ np.linalg.pinv(columns[list(pivots)])
    for largest in SIMPLE:
        yield from _near(basis.ravel(), basis.shape, pivots, largest, largest**-1.5)


def ray(exact: Exact, used: Sequence[int], near: np.ndarray) -> Iterator[Kernel]:
    """Yield the ray near a vector v along which points meet conditions without end, if there is.

    On it ⟨Q_k, vvᵀ⟩ + a_k·φ = 0 for each condition that a proof uses, for numbers φ: a run on
    quadratics of one curvature that starts ever farther away, say. S v = 0 follows. Where a
    component counts only squared, Newton's steps halve what is left of it, so residuals are exact.
    """
    from scipy.linalg import lstsq

    gram, values = exact.doubles.gram.chosen(used), exact.doubles.values[used]
    fixed = int(np.abs(near).argmax())
    start = near / near[fixed]
    products = gram.times(start)
    at = rationals(np.append(start, lstsq(values, -products @ start)[0]))
    size = len(start)
    for _ in range(HALVINGS):
        v = np.array([float(x) for x in at[:size]])
        excess = exact.on(fmpq_mat(size, 1, at[:size]), at[size:])
        wrong = np.array([float(excess[k] + exact.rows[k].bound) for k in used])
        slopes = np.concatenate([2 * np.delete(gram.times(v), fixed, 1), values], 1)
        step = np.insert(lstsq(slopes, -wrong, lapack_driver="gelsy")[0], fixed, 0.0)
        at = [x + dx for x, dx in zip(at, rationals(step), strict=True)]
        if np.abs(step).max() < EXACT**2:
            break
    found = [fraction(x) for x in at[:size]]
    if max(abs(float(x) - y) for x, y in zip(found, start, strict=True)) < NEAR:
        for largest in RAYS:
            yield from _near(found, (size, 1), (fixed,), largest, EXACT)


def _near(
    basis: Iterable[Any], shape: tuple[int, int], pivots: tuple[int, ...], largest: int, room: float
) -> Iterator[Kernel]:
    """Yield the space of fractions with small denominators that a basis is near to, if there is."""
    near = [Fraction(x).limit_denominator(largest) for x in basis]
    if all(abs(x - y) < room for x, y in zip(basis, near, strict=True)):
        yield Kernel(fmpq_mat(*shape, [rational(x) for x in near]), pivots)


def _independent(columns: np.ndarray) -> tuple[int, ...]:
    """Return as few rows as tell the combinations of the columns apart."""
    from scipy.linalg import qr

    triangle, order = qr(columns.T, mode="r", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > CUT * sizes.max(initial=0.0)).sum())
    return tuple(sorted(int(j) for j in order[:rank]))
