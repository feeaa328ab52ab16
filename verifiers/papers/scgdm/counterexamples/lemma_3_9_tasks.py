"""Local-SCGDM (2022), Lemma 3.9, (10): σ_f² = σ_1² is too small if f draws the task, as (8) says.

(8) has f(y; ζ) = L_i(y; ζ) with a random task i. The instance: one device with two tasks, L_±(y) =
1 − cos(y ∓ π/2), and L_i(y; ζ) = L_i(y) + 0.3 ζ cos y with a fair coin ζ = ±1. The gradients of the
two tasks at y = 0 are −1 and 1, and that of f is 0. So the variance of ∇f is 1 there. (23) writes
L_i for f, and forgets that i is drawn.
"""

# case: fa0e0d231528

from math import pi, sin

noise, y = 0.3, 0.0
sigma_1 = noise  # ∇L_i(y; ζ) − ∇L_i(y) = −0.3 ζ sin y

gradients = [
    sin(y - centre) - noise * zeta * sin(y) for centre in (pi / 2, -pi / 2) for zeta in (-1, 1)
]
mean = sum(gradients) / 4
left = sum((gradient - mean) ** 2 for gradient in gradients) / 4
right = sigma_1**2
assert left > 1.01 * right
print(f"REFUTED printed: σ_f²: left = {left!r} > right = {right!r}")
