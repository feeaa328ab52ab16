r"""How far a run can go: what is proven of a problem around a point z, and what follows of it.

Noise has finite support. So each replicate stays within a distance of z that the constants give: an
algorithm says how that distance grows in a step (``Algorithm.radii``). In the mean it grows less:
noise of mean 0 adds to squares, not to distances. ``Around`` has the numbers that an algorithm may
use, and ``Enclosed`` is the problem as a measure sees it that is given Extents.

z is the certified minimiser (with y*(z), of a minimax problem), or the start where there is none.
Nothing depends on which: any z will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, repeat
from math import inf, isfinite, sqrt
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.composition import NoPlainPart
from driftproof.toolkit.extent import Extent, power_of
from driftproof.toolkit.located import is_shipped
from driftproof.toolkit.oracles import OFFERS, has_term, on_every_client
from driftproof.toolkit.problem import Problem

Radii: TypeAlias = Iterator[Mapping[str, float]]
"""What ``Algorithm.radii`` yields: name → radius, before the first step and after each."""


@dataclass(frozen=True)
class Around:
    r"""What is proven of a problem's oracles around z; ∞ where nothing is.

    Attributes:
        start: ‖x_0 − z‖.
        slope: max_i ‖G_i(z)‖, of the clients' expected fields.
        smoothness: ℓ, a Lipschitz constant of each G_i.
        convexity: μ, if each G_i is the gradient of a μ-strongly convex function (None: it is not).
        monotonicity: m, if each G_i is m-strongly monotone (None: it is not).
        noise: ρ, which a sample's distance from G_i(x) never exceeds.
        largest: G, which no sample of a field, or of a composition's gradient, exceeds.
        deviation: σ, where E‖sample − G_i(x)‖² ≤ σ².
        mean: whether distances are (E‖·‖⁴)^{1/4}, not those that no outcome exceeds. Of noise, too.
        mean_slope: ‖(1/n) Σ G_i(z)‖.
        size: ‖z‖.
        entries: the dimension of z.
    """

    start: float
    slope: float = inf
    smoothness: float = inf
    convexity: float | None = None
    monotonicity: float | None = None
    noise: float = inf
    largest: float = inf
    deviation: float = inf
    mean: bool = False
    mean_slope: float = inf
    size: float = inf
    entries: float = inf

    @property
    def shared(self) -> Around:
        """Return what is proven of the mean field, at a point that all clients share.

        Bounds and moduli of every G_i are bounds and moduli of their mean.
        """
        return replace(self, slope=self.mean_slope)

    @property
    def in_mean(self) -> Around:
        """What is known of distances in the mean: E‖noise‖⁴ ≤ ρ²σ², as it is within ρ."""
        small = min(self.noise, self.deviation)
        return replace(self, noise=sqrt(small * self.noise) if small else 0.0, mean=True)

    def stepped(self, r: float, eta: float) -> float:
        r"""Bound ‖x − ηg − z‖, for ‖x − z‖ ≤ r and g a minibatch of a client's field at x.

        With A = I − ηG_i we have x − ηg − z = A(x) − A(z) − ηG_i(z) − η(g − G_i(x)). The mean of
        samples within ρ of G_i(x) is within ρ of it. ‖A(x) − A(z)‖ ≤ q‖x − z‖ with

        * q = max(|1 − ημ|, |1 − ηℓ|) if G_i is the gradient of a μ-strongly convex function: then
          G_i − μI is cocoercive with 1/(ℓ − μ) (Nesterov, Lectures on Convex Optimization, 2018,
          Theorem 2.1.5), so that A, of which the reflected part is nonexpansive, is Lipschitz with
          the largest |1 − ηt| of μ ≤ t ≤ ℓ;
        * q² = 1 − 2ηm + η²ℓ² if G_i is m-strongly monotone (expand the square);
        * q = 1 + ηℓ in any case.

        Besides, ‖x − ηg − z‖ ≤ r + ηG. A mean of such points, whichever its weights, is as near.

        In the mean let a = x − ηG_i(x) − z and ξ = g − G_i(x), whose mean is 0 whatever x is. By
        E⟨a, ξ⟩‖a‖² = 0, ⟨a, ξ⟩² ≤ ‖a‖²‖ξ‖², E‖ξ‖³ ≤ (E‖ξ‖² E‖ξ‖⁴)^{1/2} and Jensen's inequality

            E‖a − ηξ‖⁴ ≤ α⁴ + 6η²σ²α² + 4η³σρ²α + η⁴ρ⁴,    α = q r + ηs ≥ (E‖a‖⁴)^{1/4}.
        """
        drift = self._contracted(r, eta) + eta * self.slope
        moved, rho, sigma = drift + eta * self.noise, eta * self.noise, eta * self.deviation
        if self.mean and isfinite(moved + sigma):
            fourth = drift**4 + 6 * (sigma * drift) ** 2 + 4 * sigma * rho**2 * drift + rho**4
            moved = min(moved, fourth**0.25)
        return min(moved, r + eta * self.largest)

    def drifted(self, apart: float, eta: float, push: float) -> float:
        r"""Bound ‖y − η(g − c_i + c) − x‖, for ‖y − x‖ ≤ apart and g as in ``stepped``, at y.

        c_i and c are control variates, ‖G_i(x) − c_i + c‖ ≤ push. As above A(y) − A(x) is shorter
        than y − x by q. Besides, each of g, c_i and c is 0 or a mean of samples, G at most.
        """
        moved = self._contracted(apart, eta) + eta * (push + self.noise)
        return min(moved, apart + 3 * eta * self.largest)

    def _contracted(self, r: float, eta: float) -> float:
        factors = [1 + eta * self.smoothness]
        if self.convexity is not None:
            factors.append(max(abs(1 - eta * self.convexity), abs(1 - eta * self.smoothness)))
        if self.monotonicity is not None:
            square = 1 - 2 * eta * self.monotonicity + (eta * self.smoothness) ** 2
            factors.append(sqrt(max(square, 0.0)))
        return min(factors) * r if r else 0.0

    def rise(self, r: float) -> float:
        """Bound ‖G_i(x) − G_i(y)‖, for ‖x − y‖ ≤ r."""
        return self.smoothness * r if r else 0.0

    def longest(self, r: float) -> float:
        """Bound ‖g‖, for g as in ``stepped``."""
        return min(self.slope + self.rise(r) + self.noise, self.largest)

    def descent(self, step_sizes: Iterable[float]) -> Iterator[float]:
        """Yield the radius of local steps of these sizes, before the first and after each.

        An average, whichever its weights, is no farther than all of them.
        """
        r = self.start
        for eta in step_sizes:
            yield r
            r = self.stepped(r, eta)

    def momentum(
        self, eta: float, weights: Iterable[float], *, looks_ahead: bool
    ) -> Iterator[tuple[float, float]]:
        r"""Yield the radii of x and of the point of the gradient, for x⁺ = x + md − ηg.

        d is the last move, 0 at first, and g is at y = x + md if the method looks ahead, else at x.
        So x⁺ is a step from y, or one from x and md; and d⁺ = md − ηg. While m is the same,
        p = x + md/(1 − m) moves to p − ηg/(1 − m), and x⁺ = (1 − m)p⁺ + mx: a step of η/(1 − m)
        from p, off by the field's rise from there to the gradient's point.
        """
        x = ahead = self.start
        move, last = 0.0, None
        for m in weights:
            carried, long = m * move, eta / (1 - m)
            at = x + carried if looks_ahead else x
            yield x, at
            off = self.rise(carried / (1 - m) - (carried if looks_ahead else 0.0))
            ahead = self.stepped(ahead, long) + long * off if last in (None, m) else inf
            after = self.stepped(at, eta) + (0.0 if looks_ahead else carried)
            after = min(after, (1 - m) * ahead + m * x)
            move, x, last = min(carried + eta * self.longest(at), x + after), after, m

    def bounded(self, eta: float, iterate: str, direction: str, times: float = 1.0) -> Radii:
        """Yield the radii of steps of η along directions no larger than G, so many times."""
        largest = self.largest * times
        for r in accumulate(repeat(eta * largest), initial=self.start):
            yield {iterate: r, direction: largest}


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
        if problem.offers == "minimax":
            lower: Any = problem
            self.z = torch.cat([self.z[: self.dim], lower.lower_solution(self.z[: self.dim])])
        if len(self.z) < len(start):
            self.z = start
        self.around = self._around(start)

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
        """Return what bounds ‖∇F‖ everywhere; of a minimax problem the field is no ∇F."""
        return inf if self._problem.offers == "minimax" else self.around.largest

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
