r"""Solves the semidefinite program of a worst case, in floating point.

The program is handed to Clarabel as matrices, made from the triples all at once: what is exact is
needed for a certificate alone. The unknown is (svec(G), F), svec the upper triangle column by
column with √2 off the diagonal, so that ⟨A, B⟩ = svec(A)·svec(B).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError, UndecidableError
from driftproof.verifiers.worst_case.freedom import kept, reduced
from driftproof.verifiers.worst_case.program import Matrices, Solved, matrices
from driftproof.verifiers.worst_case.record import WorstCase
from driftproof.verifiers.worst_case.scaling import units

TOLERANCE = 1e-9
"""Residuals and gap that the solver goes for."""
ALMOST = 1e-6
"""What it may end with, where it gets no further."""
ATTEMPTS: tuple[dict[str, Any], ...] = (
    {},
    {"equilibrate_enable": False},
    {"iterative_refinement_max_iter": 50, "iterative_refinement_reltol": 1e-14,
     "iterative_refinement_abstol": 1e-14},
)  # fmt: skip
"""Settings that are tried in turn, where rounding errors end a solver's progress early."""


class UnsolvedError(DriftproofError):
    """Rounding errors kept the solver from the worst case: nothing is known of it."""


class UnboundedError(UndecidableError):
    """There is no largest value."""


def solve(case: WorstCase, *, margin: float = 0.0) -> Solved:
    """Maximise, and return the value with the Gram matrix and the multipliers.

    Args:
        margin: ε, which is added to Q_0 as εI: the multipliers then have Σ λ_k Q_k − Q_0 ⪰ εI,
            which rounding cannot lose. ``value`` is then above the worst case.

    Raises:
        UnsolvedError: the solver did not find the largest value.
        DriftproofError: there is none.
    """
    try:
        return solve_matrices(
            matrices(case), margin=margin, constant=float(case.objective.constant)
        )
    except (UnboundedError, UnsolvedError) as error:
        if isinstance(error, UnsolvedError):
            raise UnsolvedError(error.got, error.wanted, case.lacking or error.remedy) from error
        raise _unbounded(case) from error


def solve_matrices(
    program: Matrices, *, margin: float = 0.0, constant: float = 0.0, tolerance: float = TOLERANCE
) -> Solved:
    """Maximise a program in doubles (``solve``)."""
    matter = kept(program)
    program = reduced(program, matter)
    gram, values = program.objective
    program = replace(program, objective=(gram + margin * np.eye(len(gram)), values))
    chosen = units(program)
    solved = chosen.from_these(_solved(chosen.scaled(program), tolerance))
    every = np.zeros((len(matter), len(matter)))
    every[np.ix_(matter, matter)] = solved.gram
    return replace(solved, value=solved.value + constant, gram=every)


def _solved(program: Matrices, tolerance: float) -> Solved:
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
    cost = -np.concatenate([objective[rows, columns] * scale, values])
    unit = float(np.abs(cost).max(initial=0.0)) or 1.0  # tolerances are meant for sizes about 1
    equalities = int(program.equal.sum())
    cones = [clarabel.NonnegativeConeT(len(program.bounds) - equalities),
             clarabel.PSDTriangleConeT(size)]  # fmt: skip
    if equalities:
        cones.insert(0, clarabel.ZeroConeT(equalities))
    unknowns = triangle + count
    for attempt in ATTEMPTS:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_step_fraction = 0.9  # cautious steps end nearer to the optimum
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = ALMOST
        settings.reduced_tol_feas = ALMOST
        for name, value in attempt.items():
            setattr(settings, name, value)
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix((unknowns, unknowns)), cost / unit, matrix, right, cones, settings
        )
        solution = solver.solve()
        status = str(solution.status)
        if status not in ("NumericalError", "InsufficientProgress"):
            break
    if status not in ("Solved", "AlmostSolved"):
        raise _unsolved(status)
    x, dual = np.array(solution.x), unit * np.array(solution.z)
    gram = np.zeros((size, size))
    gram[rows, columns] = gram[columns, rows] = x[:triangle] / scale
    multipliers = np.zeros(len(arranged))
    multipliers[arranged] = dual[: len(arranged)]
    return Solved(
        value=-unit * float(solution.obj_val),
        gram=gram,
        values=x[triangle:],
        multipliers=multipliers,
        status=status,
        seconds=float(solution.solve_time),
    )


def _unsolved(status: str) -> DriftproofError:
    if status.endswith("PrimalInfeasible"):
        return DriftproofError(
            f"conditions that no functions meet: the solver says {status}",
            "conditions that some functions of the class meet",
            "take a larger start, or relations that do not contradict each other",
        )
    of = UnboundedError if "Infeasible" in status else UnsolvedError
    return of(
        f"a worst case of which the solver says {status}",
        "a measure that the class, the clients' relation and the start bound",
        "take fewer rounds or local steps, or ζ, R and η that differ by less",
    )


def _unbounded(case: WorstCase) -> UnboundedError:
    conditions = ", ".join(map(str, case.about.get("conditions", ())))
    return UnboundedError(
        f"a measure that grows beyond all bounds over {conditions or 'this class'}",
        "one that the class, the clients' relation and the start bound",
        case.lacking
        or "bound the start in another way (start_within, start_gap), or take a smaller class",
    )
