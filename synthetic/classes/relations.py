"""What relates clients and the start, beside the class of each client's function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from driftproof.synthetic.classes.conditions import Constraint
from driftproof.synthetic.classes.functions import positive
from driftproof.synthetic.classes.interpolation import InterpolationProblem
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm
from driftproof.toolkit.letters import shown
from driftproof.toolkit.ratios import vanishes

Kind = Literal[
    "equal",
    "shared-minimiser",
    "similar",
    "similar-everywhere",
    "start-distance",
    "start-gap",
    "start-at-minimiser",
    "start-anywhere",
    "start-gradient",
    "lower-level",
    "upper-level",
    "recurs",
    "minima-apart",
    "bounded-steps",
    "polyak-step",
    "start-apart",
]
OF_MINIMISERS = (
    "shared-minimiser",
    "similar",
    "start-distance",
    "start-at-minimiser",
    "start-anywhere",
    "minima-apart",
    "polyak-step",
)
"""Relations that speak of x*."""
OF_CLIENTS = ("equal", "shared-minimiser", "similar", "similar-everywhere", "minima-apart")
"""Relations that bound how far clients differ."""
OF_PLAIN = ("minima-apart", "bounded-steps", "polyak-step")
"""Relations of plain functions of one variable, whose gradients a run asks for."""


@dataclass(frozen=True)
class Relation:
    """A condition on the start, or on several clients.

    Attributes:
        kind: which condition it is.
        parameters: {"zeta": 1}, exact.
        loose: why a worst case over it may be too large ("": it is exact).
    """

    kind: Kind
    parameters: Mapping[str, Fraction]
    loose: str = ""

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(f'{k} = {shown(v)}' for k, v in self.parameters.items())})"

    def constraints(self, asked: InterpolationProblem) -> Iterator[Constraint]:
        """Yield what it says of a run's unknowns."""
        if self.kind in MAKERS:
            yield from MAKERS[self.kind](asked, *self.parameters.values())


def equal() -> Relation:
    """All clients have one and the same function."""
    return Relation("equal", {})


def shared_minimiser() -> Relation:
    """∇f_i(x*) = 0 for every client: each one's function is least at x*."""
    return Relation("shared-minimiser", {})


def similar(zeta: float) -> Relation:
    """(1/n) Σ_i ‖∇f_i(x*)‖² ≤ ζ²."""
    return Relation("similar", {"zeta": positive("zeta", zeta)})


def similar_everywhere(zeta: float) -> Relation:
    """(1/n) Σ_i ‖∇f_i(x) − ∇F(x)‖² ≤ ζ² at every x; a worst case is an upper bound.

    It is used at the points that every client is asked at. No conditions are known under which
    functions with it exist for given points.
    """
    return Relation(
        "similar-everywhere",
        {"zeta": positive("zeta", zeta)},
        "that gradients are similar everywhere is used at the points that all clients share alone",
    )


def minima_apart(Gamma: float) -> Relation:
    """F* − (1/n) Σ_i f_i* ≤ Γ, with f_i* = inf f_i: what clients lose by having one model."""
    return Relation("minima-apart", {"Gamma": positive("Gamma", Gamma)})


def bounded_steps(G: float) -> Relation:
    """E‖∇f_i(w)‖² ≤ G² for every client, at each w from which it takes a step.

    Those are the points at which an algorithm asks for its gradient, with the chances of what is
    sampled; nothing is said of others. So it goes with no proximal step, ``at(i)`` or ``recurs``.
    """
    return Relation("bounded-steps", {"G": positive("G", G)})


def polyak_step(factor: float = 2) -> Relation:
    """γ‖∇F(x)‖² = factor·(F(x) − F*) at each x from which a step x⁺ = x − γ∇F(x) is taken.

    So γ is what Polyak's rule gives there: his of 1969 has factor = 1, for subgradients too; Barré,
    Taylor & d'Aspremont (2020) take 2 of smooth functions, which x* alone meets unless 1/L ≤ γ ≤
    1/μ. Their rule for values, ‖∇F(x)‖² = 2L(2 − Lγ)(F(x) − F*), has factor = 2Lγ(2 − Lγ).

    γ is read off the run. An algorithm with other steps is refused, and so are several functions, a
    term, and functions that may have no x*.
    """
    return Relation("polyak-step", {"factor": positive("factor", factor)})


def start_within(R: float) -> Relation:
    """‖x_0 − x*‖² ≤ R²."""
    return Relation("start-distance", {"R": positive("R", R)})


def start_at_minimiser() -> Relation:
    """x_0 = x*."""
    return Relation("start-at-minimiser", {})


def start_anywhere(R: float, a: float) -> Relation:
    """‖x_0 − x*‖² + (a/n) Σ_i ‖c_i − ∇f_i(x*)‖² ≤ R², of any state that a round can begin with.

    c_i is what each client remembers, an unknown vector like x_0; the algorithm says what else is
    in such a state (``Algorithm.anywhere``). What is proved of one round then holds of each. Of
    several such vectors the sum is over all, each less where it goes (``Algorithm.limits``).
    """
    return Relation("start-anywhere", {"R": positive("R", R), "a": positive("a", a)})


def any_state() -> Relation:
    """A run begins at any state that a round can begin with (``Algorithm.anywhere``).

    Nothing bounds it: a measure has to be compared with one of that state.
    """
    return Relation("start-anywhere", {})


def counted() -> Relation:
    """A run begins at any state that a round can begin with, of which the number t is a letter."""
    return Relation("start-anywhere", {"counted": Fraction(1)})


def start_apart(R: float) -> Relation:
    """‖x_0 − c‖² ≤ R², of two runs on the same functions: do they come closer?

    c is unknown like x_0, and the same for all clients: a state that has both is made by
    ``Algorithm.anywhere(ctx, oracles, x_0, c)``. The functions need have no minimiser.
    """
    return Relation("start-apart", {"R": positive("R", R)})


def start_gap(delta: float) -> Relation:
    """F(x_0) − inf F ≤ Δ."""
    return Relation("start-gap", {"delta": positive("delta", delta)})


def start_gradient(norm: float) -> Relation:
    """‖∇F(x_0)‖² ≤ norm²."""
    return Relation("start-gradient", {"norm": positive("norm", norm)})


def recurs() -> Relation:
    """After the last round the state is that of the start: the run is a cycle.

    A measure of how far it moves is then 0 on every function of the class, or some cycle refutes
    that the method converges on all of them.
    """
    return Relation("recurs", {})


def lower_level() -> Relation:
    """The functions are y ↦ g_i(x, y) of a bilevel problem at a fixed x, which FedInn holds."""
    return Relation("lower-level", {})


def upper_level() -> Relation:
    """The functions are x ↦ f_i(x, y) of a bilevel problem at a fixed y, which FedOut holds."""
    return Relation("upper-level", {})


def _similar(asked: InterpolationProblem, zeta: Fraction) -> Iterator[Constraint]:
    total = GramForm()
    for client in range(asked.clients):
        gradient = asked.solution(client).gradient
        total = total + gradient * gradient / asked.clients
    yield Constraint("similar", total, zeta**2)


def _similar_everywhere(asked: InterpolationProblem, zeta: Fraction) -> Iterator[Constraint]:
    for number, point in enumerate(asked.shared_points()):
        mean, total = asked.mean(point)[0], GramForm()
        for client in range(asked.clients):
            apart = asked.at(client, point).gradient - mean
            total = total + apart * apart / asked.clients
        yield Constraint(f"similar, ({number})", total, zeta**2)


def _minima_apart(asked: InterpolationProblem, Gamma: Fraction) -> Iterator[Constraint]:
    minima = [asked.minimum(client) for client in range(asked.clients)]
    yield Constraint("minima", sum(minima, GramForm()) * Fraction(-1, asked.clients), Gamma)


def _bounded_steps(asked: InterpolationProblem, G: Fraction) -> Iterator[Constraint]:
    if asked.beyond_gradients:
        raise DriftproofError(
            "bounded_steps(G) beside a proximal step or at(i)",
            "an algorithm that asks each client for its gradient",
            "take bounded_gradients(…, G=…), say",
        )
    every = [place for points in asked.steps for place in enumerate(points)]
    for number, (client, outcomes) in enumerate(every):
        gradients = [asked.at(client, point).gradient for point in outcomes]
        parts = (g * g * p for p, g in zip(asked.chances, gradients, strict=True))
        yield Constraint(f"bounded, ({number})", sum(parts, GramForm()), G**2)


def _polyak_step(asked: InterpolationProblem, factor: Fraction) -> Iterator[Constraint]:
    several, made = asked.functions > 1, dict[GramForm, None]()  # clients may meet at one point
    along = len(asked.steps) == len(asked.moves) > 0 and not (several or asked.beyond_gradients)
    for points, (before, after) in zip(asked.steps, asked.moves, strict=True) if along else ():
        for place, point in np.ndenumerate(points):
            at, moved = asked.at(place[0], point), (point - after[place]).bare
            shares = (moved.coefficients.get(j, 0) / c for j, c in at.gradient.coefficients.items())
            step = next(shares, 0)
            along &= not vanishes(step) and moved == at.gradient * step and point == before[place]
            made[at.gradient * at.gradient * step - at.value * factor] = None
    if not along:
        raise DriftproofError(
            f"polyak_step(…) beside {'several functions' if several else 'other steps'}",
            "one function, and steps x − γ∇F(x) with one gradient each",
            "take FedAvg(step_size=γ) with clients=1, or with equal()",
        )
    for number, quantity in enumerate(made):
        yield Constraint(f"Polyak, ({number})", quantity, equality=True)


def _start_distance(asked: InterpolationProblem, R: Fraction) -> Iterator[Constraint]:
    yield Constraint("start", asked.start * asked.start, R**2)


def _start_anywhere(asked: InterpolationProblem, *bounds: Fraction) -> Iterator[Constraint]:
    if len(bounds) < 2:  # any state
        return
    R, a = bounds
    total = asked.start * asked.start
    for away in asked.away():
        total = total + away * away * a / asked.clients
    yield Constraint("start", total, R**2)


def _start_apart(asked: InterpolationProblem, R: Fraction) -> Iterator[Constraint]:
    apart = asked.start - asked.own[0]
    yield Constraint("start", apart * apart, R**2)


def _start_gap(asked: InterpolationProblem, delta: Fraction) -> Iterator[Constraint]:
    yield Constraint("start", asked.gap(asked.start), delta)


def _start_gradient(asked: InterpolationProblem, norm: Fraction) -> Iterator[Constraint]:
    gradient = asked.mean(asked.start)[0]
    yield Constraint("start", gradient * gradient, norm**2)


def bounded_below(asked: InterpolationProblem) -> Iterator[Constraint]:
    """Yield ‖∇F(x)‖²/(2L) − F(x) ≤ 0, F* = 0, at every point that all clients were asked at.

    An L-smooth F decreases by ‖∇F(x)‖²/(2L) in one step of 1/L. For one client it is exact (Drori
    & Shamir 2020); of several it is necessary.
    """
    L = max(of.parameters["L"] for of in asked.classes)
    for number, point in enumerate(asked.shared_points()):
        gradient, value = asked.mean(point)
        yield Constraint(f"bounded below, ({number})", gradient * gradient / (2 * L) - value)


MAKERS: Mapping[str, Callable[..., Iterator[Constraint]]] = {
    "similar": _similar,
    "similar-everywhere": _similar_everywhere,
    "start-distance": _start_distance,
    "start-gap": _start_gap,
    "start-anywhere": _start_anywhere,
    "start-apart": _start_apart,
    "start-gradient": _start_gradient,
    "minima-apart": _minima_apart,
    "bounded-steps": _bounded_steps,
    "polyak-step": _polyak_step,
}
