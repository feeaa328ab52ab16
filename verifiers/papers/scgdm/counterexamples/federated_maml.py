"""Local-SCGDM (2022), section 3.3: Algorithm 1 does not solve Federated MAML.

The instance: three devices have one task each, L_k(x) = 1 − cos(x − c_k), c = (3, −3, 0), λ = 1/2;
no noise. So g_k(x) = x − sin(x − c_k)/2 differ, and Algorithm 1 averages u. As T grows on the
schedule of Corollary 3.5, u comes to the mean of the g_k, and x rests at a root of G(x) = (1/K) Σ
g_k'(x) f_k'(ḡ(x)). That is not a root of F'(x) = (1/K) Σ g_k'(x) f_k'(g_k(x)): |F'| is 0.214 there.
The complexities of section 3.3 say that the mean gradient falls like T^(−1/4). The right side is
what that makes of T = 256.
"""

from math import cos, sin, sqrt

centre, lam, x_0 = (3.0, -3.0, 0.0), 0.5, 2.0
K, alpha, gamma, beta = 3, 1.0, 1.0, 0.084
L_f, C_f = 1.0, 1.0  # f_k'(y) = L_k'(y) = sin(y − c_k)
L_g, C_g = lam, 1 + lam  # g_k'(x) = 1 − λ cos(x − c_k), g_k''(x) = λ sin(x − c_k)
L_F = C_g**2 * L_f + C_f * L_g
assert beta <= 1 / sqrt(16 * C_g**4 * L_f**2 + 8 * L_F**2)  # Theorem 3.4 at α = γ = 1


def g(k, x):
    return x - lam * sin(x - centre[k])


def direction(k, x, u):
    return (1 - lam * cos(x - centre[k])) * sin(u - centre[k])  # g_k'(x) f_k'(u)


def dF(x):
    return sum(direction(k, x, g(k, x)) for k in range(K)) / K


def mean_gradient(p):
    """Run Algorithm 1 with T = p⁴ and η = 1/√T; return (1/T) Σ ‖∇F(x̄_t)‖ and the last x̄."""
    T, eta = p**4, p**-2.0
    assert eta <= 1 / (2 * beta * L_F)
    assert p <= 1 / (4 * beta * eta * sqrt(6 * C_f**2 * L_g**2 + 16 * C_g**4 * L_f**2))
    x, u, m, total = [x_0] * K, [0.0] * K, [0.0] * K, 0.0
    for t in range(T):
        total += abs(dF(sum(x) / K))
        for k in range(K):
            new = g(k, x[k])
            u[k] = new if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * new  # lines 3, 7
            z = direction(k, x[k], u[k])  # lines 4 and 8
            m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
            x[k] -= beta * eta * m[k]  # line 11
        if (t + 1) % p == 0:  # lines 12 to 15
            u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K
    return total / T, sum(x) / K


means = {p: mean_gradient(p) for p in (4, 8, 16)}
for p, (mean, end) in means.items():
    print(f"T = {p**4}: mean gradient {mean}, at the end x = {end}, F'(x) = {dF(end)}")
left, right = means[16][0], means[4][0] * 4 / 16  # T^(−1/4) is 1/p
assert left > 1.01 * right
form = "printed: Algorithm 1, which averages u"
print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
