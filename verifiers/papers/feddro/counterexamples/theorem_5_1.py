"""FedDRO (2023), Theorem 5.1 and Corollary 5.2: too little for the error of the first embedding.

The instance: one client, K = |b| = 1, no noise, h = 0, g(x) = B_g x, and f(y) = L_f y²/2, linear
far out. All σ and Δ are 0, so that only the first term of the bound is left: 2 [Φ(x̄⁰) - Φ* +
e_0²]/√T. x̄⁰ = 0 is the minimiser of Φ, and the first embedding ȳ⁰ is off by e_0 = 1. The error is
forgotten at the rate β, of the size B_g⁴, and moves x meanwhile. T >= T_th is asked for, which is
not in the text. But as T grows, left/right tends to 1/(16 B_g² (1 + 4 B_g² L_f)), above 1. So no
T_th helps.
"""

from math import sqrt

L_f, e_0 = 10.0, 1.0
B_f = 4 * L_f  # f' is L_f y, cut off at ±4 L_f
L_g = L_h = 0.0  # g is linear and h = 0; Assumption 3.2 holds with every L_g, L_h > 0


def f_prime(y):
    return min(max(L_f * y, -B_f), B_f)


def sides(T, B_g, by_8=False):
    """Both sides of the bound; ȳ⁰ as initialised, or passed through (8) once more at t = 0."""
    L_Phi = L_h + B_f * L_g + B_g**2 * L_f  # Lemma 3.5
    eta = sqrt(1 / T)
    beta = 4 * B_g**4 * L_f**2 * eta
    print(f"T = {T}: eta = {eta} <= 1/L_Phi = {1 / L_Phi}; 0 < beta = {beta} < 1")
    assert eta <= 1 / L_Phi
    assert 0 < beta < 1
    x_old = x = 0.0  # Algorithm 2, line 2: x^(-1) = x⁰ = x̄⁰
    y = B_g * x + e_0
    left = 0.0
    for t in range(T):  # lines 3 to 11; one client is its own mean
        if t > 0 or by_8:
            y = (1 - beta) * (y - B_g * x_old) + B_g * x  # (8)
        x_old = x
        x = x - eta * B_g * f_prime(y)  # (7)
        left += (B_g * f_prime(B_g * x)) ** 2 / T  # line 12: a(T) is uniform on 1 … T
    # as η -> 0, in the time s = ηt, λ = B_g² L_f, κ = β/η = 4λ²: x' = -λx - B_g L_f e_0 exp(-κs),
    # so √T left -> the integral of (λx)², (λ B_g L_f e_0)²/(λ - κ)² (1/(2κ) + 1/(2λ) - 2/(κ + λ))
    print(f"the limit of the ratio: {1 / (16 * B_g**2 * (1 + 4 * B_g**2 * L_f))}")
    return left, 2 * (0 + e_0**2) / sqrt(T)  # Φ(x̄⁰) = Φ* = 0


# -- theorem-5.1
# case: 971989359755
# I = 1 and B_g = 0.15.
for T in [40_000, 2500, 100]:
    (left_by_8, _), (left, right) = sides(T, 0.15, by_8=True), sides(T, 0.15)
    print(f"left/right = {left / right}, or with (8) at t = 0 {left_by_8 / right}")
    assert min(left, left_by_8) > 1.1 * right
print(f"REFUTED theorem-5.1, printed: left = {left!r} > right = {right!r}")

# -- corollary-5.2
# case: 73b205f6e2eb
# I = T^(1/4) local updates, and B_g = 0.1. It inherits the false first term of Theorem 5.1.
for local in [16, 12, 6]:  # local is I, the number of local steps
    left, right = sides(local**4, 0.1)
    print(f"left/right = {left / right}")
    assert left > 2 * right
print(f"REFUTED corollary-5.2, printed: left = {left!r} > right = {right!r}")
