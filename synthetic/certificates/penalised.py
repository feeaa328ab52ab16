r"""Worst cases over weights of given losses: what divergence and CVaR make of ℓ_1 … ℓ_m.

For p in the simplex, with D(p) = Σ p_i log(m p_i) ("kl") or (m/2) Σ (p_i − 1/m)² ("chi2"),
the *ambiguity* is one of

* a penalty λ: R = max_p V(p), V(p) = Σ p_i ℓ_i − λ D(p);
* a radius ρ:  R = max Σ p_i ℓ_i over D(p) ≤ ρ;
* "cvar" at level α: R = max Σ p_i ℓ_i over p_i ≤ 1/(αm), the mean of the worst share α.

Any p that is allowed gives a lower bound on R. Upper bounds, by maximising each coordinate of the
Lagrangian over p_i ≥ 0 on its own, hold for any ν (and any λ > 0 under a radius):

* "kl":         V ≤ ν + λ mean (exp((ℓ_i − ν)/λ) − 1);
* "chi2": V ≤ ν + (λ/2) mean ((1 + (ℓ_i − ν)/λ)₊² − 1);
* a radius:     R ≤ λρ + the same; and R ≤ max ℓ_i always;
* "cvar":       R ≤ ν + mean (ℓ_i − ν)₊/α, the dual of its linear program.
"""

import math
from dataclasses import dataclass

import numpy as np


def divergence_of(weights: np.ndarray, divergence: str, centre: np.ndarray | None = None) -> float:
    """Return D(p), from the uniform weights or from others; 0 log 0 = 0."""
    q = np.full(len(weights), 1.0 / len(weights)) if centre is None else centre
    if divergence == "kl":
        some = weights > 0
        return float(np.sum(weights[some] * np.log(weights[some] / q[some])))
    return len(weights) / 2 * float(np.sum((weights - q) ** 2))


def worst_weights(
    losses: np.ndarray,
    penalty: float,
    divergence: str,
    centre: np.ndarray | None = None,
    cap: float = 1.0,
) -> tuple[np.ndarray, float]:
    """Return the maximiser p and its multiplier ν in closed form, for D from a centre q.

    p is q exp(ℓ/λ) over its sum, or min((q_i + (ℓ_i − ν)/(λm))₊, cap) with its sum 1.
    """
    m, top = len(losses), float(losses.max())
    q = np.full(m, 1.0 / m) if centre is None else centre
    if divergence == "kl":
        unscaled = q * np.exp((losses - top) / penalty)
        total = float(unscaled.sum())
        excess = float(q @ np.expm1((losses - top) / penalty)) + float(q.sum()) - 1
        log = math.log1p(excess) if excess > -0.5 else math.log(total)
        return unscaled / total, top + penalty * log
    values = q + (losses - top) / (penalty * m)
    ends = np.sort(np.concatenate([values, values - cap]))

    def mass(shift: float) -> float:
        return float(np.clip(values - shift, 0.0, cap).sum())

    low, high = 0, len(ends) - 1  # it falls from m·cap ≥ 1 to 0, and is linear between two ends
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if mass(ends[middle]) >= 1 else (low, middle)
    more, less = mass(ends[low]), mass(ends[high])
    part = max(0.0, more - 1) / (more - less) if more > less else 0.0
    shift = float(ends[low] + part * (ends[high] - ends[low]))
    weights = np.clip(values - shift, 0.0, cap)
    return weights / weights.sum(), shift * penalty * m + top


@dataclass(frozen=True)
class Ambiguity:
    """Which weights may be the worst case: "kl", "chi2" or "cvar", and λ, or ρ (α)."""

    divergence: str
    penalty: float | None = None
    radius: float | None = None

    def value(self, losses: np.ndarray, weights: np.ndarray) -> float:
        """Return V(p), or Σ p_i ℓ_i: a lower bound on R if p is allowed."""
        paid = (self.penalty or 0.0) * divergence_of(weights, self.divergence)
        return float(weights @ losses) - paid

    def worst(
        self, losses: np.ndarray, centre: np.ndarray | None = None, pull: float = 0.0
    ) -> tuple[np.ndarray, tuple[float, float]]:
        """Return the maximiser, and multipliers (λ, ν) of the upper bound (without a pull).

        Args:
            centre, pull: q and μ of a term −μ D(p, q), which makes R smooth.
        """
        from scipy.optimize import brentq

        m, kind, spread = len(losses), self.divergence, float(np.ptp(losses)) + 1e-300
        q = np.full(m, 1.0 / m) if centre is None else centre
        if self.penalty is not None:
            weights, shift = worst_weights(losses, self.penalty, kind)
            return weights, (self.penalty, shift)
        assert self.radius is not None
        radius = self.radius
        if kind == "cvar":
            cap = min(1.0, 1.0 / (radius * m))
            if pull:
                weights, _ = worst_weights(losses, pull, kind, q, cap)
            else:  # the largest ones first
                weights = np.zeros(m)
                weights[np.argsort(-losses)] = np.clip(1.0 - cap * np.arange(m), 0.0, cap)
            return weights, (0.0, float(losses[weights > 0].min()))

        def at(log: float) -> tuple[np.ndarray, float]:
            share = pull / (math.exp(log) + pull)
            mean = np.maximum(q, 1e-300) ** share * m ** (share - 1)
            if kind != "kl":
                mean = share * q + (1 - share) / m
            return worst_weights(losses, math.exp(log) + pull, kind, mean)

        def excess(log: float) -> float:  # it falls in λ
            return divergence_of(at(log)[0], kind) - radius

        low, high = math.log(1e-9 * spread), math.log(1e9 * spread)
        if excess(low) <= 0:
            return at(low)[0], (0.0, 0.0)
        root = brentq(excess, low, high, xtol=1e-13) if excess(high) < 0 else high
        weights, shift = at(root)
        return weights, (math.exp(root), shift)

    def upper(self, losses: np.ndarray, multipliers: tuple[float, float]) -> float:
        """Return the upper bound on R that multipliers give."""
        (penalty, shift), radius = multipliers, self.radius or 0.0
        if self.divergence == "cvar":
            return shift + float(np.maximum(losses - shift, 0.0).mean()) / radius
        top = float(losses.max())
        if not penalty:
            return top
        with np.errstate(over="ignore"):  # far from the ν of these losses
            scaled = (losses - shift) / penalty
            if self.divergence == "kl":
                over = np.expm1(scaled)
            else:  # (1 + s)₊² − 1, halved
                over = np.where(scaled > -1, scaled * (1 + scaled / 2), -0.5)
            return min(top, shift + penalty * (radius + float(over.mean())))

    def allowed(self, weights: np.ndarray) -> np.ndarray:
        """Return weights moved towards the uniform ones, where D is 0, until they are allowed."""
        far, most = divergence_of(weights, self.divergence), self.radius
        if self.divergence == "cvar":
            far, most = float(weights.max()) * len(weights) - 1, 1 / (self.radius or 1.0) - 1
        share = 0.0 if most is None or far <= most else 1 - most / far  # D is convex
        return (1 - share) * weights + share / len(weights)


def inner_maximum(losses: np.ndarray, penalty: float, divergence: str) -> tuple[float, float]:
    """Enclose the maximum over the simplex: p and ν in closed form, and the bounds of each."""
    rule = Ambiguity(divergence, penalty)
    weights, multipliers = rule.worst(losses)
    return rule.value(losses, weights), rule.upper(losses, multipliers)
