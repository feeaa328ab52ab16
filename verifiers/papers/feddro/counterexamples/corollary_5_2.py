"""FedDRO (2023), Corollary 5.2: it inherits the false first term of Theorem 5.1.

The instance: I = T^(1/4) local updates, one client, K = |b| = 1, no noise, h = 0, g(x) = B_g x, and
f(y) = L_f y²/2, linear far out. All σ and Δ are 0, so that only the first term of the bound is
left: 2 [Φ(x̄⁰) - Φ* + e_0²]/√T. x̄⁰ = 0 is the minimiser of Φ, and the first embedding ȳ⁰ is off by
e_0 = 1. The error is forgotten at the rate β, of the size B_g⁴, and moves x meanwhile. T >= T_th is
asked for, which is not in the text. But as T grows, left/right tends to 1/(16 B_g² (1 + 4 B_g²
L_f)), above 1 (see Theorem 5.1). So no T_th helps.
"""

# case: 73b205f6e2eb

from math import sqrt

B_g, L_f, e_0, K, b = 0.1, 10.0, 1.0, 1, 1
B_f = 4 * L_f  # f' is L_f y, cut off at ±4 L_f
L_Phi = B_g**2 * L_f  # Lemma 3.5 with L_h = L_g = 0: h = 0 and g is linear


def g(x):
    return B_g * x


def f_prime(y):
    return min(max(L_f * y, -B_f), B_f)


def nabla_Phi(x):
    return B_g * f_prime(g(x))


def sides(local):  # local is I, the number of local steps
    T = local**4
    most = T**0.25 / (b * K) ** 0.75
    assert most * (1 + 1e-9) >= local
    eta = sqrt(b * K / T)
    beta = 4 * B_g**4 * L_f**2 * eta
    print(f"T = {T}: I = {local} <= {most}, eta = {eta} <= 1/L_Phi = {1 / L_Phi}, beta = {beta}")
    assert eta <= 1 / L_Phi
    assert 0 < beta < 1
    x_old, x, y = [0.0] * K, [0.0] * K, [g(0.0) + e_0] * K  # Algorithm 2, line 2
    left = 0.0
    for t in range(T):
        if t > 0:
            y = [(1 - beta) * (y[k] - g(x_old[k])) + g(x[k]) for k in range(K)]  # (8)
        y = [sum(y) / K] * K  # line 6: share y_k, receive ȳ
        x_old = x
        x = [x[k] - eta * B_g * f_prime(y[k]) for k in range(K)]  # (7)
        if (t + 1) % local == 0:  # lines 7 to 9
            x = [sum(x) / K] * K
        left += nabla_Phi(sum(x) / K) ** 2 / T  # line 12: a(T) is uniform on 1 … T
    return left, 2 * (0 + e_0**2) / sqrt(b * K * T)  # Φ(x̄⁰) = Φ* = 0


for local in [16, 12, 6]:
    left, right = sides(local)
    print(f"left/right = {left / right}")
    assert left > 2 * right
print(f"the limit of the ratio: {1 / (16 * B_g**2 * (1 + 4 * B_g**2 * L_f))}")
print(f"REFUTED printed: left = {left!r} > right = {right!r}")
