r"""Certified suprema of what Lemma 3.9 bounds, on ``AnalyticMAML``.

Everything is a sum or a maximum over coordinates of functions of one coordinate, of period 2π/ω. On
a grid of step h over a period, f lies below its linear interpolation plus h² sup|f''|/8, so

    max over the grid  ≤  sup f  ≤  max over the grid + h² sup|f''|/8.

The spectral norm of a diagonal Jacobian couples the coordinates: E max_j p_j(x_j; ξ)² is at most
E max_j sup p_j(·; ξ)². With two outcomes of ξ and d ≥ 2 a point reaches that: one coordinate where
ξ = 1 is at its best, another where ξ = −1 is. For d = 1 it is a function of one coordinate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

import numpy as np

from driftproof.synthetic.problems.analytic_maml import AnalyticMAML
from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.constants import Expression, Letters, evaluate
from driftproof.toolkit.readings import Stated, literal
from driftproof.verifiers.claim_types.bound import RightSide
from driftproof.verifiers.claim_types.compared import Comparison

GRID = 1 << 16
Enclosure: TypeAlias = tuple[float, float]
"""Two numbers between which a supremum lies."""


@dataclass(frozen=True)
class Constant:
    """One constant of Lemma 3.9: the supremum that it bounds, and its formula in letters."""

    supremum: Callable[[Tasks], Enclosure]
    formula: RightSide

    def __call__(self, c: Letters) -> Expression:
        """Return the formula."""
        return self.formula(c)


def printed(
    part: str, supremum: Callable[[Tasks], Enclosure], formula: RightSide, quote: str = ""
) -> Stated[Constant]:
    """Return the literal reading of one constant of (10), a part of the lemma."""
    return literal(Constant(supremum, formula), part=part, quote=quote)


def each_client(case: Case[AnalyticMAML, None], stated: Constant) -> list[Comparison]:
    """Compare the certified supremum of a stated constant with its formula, for each client."""
    problem = case.problem
    value = evaluate(stated(Letters(problem.notation)), problem.notation, roles_of(case))
    made = []
    for client in range(problem.clients):
        low, high = stated.supremum(Tasks(problem, client))
        made.append(Comparison(f"client {client + 1}", low, high, value, float(client)))
    return made


class Tasks:
    """The tasks of one client: derivatives of their losses in one coordinate, on a grid."""

    def __init__(self, problem: AnalyticMAML, client: int) -> None:
        self.a, self.w, self.s = problem.amplitude, problem.frequency, problem.noise
        self.rate, self.dim, self.signs = problem.adaptation, problem.dim, problem.pattern
        self.step = 2 * np.pi / self.w / GRID
        self.at = self.step * np.arange(GRID)
        self.centres: np.ndarray = problem.centres[client]
        self.most = self.a + self.s  # the amplitude of one sample's loss, at most

    def derivative(self, order: int, centre: float, at: np.ndarray | None = None) -> np.ndarray:
        """Return the derivative of the expected loss, A(1 − cos ω(u − c)), of order 0 … 3."""
        phase = self.w * ((self.at if at is None else at) - centre)
        shape = (1 - np.cos(phase), np.sin(phase), np.cos(phase), -np.sin(phase))[order]
        values: np.ndarray = self.a * self.w**order * shape
        return values

    def noise(self, order: int, at: np.ndarray | None = None) -> np.ndarray:
        """Return the derivative of s cos(ωu), the loss's noise for ξ = ε = 1, of order 1 or 2."""
        phase = self.w * (self.at if at is None else at)
        shape = np.sin(phase) if order == 1 else np.cos(phase)
        values: np.ndarray = -self.s * self.w**order * shape
        return values

    def top(self, values: np.ndarray, second: float) -> Enclosure:
        """Enclose sup f from its values on the grid and a bound on |f''|."""
        low = float(np.max(values))
        return low, low + self.step**2 / 8 * second

    def each(self, enclose: Callable[[float], Enclosure]) -> Enclosure:
        """Return the largest enclosure over the client's tasks, each on its own."""
        ends = [enclose(centre) for centre in self.centres]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def summed(self, enclose: Callable[[float], Enclosure]) -> Enclosure:
        """Return the sum over coordinates of enclosures for their signs ε_j."""
        ends = [enclose(sign) for sign in self.signs]
        return sum(low for low, _ in ends), sum(high for _, high in ends)

    def square(self, order: int, amplitude: float | None = None) -> float:
        """Bound |(p²)''| for p a derivative of a loss of one sample, or of this amplitude."""
        size = (self.most if amplitude is None else amplitude) * self.w**order
        return 4 * size**2 * self.w**2


def smoothness_of_f(tasks: Tasks) -> Enclosure:
    """Return sup ‖∇²L‖, the Lipschitz constant of ∇f."""
    bend = tasks.a * tasks.w**4
    return tasks.each(lambda c: tasks.top(np.abs(tasks.derivative(2, c)), bend))


def smoothness_of_g(tasks: Tasks) -> Enclosure:
    """Return sup λ‖∇³L‖, the Lipschitz constant of ∇g (spectral or Frobenius: both)."""
    rate, bend = tasks.rate, tasks.rate * tasks.a * tasks.w**5
    return tasks.each(lambda c: tasks.top(rate * np.abs(tasks.derivative(3, c)), bend))


def moment_of_f(tasks: Tasks) -> Enclosure:
    """Return sup E‖∇f(y; ζ)‖²."""

    def one(centre: float) -> Enclosure:
        mean, noise = tasks.derivative(1, centre), tasks.noise(1)
        return tasks.summed(lambda sign: tasks.top(mean**2 + noise**2, tasks.square(1)))

    return tasks.each(one)


def variance_of_f(tasks: Tasks) -> Enclosure:
    """Return sup E‖∇f(y; ζ) − ∇f(y)‖²."""
    return tasks.summed(lambda sign: tasks.top(tasks.noise(1) ** 2, tasks.square(1, tasks.s)))


def variance_of_value(tasks: Tasks) -> Enclosure:
    """Return sup E‖g(x; ξ) − g(x)‖²."""
    low, high = variance_of_f(tasks)
    return tasks.rate**2 * low, tasks.rate**2 * high


def variance_of_jacobian(tasks: Tasks) -> Enclosure:
    """Return sup E‖∇g(x; ξ) − ∇g(x)‖², spectral: |ξ| = 1, so the largest entry's square."""
    return tasks.top(tasks.rate**2 * tasks.noise(2) ** 2, tasks.rate**2 * tasks.square(2, tasks.s))


def variance_of_jacobian_frobenius(tasks: Tasks) -> Enclosure:
    """Return sup E‖∇g(x; ξ) − ∇g(x)‖² in the Frobenius norm."""
    return tasks.summed(lambda sign: variance_of_jacobian(tasks))


def _entries(tasks: Tasks, centre: float, xi: float, at: np.ndarray | None = None) -> np.ndarray:
    """Return 1 − λψ''(u; ξ), the diagonal of ∇g(x; ξ) where ε_j = 1."""
    bent: np.ndarray = tasks.derivative(2, centre, at) + xi * tasks.noise(2, at)
    return 1 - tasks.rate * bent


def _bend(tasks: Tasks) -> float:
    """Bound |(p²)''| for p an entry of ∇g."""
    p = tasks.rate * tasks.most * tasks.w**2
    return 2 * (p * tasks.w) ** 2 + 2 * (1 + p) * p * tasks.w**2


def moment_of_g_frobenius(tasks: Tasks) -> Enclosure:
    """Return sup E‖∇g(x; ξ)‖² in the Frobenius norm, a sum over coordinates."""

    def one(centre: float) -> Enclosure:
        square = (_entries(tasks, centre, 1) ** 2 + _entries(tasks, centre, -1) ** 2) / 2
        return tasks.summed(lambda sign: tasks.top(square, _bend(tasks)))

    return tasks.each(one)


def moment_of_g(tasks: Tasks) -> Enclosure:
    """Return sup E‖∇g(x; ξ)‖² in the spectral norm."""
    if tasks.dim == 1:
        return moment_of_g_frobenius(tasks)
    return tasks.each(lambda centre: _spectral(tasks, centre))


def _spectral(tasks: Tasks, centre: float) -> Enclosure:
    squares = {xi: _entries(tasks, centre, xi) ** 2 for xi in (1, -1)}
    best = {xi: int(np.argmax(values)) for xi, values in squares.items()}
    # coordinate j sees ξε_j: either outcome has a best coordinate and a best place for it
    high = sum(
        max(tasks.top(squares[int(xi * sign)], _bend(tasks))[1] for sign in tasks.signs)
        for xi in (1, -1)
    )
    low = 0.0
    for one, two in permutations(range(tasks.dim), 2):
        x = np.full(tasks.dim, tasks.at[best[int(tasks.signs[one])]])
        x[two] = tasks.at[best[int(-tasks.signs[two])]]
        norms = [
            max(
                _entries(tasks, centre, xi * sign, u) ** 2
                for u, sign in zip(x, tasks.signs, strict=True)
            )
            for xi in (1, -1)
        ]
        low = max(low, float(sum(norms)) / 2)
    return low, high / 2


def smoothness_of_objective(tasks: Tasks) -> Enclosure:
    """Return sup ‖∇²F^{(k)}‖ for one task: φ'' = (1 − λψ'')²ψ''(y) − λψ'''ψ'(y), y = u − λψ'."""
    a, w, rate = tasks.a, tasks.w, tasks.rate
    q = 1 + rate * a * w**2
    fourth = (
        a * w**4 * q**4
        + 6 * a**2 * rate * w**6 * q**2
        + 3 * a**3 * rate**2 * w**8
        + 4 * a**2 * rate * w**6 * q
        + a**2 * rate * w**6
    )

    def one(centre: float) -> Enclosure:
        y = tasks.at - rate * tasks.derivative(1, centre)
        stretch = 1 - rate * tasks.derivative(2, centre)
        second = stretch**2 * tasks.derivative(2, centre, y)
        second -= rate * tasks.derivative(3, centre) * tasks.derivative(1, centre, y)
        return tasks.top(np.abs(second), fourth)

    return tasks.each(one)


def drawn_moment_of_f(tasks: Tasks) -> Enclosure:
    """Return sup E‖∇L_i(y; ζ)‖² with the task i drawn, each equally likely."""
    means = sum(tasks.derivative(1, c) ** 2 for c in tasks.centres) / len(tasks.centres)
    return tasks.summed(lambda sign: tasks.top(means + tasks.noise(1) ** 2, tasks.square(1)))


def drawn_variance_of_f(tasks: Tasks) -> Enclosure:
    """Return sup E‖∇L_i(y; ζ) − ∇f(y)‖² with the task i drawn."""
    drawn = np.stack([tasks.derivative(1, c) for c in tasks.centres])
    square = drawn.var(0) + tasks.noise(1) ** 2
    apart = tasks.a if np.ptp(tasks.centres) > 0 else 0.0  # a variance: mean p² − (mean p)²
    bend = 2 * tasks.square(1, apart) + tasks.square(1, tasks.s)
    return tasks.summed(lambda sign: tasks.top(square, bend))
