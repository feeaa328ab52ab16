"""ComFedL (2021), Theorem 1, (12): a plus sign is missing, and the product there is false.

(12) has √5 HτG_gG_fη √5 G_fσ/√b_1, a product. The last displays of the proof have a sum.
Without noise, σ = 0, the product is 0, and clients that drift apart cost nothing.
The instance: two clients have opposite curvature near w̄_0. In each round one of them goes down by
3/4 and up by 1/4, and the other up by 1/4 twice. Their average comes back to w̄_0, where ∇F = 1/2,
for ever. Here n = m = 2, d = p = 1, f(w) = w and τ = 2. With the sum, the bound holds.
"""

# case: 3ec043b85df2

from math import sqrt

L, S, tau, eta = 0.04, 26, 2, 0.5
T = S * tau
w_0 = 0.5 / L + 0.75
a = w_0 - 0.375


def clip(x, most):
    return min(max(x, -most), most)


def slope(i, y):
    """∇g^i = h' ± o', h' = clip(Ly, ±1/2), o' = clip(3(y - a), ±1): ±o cancel in F = h."""
    return clip(L * y, 0.5) + (1 if i == 0 else -1) * clip(3 * (y - a), 1.0)


def nabla_F(w):
    return (slope(0, w) + slope(1, w)) / 2


# Assumptions 1 to 4, for all w and y
L_f, G_f = 0.0, 1.0  # ∇f = 1
L_g, G_g = L + 3.0, 1.5  # h' has slope at most L and o' at most 3; 1/2 + 1
sigma, b, b_1 = 0.0, 1, 1  # no noise; every σ > 0 is a bound of it, so let σ tend to 0
F_star = 0.0  # F = h is least at 0
F_0 = 0.5 * w_0 - 1 / (8 * L)  # h is a parabola up to 1/(2L), and has slope 1/2 beyond

w_bar, left = w_0, 0.0
for _ in range(S):  # Algorithm 1, line 2
    left += nabla_F(w_bar) ** 2 / S
    w = [w_bar, w_bar]  # lines 3 to 6: C_s has both devices
    for _ in range(tau):  # line 7
        for i in range(2):
            u = slope(i, w[i]) * 1.0  # lines 8 to 13: ∇g(f(w))ᵀ∇f(w)
            w[i] -= eta * u  # line 14
    w_bar = (w[0] + w[1]) / 2  # line 18
H = sqrt(G_g**2 * L_f**2 + G_f**4 * L_g**2)
drift, outer = sqrt(5) * H * tau * G_g * G_f * eta, sqrt(5) * G_f * sigma / sqrt(b_1)
rest = sqrt(5) * G_g * sigma / sqrt(b) + sqrt(5) * L_g * G_f * sigma / sqrt(b)
G2 = G_g**2 * G_f**2
others = (F_0 - F_star) / (T * eta) + L * tau * eta * G2 + L * eta / 2 * G2
right = others + G_f * G_g * (drift * outer + rest)  # (12) as printed
print(f"with the sum of the proof, (34), the right side is {others + G_f * G_g * (drift + rest)}")
assert left > 1.01 * right
print(f"REFUTED printed: the product that is printed: left = {left!r} > right = {right!r}")
