r"""Laws of a term h: what ``prox``, ``project`` and ``linear_minimiser`` return.

z = prox(x, t) of a convex h if and only if (x − z)/t is a subgradient of h at z,

    h(y) ≥ h(z) + ⟨(x − z)/t, y − z⟩   for every y,

which is looked at near z, and at other values of prox (there it is firm nonexpansiveness). For a
set h is 0 there, and y are its points.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from driftproof.synthetic.audit.asked import REPLICATES, points
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import OFFERS, has_term
from driftproof.toolkit.problem import Problem

TIMES, SCALES, STEPS = (0.1, 1.0, 10.0), (0.3, 3.0), (1e-3, 0.1, 1.0)
"""Values of t, sizes of points, and distances of y from z."""


def audit_term(problem: Problem) -> None:
    """Raise unless the oracles of a problem's term, or of implicit steps, are what they say."""
    words = OFFERS[problem.offers]
    if not has_term(problem) and "implicit" not in words:
        return
    oracles: Any = problem.oracles(torch.float64)
    start = torch.from_numpy(problem.start()).expand(problem.clients, 1, -1).mT
    if "set" in words:
        _check_inside(problem, oracles, "start()", start)
    for scale in SCALES:
        x = scale * points(problem, oracles).x
        for t in TIMES:
            z = oracles.prox(x, t)
            if "set" in words:
                _check_inside(problem, oracles, "prox of the oracles", z)
            nearby = [z + step * torch.roll(x, 1, 2) for step in STEPS]
            nearby += [z - step * torch.roll(x, 1, 2) for step in STEPS]
            for y in (torch.roll(z, 1, 2), start.expand_as(z), *nearby):
                _check_prox(problem, oracles, x, t, z, y)
        if "compact-set" in words:
            v = oracles.linear_minimiser(x)
            _check_inside(problem, oracles, "linear_minimiser of the oracles", v)
            for y in (torch.roll(v, 1, 2), oracles.project(-10 * x), oracles.project(v - x)):
                _check_least(problem, x, v, y)


def _check_prox(problem: Problem, oracles: Any, x: Tensor, t: float, z: Tensor, y: Tensor) -> None:
    if "set" in OFFERS[problem.offers]:
        y = oracles.project(y)
    slope = ((x - z) / t * (y - z)).sum(1)
    at_z, at_y = (_term(problem, oracles, of) for of in (z, y))
    size = sum(part.abs() for pair in (at_z, at_y) for part in pair)
    (h_z, h_y), room = (of[0] - of[1] for of in (at_z, at_y)), 1e-9 * (1 + size + slope.abs())
    wrong = ~((h_z + slope - h_y <= room) & h_z.isfinite())
    if bool(wrong.any()):
        i, k = wrong.nonzero()[0].tolist()
        raise DriftproofError(
            f"prox of {problem.leaf_name}'s oracles: at x = {_shown(x, i, k)}, t = {t:g} it "
            f"returned z = {_shown(z, i, k)}, where h = {float(h_z[i, k]):.6g}; but at "
            f"y = {_shown(y, i, k)} h = {float(h_y[i, k]):.6g} is below "
            f"h(z) + ⟨x − z, y − z⟩/t = {float((h_z + slope)[i, k]):.6g}",
            "argmin_z h(z) + ‖z − x‖²/(2t) of a convex h, for every t > 0",
            "mend prox of the oracles, or what it is of: objective less smooth_part, or mean_loss",
        )


def _term(problem: Problem, oracles: Any, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return two numbers whose difference is what prox is of, at y, [clients, replicates] each."""
    if not has_term(problem):
        values = oracles.mean_loss(y)
        return values, torch.zeros_like(values)
    flat = y.transpose(0, 1).flatten(1)
    parts = (problem.objective(flat), problem.smooth_part(flat))
    whole, smooth = (part.reshape(len(y), REPLICATES) for part in parts)
    return whole, smooth


def _check_inside(problem: Problem, oracles: Any, whose: str, z: Tensor) -> None:
    away = (oracles.project(z) - z).norm(dim=1)
    if bool((~(away <= 1e-9 * (1 + z.norm(dim=1)))).any()):
        raise DriftproofError(
            f"{whose} of {problem.leaf_name}: a point that project moves by {float(away.max()):g}",
            "points of the set, which project leaves where they are",
            f"mend {whose}, or project",
        )


def _check_least(problem: Problem, g: Tensor, v: Tensor, y: Tensor) -> None:
    least, other = (g * v).sum(1), (g * y).sum(1)
    wrong = ~(least <= other + 1e-9 * (1 + least.abs() + other.abs()))
    if bool(wrong.any()):
        i, k = wrong.nonzero()[0].tolist()
        raise DriftproofError(
            f"linear_minimiser of {problem.leaf_name}'s oracles: at g = {_shown(g, i, k)} it "
            f"returned v = {_shown(v, i, k)} with ⟨g, v⟩ = {float(least[i, k]):.6g}, but "
            f"⟨g, y⟩ = {float(other[i, k]):.6g} at y = {_shown(y, i, k)} of the set",
            "argmin of ⟨g, v⟩ over the set",
            "mend linear_minimiser of the oracles, or project",
        )


def _shown(x: Tensor, client: int, replicate: int) -> str:
    return f"({', '.join(f'{float(v):.6g}' for v in x[client, :6, replicate])})"
