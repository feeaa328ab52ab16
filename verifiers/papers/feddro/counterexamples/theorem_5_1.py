"""FedDRO (2023), Theorem 5.1: the bound charges too little for the error of the first embedding.

The instance: one client, K = |b| = I = 1, no noise, h = 0, g(x) = B_g x, and f(y) = L_f y²/2,
linear far out. All σ and Δ are 0, so that only the first term of the bound is left: 2 [Φ(x̄⁰) - Φ*
+ e_0²]/√T. x̄⁰ = 0 is the minimiser of Φ, and the first embedding ȳ⁰ is off by e_0 = 1. The error
is forgotten at the rate β, of the size B_g⁴, and moves x meanwhile. The theorem asks for T >= T_th,
which is not in the text. But as T grows, left/right tends to 1/(16 B_g² (1 + 4 B_g² L_f)), above 1.
So no T_th helps.
"""

# case: 971989359755

from math import sqrt

B_g, L_f, e_0 = 0.15, 10.0, 1.0
B_f = 4 * L_f  # f' is L_f y, cut off at ±4 L_f
L_g = L_h = 0.0  # g is linear and h = 0; Assumption 3.2 holds with every L_g, L_h > 0
L_Phi = L_h + B_f * L_g + B_g**2 * L_f  # Lemma 3.5


def g(x):
    return B_g * x


def f_prime(y):
    return min(max(L_f * y, -B_f), B_f)


def nabla_Phi(x):
    return B_g * f_prime(g(x))


def sides(T, by_8=False):
    """Both sides of the bound; ȳ⁰ as initialised, or passed through (8) once more at t = 0."""
    eta = sqrt(1 / T)
    beta = 4 * B_g**4 * L_f**2 * eta
    print(f"T = {T}: eta = {eta} <= 1/L_Phi = {1 / L_Phi}; 0 < beta = {beta} < 1")
    assert eta <= 1 / L_Phi
    assert 0 < beta < 1
    x_old = x = 0.0  # Algorithm 2, line 2: x^(-1) = x⁰ = x̄⁰
    y = g(x) + e_0
    left = 0.0
    for t in range(T):  # lines 3 to 11
        if t > 0 or by_8:
            y = (1 - beta) * (y - g(x_old)) + g(x)  # (8)
        x_old = x
        x = x - eta * B_g * f_prime(y)  # (7)
        left += nabla_Phi(x) ** 2 / T  # line 12: a(T) is uniform on 1 … T
    return left, 2 * (0 + e_0**2) / sqrt(T)  # Φ(x̄⁰) = Φ* = 0


for T in [40_000, 2500, 100]:
    (left_by_8, _), (left, right) = sides(T, by_8=True), sides(T)
    print(f"left/right = {left / right}, or with (8) at t = 0 {left_by_8 / right}")
    assert min(left, left_by_8) > 1.1 * right
# as η -> 0, in the time s = ηt, λ = B_g² L_f, κ = β/η = 4λ²: x' = -λx - B_g L_f e_0 exp(-κs), so
# √T left -> the integral of (λx)², (λ B_g L_f e_0)²/(λ - κ)² (1/(2κ) + 1/(2λ) - 2/(κ + λ))
print(f"the limit of the ratio: {1 / (16 * B_g**2 * (1 + 4 * B_g**2 * L_f))}")
print(f"REFUTED printed: left = {left!r} > right = {right!r}")
