r"""What a method does on the quadratics of a class: the recurrence that its iterates obey.

If every client has F(x) = (λ/2)‖x‖², or the operator x ↦ λx, each gradient is λ times its point. A
round then takes states to states linearly, and the iterates obey one recurrence

    x_{t+k} = q_{k−1} x_{t+k−1} + … + q_0 x_t,

the shortest one that holds from every state. There is a state from which ‖x_t‖ goes like |z|^t, for
each root z of it. All is in fractions, and roots are enclosed: so no rate below the largest |z|²
holds on a class that has this function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import torch
from flint import arb, fmpq_mat, fmpz_poly

from driftproof.synthetic.classes.whole import WholeClass
from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.engines.enumerated import Drew, NoiselessContext
from driftproof.toolkit.federation import run
from driftproof.toolkit.gram.exact import Vector
from driftproof.toolkit.gram.tensor import GramVector, entries_of
from driftproof.toolkit.measure import Reduction, States, each, sq
from driftproof.toolkit.oracles import OFFERS
from driftproof.verifiers.worst_case.builder import round_from_any_state
from driftproof.verifiers.worst_case.exact import fraction, rational
from driftproof.verifiers.worst_case.homogeneous import null_space
from driftproof.verifiers.worst_case.record import ROUNDED
from driftproof.verifiers.worst_case.statement import combined

HALVINGS = 20
"""How often a curvature is halved."""
ROUNDS = 100
"""Of a run on quadratics."""
ALIKE = {"equal", "similar-everywhere"}
"""Relations by which clients have one curvature."""


@dataclass(frozen=True)
class Mode:
    """The slowest mode of a method on one quadratic.

    Attributes:
        curvature: λ.
        recurrence: q_0, …, q_{k−1}.
        factor: |z|² of the largest root, enclosed: by how much ‖x_t‖² changes in a round.
        rounded: whether a number of the algorithm is a decimal for lack of a short fraction.
    """

    curvature: Fraction
    recurrence: tuple[Fraction, ...]
    factor: Any
    rounded: bool

    def exceeds(self, factor: Fraction | None) -> bool:
        """Tell whether ‖x_t‖² is no O(factor^t); of None, whether it does not go to 0."""
        slack = 1 + ROUNDED if self.rounded else 1
        if factor is not None:
            return bool(self.factor > arb(rational(factor * slack)))
        ends = [sum(q * s**j for j, q in enumerate(self.recurrence)) for s in (1, -1)]
        stays = ends[0] == 1 or ends[1] == (-1) ** len(self.recurrence)  # 1 or −1 is a root
        return bool(self.factor > arb(rational(Fraction(slack)))) or stays

    def reaches(self, factor: Fraction) -> bool:
        """Tell whether ‖x_t‖² may go like factor^t: the enclosures overlap."""
        return bool(self.factor.overlaps(arb(rational(factor))))

    def __str__(self) -> str:
        k = len(self.recurrence)
        terms = [(f"x_(t+{j})" if j else "x_t", rational(q)) for j, q in enumerate(self.recurrence)]
        obeyed = combined(reversed(terms)) if any(self.recurrence) else "0"
        size = float(self.factor.mid())
        how = "does not go to 0" if self.reaches(Fraction(1)) else f"goes like {size:.6g}^t"
        return (
            f"on F(x) = (λ/2)‖x‖² with λ = {self.curvature} the iterates of some run obey "
            f"x_(t+{k}) = {obeyed}, and ‖x_t‖² {how}"
        )


def slowest(algorithm: Algorithm, whole: WholeClass, factor: Fraction | None = None) -> Mode | None:
    """Return the slowest mode on quadratics of the largest, the smallest and a middle curvature.

    Where curvatures may be as small as one likes, and a factor is stated, ever smaller ones too.

    None: the class has no such function or operator of one variable, or clients are sampled.
    """
    curvatures = _curvatures(whole)
    if not curvatures:
        return None
    least = whole.function_class.parameters.get("mu", Fraction(0))
    smaller = range(2, HALVINGS) if not least and factor is not None and factor < 1 else ()
    curvatures |= {max(curvatures) / 2**k for k in smaller}
    done = _run(algorithm, whole)
    modes = [_mode(done, x) for x in curvatures] if done is not None else []
    found = [mode for mode in modes if mode is not None]
    return max(found, key=lambda mode: float(mode.factor.mid()), default=None)


def _curvatures(whole: WholeClass) -> set[Fraction]:
    """Return the largest, the smallest and a middle curvature of quadratics of the class."""
    of, parts = whole.function_class, [whole.function_class, *filter(None, [whole.term])]
    least, most = of.parameters.get("mu", Fraction(0)), of.parameters.get("L")
    most = least if most is None else most
    sizes = any(condition.bound for part in parts for condition in part.conditions)
    if of.saddle or of.composed or whole.level or sizes:
        return set()
    return {x for x in (least, (least + most) / 2, most) if x > 0}


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


def _run(algorithm: Algorithm, whole: WholeClass) -> _Round | None:
    """Run a round from any state; None if there are several outcomes of sampling."""
    made = round_from_any_state(algorithm, whole.conditions, whole.clients, ours=True)
    if made.outcomes > 1:
        return None
    states = made.first, made.state
    begun, ended = (
        [v for of in state if isinstance(of, GramVector) for v in of.entries.reshape(-1)]
        for state in states
    )
    iterate = entries_of(getattr(made.first, algorithm.iterate).mean(0)).reshape(-1)[0]
    return _Round(made.problem.asked, begun, ended, iterate, bool(made.inexact))


def runs(algorithm: Algorithm, whole: WholeClass) -> Iterator[tuple[str, np.ndarray]]:
    """Yield ‖x_t − x*‖² of runs in doubles on quadratics of the class, from 1 at t = 0 on.

    They are runs as users have them, with oracles of a problem: no replay answers there. There are
    none where clients are sampled, or the quadratics lack an oracle that the algorithm asks.
    """
    kinds = {relation.kind for relation in whole.relations}
    curvatures = _curvatures(whole)
    if not curvatures or whole.term or algorithm.needs not in OFFERS["field"]:
        return
    low, high, n = float(min(curvatures)), float(max(curvatures)), whole.clients
    mixed = [np.linspace(low, high, n)] if n > 1 and not kinds & ALIKE else []
    for own in (np.full(n, high), np.full(n, low), *mixed):
        around_one = tuple((((0.0, -x), (1.0, 0.0)),) for x in own.tolist())
        problem = PiecewiseLosses(clients=n, gradients=around_one, tails="linear")
        ctx = NoiselessContext(n, dtype=torch.float64, device="cpu")

        def left(view: States) -> Reduction:
            return each("round", sq(view.mean(algorithm.iterate) - 1))

        try:
            made = run(problem, algorithm, ctx, rounds=ROUNDS, left=left, kernels=False)
        except Drew:
            return
        squares = np.full(ROUNDS, np.inf)  # where it did not stay finite
        squares[: len(made.values)] = made.values[:, 0]
        said = ", ".join(f"{x:g}" for x in own)
        yield f"on F_i(x) = (λ_i/2)(x − x*)² with λ = ({said})", squares


def _mode(done: _Round, curvature: Fraction) -> Mode | None:
    """Return the slowest mode on a quadratic; None if the state alone does not say what follows."""
    obeyed = _recurrence(done, curvature)
    if obeyed is None:
        return None
    scale = lcm(*(q.denominator for q in obeyed))
    roots: Any = fmpz_poly([*(int(-q * scale) for q in obeyed), scale]).complex_roots()
    largest = max((abs(z) for z, _ in roots), key=lambda size: float(size.mid()))
    return Mode(curvature, tuple(obeyed), largest * largest, done.rounded)


def _recurrence(done: _Round, curvature: Fraction) -> list[Fraction] | None:
    """Return q_0, …, q_{k−1}; None if the state alone does not say what follows."""
    every = range(len(done.asked.vectors))
    equations = [
        triple.gradient
        - triple.point * (of.parameters.get("mu", Fraction(0)) if of.term else curvature)
        for of, triples in zip(done.asked.classes, done.asked.triples, strict=True)
        for triple in triples
    ]
    free = null_space(_matrix(equations, every))
    # the round as a map of free unknowns: any one that takes the first state to the second
    step = _solved(_matrix(done.begun, every) * free, _matrix(done.ended, every) * free)
    rows = [_matrix([done.iterate], every) * free]
    if step is None or rows[0] == rows[0] * 0:
        return None
    while True:
        rows.append(rows[-1] * step)
        stacked = fmpq_mat([r.tolist()[0] for r in rows])
        dependent = null_space(stacked.transpose())
        if dependent.ncols():
            found = [dependent[j, 0] for j in range(len(rows))]
            return [fraction(-c / found[-1]) for c in found[:-1]]


def _matrix(vectors: Sequence[Vector], every: range) -> fmpq_mat:
    """Return vectors as the rows of a matrix."""
    return fmpq_mat([[rational(v.coefficients.get(j, 0)) for j in every] for v in vectors])


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
