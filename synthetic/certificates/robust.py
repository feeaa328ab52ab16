r"""Certified optima of robust learning for any convex losses: ``robust_optimum``.

min over ‖x‖ ≤ B of R(x), the worst case over weights of ℓ_1(x) … ℓ_n(x) (``penalised``). At any x
and for any weights p that are allowed, with g = Σ p_i ∇ℓ_i(x),

    V(p) − (⟨g, x⟩ + B‖g‖)  ≤  min R  ≤  R(x),

as V(p) is convex in x and lies below R; R(x) is bounded by duality. Points come from Newton's
method (``smooth``). Where R has kinks (a radius, CVaR) it is made smooth by −μ D(p, q), q the
weights found last and μ falling: by this method of multipliers p becomes optimal too.

Convexity is tested by every two points that were visited, ℓ_i(y) ≥ ℓ_i(x) + ⟨∇ℓ_i(x), y − x⟩, and
so are gradients: points lie around each iterate, one along each axis, and some all over the ball.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch

from driftproof.synthetic.certificates.penalised import Ambiguity, divergence_of
from driftproof.synthetic.certificates.smooth import (
    frank_wolfe_gap,
    into_ball,
    minimise_smooth_on_ball,
)
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.problem import Solution
from driftproof.toolkit.rounded import coarsely, rounding

Function = Callable[[Any], Any]
ROUNDS, SHADOWS, PROBES = 40, 4, 32
"""The most values of μ; runs with coarse rounding; points at random that test convexity too."""
RISES = 1e-100
"""The least weight from which the next ones are measured: one that underflowed may rise."""
KEPT = 2**22
"""The most numbers of gradients that are kept to test pairs of points: the oldest are dropped."""


def robust_optimum(
    losses: Function,
    gradients: Function | None = None,
    *,
    divergence: Literal["kl", "chi2", "cvar"],
    dim: int,
    ball: float,
    penalty: float | None = None,
    radius: float | None = None,
    samples: int | None = None,
    start: np.ndarray | None = None,
) -> Solution:
    r"""Enclose min over ‖x‖ ≤ ball of the worst case over weights p of convex losses.

    With a penalty λ the worst case is max_p Σ p_i ℓ_i(x) − λ D(p), with a radius ρ it is
    max Σ p_i ℓ_i(x) over D(p) ≤ ρ; D = Σ p_i log(n p_i) for "kl", (n/2) Σ (p_i − 1/n)² for "chi2".
    "cvar" has a radius in (0, 1], its level α: the mean of the worst share α of the losses.

    Convexity is the caller's declaration: the enclosure holds if each ℓ_i is convex on the ball and
    ``gradients`` are its gradients. What every two visited points say of that is tested.

    The larger of (x − 1)² and (x + 1)² is least at 0:

    >>> found = robust_optimum(
    ...     lambda x: np.stack([(x[0] - 1) ** 2, (x[0] + 1) ** 2]),
    ...     lambda x: 2 * np.stack([x - 1, x + 1]),
    ...     divergence="cvar", radius=0.5, dim=1, ball=3.0)
    >>> found.low <= 1 <= found.high, found.high - found.low < 1e-8
    (True, True)
    >>> found.minimiser.tolist(), found.certificate["weights"].tolist()
    ([0.0], [0.5, 0.5])

    Args:
        losses: x [dim] → ℓ(x) [samples], in numpy; or in torch, if there are no ``gradients``.
        gradients: x → ∇ℓ_i(x), [samples, dim]; None: by automatic differentiation of ``losses``.
        dim: the length of x.
        ball: B, about 0.
        penalty, radius: λ, or ρ (α for "cvar"): one of them, positive.
        samples: how many losses there are (by default as many as ``losses`` gives).
        start: where to begin (0 by default); the enclosure does not rest on it.

    Returns:
        ``low`` ≤ min R ≤ ``high``; the ``minimiser``, where R is at most ``high``; and in the
        certificate its ``gap`` (high less low), ``rounding`` (the part of it that bounds rounding),
        the ``weights`` p of the lower bound and ``multipliers`` (λ, ν) of the upper one, how many
        ``points`` were visited and ``pairs`` tested, and in words what all ``rests_on``.

    Raises:
        DriftproofError: a parameter is out of its range; the functions give other shapes, or
            numbers that are not finite; two points show that a loss is not convex, or that a
            gradient is wrong.
    """
    _check(divergence, penalty, radius, dim=dim, ball=ball)
    ambiguity = Ambiguity(divergence, penalty, radius)
    asked = _Asked(losses, gradients, dim, samples)
    x = np.zeros(dim) if start is None else into_ball(np.asarray(start, dtype=float), ball)
    first, steep = asked(x)
    scale = float(np.ptp(first)) + ball * float(np.linalg.norm(steep, axis=1).max())
    q, pull = np.full(len(first), 1 / len(first)), 0.0 if penalty else scale
    best: tuple[float, Any] = (np.inf, None)
    waited = 0

    def smoothed(at: np.ndarray) -> tuple[float, np.ndarray]:
        values, slopes = asked(at)
        p, _ = ambiguity.worst(values, q, pull)
        away = pull * divergence_of(p, ambiguity.divergence, q) if pull else 0.0
        return ambiguity.value(values, p) - away, p @ slopes

    def bounds(values: np.ndarray, slopes: np.ndarray, made: Any) -> np.ndarray:
        x, p, multipliers = made
        low = ambiguity.value(values, p) - frank_wolfe_gap(x, p @ slopes, ball)
        return np.array([low, ambiguity.upper(values, multipliers)])

    for _ in range(ROUNDS if pull else 1):
        x = minimise_smooth_on_ball(smoothed, x, ball)
        values, slopes = asked(x)
        q = ambiguity.worst(values, q, pull)[0]
        made = x, ambiguity.allowed(q), ambiguity.worst(values)[1]
        (low, high), gap = bounds(values, slopes, made), frank_wolfe_gap(x, made[1] @ slopes, ball)
        # either p is as good as it gets, or rounding keeps Newton's method from the optimum
        small = high - low < 1e-8 * max(1.0, abs(high)) or gap > (high - low) / 2
        waited = waited + 1 if small and high - low >= best[0] / 2 else 0
        q = np.maximum(q, RISES)
        best = min(best, (high - low, made), key=lambda known: known[0])
        if high - low <= 1e-12 * max(1.0, abs(high)) or waited > 1:
            break
        pull /= 4
    x, p, multipliers = best[1]
    values, slopes = asked(x)
    random = np.random.default_rng(0)
    for size in ball * random.random(PROBES):
        asked(into_ball(1e9 * ball * random.standard_normal(dim), size))
    pairs = asked.check(ball)
    again = [asked.derived(x, seed) for seed in range(SHADOWS)]
    size = float(abs(values).max() + 2 * ball * (p @ np.linalg.norm(slopes, axis=1)))
    exact = bounds(values, slopes, best[1])
    shadow = np.array([bounds(ell, slope, best[1]) for ell, slope, _ in again])
    off = rounding(exact, shadow, size + multipliers[0])
    low, high = (float(end) for end in exact + off * [-1, 1])
    followed = "is bounded by Monte Carlo arithmetic, but for what they do with Python's numbers"
    if not all(seen for _, _, seen in again):
        followed = "is not bounded, as they leave numpy: a few units in the last place are taken"
    return Solution(
        low,
        high,
        x,
        {
            "method": "Newton's method on the ball; duality above, the Frank–Wolfe gap below",
            "gap": high - low,
            "rounding": float(off.sum()),
            "weights": p,
            "multipliers": multipliers,
            "points": len(asked.visited),
            "pairs": pairs,
            "rests_on": [
                "each loss is convex on the ball, as was declared, "
                "which no pair of points contradicts",
                f"rounding of the losses and gradients {followed}",
            ],
        },
    )


class _Asked:
    """The caller's functions: shapes are checked, and what was visited is kept."""

    def __init__(
        self, losses: Function, gradients: Function | None, dim: int, samples: int | None
    ) -> None:
        self._losses, self._gradients, self._dim, self._samples = losses, gradients, dim, samples
        self.visited: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ℓ(x) and ∇ℓ_i(x) as arrays."""
        values, slopes, _ = self.derived(x)
        self._samples = self._samples or values.size
        wanted = (self._samples,), (self._samples, self._dim)
        finite = bool(np.isfinite(values).all() and np.isfinite(slopes).all())
        if (values.shape, slopes.shape) != wanted or not finite:
            raise DriftproofError(
                f"losses of shape {values.shape} and gradients of shape {slopes.shape} at "
                f"x = {x.tolist()}" + ", not all of them finite" * (not finite),
                f"finite numbers of shapes {wanted[0]} and {wanted[1]}",
                "mend losses or gradients; np.logaddexp(0, s) is log(1 + e^s) without overflow",
            )
        if len(self.visited) * slopes.size > KEPT:
            del self.visited[0]
        self.visited.append((x.copy(), values, slopes))
        return values, slopes

    def derived(
        self, x: np.ndarray, seed: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return ℓ(x), ∇ℓ_i(x), and with coarse rounding (of a seed) whether it was followed."""
        seen = []

        def call(function: Function, at: Any) -> Any:
            made, followed = (function(at), True) if seed is None else coarsely(function, at, seed)
            seen.append(followed)
            return made

        if self._gradients is not None:
            both = [call(function, x.copy()) for function in (self._losses, self._gradients)]
            values, slopes = (np.asarray(made, dtype=float) for made in both)
            return values, slopes, all(seen)
        at = torch.from_numpy(x.copy()).requires_grad_()
        try:
            made, why = call(self._losses, at), ""
        except (RuntimeError, TypeError) as error:  # a function in numpy, say
            made, why = None, f" ({error})"
        if getattr(made, "dtype", None) != torch.float64 or not made.requires_grad:
            raise DriftproofError(
                f"no gradients, and losses(x) that return {made}{why}",
                "a tensor [samples] of torch.float64 that torch computes from x",
                "pass gradients=…, or write the losses in torch, with data in double precision",
            )
        rows = [
            torch.autograd.grad(one, at, retain_graph=True, materialize_grads=True)[0]
            for one in made
        ]
        return made.detach().numpy(), torch.stack(rows).numpy(), all(seen)

    def check(self, ball: float) -> int:
        """Test every pair of visited points for convexity; return how many there are.

        Raises:
            DriftproofError: a loss at one point lies below its tangent at another.
        """
        points, values, slopes = (np.array(part) for part in zip(*self.visited, strict=True))
        for at, value, slope in zip(points, values, slopes, strict=True):
            below = (points - at) @ slope.T
            below += value - 1e-12 * (abs(value) + 2 * ball * np.linalg.norm(slope, axis=1))
            below -= values
            for j, i in np.argwhere(below > 0)[:1]:
                step = 1e-6 * ball * (points[j] - at) / float(np.linalg.norm(points[j] - at))
                ends = [self.derived(at + sign * step)[0][i] for sign in (1, -1)]
                raise DriftproofError(
                    f"loss {i} at y = {points[j].tolist()} is {below[j, i]:.6g} below its tangent "
                    f"at x = {at.tolist()}; along {step.tolist()} from x its gradient says "
                    f"{slope[i] @ step:.6g}, and it changes by {(ends[0] - ends[1]) / 2:.6g}",
                    "losses that are convex on the ball, and their gradients",
                    "mend the gradients where those two numbers differ (losses in torch need "
                    "none); else take a smaller ball, on which the losses are convex",
                )
        return len(points) * (len(points) - 1) // 2


def _check(divergence: str, penalty: float | None, radius: float | None, **sizes: float) -> None:
    level = divergence == "cvar"
    given = [number for number in (penalty, radius) if number is not None]
    good = divergence in ("kl", "chi2", "cvar") and len(given) == 1 and (radius or not level)
    most = 1.0 if level else np.finfo(float).max
    if not good or not 0 < given[0] <= most or not all(0 < x < np.inf for x in sizes.values()):
        told = {"divergence": divergence, "penalty": penalty, "radius": radius, **sizes}
        raise DriftproofError(
            ", ".join(f"{name}={value!r}" for name, value in told.items() if value is not None),
            'divergence "kl" or "chi2" with penalty > 0 or radius > 0 (one of the two), or "cvar" '
            "with radius in (0, 1], its level; and dim and ball above 0",
            "pass such numbers",
        )
