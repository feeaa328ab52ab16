"""ComFedL (preprint, 2021), proof of Lemma 1: (18) has γ/n where the derivative has γ.

(17): L(w, r, λ) = Σ r_i f^i - γ Σ r_i log(r_i n) + λ (Σ r_i - 1).
(18) prints ∂L/∂r_i = f^i - γ log(r_i n) - γ/n + λ.
The derivative of r log(rn) is log(rn) + 1, so the third term is γ. (19) to (24) repeat the mistake.
The multiplier λ is then wrong by γ - γ/n; the maximiser r_i and Lemma 1 itself are right.
The instance has n = 2 clients, losses 0 and 1, and γ = 1.
"""

from math import exp, log

gamma, f = 1.0, [0.0, 1.0]
n = len(f)


def lagrangian(r, multiplier):
    """(17)."""
    value = sum(r[i] * f[i] - gamma * r[i] * log(r[i] * n) for i in range(n))
    return value + multiplier * (sum(r) - 1)


def derivative(r, i, multiplier, h=1e-5):
    """∂L/∂r_i by a central difference, whose error is below γ h²/r_i² here."""
    up, down = list(r), list(r)
    up[i], down[i] = r[i] + h, r[i] - h
    return (lagrangian(up, multiplier) - lagrangian(down, multiplier)) / (2 * h)


mean = sum(exp(y / gamma) for y in f) / n
r = [exp(y / gamma) / (n * mean) for y in f]  # the maximiser, by (20) and (22)
multiplier = gamma / n - gamma * log(mean)  # (23): γ/n - λ = γ log((1/n) Σ exp(f^i/γ)), so λ is
for i in range(n):
    left = derivative(r, i, multiplier)
    right = f[i] - gamma * log(r[i] * n) - gamma / n + multiplier  # (18)
    print(f"∂L/∂r_{i + 1} at the maximiser, with the λ of (23): {left}, by (18): {right}")
    assert abs(right) < 1e-12
    assert abs(left - right - (gamma / n - gamma)) < 1e-8
true_multiplier = gamma - gamma * log(mean)
assert all(abs(derivative(r, i, true_multiplier)) < 1e-8 for i in range(n))
print(f"λ of (23): {multiplier}; where the derivatives vanish, λ = {true_multiplier}")
print(f"REFUTED printed: left = {left!r} != right = {right!r}")
