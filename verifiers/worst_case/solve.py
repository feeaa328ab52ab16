r"""Solves the semidefinite program of a worst case, in floating point.

The program is handed to Clarabel as matrices, made from the triples all at once: what is exact is
needed for a certificate alone. The unknown is (svec(G), F), svec the upper triangle column by
column with √2 off the diagonal, so that ⟨A, B⟩ = svec(A)·svec(B).

Rounding errors can end a solver's progress, of one processor and not of another. So there is a
ladder, in units in which the numbers are near 1 (``scaling``): other settings; the dual program,
over the multipliers, a second route with other and smaller linear systems (the first where vectors
are many), of equilibrated vectors and conditions; the first route with these; and, where the value
does not grow without end (``_grows``), a program that is perturbed so that points and multipliers
have room. Of what cvxpy has, Clarabel alone solves such programs by an interior-point method. So
routes are formulations and not solvers: SCS's steps are of first order, and end with four digits of
the nine. Nothing here is proved. An answer is where a proof begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from driftproof.toolkit.errors import DriftproofError, UndecidableError
from driftproof.verifiers.worst_case.freedom import kept, reduced
from driftproof.verifiers.worst_case.program import Forms, Matrices, Solved, matrices
from driftproof.verifiers.worst_case.scaling import equilibrated, fitted, units
from driftproof.verifiers.worst_case.sdp import WorstCase

TOLERANCE = 1e-9
"""Residuals and gap that the solver goes for."""
ALMOST = 1e-6
"""What it may end with, where it gets no further."""
SURE = 1e-10
"""How exactly a ray has to show that there is no largest value, or no point. The solver's own 10⁻⁸
is as much as rounding does to a program of which a multiplier has no room."""
ROOM = 1e-7
"""By how much bounds are widened, and squared lengths cost, in a perturbed program."""
SIZES = 1e2, 1e4, 1e6
"""Of vectors, whose growth tells whether there is a largest value."""
MANY = 20
"""Vectors from which on the second route, whose linear systems are smaller, is tried first."""
GAIN = 1.0
"""What is no growth yet, beside the value: rounding gains 10⁻⁶ of the size at most."""

Settings: TypeAlias = dict[str, Any]
REFINED: Settings = {
    "iterative_refinement_max_iter": 50,
    "iterative_refinement_reltol": 1e-14,
    "iterative_refinement_abstol": 1e-14,
}
REGULAR: Settings = {"static_regularization_constant": 1e-7, "max_iter": 500} | REFINED
"""Systems that are nearly singular are solved further from what they are, and refined."""
FINAL = "Solved", "AlmostSolved"


class UnsolvedError(UndecidableError):
    """Rounding errors kept the solver from the worst case on every rung: nothing is known of it."""


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


@dataclass(frozen=True)
class Rung:
    """One try: a route, the solver's settings, and what is done to the program before."""

    route: Callable[[Matrices], Cones]
    settings: Settings = field(default_factory=dict)
    equilibrate: bool = False
    perturb: bool = False

    def solved(self, program: Matrices, tolerance: float) -> Solved:
        """Return what the solver says of a program; its status is of the program itself."""
        if self.equilibrate:
            own = equilibrated(program)
            rest = replace(self, equilibrate=False)
            return own.from_these(rest.solved(own.scaled(program), tolerance))
        if self.perturb:
            gram, values = program.objective
            program = replace(
                program,
                bounds=program.bounds + ROOM * ~program.equal,
                objective=(gram - ROOM * np.eye(len(gram)), values),
            )
        return self.route(program).solved(self.settings, tolerance)


def _solved(program: Matrices, tolerance: float) -> Solved:
    grows, empty = cache(lambda: _grows(program)), 0
    ladder = (Rung(_of_multipliers),) * (len(program.objective[0]) >= MANY) + LADDER
    for number, rung in enumerate(ladder):
        found = rung.solved(program, tolerance)
        final = found.status in FINAL
        vast = bool(np.trace(found.gram) > SIZES[-1])  # √m looks solved where m is large
        # the last rung is of another program, which has a largest value whether or not this one has
        doubted = vast if final else number + 2 == len(ladder)
        # one ray alone may be of rounding errors
        if (doubted or found.status == "DualInfeasible") and grows():
            raise _unsolved("DualInfeasible")
        empty += found.status == "PrimalInfeasible"
        if empty == 2:
            break
        if final:
            return found
    raise _unsolved(found.status)


def _grows(program: Matrices) -> bool:
    """Tell whether the value grows without end: with vectors of larger and larger size.

    A program without a largest value, like √m where the trace of G is at most m, has no ray that
    shows it, and ends in rounding errors. With a bound on the trace it has a largest value. That is
    concave in m, so it gains less and less from each hundredfold size once it comes to an end.
    """
    program = fitted(program).scaled(program)  # where a bound of 15² and one of 15⁻² are both 1
    found = [ROBUST.solved(_within(program, size), TOLERANCE) for size in SIZES]
    if any("DualInfeasible" in of.status for of in found):
        return True  # in the values alone
    if any(of.status not in FINAL for of in found):
        return False
    small, middle, large = (of.value for of in found)
    gain = large - middle
    return gain > max(middle - small, GAIN * max(abs(middle), 1.0))


def _within(program: Matrices, size: float) -> Matrices:
    """Return a program of vectors whose squares are a size together, at most."""
    many = len(program.objective[0])
    return replace(
        program,
        gram=Forms.of(program.gram, np.eye(many)[None] / size),
        values=np.concatenate([program.values, np.zeros((1, program.values.shape[1]))]),
        bounds=np.append(program.bounds, 1.0),
        equal=np.append(program.equal, False),
    )


@dataclass(frozen=True)
class Cones:
    """A program as Clarabel takes it: min cost·x with right − matrix x in cones.

    Attributes:
        read: returns G, F and the multipliers from x and the dual variables.
        dual: whether x are the multipliers; the words "primal" and "dual" then change places.
    """

    cost: np.ndarray
    matrix: Any
    right: np.ndarray
    cones: list[Any]
    read: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
    dual: bool = False

    def solved(self, changed: Settings, tolerance: float) -> Solved:
        """Return what the solver says, whatever its status."""
        import clarabel
        from scipy import sparse

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_step_fraction = 0.9  # cautious steps end nearer to the optimum
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = ALMOST
        settings.reduced_tol_feas = ALMOST
        settings.tol_infeas_abs = settings.tol_infeas_rel = SURE
        for name, value in changed.items():
            setattr(settings, name, value)
        unit = float(np.abs(self.cost).max(initial=0.0)) or 1.0  # tolerances are for sizes about 1
        unknowns = len(self.cost)
        found = clarabel.DefaultSolver(
            sparse.csc_matrix((unknowns, unknowns)),
            self.cost / unit,
            self.matrix,
            self.right,
            self.cones,
            settings,
        ).solve()
        status = str(found.status)
        if self.dual and "Infeasible" in status:
            words = ("Primal", "Dual") if "Primal" in status else ("Dual", "Primal")
            status = status.replace(*words)
        value = (unit if self.dual else -unit) * float(found.obj_val)
        read = self.read(np.array(found.x), unit * np.array(found.z))
        return Solved(value, *read, status=status, seconds=float(found.solve_time))


def triangle(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, columns and factors of svec."""
    rows, columns = np.triu_indices(size)
    order = np.lexsort((rows, columns))  # column by column
    rows, columns = rows[order], columns[order]
    return rows, columns, np.where(rows == columns, 1.0, np.sqrt(2.0))


def _arranged(program: Matrices, size: int) -> tuple[np.ndarray, list[Any]]:
    """Return the order in which equalities come first, each kind in its own cone, and the cones."""
    import clarabel

    equalities = int(program.equal.sum())
    cones = [
        clarabel.NonnegativeConeT(len(program.bounds) - equalities),
        clarabel.PSDTriangleConeT(size),
    ]
    if equalities:
        cones.insert(0, clarabel.ZeroConeT(equalities))
    return np.argsort(~program.equal, kind="stable"), cones


def _of_gram(program: Matrices) -> Cones:
    """Return the program in (svec(G), F)."""
    from scipy import sparse

    size, count = len(program.objective[0]), len(program.objective[1])
    rows, columns, scale = triangle(size)
    many = len(rows)
    arranged, cones = _arranged(program, size)
    linear = sparse.hstack([program.gram.svec(), program.values], format="csr")
    cone = sparse.hstack([-sparse.eye(many), sparse.csc_matrix((many, count))])
    objective, values = program.objective

    def read(x: np.ndarray, dual: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        multipliers = np.zeros(len(arranged))
        multipliers[arranged] = dual[: len(arranged)]
        return symmetric(x[:many], size), x[many:], multipliers

    return Cones(
        cost=-np.concatenate([objective[rows, columns] * scale, values]),
        matrix=sparse.vstack([linear[arranged], cone], format="csc"),
        right=np.concatenate([program.bounds[arranged], np.zeros(many)]),
        cones=cones,
        read=read,
    )


def _of_multipliers(program: Matrices) -> Cones:
    """Return the dual program: min b·λ, Σ λ_k a_k = a_0, λ ≥ 0 but of equalities, S ⪰ 0."""
    import clarabel
    from scipy import sparse

    size, count = len(program.objective[0]), len(program.objective[1])
    rows, columns, scale = triangle(size)
    arranged, (*_, signed, cone) = _arranged(program, size)
    many = len(arranged)
    objective, values = program.objective
    slack = program.gram.svec()[arranged]
    signs = -sparse.eye(many, format="csr")[program.equal.sum() :]
    stacked = [program.values[arranged].T, signs, -slack.T]

    def read(x: np.ndarray, dual: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        multipliers = np.zeros(many)
        multipliers[arranged] = x
        return symmetric(dual[len(dual) - len(rows) :], size), -dual[:count], multipliers

    return Cones(
        cost=program.bounds[arranged],
        matrix=sparse.vstack(stacked, format="csc"),
        right=np.concatenate([values, np.zeros(signs.shape[0]), -objective[rows, columns] * scale]),
        cones=[*([clarabel.ZeroConeT(count)] if count else []), signed, cone],
        read=read,
        dual=True,
    )


def symmetric(entries: np.ndarray, size: int) -> np.ndarray:
    """Return the matrix of a svec."""
    rows, columns, scale = triangle(size)
    made = np.zeros((size, size))
    made[rows, columns] = made[columns, rows] = entries / scale
    return made


ROBUST = Rung(_of_multipliers, REGULAR, equilibrate=True)
"""Of all programs that were met, it solves the most, alone."""
LADDER = (
    Rung(_of_gram),
    Rung(_of_gram, {"equilibrate_enable": False}),
    Rung(_of_gram, REFINED),
    ROBUST,
    Rung(_of_gram, REGULAR, equilibrate=True),
    Rung(_of_gram, REGULAR, equilibrate=True, perturb=True),
)
"""What is tried in turn; the first answer is taken."""


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
