"""Local-SCGDM (2022), Theorem 3.4, (6): false for clients with different inner functions.

The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and the same f: f' is y, cut off at
±3. There is no noise. So one sample a step and two are the same algorithm, and every term of (6) is
0 but the first, with L_g or with L_f in the third. F'(x) = (5x − 1)/2 near 0, so F is least at 1/5.
Algorithm 1 averages u, and so it follows the mean of the two g_k to x = −1, where F'(x)² = 9.
"""

# case: 74594908218c

from math import sqrt

a, c = (2.0, -1.0), (0.0, 1.0)  # g_k(x) = a_k x + c_k
K, T, p, eta, alpha, gamma, beta, x_0 = 2, 6000, 2, 0.05, 1.0, 1.0, 0.051031036307, 1.0
L_f, C_f = 1.0, 3.0  # f' is y, cut off at ±3
L_g, C_g = 0.0, 2.0  # g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g


def f(y):
    return y**2 / 2 if abs(y) <= 3 else 3 * abs(y) - 4.5


def df(y):
    return min(max(y, -3.0), 3.0)


def F(x):
    return sum(f(a[k] * x + c[k]) for k in range(K)) / K


def dF(x):
    return sum(a[k] * df(a[k] * x + c[k]) for k in range(K)) / K


x, u, m, left = [x_0] * K, [0.0] * K, [0.0] * K, 0.0
for t in range(T):  # Algorithm 1
    left += dF(sum(x) / K) ** 2 / T
    for k in range(K):
        g = a[k] * x[k] + c[k]
        u[k] = g if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * g  # lines 3 and 7
        z = a[k] * df(u[k])  # lines 4 and 8
        m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
        x[k] -= beta * eta * m[k]  # line 11
    if (t + 1) % p == 0:  # lines 12 to 15
        u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K
right = 2 * (F(x_0) - F(1 / 5)) / (beta * eta * T)  # (6) as σ_f, σ_g, δ_g → 0

most = sqrt(1 / 8 / (C_g**4 * L_f**2 * (1 / gamma**2 + 1 / gamma) + L_F**2 / alpha**2))
longest = 1 / (4 * beta * eta * sqrt(6 * C_f**2 * L_g**2 + 16 * C_g**4 * L_f**2))
print(f"alpha = gamma = {alpha} < 1/eta = {1 / eta}; beta = {beta} <= {most}")
print(f"eta = {eta} <= min(1, {1 / (2 * beta * L_F)}); p = {p} <= {longest}")
assert max(alpha, gamma) < 1 / eta and beta <= most
assert eta <= min(1, 1 / (2 * beta * L_F)) and p <= longest
assert left > 1.01 * right
for form in (
    "printed: two samples, as in the proofs", "printed: one sample, as in Algorithm 1",
    "printed: two samples, and L_f in the third term",
):  # fmt: skip
    print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
