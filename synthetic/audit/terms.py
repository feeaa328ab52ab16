r"""Laws of a term h: what ``prox``, ``project`` and ``linear_minimiser`` return.

z = prox(x, t) of a convex h if and only if s = (x − z)/t is a subgradient of h at z,

    h(y) ≥ h(z) + ⟨s, y − z⟩   for every y,

which is looked at near z, and at other values of prox (there it is firm nonexpansiveness). Of a set
y are its points, and h is 0 there; z = linear_minimiser(x) is the same with s = −x.
"""

from typing import Any

import torch
from torch import Tensor

from driftproof.synthetic.audit.oracle_calls import points
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import OFFERS, has_term
from driftproof.toolkit.problem import Problem, with_overrides
from driftproof.toolkit.user_traceback import is_shipped

TIMES, SCALES, STEPS = (0.1, 0.37, 1.0, 10.0, 57.0), (0.3, 3.0), (1e-3, 0.1, 1.0)
"""Values of t, sizes of points, and distances of y from z."""
WANTED = {
    "prox": "argmin_z h(z) + ‖z − x‖²/(2t) of a convex h, for every t > 0",
    "project": "the point of the set that is nearest to x",
    "linear_minimiser": "argmin_z ⟨x, z⟩ over the set, s = −x",
}


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
        answers = [("prox", (z := oracles.prox(x, t)), (x - z) / t) for t in TIMES]
        if "compact-set" in words:
            answers.append(("linear_minimiser", oracles.linear_minimiser(x), -x))
        for method, z, s in answers:
            _check_answer(problem, oracles, method, x, z, s)


def audited(problem: Problem) -> Problem:
    """Return a user's problem of which every answer about its term is looked at, in doubles.

    What ``audit_term`` looks at are a few t and x; a run may ask at others.
    """
    if is_shipped(problem) or not (has_term(problem) or "implicit" in OFFERS[problem.offers]):
        return problem

    def oracles(
        self: Problem, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> Any:
        made = problem.oracles(dtype, device, clients)
        return _Audited(problem, made) if dtype == torch.float64 else made

    return with_overrides(problem, oracles=oracles)


class _Audited:
    """Oracles whose answers about the term are looked at."""

    def __init__(self, problem: Problem, oracles: Any) -> None:
        self._problem, self._oracles = problem, oracles

    def __getattr__(self, name: str) -> Any:
        return getattr(self._oracles, name)

    def prox(self, x: Tensor, t: Any) -> Tensor:
        """Return the problem's own answer."""
        return self._looked("prox", x, self._oracles.prox(x, t), t)

    def project(self, x: Tensor) -> Tensor:
        """Return the problem's own answer."""
        return self._looked("project", x, self._oracles.project(x), 1)

    def linear_minimiser(self, g: Tensor) -> Tensor:
        """Return the problem's own answer."""
        return self._looked("linear_minimiser", g, self._oracles.linear_minimiser(g), None)

    def _looked(self, method: str, x: Tensor, z: Tensor, t: Any) -> Tensor:
        if type(x) is Tensor and type(z) is Tensor and bool(x.isfinite().all()):
            s = -x if t is None else (x - z) / t
            _check_answer(self._problem, self._oracles, method, x, z, s)
        return z


def _check_answer(
    problem: Problem, oracles: Any, method: str, x: Tensor, z: Tensor, s: Tensor
) -> None:
    if "set" in OFFERS[problem.offers]:
        _check_inside(problem, oracles, f"{method} of the oracles", z)
    start = torch.from_numpy(problem.start())[:, None]
    other = torch.roll(x, 1, 2) if x.shape[2] > 1 else torch.roll(x, 1, 1) + x.norm() / 2
    around = [z + sign * h * other for h in STEPS for sign in (1, -1)]
    for y in (torch.roll(z, 1, 2), start.expand_as(z), -10 * x, *around):
        _check_subgradient(problem, oracles, method, x, z, s, y)


def _check_subgradient(
    problem: Problem, oracles: Any, method: str, x: Tensor, z: Tensor, s: Tensor, y: Tensor
) -> None:
    if "set" in OFFERS[problem.offers]:
        y = oracles.project(y)
    (h_z, near), (h_y, far) = (_term(problem, oracles, of) for of in (z, y))
    rise = (s * (y - z)).sum(1)
    holds = h_z + rise - h_y <= 1e-9 * (1 + near + far + rise.abs())
    wrong = ~(holds & h_z.isfinite())
    if bool(wrong.any()):
        i, k = wrong.nonzero()[0].tolist()
        shown = [f"({', '.join(f'{v:.6g}' for v in of[i, :6, k].tolist())})" for of in (x, z, s, y)]
        raise DriftproofError(
            f"{method} of {problem.leaf_name}'s oracles: at x = {shown[0]} it returned "
            f"z = {shown[1]}, where h = {float(h_z[i, k]):.6g}, with s = {shown[2]}; but at "
            f"y = {shown[3]} h = {float(h_y[i, k]):.6g} is below "
            f"h(z) + ⟨s, y − z⟩ = {float((h_z + rise)[i, k]):.6g}",
            WANTED[method],
            f"mend {method} of the oracles, or what h is: objective less smooth_part, or mean_loss",
        )


def _term(problem: Problem, oracles: Any, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return what prox is of at y, and the size of what it is computed from."""
    if not has_term(problem):
        values = oracles.mean_loss(y)
        return values, values.abs()
    flat = y.transpose(0, 1).flatten(1)
    parts = (problem.objective(flat), problem.smooth_part(flat))
    whole, smooth = (part.reshape(len(y), -1) for part in parts)
    return whole - smooth, whole.abs() + smooth.abs()


def _check_inside(problem: Problem, oracles: Any, whose: str, z: Tensor) -> None:
    away = (oracles.project(z) - z).norm(dim=1)
    if bool((~(away <= 1e-9 * (1 + z.norm(dim=1)))).any()):
        raise DriftproofError(
            f"{whose} of {problem.leaf_name}: a point that project moves by {float(away.max()):g}",
            "points of the set, which project leaves where they are",
            f"mend {whose}, or project",
        )
