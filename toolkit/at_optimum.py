r"""Constants at the optimum that follow from a certified minimiser, of every family.

x̂ is the point that a solution names, and r bounds its distance from a minimiser x*
(``Problem.minimiser_error``). Where each ∇f_i is L-Lipschitz and f_i μ-strongly convex,

    R = ‖x_0 − x*‖ ≤ ‖x_0 − x̂‖ + r,
    ζ_* = (mean ‖∇f_i(x*)‖²)^½ ≤ (mean ‖∇f_i(x̂)‖²)^½ + Lr    (Minkowski's inequality),
    Γ = F* − mean f_i* = mean (f_i(x*) − f_i*) ≤ ζ_*²/(2μ),

and a family that certifies the clients' infima has Γ itself (``Problem.minima_gap``). Where there
are several minimisers, x* is one of them: a statement about any of them is about this one too.

On two levels each distance says in its name whose it is: ‖x_0 − x*‖, or ‖z_0 − z*‖ of z = (x, y)
and z* = (x*, y*(x*)). ŷ is the problem's y*(x̂). Where g(x, ·) is μ_g-strongly convex and ∇_y g
L_g-Lipschitz,

    ‖ŷ − y*(x*)‖ ≤ (‖∇_y g(x̂, ŷ)‖ + L_g r)/μ_g.
"""

from math import inf
from typing import Any

import torch
from torch import Tensor

from driftproof.toolkit.oracles import OFFERS, has_term, on_every_client
from driftproof.toolkit.tolerances import STORED

DISTANCE, DISSIMILARITY, MINIMA_GAP = ("initial_distance", "gradient_dissimilarity", "minima_gap")
OF_X, OF_BOTH, FIELD = ("initial_distance_of_x", "initial_distance_of_both", "field_dissimilarity")
OF_TWO_LEVELS = frozenset({OF_X, OF_BOTH, FIELD})
"""The roles that problems with two levels have in place of R and ζ_*."""
WHICH = {
    DISTANCE: f"write {OF_X}, ‖x_0 − x*‖ of x alone, or {OF_BOTH}, ‖z_0 − z*‖ of z = (x, y)",
    DISSIMILARITY: f"write {FIELD}, of the field (∇_x f_i, −∇_y f_i) at (x*, y*) of a minimax "
    "problem; or write it in constants, of the clients' ∇f_i(x, y*(x)) at x*",
}
"""What to write for a role that may mean several things on two levels."""
AT_OPTIMUM = frozenset({DISTANCE, DISSIMILARITY, MINIMA_GAP}) | OF_TWO_LEVELS
"""The roles that are derived here."""


def constants_at_optimum(problem: Any) -> dict[str, Tensor]:
    """Return the upper ends, role → one number, or [replicates] of many members (∞: none known).

    On two levels those of ``ends_on_two_levels``; with any other variables nothing.
    """
    start, levels = torch.from_numpy(problem.start())[:, None], problem.two_levels
    if levels:
        return ends_on_two_levels(problem)
    if len(start) != problem.dim:
        return {}
    best, known = problem.minimiser, problem.constants
    away = torch.as_tensor(problem.minimiser_error, dtype=torch.float64)
    made = {DISTANCE: (start - best).norm(dim=0) + away}
    each = gradients_of_clients(problem, best)
    if each is not None:
        off = torch.where(away > 0, away * steepness(known), 0.0)
        made[DISSIMILARITY] = each.square().sum(1).mean(0).sqrt() + off
        convex = known.get("client_strong_convexity", 0.0)
        made[MINIMA_GAP] = made[DISSIMILARITY] ** 2 / torch.as_tensor(2 * convex, dtype=away.dtype)
    if problem.minima_gap is not None and not has_term(problem):  # Γ is of f alone
        gap = torch.as_tensor(problem.minima_gap, dtype=torch.float64)
        made[MINIMA_GAP] = torch.fmin(gap, made.get(MINIMA_GAP, gap))  # 0/0 says nothing
    return {role: torch.where(x.isnan(), inf, x) for role, x in made.items()}


def ends_on_two_levels(
    problem: Any, sign: int = 1, error: float | None = None
) -> dict[str, Tensor]:
    """Return ends of ‖x_0 − x*‖, ‖z_0 − z*‖ and, of a minimax problem, ζ_* of its field at z*.

    Args:
        sign: 1 of the upper ends (∞: none known), −1 of the lower ones, 0 or more.
        error: how far x̂ is from x*, at most (None: what the problem knows).
    """
    x, known, oracles = problem.minimiser, problem.constants, problem.oracles(torch.float64)
    start, y = torch.from_numpy(problem.start())[:, None], problem.lower_solution(x)
    error = problem.minimiser_error if error is None else error
    away = torch.as_tensor(error, dtype=torch.float64)
    every, others = (on_every_client(v, problem.clients) for v in (x, y))
    slopes, minimax = oracles.lower_grad(every, others, None), problem.offers == "minimax"
    fields = known.get("field_smoothness", inf) if minimax else inf
    bend = known.get("lower_smoothness", fields)  # −∇_y f is a part of the field
    modulus = known.get("lower_strong_convexity", 0.0) if problem.radius is None else 0.0
    lost = slopes.mean(0).norm(dim=0) + STORED * slopes.norm(dim=(0, 1))
    lost += bend * (away + STORED * (x.norm(dim=0) + y.norm(dim=0)))
    off = lost / torch.as_tensor(modulus, dtype=y.dtype)
    apart = [(start[: len(x)] - x, away), (start[len(x) :] - y, off)]
    of_x, of_y = ((v.norm(dim=0) + sign * by).clamp(min=0.0) for v, by in apart)
    made = {OF_X: of_x, OF_BOTH: of_x.hypot(of_y)}
    if minimax:
        size = (
            oracles.field_grad(torch.cat((every, others), 1), None).square().sum(1).mean(0).sqrt()
        )
        made[FIELD] = (size + sign * steepness(known) * away.hypot(off)).clamp(min=0.0)
    return {role: torch.where(x.isnan(), max(0.0, sign * inf), x) for role, x in made.items()}


def gradients_of_clients(problem: Any, x: Tensor) -> Tensor | None:
    """Return ∇f_i(x), [clients, dim, replicates], whose mean is ∇F (None: not to be had)."""
    if problem.has_client_gradients and not has_term(problem):
        gradients: Tensor = problem.client_gradients(x)
        return gradients
    if has_term(problem) or "field" not in OFFERS[problem.offers]:
        return None
    oracles = problem.oracles(x.dtype)
    equal = (oracles.client_weights * problem.clients - 1).abs().max() < 1e-12
    return oracles.field_grad(on_every_client(x, problem.clients), None) if equal else None


def steepness(known: Any) -> Any:
    """Return what bounds each client's L; of h + g∘f, L_h + L_g B_f² + B_g L_f."""
    if "field_smoothness" in known:
        return known["field_smoothness"]
    plain, outer, inner, steep, bend = (
        known.get(role, inf)
        for role in (
            "plain_smoothness",
            "outer_smoothness",
            "inner_gradient_bound",
            "outer_gradient_bound",
            "inner_smoothness",
        )
    )
    return plain + outer * inner * inner + steep * bend  # beyond all doubles: infinite
