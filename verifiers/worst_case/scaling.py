"""Units of length and of gradients in which the numbers of a program are near 1.

A worst case with L = 1000 and R = 30 is the one with L = R = 1 in other units, but a solver that is
given its numbers as they are can be wrong in the second digit. So points are measured in a unit ℓ,
gradients in γ and values in ℓγ. γ/ℓ is taken from the largest factor of a squared gradient in an
interpolation condition, which is about 1/(2L), and ℓ from the bounds of the start and of relations.
All are powers of 4: a program that has numbers near 1 stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from driftproof.verifiers.worst_case.program import Matrices, Solved


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
            gram=program.gram * pairs * r[:, None, None],
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
    bounds, points = np.abs(program.bounds), program.points
    bounded, size = bounds > 0, program.gram.shape[1]
    squares = np.einsum("kii->ki", program.gram)
    ratio = 1 / (2 * (squares[np.ix_(~bounded, ~points)].max(initial=0.0) or 0.5))  # γ/ℓ
    lengths = [np.ones(0)]
    scales = (
        (squares[:, points], 1.0), (squares[:, ~points], ratio**2), (program.values, ratio)
    )  # fmt: skip
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


def _rounded(of: np.ndarray | float) -> np.ndarray:
    """Return the nearest powers of 4."""
    powers: np.ndarray = 4.0 ** np.round(np.log(of) / np.log(4.0))
    return powers
