"""ComFedL (2021), proof of Lemma 3: one of the displayed terms, bounded as one reads it off.

The error is split into five differences. The third is ∇g(f_B(w))ᵀ(∇f_B(w̄_s) - ∇f(w̄_s)), and one
reads off that its mean square is at most G_g² σ²/b. The factor in front depends on the minibatch.
So this needs E‖∇f_B - ∇f‖² <= σ²/b, which is false in the spectral norm that the papers use.
The instance is d = p = 2, b = 2, f(w; ξ) = w + δ ξ∘sin(w/δ) with two independent signs ξ, and
g(y) = ‖y - w̄_s‖, rounded to a parabola within ρ of 0. The moment is t = 0, where w = w̄_s.
Lemma 3 itself holds: in another order each term has its bound.
"""

from itertools import product
from math import asin, cos, hypot, sin

delta = 0.1
tilt = 0.1  # sin(w_k/δ) at w̄_s
w_bar = [delta * asin(tilt)] * 2
rho = delta * tilt / 2
b = 2
signs = list(product([-1, 1], repeat=2))  # ξ, each with probability 1/4

# Assumptions 1 to 4, for all w and y: |cos| and |sin| are at most 1, and f(w) = E f(w; ξ) = w
L_f, G_f = 1 / delta, 2.0  # ∇f(w; ξ) = I + diag(ξ_k cos(w_k/δ))
L_g, G_g, L = 1 / rho, 1.0, 1 / rho  # ∇g = (y - w̄_s)/max(ρ, ‖y - w̄_s‖), and F = g
sigma_1 = 1.0  # ‖diag(ξ_k cos(w_k/δ))‖ <= 1
sigma_2, sigma_3 = 2**0.5 * delta, 0.0  # ‖δ ξ∘sin(w/δ)‖² <= 2δ²; g has no noise
sigma = max(sigma_1, sigma_2, sigma_3)
print(f"L_f = {L_f}, G_f = {G_f}, L_g = {L_g}, G_g = {G_g}, L = {L}, σ = {sigma}, F* = 0 at w̄_s")


def third_difference(batch):
    """∇g(f_B(w))ᵀ(∇f_B(w̄_s) - ∇f(w̄_s)) at w = w̄_s: a vector of two numbers."""
    average = [sum(xi[k] for xi in batch) / b for k in range(2)]
    off = [delta * average[k] * sin(w_bar[k] / delta) for k in range(2)]  # f_B(w) - w̄_s
    nabla_g = [off[k] / max(rho, hypot(*off)) for k in range(2)]
    noise = [average[k] * cos(w_bar[k] / delta) for k in range(2)]  # the diagonal of ∇f_B - ∇f
    return [nabla_g[k] * noise[k] for k in range(2)]


batches = list(product(signs, repeat=b))
left = sum(hypot(*third_difference(batch)) ** 2 for batch in batches) / len(batches)
right = G_g**2 * sigma**2 / b
print(f"E‖third difference‖² over all {len(batches)} minibatches, and G_g² σ²/b:")
assert left > 1.4 * right
form = "printed: term by term as displayed, in the spectral norm"
print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
