"""Units of length and of gradients in which the numbers of a program are near 1.

A worst case with L = 1000 and R = 30 is the one with L = R = 1 in other units, but a solver that is
given its numbers as they are can be wrong in the second digit. So points are measured in a unit ℓ,
gradients in γ and values in ℓγ. γ/ℓ is taken from the largest factor of a squared gradient in an
interpolation condition, which is about 1/(2L), and ℓ from the bounds of the start and of relations.
All are powers of 4: a program that has numbers near 1 stays as it is.

That reading needs an L, and one unit for all points. Where it leaves numbers far from 1, units are
fitted instead (Curtis & Reid 1972): of the logarithms of all numbers, each condition in a unit of
its own, the squares are made least. Points, gradients and values have a unit each, and so have the
points and gradients of two spaces, whose vectors have no products. In other units of the statement
the fit gives the same program, so R = 10⁵ is solved like R = 1.
"""

from dataclasses import dataclass, replace

import numpy as np

from driftproof.verifiers.worst_case.program import Forms, Matrices, Solved

FAR = 4096.0
"""By how much nearer to 1 the numbers have to be in fitted units for these to be taken."""
NOISE = 2.0**-36
"""What is smaller than this beside 1 is what rounding left of a 0, and has no part in a fit."""
SWEEPS = 12
"""Of equilibration: each halves the logarithms by which rows and columns differ."""


@dataclass(frozen=True)
class Units:
    """Units of vectors, values, constraints and the objective: s, t, r and o."""

    vectors: np.ndarray
    values: np.ndarray
    constraints: np.ndarray
    objective: float

    def scaled(self, program: Matrices) -> Matrices:
        """Return the program in these units."""
        gram, values = program.objective
        pairs, r = np.outer(self.vectors, self.vectors), self.constraints
        return replace(
            program,
            gram=program.gram.scaled(self.vectors, r),
            values=program.values * self.values * r[:, None],
            bounds=program.bounds * r,
            objective=(gram * pairs * self.objective, values * self.values * self.objective),
        )

    def to_these(self, solved: Solved) -> Solved:
        """Return a solution in these units; its value has no constant."""
        return replace(
            solved,
            value=solved.value * self.objective,
            gram=solved.gram / np.outer(self.vectors, self.vectors),
            values=solved.values / self.values,
            multipliers=solved.multipliers / self.constraints * self.objective,
        )

    def from_these(self, solved: Solved) -> Solved:
        """Return a solution that has these units in the program's own."""
        own = Units(1 / self.vectors, 1 / self.values, 1 / self.constraints, 1 / self.objective)
        return own.to_these(solved)


def units(program: Matrices) -> Units:
    """Return units in which a program's numbers are near 1."""
    meant, kinds = _meant(program), _kinds(program)
    away = _away(meant.scaled(program), kinds)
    if away.max(initial=1.0) <= FAR:
        return meant
    made, seen = _fitted(program, kinds)
    of_fitted = _away(made.scaled(program), kinds)[seen].max(initial=1.0)
    better = away[seen].max(initial=1.0) > FAR * of_fitted
    return made if better and not _louder(made, program, kinds) else meant


def fitted(program: Matrices) -> Units:
    """Return units that are fitted, whatever the meaning of the numbers."""
    kinds = _kinds(program)
    made, _ = _fitted(program, kinds)
    return _meant(program) if _louder(made, program, kinds) else made


def _louder(made: Units, program: Matrices, kinds: np.ndarray) -> bool:
    """Tell whether a fit followed what rounding left of a 0, and made other numbers vast."""
    return bool(_sizes(made.scaled(program), kinds)[0].max(initial=0.0) > FAR)


def _meant(program: Matrices) -> Units:
    """Return units that the meaning of the numbers gives: L, and the bounds of the start."""
    bounds, points = np.abs(program.bounds), program.points
    bounded, size = bounds > 0, program.gram.shape[1]
    every, squares = program.gram, np.zeros(program.gram.shape)
    square = every.i == every.j
    squares[every.k[square], every.i[square]] = every.q[square]
    ratio = 1 / (2 * (squares[np.ix_(~bounded, ~points)].max(initial=0.0) or 0.5))  # γ/ℓ
    lengths = [np.ones(0)]
    scales = ((squares[:, points], 1.0), (squares[:, ~points], ratio**2), (program.values, ratio))
    for entries, factor in scales:  # entry·factor·ℓ² = bound
        k, j = np.nonzero(entries * bounded[:, None])
        lengths.append(np.sqrt(bounds[k] / np.abs(entries[k, j]) / factor))
    found = np.concatenate(lengths)
    length = np.exp(np.log(found).mean()) if len(found) else 1.0
    s = np.full(size, _rounded(length * ratio))
    s[points] = _rounded(length)
    t = np.full(program.values.shape[1], _rounded(length**2 * ratio))
    r = _rounded(1 / np.where(bounded, bounds, length**2 * ratio))
    gram, values = program.objective
    largest = max(np.abs(gram * np.outer(s, s)).max(initial=0), np.abs(values * t).max(initial=0))
    return Units(s, t, r, float(_rounded(1 / largest)) if largest else 1.0)


def _fitted(program: Matrices, kinds: np.ndarray) -> tuple[Units, np.ndarray]:
    """Return units that are fitted, and which of ``_sizes`` are no noise."""
    sizes, powers = _sizes(program, kinds)
    seen = sizes > 0
    logs = np.log(np.where(seen, sizes, 1.0))
    for _ in range(2):  # what turns out to be noise is left out of the second fit
        share = seen / np.maximum(seen.sum(1, keepdims=True), 1)
        away = logs - (share * logs).sum(1, keepdims=True)
        columns = powers[None] - (share[:, :, None] * powers).sum(1, keepdims=True)
        found = np.linalg.lstsq(columns[seen], -away[seen], rcond=1e-9)[0]
        rows = -(share * (logs + powers @ found)).sum(1)
        inside = logs + powers @ found + rows[:, None]
        seen &= inside > np.log(NOISE)
    of_kinds = _rounded(np.exp(found + 1e-6))  # halves of powers are common: none is a draw
    made = Units(
        of_kinds[kinds],
        np.full(program.values.shape[1], of_kinds[-1]),
        _rounded(np.exp(rows[:-1])),
        float(_rounded(np.exp(rows[-1]))),
    )
    return made, seen


def _kinds(program: Matrices) -> np.ndarray:
    """Return a number for each vector: the same for points, or gradients, of one space."""
    from scipy.sparse.csgraph import connected_components

    touching = program.objective[0] != 0
    touching[program.gram.i, program.gram.j] = True
    spaces = connected_components(touching, directed=False)[1]
    kinds: np.ndarray = np.unique(2 * spaces + program.points, return_inverse=True)[1]
    return kinds


def _sizes(program: Matrices, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest number of each sort in each condition, and the units of each sort.

    Returns:
        [conditions and the measure, sorts]; and powers of each unit, [sorts, kinds and values].
    """
    count = kinds.max(initial=-1) + 1
    gram = Forms.of(program.gram, program.objective[0][None])
    values = np.abs(np.concatenate([program.values, program.objective[1][None]]))
    one, two = np.triu_indices(count)
    sorts = np.zeros((count, count), dtype=int)
    sorts[one, two] = sorts[two, one] = np.arange(len(one))
    at = gram.k, sorts[kinds[gram.i], kinds[gram.j]]
    bounds = np.append(np.abs(program.bounds), 0.0)
    sizes = gram.largest(at, (len(values), len(one))), values.max(1, initial=0.0), bounds
    unit = np.eye(count + 1)
    powers = np.vstack([unit[one] + unit[two], unit[-1], np.zeros(count + 1)])
    return np.column_stack(sizes), powers


def _away(program: Matrices, kinds: np.ndarray) -> np.ndarray:
    """Return how many times 1 each of ``_sizes`` is, or 1 is each; 1 of what is 0."""
    sizes, _ = _sizes(program, kinds)
    sizes[sizes == 0] = 1.0
    away: np.ndarray = np.maximum(sizes, 1 / sizes)
    return away


def equilibrated(program: Matrices) -> Units:
    """Return units, one for each vector, value and condition, whose largest numbers are alike.

    Ruiz (2001), for a Gram matrix: in the unknown vectors' units it stays one.
    """
    gram, values = program.objective
    every = Forms.of(program.gram, gram[None])
    linear = np.abs(np.concatenate([program.values, values[None]]))
    s, t, r = (np.ones(k) for k in (every.shape[1], *linear.shape[::-1]))
    for _ in range(SWEEPS):
        now = every.scaled(s, r)
        flat = linear * t * r[:, None]
        largest = np.maximum(now.largest((now.k,), r.shape), flat.max(1, initial=0.0))
        r /= np.sqrt(np.where(largest > 0, largest, 1.0))
        for of, most in ((s, now.largest((now.i,), s.shape)), (t, flat.max(0, initial=0.0))):
            of /= np.where(most > 0, most, 1.0) ** 0.25
    return Units(_rounded(s), _rounded(t), _rounded(r[:-1]), float(_rounded(r[-1])))


def _rounded(of: np.ndarray | float) -> np.ndarray:
    """Return the nearest powers of 4."""
    powers: np.ndarray = 4.0 ** np.round(np.log(of) / np.log(4.0))
    return powers
