"""Units for a program in doubles, such that its numbers are near 1.

A worst case with L = 1000 and R = 30 is the one with L = R = 1 in other units, but a solver that is
given its numbers as they are can be wrong in the second digit. So every unknown vector v_i is
measured in a unit s_i, every value in t_j, every constraint is multiplied by r_k, and the objective
by o. They are the least-squares solution, in logarithms, of s_i² r_k |Q_k,ii| = 1,
t_j r_k |a_kj| = 1 and r_k |b_k| = 1 wherever these are not 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from verifiers.worst_case.solve import Matrices, Solved


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
    from scipy import sparse
    from scipy.sparse.linalg import lsqr

    count, size = program.gram.shape[:2]
    diagonal = np.einsum("kii->ki", program.gram)
    parts = [(diagonal, 0, 2.0), (program.values, size, 1.0)]
    rows, columns, factors, logs, made = [], [], [], [], 0
    first = size + program.values.shape[1]
    for entries, offset, power in parts:
        k, j = np.nonzero(entries)
        number = made + np.arange(len(k))
        rows += [number, number]
        columns += [offset + j, first + k]
        factors += [np.full(len(k), power), np.ones(len(k))]
        logs.append(-np.log(np.abs(entries[k, j])))
        made += len(k)
    k = np.nonzero(program.bounds)[0]
    rows.append(made + np.arange(len(k)))
    columns.append(first + k)
    factors.append(np.ones(len(k)))
    logs.append(-np.log(np.abs(program.bounds[k])))
    joined = [np.concatenate(part) for part in (factors, rows, columns)]
    system = sparse.csr_matrix((joined[0], joined[1:]), shape=(made + len(k), first + count))
    found = np.exp(lsqr(system, np.concatenate(logs), atol=1e-10, btol=1e-10)[0])
    s, t, r = found[:size], found[size:first], found[first:]
    gram, values = program.objective
    largest = max(np.abs(gram * np.outer(s, s)).max(initial=0), np.abs(values * t).max(initial=0))
    return Units(s, t, r, 1 / largest if largest else 1.0)
