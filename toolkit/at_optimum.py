r"""Constants at the optimum that follow from a certified minimiser, of every family.

x̂ is the point that a solution names, and r bounds its distance from a minimiser x*
(``Problem.minimiser_error``). Where each ∇f_i is L-Lipschitz and f_i μ-strongly convex,

    R = ‖x_0 − x*‖ ≤ ‖x_0 − x̂‖ + r,
    ζ_* = (mean ‖∇f_i(x*)‖²)^½ ≤ (mean ‖∇f_i(x̂)‖²)^½ + Lr    (Minkowski's inequality),
    Γ = F* − mean f_i* = mean (f_i(x*) − f_i*) ≤ ζ_*²/(2μ),

and a family that certifies the clients' infima has Γ itself (``Problem.minima_gap``). Where there
are several minimisers, x* is one of them: a statement about any of them is about this one too.
"""

from math import inf
from typing import Any

import torch
from torch import Tensor

from driftproof.toolkit.oracles import OFFERS, has_term, on_every_client

DISTANCE, DISSIMILARITY, MINIMA_GAP = ("initial_distance", "gradient_dissimilarity", "minima_gap")
AT_OPTIMUM = frozenset({DISTANCE, DISSIMILARITY, MINIMA_GAP})
"""The roles that are derived here."""


def constants_at_optimum(problem: Any) -> dict[str, Tensor]:
    """Return the upper ends, role → one number, or [replicates] of many members (∞: none known).

    On two levels it is R alone, of x alone; with any other variables nothing.
    """
    start, levels = torch.from_numpy(problem.start())[:, None], problem.two_levels
    if len(start) != problem.dim and not levels:
        return {}
    best, size = problem.minimiser, problem.dim
    away = torch.as_tensor(problem.minimiser_error, dtype=torch.float64)
    made = {DISTANCE: (start[:size] - best[:size]).norm(dim=0) + away}
    if levels:
        return made
    each, known = gradients_of_clients(problem, best), problem.constants
    if each is not None:
        off = torch.where(away > 0, away * steepness(known), 0.0)
        made[DISSIMILARITY] = each.square().sum(1).mean(0).sqrt() + off
        convex = known.get("client_strong_convexity", 0.0)
        made[MINIMA_GAP] = made[DISSIMILARITY] ** 2 / torch.as_tensor(2 * convex, dtype=away.dtype)
    if problem.minima_gap is not None and not has_term(problem):  # Γ is of f alone
        gap = torch.as_tensor(problem.minima_gap, dtype=torch.float64)
        made[MINIMA_GAP] = torch.fmin(gap, made.get(MINIMA_GAP, gap))  # 0/0 says nothing
    return {role: torch.where(x.isnan(), inf, x) for role, x in made.items()}


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
