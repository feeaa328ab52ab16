r"""How far a run can go: what is proven of a problem's oracles around a point z.

Noise has finite support. So each replicate stays within a distance of z that the constants give: an
algorithm says how that distance grows in a step (``Algorithm.radii``). In the mean it grows less:
noise of mean 0 adds to squares, not to distances. ``Around`` has the numbers that an algorithm may
use. Nothing depends on which point z is (``toolkit.reach``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, repeat
from math import inf, sqrt
from typing import Self, TypeAlias

Radii: TypeAlias = Iterator[Mapping[str, float]]
"""What ``Algorithm.radii`` yields: name → radius, before the first step and after each."""
HUGE = 1e60
"""Beyond it a distance is of no use, and its fourth power no number."""


@dataclass(frozen=True)
class Around:
    r"""What is proven of a problem's oracles around z; ∞ where nothing is.

    What the methods bound they bound in the mean too: ``stepped`` where its draw is a new one, the
    others by triangle inequalities and Lipschitz constants of the norm (E‖·‖⁴)^{1/4}.

    Attributes:
        start: ‖x_0 − z‖.
        slope: max_i ‖G_i(z)‖, of the clients' expected fields.
        smoothness: ℓ, a Lipschitz constant of each G_i.
        convexity: μ, if each G_i is the gradient of a μ-strongly convex function (None: it is not).
        monotonicity: m, if each G_i is m-strongly monotone (None: it is not).
        noise: ρ, which a sample's distance from G_i(x) never exceeds.
        largest: G, which no sample of a field, or of a composition's gradient, exceeds.
        deviation: σ, where E‖sample − G_i(x)‖² ≤ σ².
        curvature: what the eigenvalues of every sample's derivative lie between.
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
    curvature: tuple[float, float] = (-inf, inf)
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
    def in_mean(self) -> Self:
        """What is known of distances in the mean: E‖noise‖⁴ ≤ ρ²σ², as it is within ρ."""
        small = min(self.noise, self.deviation)
        noise = sqrt(small * self.noise) if small else 0.0
        return replace(self, noise=noise, mean=True)

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
        if self.mean and moved + sigma < HUGE:
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

    def curved(self, eta: float) -> float:
        """Bound ‖I − ηH‖, for H a sample's derivative, symmetric, or a mean of such."""
        return max(abs(1 - eta * end) for end in self.curvature)

    def reduced(
        self, eta: float, steps: int, push: float
    ) -> tuple[list[tuple[float, float]], float]:
        r"""Bound local steps of variance reduction, y⁺ = y − η(g(y; ξ) − g(x; ξ) + c), from y = x.

        ‖c‖ ≤ push. g(y; ξ) − g(x; ξ) is within two samples' noise of G_i(y) − G_i(x); and it is
        H(y − x), for H a mean of the sample's derivatives between x and y.

        Returns:
            ‖y − x‖ after each step with ‖g(y; ξ) − g(x; ξ)‖ in it, and the sum of the latter.
        """
        apart, moved = 0.0, []
        for _ in range(steps):
            long = max(map(abs, self.curvature)) * apart if apart else 0.0
            rise = min(self.rise(apart) + 2 * self.noise, 2 * self.largest, long)
            bent = eta * push + (self.curved(eta) * apart if apart else 0.0)
            apart = min(self.drifted(apart, eta, self.noise + push), bent)
            moved.append((apart, rise))
        return moved, sum(rise for _, rise in moved)

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
        from p, off by the field's rise from there to the gradient's point. Each g is a new draw.
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
