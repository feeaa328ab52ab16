r"""How far a run on two levels can go: what is proven of f and g around z = (x_z, y_z).

A method of two levels moves y along ∇_y g, and x along an estimate of ∇F, the *hypergradient*

    h = ∇_x f(x, y; ξ) − ∇²_xy g(x, y; χ) p,      p a partial sum or a term of a Neumann series.

``Levels`` bounds both. With ‖x − x_z‖ ≤ r and ‖y − y_z‖ ≤ s, (x, y) is within √(r² + s²) of z.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import hypot, inf
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.around import Around
from driftproof.toolkit.draws import Law
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import on_every_client

UNKNOWN = Around(inf)


@dataclass(frozen=True)
class Levels(Around):
    r"""What is proven of a bilevel or minimax problem around z, of its levels too.

    Attributes:
        upper: of ∇f_i in (x, y); ``curvature`` is that of a sample in x alone.
        lower: of ∇_y g_i(x_z, ·), around y_z.
        cross: what the spectral norm of no sample of ∇²_xy g_i exceeds.
        series_step: the step of a Neumann series, 1/ℓ_{g,1} unless a method has its own.
    """

    upper: Around = UNKNOWN
    lower: Around = UNKNOWN
    cross: float = inf
    series_step: float = inf

    @classmethod
    def of(cls, problem: Any, z: Tensor, known: Mapping[str, float], around: Around) -> Levels:
        """Take a problem's proven constants, and what its oracles say at z."""
        d, oracles = problem.upper_dim, problem.oracles(torch.float64)
        x, y = (on_every_client(part, problem.clients) for part in (z[:d], z[d:]))

        def of_level(name: str, slopes: Tensor, law: Law | None, **more: Any) -> Around:
            """Return what is known of a level's gradients; more by the roles of its own."""
            return Around(
                start=inf,
                slope=float(slopes.norm(dim=1).max()),
                mean_slope=float(slopes.mean(0).norm()),
                smoothness=known.get(f"{name}_smoothness", inf),
                noise=0.0 if law is None else known.get(f"{name}_noise_bound", inf),
                deviation=0.0 if law is None else known.get(f"{name}_gradient_noise", inf),
                **more,
            )

        tops = [of(x, y, None) for of in (oracles.upper_grad_x, oracles.upper_grad_y)]
        bend = known.get("upper_sample_smoothness", inf)
        most = known.get("lower_sample_smoothness", inf)
        upper = of_level("upper", torch.cat(tops, 1), oracles.upper_law(1), curvature=(-bend, bend))
        law = oracles.lower_law(1)
        lower = of_level(
            "lower",
            oracles.lower_grad(x, y, None),
            law,
            curvature=(known.get("lower_sample_convexity", -most), most),
            convexity=known.get("lower_strong_convexity"),
        )
        try:
            series_step = 1.0 / oracles.lower_smoothness
        except (DriftproofError, AttributeError):  # then no method takes a Neumann series of it
            series_step = inf
        crossed = 0.0 if law is None else known.get("lower_cross_noise_bound", inf)
        return cls(
            **vars(around),
            upper=replace(upper, largest=known.get("upper_gradient_bound", inf) + upper.noise),
            lower=lower,
            cross=lower.smoothness + crossed,  # ∇²_xy g_i is a block of the derivative of ∇g_i
            series_step=series_step,
        )

    @property
    def in_mean(self) -> Self:
        """The same of distances in the mean (``Around.in_mean``)."""
        return replace(super().in_mean, upper=self.upper.in_mean, lower=self.lower.in_mean)

    def below(self, r: float, s: float, *, shared: bool) -> Around:
        """Return what is known of ∇_y g_i(x, ·) for ‖x − x_z‖ ≤ r, from ‖y − y_z‖ ≤ s.

        At y_z it differs from ∇_y g_i(x_z, y_z) by ℓ_{g,1}‖x − x_z‖ at most.

        Args:
            shared: whether all clients' mean is meant, at one y.
        """
        rise = self.lower.rise(r)
        lower = replace(self.lower, start=s, slope=self.lower.slope + rise)
        return replace(lower, slope=lower.mean_slope + rise) if shared else lower

    def of_series(self, terms: int, *, summed: bool, step: float = 0.0) -> float:
        r"""Bound ‖p‖/‖∇_y f‖, for N terms with the step η.

        A product has the factor I − η∇²_yy g_i(x, y; ζ), or a mean of such, shorter than
        κ = max(|1 − ηλ|) over the eigenvalues λ of samples. The sum is η Σ_{n ≤ N} of products
        of n factors; a term drawn at random, of n < N factors, counts ηN times.
        """
        step = step or self.series_step
        with np.errstate(over="ignore", invalid="ignore"):
            powers = np.float64(self.lower.curved(step)) ** np.arange(terms + 1)
        return float(step * (powers.sum() if summed else terms * powers[:-1].max(initial=0.0)))

    def hypergradient(self, r: float, s: float, factor: float, *, shared: bool) -> float:
        """Bound ‖h‖, for p that is ``factor`` times as long as ∇_y f at most."""
        upper = self.upper.shared if shared else self.upper
        return upper.longest(hypot(r, s)) * (1 + (self.cross * factor if factor else 0.0))
