r"""What a method does on linear gradients of a class: the recurrence that its iterates obey.

Let client i's gradient be M_i x, with M_i = λ_i for the quadratic (λ_i/2)‖x‖², or a field of two
variables, M_i = (a, −b; b, a) for an operator that turns, M_i = (p, b; −b, r) for the saddle
function (p/2)x² + bxy − (r/2)y². A round then takes states to states linearly, and the iterates
obey one recurrence

    x_{t+k} = q_{k−1} x_{t+k−1} + … + q_0 x_t,

the shortest one that holds from every state. For each root z of it, of multiplicity m, there is a
state from which ‖x_t‖ goes like t^{m−1}|z|^t. All is in fractions, and roots are enclosed: so no
rate below the largest |z|² holds on a class that has these functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import lcm
from typing import Any

import numpy as np
import torch
from flint import arb, fmpq, fmpq_mat, fmpq_poly, fmpz_poly

from driftproof.synthetic.classes.conditions import FunctionClass, Triple
from driftproof.synthetic.classes.function_class import FunctionClassProblem
from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.engines.enumerated import Drew, NoiselessContext
from driftproof.toolkit.federation import run
from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.toolkit.gram.tensor import GramVector, entries_of
from driftproof.toolkit.measure import Reduction, States, each, sq
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.series import Recurrence
from driftproof.verifiers.worst_case.builder import iterate_of, round_from_any_state
from driftproof.verifiers.worst_case.exact import fraction, rational
from driftproof.verifiers.worst_case.homogeneous import null_space
from driftproof.verifiers.worst_case.sdp import ROUNDED
from driftproof.verifiers.worst_case.statement import combined

HALVINGS = 20
"""How often a curvature is halved."""
LARGE = (0, 3, 6)
"""Powers of ten that are curvatures where nothing bounds them."""
ROUNDS = 100
"""Of a run on quadratics."""
ALIKE = {"equal", "similar-everywhere"}
"""Relations by which clients have one curvature."""


Linear = tuple[tuple[Fraction, ...], ...]
"""The rows of a client's M: one number, or a field of two variables."""


@dataclass(frozen=True)
class Mode:
    """The slowest mode of a method on linear gradients.

    Attributes:
        clients: M_i of each function that is not a term.
        saddle: whether these are fields of saddle functions.
        recurrence: q_0, …, q_{k−1}.
        factor: |z|² of the largest root, enclosed: by how much ‖x_t‖² changes in a round.
        rounded: whether a number of the algorithm is a decimal for lack of a short fraction.
        root: Re z and Im z, about.
        step: the matrix of a round, if it takes iterates to iterates (empty: they remember more).
    """

    clients: tuple[Linear, ...]
    saddle: bool
    recurrence: tuple[Fraction, ...]
    factor: Any
    rounded: bool
    root: tuple[float, ...] = ()
    step: Linear = ()

    def exceeds(self, factor: Fraction | None) -> bool:
        """Tell whether ‖x_t‖² is no O(factor^t); of None, whether it does not go to 0."""
        least = Fraction(1) if factor is None else factor
        slack = 1 + ROUNDED if self.rounded else 1
        if self.factor > arb(rational(least * slack)):
            return True
        if self.rounded or not self.reaches(least):
            return False
        # on the circle exactly: a root stays there, a double one leaves it like t
        return (factor is None and self.has_root(least)) or self.has_root(least, double=True)

    def has_root(self, square: Fraction, *, double: bool = False) -> bool:
        """Tell whether a root, or a double root, has |z|² = square, exactly."""
        of = self._polynomial
        of = of.gcd(of.derivative()) if double else of
        even, odd = of.coeffs()[::2], of.coeffs()[1::2]
        # p(z)p(−z) is a polynomial in z², whose roots over the square are on the unit circle
        squares = fmpq_poly(even) ** 2 - fmpq_poly([0, 1]) * fmpq_poly(odd) ** 2
        return bool(square) and is_on_circle(squares(fmpq_poly([0, rational(square)])))

    @cached_property
    def short_factor(self) -> Fraction | None:
        """``factor``, if it is a short fraction."""
        near = Fraction(float(self.factor.mid())).limit_denominator(10**6)
        return near if self.reaches(near) and self.has_root(near) else None

    @property
    def has_largest_twice(self) -> bool:
        """Tell whether the largest root is a double one, of a short |z|²."""
        size = self.short_factor
        return not self.rounded and size is not None and self.has_root(size, double=True)

    @cached_property
    def _polynomial(self) -> Any:
        return fmpq_poly([*(rational(-q) for q in self.recurrence), 1])

    def reaches(self, factor: Fraction) -> bool:
        """Tell whether ‖x_t‖² may go like factor^t: the enclosures overlap."""
        return bool(self.factor.overlaps(arb(rational(factor))))

    def __str__(self) -> str:
        of = self.said
        return (
            f"on {of.functions} with {of.numbers} the iterates of some run obey "
            f"{of.obeyed}, and ‖x_t‖² {of.grows}"
        )

    @property
    def said(self) -> Recurrence:
        """What is said of it."""
        k = len(self.recurrence)
        terms = [(f"x_(t+{j})" if j else "x_t", rational(q)) for j, q in enumerate(self.recurrence)]
        obeyed = combined(reversed(terms)) if any(self.recurrence) else "0"
        size, one = float(self.factor.mid()), self.reaches(Fraction(1))
        how = "does not go to 0" if one else f"goes like {size:.6g}^t"
        if self.has_largest_twice:
            how = "goes like t²" if one else f"goes like t²·{size:.6g}^t"
        return Recurrence(*self._functions, f"x_(t+{k}) = {obeyed}", how, self.root)

    @property
    def _functions(self) -> tuple[str, str]:
        """The functions or operators, and their letters' values."""
        first = self.clients[0]
        if len(first) == 1 or not first[0][1]:
            of, whole = ("(x, y)", "(‖x‖² − ‖y‖²)") if self.saddle else ("(x)", "‖x‖²")
            sizes = [str(matrix[0][0]) for matrix in self.clients]
            if len(set(sizes)) == 1:
                return f"{'f' if self.saddle else 'F'}{of} = (λ/2){whole}", f"λ = {sizes[0]}"
            return f"f_i{of} = (λ_i/2){whole}", f"λ = ({', '.join(sizes)})"
        (a, b), (_, d) = first
        if self.saddle:
            return "f(x, y) = (p/2)x² + bxy − (r/2)y²", f"p = {a}, b = {b}, r = {d}"
        return "the operator (x, y) ↦ (ax − by, bx + ay)", f"a = {a}, b = {-b}"


def is_on_circle(of: Any) -> bool:
    """Tell whether a polynomial has a root of size 1, exactly.

    Such roots are those that it shares with its reversal, and come with their reciprocals: z + 1/z
    is a real number in (−2, 2), or z is 1 or −1. Roots there are counted by Sturm's theorem.

    >>> is_on_circle(fmpq_poly([1, fmpq(-19, 10), 1])), is_on_circle(fmpq_poly([1, -3, 1]))
    (True, False)
    """
    import sympy

    if of(1) == 0 or of(-1) == 0:
        return True
    shared = of.gcd(fmpq_poly(of.coeffs()[::-1])).coeffs()
    half = len(shared) // 2
    if not half:
        return False
    w = sympy.Symbol("w")
    powers = [sympy.Integer(2), w]  # z^k + z^−k in w = z + 1/z
    while len(powers) <= half:
        powers.append(sympy.expand(w * powers[-1] - powers[-2]))
    turned = [sympy.Rational(int(c.p), int(c.q)) for c in shared[half:]]
    whole = turned[0] + sum(c * power for c, power in zip(turned[1:], powers[1:], strict=False))
    return bool(sympy.Poly(whole, w).count_roots(-2, 2))


def slowest(
    algorithm: Algorithm, whole: FunctionClassProblem, factor: Fraction | None = None
) -> Mode | None:
    """Return the mode that exceeds a factor, if one does, else the slowest that is found.

    Looked at are quadratics of the largest, the smallest and a middle curvature, alike and of
    clients that differ, also as saddle functions; operators and saddle functions that turn as much
    as the class allows.
    Where curvatures may be as small as one likes, and a factor is stated, ever smaller ones too.

    None: the class has no such function or operator, or clients are sampled.
    """
    done = _run(algorithm, whole) if _may_be_linear(whole) else None
    if done is None:
        return None
    modes = [_mode(done, of, whole) for of in _members(whole, done, factor)]
    found = [mode for mode in modes if mode is not None]
    return max(found, key=lambda of: (of.exceeds(factor), float(of.factor.mid())), default=None)


def _may_be_linear(whole: FunctionClassProblem) -> bool:
    """Tell whether the class has linear gradients: none is bounded, and no part is asked alone."""
    parts = [whole.function_class, *filter(None, [whole.term])]
    bounded = any(condition.bound for part in parts for condition in part.conditions)
    return not (whole.function_class.composed or whole.level or bounded)


def _curvatures(whole: FunctionClassProblem) -> set[Fraction]:
    """Return the largest, the smallest and a middle curvature of quadratics of the class.

    Where nothing bounds them from above, larger and larger ones.
    """
    of = whole.function_class
    least, most = of.parameters.get("mu", Fraction(0)), of.parameters.get("L")
    if not _may_be_linear(whole):
        return set()
    if most is None:
        return {x for x in (least, *(least + 10**k for k in LARGE)) if x > 0}
    return {x for x in (least, (least + most) / 2, most) if x > 0}


def _members(
    whole: FunctionClassProblem, done: _Round, factor: Fraction | None
) -> Iterator[tuple[Linear, ...]]:
    """Yield M of each function that is not a term.

    A saddle function that does not turn is (λ/2)(‖x‖² − ‖y‖²), with the field λI. x and y then go
    as if the other one were not there, so one λ of both is enough.
    """
    of, count = whole.function_class, sum(not one.term for one in done.asked.classes)
    curvatures = _curvatures(whole)
    if curvatures and not of.parameters.get("mu") and factor is not None and factor < 1:
        curvatures |= {max(curvatures) / 2**k for k in range(2, HALVINGS)}
    for x in sorted(curvatures):
        yield (_multiple(x, 1 + of.saddle),) * count
    if count > 1 and curvatures and not {one.kind for one in whole.relations} & ALIKE:
        low, high = ((_multiple(x, 1 + of.saddle),) for x in (min(curvatures), max(curvatures)))
        yield from (low * k + high * (count - k) for k in sorted({1, count // 2, count - 1}))
    for matrix in _turning(of):
        yield (matrix,) * count


def _turning(of: FunctionClass) -> Iterator[Linear]:
    """Yield fields of two variables of a class: with as large a b as there is in it."""
    if any(any(condition.values) for condition in of.conditions):
        return  # gradients do not turn
    low = of.parameters.get("mu", Fraction(0))
    high = of.parameters.get("L", 2 * low + 1)  # where nothing bounds them, two sizes
    middle = (low + high) / 2
    for p, r in ((low, low), (middle, middle), (low, high), (high, low)):
        for b in (_largest(of, p, r), _largest(of, p, r) / 2):
            if b and (of.saddle or p == r):
                yield ((p, b), (-b, r)) if of.saddle else ((p, -b), (b, r))


def _largest(of: FunctionClass, p: Fraction, r: Fraction) -> Fraction:
    """Return about the largest b with which a field is in a class, in four digits (0: none).

    The conditions hold of a linear field at all pairs of points if they do at x and 0 for every x:
    at the largest x of a quadratic form in two variables.
    """
    digits, high = 10**4, of.parameters.get("L", 2 * max(p, r) + 1)
    low, above = 0, int(high * digits) + 1
    while above - low > 1:
        middle = (low + above) // 2
        b = Fraction(middle, digits)
        low, above = (middle, above) if _holds(of, ((p, b), (-b, r))) else (low, middle)
    return Fraction(low, digits)


def _holds(of: FunctionClass, matrix: Linear) -> bool:
    """Tell whether a linear field is in a class: no condition's form in (x, y) is above 0."""
    (a, b), (c, d) = matrix

    def triple(u: int, v: int) -> Triple:  # e_0 and e_1 are orthonormal
        point, image = (Fraction(u), Fraction(v)), (a * u + b * v, c * u + d * v)
        of = [Vector({k: x for k, x in enumerate(part) if x}) for part in (point, image)]
        return Triple(0, of[0], of[1], GramForm(), "x")

    for condition in of.conditions:
        forms = (condition.quantity(triple(*x), triple(0, 0)) for x in ((1, 0), (0, 1), (1, 1)))
        first, second, both = (
            sum((of.gram.get((k, k), Fraction(0)) for k in (0, 1)), Fraction(0)) for of in forms
        )
        cross = (both - first - second) / 2
        if first > 0 or second > 0 or first * second < cross**2:
            return False
    return True


@dataclass(frozen=True)
class _Round:
    """One round from any state: what was asked, and the states before and after it.

    Attributes:
        asked: the classes' triples.
        begun, ended: the states' vectors.
        iterate: that of the state before.
        rounded: see ``Mode``.
    """

    asked: Any
    begun: Sequence[Vector]
    ended: Sequence[Vector]
    iterate: Vector
    rounded: bool


def _run(algorithm: Algorithm, whole: FunctionClassProblem) -> _Round | None:
    """Run a round from any state; None if there are several outcomes of sampling."""
    made = round_from_any_state(algorithm, whole.conditions, whole.clients, ours=True)
    if made.outcomes > 1:
        return None
    states = made.first, made.state
    begun, ended = (
        [v for of in state if isinstance(of, GramVector) for v in of.entries.reshape(-1)]
        for state in states
    )
    iterate = iterate_of(algorithm, whole, lambda name: getattr(made.first, name).mean(0))
    (at,) = entries_of(iterate).reshape(-1)
    return _Round(made.problem.asked, begun, ended, at, bool(made.inexact))


def runs(algorithm: Algorithm, whole: FunctionClassProblem) -> Iterator[tuple[str, np.ndarray]]:
    """Yield ‖x_t − x*‖² of runs in doubles on quadratics of the class, from 1 at t = 0 on.

    They are runs as users have them, with oracles of a problem: no replay answers there. There are
    none where clients are sampled, or the quadratics lack an oracle that the algorithm asks.
    """
    kinds = {relation.kind for relation in whole.relations}
    curvatures = _curvatures(whole)
    saddle, field = whole.function_class.saddle, algorithm.needs in OFFERS["field"]
    if not curvatures or whole.term or saddle or not field:
        return
    low, high, n = float(min(curvatures)), float(max(curvatures)), whole.clients
    mixed = [np.linspace(low, high, n)] if n > 1 and not kinds & ALIKE else []
    for own in (np.full(n, high), np.full(n, low), *mixed):
        around_one = tuple((((0.0, -x), (1.0, 0.0)),) for x in own.tolist())
        problem = PiecewiseLosses(clients=n, gradients=around_one, tails="linear")
        try:
            squares = squares_in_doubles(problem, algorithm, ROUNDS, 1)
        except Drew:
            return
        said = ", ".join(f"{x:g}" for x in own)
        yield f"on F_i(x) = (λ_i/2)(x − x*)² with λ = ({said})", squares


def squares_in_doubles(problem: Any, algorithm: Algorithm, rounds: int, of: int) -> np.ndarray:
    """Return ‖x_t − of‖² of a run, t = 0, 1, …; ∞ where it did not stay finite."""
    ctx = NoiselessContext(problem.clients, dtype=torch.float64, device="cpu")

    def left(view: States) -> Reduction:
        return each("round", sq(view.mean(algorithm.iterate) - of))

    made = run(problem, algorithm, ctx, rounds=rounds, left=left, kernels=False)
    squares = np.full(rounds, np.inf)
    squares[: len(made.values)] = made.values[:, 0]
    return squares


def _mode(done: _Round, clients: tuple[Linear, ...], whole: FunctionClassProblem) -> Mode | None:
    """Return the slowest mode of a member; None if the state alone does not say what follows."""
    found = _recurrence(done, clients)
    if found is None:
        return None
    obeyed, step = found
    scale = lcm(*(q.denominator for q in obeyed))
    roots: Any = fmpz_poly([*(int(-q * scale) for q in obeyed), scale]).complex_roots()
    largest, root = max(((abs(z), z) for z, _ in roots), key=lambda of: float(of[0].mid()))
    where = float(root.real.mid()), abs(float(root.imag.mid()))
    saddle = whole.function_class.saddle
    size = largest * largest
    return Mode(clients, saddle, tuple(obeyed), size, done.rounded, where, step)


def _recurrence(done: _Round, clients: tuple[Linear, ...]) -> tuple[list[Fraction], Linear] | None:
    """Return q_0, …, q_{k−1} and ``Mode.step``; None if the state does not say what follows."""
    parts, count = len(clients[0]), len(done.asked.vectors)

    def rows(vectors: Iterable[Vector]) -> Any:
        return _matrix(vectors, count, parts, saddle=done.asked.saddle)

    equations = [fmpq_mat(0, rows(()).ncols())]
    members = iter(clients)
    for of, triples in zip(done.asked.classes, done.asked.triples, strict=True):
        matrix = (
            _multiple(of.parameters.get("mu", Fraction(0)), parts) if of.term else next(members)
        )
        for triple in triples:
            equations.append(rows([triple.gradient]) - _rational(matrix) * rows([triple.point]))
    free = null_space(_stacked(equations))
    # the round as a map of free unknowns: any one that takes the first state to the second
    step = _solved(rows(done.begun) * free, rows(done.ended) * free)
    powers = [rows([done.iterate]) * free]
    if step is None or powers[0] == powers[0] * 0:
        return None
    while True:
        powers.append(powers[-1] * step)
        stacked = fmpq_mat([[*chain(*power.tolist())] for power in powers])
        dependent = null_space(stacked.transpose())
        if dependent.ncols():
            found = [dependent[j, 0] for j in range(len(powers))]
            obeyed = [fraction(-c / found[-1]) for c in found[:-1]]
            moved = _solved(*(of.transpose() for of in powers[:2]))
            rows_of = moved.transpose().tolist() if moved is not None else []
            return obeyed, tuple(tuple(map(fraction, row)) for row in rows_of)


def _multiple(of: Fraction, parts: int) -> Linear:
    """Return a multiple of the identity."""
    return tuple(tuple(of if j == k else Fraction(0) for k in range(parts)) for j in range(parts))


def _rational(matrix: Linear) -> fmpq_mat:
    return fmpq_mat([[rational(x) for x in row] for row in matrix])


def _stacked(matrices: Sequence[fmpq_mat]) -> fmpq_mat:
    """Return matrices, one above the other."""
    rows = [row for matrix in matrices for row in matrix.tolist()]
    return fmpq_mat(rows) if rows else matrices[0]


def _matrix(vectors: Iterable[Vector], count: int, parts: int, *, saddle: bool) -> fmpq_mat:
    """Return each vector's coordinates as rows, in those of the unknown vectors.

    Args:
        count: of unknown vectors.
        parts: coordinates of a vector.
        saddle: whether an unknown vector has one of them alone, that of x or of y.
    """
    rows = []
    for vector in vectors:
        for k in range(parts):
            row = [fmpq(0)] * (count if saddle else count * parts)
            of = vector.part(second=bool(k)) if saddle else vector
            for j, c in of.coefficients.items():
                if j >= 0:  # x* is the origin
                    row[j if saddle else parts * j + k] = rational(c)
            rows.append(row)
    return fmpq_mat(rows) if rows else fmpq_mat(0, count if saddle else count * parts)


def _solved(of: fmpq_mat, to: fmpq_mat) -> fmpq_mat | None:
    """Return an M with of·M = to (None: there is none, as with errors of an inexact oracle)."""
    many = of.ncols()
    joined = [[*one, *other] for one, other in zip(of.tolist(), to.tolist(), strict=True)]
    reduced, rank = fmpq_mat(joined).rref()
    made = fmpq_mat(many, many)
    for r in range(rank):
        lead = next(c for c in range(2 * many) if reduced[r, c] != 0)
        if lead >= many:
            return None
        for c in range(many):
            made[lead, c] = reduced[r, many + c]
    return made
