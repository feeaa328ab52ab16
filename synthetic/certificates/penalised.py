r"""Divergence-penalised robust learning: inner maximum and minimum over a ball, certified.

For losses ℓ_1 … ℓ_m, penalty λ and p in the simplex,

* "kl":         V(p) = Σ p_i ℓ_i − λ Σ p_i log(m p_i);
* "chi-square": V(p) = Σ p_i ℓ_i − (λm/2) Σ (p_i − 1/m)².

Any p gives a lower bound on the maximum R; any ν an upper bound, by maximising each coordinate of
the Lagrangian over p_i ≥ 0 on its own:

* "kl":         R ≤ ν + (λ/m) Σ exp((ℓ_i − ν)/λ − 1);
* "chi-square": R ≤ ν + (λ/2)((1/m) Σ (1 + (ℓ_i − ν)/λ)₊² − 1).

For fixed p, V is convex in x if the losses are and lies below R, so that V less its Frank–Wolfe gap
bounds min R on a ball from below, whatever solver x and p came from; cvxpy and L-BFGS both try.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from driftproof.synthetic.certificates.cone import frank_wolfe_gap, solve
from driftproof.synthetic.certificates.smooth import minimise_smooth_on_ball


def penalised_value(
    losses: np.ndarray, weights: np.ndarray, penalty: float, divergence: str
) -> float:
    """Return V(p) at one p of the simplex; 0 log 0 = 0."""
    m = len(losses)
    if divergence == "kl":
        positive = weights[weights > 0]
        distance = float(np.sum(positive * np.log(m * positive)))
    else:
        distance = m / 2 * float(np.sum((weights - 1.0 / m) ** 2))
    return float(weights @ losses) - penalty * distance


def upper_bound(losses: np.ndarray, shift: float, penalty: float, divergence: str) -> float:
    """Return the upper bound on the maximum that a multiplier ν gives."""
    scaled = (losses - shift) / penalty
    if divergence == "kl":
        return float(shift + penalty * np.mean(np.exp(scaled - 1.0)))
    return float(shift + penalty / 2 * (np.mean(np.maximum(1.0 + scaled, 0.0) ** 2) - 1.0))


def worst_weights(losses: np.ndarray, penalty: float, divergence: str) -> tuple[np.ndarray, float]:
    """Return the maximiser p and its multiplier ν in closed form.

    p is softmax(ℓ/λ), or (1 + (ℓ_i − ν)/λ)₊/m with its sum 1.
    """
    m = len(losses)
    if divergence == "kl":
        unscaled = np.exp((losses - losses.max()) / penalty)
        mean = float(unscaled.mean())
        return unscaled / (m * mean), float(losses.max()) + penalty * (math.log(mean) - 1.0)
    largest = np.sort(losses)[::-1]
    # with the k largest losses positive, Σ (1 + (ℓ_i − ν)/λ) = m gives ν
    counts = np.arange(1, m + 1)
    shifts = (np.cumsum(largest) + penalty * (counts - m)) / counts
    shift = float(shifts[np.flatnonzero(penalty + largest - shifts > 0)[-1]])
    unscaled = np.maximum(1.0 + (losses - shift) / penalty, 0.0)
    return unscaled / unscaled.sum(), shift


def inner_maximum(losses: np.ndarray, penalty: float, divergence: str) -> tuple[float, float]:
    """Enclose the maximum over the simplex: p and ν by cvxpy and in closed form, bounds by duality.

    The better bound of the two routes counts on either side; each is valid on its own.
    """
    import cvxpy as cp

    m = len(losses)
    p = cp.Variable(m)
    total = cp.sum(p) == 1
    if divergence == "kl":
        distance = -cp.sum(cp.entr(p)) + np.log(m) * cp.sum(p)
        constraints = [total]
    else:
        distance = m / 2 * cp.sum_squares(p - 1.0 / m)
        constraints = [total, p >= 0]
    solve(cp.Maximize(losses @ p - penalty * distance), constraints)
    weights = np.clip(np.asarray(p.value), 0.0, None)
    weights /= weights.sum()
    closed, shift = worst_weights(losses, penalty, divergence)
    shifts = (float(total.dual_value), -float(total.dual_value), shift)  # whichever sign it has
    high = min(upper_bound(losses, shift, penalty, divergence) for shift in shifts)
    return max(penalised_value(losses, p, penalty, divergence) for p in (weights, closed)), high


def minimise_robust(
    rows: np.ndarray, *, radius: float, penalty: float, divergence: str
) -> tuple[np.ndarray, dict[str, Any]]:
    """Minimise R over a ball for the logistic losses log(1 + e^{−⟨a, x⟩}) of rows a.

    Returns:
        The minimiser, and a certificate with ``low`` ≤ min R ≤ ``high``.
    """
    import cvxpy as cp

    x = cp.Variable(rows.shape[1])
    losses = cp.logistic(-rows @ x)
    if divergence == "kl":
        objective = penalty * (cp.log_sum_exp(losses / penalty) - np.log(len(rows)))
    else:
        shift = cp.Variable()
        over = cp.pos(1.0 + (losses - shift) / penalty)
        objective = shift + penalty / 2 * (cp.sum_squares(over) / len(rows) - 1.0)
    certificate = solve(cp.Minimize(objective), [cp.norm(x) <= radius])

    def function(w: np.ndarray) -> tuple[float, np.ndarray]:
        return robust_value(rows, w, penalty, divergence)

    point = np.asarray(x.value)
    point = point * min(1.0, radius / max(float(np.linalg.norm(point)), 1e-300))
    other, _ = minimise_smooth_on_ball(function, np.zeros_like(point), radius)
    ends = []
    for at in (point, other):
        value, gradient = function(at)
        at_losses = np.logaddexp(0.0, -rows @ at)
        shift = worst_weights(at_losses, penalty, divergence)[1]
        high = upper_bound(at_losses, shift, penalty, divergence)
        ends.append((value - frank_wolfe_gap(at, gradient, radius), high))
    best = int(np.argmin([high for _, high in ends]))
    low, high = max(low for low, _ in ends), ends[best][1]
    bracket = {"frank_wolfe_gap": high - low, "low": low, "high": high}
    return (point, other)[best], certificate | bracket


def robust_value(
    rows: np.ndarray, x: np.ndarray, penalty: float, divergence: str
) -> tuple[float, np.ndarray]:
    """Return V(p) at x for the maximiser p in closed form, and its gradient in x."""
    scores = rows @ x
    losses = np.logaddexp(0.0, -scores)
    weights, _ = worst_weights(losses, penalty, divergence)
    slopes = -1.0 / (1.0 + np.exp(scores))
    return penalised_value(losses, weights, penalty, divergence), rows.T @ (weights * slopes)
