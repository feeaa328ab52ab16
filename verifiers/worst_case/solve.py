r"""Solves the semidefinite program of a worst case, in floating point.

The program is handed to Clarabel as matrices, made from the triples all at once: what is exact is
needed for a certificate alone. The unknown is (svec(G), F), svec the upper triangle column by
column with √2 off the diagonal, so that ⟨A, B⟩ = svec(A)·svec(B).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from synthetic.classes.conditions import Place
from toolkit.errors import DriftproofError
from toolkit.spans.exact import Quantity
from verifiers.worst_case.record import WorstCase, pairs

TOLERANCE = 1e-9
"""Residuals and gap that the solver goes for."""
ALMOST = 1e-6
"""What it may end with, where it gets no further."""


@dataclass(frozen=True)
class Solved:
    """What the solver gave; none of it is proved.

    Attributes:
        value: the optimal value.
        gram: G, [vectors, vectors].
        values: F, [values].
        multipliers: λ_k ≥ 0 of each of ``WorstCase.constraints``, in order.
        status: the solver's word.
        seconds: what the solver took.
    """

    value: float
    gram: np.ndarray
    values: np.ndarray
    multipliers: np.ndarray
    status: str
    seconds: float


@dataclass(frozen=True)
class Matrices:
    """The program in doubles.

    Attributes:
        gram: Q_k, [constraints, vectors, vectors], symmetric.
        values: a_k, [constraints, values].
        bounds: b_k − c_k, [constraints].
        equal: whether each is an equality.
        objective: Q_0 and a_0.
    """

    gram: np.ndarray
    values: np.ndarray
    bounds: np.ndarray
    equal: np.ndarray
    objective: tuple[np.ndarray, np.ndarray]


def matrices(case: WorstCase) -> Matrices:
    """Return a program in doubles, of the constraints in their order."""
    size, count = len(case.vectors), len(case.values)
    grams, values, bounds = [], [], []
    for of, triples in zip(case.classes, case.triples, strict=True):
        points, gradients = (
            _rows((getattr(t, part).coefficients.items() for t in triples), size)
            for part in ("point", "gradient")
        )
        own = _rows((t.value.values.items() for t in triples), count)
        for condition in of.conditions:
            places = np.array(list(pairs(condition, len(triples))), dtype=int).reshape(
                -1, 1 if condition.of == "triples" else 2
            )
            one, other = places[:, 0], places[:, -1]
            vectors: dict[Place, np.ndarray] = {"difference": points[one], "one": gradients[one]}
            value = float(condition.values[0]) * own[one]
            if condition.of != "triples":
                vectors |= {"difference": points[one] - points[other], "other": gradients[other]}
                value = value + float(condition.values[1]) * own[other]
            gram = np.zeros((len(places), size, size))
            for (left, right), factor in condition.products.items():
                gram += float(factor) * vectors[left][:, :, None] * vectors[right][:, None, :]
            grams.append((gram + gram.transpose(0, 2, 1)) / 2)
            values.append(value)
            bounds.append(np.full(len(places), float(condition.bound)))
    for relation in case.relations:
        q, a = of_quantity(relation.quantity, size, count)
        grams.append(q[None])
        values.append(a[None])
        bounds.append(np.array([float(relation.bound - relation.quantity.constant)]))
    equal = np.zeros(sum(map(len, bounds)), dtype=bool)
    equal[len(equal) - len(case.relations) :] = [r.equality for r in case.relations]
    return Matrices(
        np.concatenate(grams), np.concatenate(values), np.concatenate(bounds), equal,
        of_quantity(case.objective, size, count),
    )  # fmt: skip


def _rows(listed: Iterable[Any], width: int) -> np.ndarray:
    """Return sparse rows as a dense array."""
    rows = [dict(entries) for entries in listed]
    dense = np.zeros((len(rows), width))
    for row, entries in zip(dense, rows, strict=True):
        for place, coefficient in entries.items():
            row[place] = float(coefficient)
    return dense


def of_quantity(quantity: Quantity, size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a quantity's symmetric matrix Q and its vector a, in doubles."""
    gram = np.zeros((size, size))
    for (j, k), q in quantity.gram.items():
        gram[j, k] += float(q) / 2
        gram[k, j] += float(q) / 2
    return gram, _rows([quantity.values.items()], count)[0]


def solve(case: WorstCase, *, margin: float = 0.0) -> Solved:
    """Maximise, and return the value with the Gram matrix and the multipliers.

    Args:
        margin: ε, which is added to Q_0 as εI: the multipliers then have Σ λ_k Q_k − Q_0 ⪰ εI,
            which rounding cannot lose. ``value`` is then above the worst case.

    Raises:
        DriftproofError: there is no largest value, or the solver did not find it.
    """
    return solve_matrices(matrices(case), margin=margin, constant=float(case.objective.constant))


def solve_matrices(program: Matrices, *, margin: float = 0.0, constant: float = 0.0) -> Solved:
    """Maximise a program in doubles (``solve``)."""
    import clarabel
    from scipy import sparse

    size, count = len(program.objective[0]), len(program.objective[1])
    rows, columns = np.triu_indices(size)
    order = np.lexsort((rows, columns))  # column by column
    rows, columns = rows[order], columns[order]
    scale = np.where(rows == columns, 1.0, np.sqrt(2.0))
    triangle = len(rows)
    linear = np.concatenate([program.gram[:, rows, columns] * scale, program.values], 1)
    # equalities come first, each kind in its own cone
    arranged = np.argsort(~program.equal, kind="stable")
    cone = sparse.hstack([-sparse.eye(triangle), sparse.csc_matrix((triangle, count))])
    matrix = sparse.vstack([sparse.csc_matrix(linear[arranged]), cone], format="csc")
    right = np.concatenate([program.bounds[arranged], np.zeros(triangle)])
    objective, values = program.objective
    objective = objective + margin * np.eye(size)
    cost = -np.concatenate([objective[rows, columns] * scale, values])
    unit = float(np.abs(cost).max(initial=0.0)) or 1.0  # tolerances are meant for sizes about 1
    equalities = int(program.equal.sum())
    cones = [clarabel.NonnegativeConeT(len(program.bounds) - equalities),
             clarabel.PSDTriangleConeT(size)]  # fmt: skip
    if equalities:
        cones.insert(0, clarabel.ZeroConeT(equalities))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_step_fraction = 0.9  # cautious steps end nearer to the optimum
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = ALMOST
    unknowns = triangle + count
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((unknowns, unknowns)), cost / unit, matrix, right, cones, settings
    )
    solution = solver.solve()
    status = str(solution.status)
    if status not in ("Solved", "AlmostSolved"):
        raise _unsolved(status)
    x, dual = np.array(solution.x), unit * np.array(solution.z)
    gram = np.zeros((size, size))
    gram[rows, columns] = gram[columns, rows] = x[:triangle] / scale
    multipliers = np.zeros(len(arranged))
    multipliers[arranged] = dual[: len(arranged)]
    return Solved(
        value=constant - unit * float(solution.obj_val),
        gram=gram,
        values=x[triangle:],
        multipliers=multipliers,
        status=status,
        seconds=float(solution.solve_time),
    )


def _unsolved(status: str) -> DriftproofError:
    return DriftproofError(
        f"a worst case of which the solver says {status}",
        "a measure that the class, the clients' relation and the start bound",
        "add start_within(R), similar(zeta) or start_gap(delta), whichever is missing; if none is, "
        "take fewer rounds or local steps",
    )


__all__ = ["Matrices", "Solved", "matrices", "of_quantity", "solve", "solve_matrices"]
