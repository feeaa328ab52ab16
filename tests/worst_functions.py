r"""Makes functions of a class from a worst case: oracles on which the algorithm itself can be run.

A Gram matrix G = VᵀV gives the unknown vectors as columns of V, and every triple (x_i, g_i, f_i).
The function, with c = f − (μ/2)‖·‖², ℓ = L − μ (μ = −L where f need not be convex), and the triples
of c in place of those of f, is

    c(x) = min over α ≥ 0, Σ α_i = 1 of (ℓ/2)‖x − Σ α_i (x_i − g_i/ℓ)‖² + Σ α_i (f_i − ‖g_i‖²/(2ℓ)).

It is the conjugate of the largest of the quadratics that the triples give the conjugate (Taylor,
Hendrickx & Glineur 2017, proof of Theorem 4). It is convex and ℓ-smooth whatever the triples are,
and ∇c(x) = ℓ(x − Σ α_i (x_i − g_i/ℓ)). It takes the triples if they meet the conditions. With
μ = −L the least value of f is that of all f_i − ‖g_i‖²/(2L): f is bounded below as it should be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.classes.levels import Level, OneLevel
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import Vector
from driftproof.toolkit.problem import Problem, Solution
from driftproof.verifiers.worst_case.classes import CURVED, curvatures
from driftproof.verifiers.worst_case.program import Solved
from driftproof.verifiers.worst_case.sdp import WorstCase

SMALLEST = 1e-9
"""Eigenvalues of a Gram matrix that are left out, relative to the largest."""


@dataclass(frozen=True)
class Interpolant:
    """The function that takes some triples.

    Attributes:
        points, gradients: x_i and g_i, [triples, dim].
        values: f_i, [triples].
        L, mu: the largest and the smallest curvature.
    """

    points: np.ndarray
    gradients: np.ndarray
    values: np.ndarray
    L: float
    mu: float

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient at x, [dim]."""
        step = self.L - self.mu
        shifted = self.gradients - self.mu * self.points
        centres = self.points - shifted / step
        heights = (
            self.values - self.mu / 2 * (self.points**2).sum(1) - (shifted**2).sum(1) / (2 * step)
        )
        shares = _nearest(np.sqrt(step) * (centres - x), heights)
        apart = x - shares @ centres
        value = step / 2 * apart @ apart + shares @ heights + self.mu / 2 * x @ x
        return float(value), step * apart + self.mu * x


def _nearest(rows: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Return the α ≥ 0 with Σ α_i = 1 that makes ½‖Σ α_i row_i‖² + Σ α_i height_i least."""
    import clarabel
    from scipy import sparse

    count, heights = len(rows), heights - heights.min()
    unit = max((rows**2).sum(1).max(), heights.max()) or 1.0  # the solver's tolerances are absolute
    rows, heights = rows / np.sqrt(unit), heights / unit
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    ones = sparse.csc_matrix(np.ones((1, count)))
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(rows @ rows.T)),
        heights,
        sparse.vstack([ones, -sparse.eye(count)], format="csc"),
        np.concatenate([[1.0], np.zeros(count)]),
        [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(count)],
        settings,
    )
    shares: np.ndarray = np.maximum(np.array(solver.solve().x), 0.0)
    shares /= shares.sum()
    return shares


@dataclass(frozen=True, kw_only=True, eq=False)
class WorstFunctions(Problem):
    """Clients with functions on which a measure takes its worst case, in doubles.

    Attributes:
        functions: each client's.
        first: x_0, [dim]; x* is 0, and F(x*) = 0.
        of: L, and μ where the class has one, by role.
        own: what each client holds beside x_0 as the run begins, [clients, dim] (None: what the
            algorithm begins with).
        level: the level of a bilevel problem that they are (None: of none).
    """

    functions: tuple[Interpolant, ...]
    first: np.ndarray
    of: Mapping[str, float]
    own: np.ndarray | None = None
    level: Level | None = None

    leaf_name = "worst-functions"

    def __str__(self) -> str:
        return "functions of the class"

    @property
    def clients(self) -> int:  # type: ignore[override]
        """How many clients there are."""
        return len(self.functions)

    @property
    def dim(self) -> int:  # type: ignore[override]
        """The rank of the Gram matrix."""
        return len(self.first)

    @property
    def constants(self) -> Mapping[str, float]:
        """The class's, by role."""
        return self.of

    @cached_property
    def solution(self) -> Solution:
        """x* = 0, where the mean gradient is 0."""
        return Solution(0.0, 0.0, np.zeros(self.dim), {"method": "by construction", "gap": 0.0})

    @property
    def offers(self) -> str:
        """As the class's ``FunctionClassProblem.offers``."""
        return "bilevel" if self.level else "losses"

    def start(self) -> np.ndarray:
        """Return x_0."""
        return self.first

    def own_gradients(self, x: Tensor) -> Tensor:
        """Return each client's ∇f_i at its own point, [clients, dim, replicates]."""
        return self._each(x, 1)

    def own_values(self, x: Tensor) -> Tensor:
        """Return each client's f_i at its own point, [clients, replicates]."""
        return self._each(x, 0)[:, 0]

    def client_gradients(self, x: Tensor) -> Tensor:
        """Return each client's ∇f_i at x."""
        return self._each(x.expand(self.clients, *x.shape), 1)

    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇F at x."""
        return self.client_gradients(x).mean(0)

    def objective(self, x: Tensor) -> Tensor:
        """Return F at x."""
        return self._each(x.expand(self.clients, *x.shape), 0).mean(0)[0]

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> WorstOracles | OneLevel:
        """Return the exact oracles of all clients."""
        field = WorstOracles(self)
        return OneLevel(field, self.dim, self.level) if self.level else field

    def _each(self, x: Tensor, part: int) -> Tensor:
        made = [
            [np.atleast_1d(function(point)[part]) for point in own.T]
            for function, own in zip(self.functions, x.numpy(), strict=True)
        ]
        return torch.from_numpy(np.array(made)).swapaxes(1, 2)


class WorstOracles:
    """Exact gradients; there is no noise."""

    def __init__(self, problem: WorstFunctions) -> None:
        self.problem, self.clients = problem, problem.clients
        self.client_weights = torch.full((self.clients, 1, 1), 1 / self.clients).double()

    def field_law(self, batch: int) -> None:
        """Return None."""

    def field_grad(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return each client's gradient at its own x."""
        return self.problem.own_gradients(x)

    def mean_loss(self, x: Tensor) -> Tensor:
        """Return each client's value at its own x."""
        return self.problem.own_values(x)

    def at(self, number: int) -> WorstOracles:
        """Return the oracles of one client's function alone, for every client."""
        every = (self.problem.functions[number],) * self.clients
        return WorstOracles(replace(self.problem, functions=every))


def functions(
    case: WorstCase,
    solved: Solved,
    clients: int,
    level: Level | None = None,
    coordinates: Sequence[Sequence[Fraction]] = (),
) -> WorstFunctions:
    """Return functions of the class on which a measure nearly takes its worst case.

    Args:
        coordinates: of the unknown vectors, if they are known better than by the Gram matrix.
        level: the level of a bilevel problem that the functions are (None: of none).

    Raises:
        DriftproofError: the class is one of operators, or its conditions are only necessary.
    """
    bases = [of.name for of in case.classes]
    if case.loose or not all(name in CURVED for name in bases):
        raise DriftproofError(
            f"functions of {', '.join(sorted(set(bases)))}",
            "a class of smooth functions, whose conditions are known to suffice",
            "read the Gram matrix itself",
        )
    if coordinates:
        columns = np.array(coordinates, dtype=float)  # [vectors, dim]
    else:
        sizes, directions = np.linalg.eigh((solved.gram + solved.gram.T) / 2)
        kept = sizes > SMALLEST * sizes[-1]
        columns = directions[:, kept] * np.sqrt(sizes[kept])

    def vector(of: Vector) -> np.ndarray:
        total = np.zeros(columns.shape[1])
        for j, c in of.coefficients.items():
            total += float(c) * columns[j]
        return total

    made = []
    for of, triples in zip(case.classes, case.triples, strict=True):
        values = [
            sum(float(a) * solved.values[j] for j, a in t.value.values.items()) for t in triples
        ]
        mu, L = map(float, curvatures(of.name, list(of.parameters.values())))
        made.append(
            Interpolant(
                np.array([vector(t.point) for t in triples]),
                np.array([vector(t.gradient) for t in triples]),
                np.array(values, dtype=float),
                L,
                mu,
            )
        )
    every = tuple(made) if len(made) == clients else tuple(made * clients)
    roles = {"objective_smoothness": made[0].L, "strong_convexity": max(made[0].mu, 0.0)}
    own = np.array([vector(v) for v in case.own]) if case.own else None
    first = columns[0] if case.vectors[0] == "x_0" else np.zeros(columns.shape[1])
    return WorstFunctions(functions=every, first=first, of=roles, own=own, level=level)
