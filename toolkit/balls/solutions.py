"""What a problem knows of inf F and of where it is attained, in balls."""

from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from torch import Tensor

from driftproof.toolkit.balls.operations import hull, root
from driftproof.toolkit.balls.tensor import Balls, RefusedError, lift
from driftproof.toolkit.oracles import has_term, on_every_client
from driftproof.toolkit.problem import P, Solution, with_overrides
from driftproof.toolkit.tolerances import STORED

UNKNOWN = "nothing says how far the minimiser may be off"
"""Why a measure of a minimiser is refused: it is what a solver returned."""


def enclosing(problem: P) -> P:
    """Return a problem whose solution is enclosed: ``low`` and ``high`` are one ball of inf F.

    A true minimiser x* lies within r of the x that the solution names: r = ‖∇F(x)‖/μ where F is
    μ-strongly convex; 0 of an exact solution; a rounding error of a closed form. With L-smoothness

        F(x) − ‖∇F(x)‖ r − (L/2) r² ≤ F(x*) = inf F ≤ F(x).

    Of F = f + h, x is first moved by a proximal step, and ∇F is a subgradient that it gives.
    Without r or L, inf F lies between the solution's ends, which were rounded. At balls its oracles
    are ``exact_oracles``, made once.
    """
    solution = cached_property(lambda of: _enclosed(of, problem.solution))
    held = cached_property(lambda _: problem.exact_oracles(Balls.of(problem.start())))

    def oracles_for(of: Any, x: Tensor) -> Any:
        return of.oracles_of_balls if isinstance(x, Balls) else problem.oracles_for(x)

    return with_overrides(
        problem,
        solution=solution,
        minimiser=property(_minimiser),
        oracles_of_balls=held,
        oracles_for=oracles_for,
    )


def _minimiser(problem: Any) -> Balls:
    if problem.solution.minimiser is None:
        raise RefusedError(UNKNOWN)
    point: Balls = problem.solution.minimiser[:, None]
    return point


def _enclosed(problem: Any, known: Solution) -> Solution:
    away, infimum = None, None
    if known.minimiser is not None:
        with suppress(RefusedError):
            away, infimum = _around(problem, known)
    if infimum is None:
        start = abs(lift(problem.objective(Balls.of(problem.start())[:, None])).item())
        infimum = hull(known.low, known.high)
        infimum = infimum + arb(0, 1) * (arb(STORED) * (start + abs(infimum))).upper()
    best = None if away is None else Balls(lift(known.minimiser) + arb(0, 1) * away)
    value: Any = Balls(np.array(infimum))
    return Solution(value, value, best, known.certificate)  # type: ignore[arg-type]


def _around(problem: Any, known: Solution) -> tuple[arb | None, arb | None]:
    """Return r and inf F, each None where nothing is known of it."""
    x, start = lift(known.minimiser), problem.start()[: problem.dim]
    size = float(np.linalg.norm(start)) + float(sum(map(abs, x)))
    value = lift(problem.objective(Balls(x)[:, None])).item()
    if known.exact:
        return arb(0), value
    bend, modulus = (
        arb(problem.constants.get(role, 0.0)) * (1 + sign * arb(STORED))
        for role, sign in (("objective_smoothness", 1), ("strong_convexity", -1))
    )
    moved = arb(0)
    if has_term(problem):
        x, moved, slope = _after_a_step(problem, x, bend)
        value = lift(problem.objective(Balls(x)[:, None])).item()
    else:
        slope = _norm(lift(problem.gradient(Balls(x)[:, None])))
    if modulus > 0:
        away = (slope / modulus).upper()
    else:
        away = arb(STORED * size) + moved
        # so near a minimiser F is not any steeper
        if known.low < known.high or (bend > 0 and slope > bend * away):
            return None, None
    least = value - slope * away - bend * away * away / 2
    return (away + moved).upper(), hull(least, value) if bend > 0 else None


def _after_a_step(problem: Any, x: np.ndarray, bend: arb) -> tuple[np.ndarray, arb, arb]:
    """Return z = prox(x − t∇f(x), t), t = 1/L, ‖x − z‖, and the size of a subgradient of F at z.

    (x − z)/t − ∇f(x) is a subgradient of h at z, so this is at most (1/t + L)‖x − z‖.
    """
    if not bend > 0:
        raise RefusedError(UNKNOWN)
    at, t = Balls(x)[:, None], Balls(np.array(1 / bend))
    before = on_every_client(at - t * problem.gradient(at), problem.clients)
    z = lift(problem.oracles_for(at).prox(before, t)[0])[:, 0]
    moved = _norm(x - z)
    return z, moved, (2 * bend * moved).upper()


def _norm(vector: np.ndarray) -> arb:
    return root(sum(g * g for g in vector.flat)).upper()
