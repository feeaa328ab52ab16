r"""A problem around a point z, as a measure of Extents sees it, and what is proven of it there.

z is the certified minimiser (on two levels with y*(z)), or the start where there is none. Nothing
depends on which: any z will do (``toolkit.around``).
"""

from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.around import Around
from driftproof.toolkit.composition import NoPlainPart
from driftproof.toolkit.extent import Extent, UnknownError, power_of
from driftproof.toolkit.levels import Levels
from driftproof.toolkit.oracles import OFFERS, has_term, on_every_client
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.user_traceback import is_shipped


class Enclosed:
    """A problem around z, as a measure of Extents sees it.

    Attributes:
        offers: "field", so that no measure is refused: what it gives is enclosed, or unknown.
        around: what an algorithm may use.
        z: of all that an algorithm moves, [entries, 1].
    """

    offers = "field"

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.clients, self.dim, self.start = problem.clients, problem.dim, problem.start
        # constants that are proven in a ball alone say nothing of what might leave it
        self._proven = dict(problem.constants) if problem.radius is None else {}
        start = torch.from_numpy(np.array(problem.start(), dtype=np.float64))[:, None]
        best = problem.solution.minimiser
        self.z = start if best is None else torch.from_numpy(np.array(best, np.float64))[:, None]
        self.two_levels = problem.two_levels
        if self.two_levels:
            lower: Any = problem
            self.z = torch.cat([self.z[: self.dim], lower.lower_solution(self.z[: self.dim])])
        if len(self.z) < len(start):
            self.z = start
        self.around = self._around(start)
        if self.two_levels:
            self.around = Levels.of(problem, self.z, self._proven, self.around)

    def __getattr__(self, name: str) -> NoReturn:
        raise UnknownError(f"{name} of {type(vars(self).get('_problem')).__name__}")

    def centre(self, algorithm: Algorithm, name: str, entries: int) -> Tensor:
        """Return what the radius of a field is a distance from: z, its x or y, or 0."""
        if self.two_levels and algorithm.needs != "field" and name in ("x", "y"):
            return self.z[: self.dim] if name == "x" else self.z[self.dim :]
        own = name == algorithm.iterate and entries == len(self.z)
        return self.z if own else torch.zeros((entries, 1), dtype=torch.float64)

    def _around(self, start: Tensor) -> Around:
        problem, known = self._problem, self._proven
        away, offered = float((start - self.z).norm()), OFFERS[problem.offers]
        around = Around(away, size=float(self.z.norm()), entries=len(self.z))
        if "field" in offered and problem.offers != "class":
            oracles: Any = problem.oracles(torch.float64)
            slopes = oracles.field_grad(on_every_client(self.z, problem.clients), None)
            none = oracles.field_law(1) is None
            return replace(
                around,
                slope=float(slopes.norm(dim=1).max()),
                mean_slope=float(slopes.mean(0).norm()),
                smoothness=known.get("field_smoothness", inf),
                convexity=known.get("client_strong_convexity"),
                monotonicity=known.get("field_monotonicity"),
                noise=0.0 if none else known.get("field_noise_bound", inf),
                deviation=0.0 if none else known.get("field_gradient_noise", inf),
                largest=known.get("field_gradient_bound", inf),
            )
        if "composition" in offered:
            composed: Any = problem
            shipped = is_shipped(problem) and not any(role.startswith("plain_") for role in known)
            none = shipped or isinstance(problem.oracles(torch.float64), NoPlainPart)
            sizes = ("inner_gradient_bound", "outer_gradient_bound")
            inner, outer = (known.get(role, inf) for role in sizes)
            rest = 0.0 if none else known.get("plain_gradient_bound", inf)
            # an estimate of an inner value is a mean of values, and no value itself
            if getattr(composed, "outer_everywhere", False) and inner and outer:
                return replace(around, largest=inner * outer + rest)
        return around

    @cached_property
    def _slope(self) -> Tensor:
        return self._problem.gradient(self.z[: self.dim])

    @property
    def _bend(self) -> float:
        return self._proven.get("objective_smoothness", inf)

    @property
    def _steepest(self) -> float:
        """Return what bounds ‖∇F‖ everywhere.

        On two levels ∇F = ∇_x f − ∇²_xy g [∇²_yy g]^{-1} ∇_y f of the clients' means.
        """
        if not self.two_levels:
            return self.around.largest
        roles = ("upper_gradient_bound", "lower_smoothness")
        top, cross = (self._proven.get(role, inf) for role in roles)
        modulus = self._proven.get("lower_strong_convexity", 0.0)
        return top * (1 + cross / modulus) if modulus and top else inf

    def lower_solution(self, x: Any) -> Any:
        """Enclose y*(x), ℓ_{g,1}/μ_g-Lipschitz: around y_z, which may be off by ‖∇_y g(z)‖/μ_g."""
        assert isinstance(self.around, Levels), "a problem with lower_solution has two levels"
        lower, modulus = self.around.lower, self._proven.get("lower_strong_convexity", 0.0)
        far = (lower.mean_slope + lower.rise(self._away(x))) / modulus if modulus else inf
        centre = self.z[self.dim :].expand(-1, x.shape[-1])
        return Extent.ball(centre, far, p=power_of(x))

    @property
    def minimiser(self) -> Tensor:
        """The problem's."""
        return self._problem.minimiser

    def _away(self, x: Any) -> float:
        """Return how far x may be from z, in what F depends on."""
        if not isinstance(x, Extent):
            x = Extent.ball(x, 0.0)
        centre = x.centre[..., : self.dim, :]
        far: float = float((centre - self.z[: self.dim]).norm(dim=-2).max()) + x.radius
        return far

    def gradient(self, x: Any) -> Any:
        """Enclose ∇F(x): within L‖x − z‖ of ∇F(z), and no larger than G."""
        r, centre = self._away(x), self._slope.expand(self.dim, x.shape[-1])
        wide = self._bend * r if r else 0.0
        if float(self._slope.norm()) + wide > self._steepest:
            return Extent.ball(torch.zeros_like(centre), self._steepest)
        return Extent.ball(centre, wide, p=power_of(x))

    def client_gradients(self, x: Any) -> Any:
        """Return ∇F^i(x), of which no more is known than the size."""
        like = x.new_zeros(()).expand(self.clients, self.dim, x.shape[-1]).double()
        return Extent.ball(torch.zeros(like.shape, dtype=torch.float64), self._steepest)

    own_gradients = client_gradients

    def _risen(self, x: Any) -> float:
        """Bound |F(x) − F(z)|: by ‖∇F(z)‖r + Lr²/2 (Taylor), and by Gr."""
        r = self._away(x)
        if not r or has_term(self._problem):
            return inf if r else 0.0
        return min(float(self._slope.norm()) * r + self._bend * r * r / 2, self._steepest * r)

    def objective(self, x: Any) -> Any:
        """Enclose F(x)."""
        return self._near(x, float(self._problem.objective(self.z[: self.dim])))

    def gap(self, x: Any) -> Any:
        """Enclose F(x) − inf F, which is 0 or more."""
        at = float(self._problem.objective(self.z[: self.dim])) - self._problem.solution.low
        return self._near(x, at, low=0.0)

    def _near(self, x: Any, at: float, low: float = -inf) -> Any:
        """Enclose what differs from its value at z by as much as F; r² halves the power of r."""
        like = torch.full((x.shape[-1],), at, dtype=torch.float64)
        return Extent.ball(like, self._risen(x), low, p=power_of(x) / 2)
